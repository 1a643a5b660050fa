"""The labels of all types: counted and summed by type.

Sums are exact: labels told in any order, late, corrected, reopened or withdrawn leave the same bits behind.

Notation: M_k arrivals of type k among t in all, N_k labels asked for, awaited ones included.
"""

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any, Protocol

from msgspec import Struct

from breakeven.beliefs.belief import Key
from breakeven.beliefs.types.type_names import stored_type_name
from breakeven.beliefs.types.weighing import (
    FULL_GRADE,
    Ageing,
    Grade,
    Sums,
    TypePrior,
    Weighed,
    noise_weight,
)
from breakeven.values import NO_SUM, ExactSum, Prediction

Settled = tuple[Any, int, int, int, tuple[float, ...]]  # type, M_k, N_k, labels told, parts of their sum


class Tally(Struct, gc=False):
    """One type: its counts and the sum of its labels, or `weighed` sums where labels do not count alike."""

    prediction: Prediction  # as of its last label
    arrivals: int = 0  # M_k
    asked: int = 0  # N_k
    told: int = 0
    sum: ExactSum = NO_SUM
    weighed: Weighed | None = None
    early: list[float] | None = None  # the labels themselves, as long as the noise is to be measured

    def weigh(self) -> Weighed:
        """From now on its labels have weights; those it has already weigh 1 each."""
        if self.weighed is None:
            counts = NO_SUM.plus(float(self.asked)), NO_SUM.plus(float(self.told))
            self.weighed, self.sum = Weighed(Sums(*counts, self.sum)), NO_SUM
        return self.weighed


class Census(Struct):
    """How many arrivals there were, of how many types, how many of these have labels asked for, and told.

    `overlooked` are the arrivals of types without a label asked for.
    """

    arrivals: int = 0  # t
    types: int = 0
    asked: int = 0
    told: int = 0
    overlooked: int = 0

    @staticmethod
    def of(tallies: Iterable[Tally], erased: int = 0) -> "Census":
        """Count these, after some arrivals whose type was erased."""
        census = Census(erased)
        for tally in tallies:
            census.arrivals += tally.arrivals
            census.types += tally.arrivals > 0
            census.asked += tally.asked > 0
            census.told += tally.told > 0
            census.overlooked += 0 if tally.asked else tally.arrivals
        return census

    def arrive(self, tally: Tally) -> None:
        """One of this type is about to be counted."""
        self.arrivals += 1
        self.types += not tally.arrivals
        self.overlooked += not tally.asked

    def ask(self, tally: Tally) -> None:
        """A label of this type was asked for."""
        if tally.asked == 1:
            self.asked += 1
            self.overlooked -= tally.arrivals

    def withdraw(self, tally: Tally) -> None:
        """A label of this type, asked for, was withdrawn."""
        if tally.asked == 0:
            self.asked -= 1
            self.overlooked += tally.arrivals

    def tell(self, tally: Tally) -> None:
        """A label of this type was told."""
        self.told += tally.told == 1

    def untell(self, tally: Tally) -> None:
        """A label of this type, told, was reopened or withdrawn."""
        self.told -= tally.told == 0


class TypesElsewhere(Protocol):
    """Types whose counts and sums lie in arrays for a while."""

    def known(self) -> dict[Any, tuple[float, float]]:
        """The mean of the labels of each of them that has any told, and how many they are."""
        ...

    def predict(self, prior: TypePrior) -> None:
        """Predict all of them under this prior."""
        ...

    def rows(self) -> Iterable[Settled]:
        """Those that have changed since they were written out last; new ones last."""
        ...


