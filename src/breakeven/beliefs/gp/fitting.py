"""Kernel parameters by maximal marginal likelihood, from many screened starts.

One start is not enough: at a few labels the likelihood has several optima. So ten times as many random
starts as wanted are scored in a box that fits the data, and the best are polished, with the present
parameters among them. Many labels are searched on a part of them; the winner is polished on all. With a prior
the top of the posterior is looked for, and its amplitude then raised to the upper end of what labels allow.

Points and labels come in the user's units and parameters go back in them. Where a prior is given, or noise or
mean are fitted too, the search itself runs in `Units` of the data: a shift or another unit of labels or
features then changes nothing but the units of the answer. Where only the kernel is fitted, as in the paper,
noise and mean are given in the user's units, nothing has to be shifted, and the box already follows the data:
there the numbers are taken as they come, which keeps published results to the bit.
"""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.gp.evidence import log_evidence
from breakeven.beliefs.gp.kernels import LASTING, LEAST_NOISE, Parameters
from breakeven.beliefs.gp.likelihood import VARIES, Likelihood, Prior, minimise, pull
from breakeven.errors import expect
from breakeven.errors.expect import Array

SCREENED_PER_START = 10
CLIMBED_FIRST = 10  # steps: enough to see how high a hill is
POLISHED = 3  # starts that are climbed to the top
SEARCHED = 256  # labels that the search looks at
HALVINGS = 30
HALF_LIVES = (LASTING, 25.0, 100.0, 400.0, 1_600.0, 6_400.0)  # in rounds, where one is to be found
LABELS_A_HALF_LIFE = 10  # fewer say nothing of it
STARTS_A_HALF_LIFE = 3
COMPARED = 400  # labels, the last ones, that half-lives are compared by
CLEARLY_BETTER = 3.0  # log evidence by which one that fades must be ahead of none


class Units(msgspec.Struct, frozen=True):
    """What points and labels are measured in during a fit: their own spread, around their own centre.

    >>> units = Units.of(np.array([[0.0], [4.0]]), np.array([1000.0, 1006.0]), 1003.0, isotropic=True)
    >>> units.lengths.tolist(), units.height
    ([2.0], 3.0)
    """

    origin: Array
    lengths: Array  # one a dimension, all alike where the kernel has one lengthscale
    centre: float
    height: float

    @staticmethod
    def of(seen: Array, y: Array, centre: float, *, isotropic: bool) -> "Units":
        """The units of points like those seen, and of labels around a centre."""
        spread = seen.std(axis=0)
        spread = np.where(spread > VARIES * np.abs(seen).max(axis=0), spread, 1.0)
        if isotropic:
            spread = np.full(len(spread), np.sqrt(np.mean(spread**2)))
        return Units(seen.mean(axis=0), spread, centre, _height(y, centre))

    def points(self, X: Array) -> Array:
        """Points in these units; a time at their end stays as it is."""
        dim = len(self.lengths)
        return np.hstack([(X[:, :dim] - self.origin) / self.lengths, X[:, dim:]])

    def shrink(self, start: Parameters) -> Parameters:
        """Parameters in these units."""
        kernel = start.kernel
        return msgspec.structs.replace(
            start,
            kernel=msgspec.structs.replace(
                kernel,
                lengthscale=_lengthscale(
                    _allowed(np.asarray(kernel.lengthscale) / self._like(kernel.lengthscale))
                ),
                amplitude=float(_allowed(kernel.amplitude / self.height / self.height)),
            ),
            noise_std=float(_allowed(start.noise_std / self.height)),
            mean=(start.mean - self.centre) / self.height,
        )

    def expand(self, found: Parameters, start: Parameters, *, fit_noise: bool, fit_mean: bool) -> Parameters:
        """Parameters in the user's units; those that were not fitted are as they were at the start."""
        kernel = found.kernel
        lengths = np.asarray(kernel.lengthscale) * self._like(kernel.lengthscale)
        mean = min(max(found.mean * self.height + self.centre, -expect.LARGEST), expect.LARGEST)
        return msgspec.structs.replace(
            start,
            kernel=msgspec.structs.replace(
                kernel,
                lengthscale=_lengthscale(_allowed(lengths)),
                amplitude=float(_allowed(kernel.amplitude * self.height * self.height)),
            ),
            noise_std=float(_allowed(found.noise_std * self.height)) if fit_noise else start.noise_std,
            mean=mean if fit_mean else start.mean,
        )

    def _like(self, lengthscale: float | tuple[float, ...]) -> Any:
        return self.lengths if isinstance(lengthscale, tuple) else self.lengths[0]

    def logarithms(self, *, isotropic: bool, fit_noise: bool) -> Array:
        """The logarithms of the units of θ."""
        lengths = self.lengths[:1] if isotropic else self.lengths
        rest = [2.0 * np.log(self.height)] + [np.log(self.height)] * fit_noise
        return np.concatenate([np.log(lengths), rest])


