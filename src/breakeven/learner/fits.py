"""Fits that run elsewhere: a job as plain data, a pure function that runs it, and what it found.

A learner fits inside `tell` and `learn`, unless it was made with fitting="outside". Then `fit_due` says when
a fit is due, `fit_job` gives the job, `run_fit` runs it in any process, and `adopt` takes up what was found.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from breakeven.beliefs import Belief, as_lists, belief_kind


class FitJob(msgspec.Struct, frozen=True, kw_only=True):
    """All that a fit needs: the belief's kind and data, the seed, and how many labels there are.

    `fits` is how many fits the stream had before; the result is refused if there was another one meanwhile.
    """

    stream: str
    kind: str
    labels: int
    fits: int
    seed: list[int]
    data: dict[str, Any]


class FitFound(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters that a job led to."""

    stream: str
    labels: int
    fits: int
    parameters: dict[str, Any]


def run_fit(job: FitJob, beliefs: Iterable[type[Belief]] = ()) -> FitFound:
    """Run a job. A pure function of it; `beliefs` names classes of your own.

    >>> from breakeven import GaussianProcess, Learner, Threshold
    >>> belief = GaussianProcess(1, noise_std=0.1, fit="growing")
    >>> learner = Learner(belief, Threshold(), label_cost=1.0, fitting="outside")
    >>> for x in (0.0, 0.5, 1.0):
    ...     learner.learn([x], x)
    >>> learner.fit_due
    True
    >>> learner.adopt(run_fit(learner.fit_job()))
    >>> learner.fit_due, learner.fits
    (False, 1)
    """
    kind = belief_kind(job.kind, beliefs)
    parameters = as_lists(kind.fit(job.data, np.random.default_rng(job.seed)))
    return FitFound(stream=job.stream, labels=job.labels, fits=job.fits, parameters=parameters)
