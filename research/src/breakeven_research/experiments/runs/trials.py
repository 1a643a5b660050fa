"""What a run cost as it went on, the job that asks for runs, and the mean of trials.

Labels are counted, not priced: a run whose rule never looks at the price is priced afterwards, at any price.
Everything a job depends on is in its fields, so its result can be kept. Trials are results of jobs that
differ in their seed only; the band around their mean is 1.96 standard errors to either side.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.learner import Learner
from breakeven.trace import simulate
from breakeven_research.datasets import Stream

Array = NDArray[np.float64]

EVENLY, BY_FACTORS = 200, 60  # rounds kept of a long run


class Curve(msgspec.Struct, frozen=True):
    """Labels bought and errors made, summed up to each of some rounds.

    >>> Curve([1, 2], [1, 1], [0.0, 0.5]).average_loss(label_cost=10.0).tolist()
    [10.0, 5.25]
    """

    rounds: list[int]
    labels: list[int]
    errors: list[float]
    marks: dict[str, float] = {}  # whatever else was counted on the way

    def average_error(self) -> Array:
        """The error a round, up to each of the rounds."""
        return np.divide(self.errors, self.rounds)

    def total_losses(self, label_cost: float) -> Array:
        """The paper's L_t: labels at this price plus errors, up to each of the rounds.

        >>> Curve([1, 2], [1, 1], [0.0, 0.5]).total_losses(label_cost=10.0).tolist()
        [10.0, 10.5]
        """
        losses: Array = label_cost * np.array(self.labels) + np.array(self.errors)
        return losses

    def average_loss(self, label_cost: float) -> Array:
        """The loss a round, up to each of the rounds."""
        return np.divide(self.total_losses(label_cost), self.rounds)

    def total_loss(self, label_cost: float) -> float:
        """The paper's L_T."""
        return float(self.total_losses(label_cost)[-1])


def run(learner: Learner, stream: Stream) -> Curve:
    """Run a stream through a learner, scored against the truth.

    >>> from breakeven import Always, TypeMeans
    >>> stream = Stream([0, 0], [1.2, 0.8], [1.0, 1.0], noise_std=0.1, name="one type")
    >>> curve = run(Learner(TypeMeans(0.1), Always(), label_cost=1.0), stream)
    >>> curve.labels, [round(error, 6) for error in curve.errors]
    ([1, 2], [0.2, 0.2])
    """
    trace = simulate(learner, stream.points, stream.labels, stream.truth)
    return curve_of(trace.wants_label, np.abs(stream.truth - trace.prediction))


def curve_of(labelled: NDArray[np.bool_], errors: Any) -> Curve:
    """The curve of a run from what each round bought and missed."""
    kept = kept_rounds(len(labelled))
    at = np.array(kept) - 1
    return Curve(kept, np.cumsum(labelled)[at].tolist(), np.cumsum(errors)[at].tolist())


def kept_rounds(rounds: int) -> list[int]:
    """Every round of a short stream; of a long one some spaced evenly and some by factors, always the last.

    >>> kept_rounds(3), len(kept_rounds(10_000)) < 260, kept_rounds(10_000)[-1]
    ([1, 2, 3], True, 10000)
    """
    if rounds <= EVENLY + BY_FACTORS:
        return list(range(1, rounds + 1))
    spaced = [np.linspace(1, rounds, EVENLY), np.geomspace(1, rounds, BY_FACTORS)]
    kept: list[int] = np.unique(np.rint(np.concatenate(spaced)).astype(np.int64)).tolist()
    return kept


# -- jobs ----------------------------------------------------------------------------------------------------


class Job(msgspec.Struct, frozen=True, tag=True):
    """Some runs over one stream. The same fields always give the same curves."""

    @property
    def title(self) -> str:
        """What a progress bar calls it; jobs of one title share a bar."""
        raise NotImplementedError

    @property
    def effort(self) -> float:
        """About how many seconds it takes; long ones are begun first."""
        return 1.0

    @property
    def code(self) -> tuple[str, ...] | None:
        """Which of our files its result depends on, as beginnings of their names; None: all that is run."""
        return None

    def run(self) -> dict[str, Curve]:
        """The curve of each run, by its name."""
        raise NotImplementedError


# -- trials --------------------------------------------------------------------------------------------------


Results = list[tuple[Job, dict[str, Curve]]]
SomeJob = TypeVar("SomeJob", bound=Job)

SURE = 1.96  # standard errors that 95% of a normal distribution lie within


class Average(NamedTuple):
    """A mean over trials and its standard error, which one trial alone does not have."""

    mean: Array
    error: Array | None

    @property
    def half_width(self) -> Array | None:
        """How far the band reaches to either side."""
        return None if self.error is None else SURE * self.error

    @property
    def low(self) -> Array | None:
        """The lower edge of the band."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> Array | None:
        """The upper edge of the band."""
        return None if self.half_width is None else self.mean + self.half_width


def average(trials: Any) -> Average:
    """The average of each column over the rows, a row for each trial.

    >>> mean, error = average([[1.0, 5.0], [3.0, 5.0]])
    >>> mean.tolist(), error.tolist()
    ([2.0, 5.0], [1.0, 0.0])
    """
    rows = np.asarray(trials, dtype=np.float64)
    error = rows.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else None
    return Average(rows.mean(axis=0), error)


def geometric_mean(ratios: Iterable[float]) -> float:
    """The mean of ratios: twice as much and half as much make as much.

    >>> geometric_mean([2.0, 0.5])
    1.0
    """
    return float(np.exp(np.mean(np.log(list(ratios)))))


def trials_of(results: Results, kind: type[SomeJob], **fields: Any) -> list[tuple[SomeJob, dict[str, Curve]]]:
    """Results of the jobs of just this kind whose fields have these values, each job once."""
    found = {
        job: curves
        for job, curves in results
        if type(job) is kind and all(getattr(job, name) == value for name, value in fields.items())
    }
    return list(found.items())


def distinct(results: Results, kind: type[Job], field: str) -> list[Any]:
    """The values that a field of these jobs takes, in the order of their first appearance."""
    return list(dict.fromkeys(getattr(job, field) for job, _ in results if isinstance(job, kind)))
