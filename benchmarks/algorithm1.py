"""Algorithm 1 through the public API, beside a plain Python loop that writes the same four columns."""

from collections.abc import Iterator
from math import inf, log, sqrt

import numpy as np

from benchmarks.measure import Result, side_by_side
from breakeven import algorithm1

ROUNDS, TYPES, NOISE, DELTA, COST = 100_000, 100, 0.1, 0.05, 10.0


def run() -> Iterator[Result]:
    random = np.random.default_rng(0)
    xs = random.integers(TYPES, size=ROUNDS).tolist()
    ys = (random.random(TYPES)[xs] + NOISE * random.standard_normal(ROUNDS)).tolist()
    ours, plain = side_by_side(lambda: _ours(xs, ys), lambda: _plain(xs, ys), repeats=9)
    rate, plain_rate = ROUNDS / ours.median, ROUNDS / plain.median
    beside = f"plain Python loop {plain_rate:,.0f} a second"
    yield Result(
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
