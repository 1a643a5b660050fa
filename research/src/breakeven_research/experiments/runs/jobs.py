"""Jobs on the paper's problems: one trial of one problem, by several methods.

`PanelJob` runs every method of a panel, `ScaleJob` the paper's algorithm over scales λ, `ValueJob` our own
rule, `VariationJob` that rule with one of its parts left out at a time, and `FixedJob` the same number of
labels for every type, a yardstick that is known only in hindsight.
"""

from collections.abc import Iterator

from breakeven.beliefs import Belief, Prior
from breakeven.learner import Learner
from breakeven.planning.tuning import SCALES
from breakeven.rules import Rule, Value
from breakeven.values import Verdict, View
from breakeven_research.datasets import Stream
from breakeven_research.experiments.runs.methods import algorithm, learners, watched_run
from breakeven_research.experiments.runs.problems import (
    HELD_OUT,
    Price,
    Problem,
    Recipe,
    Smooth,
    problem_named,
)
from breakeven_research.experiments.runs.published_process import Fits
from breakeven_research.experiments.runs.trials import Curve, Job, run


class TrialJob(Job, frozen=True):
    """A job on the stream of one trial, or on the beginning of it; it runs in kinds of its own."""

    problem: str
    recipe: Recipe
    trial: int
    rounds: int | None = None  # the first so many only

    @property
    def title(self) -> str:
        """The problem and the recipe."""
        return f"{self.about.title} · {self.recipe}"

    @property
    def about(self) -> Problem:
        """The problem itself."""
        return problem_named(self.problem)

    @property
    def stream(self) -> Stream:
        """What arrives."""
        return self.about.stream(self.recipe, self.trial).first(self.rounds)


# -- the paper's methods -------------------------------------------------------------------------------------


class PanelJob(TrialJob, frozen=True):
    """All methods, at all prices, on one trial of a problem.

    >>> PanelJob(problem="branin", recipe="text", trial=0).title
    'Branin, uniform arrivals · text'
    """

    @property
    def effort(self) -> float:
        """Fits at every label take long, and the more dimensions the longer."""
        return max(2.0, self.about.warmup) if self.recipe == "figures" else 2.0

    def run(self) -> dict[str, Curve]:
        """A curve for each method."""
        stream, methods = self.stream, learners(self.about, self.recipe, self.trial)
        return {name: watched_run(learner, stream) for name, learner in methods}


# -- scales --------------------------------------------------------------------------------------------------


HELD_OUT_TRIALS = 5


class ScaleJob(Job, frozen=True):
    """Algorithm 1 or 2 at several scales on one trial of a problem.

    >>> ScaleJob(problem="branin", recipe="text", label_cost=10.0, trial=0, scales=(0.5, 1.0)).title
    'λ: Branin, uniform arrivals, B=10 · text'
    """

    problem: str
    recipe: Recipe
    label_cost: float
    trial: int
    scales: tuple[float, ...]
    rounds: int | None = None  # the first so many only

    @property
    def title(self) -> str:
        """Problem, price and recipe; held-out trials apart."""
        held_out = " · held out" if self.trial >= HELD_OUT else ""
        return f"λ: {problem_named(self.problem).title}, B={self.label_cost:g} · {self.recipe}{held_out}"

    @property
    def effort(self) -> float:
        """Fits at every label take long."""
        return 20.0 if self.recipe == "figures" and problem_named(self.problem).warmup else 2.0

    def run(self) -> dict[str, Curve]:
        """A curve for each scale, by its number."""
        problem = problem_named(self.problem)
        price = problem.price(self.label_cost)
        stream, fits = problem.stream(self.recipe, self.trial).first(self.rounds), Fits()
        return {
            repr(scale): run(algorithm(problem, self.recipe, price, scale, self.trial, fits), stream)
            for scale in self.scales
        }


def grid_of(price: Price) -> tuple[float, ...]:
    """The scales tried: powers of two, and the published one.

    >>> len(grid_of(Price(10.0, 0.75))), len(grid_of(Price(10.0, 0.5)))
    (14, 13)
    """
    return tuple(sorted({*SCALES, price.scale}))


def grid_jobs(problem: Problem, price: Price, recipe: Recipe, trials: int) -> list[Job]:
    """The reported trials, and the held-out ones."""
    numbers = [*range(trials), *range(HELD_OUT, HELD_OUT + HELD_OUT_TRIALS)]
    return [
        ScaleJob(problem.name, recipe, price.label_cost, trial, scales=grid_of(price)) for trial in numbers
    ]


# -- Value ---------------------------------------------------------------------------------------------------