def _lengthscale(lengths: Any) -> float | tuple[float, ...]:
    return tuple(lengths.tolist()) if np.ndim(lengths) else float(lengths)


def _allowed(numbers: Any) -> Any:
    """The nearest numbers that a kernel accepts."""
    return np.clip(numbers, 10.0 * expect.SMALLEST, expect.LARGEST / 10.0)


def run_job(job: dict[str, Any], random: "np.random.Generator") -> Parameters:
    """The best parameters for a job of plain data, as `GaussianProcess.fit_job` writes it."""
    X = np.frombuffer(job["X"]).reshape(-1, job["width"])
    y, noise = np.frombuffer(job["y"]), np.frombuffer(job["noise"])
    some = np.arange(len(y))
    if job["most"] is not None and len(some) > job["most"]:
        some = np.sort(random.choice(some, job["most"], replace=False))
    arrivals, start = job["arrivals"], Parameters.of(job["start"])
    settings = {
        "fit_noise": job["fit_noise"],
        "fit_mean": job["fit_mean"],
        "noise": noise[some],
        "prior": msgspec.convert(job["prior"], Prior | None),
        "arrivals": None if arrivals is None else np.frombuffer(arrivals).reshape(-1, job["width"]),
        "fitted": job["fitted"],
    }
    found = fit(X[some], y[some], start, random, **settings)
    if not job.get("fit_half_life") or len(some) < LABELS_A_HALF_LIFE:
        return found
    return _best_half_life(found, X[some], y[some], start, random, settings)


def _best_half_life(
    found: Parameters,
    X: Array,
    y: Array,
    start: Parameters,
    random: "np.random.Generator",
    settings: dict[str, Any],
) -> Parameters:
    """The parameters found, or those of the half-life under which the last labels are most likely.

    Each half-life has parameters of its own. One that fades must be clearly better than none.
    """
    ways = [found]
    for half_life in HALF_LIVES:
        if half_life != start.half_life:
            other = msgspec.structs.replace(start, half_life=half_life)
            ways.append(fit(X, y, other, random, starts=STARTS_A_HALF_LIFE, **settings))
    last = slice(-COMPARED, None)
    noise = settings["noise"][last]

    def score(way: Parameters) -> float:
        covariance = way.covariance.matrix(X[last].T, X[last].T, way.covariance.weights(X.shape[1]))
        own = np.where(noise > 0.0, noise, way.noise_variance)
        clearly = 0.0 if way.half_life == LASTING else CLEARLY_BETTER
        return log_evidence(covariance + np.diag(own), y[last] - way.mean) - clearly

    with one_thread():
        return max(ways, key=score)


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
    fitted: bool = True,
) -> Parameters:
    """The parameters of maximal likelihood for these labels, or with a prior those of maximal posterior.

    `noise` holds the noise variance of each label, 0 for the process's own, and `arrivals` points like those
    that the prior is about. `fitted` says whether `start` was found in the data: else a prior begins at what
    it expects.
    """
    if len(y) == 0:
        return start
    noise = np.zeros(len(y)) if noise is None else noise
    isotropic = isinstance(start.kernel.lengthscale, float)
    seen = X if arrivals is None else arrivals
    if start.half_life is not None:
        seen = seen[:, :-1]
    began, units, pulled, log_units = start, None, None, None
    if prior is not None or fit_noise or fit_mean:
        centre = float(y.mean()) if fit_mean else start.mean
        units = Units.of(seen, y, centre, isotropic=isotropic)
        X, seen, noise = units.points(X), units.points(seen), noise / units.height / units.height
        y, start = (y - centre) / units.height, units.shrink(start)
        log_units = units.logarithms(isotropic=isotropic, fit_noise=fit_noise)
    if prior is not None:
        pulled = pull(prior, seen, _height(y, 0.0), isotropic=isotropic, fit_noise=fit_noise)
        start = start if fitted else _typical(start, np.exp(pulled.centre), isotropic, fit_noise)

    def likelihood(some: NDArray[np.int64] | slice) -> Likelihood:
        return Likelihood(
            X[some], y[some], start, fit_noise=fit_noise, fit_mean=fit_mean, pull=pulled, noise=noise[some],
            log_units=log_units,
        )  # fmt: skip

    with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        some = _sample(len(y), random)
        whole = likelihood(some)
        theta = search(whole, random, starts)
        if len(some) < len(y):
            whole = likelihood(slice(None))
            theta = polish(whole, SearchBox(whole), [theta, whole.theta(start)])
        if prior is not None:
            theta = raised(whole, theta, prior.allowance)
        found = whole.parameters(theta)
    if units is not None:
        found = units.expand(found, began, fit_noise=fit_noise, fit_mean=fit_mean)
        y = y * units.height
    return found if found.label_scale is not None else msgspec.structs.replace(found, label_scale=_scale(y))


