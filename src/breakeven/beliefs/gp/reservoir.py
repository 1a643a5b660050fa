"""Past arrivals that stand for those to come, and what a label would take off the error there.

Notation: V are the features of the arrivals kept, in a solver's own terms, a row each; W the covariance of
each awaited label's point with them, a row each, given the labels told. Variances count all labels asked for.
s is a std given all labels asked for, c the covariance of f at a point with f at an arrival to come. A label
with noise variance σ² takes c²/(s² + σ²) off that arrival's variance; the expected error is √(2/π)·s.
docs/value.md derives it.
"""

from functools import cache
from math import exp, expm1, inf, log, sqrt
from typing import Any

import numpy as np

from breakeven import theory
from breakeven.beliefs.even_sample import EvenSample
from breakeven.beliefs.gp.factor import GrowingTable, floats
from breakeven.errors.expect import Array
from breakeven.values import Saving

EXACT_ROUNDS = 8  # arrivals to come that are summed one by one
QUADRATURE_POINTS = 12

NO_ROWS, NO_VARIANCES = np.empty((0, 0)), np.empty(0)


class Reservoir:
    """An even sample of the arrivals, `most` at most; `awaited` holds W.

    >>> reservoir = Reservoir(1, EvenSample(4))
    >>> for i in range(10):
    ...     if reservoir.admits():
    ...         reservoir.add(np.array([float(i)]), v=np.empty(0), w=np.empty(0), variance=1.0)
    >>> reservoir.points.tolist()
    [[0.0], [2.0], [5.0]]
    """

    variances: Array
    awaited: GrowingTable
    _V: GrowingTable

    def __init__(
        self,
        dim: int,
        sample: EvenSample,
        points: Array | None = None,
        V: Array = NO_ROWS,
        W: Array = NO_ROWS,
        variances: Array = NO_VARIANCES,
    ) -> None:
        self.dim = dim
        self._sample = sample
        self._points = GrowingTable(dim, points)
        self.know(V, W, variances)

    @property
    def most(self) -> int:
        """How many are kept at most."""
        return self._sample.most

    @property
    def seen(self) -> int:
        """How many arrivals were counted."""
        return self._sample.seen

    @property
    def size(self) -> int:
        """How many are kept."""
        return self._sample.size

    @property
    def points(self) -> Array:
        """The arrivals kept, a row each."""
        return self._points.all

    @property
    def V(self) -> Array:
        """Their features."""
        return self._V.all

    @property
    def W(self) -> Array:
        """Their covariances with the awaited labels' points."""
        return self.awaited.all

    # -- arrivals --------------------------------------------------------------------------------

    def admits(self) -> bool:
        """Count an arrival, and say whether it is to be added."""
        return self._sample.admits()

    def skip(self) -> None:
        """Count an arrival whose content is gone."""
        self._sample.seen += 1

    def add(self, x: Array, v: Array, w: Array, variance: float) -> None:
        """Keep the arrival that was just admitted, and drop half if there are too many now."""
        self._points.append(x)
        self._V.append(v)
        self.awaited.widen(w)
        self.variances = np.append(self.variances, variance)
        stay = self._sample.add()
        if len(stay) < len(self.variances):
            self._points = GrowingTable(self.dim, self.points[stay])
            self._V = GrowingTable(self.V.shape[1], self.V[stay])
            self.awaited = GrowingTable(len(stay), self.W[:, stay])
            self.variances = self.variances[stay]

    def fade(self, left: float, amplitude: float, now: float) -> None:
        """A round passed: what labels say about the arrivals kept fades by this factor."""
        self.points[:, -1] = now
        self.V[:] *= left
        self.W[:] *= left
        self.variances = amplitude - left * left * (amplitude - self.variances)

    # -- labels ----------------------------------------------------------------------------------

    def ask(self, reach: Array, variance: float) -> None:
        """A label is asked for whose point has this covariance with those kept, and itself this variance."""
        self.variances = np.maximum(self.variances - reach * reach / variance, 0.0)

    def wait(self, covariance: Array) -> None:
        """A label is awaited; `covariance` is given the labels told."""
        self.awaited.append(covariance)

    def tell(self, j: int, pivot: float, lean: Array) -> None:
        """Awaited label j came; `lean` is what the other awaited ones lean on it, in their order."""
        column = self.W[j] / pivot
        self.awaited.remove(j)
        self.W[:] -= np.multiply.outer(lean, column)
        self.learn(column)

    def learn(self, column: Array) -> None:
        """One more feature."""
        self._V.widen(column)

    def know(self, V: Array, W: Array, variances: Array) -> None:
        """Take up what a solver knows of the points kept."""
        self._V, self.awaited = GrowingTable(V.shape[1], V), GrowingTable(self.size, W)
        self.variances = variances.copy()

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; floats as their bytes."""
        return {
            **self._sample.plain(),
            "points": self.points.tobytes(),
            "V": [self._V.width, self.V.tobytes()],
            "W": [self.awaited.size, self.W.tobytes()],
            "variances": self.variances.tobytes(),
        }

    @classmethod
    def of(cls, dim: int, state: dict[str, Any]) -> "Reservoir":
        """The reservoir that `state` wrote; raises where its parts do not fit together."""
        (features, V), (awaited, W) = state["V"], state["W"]
        sample = EvenSample.of(state)
        size = sample.size
        return cls(
            dim,
            sample,
            floats(state["points"], size, dim),
            floats(V, size, features),
            floats(W, awaited, size),
            floats(state["variances"], size),
        )


class FadingSaving(Saving, frozen=True, kw_only=True, gc=False):
    """What a label saves where all that labels say fades: covariances by 2^(−k/h), k rounds from now.

    Of an arrival's variance s² the labels explain A − s² now and ω·(A − s²) in k rounds, with ω = 4^(−k/h),
    and this label would explain ω·c²/(s² + σ²) more. The sum over the arrivals to come takes each k by itself
    up to 8, and the others by Gauss quadrature.
    """

    variances: Array  # s² at the arrivals to come, the point itself among them
    explained: Array  # c²/(s² + σ²) there
    amplitude: float
    noise_variance: float  # of labels, that of the process
    unit: float = theory.EXPECTED_ERROR  # of an error, over the std

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off the errors of all arrivals `left`, with what it teaches or without."""
        shares, counts = faded_rounds(left, self.half_life)
        variances = self.amplitude - np.multiply.outer(shares, self.amplitude - self.variances)
        if labels:
            variances += self.noise_variance
        drops = std_drop(variances, np.multiply.outer(shares, self.explained)).mean(axis=1)
        later = self.unit * float(counts @ drops)
        return later + self.lesson * float(counts @ shares) if lessons else later


