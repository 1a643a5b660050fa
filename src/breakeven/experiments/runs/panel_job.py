"""Every method on one stream: the work behind the panels of a problem."""

from breakeven.experiments.runs.curve import Curve
from breakeven.experiments.runs.methods import learners
from breakeven.experiments.runs.optima import watched_run
from breakeven.experiments.runs.trial_job import TrialJob


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
