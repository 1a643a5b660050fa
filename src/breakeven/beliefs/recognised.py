"""Labels whose kind nobody declared: numbers, until enough labels told are all 0 or 1.

Two beliefs hear of everything, one for numbers and one for yes/no labels. From the fifth label on that is 0
or 1 like all before it, the second one answers. Equal labels may be the first of any numbers, too: a belief
for numbers that is never certain of them goes on until both 0 and 1 came (`both`). The first label that is
neither ends this for good: the learner goes on with the belief for numbers alone. Both turns are events,
`Fitted` with the kind of labels.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np

from breakeven.beliefs.belief import (
    Aiming,
    Belief,
    Checkable,
    Choosy,
    Explaining,
    Key,
    Looks,
    OneByOne,
    Remembering,
    is_checkable,
    level_of,
)
from breakeven.beliefs.belief_data import belief_data, belief_kind, belief_of, enter, kind_name
from breakeven.beliefs.copying import CopiedFromState
from breakeven.errors import expect
from breakeven.values import Grounds, Prediction, Traits, View

ENOUGH_TO_RECOGNISE = 5  # labels told: fewer zeros and ones may be the first of other numbers
YES_NO_VALUES = (0.0, 1.0)

LabelKind = Literal["numbers", "yes/no"]
PARTS = ("numbers", "yes_no")


class Recognised(CopiedFromState):
    """A belief for numbers, and one for yes/no labels that answers as long as all labels are 0 or 1.

    >>> from breakeven.beliefs import TypeMeans, TypeShares
    >>> belief = Recognised(TypeMeans(noise_std=0.5), TypeShares())
    >>> for y in (0.0, 1.0, 0.0, 0.0, 0.0):
    ...     answer = belief.learn("flu", y)
    >>> belief.kind, answer.mean, answer.probability
    ('yes/no', 0.0, 0.25)
    >>> belief.learn("flu", 7.0).mean, belief.kind
    (1.3333333333333333, 'numbers')
    """

    def __init__(
        self, numbers: Belief, yes_no: Belief, *, both: bool = False, owned: Iterable[float] = ()
    ) -> None:
        for name, part in zip(PARTS, (numbers, yes_no), strict=True):
            if isinstance(part, Recognised):
                expect.refuse(name, "a belief for one kind of label", part)
        self.numbers, self.yes_no, self.both = numbers, yes_no, both
        self.said: LabelKind = "numbers"  # by the last event that said so
        self._others = False  # whether a label was neither 0 nor 1
        self._met: set[float] = set()  # which of 0 and 1 were
        self._warm = False
        self._rounds = 0
        self.turns: list[tuple[int, LabelKind]] = []  # the rounds after which a new kind was said
        for y in owned:  # labels that both of them have already
            self._judge(y)

    @property
    def kind(self) -> LabelKind:
        """What labels are taken for, by those told."""
        enough = self.labels >= ENOUGH_TO_RECOGNISE and len(self._met) > self.both
        known = enough or self.said == "yes/no"  # labels set aside are still known to be yes or no
        return "yes/no" if known and not self._others else "numbers"

    @property
    def settled(self) -> bool:
        """Whether it was said that labels are numbers, for good."""
        return self._others and self.said == "numbers"

    @property
    def _now(self) -> Belief:
        return self.numbers if self.kind == "numbers" else self.yes_no

    @property
    def _both(self) -> tuple[Belief, ...]:
        """Those that still hear of labels."""
        return (self.numbers,) if self._others else (self.numbers, self.yes_no)

    def _judge(self, y: float) -> None:
        if y in YES_NO_VALUES:
            self._met.add(y)
        else:
            self._others = True

    # -- points and answers ----------------------------------------------------------------------

    @property
    def savings_rest_on_labels(self) -> bool:
        """Whether a late label may change a decision: it may be the one that tells the kind."""
        return True

    @property
    def fit_schedule(self) -> str:
        """What is found, is found as labels come."""
        return "growing"

    @property
    def level(self) -> float:
        """The quantile that is answered."""
        return level_of(self.numbers)

    def aim(self, level: float) -> None:
        """Answer at this level from now on."""
        for one in (self.numbers, self.yes_no):
            assert isinstance(one, Aiming)
            one.aim(level)

    @property
    def traits(self) -> Traits:
        """What holds for every point, until the next fit."""
        return self._now.traits

    @property
    def labels(self) -> int:
        """Labels told or learnt, and not withdrawn."""
        return self.numbers.labels

    def point(self, x: Any) -> Any:
        """Check one x."""
        return self.numbers.point(x)

    def points(self, X: Any) -> Sequence[Any]:
        """Check a batch."""
        return self.numbers.points(X)

    def plain(self, point: Any) -> Any:
        """The point as plain data."""
        return self.numbers.plain(point)

    def recall(self, plain: Any) -> Any:
        """The point that `plain` wrote."""
        return self.numbers.recall(plain)

    def look(self, point: Any) -> View:
        """As the belief sees it that answers now."""
        return self._now.look(point)

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at each in turn: a label may change which belief answers."""
        return OneByOne(self, points)

    def predict(self, point: Any) -> Prediction:
        """The prediction of the belief that answers now."""
        return self._now.predict(point)

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions of the belief that answers now."""
        return self._now.predict_many(points)

    def watch(self, most: int) -> None:
        """Both keep past arrivals."""
        for one in self._both:
            one.watch(most)

    # -- events ----------------------------------------------------------------------------------

    def arrive(self, point: Any, view: View | None = None) -> None:
        """Both count the arrival."""
        self._rounds += 1
        for one in self._both:
            one.arrive(point, view if one is self._now else None)

    def ask(
        self,
        key: Key,
        point: Any,
        view: View | None = None,
        noise_std: float | None = None,
        age: int = 0,
    ) -> None:
        """Both await the label."""
        for one in self._both:
            one.ask(key, point, view if one is self._now else None, noise_std, age)

    def tell(self, key: Key, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """The label counts in both, and may change which of them answers."""
        self._judge(y)
        for one in self._both:
            one.tell(key, point, y, noise_std)
        return self.predict(point)

    def correct(self, key: Key, point: Any, old: float, new: float) -> None:
        """A label changes its value, and may be neither 0 nor 1 now."""
        self._judge(new)
        for one in self._both:
            one.correct(key, point, old, new)

    def withdraw(self, key: Key, point: Any, y: float | None) -> None:
        """A label goes."""
        for one in self._both:
            one.withdraw(key, point, y)

    def reopen(self, key: Key, point: Any, y: float) -> None:
        """A label told earlier is awaited again."""
        for one in self._both:
            one.reopen(key, point, y)

    def learn(
        self, point: Any, y: float, key: Key = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for."""
        self._judge(y)
        for one in self._both:
            one.learn(point, y, key, noise_std, age)
        return self.predict(point)

    def release(self, key: Key) -> None:
        """Nobody will name this label any more."""
        for one in self._both:
            one.release(key)

    def grounds(self, point: Any, before: int, told: Remembering) -> Grounds:
        """As the belief sees it that answers now."""
        now = self._now
        return now.grounds(point, before, told) if isinstance(now, Explaining) else Grounds(self.labels)

    # -- tests of its claims ---------------------------------------------------------------------

    def rank(
        self, point: Any, y: float, noise_std: float | None = None, age: int = 0
    ) -> tuple[float, float] | None:
        """As the belief claims that answers now."""
        now = self._now
        return now.rank(point, y, noise_std, age) if is_checkable(now) else None

    @property
    def _checkable(self) -> list[Checkable]:
        return [one for one in self._both if is_checkable(one)]

    def remember(self, *, labels: bool) -> None:
        """Both remember labels."""
        for one in self._checkable:
            one.remember(labels=labels)

    def outdated(self) -> int:
        """As the belief sees it that answers now."""
        return self._now.outdated() if is_checkable(self._now) else 0

    def give_way(self, key: Key, outdated: int, widened: float) -> None:
        """Both give way: they were told the same labels."""
        for one in self._checkable:
            one.give_way(key, outdated, widened)

    def return_to(self, key: Key) -> None:
        """Both take back what they did."""
        for one in self._checkable:
            one.return_to(key)

    # -- fitting ---------------------------------------------------------------------------------

    @property
    def needs_warmup(self) -> bool:
        """Whether numbers would never be fitted without one."""
        return self.numbers.needs_warmup

    def fit_due(self, *, warm: bool) -> bool:
        """Whether a new kind is still to be said, or one of the two is to be fitted."""
        self._warm = self._warm or warm
        return self.said != self.kind or any(one.fit_due(warm=warm) for one in self._both)

    def fit_job(self) -> dict[str, Any]:
        """The kind of labels, and the jobs of those that are due."""
        due = {
            name: {"kind": kind_name(one), "job": one.fit_job()}
            for name, one in zip(PARTS, self._both, strict=False)
            if one.fit_due(warm=self._warm)
        }
        return {"labels": self.kind, "parts": due}

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """What each of them finds, and the kind of labels."""
        found = {
            name: belief_kind(part["kind"]).fit(part["job"], random) for name, part in job["parts"].items()
        }
        return {"labels": job["labels"], **found}

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with what was found; the kind of labels is said from now on."""
        expect.one_of("labels", parameters.get("labels"), ("numbers", "yes/no"))
        for name, one in zip(PARTS, self._both, strict=False):
            found = parameters.get(name)
            if isinstance(found, dict):
                one.adopt(found, labels)
            elif found is not None:
                expect.refuse(name, "named parameters", found)
        if self.said != self.kind:
            self.said = self.kind
            self.turns.append((self._rounds, self.said))

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """The kind of labels, and the belief that answers now."""
        return {"labels": self.kind, **self._now.describe()}

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` gave."""
        return cls(*(belief_of(config[name]) for name in PARTS), both=config.get("both", False))

    def config(self) -> dict[str, Any]:
        """The two beliefs as they were made."""
        parts = {"numbers": belief_data(self.numbers), "yes_no": belief_data(self.yes_no)}
        return {**parts, "both": True} if self.both else parts

    def state(self) -> dict[str, Any]:
        """What both have learnt."""
        return {
            "said": self.said,
            "others": self._others,
            "met": sorted(self._met),
            "rounds": self._rounds,
            "turns": [list(turn) for turn in self.turns],
            "numbers": self.numbers.state(),
            "yes_no": self.yes_no.state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self.said = expect.one_of("said", state["said"], ("numbers", "yes/no"))
        self._others = expect.truth("others", state["others"])
        self._met = set(map(float, state.get("met", YES_NO_VALUES)))
        self._rounds = expect.whole("rounds", state["rounds"])
        self.turns = [(expect.whole("round", round), kind) for round, kind in state["turns"]]
        self.numbers.load(state["numbers"])
        self.yes_no.load(state["yes_no"])

    def detach(self) -> None:
        """Begin a new stream with what is known."""
        self.numbers.detach()
        self.yes_no.detach()


enter(Recognised)


def says_yes_or_no(belief: Belief) -> bool:
    """Whether a belief answers yes or no now.

    >>> from breakeven.beliefs import TypeMeans, TypeShares
    >>> both = Recognised(TypeMeans(noise_std=0.5), TypeShares())
    >>> says_yes_or_no(both.yes_no), says_yes_or_no(both.numbers), says_yes_or_no(both)
    (True, False, False)
    """
    return isinstance(belief, Choosy) or (isinstance(belief, Recognised) and belief.kind == "yes/no")
