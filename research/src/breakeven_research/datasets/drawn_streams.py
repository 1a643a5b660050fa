"""Streams that are drawn from a seed to be hard in one way each, as frames whose last column is the label.

Smooth functions of several inputs, some of them useless; labels with heavy tails, mostly zero, or a rare yes;
loans of which few default; and worlds that move. `rare_setting` draws the settings of rare labels, too.
Labels that could lie around zero are moved away from it: answering 0 is to be no good guess by accident.
"""

from collections.abc import Callable
from math import pi
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven_research.datasets.functions import HARTMANN6

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]
Random = np.random.Generator
Points = tuple[Array, Array]  # inputs and labels

ROUNDS = 600
AWAY = 5.0  # from zero


def frame_of(points: Array, labels: Array) -> "pl.DataFrame":
    """Inputs x1, x2, … and the label y.

    >>> frame_of(np.zeros((2, 1)), np.array([1.0, 2.0])).columns
    ['x1', 'y']
    """
    import polars as pl

    names = [f"x{place}" for place in range(1, points.shape[1] + 1)]
    return pl.DataFrame({**dict(zip(names, points.T, strict=True)), "y": labels})


def drawn(name: str, seed: int) -> "pl.DataFrame":
    """A stream by its name; the same seed draws the same stream.

    >>> drawn("friedman1", seed=0).shape
    (600, 11)
    """
    make = DRAWN[expect.one_of("name", name, DRAWN)]
    number = list(DRAWN).index(name)
    return frame_of(*make(np.random.default_rng([number, expect.whole("seed", seed)])))


# -- smooth functions ----------------------------------------------------------------------------------------


