"""Where the published fit of Hartmann runs to: each trial of Algorithm 2, and how often its optimum changes.

A lengthscale far beyond the box switches its axis off. A fit has run to another optimum when it sees other
axes than the fit before it.
"""

from typing import Any

import msgspec

from breakeven.experiments.curve import Curve, run
from breakeven.experiments.job import Job
from breakeven.experiments.methods import algorithm
from breakeven.experiments.problems import problem_named
from breakeven.experiments.published_process import Fits
from breakeven.values import Event, Fitted

SEEN = 10.0  # the sides of the box are 1 long


class OptimaJob(Job, frozen=True):
    """Algorithm 2 on one published Hartmann stream, its fits watched.

    >>> OptimaJob(label_cost=100.0, trial=0).title
    'Hartmann, every trial · figures'
    """

    label_cost: float
    trial: int

    @property
    def title(self) -> str:
        """What is watched."""
        return "Hartmann, every trial · figures"

    @property
    def effort(self) -> float:
        """A fit at every label."""
        return 10.0

    def run(self) -> dict[str, Curve]:
        """The run, with its fits after the warm-up and how many saw other axes than the one before."""
        problem = problem_named("hartmann")
        price = problem.price(self.label_cost)
        learner = algorithm(problem, "figures", price, price.scale, self.trial, Fits())
        watch = Watch(problem.warmup)
        learner.listen(watch)
        curve = run(learner, problem.stream("figures", self.trial))
        marks = {"fits": float(watch.fits), "changes": float(watch.changes)}
        return {"algorithm": msgspec.structs.replace(curve, marks=marks)}


class Watch:
    """Counts the fits after the warm-up, and those that see other axes than the fit before.

    >>> watch = Watch(warmup=1)
    >>> for lengthscale in ([0.5, 0.5], [0.5, 0.4], [0.5, 1e4]):
    ...     watch(Fitted({"kernel": {"lengthscale": lengthscale}}))
    >>> watch.fits, watch.changes
    (2, 1)
    """

    def __init__(self, warmup: int) -> None:
        self._left = warmup
        self._axes: tuple[bool, ...] | None = None
        self.fits = self.changes = 0

    def __call__(self, event: Event) -> None:
        """Hear of an event."""
        if isinstance(event, Fitted):
            axes = _axes(event.parameters)
            if self._left > 0:
                self._left -= 1
            else:
                self.fits += 1
                self.changes += axes != self._axes
            self._axes = axes


def _axes(parameters: dict[str, Any]) -> tuple[bool, ...]:
    return tuple(length < SEEN for length in parameters["kernel"]["lengthscale"])


def optima_jobs(trials: int) -> list[Job]:
    """Every trial at both prices."""
    prices = problem_named("hartmann").prices
    return [OptimaJob(price.label_cost, trial) for price in prices for trial in range(trials)]
