"""What points are measured in: the centre and spread of every feature, and ranks of those that lie far out.

Every feature is taken by its mean and spread over the arrivals seen. The last number of a point is time, the
number of its arrival. Of a feature some of whose values lie far out (money, counts, durations) nobody knows
whether it acts by its size or by its order of magnitude, so it is measured by its ranks as well: these stand
behind the features, before time, and each row of axes goes along the one or the other. Neither is placed
further out than 1,000 spreads, whatever comes after a fit.
"""

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from breakeven.beliefs.gp.factor import floats
from breakeven.errors.expect import LARGEST, Array

ALIKE, SHAPED, MOVING, RANKED = range(4)  # axes: alike; fitted; fitted with time; alike, along ranks
USUAL_KURTOSIS, CHANCE = 3.0, 3.0  # of a normal, and so many standard errors of it
FEWEST_KNOTS, KNOTS = 3, 25  # values at which the ranks of a feature are kept
LEAST_STEP = 1e-9  # between two of these, of all that lies between the first and the last
FARTHEST = 1e3  # spreads from the centre: what lies further out would drown all else in rounding


class Ranks(NamedTuple):
    """The ranks of a feature, as normal scores at some of its values.

    Between these it is a line, and beyond them goes on as the last two do.

    >>> ranks = Ranks.among(0, np.array([1.0, 10.0, 100.0, 1000.0]))
    >>> ranks.scores_of(np.array([1.0, 55.0, 1000.0])).round(2).tolist()
    [-1.15, 0.0, 1.15]
    """

    column: int
    values: Array
    scores: Array

    @staticmethod
    def among(column: int, x: Array) -> "Ranks":
        """Those of a feature which takes these values."""
        from scipy.special import ndtri  # slow to import

        values, counts = np.unique(x, return_counts=True)
        scores = ndtri((np.cumsum(counts) - counts / 2.0) / len(x))
        if len(values) > KNOTS:
            even = np.linspace(scores[0], scores[-1], KNOTS)
            values, first = np.unique(np.interp(even, scores, values), return_index=True)
            scores = even[first]
        return Ranks(column, values, scores)

    def scores_of(self, x: Array) -> Array:
        """The scores of these values."""
        v, z = self.values, self.scores
        least = max(LEAST_STEP * (v[-1] - v[0]), 1e-300)
        first, last = (z[1] - z[0]) / max(v[1] - v[0], least), (z[-1] - z[-2]) / max(v[-1] - v[-2], least)
        below, above = np.minimum(x - v[0], 0.0), np.maximum(x - v[-1], 0.0)
        with np.errstate(over="ignore"):
            scores: Array = np.interp(x, v, z) + first * below + last * above
        return scores

    def plain(self) -> list[Any]:
        """As plain data."""
        return [self.column, self.values.tolist(), self.scores.tolist()]

    @staticmethod
    def of(plain: Any, dim: int) -> "Ranks":
        """What `plain` wrote; raises where its parts do not fit together."""
        column, values, scores = plain
        both = np.array([values, scores], dtype=float)
        sound = type(column) is int and 0 <= column < dim and both.ndim == 2
        sound = sound and FEWEST_KNOTS <= both.shape[1] <= KNOTS and bool((np.abs(both) <= LARGEST).all())
        if not (sound and (np.diff(both) > 0.0).all()):
            raise ValueError("expected the ranks of a feature")
        return Ranks(column, *both)


class Frame(NamedTuple):
    """Centres, scales and how much each feature then varies; the axes; and ranks.

    A feature that takes only the values 0 and 1 keeps its scale, so that a column of text with many levels
    counts for about one feature. A feature that never varied has the scale ∞ and says nothing. The last
    column of each is time.
    """

    centre: Array
    scale: Array
    variation: Array  # variance of each feature over the arrivals seen, in this scale
    axes: Array  # m_j of a placed point, a row for each family of axes: ∞ where it does not matter
    spent: tuple[float, ...] = (0.0,)  # degrees of freedom that finding each row took
    ranks: tuple[Ranks, ...] = ()

    @property
    def features(self) -> float:
        """How many features vary; columns of zeros and ones count for less, and time for nothing."""
        return float(self.variation[:-1].sum())

    @property
    def variations(self) -> Array:
        """How much each number of a placed point varies."""
        return np.concatenate([self.variation[:-1], np.ones(len(self.ranks)), self.variation[-1:]])

    def place(self, X: Array) -> Array:
        """Points in this frame: features and ranks, within 1,000 spreads, and time."""
        placed: Array = (X - self.centre) / self.scale
        if self.ranks:
            ranked = [one.scores_of(X[..., one.column])[..., None] for one in self.ranks]
            placed = np.concatenate([placed[..., :-1], *ranked, placed[..., -1:]], axis=-1)
        bounded = placed[..., :-1]
        np.minimum(bounded, FARTHEST, out=bounded)
        np.maximum(bounded, -FARTHEST, out=bounded)
        return placed

    def seen(self, placed: Array, *, ranked: bool) -> Array:
        """Placed points as features and time alone; `ranked`, with ranks in place of what they rank."""
        chosen = list(range(len(self.centre) - 1))
        if ranked:
            for place, one in enumerate(self.ranks, start=len(chosen)):
                chosen[one.column] = place
        return placed[:, [*chosen, -1]]

    def along(self, axes: Array, *, ranked: bool = False) -> Array:
        """Axes of features and time as a row for placed points; `ranked`, along ranks where there are any."""
        row = np.concatenate([axes[:-1], np.full(len(self.ranks), inf), axes[-1:]])
        if ranked:
            for place, one in enumerate(self.ranks, start=len(axes) - 1):
                row[place], row[one.column] = row[one.column], inf
        return row

    def by_feature(self, row: Array) -> Array:
        """The axes of features and time that such a row was made of."""
        axes = np.append(row[: len(self.centre) - 1], row[-1])
        for place, one in enumerate(self.ranks, start=len(axes) - 1):
            axes[one.column] = min(axes[one.column], row[place])
        return axes

    @property
    def fitted_axes(self) -> list[float] | None:
        """The axes that were fitted, one for each feature, if any were."""
        if len(self.axes) <= SHAPED or np.array_equal(self.axes[SHAPED], self.axes[ALIKE]):
            return None
        axes: list[float] = self.by_feature(self.axes[SHAPED])[:-1].tolist()
        return axes


