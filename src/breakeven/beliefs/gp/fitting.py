"""Kernel parameters by maximal marginal likelihood, from many screened starts.

One start is not enough: at a few labels the likelihood has several optima. So ten times as many random
starts as wanted are scored in a box that fits the data, and the best are polished, with the present
parameters among them. Many labels are searched on a part of them; the winner is polished on all. With a prior
the top of the posterior is looked for, and its amplitude then raised to the upper end of what labels allow.
"""

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.gp.climbing import minimise
from breakeven.beliefs.gp.likelihood import Likelihood
from breakeven.beliefs.gp.parameters import LEAST_NOISE, Parameters
from breakeven.beliefs.gp.prior import Prior, pull
from breakeven.beliefs.gp.threads import threads_for
from breakeven.errors import expect

Array = NDArray[np.float64]

SCREENED_PER_START = 10
FIRST_STEPS = 10  # enough to see how high a hill is
FINALISTS = 3
SEARCHED = 256  # labels that the search looks at
HALVINGS = 30


def fit(
    X: Array,
    y: Array,
    start: Parameters,
    random: "np.random.Generator",
    *,
    fit_noise: bool = False,
    fit_mean: bool = False,
    starts: int = 10,
    noise: Array | None = None,
    prior: Prior | None = None,
    arrivals: Array | None = None,
) -> Parameters:
    """The parameters of maximal likelihood for these labels, or with a prior those of maximal posterior.

    `noise` holds the noise variance of each label, 0 for the process's own, and `arrivals` points like those
    that the prior is about.
    """
    if len(y) == 0:
        return start
    noise = np.zeros(len(y)) if noise is None else noise
    pulled = None
    if prior is not None:
        isotropic = isinstance(start.kernel.lengthscale, float)
        height = _height(y, y.mean() if fit_mean else start.mean)
        seen = X if arrivals is None else arrivals
        if start.half_life is not None:
            seen = seen[:, :-1]
        pulled = pull(prior, seen, height, isotropic=isotropic, fit_noise=fit_noise)

    def likelihood(some: NDArray[np.int64] | slice) -> Likelihood:
        return Likelihood(
            X[some], y[some], start, fit_noise=fit_noise, fit_mean=fit_mean, pull=pulled, noise=noise[some]
        )

    with threads_for(len(y)):
        some = _sample(len(y), random)
        whole = likelihood(some)
        theta = search(whole, random, starts)
        if len(some) < len(y):
            whole = likelihood(slice(None))
            theta = polish(whole, Box(whole), [theta, whole.theta(start)])
        if prior is not None:
            theta = raised(whole, theta, prior.allowance)
        return whole.parameters(theta)


def raised(likelihood: Likelihood, theta: Array, allowance: float) -> Array:
    """θ with the largest amplitude at which the log likelihood is not further below that of θ."""
    place, top = likelihood.scales, likelihood.value(theta) + allowance
    least, most = theta[place], Box(likelihood).bounds[place, 1]
    theta = theta.copy()
    for _ in range(HALVINGS):
        theta[place] = 0.5 * (least + most)
        if likelihood.value(theta) <= top:
            least = theta[place]
        else:
            most = theta[place]
    theta[place] = least
    return theta


def search(likelihood: Likelihood, random: "np.random.Generator", starts: int) -> Array:
    """Score random starts, climb a little from the best, and to the top from the best of those."""
    box = Box(likelihood)
    draws = box.draw(random, SCREENED_PER_START * starts)
    scores = np.array([likelihood.value(theta) for theta in draws])
    chosen = [likelihood.theta(likelihood.start), *draws[np.argsort(scores, kind="stable")[: starts - 1]]]
    ends = [climb(likelihood, box, theta, steps=FIRST_STEPS) for theta in chosen]
    ends.sort(key=lambda end: end[0])
    return polish(likelihood, box, [theta for _, theta in ends[:FINALISTS]])


def polish(likelihood: Likelihood, box: "Box", thetas: list[Array]) -> Array:
    """Climb to the top from each, and take the highest."""
    return min((climb(likelihood, box, theta) for theta in thetas), key=lambda end: end[0])[1]


def climb(likelihood: Likelihood, box: "Box", theta: Array, steps: int = 500) -> tuple[float, Array]:
    """Minus the log likelihood at the end of a climb, and where that is."""
    return minimise(likelihood.value_and_gradient, theta, box.bounds, steps=steps, tolerance=1e-9)


class Box:
    """Where parameters are looked for, in units of the data's own spread."""

    # lengthscale, amplitude, noise_std: limits for the climb, and for the random starts
    LIMITS = np.log([[1e-3, 1e5], [1e-4, 1e6], [1e-3, 1e1]])
    STARTS = np.log([[0.03, 10.0], [0.1, 30.0], [1e-2, 1.0]])
    ALLOWED = np.log([10.0 * expect.SMALLEST, expect.LARGEST / 10.0])  # whatever the data

    def __init__(self, likelihood: Likelihood) -> None:
        span = _span(likelihood)
        height = _height(likelihood.y, likelihood.y.mean() if likelihood.fit_mean else likelihood.start.mean)
        noise = [height] if likelihood.fit_noise else []
        self._centre = np.log(np.concatenate([span, [height**2], noise]))
        self._kinds = np.array([0] * len(span) + [1] + [2] * len(noise))
        self.bounds: Array = np.clip(self._centre[:, None] + self.LIMITS[self._kinds], *self.ALLOWED)
        if not likelihood.fit_noise:  # an amplitude that the noise can still be told from
            most = 2.0 * np.log(likelihood.start.noise_std) - np.log(LEAST_NOISE)
            self.bounds[len(span), 1] = max(min(self.bounds[len(span), 1], most), self.bounds[len(span), 0])

    def draw(self, random: "np.random.Generator", count: int) -> Array:
        """Random starts, uniform in the logarithms."""
        low, high = (self._centre[:, None] + self.STARTS[self._kinds]).T
        return np.clip(random.uniform(low, high, size=(count, len(low))), *self.bounds.T)


def _span(likelihood: Likelihood) -> Array:
    """How wide the points lie: as the prior says, where there is one, else as the labelled ones do."""
    if likelihood.pull:
        return np.asarray(np.exp(likelihood.pull.centre[: likelihood.scales]))
    span = np.ptp(likelihood.X, axis=0)
    if likelihood.isotropic:
        span = np.sqrt((span**2).sum(keepdims=True))
    return np.where(span > 0, span, 1.0)


def _height(y: Array, mean: float) -> float:
    """How far labels lie from their mean; 1 where all are alike, but for rounding."""
    height = float(np.sqrt(np.mean((y - mean) ** 2)))
    return height if height > 1e-12 * float(np.abs(y).max()) else 1.0


def _sample(n: int, random: "np.random.Generator") -> NDArray[np.int64]:
    """Which labels the search looks at, in their order."""
    if n <= SEARCHED:
        return np.arange(n)
    return np.sort(random.choice(n, SEARCHED, replace=False))
