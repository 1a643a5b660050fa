"""A check: one property of a learner's public life, with the beliefs and rules it holds for."""

from collections.abc import Callable

import msgspec

from breakeven.beliefs import GaussianProcess, TypeMeans
from breakeven.learner import Learner
from breakeven.rules import Threshold
from breakeven.testing.stream import Stream

Make = Callable[[], Learner]
Body = Callable[[Callable[[], Learner], Stream], None]


class Scope(msgspec.Struct, frozen=True):
    """For which learners a check holds, in words and as a test."""

    words: str
    covers: Callable[[Learner], bool]

    def __and__(self, other: "Scope") -> "Scope":
        return Scope(f"{self.words}, {other.words}", lambda one: self.covers(one) and other.covers(one))


every = Scope("every belief and rule", lambda one: True)
fixed = Scope("parameters that are not fitted", lambda one: getattr(one.belief, "fit_schedule", None) is None)
types = Scope("beliefs over types", lambda one: isinstance(one.belief, TypeMeans))
named_types = Scope("types that have names", lambda one: type(one.belief) is TypeMeans)
processes = Scope("Gaussian processes", lambda one: isinstance(one.belief, GaussianProcess))
paper_rule = Scope("the paper's rule", lambda one: isinstance(one.rule, Threshold))
blind = Scope(
    "rules that look neither at predictions nor at what is awaited",
    lambda one: not any(layer.reads_prediction for layer in one.rule.layers),
)
warming = Scope("learners with a warm-up", lambda one: one.warmup > 0)


class Check(msgspec.Struct, frozen=True):
    """One named property."""

    name: str
    scope: Scope
    body: Body

    def __call__(self, make: Make, stream: Stream | None = None) -> None:
        """Raise AssertionError if the learners that `make` gives lack the property."""
        self.body(make, Stream.of(make()) if stream is None else stream)


def check(scope: Scope) -> Callable[[Body], Check]:
    """Make a function a check."""
    return lambda body: Check(body.__name__, scope, body)
