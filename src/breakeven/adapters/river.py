"""A river regressor that also says whether an arrival is worth its label.

Besides river's own verbs there is one more, `ask_one`. river's evaluations know nothing of it: they teach
every label, whether or not it is worth its cost.
"""

from collections.abc import Hashable
from typing import Any

from river import base

from breakeven.adapters.matching import learner_for, teach
from breakeven.beliefs.gp import Kernel, KernelName
from breakeven.errors import expect
from breakeven.learner import Learner

Features = dict[Hashable, Any]


class AskingRegressor(base.Regressor):
    """A belief that says which labels to buy, and learns from any that it is given.

    A label costs `label_cost`, a unit of error `error_cost` (1 unless given), and `horizon` arrivals are
    expected in all; left out, 600, or as many again as came. Instead of `error_cost`, an answer too
    low by 1 may cost `under_cost` and one too high `over_cost`: predictions are then a quantile of the
    label. Inputs may be of any scale. How smooth the labels are and, unless `noise_std` is given, how
    noisy, is averaged over (`Averaged`); with a `kernel`, named or to start from, one
    Gaussian process is fitted instead. Labels bought test what was claimed of them, and a few more are
    drawn for that: `check` is the share of the expected error that these may cost, 0.07 unless given, or
    nothing at all with a `kernel`. The first arrival, asked about or learnt, fixes the names of the
    features, and makes the `learner` underneath.

    >>> model = AskingRegressor(label_cost=0.5, noise_std=0.1)
    >>> model.ask_one({"age": 61, "bmi": 27.4})
    True
    >>> model.learn_one({"age": 61, "bmi": 27.4}, 31.0)
    >>> model.predict_one({"bmi": 27.4, "age": 61})
    31.0
    >>> model.ask_one({"age": 43})
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: x: expected the features 'age', 'bmi', as at first, got 'age'
    """

    def __init__(
        self,
        label_cost: float = 1.0,
        error_cost: float | None = None,
        noise_std: float | None = None,
        horizon: int | None = None,
        kernel: Kernel | KernelName | None = None,
        seed: int = 0,
        under_cost: float | None = None,
        over_cost: float | None = None,
        check: float | None = None,
    ) -> None:
        self.label_cost = label_cost
        self.error_cost = error_cost
        self.noise_std = noise_std
        self.horizon = horizon
        self.kernel = kernel
        self.seed = seed
        self.under_cost = under_cost
        self.over_cost = over_cost
        self.check = check
        self.names: tuple[Hashable, ...] = ()
        self.learner: Learner | None = None

    def learn_one(self, x: Features, y: float) -> None:
        """Learn a label: the answer to `ask_one` about the same features, or one that nobody asked for."""
        row, label = self._row(x), expect.finite("y", y)
        teach(self._started(x), [row], [label])

    def predict_one(self, x: Features) -> float:
        """The answer there, 0 before the first arrival. Changes nothing."""
        row = self._row(x)
        return 0.0 if self.learner is None else self.learner.predict(row).mean

    def ask_one(self, x: Features) -> bool:
        """Count an arrival, and say whether it is worth its label."""
        row = self._row(x)
        return self._started(x).decide(row).wants_label

    def _started(self, x: Features) -> Learner:
        if self.learner is None:
            self.learner = learner_for(len(x), **self._get_params())
            self.names = _names(x)
        return self.learner

    def _row(self, x: Features) -> list[float]:
        names = self.names or _names(x)
        if x.keys() != set(names):
            expected = f"the features {_listed(names)}, as at first"
            expect.refuse("x", expected, _listed(_names(x)), described=True)
        return [expect.finite(f"x[{name!r}]", x[name]) for name in names]

    def __getstate__(self) -> dict[str, Any]:
        """As it is, but for the learner, whose snapshot it is."""
        return {**vars(self), "learner": None if self.learner is None else self.learner.snapshot()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up what `__getstate__` gave."""
        blob = state["learner"]
        self.__dict__.update(state, learner=None if blob is None else Learner.restore(blob))

    def _unit_test_skips(self) -> set[str]:
        return set(NOT_APPLICABLE)


NOT_APPLICABLE = dict.fromkeys(
    ("check_emerging_features", "check_disappearing_features", "check_radically_disappearing_features"),
    "a belief compares whole points: what is missing has no distance, and is not taken for 0",
)
"""The checks of river's that cannot hold here, and why."""


def _names(x: Features) -> tuple[Hashable, ...]:
    """The names of the features, sorted: the order of a dictionary does not matter."""
    if not x:
        expect.refuse("x", "one feature at least", x)
    return tuple(sorted(x, key=str))


def _listed(names: tuple[Hashable, ...]) -> str:
    return ", ".join(map(repr, names))
