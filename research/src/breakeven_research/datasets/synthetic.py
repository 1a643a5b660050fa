"""Streams that are drawn: over K types, loans among them, and over the box of a function.

Arrivals are even, lopsided (in a box: to a fifth of the first axis), all of one type, or one type after the
other, as an adversary might order them. Noise is normal unless told otherwise. Seeded streams follow the
paper's text; `figures` ones are the published draws: of 20 streams of 1000 points from `RandomState(0)` the
first 10 and their first 300 points, and for further trials those after them.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.planning.streams import Stream
from breakeven_research.datasets.functions import BRANIN, HARTMANN6, Function

Array = NDArray[np.float64]

PURPOSES = ("means", "points", "noise")


def generator(purpose: str, seed: int, name: str = "seed") -> np.random.Generator:
    """A generator for one purpose of one seed; `name` is what the caller calls the seed.

    >>> generator("points", 7).random() == generator("points", 7).random()
    True
    >>> generator("points", 7).random() == generator("noise", 7).random()
    False
    """
    return np.random.default_rng([1 + PURPOSES.index(purpose), expect.whole(name, seed)])


def legacy(name: str, seed: int) -> np.random.RandomState:
    """The generator that the paper's code used; it started all its streams from seed 0.

    >>> round(legacy("seed", 0).rand(), 4)
    0.5488
    """
    return np.random.RandomState(expect.whole(name, seed, most=2**32 - 1))


# -- types ---------------------------------------------------------------------------------------------------


Arrivals = Literal["uniform", "lopsided", "one_type", "in_turn"]
ARRIVALS = ("uniform", "lopsided", "one_type", "in_turn")
BOX_ARRIVALS = ARRIVALS[:3]
Noise = Literal["normal", "uniform", "signs"]
NOISES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda random, rounds: random.standard_normal(rounds),
    "uniform": lambda random, rounds: random.uniform(-(3**0.5), 3**0.5, rounds),
    "signs": lambda random, rounds: random.choice([-1.0, 1.0], rounds),
}  # of variance 1, and none has heavier tails than a normal one of variance 1
NOISE_STD = 0.1
PUBLISHED_ARRIVALS = 10_000
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
    if arrivals in ("uniform", "in_turn"):
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
    noise: Noise = "normal",
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
    if arrivals == "in_turn":
        points = np.sort(points)
    drawn = NOISES[expect.one_of("noise", noise, NOISES)](generator("noise", seed), rounds)
    return _over_types(points, means, drawn, expect.positive("noise_std", noise_std), arrivals)


LOAN_NOISE_STD = 0.5  # of yes and no: no answer between 0 and 1 has heavier tails
INCOMES, DEBTS = 8, 5  # bands, from the lowest on


def loan_stream(rounds: int = 10_000, *, seed: int) -> Stream:
    """People who apply for a loan, of 40 kinds by income and debts; the label is whether one defaults.

    A label is 1 or 0, and what it costs is to lend and see. The truth is the share of defaults in a kind: 8%
    in all, from 0.5% of those who earn most and owe least to 63% at the other end. Middle incomes apply most
    often.

    >>> stream = loan_stream(seed=1)
    >>> sorted(set(stream.labels.tolist())), round(float(stream.truth.mean()), 2)
    ([0.0, 1.0], 0.08)
    """
    income, debt = np.divmod(np.arange(INCOMES * DEBTS), DEBTS)
    shares = np.exp(-((income - 3.5) ** 2) / 8.0 - 0.5 * debt)
    defaults = 1.0 / (1.0 + np.exp(1.15 + 0.5 * income - 0.6 * (debt - 1.2)))
    rounds, random = expect.whole("rounds", rounds), generator("points", seed)
    points = random.choice(len(shares), rounds, p=shares / shares.sum())
    truth = defaults[points]
    labels = (generator("noise", seed).random(rounds) < truth).astype(float)
    return Stream(points, labels, truth, LOAN_NOISE_STD, "loans")


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
    published = LONGER_DRAWS.get((types, arrivals), PUBLISHED_ARRIVALS)
    length = max(published, rounds) if drawn is None else expect.whole("drawn", drawn, least=rounds)
    random, p = legacy("seed", 0), None if arrivals == "uniform" else shares
    means = random.rand(len(shares))
    streams = []
    for _ in range(expect.whole("trials", trials)):
        points, noise = random.choice(len(shares), length, p=p), random.normal(size=length)
        streams.append(_over_types(points[:rounds], means, noise[:rounds], NOISE_STD, arrivals))
    return streams


def _over_types(points: Any, means: Any, noise: Any, noise_std: float, arrivals: str) -> Stream:
    truth = means[points]
    return Stream(points, truth + noise * noise_std, truth, noise_std, f"discrete-{len(means)}-{arrivals}")


# -- functions -----------------------------------------------------------------------------------------------


BRANIN_NOISE_STD = 5.0
HARTMANN_NOISE_STD = 0.5
FIRST_FIFTH = dict(zip(BOX_ARRIVALS, (0.2, 0.8, 1.0), strict=True))  # its share of the arrivals
PUBLISHED_POINTS = 1000


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
    share = FIRST_FIFTH[expect.one_of("arrivals", arrivals, BOX_ARRIVALS)]
    unit = random.random((rounds, function.dim))
    near = random.random(rounds) < share
    unit[:, 0] = np.where(near, 0.2 * unit[:, 0], 0.2 + 0.8 * unit[:, 0])
    low, high = np.array(function.low), np.array(function.high)
    noise = generator("noise", seed).standard_normal(rounds)
    return _over_box(
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
    x1 = random.uniform(-5, 10, PUBLISHED_POINTS)
    return np.column_stack((x1, random.uniform(0, 15, PUBLISHED_POINTS)))


def _hartmann_points(random: RandomState) -> Array:
    near = random.uniform(0, 0.2, PUBLISHED_POINTS)
    far = random.uniform(0.2, 0.8, PUBLISHED_POINTS)
    is_near = random.choice(2, PUBLISHED_POINTS, p=[0.2, 0.8]) == 1
    return np.column_stack((np.where(is_near, near, far), random.uniform(0, 1, (PUBLISHED_POINTS, 5))))


def _published(
    function: Function,
    points: Callable[[RandomState], Array],
    noise_std: float,
    trials: int,
    rounds: int,
    arrivals: str,
) -> list[Stream]:
    rounds = expect.whole("rounds", rounds, most=PUBLISHED_POINTS)
    random, streams = legacy("seed", 0), []
    for _ in range(expect.whole("trials", trials)):
        X, noise = points(random), random.normal(size=PUBLISHED_POINTS)
        streams.append(_over_box(function, X[:rounds], noise[:rounds], noise_std, arrivals))
    return streams


def _over_box(function: Function, X: Array, noise: Array, noise_std: float, arrivals: str) -> Stream:
    truth = function(X)
    return Stream(X, truth + noise * noise_std, truth, noise_std, f"{function.name}-{arrivals}")