class TypeLabels:
    """Tallies by type; `asked` and `told` count the labels of all types.

    Most labels count as one, for ever. For the others, `_grades` says by key how much they count. Without a
    `noise_std` the noise is still to be measured: labels with a noise of their own are then summed apart, and
    `ratio` says how much heavier they weigh than beside a noise of 1.
    """

    def __init__(
        self, noise_std: float | None, half_life: float | None, *, counted: bool, early: bool
    ) -> None:
        self._noise_std, self._lasting = noise_std, half_life is None
        self._ageing = Ageing() if half_life is None else Ageing(half_life)
        self.written: dict[Any, Tally] = {}  # those that lie elsewhere may be missing, or old
        self.tallies: MutableMapping[Any, Tally] = self.written
        self.elsewhere: TypesElsewhere | None = None
        self._outdated = False  # whether all predictions here are those of another prior
        self.asked = 0  # N
        self.told = 0
        self.ratio = 1.0
        self.erased = 0  # arrivals whose type is not known any more
        self.census = Census() if counted or half_life is not None else None
        self._grades: dict[int, Grade] = {}
        self._weighed = 0  # types whose labels have weights
        self._recent = Weighed(Sums())  # the labels of all types, by their age alone
        self._early: list[float] | None = [] if early else None  # those with a noise of their own
        self._sum = NO_SUM  # of the early labels

    @property
    def half_life(self) -> float:
        """The rounds after which a label counts half; ∞ where none is forgotten."""
        return self._ageing.half_life

    def count(self) -> Census:
        """The counts over all types: those that are kept, or counted now."""
        return Census.of(self.tallies.values(), self.erased) if self.census is None else self.census

    # -- reading ---------------------------------------------------------------------------------

    @property
    def even(self) -> bool:
        """Whether every label counts as one, for ever."""
        return self._lasting and not self._weighed

    @property
    def recent(self) -> float:
        """N: the labels asked for, each weighed by its age."""
        return self.asked if self._lasting else self._left(self._recent) * self._recent.asked(1.0)

    def asked_of(self, tally: Tally) -> float:
        """N_k: what the labels asked for weigh."""
        weighed = tally.weighed
        return tally.asked if weighed is None else max(self._left(weighed) * weighed.asked(self.ratio), 0.0)

    def told_of(self, tally: Tally) -> tuple[float, float]:
        """The mean of the labels told, and what they weigh: 0 if there are none, or all are forgotten."""
        weighed = tally.weighed
        if weighed is not None:
            mean, weight = weighed.told(self.ratio)
            return mean, self._left(weighed) * weight
        return (tally.sum.value / tally.told, tally.told) if tally.told else (0.0, 0.0)

    def known(self) -> dict[Any, tuple[float, float]]:
        """The mean of the labels of each type that has any told, and what they weigh."""
        here = {key: self.told_of(tally) for key, tally in self.written.items() if tally.told}
        return here if self.elsewhere is None else here | self.elsewhere.known()

    def known_apart(self) -> dict[Any, tuple[float, float, float, float]]:
        """As `known`, but without labels apart; their mean and their weight beside noise 1 come after."""
        return {
            key: self._told_apart(tally.weighed) if tally.weighed else (*self.told_of(tally), 0.0, 0.0)
            for key, tally in self.tallies.items()
            if tally.told
        }

    def _told_apart(self, weighed: Weighed) -> tuple[float, float, float, float]:
        left = self._left(weighed)
        (mean, weight), (own_mean, own_weight) = weighed.sums.mean_told, weighed.apart_told
        return mean, left * weight, own_mean, left * own_weight

    def posterior(self, tally: Tally, prior: TypePrior) -> Prediction:
        """The prediction for this type as of now."""
        return prior.posterior(*self.told_of(tally))

    def predict(self, prior: TypePrior) -> None:
        """Predict every type under this prior."""
        if self.elsewhere is not None:
            self.elsewhere.predict(prior)
            self._outdated = True
            return
        for tally in self.written.values():
            tally.prediction = self.posterior(tally, prior)

    def predict_written(self, prior: TypePrior) -> None:
        """Predict what is written here, if it was predicted under another prior."""
        if self._outdated:
            self._outdated = False
            for tally in self.written.values():
                tally.prediction = self.posterior(tally, prior)

    @property
    def _now(self) -> int:
        """The round from which a label ages, where it does."""
        return 0 if self._lasting or self.census is None else self.census.arrivals

    def _left(self, weighed: Weighed) -> float:
        return self._ageing.left(self._now, weighed.epoch)

    # -- events ----------------------------------------------------------------------------------

    def arrive(self, tally: Tally) -> None:
        """One of this type came."""
        if self.census is not None:
            self.census.arrive(tally)
        tally.arrivals += 1

    def pass_time(self) -> None:
        """An arrival came whose type was erased."""
        self.erased += 1
        if self.census is not None:
            self.census.arrivals += 1

    def ask(self, key: Key, tally: Tally, noise_std: float | None, age: int = 0) -> Grade | None:
        """A label is asked for, or comes unasked for an arrival `age` rounds ago; how much it counts."""
        grade = self._grade(noise_std, max(self._now - age, 0))
        if grade is not None or tally.weighed is not None:
            weighed = self._weigh(tally)
            weighed.move_to(self._ageing.epoch(self._now))
            self._ask(weighed, grade or FULL_GRADE, +1)
        tally.asked += 1
        self._note(key, grade)
        self.asked += 1
        self._count(grade, +1)
        if self.census is not None:
            self.census.ask(tally)
        return grade

    def tell(self, key: Key, tally: Tally, y: float, noise_std: float | None) -> None:
        """An awaited label came, with a noise of its own if another one answered than was asked."""
        grade = self._grade_of(key)
        self.enter(tally, grade if noise_std is None else self._regrade(key, tally, grade, noise_std), y)

    def enter(self, tally: Tally, grade: Grade | None, y: float) -> None:
        """A label of this grade is told."""
        self._add(tally, grade, y, +1)
        tally.told += 1
        self.told += 1
        self._count_told(grade, +1)
        if self.census is not None:
            self.census.tell(tally)

    def correct(self, key: Key, tally: Tally, old: float, new: float) -> None:
        """A label told earlier changes its value."""
        grade = self._grade_of(key)
        self._add(tally, grade, old, -1)
        self._add(tally, grade, new, +1)

    def reopen(self, key: Key, tally: Tally, y: float) -> None:
        """A label told earlier is awaited again, with the noise and the age it had."""
        self._leave(tally, self._grade_of(key), y)

    def withdraw(self, key: Key, tally: Tally, y: float | None) -> None:
        """A label goes: an awaited one where y is None, else a told one."""
        grade = self._grade_of(key)
        self.release(key)
        if y is not None:
            self._leave(tally, grade, y)
        if tally.weighed is not None:
            self._ask(tally.weighed, grade or FULL_GRADE, -1)
        tally.asked -= 1
        if tally.asked == 0:
            self._unweigh(tally)
        self.asked -= 1
        self._count(grade, -1)
        if self.census is not None:
            self.census.withdraw(tally)

    def release(self, key: Key) -> None:
        """Nobody will name this label again."""
        if key is not None:
            self._grades.pop(key, None)

    def detach(self) -> None:
        """All labels lose their keys, and awaited ones go."""
        self._grades = {}
        self._recent.drop_awaited()
        self.asked = self.told
        for tally in self.tallies.values():
            tally.asked = tally.told
            if tally.weighed is not None:
                tally.weighed.drop_awaited()
            if tally.asked == 0:
                self._unweigh(tally)
        self.recount()

    def count_in(self, tally: Tally, told: int, total: ExactSum) -> None:
        """Labels that count as one each were taken back; below 0, they were set aside."""
        tally.told, tally.asked = tally.told + told, tally.asked + told
        self.told, self.asked = self.told + told, self.asked + told
        for part in total.parts:
            tally.sum = tally.sum.plus(part if told > 0 else -part)

    def recount(self) -> None:
        """Count over all types again, where counts are kept."""
        if self.census is not None:
            self.census = Census.of(self.tallies.values(), self.erased)

    def _leave(self, tally: Tally, grade: Grade | None, y: float) -> None:
        self._add(tally, grade, y, -1)
        tally.told -= 1
        self.told -= 1
        self._count_told(grade, -1)
        if self.census is not None:
            self.census.untell(tally)

    # -- how much a label counts -----------------------------------------------------------------

    def _grade(self, noise_std: float | None, round: int) -> Grade | None:
        """That of a label of this noise, asked for in this round; None if it counts as one, for ever."""
        if noise_std is not None and noise_std != self._noise_std:
            return Grade(noise_weight(self._noise_std or 1.0, noise_std), round, self._noise_std is None)
        return None if self._lasting else Grade(1.0, round)

    def _grade_of(self, key: Key) -> Grade | None:
        return None if key is None else self._grades.get(key)

    def _regrade(self, key: Key, tally: Tally, old: Grade | None, noise_std: float) -> Grade | None:
        """An awaited label has this noise; it may have been asked for with another."""
        new = self._grade(noise_std, (old or FULL_GRADE).round)
        if new != old:
            weighed = self._weigh(tally)
            self._ask(weighed, old or FULL_GRADE, -1)
            self._ask(weighed, new or FULL_GRADE, +1)
            self.release(key)
            self._note(key, new)
        return new

    def _weigh(self, tally: Tally) -> Weighed:
        self._weighed += tally.weighed is None
        return tally.weigh()

    def _unweigh(self, tally: Tally) -> None:
        """A type without labels has no weights left."""
        self._weighed -= tally.weighed is not None
        tally.weighed = None

    def _note(self, key: Key, grade: Grade | None) -> None:
        if grade is not None and key is not None:
            self._grades[key] = grade

    def _ask(self, weighed: Weighed, grade: Grade, sign: int) -> None:
        weighed.where(grade).ask(sign * self._ageing.weight(grade, weighed.epoch))

    def _add(self, tally: Tally, grade: Grade | None, y: float, sign: int) -> None:
        if tally.weighed is None:
            tally.sum = tally.sum.plus(sign * y)
        else:
            full = grade or FULL_GRADE
            weight = self._ageing.weight(full, tally.weighed.epoch)
            tally.weighed.where(full).tell(sign * weight, y)
        if self._early is not None:
            self._keep(tally, grade, y, sign)

    def _count(self, grade: Grade | None, sign: int) -> None:
        """A label of this age is asked for, or goes."""
        if not self._lasting:
            self._recent.move_to(self._ageing.epoch(self._now))
            self._recent.sums.ask(sign * self._age_weight(grade))

    def _count_told(self, grade: Grade | None, sign: int) -> None:
        """A label of this age is told, or leaves the labels told."""
        if not self._lasting:
            self._recent.sums.tell(sign * self._age_weight(grade), 0.0)

    def _age_weight(self, grade: Grade | None) -> float:
        """What a label adds to `_recent`: its noise does not matter there."""
        return self._ageing.weight(Grade(1.0, (grade or FULL_GRADE).round), self._recent.epoch)

    # -- the labels themselves, until the noise is measured --------------------------------------

    def _keep(self, tally: Tally, grade: Grade | None, y: float, sign: int) -> None:
        assert self._early is not None
        self._sum = self._sum.plus(sign * y)
        if grade is not None and (grade.apart or grade.weight != 1.0):
            kept = self._early
        else:
            kept = tally.early = tally.early or []
        if sign > 0:
            kept.append(y)
        else:
            kept.remove(y)

    @property
    def early_mean(self) -> float | None:
        """The mean of the labels told so far; None if there are none."""
        return self._sum.value / self.told if self.told else None

    def early_by_type(self) -> Iterator[list[float]]:
        """The labels told of each type, in order of size, without those that have a noise of their own."""
        return (sorted(tally.early) for tally in self.tallies.values() if tally.early)

    def early_apart(self) -> list[float]:
        """The labels told that have a noise of their own, in order of size."""
        return sorted(self._early or [])

    def measured(self, noise_std: float) -> None:
        """The noise is known from now on: no more labels are kept."""
        if self._noise_std is None:
            self.ratio = noise_weight(noise_std, 1.0)
        self._early, self._sum = None, NO_SUM
        for tally in self.tallies.values():
            tally.early = None

    # -- keeping ---------------------------------------------------------------------------------

    def settle(self, rows: Iterable[Settled], unlabelled: Prediction) -> list[Tally]:
        """Take up where a stream ended; the tallies whose labels told have changed."""
        changed, given = [], list(rows)
        tallies = self._settle_counts((row[:3] for row in given), unlabelled)
        for tally, (_, _, _, told, parts) in zip(tallies, given, strict=True):
            if told != tally.told:
                self.told += told - tally.told
                tally.told, tally.sum = told, ExactSum(tuple(filter(None, parts)))
                changed.append(tally)
        self.recount()
        return changed

    def write_out(self, prior: TypePrior) -> dict[Any, Tally]:
        """Take back what lies elsewhere, if anything does: all tallies."""
        if self.elsewhere is not None:
            for tally in self._write(self.elsewhere.rows(), prior.prediction):
                tally.prediction = self.posterior(tally, prior)
            self.predict_written(prior)
            self.tallies, self.elsewhere = self.written, None
        return self.written

    def _write(self, rows: Iterable[Settled], unlabelled: Prediction) -> list[Tally]:
        """Counts and sums of these types are so; the tallies whose labels told have changed."""
        changed, known = [], self.written
        for name, arrivals, asked, told, parts in rows:
            tally = known.get(name)
            if tally is None:
                tally = known[name] = Tally(unlabelled)
            tally.arrivals, tally.asked = arrivals, asked
            if told != tally.told:
                tally.told, tally.sum = told, ExactSum(tuple(filter(None, parts)))
                changed.append(tally)
        return changed

    def _settle_counts(self, rows: Iterable[tuple[Any, int, int]], unlabelled: Prediction) -> list[Tally]:
        known, before, tallies = self.tallies, 0, list[Tally]()
        total = 0
        for name, arrivals, asked in rows:
            tally = known.get(name)
            if tally is None:
                tally = known[name] = Tally(unlabelled)
            total += asked
            before += tally.asked
            tally.arrivals, tally.asked = arrivals, asked
            tallies.append(tally)
        self.asked += total - before
        return tallies

    def state(self) -> dict[str, Any]:
        """A row for each type (type, M_k, N_k, labels told, parts of their sum, weighed sums), and more."""
        early = None
        if self._early is not None:
            by_type = [(key, tally.early) for key, tally in self.tallies.items() if tally.early]
            early = {"by_type": by_type, "apart": self._early, "sum": self._sum.parts}
        return {
            "types": [
                (key, one.arrivals, one.asked, one.told, one.sum.parts, one.weighed and one.weighed.plain())
                for key, one in self.tallies.items()
            ],
            "grades": [(key, one.weight, one.round, one.apart) for key, one in self._grades.items()],
            "recent": self._recent.plain(),
            "erased": self.erased,
            "early": early,
        }

    def load(self, state: dict[str, Any], unlabelled: Prediction) -> None:
        """Take up a state that `state` gave; predictions are still to be made."""
        self.written, self.asked, self.told, self._weighed = {}, 0, 0, 0
        self.tallies, self.elsewhere, self._outdated = self.written, None, False
        for key, arrivals, asked, told, parts, weighed in state["types"]:
            tally = Tally(unlabelled, arrivals, asked, told, ExactSum(tuple(parts)) if parts else NO_SUM)
            tally.weighed = None if weighed is None else Weighed.of(weighed)
            self._weighed += weighed is not None
            self.tallies[stored_type_name(key)] = tally
            self.asked += asked
            self.told += told
        self._grades = {key: Grade(weight, round, apart) for key, weight, round, apart in state["grades"]}
        self._recent, self.erased = Weighed.of(state["recent"]), state["erased"]
        self._load_early(state["early"])
        self.recount()

    def _load_early(self, early: dict[str, Any] | None) -> None:
        self._early = None if early is None else list(early["apart"])
        self._sum = NO_SUM if early is None else ExactSum(tuple(early["sum"]))
        for key, labels in early["by_type"] if early else ():
            self.tallies[stored_type_name(key)].early = list(labels)
