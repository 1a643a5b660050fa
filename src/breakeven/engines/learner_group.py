"""A group of keys whose learners are snapshots: any belief and rule; only keys with rows are restored."""

from collections.abc import Iterable
from math import nan
from typing import Any

from breakeven.engines.answered import Answered, FoldCounts
from breakeven.engines.feed import ArrivalRows, Faults, LabelRows, plain, read_arrivals, read_labels
from breakeven.engines.group_state import CarriedKey, GroupContent, GroupSetup, KeptBeside, sealed
from breakeven.errors import BreakevenError, InvalidInput, expect
from breakeven.learner import Learner
from breakeven.values import Decision


class KeptKey:
    """One key's learner, and the order of its last arrival."""

    def __init__(self, learner: Learner, last: float | int | None = None) -> None:
        self.learner, self.last = learner, last


class LearnerGroup:
    """Keys whose learners are kept as snapshots: only those that a batch touches are restored."""

    def __init__(self, setup: GroupSetup, content: GroupContent | None) -> None:
        self._setup = setup
        self._blobs = {key: (blob, last) for key, blob, last in content.learners} if content else {}
        early = content.early if content else []
        self._early = {(key, str(id)): (y, labeller) for key, id, y, labeller in early}
        self._open: dict[Any, KeptKey] = {}

    def dump(self) -> bytes:
        """Everything, as bytes."""
        for key, one in self._open.items():
            self._blobs[key] = one.learner.snapshot(), one.last
        self._open = {}
        learners = [(key, blob, last) for key, (blob, last) in self._blobs.items()]
        early = [(key, id, *label) for (key, id), label in self._early.items()]
        return sealed(GroupContent(self._setup.config, learners=learners, early=early))

    def learners(self) -> dict[Any, Learner]:
        """The learners by key."""
        return {key: self._kept(key).learner for key in (*self._blobs, *self._open)}

    @property
    def keys_are(self) -> str | None:
        """What keys are, integers or texts, once there are some."""
        key = next(iter((*self._blobs, *self._open, *(key for key, _ in self._early))), None)
        return None if key is None else "integers" if isinstance(key, int) else "texts"

    def carry(self) -> list[CarriedKey]:
        """Every key as it goes on elsewhere."""
        early: dict[Any, list[tuple[int | str, float, str | None]]] = {}
        for (key, id), label in self._early.items():
            early.setdefault(key, []).append((id, *label))
        carried = []
        for key in dict.fromkeys((*self._blobs, *self._open)):
            one = self._kept(key)
            beside = KeptBeside(one.last, early.pop(key, []))
            carried.append(CarriedKey(key, one.learner.snapshot(), beside.packed()))
        return carried + [CarriedKey(key, None, KeptBeside(early=one).packed()) for key, one in early.items()]

    def take(self, carried: Iterable[CarriedKey], ids_are: str) -> None:
        """Take up keys that come from elsewhere; one that has arrivals here already is refused."""
        for key, blob, beside in carried:
            kept = KeptBeside.read(beside)
            if blob is not None:
                if key in self._blobs or key in self._open:
                    raise InvalidInput(f"key: expected one without arrivals, got {expect.shown(key)}")
                learner = Learner.restore(blob, self._setup.rules, self._setup.beliefs)
                _check_alike(learner.config(), self._setup.learner(key).config())
                self._open[key] = KeptKey(learner, kept.last)
            for id, y, labeller in kept.early:
                self._early.setdefault((key, str(id)), (y, labeller))

    def _kept(self, key: Any) -> KeptKey:
        one = self._open.get(key)
        if one is None:
            blob, last = self._blobs.get(key, (None, None))
            setup = self._setup
            learner = (
                setup.learner(key) if blob is None else Learner.restore(blob, setup.rules, setup.beliefs)
            )
            one = self._open[key] = KeptKey(learner, last)
        return one

    @property
    def _kinds(self) -> tuple[str | None, str | None]:
        """What keys are; ids may be both, as learners have text in any case."""
        return self.keys_are, None

    def fold(self, arrivals: ArrivalRows | None, labels: LabelRows | None) -> tuple[Answered, FoldCounts]:
        """Tell labels, then decide on arrivals."""
        counts = dict.fromkeys(FoldCounts._fields, 0)
        if labels is not None:
            self._tell_all(labels, counts)
        answers = self._decide_all(ArrivalRows([], [], [], []) if arrivals is None else arrivals, counts)
        return answers, FoldCounts(**counts)

    def _tell_all(self, labels: LabelRows, counts: dict[str, int]) -> None:
        read = read_labels(labels, *self._kinds)
        counts["label_faults"] = read.faults
        rows = zip(plain(read.keys), plain(read.ids), read.ys.tolist(), read.labellers, strict=True)
        for (key, id, y, labeller), withdrawn in zip(rows, read.gone.tolist(), strict=True):
            if withdrawn:
                counts["withdrawn"] += self._withdraw(key, str(id))
            else:
                counts[self._tell(key, id, y, labeller)] += 1
        while len(self._early) > self._setup.early_window:
            del self._early[next(iter(self._early))]
            counts["forgotten"] += 1

    def _tell(self, key: Any, id: Any, y: float, labeller: str | None) -> str:
        """What became of one label."""
        known = key in self._open or key in self._blobs
        learner = self._kept(key).learner if known else None
        entry = None if learner is None else learner.state.book.find(str(id))
        if learner is None or entry is None or entry.decision is None:
            return self._park(key, id, y, labeller)
        if not entry.decision.wants_label:
            return "unasked"
        if entry.y is not None:
            return "again" if entry.y == y else "conflicting"
        try:
            learner.tell(entry.id, y, labeller=labeller)
        except BreakevenError:
            return "label_faults"
        return "told"

    def _park(self, key: Any, id: Any, y: float, labeller: str | None) -> str:
        before = self._early.get((key, str(id)))
        if before is not None:
            return "again" if before[0] == y else "conflicting"
        self._early[key, str(id)] = y, labeller
        return "early"

    def _withdraw(self, key: Any, id: str) -> int:
        if self._early.pop((key, id), None) is not None:
            return 1
        if key not in self._open and key not in self._blobs:
            return 0
        learner = self._kept(key).learner
        entry = learner.state.book.find(id)
        if entry is None or entry.decision is None or not entry.decision.wants_label:
            return 0
        if entry.y is None and entry.withdrawn is not None:
            return 0
        learner.withdraw(id)
        return 1

    def _decide_all(self, rows: ArrivalRows, counts: dict[str, int]) -> Answered:
        read = read_arrivals(rows, *self._kinds)
        answers = Answered.empty(rows.keys, rows.ids, read.faults.texts)
        places, keys, ids = read.in_order().tolist(), plain(read.keys), plain(read.ids)
        xs, costs = plain(rows.xs), None if read.costs is None else read.costs.tolist()
        asked: dict[Any, list[Any]] = {}
        for place in places:
            key, id = keys[place], ids[place]
            cost = None if costs is None or costs[place] != costs[place] else costs[place]
            decision, again = self._decide(key, str(id), xs[place], cost, place, read.faults)
            if decision is None:
                continue
            _write(answers, place, decision, again)
            if again:
                counts["repeated"] += 1
                continue
            counts["decided"] += 1
            kept, order = self._kept(key), read.order[place].item()
            counts["out_of_order"] += kept.last is not None and order < kept.last
            kept.last = order if kept.last is None else max(order, kept.last)
            if (label := self._early.pop((key, str(id)), None)) is not None:
                asked.setdefault(key, []).append((decision, *label))
        for key, waiting in asked.items():
            for decision, y, labeller in waiting:
                if decision.wants_label:
                    try:
                        self._kept(key).learner.tell(decision.id, y, labeller=labeller)
                    except BreakevenError:
                        counts["label_faults"] += 1
        counts["faults"] = int((~read.faults.sound).sum())
        return answers

    def _decide(
        self, key: Any, id: str, x: Any, cost: float | None, place: int, faults: Faults
    ) -> tuple[Decision | None, bool]:
        """The decision on one row, and whether it came before; None where the row is faulty."""
        new = key not in self._open and key not in self._blobs
        learner = self._kept(key).learner
        again = learner.state.book.find(id) is not None
        try:
            return learner.decide(x, id=id, cost=cost), again
        except BreakevenError as error:
            faults.add(place, str(error))
            if new:
                del self._open[key]
            return None, again


def _check_alike(came: dict[str, Any], wanted: dict[str, Any]) -> None:
    """A learner from elsewhere is made up as those here; fits and rules may have moved on since."""
    for config in (came, wanted):
        config |= {part: config[part]["kind"] for part in ("belief", "rule")}
    for name in sorted(came.keys() | wanted.keys()):
        if came.get(name) != wanted.get(name):
            expect.refuse(f"learner: {name}", repr(wanted.get(name)), came.get(name))


def _write(answers: Answered, place: int, decision: Decision, again: bool) -> None:
    prediction = decision.prediction
    answers.wants_label[place], answers.repeated[place] = decision.wants_label, again
    answers.prediction[place], answers.std[place] = prediction.mean, prediction.std
    answers.uncertainty[place], answers.threshold[place] = decision.uncertainty, decision.threshold
    answers.cost[place], answers.propensity[place] = decision.cost, decision.propensity
    answers.worth[place] = nan if decision.worth is None else decision.worth
    answers.round[place], answers.reason[place] = decision.round, decision.reason
    answers.labeller[place] = decision.labeller
