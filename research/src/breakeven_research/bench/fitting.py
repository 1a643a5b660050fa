"""Fitting 45 labels with 9 lengthscales from 10 starts, beside scikit-learn with 10 restarts."""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs import GaussianProcess
from breakeven_research.bench.results import Measurement, Result, Sizes, peer
from breakeven_research.bench.timing import Task, Timing, a_round, side_by_side, timing

Array = NDArray[np.float64]

NOISE, LABELS, DIM, STARTS = 0.1, 45, 9, 10
REPEATS = 5
WORSE = 1e-4  # by so much a likelihood may fall short and count as equal


def measurements(sizes: Sizes) -> list[Measurement]:
    """All problems as one line."""
    return [Measurement("Fit, beside scikit-learn", partial(_fits, sizes))]


def _fits(sizes: Sizes) -> Iterator[Result]:
    found = [_fit(seed, min(REPEATS, sizes.repeats)) for seed in range(sizes.fits)]
    ours, theirs, gaps = zip(*found, strict=True)
    ratios = [b.median / a.median for a, b in zip(ours, theirs, strict=True)]
    ratio = float(np.median(ratios))
    yield Result(
        what=f"Fit, {LABELS} labels, {DIM} lengthscales, {STARTS} starts ({sizes.fits} problems)",
        measured=a_round(_across(ours)),
        beside=f"scikit-learn, {STARTS} restarts {a_round(_across(theirs))}",
        ratio=f"{ratio:.1f}× faster ({min(ratios):.1f}–{max(ratios):.1f}); "
        f"log likelihood {min(gaps):+.1g} to {max(gaps):+.1g}",
        target="≥ 4×, likelihood equal or better",
        reached=ratio >= 4.0 and min(gaps) > -WORSE,
    )


def _across(timings: tuple[Timing, ...]) -> Timing:
    return timing([one.median for one in timings])


def _fit(seed: int, repeats: int) -> tuple[Timing, Timing, float]:
    """Our time, theirs, and by how much our likelihood is higher."""
    random = np.random.default_rng(seed)
    X = random.random((LABELS, DIM))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + NOISE * random.standard_normal(LABELS)
    belief, model = _belief(X, y), _model(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its bounds are reached, and it says so
        ours, theirs = side_by_side(
            Task(lambda: belief.fit(belief.fit_job(), np.random.default_rng(0))),
            Task(lambda: model.fit(X, y)),
            repeats=repeats,
        )
    belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(0)))
    gap = belief.describe()["log_likelihood"] - model.log_marginal_likelihood_value_
    return ours, theirs, float(gap)


def _belief(X: Array, y: Array) -> GaussianProcess:
    belief = GaussianProcess(DIM, NOISE, fit="growing")
    for point, label in zip(X, y, strict=True):
        belief.learn(point, label)
    return belief


def _model(seed: int) -> Any:
    process, kernels = peer("sklearn.gaussian_process"), peer("sklearn.gaussian_process.kernels")
    return process.GaussianProcessRegressor(
        kernels.ConstantKernel(1.0) * kernels.RBF([1.0] * DIM),
        alpha=NOISE**2,
        n_restarts_optimizer=STARTS,
        random_state=seed,
    )
