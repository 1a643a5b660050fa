"""Trials: results of jobs that differ in their seed only, their mean and how sure it is.

A band is 1.96 standard errors to either side, from the number of trials that there really were.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from breakeven.experiments.runs.curve import Curve
from breakeven.experiments.runs.job import Job

Array = NDArray[np.float64]
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
