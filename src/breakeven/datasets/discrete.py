"""Streams over K types: each type has a mean in [0, 1), and arrivals are even, lopsided or all of one type.

`discrete_stream` is seeded; `figures_trials` re-makes the draws behind the published figures.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from breakeven.datasets.draws import generator, legacy
from breakeven.datasets.stream import Stream
from breakeven.errors import expect

Arrivals = Literal["uniform", "lopsided", "one_type"]
ARRIVALS = ("uniform", "lopsided", "one_type")
NOISE_STD = 0.1
PUBLISHED_ROUNDS = 10_000
LONGER_DRAWS = {(10, "uniform"): 1_000_000}  # of which the authors used the first 10⁴


def arrival_shares(types: int, arrivals: Arrivals) -> NDArray[np.float64]:
    """The probability with which each type arrives.

    Lopsided: the first 20% of the types (one at least) share 80% of the arrivals, the others share the rest.

    >>> arrival_shares(5, "uniform").tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    >>> arrival_shares(5, "lopsided").tolist()
    [0.8, 0.05, 0.05, 0.05, 0.05]
    >>> arrival_shares(3, "one_type").tolist()
    [1.0, 0.0, 0.0]
    """
    types, arrivals = expect.whole("types", types, least=1), expect.one_of("arrivals", arrivals, ARRIVALS)
    if arrivals == "uniform":
        return np.full(types, 1 / types)
    first = max(1, types // 5) if arrivals == "lopsided" else 1
    rest = types - first
    common, rare = (0.8, 0.2) if arrivals == "lopsided" and rest else (1.0, 0.0)
    return np.repeat([common / first, rare / max(rest, 1)], [first, rest])


def discrete_stream(
    types: int,
    rounds: int,
    *,
    seed: int,
    arrivals: Arrivals = "uniform",
    noise_std: float = NOISE_STD,
    means_seed: int = 0,
) -> Stream:
    """A seeded stream: `seed` draws arrivals and noise, `means_seed` the mean of each type.

    >>> stream = discrete_stream(10, 1000, arrivals="lopsided", seed=1)
    >>> len(stream), int(stream.points.max()) < 10, bool((stream.points < 2).mean() > 0.7)
    (1000, True, True)
    """
    shares, rounds = arrival_shares(types, arrivals), expect.whole("rounds", rounds)
    means = generator("means", means_seed, "means_seed").random(len(shares))
    points = generator("points", seed).choice(len(shares), rounds, p=shares)
    noise = generator("noise", seed).standard_normal(rounds)
    return _stream(points, means, noise, expect.positive("noise_std", noise_std), arrivals)


def figures_trials(
    types: int, arrivals: Arrivals, trials: int = 10, rounds: int = 10_000, *, drawn: int | None = None
) -> list[Stream]:
    """The streams of the published figures: means fixed over the trials, arrivals and noise drawn anew.

    One `RandomState(0)` draws the means, then for each trial its arrivals and its noise; uniform arrivals are
    `choice(K, T)`, which draws otherwise than `choice(K, T, p)`. A trial draws `drawn` rounds and keeps the
    first `rounds`; unless told otherwise as many as the authors: 10⁶ for 10 types, uniform, else 10⁴.

    >>> one, two = figures_trials(10, "uniform", trials=2, rounds=5)
    >>> one.points.tolist(), two.points.tolist()
    ([6, 7, 7, 8, 1], [9, 9, 7, 0, 6])
    >>> one.truth.round(4).tolist()
    [0.4376, 0.8918, 0.8918, 0.9637, 0.7152]
    """
    shares, rounds = arrival_shares(types, arrivals), expect.whole("rounds", rounds)
    published = LONGER_DRAWS.get((types, arrivals), PUBLISHED_ROUNDS)
    length = max(published, rounds) if drawn is None else expect.whole("drawn", drawn, least=rounds)
    random, p = legacy("seed", 0), None if arrivals == "uniform" else shares
    means = random.rand(len(shares))
    streams = []
    for _ in range(expect.whole("trials", trials)):
        points, noise = random.choice(len(shares), length, p=p), random.normal(size=length)
        streams.append(_stream(points[:rounds], means, noise[:rounds], NOISE_STD, arrivals))
    return streams


def _stream(points: Any, means: Any, noise: Any, noise_std: float, arrivals: str) -> Stream:
    truth = means[points]
    return Stream(points, truth + noise * noise_std, truth, noise_std, f"discrete-{len(means)}-{arrivals}")
