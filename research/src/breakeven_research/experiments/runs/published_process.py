"""The Gaussian process behind the published figures: fitted anew at every label, from extreme starts.

Its kernel is an amplitude times a squared exponential with one lengthscale for each dimension, its mean zero,
its noise the true one. Lengthscales start at 1e-2 and 1e2 in turn; all parameters stay within 1e-5 and 1e5.
"""

from hashlib import blake2b
from math import ceil, log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs import GaussianProcess, SquaredExponential
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.gp.likelihood import Likelihood, minimise

Array = NDArray[np.float64]

STARTS = (1e-2, 1e2)
LEAST, MOST = 1e-5, 1e5
RESTARTS = 10
GROWTH = 1.2
FIRST_STEPS, FINALISTS = 15, 3  # climb so far from every start, and to the top from the best


class Fits:
    """Fits made before: runs that have bought the same labels so far share them.

    >>> from copy import deepcopy
    >>> fits = Fits()
    >>> deepcopy(fits) is fits
    True
    """

    def __init__(self) -> None:
        self._made: dict[bytes, dict[str, Any]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Shared, not copied: a fit is a pure function of its key."""
        return self

    def made(self, key: bytes) -> dict[str, Any] | None:
        """The parameters of a fit, if it was made."""
        return self._made.get(key)

    def keep(self, key: bytes, parameters: dict[str, Any]) -> None:
        """Remember a fit."""
        self._made[key] = parameters


class PublishedProcess(GaussianProcess):
    """Refitted at every label: from the last optimum, and from all starts when the labels grew by a fifth.

    >>> belief = PublishedProcess(dim=3, noise_std=0.5)
    >>> belief.parameters.kernel.lengthscale, belief.parameters.kernel.amplitude
    ((0.01, 100.0, 0.01), 1.0)
    """

    def __init__(self, dim: int, noise_std: float, fits: Fits | None = None) -> None:
        lengthscale = tuple(STARTS[j % 2] for j in range(dim))
        super().__init__(dim, noise_std, SquaredExponential(lengthscale=lengthscale), fit="every_label")
        self._first = self.parameters
        self._fits = Fits() if fits is None else fits

    def config(self) -> dict[str, Any]:
        """The arguments it was made with; fits made before are no part of it."""
        return {"dim": self.dim, "noise_std": self.noise_std}

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` returned."""
        return cls(**config)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy goes on with the same fits made before."""
        return *super().__reduce__(), {"_fits": self._fits}

    def fit_job(self) -> dict[str, Any]:
        """As any process does, with the first parameters, and the fits made before."""
        return {**super().fit_job(), "first": self._first.plain(), "made": self._fits}

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """The parameters of maximal likelihood, looked for as the published code did."""
        fits, key = job["made"], _key(job, random)
        made: dict[str, Any] | None = fits.made(key)
        if made is None:
            with one_thread():
                made = _fitted(job, random).plain()
            fits.keep(key, made)
        return made


def _fitted(job: dict[str, Any], random: "np.random.Generator") -> Parameters:
    start, dim, y = Parameters.of(job["start"]), job["width"], np.frombuffer(job["y"])
    X = np.frombuffer(job["X"]).reshape(-1, dim)
    likelihood = Likelihood(X, y, start, fit_noise=False, fit_mean=False)
    bounds = np.tile(np.log([LEAST, MOST]), (dim + 1, 1))
    starts = [likelihood.theta(start)]
    if starts_anew(len(y)):
        draws = random.uniform(log(LEAST), log(MOST), (RESTARTS, dim + 1))
        starts += [likelihood.theta(Parameters.of(job["first"])), *draws]
    return likelihood.parameters(_highest(likelihood, starts, bounds))


def starts_anew(labels: int) -> bool:
    """Whether this many labels are a fifth more than at the last search from all starts.

    >>> [n for n in range(1, 30) if starts_anew(n)]
    [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27]
    """
    n = 1
    while n < labels:
        n = ceil(round(GROWTH * n, 9))
    return n == labels


def _highest(likelihood: Likelihood, starts: list[Array], bounds: Array) -> Array:
    """The end of the best climb."""
    if len(starts) > FINALISTS:
        ends = [_climb(likelihood, theta, bounds, FIRST_STEPS) for theta in starts]
        starts = [theta for _, theta in sorted(ends, key=lambda end: end[0])[:FINALISTS]]
    return min((_climb(likelihood, theta, bounds) for theta in starts), key=lambda end: end[0])[1]


def _climb(likelihood: Likelihood, theta: Array, bounds: Array, steps: int = 500) -> tuple[float, Array]:
    return minimise(likelihood.value_and_gradient, theta, bounds, steps=steps, tolerance=1e-9)


def _key(job: dict[str, Any], random: "np.random.Generator") -> bytes:
    drawn = random.bit_generator.state["state"]
    parts = (job["X"], job["y"], repr(job["start"]).encode(), repr(drawn).encode())
    return blake2b(b"".join(parts), digest_size=16).digest()
