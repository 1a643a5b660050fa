"""`Value` with one of its parts left out at a time, or with what it does without put back."""

from collections.abc import Iterator

from breakeven.beliefs import Belief, Prior
from breakeven.experiments.runs.curve import Curve, run
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.problem import Problem
from breakeven.experiments.runs.problems import Smooth, problem_named
from breakeven.learner import Learner
from breakeven.rules import Rule, Value
from breakeven.values import Verdict, View

NOT_LATER, NO_LESSONS, NO_OPTIMISM = "not later", "no lessons", "no optimism"
FLAT, NO_PRIOR, FORCED = "flat lengthscales", "no prior", "5d labels first"
VARIATIONS = (NOT_LATER, NO_LESSONS, NO_OPTIMISM, FLAT, NO_PRIOR, FORCED)
SPREAD = 100.0  # of log ℓ: e¹⁰⁰ says nothing of a length

Variation = tuple[str, Belief, Rule, int]  # name, belief, rule, warm-up


class NotLater(Value):
    """`Value` without the reservoir: what a label takes off the errors of other arrivals is left out.

    >>> NotLater(horizon=100).left(round=40)
    60
    """

    def decide(self, view: View) -> Verdict:
        """Worth is what is saved here, and by the lesson."""
        saving = view.saves(view.traits.noise_std)
        worth = saving.here + self.left(view.round) * saving.lesson
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
