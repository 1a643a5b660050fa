"""The methods that the paper compares, each as a learner: one belief, another rule.

A rule that never looks at the price runs once a stream and is priced afterwards; Algorithm 1 or 2 and the
naive one run at every price. `watched_run` also tells where fits run to: a lengthscale far beyond the box
switches its axis off, and a fit has run to another optimum when it sees other axes than the fit before it.
"""

from collections.abc import Iterator
from math import isinf
from typing import Any, Literal

import msgspec

from breakeven.learner import Learner
from breakeven.rules import Always, Never, RandomSelect, Rule, Threshold, VariableUncertainty
from breakeven.values import Event, Fitted, Verdict, View
from breakeven_research.datasets import Stream
from breakeven_research.experiments.runs.problems import Price, Problem, Recipe
from breakeven_research.experiments.runs.published_process import Fits
from breakeven_research.experiments.runs.trials import Curve, run

PROBABILITIES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
Reading = Literal["printed", "figures", "figures_gp", "uncertain", "original"]
READINGS: tuple[Reading, ...] = ("printed", "figures", "figures_gp", "uncertain", "original")
BUDGET = 0.1  # the share of labels that the original reading of VAR-UNCERTAINTY is held to


class NewTypesFirst(Rule):
    """Another rule, but a type without labels is always labelled, as in the published code.

    >>> NewTypesFirst(RandomSelect(0.5)).rule.probability
    0.5
    """

    rule: RandomSelect

    def decide(self, view: View) -> Verdict:
        """Ask for a first label; else as the other rule says."""
        if isinf(view.uncertainty):
            return Verdict(True, reason="first_of_type")
        return self.rule.decide(view)


def learners(problem: Problem, recipe: Recipe, trial: int) -> Iterator[tuple[str, Learner]]:
    """Every method of a panel with the name of its run; fits are shared where labels are alike."""
    fits = Fits()
    for price in problem.prices:
        yield f"algorithm-{price.tag}", algorithm(problem, recipe, price, price.scale, trial, fits)
        naive = naive_algorithm(problem, recipe, price, trial)
        if naive is not None:
            yield f"naive-{price.tag}", naive
    for name, rule in _baselines(recipe):
        belief = problem.belief(recipe, fits)
        yield name, Learner(belief, rule, label_cost=1.0, warmup=problem.warmup, seed=trial)
    yield "never", Learner(problem.silent_belief(), Never(), label_cost=1.0)


def algorithm(
    problem: Problem, recipe: Recipe, price: Price, scale: float, trial: int, fits: Fits
) -> Learner:
    """Algorithm 1 or 2 with this scale λ."""
    rule = Threshold(scale, "stream" if recipe == "figures" else "type")
    belief = problem.belief(recipe, fits)
    return Learner(belief, rule, label_cost=price.label_cost, warmup=problem.warmup, seed=trial)


def naive_algorithm(problem: Problem, recipe: Recipe, price: Price, trial: int) -> Learner | None:
    """Algorithm 1 over the halves of every axis; None where points are types.

    It has no kernel to fit. The published losses still contain the first 5d labels; the text asks them only
    of the methods with a Gaussian process.
    """
    belief = problem.naive_belief(recipe)
    if belief is None or price.naive_scale is None:
        return None
    rule = Threshold(price.naive_scale, "stream" if recipe == "figures" else "type")
    warmup = problem.warmup if recipe == "figures" else 0
    return Learner(belief, rule, label_cost=price.label_cost, warmup=warmup, seed=trial)


def _baselines(recipe: Recipe) -> Iterator[tuple[str, Rule]]:
    for probability in PROBABILITIES:
        rule = RandomSelect(probability)
        yield f"random-{probability:g}", NewTypesFirst(rule) if recipe == "figures" else rule
    for reading in READINGS:
        budget = BUDGET if reading == "original" else None
        yield f"var-{reading}", VariableUncertainty(reading, budget)
    yield "all", Always()


# -- where fits run to ---------------------------------------------------------------------------------------


SEEN = 10.0  # the box of Hartmann, where this matters, is 1 wide


class Watch:
    """Counts the fits after the warm-up, and those that see other axes than the fit before.

    >>> watch = Watch(warmup=1)
    >>> for lengthscale in ([0.5, 0.5], [0.5, 0.4], [0.5, 1e4]):
    ...     watch(Fitted(2, "", {"kernel": {"lengthscale": lengthscale, "amplitude": 2.0}}, labels=3))
    >>> watch.marks()
    {'fits': 2.0, 'changes': 1.0, 'axes': 2.0, 'amplitude': 2.0}
    """

    def __init__(self, warmup: int) -> None:
        self._left = warmup
        self._axes: tuple[bool, ...] = ()
        self._first = {"axes": 0.0, "amplitude": 0.0}  # what the last fit of the warm-up saw
        self._fits = self._changes = 0

    def __call__(self, event: Event) -> None:
        """Hear of an event."""
        if isinstance(event, Fitted):
            self._hear(event.parameters["kernel"])

    def _hear(self, kernel: dict[str, Any]) -> None:
        axes = tuple(length < SEEN for length in kernel["lengthscale"])
        if self._left > 0:
            self._left -= 1
            self._first = {"axes": float(sum(axes)), "amplitude": float(kernel["amplitude"])}
        else:
            self._fits += 1
            self._changes += axes != self._axes
        self._axes = axes

    def marks(self) -> dict[str, float]:
        """What was counted, for a curve."""
        return {"fits": float(self._fits), "changes": float(self._changes), **self._first}


def watched_run(learner: Learner, stream: Stream) -> Curve:
    """A run with its fits counted."""
    watch = Watch(learner.warmup)
    learner.listen(watch)
    return msgspec.structs.replace(run(learner, stream), marks=watch.marks())