def _scale(y: Array) -> float | None:
    """The std of the labels, if they are enough and differ."""
    scale = float(y.std())
    differ = len(y) >= ENOUGH_TO_FIT and scale > VARIES * float(np.abs(y).max())
    return float(_allowed(scale)) if differ else None


def _typical(start: Parameters, typical: Array, isotropic: bool, fit_noise: bool) -> Parameters:
    """The parameters that a prior expects, in the units of the data."""
    lengths = typical[0] if isotropic else typical[: -1 - fit_noise]
    kernel = msgspec.structs.replace(
        start.kernel, lengthscale=_lengthscale(np.asarray(lengths)), amplitude=1.0
    )
    noise_std = float(typical[-1]) if fit_noise else start.noise_std
    return msgspec.structs.replace(start, kernel=kernel, noise_std=noise_std)


def raised(likelihood: Likelihood, theta: Array, allowance: float) -> Array:
    """θ with the largest amplitude at which the log likelihood is not further below that of θ."""
    place, top = likelihood.scales, likelihood.value(theta) + allowance
    least, most = theta[place], SearchBox(likelihood).bounds[place, 1]
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
    box = SearchBox(likelihood)
    draws = box.draw(random, SCREENED_PER_START * starts)
    scores = np.array([likelihood.value(theta) for theta in draws])
    chosen = [likelihood.theta(likelihood.start), *draws[np.argsort(scores, kind="stable")[: starts - 1]]]
    ends = [climb(likelihood, box, theta, steps=CLIMBED_FIRST) for theta in chosen]
    ends.sort(key=lambda end: end[0])
    return polish(likelihood, box, [theta for _, theta in ends[:POLISHED]])


def polish(likelihood: Likelihood, box: "SearchBox", thetas: list[Array]) -> Array:
    """Climb to the top from each, and take the highest."""
    return min((climb(likelihood, box, theta) for theta in thetas), key=lambda end: end[0])[1]


def climb(likelihood: Likelihood, box: "SearchBox", theta: Array, steps: int = 500) -> tuple[float, Array]:
    """Minus the log likelihood at the end of a climb, and where that is."""
    return minimise(likelihood.value_and_gradient, theta, box.bounds, steps=steps, tolerance=1e-9)


class SearchBox:
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
        allowed = np.clip(self.ALLOWED[:, None, None] - likelihood.log_units[:, None], *self.ALLOWED)
        self.bounds: Array = np.clip(self._centre[:, None] + self.LIMITS[self._kinds], *allowed)
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
