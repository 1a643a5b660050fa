"""The same number of labels for every type: a yardstick that is known only in hindsight."""

from breakeven.experiments.runs.curve import Curve, run
from breakeven.experiments.runs.trial_job import TrialJob
from breakeven.learner import Learner
from breakeven.rules import Rule
from breakeven.values import Verdict, View

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
