"""Algorithm 1 through the public API, beside plain loops that write the same columns.

One by one beside plain Python, a replayed stream beside the textbook's lines as numba compiles them.
"""

from collections.abc import Iterator
from math import inf, log, sqrt

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Result, side_by_side
from breakeven import algorithm1, simulate

LONG = 10_000_000
NOTHING_IS_SURE = 1e-9  # a price at which everything is labelled
ROUNDS, TYPES, NOISE, DELTA, COST = 100_000, 100, 0.1, 0.05, 10.0


def run() -> Iterator[Result]:
    yield _one_by_one()
    yield from _long_streams()


def _one_by_one() -> Result:
    random = np.random.default_rng(0)
    xs = random.integers(TYPES, size=ROUNDS).tolist()
    ys = (random.random(TYPES)[xs] + NOISE * random.standard_normal(ROUNDS)).tolist()
    ours, plain = side_by_side(lambda: _ours(xs, ys), lambda: _plain(xs, ys), repeats=9)
    rate, plain_rate = ROUNDS / ours.median, ROUNDS / plain.median
    beside = f"plain Python loop {plain_rate:,.0f} a second"
    return Result(
        "Algorithm 1, decide (and tell)",
        f"{rate:,.0f} a second ({ROUNDS / ours.high:,.0f}–{ROUNDS / ours.low:,.0f})",
        beside,
        f"{rate / plain_rate:.2f}× of it",
        "≥ 300,000 a second, ≥ 0.25×",
        rate >= 300_000 and rate >= 0.25 * plain_rate,
    )


def _ours(xs: list[int], ys: list[float]) -> None:
    learner = algorithm1(label_cost=COST, noise_std=NOISE, delta=DELTA)
    for x, y in zip(xs, ys, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y)


def _plain(xs: list[int], ys: list[float]) -> None:
    labels = 0
    arrivals: dict[int, int] = {}
    labelled: dict[int, int] = {}
    sums: dict[int, float] = {}
    asked, predictions, radii, thresholds = [], [], [], []
    for x, y in zip(xs, ys, strict=True):
        m = arrivals[x] = arrivals.get(x, 0) + 1
        n = labelled.get(x, 0)
        radius = sqrt(2 * NOISE**2 * log(2 * labels**3 / DELTA) / n) if n else inf
        threshold = (COST / m) ** (1 / 3)
        wanted = radius > threshold
        if wanted:
            labels += 1
            labelled[x] = n + 1
            sums[x] = sums.get(x, 0.0) + y
        asked.append(wanted)
        predictions.append(sums[x] / labelled[x])
        radii.append(radius)
        thresholds.append(threshold)


def _long_streams() -> Iterator[Result]:
    random = np.random.default_rng(0)
    xs = random.integers(TYPES, size=LONG)
    ys = random.random(TYPES)[xs] + NOISE * random.standard_normal(LONG)
    for what, cost, least in (("", COST, 3.0), (", everything labelled", NOTHING_IS_SURE, 1.0)):
        ours, plain = side_by_side(
            lambda cost=cost: simulate(algorithm1(label_cost=cost, noise_std=NOISE, delta=DELTA), xs, ys),
            lambda cost=cost: _plain_columns(xs, ys, cost),
            repeats=9,
        )
        ratio = plain.median / ours.median
        yield Result(
            f"Algorithm 1, simulate {LONG:,} rounds{what}",
            f"{LONG / ours.median / 1e6:,.0f} M a second "
            f"({LONG / ours.high / 1e6:,.0f}–{LONG / ours.low / 1e6:,.0f})",
            f"plain compiled loop {LONG / plain.median / 1e6:,.0f} M a second",
            f"{ratio:.1f}× faster",
            f"≥ {least:g}×",
            ratio >= least,
        )


def _plain_columns(xs: NDArray[np.int64], ys: NDArray[np.float64], cost: float) -> None:
    columns = [np.empty(len(xs)) for _ in range(3)]
    _plain_compiled(xs, ys, cost, np.empty(len(xs), dtype=np.bool_), *columns)


@numba.njit(cache=True)
def _plain_compiled(xs, ys, price, wants_label, prediction, uncertainty, threshold):  # type: ignore[no-untyped-def]
    labels = 0
    arrivals, labelled, sums = np.zeros(TYPES, np.int64), np.zeros(TYPES, np.int64), np.zeros(TYPES)
    for i in range(len(xs)):
        k = xs[i]
        arrivals[k] += 1
        uncertainty[i] = inf
        if labelled[k] > 0:
            uncertainty[i] = sqrt(2 * NOISE**2 * log(2 * float(labels) ** 3 / DELTA) / labelled[k])
        threshold[i] = (price / arrivals[k]) ** (1 / 3)
        wants_label[i] = uncertainty[i] > threshold[i]
        if wants_label[i]:
            labels += 1
            labelled[k] += 1
            sums[k] += ys[i]
        prediction[i] = ys[i] if wants_label[i] else sums[k] / labelled[k]