def faded_rounds(left: int, half_life: float) -> tuple[Array, Array]:
    """A few values of ω = 4^(−k/h), and for how many of the rounds k = 1 … `left` each stands.

    >>> shares, counts = faded_rounds(1000, half_life=100.0)
    >>> exact = np.sqrt(2.0 - 4.0 ** (-np.arange(1, 1001) / 100.0)) - np.sqrt(2.0)
    >>> round(float(counts @ (np.sqrt(2.0 - shares) - np.sqrt(2.0)) / exact.sum()), 4)
    1.0
    """
    fading = log(4.0) / half_life
    first = np.arange(1.0, min(left, EXACT_ROUNDS) + 1.0)
    shares = np.exp(-fading * first)
    if left <= EXACT_ROUNDS:
        return shares, np.ones(len(first))
    # the integral over k from 8½ to left + ½, of a function of ω that may rise like a root towards ω = 1
    most = exp(-fading * (EXACT_ROUNDS + 0.5))
    apart = -most * expm1(-fading * (left - EXACT_ROUNDS))
    nodes, weights = _quadrature()
    at = most - apart * nodes * nodes
    counts = 2.0 * apart * nodes * weights / (fading * at)
    return np.concatenate([shares, at]), np.concatenate([np.ones(len(first)), counts])


@cache
def _quadrature() -> tuple[Array, Array]:
    """Gauss's points and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_POINTS)
    return 0.5 + 0.5 * nodes, 0.5 * weights


def saving(
    variance: float,
    reach: Array,
    variances: Array,
    noise_variance: float,
    lesson: float,
    amplitude: float,
    half_life: float | None,
    unit: float = theory.EXPECTED_ERROR,
) -> Saving:
    """The saving of a label at a point of this variance, with these covariances to arrivals to come.

    The point itself stands for arrivals to come, too. `lesson` is the share of their errors that goes by what
    the label teaches, and `unit` the expected error over the std.
    """
    spread = variance + noise_variance
    here = unit * _drop_of_one(variance, variance * variance / spread)
    there = unit * float(np.sum(std_drop(variances, reach * reach / spread)))
    errors = unit * (float(np.sqrt(variances).sum()) + sqrt(variance))
    count = len(variances) + 1
    outright = unit * sqrt(spread)
    later, taught = (there + here) / count, lesson * errors / count
    if half_life is None:
        drops = std_drop(variances + noise_variance, reach * reach / spread)
        own = _drop_of_one(spread, variance * variance / spread)
        against_labels = unit * (float(np.sum(drops)) + own) / count
        return Saving(here, later, taught, outright=outright, later_labels=against_labels)
    return FadingSaving(
        here,
        later,
        taught,
        half_life,
        outright,
        variances=np.append(variances, variance),
        explained=np.append(reach, variance) ** 2 / spread,
        amplitude=amplitude,
        noise_variance=noise_variance,
        unit=unit,
    )


def lesson_share(parameters: float, labels: int) -> float:
    """What one more label takes off that share of an error which comes from estimating the parameters.

    >>> lesson_share(parameters=4, labels=4)
    0.1
    """
    return parameters / (2.0 * labels * (labels + 1))


def std_drop(variance: Array, gone: Array) -> Array:
    """How much each std falls when this much of its variance goes."""
    before = np.sqrt(variance)
    after = np.sqrt(np.maximum(variance - gone, 0.0))
    both = before + after
    drop: Array = np.divide(np.minimum(gone, variance), both, out=np.zeros_like(both), where=both > 0.0)
    return drop


def _drop_of_one(variance: float, gone: float) -> float:
    """The same for one std, without NumPy, which takes ten times as long for a single number."""
    both = sqrt(variance) + sqrt(max(variance - gone, 0.0))
    return min(gone, variance) / both if both > 0.0 else 0.0