class Moments:
    """Mean and variance of each feature over the points seen, and which take only the values 0 and 1."""

    def __init__(self, dim: int) -> None:
        self.count = 0
        self.mean, self.squares = np.zeros(dim), np.zeros(dim)
        self.truths = np.ones(dim, dtype=bool)
        self._any_truths = True

    def add(self, point: Array) -> None:
        """One more point."""
        self.count += 1
        apart = point - self.mean
        self.mean = self.mean + apart / self.count
        self.squares = self.squares + apart * (point - self.mean)
        if self._any_truths:
            self.truths = self.truths & ((point == 0.0) | (point == 1.0))
            self._any_truths = bool(self.truths.any())

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "count": self.count,
            "mean": self.mean.tobytes(),
            "squares": self.squares.tobytes(),
            "truths": self.truths.tolist(),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Take up, before any point, what `plain` wrote; raises where its parts do not fit together."""
        count, truths, sums, dim = (
            data["count"],
            data["truths"],
            data["mean"] + data["squares"],
            len(self.mean),
        )
        if type(count) is not int or count < 0 or (len(truths), len(sums)) != (dim, 16 * dim):
            raise ValueError("expected the moments of every feature")
        if count:
            self.count, self.truths = count, np.array(truths, dtype=bool)
            self._any_truths = bool(self.truths.any())
            self.mean, self.squares = floats(sums, 2, dim)

    @staticmethod
    def of(data: dict[str, Any], dim: int) -> "Moments":
        """The moments that `plain` wrote."""
        moments = Moments(dim)
        moments.load(data)
        return moments

    def frame(self, clock: int, sample: Array | None = None) -> Frame:
        """What points are measured in, as far as these show it; `clock` arrivals came before.

        Ranks are those in a `sample` of the points.
        """
        variance = self.squares / max(self.count, 1)
        std = np.sqrt(variance)
        varies = std > 1e-9 * np.abs(self.mean)
        varies &= std > 0.0
        scale = np.where(varies, np.where(self.truths, 1.0, std), np.inf)
        variation = np.where(varies, variance / np.where(varies, scale, 1.0) ** 2, 0.0)
        sized = np.flatnonzero(varies & ~self.truths).tolist()
        middle, spread = max(clock - 1, 0) / 2.0, max(clock, 1) / sqrt(12.0)  # of the numbers of arrivals
        return Frame(
            np.append(self.mean, middle),
            np.append(scale, spread),
            np.append(variation, 1.0),
            np.append(np.ones(len(std)), inf)[None],
            ranks=() if sample is None else self._ranks(sample, sized),
        )

    def _ranks(self, sample: Array, columns: list[int]) -> tuple[Ranks, ...]:
        """Those of the features in these columns that lie further out than a normal does by chance."""
        farthest = USUAL_KURTOSIS + CHANCE * sqrt(24.0 / max(len(sample), 1))  # 24/n: the variance of it
        far = [column for column in columns if kurtosis(sample[:, column]) > farthest]
        ranks = (Ranks.among(column, sample[:, column]) for column in far)
        return tuple(one for one in ranks if len(one.values) >= FEWEST_KNOTS)


def kurtosis(x: Array) -> float:
    """The fourth moment over the square of the second, 3 of a normal; 0 where nothing varies."""
    apart = x - x.mean()
    squares = (apart / (float(np.abs(apart).max()) or 1.0)) ** 2
    return float(np.mean(squares * squares)) / max(float(squares.mean()) ** 2, 1e-300)
