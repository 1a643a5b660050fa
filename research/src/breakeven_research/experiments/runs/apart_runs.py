"""Rule and belief apart: the paper's rule and `Value`, each on the paper's belief and on that of `Value`.

The paper's belief is that of its text: for numbers fitted once, after 5d first labels. That of `Value` is
fitted as labels come; under the paper's rule it begins with the three labels that `Value` buys in any case.
"""

from collections.abc import Callable, Iterator

from breakeven.beliefs import Belief
from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.learner import Learner
from breakeven.rules import Never, Threshold, Value
from breakeven_research.experiments.runs.problems import Price, Problem, problem_named
from breakeven_research.experiments.runs.published_process import Fits
from breakeven_research.experiments.runs.trials import Curve, Job, run

PAPERS, OURS = "paper", "ours"
BELIEFS = (PAPERS, OURS)
KNOWN, UNKNOWN, NEVER = "known", "unknown", "never"
SCALES = tuple(2.0**power for power in range(-3, 5))


class ApartJob(Job, frozen=True):
    """Both rules on both beliefs, at all prices, on one trial of a problem by the text's recipe.

    >>> ApartJob(problem="branin", trial=0).title
    'Rule and belief: Branin, uniform arrivals'
    """

    problem: str
    trial: int
    rounds: int | None = None  # the first so many only

    @property
    def title(self) -> str:
        """The problem."""
        return f"Rule and belief: {problem_named(self.problem).title}"

    @property
    def effort(self) -> float:
        """There are many of them."""
        return 20.0

    def run(self) -> dict[str, Curve]:
        """A curve for each price, belief, and scale or horizon; and one for never labelling."""
        problem = problem_named(self.problem)
        stream = problem.stream("text", self.trial).first(self.rounds)
        curves = {NEVER: run(Learner(problem.silent_belief(), Never(), label_cost=1.0), stream)}
        for price in problem.prices:
            for belief, make, warmup in beliefs(problem):
                for name, rule in rules(price, len(stream)):
                    learner = Learner(
                        make(), rule, label_cost=price.label_cost, warmup=warmup, seed=self.trial
                    )
                    curves[f"{belief}-{name}-{price.tag}"] = run(learner, stream)
        return curves


def beliefs(problem: Problem) -> Iterator[tuple[str, Callable[[], Belief], int]]:
    """Each belief by its name, and the first labels that are bought for it."""
    yield PAPERS, lambda: problem.belief("text", Fits()), problem.warmup
    yield OURS, problem.value_belief, min(problem.warmup, ENOUGH_TO_FIT)


def rules(price: Price, horizon: int) -> Iterator[tuple[str, Threshold | Value]]:
    """The paper's rule at each scale, and `Value` with its horizon and without."""
    for scale in scales_of(price):
        yield f"{scale:g}", Threshold(scale)
    yield KNOWN, Value(horizon)
    yield UNKNOWN, Value()


def scales_of(price: Price) -> tuple[float, ...]:
    """Powers of two, and the published scale.

    >>> scales_of(Price(10.0, 0.75))
    (0.125, 0.25, 0.5, 0.75, 1.0, 2.0, 4.0, 8.0, 16.0)
    """
    return tuple(sorted({*SCALES, price.scale}))
