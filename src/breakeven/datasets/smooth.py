"""Streams over the box of a function: even, or with most arrivals in the first fifth of the first axis.

The seeded streams follow the paper's text. The `figures` ones are the published draws: `RandomState(0)` made
20 streams of 1000 points, of which the first 10 streams and their first 300 points were used;
more trials than 20 go on with the same draws.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from breakeven.datasets.discrete import ARRIVALS, Arrivals
from breakeven.datasets.draws import generator, legacy
from breakeven.datasets.functions import BRANIN, HARTMANN6, Function
from breakeven.datasets.stream import Stream
from breakeven.errors import expect

Array = NDArray[np.float64]

BRANIN_NOISE_STD = 5.0
HARTMANN_NOISE_STD = 0.5
FIRST_FIFTH = dict(zip(ARRIVALS, (0.2, 0.8, 1.0), strict=True))  # its share of the arrivals
PUBLISHED_ROUNDS = 1000


def smooth_stream(
    function: Function, rounds: int, *, noise_std: float, seed: int, arrivals: Arrivals = "uniform"
) -> Stream:
    """A seeded stream over the box of a function.

    The first fifth of the first axis gets 20% (uniform), 80% (lopsided) or all (one type) of the arrivals,
    the rest of that axis gets the others. Within each part, and on the other axes, they are spread evenly.

    >>> stream = smooth_stream(BRANIN, 500, noise_std=5.0, seed=1, arrivals="lopsided")
    >>> bool((stream.points[:, 0] < -2.0).mean() > 0.7)
    True
    """
    rounds, random = expect.whole("rounds", rounds), generator("points", seed)
    share = FIRST_FIFTH[expect.one_of("arrivals", arrivals, ARRIVALS)]
    unit = random.random((rounds, function.dim))
    near = random.random(rounds) < share
    unit[:, 0] = np.where(near, 0.2 * unit[:, 0], 0.2 + 0.8 * unit[:, 0])
    low, high = np.array(function.low), np.array(function.high)
    noise = generator("noise", seed).standard_normal(rounds)
    return _stream(
        function, low + (high - low) * unit, noise, expect.positive("noise_std", noise_std), arrivals
    )


def branin_stream(rounds: int = 300, *, seed: int) -> Stream:
    """Branin as the text has it: uniform arrivals, noise of 5.

    >>> len(branin_stream(seed=1)), branin_stream(seed=1).noise_std
    (300, 5.0)
    """
    return smooth_stream(BRANIN, rounds, noise_std=BRANIN_NOISE_STD, seed=seed)


def hartmann_stream(rounds: int = 300, *, seed: int) -> Stream:
    """Hartmann as the text has it: 80% of the arrivals in x₁ ≤ 0.2, the others in [0.2, 1]; noise of 0.5.

    >>> hartmann_stream(seed=1).points.shape
    (300, 6)
    """
    return smooth_stream(HARTMANN6, rounds, noise_std=HARTMANN_NOISE_STD, seed=seed, arrivals="lopsided")


def branin_figures_trials(trials: int = 10, rounds: int = 300) -> list[Stream]:
    """Branin's published streams; each draws x₁, x₂ and the noise, in that order.

    >>> branin_figures_trials(trials=1, rounds=2)[0].points.round(3).tolist()
    [[3.232, 8.893], [5.728, 0.151]]
    """
    return _published(BRANIN, _branin_points, BRANIN_NOISE_STD, trials, rounds, "uniform")


def hartmann_figures_trials(trials: int = 10, rounds: int = 300) -> list[Stream]:
    """Hartmann's published streams, where the 20% part ends at x₁ = 0.8.

    The order of the draws is that of the authors' public code: x₁ on [0, 0.2] for all points, then on
    [0.2, 0.8] for all, which of the two a point takes (the first with probability 0.8), the other axes, and
    the noise.

    >>> stream = hartmann_figures_trials(trials=1)[0]
    >>> len(stream), bool(stream.points[:, 0].max() < 0.8)
    (300, True)
    """
    return _published(HARTMANN6, _hartmann_points, HARTMANN_NOISE_STD, trials, rounds, "lopsided")


def _branin_points(random: RandomState) -> Array:
    x1 = random.uniform(-5, 10, PUBLISHED_ROUNDS)
    return np.column_stack((x1, random.uniform(0, 15, PUBLISHED_ROUNDS)))


def _hartmann_points(random: RandomState) -> Array:
    near = random.uniform(0, 0.2, PUBLISHED_ROUNDS)
    far = random.uniform(0.2, 0.8, PUBLISHED_ROUNDS)
    is_near = random.choice(2, PUBLISHED_ROUNDS, p=[0.2, 0.8]) == 1
    return np.column_stack((np.where(is_near, near, far), random.uniform(0, 1, (PUBLISHED_ROUNDS, 5))))


def _published(
    function: Function,
    points: Callable[[RandomState], Array],
    noise_std: float,
    trials: int,
    rounds: int,
    arrivals: str,
) -> list[Stream]:
    rounds = expect.whole("rounds", rounds, most=PUBLISHED_ROUNDS)
    random, streams = legacy("seed", 0), []
    for _ in range(expect.whole("trials", trials)):
        X, noise = points(random), random.normal(size=PUBLISHED_ROUNDS)
        streams.append(_stream(function, X[:rounds], noise[:rounds], noise_std, arrivals))
    return streams


def _stream(function: Function, X: Array, noise: Array, noise_std: float, arrivals: str) -> Stream:
    truth = function(X)
    return Stream(X, truth + noise * noise_std, truth, noise_std, f"{function.name}-{arrivals}")
