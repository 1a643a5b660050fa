"""One round of Algorithm 2 at n labels, beside a bare triangular solve and scikit-learn's refit."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg.blas import dtrsv
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from benchmarks.measure import Result, microseconds, side_by_side
from breakeven import GaussianProcess, Learner, Never, SquaredExponential

NOISE = 0.1
SCALE = {2: 0.2, 9: 1.0}


def run() -> Iterator[Result]:
    for dim in (2, 9):
        for n in (100, 300, 1000, 3000):
            yield from _round(n, dim)


def _round(n: int, dim: int) -> Iterator[Result]:
    random = np.random.default_rng(n + dim)
    X, y = random.random((n, dim)), random.standard_normal(n)
    learner = Learner(GaussianProcess(dim, NOISE, SquaredExponential(SCALE[dim])), Never(), label_cost=1.0)
    for point, label in zip(X, y, strict=True):
        learner.learn(point, label)
    kernel = SquaredExponential(SCALE[dim])
    L = np.asfortranarray(np.linalg.cholesky(kernel(X, X) + NOISE**2 * np.eye(n)))
    new = random.random((2000, dim))
    peer = GaussianProcessRegressor(RBF(SCALE[dim]), alpha=NOISE**2, optimizer=None).fit(X, y)
    arrivals = iter(np.tile(new, (20, 1)))

    def skip() -> None:
        learner.decide(next(arrivals))

    def label() -> None:
        decision = learner.decide(next(arrivals), force=True)
        learner.tell(decision.id, 0.5)

    def scikit_learn() -> None:
        peer.predict(new[:1], return_std=True)
        peer.fit(X, y)

    vector = random.random(n)
    number = max(1, 30_000 // (n * n // 100 + 100))
    bare, skipped = side_by_side(lambda: dtrsv(L, vector, lower=1), skip, repeats=25, number=number)
    _, labelled = side_by_side(lambda: dtrsv(L, vector, lower=1), label, repeats=40, number=1)
    (slow,) = side_by_side(scikit_learn, repeats=3 if n > 1000 else 7)
    worse = max(skipped, labelled, key=lambda timing: timing.median)
    allowed = 1.5 * bare.median + 25e-6
    asked = n == 1000 and dim == 2
    yield Result(
        f"GP round, n={n}, d={dim}: unlabelled / labelled",
        f"{microseconds(skipped)} / {microseconds(labelled)}",
        f"dtrsv {microseconds(bare)}",
        f"{(worse.median - 25e-6) / bare.median:.2f}× dtrsv + 25 µs",
        "≤ 1.5× + 25 µs" if asked else "",
        not asked or worse.median <= allowed,
    )
    target = {300: 100, 1000: 200, 3000: 200}.get(n) if dim == 2 else None
    ratio = slow.median / worse.median
    yield Result(
        f"GP round, n={n}, d={dim}",
        microseconds(worse),
        f"scikit-learn predict + refit {slow.median * 1e3:,.3g} ms",
        f"{ratio:,.0f}× faster",
        f"≥ {target}×" if target else "",
        target is None or ratio >= target,
    )
