"""A group of keys whose learners are a fleet: types under our own rules, all keys in one set of columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.engines.answered import Answered, FoldCounts
from breakeven.engines.feed import ArrivalRows, LabelRows, at, read_arrivals, read_labels, whole_or_text
from breakeven.engines.group_state import GroupContent, GroupSetup, OrderKind, sealed
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
            self.fleet = Fleet.load(content.fleet)
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

    def fold(self, arrivals: ArrivalRows | None, labels: LabelRows | None) -> tuple[Answered, FoldCounts]:
        """Tell labels, then decide on arrivals."""
        counts = FoldCounts() if labels is None else self._tell(labels)
        rows = ArrivalRows([], [], [], []) if arrivals is None else arrivals
        return self._decide(rows, counts)

    def _tell(self, labels: LabelRows) -> FoldCounts:
        state = self.fleet.state
        keys, ids, ys, gone, faults = read_labels(labels, state.keys.kind, state.ids.kind)
        told, withdrawn = np.flatnonzero(~gone), np.flatnonzero(gone)
        found = self.fleet.tell(at(keys, told), at(ids, told), ys[told])
        back = self.fleet.withdraw(at(keys, withdrawn), at(ids, withdrawn))
        return FoldCounts(**found._asdict(), withdrawn=back.withdrawn, label_faults=faults)

    def _decide(self, rows: ArrivalRows, counts: FoldCounts) -> tuple[Answered, FoldCounts]:
        state = self.fleet.state
        read = read_arrivals(rows, state.keys.kind, state.ids.kind)
        xs, _ = whole_or_text("x", rows.xs, state.types.kind, read.faults)
        answers, places = Answered.empty(rows.keys, rows.ids, read.faults.texts), read.in_order()
        keys, costs = at(read.keys, places), None if read.costs is None else read.costs[places]
        found = self.fleet.decide(keys, at(xs, places), at(read.ids, places), costs)
        for name in SAME_COLUMNS:
            getattr(answers, name)[places] = getattr(found, name)
        reasons = np.array(found.reasons.words, dtype=object)[found.reasons.codes]
        reasons[found.repeated] = None
        answers.reason[places] = reasons
        repeated = int(found.repeated.sum())
        return answers, counts._replace(
            decided=len(places) - repeated,
            repeated=repeated,
            faults=len(answers.fault) - len(places),
            out_of_order=self._note_order(keys, read.order[places], ~found.repeated),
        )

    def _note_order(self, keys: Any, order: NDArray[Any], counted: NDArray[np.bool_]) -> int:
        """Note the last order of each key; how many arrivals were older than one of an earlier batch."""
        state = self.fleet.state
        rows = state.members_of(state.keys.codes(state.keys.checked(keys)))[counted]
        order, known = order[counted], len(self._last)
        last = np.zeros(len(state.members), dtype=np.result_type(self._last, order) if known else order.dtype)
        last[:known] = self._last
        now = np.bincount(rows, minlength=len(last))
        had_some = (state.members["rounds"] > now)[rows]
        late = int((had_some & (order < last[rows])).sum())
        last[rows[~had_some]] = order[~had_some]
        np.maximum.at(last, rows, order)
        self._last = last
        return late