def friedman1(random: Random) -> Points:
    """Friedman (1991): five inputs matter, five do not; noise of 1."""
    x = random.random((ROUNDS, 10))
    f = 10 * np.sin(pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, f + random.normal(size=ROUNDS)


def _impedance(random: Random) -> tuple[Array, Array]:
    """The inputs of Friedman's second and third function, and the reactance that both are made of."""
    low, high = np.array([0.0, 40 * pi, 0.0, 1.0]), np.array([100.0, 560 * pi, 1.0, 11.0])
    x = low + (high - low) * random.random((ROUNDS, 4))
    return x, x[:, 1] * x[:, 2] - 1 / (x[:, 1] * x[:, 3])


def friedman2(random: Random) -> Points:
    """The size of an impedance; noise of 125, a third of its spread."""
    x, reactance = _impedance(random)
    return x, np.hypot(x[:, 0], reactance) + 125 * random.normal(size=ROUNDS)


def friedman3(random: Random) -> Points:
    """The phase of an impedance, which jumps where the resistance is small; noise of 0.1."""
    x, reactance = _impedance(random)
    return x, np.arctan2(reactance, x[:, 0]) + 0.1 * random.normal(size=ROUNDS)


def ackley(random: Random) -> Points:
    """Ackley's function of three inputs, a funnel with ripples; noise of 0.3."""
    x = random.uniform(-5.0, 5.0, (ROUNDS, 3))
    funnel = -20 * np.exp(-0.2 * np.sqrt((x**2).mean(axis=1)))
    return x, funnel - np.exp(np.cos(2 * pi * x).mean(axis=1)) + 20 + np.e + 0.3 * random.normal(size=ROUNDS)


def hartmann(random: Random) -> Points:
    """Hartmann's function over even arrivals; noise of 0.1."""
    x = random.random((ROUNDS, 6))
    return x, AWAY + HARTMANN6(x) + 0.1 * random.normal(size=ROUNDS)


# -- tails and zeros -----------------------------------------------------------------------------------------


def _bend(x: Array) -> Array:
    """Something to learn: a curve along the first input, a slope along the second; its spread is about 1."""
    bent: Array = np.sin(1.5 * x[:, 0]) + 0.7 * x[:, 1]
    return bent


def heavy_noise(random: Random) -> Points:
    """Noise by a Student t of 2 degrees of freedom, which has no variance."""
    x = random.normal(size=(ROUNDS, 4))
    return x, AWAY + _bend(x) + 0.3 * random.standard_t(2, ROUNDS)


def skewed(random: Random) -> Points:
    """The exponential of something smooth: most labels are small, a few are huge."""
    x = random.normal(size=(ROUNDS, 4))
    return x, np.exp(1.2 * _bend(x) + 0.3 * random.normal(size=ROUNDS))


def mostly_zero(random: Random, share: float = 0.1, *, useful: bool = True, rounds: int = ROUNDS) -> Points:
    """Zero but for a share of arrivals, whose labels are log-normal around 1."""
    x, some = rare_yes(random, share, useful=useful, rounds=rounds)
    return x, some * np.exp(0.5 * random.normal(size=rounds) - 0.125)  # a mean of 1


def rare_yes(random: Random, share: float, *, useful: bool = True, rounds: int = ROUNDS) -> Points:
    """A label of 1 for about this share of the arrivals, 0 for others.

    Where inputs are useful, they give log odds with a spread of 2.5; else each arrival has the same chance.
    """
    x = random.normal(size=(rounds, 3))
    chance = _chances(2.5 * x[:, 0], share) if useful else np.full(rounds, share)
    return x, (random.random(rounds) < chance).astype(np.float64)


def _chances(odds: Array, share: float) -> Array:
    """The chances that log odds give, moved so that their mean is this share."""
    low, high = -50.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _logistic(odds + middle).mean() < share else (low, middle)
    return _logistic(odds + low)


def _logistic(x: Array) -> Array:
    chance: Array = 1 / (1 + np.exp(-x))
    return chance


# -- loans ---------------------------------------------------------------------------------------------------


LOANS, DEFAULTS = 2000, 0.08
MEAN_LOSS = 5860.0  # of a loan that defaults


def loans(random: Random) -> tuple[Array, Array]:
    """Income, amount, years and a score of 2,000 borrowers, and which of them default: about 8%."""
    income = np.exp(10.3 + 0.5 * random.normal(size=LOANS))
    amount = np.exp(9.2 + 0.6 * random.normal(size=LOANS))
    years = random.integers(1, 7, LOANS) * 1.0
    score = 650 + 70 * random.normal(size=LOANS)
    odds = 0.8 * np.log(amount / income) - (score - 650) / 70 + 0.1 * years
    defaults = random.random(LOANS) < _chances(odds, DEFAULTS)
    return np.column_stack([income, amount, years, score]), defaults.astype(np.float64)


def loan_defaults(random: Random) -> Points:
    """Whether each loan defaults."""
    return loans(random)


def loan_losses(random: Random) -> Points:
    """What each loan loses: nothing, or where it defaults a part of the amount, 5,860 on average."""
    x, defaults = loans(random)
    part = x[:, 1] * random.uniform(0.3, 0.9, LOANS)
    return x, defaults * part * MEAN_LOSS / (part * defaults).sum() * defaults.sum()


# -- worlds that move ----------------------------------------------------------------------------------------


MOVING_ROUNDS = 1000


def step(random: Random) -> Points:
    """Half-way the slope turns round and all labels rise by 2; noise of 0.2."""
    x = random.normal(size=(MOVING_ROUNDS, 3))
    after = np.arange(MOVING_ROUNDS) >= MOVING_ROUNDS // 2
    f = np.where(after, 2.0 + np.sin(1.5 * x[:, 0]) - 0.7 * x[:, 1], _bend(x))
    return x, AWAY + f + 0.2 * random.normal(size=MOVING_ROUNDS)


def drift(random: Random) -> Points:
    """The slope turns by half a circle over the stream, and all labels rise by 2; noise of 0.2."""
    x = random.normal(size=(MOVING_ROUNDS, 3))
    passed = np.arange(MOVING_ROUNDS) / MOVING_ROUNDS
    f = np.cos(pi * passed) * x[:, 0] + np.sin(pi * passed) * x[:, 1] + 2 * passed
    return x, AWAY + f + 0.2 * random.normal(size=MOVING_ROUNDS)


SHARES = (0.01, 0.03, 0.1, 0.3)  # of a rare yes


def _rare(share: float, *, useful: bool) -> Callable[[Random], Points]:
    return lambda random: rare_yes(random, share, useful=useful)


DRAWN: dict[str, Callable[[Random], Points]] = {
    "friedman1": friedman1,
    "friedman2": friedman2,
    "friedman3": friedman3,
    "ackley": ackley,
    "hartmann-even": hartmann,
    "heavy-noise": heavy_noise,
    "skewed": skewed,
    "zeros": mostly_zero,
    "zeros-useless": lambda random: mostly_zero(random, useful=False),
    **{f"yes-{share:g}": _rare(share, useful=True) for share in SHARES},
    **{f"yes-{share:g}-useless": _rare(share, useful=False) for share in SHARES},
    "loan-defaults": loan_defaults,
    "loan-losses": loan_losses,
    "step": step,
    "drift": drift,
}


# -- settings of rare labels ---------------------------------------------------------------------------------


SETTINGS = 100


class Setting(NamedTuple):
    """A stream of rare labels, and what a label costs in units of error."""

    number: int
    share: float
    rounds: int
    cost: float
    useful: bool
    yes_no: bool

    def frame(self) -> "pl.DataFrame":
        """The stream itself."""
        random = np.random.default_rng([1000, self.number])
        make = rare_yes if self.yes_no else mostly_zero
        return frame_of(*make(random, self.share, useful=self.useful, rounds=self.rounds))


def rare_setting(number: int) -> Setting:
    """Shares of 1 to 30%, 500 to 5,000 rounds, and costs from a tenth to ten times the share.

    At a cost of the share itself labelling everyone costs what labelling no one does: there it matters. Of
    every four settings two have useful inputs, and two are yes or no, the others mostly zero.

    >>> rare_setting(3).yes_no, rare_setting(3).useful, 500 <= rare_setting(3).rounds <= 5000
    (False, False, True)
    """
    random = np.random.default_rng([2000, expect.whole("number", number)])
    share = float(np.exp(random.uniform(np.log(0.01), np.log(0.3))))
    rounds = int(np.exp(random.uniform(np.log(500), np.log(5000))))
    cost = share * float(10 ** random.uniform(-1.0, 1.0))
    return Setting(number, share, rounds, cost, useful=number % 2 == 0, yes_no=number % 4 < 2)
