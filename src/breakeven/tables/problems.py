"""Problems to plan by, drawn anew for every trial.

Types: means even over [0, 1], all types equally likely. Numbers: arrivals even over the unit cube, and f
drawn from a process of amplitude 1.
"""

from collections.abc import Iterator
from math import sqrt

import msgspec
import numpy as np

from breakeven.beliefs import Matern, SquaredExponential
from breakeven.datasets import Stream, discrete_stream
from breakeven.errors import expect
from breakeven.theory.discrete import ZETA_3

KNOTS = 200  # points that a random function goes through
SMOOTHNESS = {"matern32": 1.5, "matern52": 2.5}
FAILS = 0.05  # the probability with which a bound does not hold


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What is expected: so many types, or numbers of so many dimensions; rounds, prices and noise.

    >>> Setting(types=10, rounds=1000, cost=10.0, noise_std=0.5).price
    10.0
    """

    rounds: int
    cost: float
    noise_std: float
    types: int | None = None
    dim: int | None = None
    kernel: str = "se"
    lengthscale: float = 0.5
    error_cost: float = 1.0
    trials: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.types is None) == (self.dim is None):
            expect.refuse("types, dim", "one of the two", f"{self.types}, {self.dim}", described=True)
        for name in ("cost", "noise_std", "lengthscale", "error_cost"):
            expect.positive(name, getattr(self, name))
        for name in ("rounds", "trials"):
            expect.whole(name, getattr(self, name), least=1)
        expect.whole("types" if self.dim is None else "dim", self.types or self.dim, least=1)
        expect.one_of("kernel", self.kernel, ("se", *SMOOTHNESS))
        expect.whole("seed", self.seed)

    @property
    def delta(self) -> float:
        """The δ of the paper at which its bounds hold with 95%."""
        return FAILS if self.types is None else FAILS / (ZETA_3 * self.types)  # Thm 1, corrected

    @property
    def price(self) -> float:
        """What a label costs in units of error."""
        return self.cost / self.error_cost

    def function_kernel(self) -> SquaredExponential | Matern:
        """The kernel that functions are drawn from."""
        if self.kernel == "se":
            return SquaredExponential(lengthscale=self.lengthscale)
        return Matern(smoothness=SMOOTHNESS[self.kernel], lengthscale=self.lengthscale)


class Problem(msgspec.Struct, frozen=True):
    """A stream, and the norm of its function where it has one."""

    stream: Stream
    norm: float | None = None


def problems_of(setting: Setting) -> Iterator[Problem]:
    """As many as there are trials."""
    for trial in range(setting.trials):
        seed = setting.seed * 1_000_003 + trial
        if setting.types is not None:
            yield Problem(
                discrete_stream(
                    setting.types, setting.rounds, seed=seed, noise_std=setting.noise_std, means_seed=seed
                )
            )
        else:
            yield _smooth(setting, np.random.default_rng(seed))


def _smooth(setting: Setting, random: np.random.Generator) -> Problem:
    """The smoothest function through a draw of the process at some points; its norm is known."""
    assert setting.dim is not None
    kernel = setting.function_kernel()
    knots, points = random.random((KNOTS, setting.dim)), random.random((setting.rounds, setting.dim))
    K = kernel(knots, knots) + 1e-8 * np.eye(KNOTS)
    factor = np.linalg.cholesky(K)
    draw = random.standard_normal(KNOTS)
    weights = np.linalg.solve(factor.T, draw)  # K⁻¹ of the values L·draw
    truth = kernel(points, knots) @ weights
    labels = truth + setting.noise_std * random.standard_normal(setting.rounds)
    stream = Stream(points, labels, truth, setting.noise_std, "a random function")
    return Problem(stream, sqrt(float(weights @ K @ weights)))