class ValueJob(TrialJob, frozen=True):
    """`Value` at all prices of a problem, on one trial of it, with its horizon and without.

    >>> ValueJob(problem="branin", recipe="text", trial=0).title
    'Value: Branin, uniform arrivals · text'
    """

    @property
    def title(self) -> str:
        """The problem and the recipe."""
        return f"Value: {super().title}"

    def run(self) -> dict[str, Curve]:
        """A curve for each price and horizon."""
        problem, stream = self.about, self.stream
        return {
            f"{horizon}-{price.tag}": run(
                Learner(problem.value_belief(), Value(rounds), label_cost=price.label_cost, seed=self.trial),
                stream,
            )
            for price in problem.prices
            for horizon, rounds in (("known", len(stream)), ("unknown", None))
        }


# -- Value without its parts ---------------------------------------------------------------------------------


NOT_LATER, NO_LESSONS, NO_OPTIMISM = "not later", "no lessons", "no optimism"
FLAT, NO_PRIOR, FORCED = "flat lengthscales", "no prior", "5d labels first"
VARIATIONS = (NOT_LATER, NO_LESSONS, NO_OPTIMISM, FLAT, NO_PRIOR, FORCED)
SPREAD = 100.0  # of log ℓ: e¹⁰⁰ says nothing of a length

Variation = tuple[str, Belief, Rule, int]  # name, belief, rule, warm-up


class NotLater(Value):
    """`Value` without the reservoir: what a label takes off the errors of other arrivals is left out.

    >>> NotLater(horizon=100).arrivals_left(round=40)
    60
    """

    def decide(self, view: View) -> Verdict:
        """Worth is what is saved here, and by the lesson."""
        saving = view.saves(view.traits.noise_std)
        worth = saving.here + self.arrivals_left(view.round) * saving.lesson
        return Verdict(worth > view.price, worth=worth)


class VariationJob(Job, frozen=True):
    """Every variation that applies, at all prices, on one trial of a problem; its horizon is known.

    >>> VariationJob(problem="branin", trial=0).title
    'Value, varied: Branin, uniform arrivals'
    """

    problem: str
    trial: int
    rounds: int | None = None  # the first so many only

    @property
    def title(self) -> str:
        """The problem."""
        return f"Value, varied: {problem_named(self.problem).title}"

    @property
    def effort(self) -> float:
        """There are many of them."""
        return 5.0

    def run(self) -> dict[str, Curve]:
        """A curve for each price and variation."""
        problem = problem_named(self.problem)
        stream = problem.stream("text", self.trial).first(self.rounds)
        return {
            f"{name}-{price.tag}": run(
                Learner(belief, rule, label_cost=price.label_cost, warmup=warmup, seed=self.trial), stream
            )
            for price in problem.prices
            for name, belief, rule, warmup in variations(problem, len(stream))
        }


def variations(problem: Problem, horizon: int) -> Iterator[Variation]:
    """Types have neither kernel nor warm-up, so less can be changed."""
    rule = Value(horizon)
    yield NOT_LATER, problem.value_belief(), NotLater(horizon), 0
    yield NO_LESSONS, problem.value_belief(), Value(horizon, lessons=False), 0
    if isinstance(problem, Smooth):
        yield NO_OPTIMISM, problem.value_belief(Prior(confidence=0.5)), rule, 0
        yield FLAT, problem.value_belief(Prior(spread=SPREAD)), rule, 0
        yield NO_PRIOR, problem.value_belief(None), rule, problem.dim + 2
        yield FORCED, problem.value_belief(), rule, problem.warmup


# -- as many labels for every type ---------------------------------------------------------------------------


NUMBERS = tuple(range(11))


class FirstOfType(Rule):
    """Label the first arrivals of every type, so many of each, and no other.

    >>> FirstOfType(3).most
    3
    """

    most: int

    def decide(self, view: View) -> Verdict:
        """Whether this type has fewer labels."""
        return Verdict(view.labels < self.most)


class FixedJob(TrialJob, frozen=True):
    """Several such numbers on one trial of a problem with types; they are priced afterwards.

    >>> FixedJob(problem="discrete-k10-uniform", recipe="text", trial=0).title
    'Labels for each type: 10 types, uniform arrivals · text'
    """

    @property
    def title(self) -> str:
        """The problem and the recipe."""
        return f"Labels for each type: {super().title}"

    def run(self) -> dict[str, Curve]:
        """A curve for each number."""
        problem, stream = self.about, self.stream
        return {
            f"fixed-{most}": run(Learner(problem.silent_belief(), FirstOfType(most), label_cost=1.0), stream)
            for most in NUMBERS
        }
