"""A check: one property of a learner's public life, with the beliefs and rules it holds for.

Here, too, is the short labelled stream on which checks run, one that suits the belief of a learner.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from breakeven.beliefs import Choosy, GaussianProcess, TypeMeans
from breakeven.learner import Learner
from breakeven.rules import Threshold

SAMPLE_ROUNDS = 40
NO_AND_YES = (0.0, 1.0)  # the labels of beliefs that take no others
FITTED_ROUNDS = 14  # a fit after every label is slow


class LabelledStream(msgspec.Struct, frozen=True):
    """Points and their labels; bring your own where a belief takes unusual points.

    `two` are labels that differ, the lower one first.
    """

    points: Sequence[Any]
    labels: Sequence[float]
    two: tuple[float, float] = (2.0, 40.0)

    def above(self, mean: float) -> float:
        """A label above what is predicted."""
        return self.two[1] if self.two == NO_AND_YES else mean + 5.0

    def other(self, y: float) -> float:
        """Another label than this one."""
        return 1.0 - y if self.two == NO_AND_YES else y + 1.0

    @staticmethod
    def of(learner: Learner, seed: int = 0) -> "LabelledStream":
        """Points of a belief over types, a box, or numbers."""
        stream = LabelledStream._of(learner, seed)
        if not isinstance(learner.belief, Choosy):
            return stream
        middle = float(np.median(stream.labels))
        return LabelledStream(stream.points, [float(y > middle) for y in stream.labels], NO_AND_YES)

    @staticmethod
    def _of(learner: Learner, seed: int) -> "LabelledStream":
        random = np.random.default_rng(seed)
        fitted = getattr(learner.belief, "fit_schedule", None) is not None
        length = max(FITTED_ROUNDS, learner.warmup + 6) if fitted else SAMPLE_ROUNDS
        dim = getattr(learner.belief, "dim", None)
        if dim is None:
            kinds = ["flu", 7, b"\x00\xff", ("clinic", 3), "Grippe é"]
            chosen = random.integers(len(kinds), size=length)
            return LabelledStream([kinds[k] for k in chosen], _noisy(np.sqrt(chosen + 1.0), random))
        low, high = getattr(learner.belief, "low", 0.0), getattr(learner.belief, "high", 1.0)
        X = random.uniform(low, high, size=(length, dim))
        return LabelledStream([row.tolist() for row in X], _noisy(np.sin(4.0 * X).sum(axis=1), random))


def _noisy(values: Any, random: np.random.Generator) -> list[float]:
    noisy: list[float] = (values + 0.1 * random.standard_normal(len(values))).tolist()
    return noisy


Make = Callable[[], Learner]
"""A function that makes a new learner for every check."""
Body = Callable[[Callable[[], Learner], LabelledStream], None]


class Scope(msgspec.Struct, frozen=True):
    """For which learners a check holds, in words and as a test."""

    words: str
    covers: Callable[[Learner], bool]

    def __and__(self, other: "Scope") -> "Scope":
        return Scope(f"{self.words}, {other.words}", lambda one: self.covers(one) and other.covers(one))


every = Scope("every belief and rule", lambda one: True)
new = Scope("beliefs without labels", lambda one: one.summary().labels_known == 0)
fixed = Scope("parameters that are not fitted", lambda one: getattr(one.belief, "fit_schedule", None) is None)
types = Scope("beliefs over types", lambda one: isinstance(one.belief, TypeMeans))
named_types = Scope("types that have names", lambda one: type(one.belief) is TypeMeans)
processes = Scope("Gaussian processes", lambda one: isinstance(one.belief, GaussianProcess))
paper_rule = Scope("the paper's rule", lambda one: isinstance(one.rule, Threshold))
blind = Scope(
    "rules that look neither at predictions nor at what is awaited",
    lambda one: not any(layer.reads_prediction for layer in one.rule.layers),
)
steady = Scope(
    "savings that do not rest on what labels said",
    lambda one: not (one.rule.reservoir and getattr(one.belief, "savings_rest_on_labels", False)),
)
checked = Scope("learners whose belief is checked", lambda one: one.rule.check is not None)
warming = Scope("learners with a warm-up", lambda one: one.warmup > 0)


class ContractCheck(msgspec.Struct, frozen=True):
    """One named property."""

    name: str
    scope: Scope
    body: Body

    def __call__(self, make: Make, stream: LabelledStream | None = None) -> None:
        """Raise AssertionError if the learners that `make` gives lack the property."""
        self.body(make, LabelledStream.of(make()) if stream is None else stream)


def check(scope: Scope) -> Callable[[Body], ContractCheck]:
    """Make a function a check."""
    return lambda body: ContractCheck(body.__name__, scope, body)
