"""A group of keys whose learners are a fleet: types under our own rules, all keys in one set of columns."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from breakeven.engines.answered import Answered, FoldCounts
from breakeven.engines.feed import ArrivalRows, LabelRows, at, read_arrivals, read_labels, whole_or_text
from breakeven.engines.group_state import CarriedKey, GroupContent, GroupSetup, KeptBeside, OrderKind, sealed
from breakeven.errors import expect
from breakeven.learner import Learner
from breakeven.learner.fleet import Fleet

SAME_COLUMNS = (
    "wants_label", "prediction", "std", "uncertainty", "threshold", "cost", "propensity", "worth", "round",
    "repeated",
)  # fmt: skip  # of a fleet's answers and of a group's


class FleetGroup:
    """Keys whose learners are a fleet."""

    def __init__(self, setup: GroupSetup, content: GroupContent | None) -> None:
        self._setup = setup
        windows = {"told_window": setup.told_window, "early_window": setup.early_window}
        self._last: NDArray[Any] = np.empty(0, dtype=np.int64)  # by row of the fleet's keys
        if content is None or content.fleet is None:
            self.fleet = Fleet(setup.config, **windows)
        else:
            self.fleet = Fleet.load(content.fleet, **windows)
            arrived = self.fleet.state.members["rounds"] > 0
            self._last = np.zeros(len(arrived), dtype=content.last_kind)
            self._last[arrived] = np.frombuffer(content.last, dtype="<" + content.last_kind)

    def dump(self) -> bytes:
        """Everything, as bytes."""
        arrived = np.flatnonzero(self.fleet.state.members["rounds"] > 0)
        kind: OrderKind = "f8" if self._last.dtype.kind == "f" else "i8"
        last = self._last[arrived].astype("<" + kind).tobytes()
        return sealed(GroupContent(self._setup.config, self.fleet.dump(), last, kind))

    def learners(self) -> dict[Any, Learner]:
        """The learners by key."""
        return {key: self.fleet.learner(key) for key in self.fleet.keys}

    @property
    def keys_are(self) -> str | None:
        """What keys are, integers or texts, once there are some."""
        return self.fleet.state.keys.kind

    def carry(self) -> list[CarriedKey]:
        """Every key as it goes on elsewhere."""
        state, early = self.fleet.state, self._early_labels()
        carried = []
        for row in np.flatnonzero(state.members["rounds"] > 0).tolist():
            key = state.keys.values(state.members["code"][row : row + 1])[0]
            beside = KeptBeside(self._last[row].item(), early.pop(key, []))
            carried.append(CarriedKey(key, self.fleet.learner(key).snapshot(), beside.packed()))
        return carried + [CarriedKey(key, None, KeptBeside(early=one).packed()) for key, one in early.items()]

    def _early_labels(self) -> dict[Any, list[tuple[int | str, float, str | None]]]:
        state, columns = self.fleet.state, self.fleet.state.labels.columns
        rows = state.labels.rows_by_kind()[2]
        keys = state.keys.values(state.members["code"][columns["key"][rows]])
        found: dict[Any, list[tuple[int | str, float, str | None]]] = {}
        ids, ys = state.ids.values(columns["id"][rows]), columns["y"][rows].tolist()
        for key, id, y in zip(keys, ids, ys, strict=True):
            found.setdefault(key, []).append((id, y, None))
        return found

    def take(self, carried: Iterable[CarriedKey], ids_are: Literal["integers", "texts"]) -> None:
        """Take up keys that come from elsewhere; one that has arrivals here already is refused."""
        state = self.fleet.state
        for key, blob, beside in carried:
            kept = KeptBeside.read(beside)
            if blob is not None:
                self.fleet.put(key, Learner.restore(blob), ids_are)
                row = np.array([state.row_of(key)])
                last = kept.last if kept.last is not None else expect.refuse("beside", "an order", None)
                self._last = self._grown(np.array([last]))
                self._last[row] = last
            if kept.early:
                ids, ys, _ = zip(*kept.early, strict=True)
                self.fleet.tell([key] * len(ids), list(ids), list(ys))

    def fold(self, arrivals: ArrivalRows | None, labels: LabelRows | None) -> tuple[Answered, FoldCounts]:
        """Tell labels, then decide on arrivals."""
        counts = FoldCounts() if labels is None else self._tell(labels)
        rows = ArrivalRows([], [], [], []) if arrivals is None else arrivals
        return self._decide(rows, counts)

    def _tell(self, labels: LabelRows) -> FoldCounts:
        state = self.fleet.state
        read = read_labels(labels, state.keys.kind, state.ids.kind)
        told, withdrawn = np.flatnonzero(~read.gone), np.flatnonzero(read.gone)
        found = self.fleet.tell(at(read.keys, told), at(read.ids, told), read.ys[told])
        back = self.fleet.withdraw(at(read.keys, withdrawn), at(read.ids, withdrawn))
        return FoldCounts(**found._asdict(), withdrawn=back.withdrawn, label_faults=read.faults)

    def _decide(self, rows: ArrivalRows, counts: FoldCounts) -> tuple[Answered, FoldCounts]:
        state = self.fleet.state
        read = read_arrivals(rows, state.keys.kind, state.ids.kind)
        xs, _ = whole_or_text("x", rows.xs, state.types.kind, read.faults)
        places, faults = read.in_order(), read.faults.texts
        keys, costs = at(read.keys, places), None if read.costs is None else read.costs[places]
        found = self.fleet.decide(keys, at(xs, places), at(read.ids, places), costs)
        repeated = int(found.repeated.sum())
        counts = counts._replace(
            decided=len(places) - repeated,
            repeated=repeated,
            faults=len(faults) - len(places),
            out_of_order=self._note_order(keys, read.order[places], ~found.repeated),
        )
        reasons = np.array(found.reasons.words, dtype=object)[found.reasons.codes]
        reasons[found.repeated] = None
        columns = {name: getattr(found, name) for name in SAME_COLUMNS} | {"reason": reasons}
        answers = Answered.empty(rows.keys, rows.ids, faults)
        if len(places) == len(faults) and (places[1:] > places[:-1]).all():
            return answers._replace(**columns), counts  # they are in place
        for name, column in columns.items():
            getattr(answers, name)[places] = column
        return answers, counts

    def _note_order(self, keys: Any, order: NDArray[Any], counted: NDArray[np.bool_]) -> int:
        """Note the last order of each key; how many arrivals were older than one of an earlier batch."""
        state = self.fleet.state
        rows = state.members_of(state.keys.codes(state.keys.checked(keys)))[counted]
        order = order[counted]
        last = self._grown(order)
        now = np.bincount(rows, minlength=len(last))
        had_some = (state.members["rounds"] > now)[rows]
        late = int((had_some & (order < last[rows])).sum())
        last[rows[~had_some]] = order[~had_some]
        np.maximum.at(last, rows, order)
        self._last = last
        return late

    def _grown(self, order: NDArray[Any]) -> NDArray[Any]:
        """The last orders, with room for all keys, as numbers that hold these orders, too."""
        known = len(self._last)
        kind = np.result_type(self._last, order) if known else order.dtype
        last = np.zeros(len(self.fleet.state.members), dtype=kind)
        last[:known] = self._last
        return last
