"""The labels of all types: counted and summed by type, each as much as its noise and its age allow.

Sums are exact, so labels in any order, late, corrected or withdrawn, leave the same bits behind.
"""

from collections.abc import Iterable
from typing import Any

from breakeven.beliefs.types.names import stored_type_name
from breakeven.beliefs.types.prior import TypePrior
from breakeven.beliefs.types.tally import Census, Tally
from breakeven.beliefs.types.weights import EVEN, NOTHING, Fading, Grade, Weighed, noise_weight
from breakeven.values import ExactSum, Prediction

Settled = tuple[Any, int, int, int, tuple[float, ...]]  # type, M_k, N_k, labels told, parts of their sum


class TypeLabels:
    """Tallies by type; `asked` and `told` count the labels of all types.

    Most labels count as one, for ever. Of the others, `grades` says by id how much they count.
    """

    def __init__(self, noise_std: float, half_life: float | None, *, counted: bool) -> None:
        self._noise_std, self._lasting = noise_std, half_life is None
        self._fading = Fading() if half_life is None else Fading(half_life)
        self.tallies: dict[Any, Tally] = {}
        self.asked = 0  # N
        self.told = 0
        self.census = Census() if counted or half_life is not None else None
        self._grades: dict[str, Grade] = {}
        self._recent = Weighed()  # the labels asked for, by their age

    @property
    def half_life(self) -> float:
        """The rounds after which a label counts half; ∞ where none is forgotten."""
        return self._fading.half_life

    def count(self) -> Census:
        """The counts over all types: those that are kept, or counted now."""
        return Census.of(self.tallies.values()) if self.census is None else self.census

    # -- reading ---------------------------------------------------------------------------------

    @property
    def even(self) -> bool:
        """Whether every label counts as one, for ever."""
        return self._lasting and all(tally.weighed is None for tally in self.tallies.values())

    @property
    def recent(self) -> float:
        """N: how many labels were asked for, each as its age allows."""
        return self.asked if self._lasting else self._left(self._recent) * self._recent.asked.value

    def asked_of(self, tally: Tally) -> float:
        """N_k: what the labels asked for weigh."""
        weighed = tally.weighed
        return tally.asked if weighed is None else max(self._left(weighed) * weighed.asked.value, 0.0)

    def told_of(self, tally: Tally) -> tuple[float, float]:
        """The mean of the labels told, and what they weigh: 0 if there are none, or all are forgotten."""
        weighed = tally.weighed
        if weighed is not None:
            return weighed.mean, self._left(weighed) * weighed.told_weight
        return (tally.sum.value / tally.told, tally.told) if tally.told else (0.0, 0.0)

    def known(self) -> dict[Any, tuple[float, float]]:
        """The mean of the labels of each type that has any told, and what they weigh."""
        return {key: self.told_of(tally) for key, tally in self.tallies.items() if tally.told}

    def posterior(self, tally: Tally, prior: TypePrior) -> Prediction:
        """The prediction for this type as of now."""
        return prior.posterior(*self.told_of(tally))

    def predict(self, prior: TypePrior) -> None:
        """Predict every type under this prior."""
        for tally in self.tallies.values():
            tally.prediction = self.posterior(tally, prior)

    @property
    def _now(self) -> int:
        """The round from which a label ages, where it does."""
        return 0 if self._lasting or self.census is None else self.census.arrivals

    def _left(self, weighed: Weighed) -> float:
        return self._fading.left(self._now, weighed.epoch)

    # -- events ----------------------------------------------------------------------------------

    def arrive(self, tally: Tally) -> None:
        """One of this type came."""
        if self.census is not None:
            self.census.arrive(tally)
        tally.arrivals += 1

    def ask(self, id: str | None, tally: Tally, noise_std: float | None, age: int = 0) -> Grade | None:
        """A label is asked for, or comes unasked for an arrival so many rounds ago; how much it counts."""
        grade = self._grade(noise_std, max(self._now - age, 0))
        if grade is not None or tally.weighed is not None:
            weighed = tally.weigh()
            weighed.move_to(self._fading.epoch(self._now))
            weighed.ask(self._weight(grade, weighed))
        tally.asked += 1
        self._note(id, grade)
        self._count(grade, +1)
        if self.census is not None:
            self.census.ask(tally)
        return grade

    def tell(self, id: str, tally: Tally, y: float, noise_std: float | None) -> None:
        """An awaited label came, with a noise of its own if another one answered than was asked."""
        grade = self._grades.get(id)
        self.enter(tally, grade if noise_std is None else self._regrade(id, tally, grade, noise_std), y)

    def enter(self, tally: Tally, grade: Grade | None, y: float) -> None:
        """A label that counts so much is told."""
        self._add(tally, grade, y, +1)
        tally.told += 1
        self.told += 1
        if self.census is not None:
            self.census.tell(tally)

    def correct(self, id: str, tally: Tally, old: float, new: float) -> None:
        """A label told earlier changes its value."""
        grade = self._grades.get(id)
        self._add(tally, grade, old, -1)
        self._add(tally, grade, new, +1)

    def withdraw(self, id: str, tally: Tally, y: float | None) -> None:
        """A label goes: an awaited one where y is None, else a told one."""
        grade = self._grades.pop(id, None)
        if y is not None:
            self._leave(tally, grade, y)
        if tally.weighed is not None:
            tally.weighed.ask(-self._weight(grade, tally.weighed))
        tally.asked -= 1
        if tally.asked == 0:
            tally.weighed = None
        self._count(grade, -1)
        if self.census is not None:
            self.census.withdraw(tally)

    def _leave(self, tally: Tally, grade: Grade | None, y: float) -> None:
        self._add(tally, grade, y, -1)
        tally.told -= 1
        self.told -= 1
        if self.census is not None:
            self.census.untell(tally)

    # -- how much a label counts -----------------------------------------------------------------

    def _grade(self, noise_std: float | None, round: int) -> Grade | None:
        """That of a label of this noise, asked for in this round; None if it counts as one, for ever."""
        if noise_std is not None and noise_std != self._noise_std:
            return Grade(noise_weight(self._noise_std, noise_std), round)
        return None if self._lasting else Grade(1.0, round)

    def _regrade(self, id: str, tally: Tally, old: Grade | None, noise_std: float) -> Grade | None:
        """An awaited label has this noise; it may have been asked for with another."""
        new = self._grade(noise_std, (old or EVEN).round)
        if new != old:
            weighed = tally.weigh()
            weighed.ask(-self._weight(old, weighed))
            weighed.ask(self._weight(new, weighed))
            self._grades.pop(id, None)
            self._note(id, new)
        return new

    def _note(self, id: str | None, grade: Grade | None) -> None:
        if grade is not None and id is not None:
            self._grades[id] = grade

    def _weight(self, grade: Grade | None, weighed: Weighed) -> float:
        return self._fading.weight(grade or EVEN, weighed.epoch)

    def _add(self, tally: Tally, grade: Grade | None, y: float, sign: int) -> None:
        if tally.weighed is None:
            tally.sum = tally.sum.plus(sign * y)
        else:
            tally.weighed.tell(sign * self._weight(grade, tally.weighed), y)

    def _count(self, grade: Grade | None, sign: int) -> None:
        self.asked += sign
        if not self._lasting:
            self._recent.move_to(self._fading.epoch(self._now))
            age = Grade(1.0, (grade or EVEN).round)
            self._recent.ask(sign * self._weight(age, self._recent))

    # -- keeping ---------------------------------------------------------------------------------

    def settle(self, rows: Iterable[Settled], unlabelled: Prediction) -> list[Tally]:
        """Take up where a stream ended; the tallies of which labels were told."""
        changed = []
        for point, arrivals, asked, told, parts in rows:
            tally = self.tallies.get(point) or self.tallies.setdefault(point, Tally(unlabelled))
            self.asked += asked - tally.asked
            self.told += told - tally.told
            tally.arrivals, tally.asked = arrivals, asked
            if told != tally.told:
                tally.told, tally.sum = told, ExactSum(tuple(filter(None, parts)))
                changed.append(tally)
        self.census = None if self.census is None else Census.of(self.tallies.values())
        return changed

    def state(self) -> dict[str, Any]:
        """A row per type: key, M_k, N_k, labels told, the parts of their sum, and how they are weighed."""
        return {
            "types": [
                (key, one.arrivals, one.asked, one.told, one.sum.parts, one.weighed and one.weighed.plain())
                for key, one in self.tallies.items()
            ],
            "grades": [(id, grade.weight, grade.round) for id, grade in self._grades.items()],
            "recent": self._recent.plain(),
        }

    def load(self, state: dict[str, Any], unlabelled: Prediction) -> None:
        """Take up a state that `state` gave; predictions are still to be made."""
        self.tallies, self.asked, self.told = {}, 0, 0
        for key, arrivals, asked, told, parts, weighed in state["types"]:
            tally = Tally(unlabelled, arrivals, asked, told, ExactSum(tuple(parts)) if parts else NOTHING)
            tally.weighed = None if weighed is None else Weighed.of(weighed)
            self.tallies[stored_type_name(key)] = tally
            self.asked += asked
            self.told += told
        self._grades = {id: Grade(weight, round) for id, weight, round in state["grades"]}
        self._recent = Weighed.of(state["recent"])
        self.census = None if self.census is None else Census.of(self.tallies.values())
