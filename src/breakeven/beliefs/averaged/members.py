"""The members of an averaged belief: what each takes f and the noise to be like, and their kernels.

A member is a kernel of amplitude about 1, a noise variance relative to that amplitude, and the axes it
measures along. Points are standardised first: every feature by its mean and spread over the arrivals seen,
so that lengths mean the same for all data. Notation: r² = Σ_j (a_j − b_j)² / (2·D·m_j²), with D the number of
features that vary and m_j how long axis j is taken to be: two arrivals are about 1 apart. The last axis is
time, the number of an arrival. It is endless, so that time does not matter, but for members of a moving
world.
"""

from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from breakeven.errors.expect import Array

Profile = Literal["none", "matern", "gauss", "additive"]

NOISES = (0.01, 0.1, 0.5, 2.0)  # noise variance over the amplitude of f
AMPLITUDES = (0.1, 0.5, 2.5, 12.0)  # of f, over the variance of labels: where the noise is known
PAIRS = 100_000  # of points, times features, that are computed together
ALONE = 0.6  # share of an additive kernel in which every feature acts by itself
NULL_PRIOR = 0.25  # that the features say nothing
ALIKE, SHAPED, MOVING = 0, 1, 2  # axes: all alike; as fitted; as fitted with time among them
MOVING_ODDS = 0.2  # that the world moves, beside one that does not


class Shape(NamedTuple):
    """How f varies: a profile of a length, and the share of a linear trend in it."""

    profile: Profile
    length: float
    linear: float


NULL = Shape("none", 1.0, 0.0)
SHAPES: tuple[Shape, ...] = (
    NULL,
    *(Shape("matern", length, share) for length in (0.3, 0.6, 1.2, 2.5) for share in (0.0, 0.5, 0.9)),
    *(Shape("gauss", length, share) for length in (0.4, 0.8, 1.6) for share in (0.0, 0.5)),
    *(Shape("additive", length, share) for length in (0.6, 1.5) for share in (0.0, 0.5)),
    Shape("none", 1.0, 1.0),
)


class Member(NamedTuple):
    """Indices of a shape, of the axes (alike, shaped or moving) and of a noise, or of an amplitude."""

    shape: int
    axes: int
    noise: int


NULL_MEMBER = Member(0, 0, 2)  # without a kernel any noise ratio says the same


def all_members(families: int) -> list[Member]:
    """Every member there can be; of `families` there is 1, or 2 where axes were fitted, or 3 with time.

    >>> len(all_members(1)), len(all_members(2)), len(all_members(3))
    (93, 185, 277)
    """
    some = [
        Member(shape, axes, noise)
        for axes in range(families)
        for shape in range(1, len(SHAPES))
        for noise in range(len(NOISES))
    ]
    return [NULL_MEMBER, *some]


def log_prior(member: Member) -> float:
    """How likely a member is before any label: a quarter for none of the features, else all alike.

    That the world moves is a fifth as likely.
    """
    others = (len(SHAPES) - 1) * len(NOISES)
    odds = MOVING_ODDS if member.axes == MOVING else 1.0
    return float(np.log(NULL_PRIOR if member.shape == 0 else odds * (1.0 - NULL_PRIOR) / others))


class Frame(NamedTuple):
    """What points are measured in: centres, scales and how much each feature then varies; and the axes.

    A feature that takes only the values 0 and 1 keeps its scale, so that a column of text with many levels
    counts for about one feature. A feature that never varied has the scale ∞ and says nothing. The last
    column of each is time.
    """

    centre: Array
    scale: Array
    variation: Array  # variance of each feature over the arrivals seen, in this scale
    axes: Array  # m_j, a row for each family of axes

    @property
    def features(self) -> float:
        """How many features vary; columns of zeros and ones count for less, and time for nothing."""
        return float(self.variation[:-1].sum())

    def place(self, X: Array) -> Array:
        """Points in this frame."""
        placed: Array = (X - self.centre) / self.scale
        return placed


class Kernels:
    """The kernels of some members, evaluated together: what they have in common is computed once."""

    def __init__(self, members: list[Member], frame: Frame) -> None:
        features = max(frame.features, 1e-12)
        inverse = frame.axes**-2.0
        self._apart = inverse / (2.0 * features)  # weights of squared differences, by family
        along = inverse * frame.variation
        self._along = along / np.maximum(along.sum(axis=1, keepdims=True), 1e-300)  # shares of features
        self._trend = inverse / np.maximum(along.sum(axis=1, keepdims=True), 1e-300)
        shapes = [SHAPES[member.shape] for member in members]
        self.noise = np.array([NOISES[member.noise] for member in members])
        self._families = sorted({member.axes for member in members})
        family = {axes: i for i, axes in enumerate(self._families)}
        wanted = {(shape.profile, m.axes, shape.length) for shape, m in zip(shapes, members, strict=True)}
        matern = sorted(one for one in wanted if one[0] == "matern")
        gauss = sorted(one for one in wanted if one[0] == "gauss")
        self._additive = sorted(one for one in wanted if one[0] == "additive")
        order = [*matern, *self._additive, *gauss]
        place = {key: i for i, key in enumerate(order)}
        none = len(order)
        keys = [(shape.profile, m.axes, shape.length) for shape, m in zip(shapes, members, strict=True)]
        self._profile = np.array([place.get(key, none) for key in keys])
        self._family = np.array([family[member.axes] for member in members])
        self._linear = np.array([[shape.linear] for shape in shapes])
        self._smooth = 1.0 - self._linear
        self._level = np.where(self._profile[:, None] == none, 0.0, self._smooth)  # k(x, x) without trend
        near = [(axes, length if profile == "matern" else 2.0 * length) for profile, axes, length in order]
        near = near[: len(order) - len(gauss)]
        self._near_of = [family[axes] for axes, _ in near]
        self._near_by = np.array([sqrt(5.0) / length for _, length in near])[:, None]
        self._gauss_of = [family[axes] for _, axes, _ in gauss]
        self._gauss_by = np.array([-0.5 / length**2 for _, _, length in gauss])[:, None]
        self._alone_of = [axes for _, axes, _ in self._additive]
        reach = sqrt(2.0 / 5.0) * frame.axes
        self._alone_by = np.array([1.0 / (length * reach[axes]) for _, axes, length in self._additive])
        self._alone_by = self._alone_by.reshape(-1, 1, frame.axes.shape[1])

    def column(self, points: Array, x: Array) -> Array:
        """k between placed points, a row each, and one: a row for each member."""
        return self._pairs(points - x, points, x[None])

    def _pairs(self, apart: Array, points: Array, others: Array) -> Array:
        """k of pairs of placed points, a row each, `apart` from each other: a row for each member."""
        apart *= apart
        squares = np.array([np.einsum("nd,d->n", apart, self._apart[axes]) for axes in self._families])
        near, gauss = len(self._near_of), len(self._gauss_of)
        profiles = np.empty((near + gauss + 1, len(apart)))
        profiles[:near] = _matern(np.sqrt(squares[self._near_of]) * self._near_by)
        np.exp(squares[self._gauss_of] * self._gauss_by, out=profiles[near : near + gauss])
        profiles[-1] = 0.0
        if self._additive:
            steps = _matern(np.sqrt(apart) * self._alone_by)
            together = profiles[near - len(steps) : near]
            together *= 1.0 - ALONE
            for one, step, axes in zip(together, steps, self._alone_of, strict=True):
                one += ALONE * np.einsum("nd,d->n", step, self._along[axes])
        kernels: Array = profiles[self._profile]
        kernels *= self._smooth
        trends = [np.einsum("nd,d->n", points * others, self._trend[axes]) for axes in self._families]
        kernels += self._linear * np.array(trends)[self._family]
        return kernels

    def own(self, points: Array) -> Array:
        """k of each placed point with itself: a row for each member."""
        squares = points * points
        trends = np.array([np.einsum("nd,d->n", squares, self._trend[axes]) for axes in self._families])
        own: Array = self._level + self._linear * trends[self._family]
        return own

    def between(self, points: Array, others: Array) -> Array:
        """k between two sets of placed points: members × points × others."""
        count, dim = points.shape
        found: Array = np.empty((len(self.noise), count, len(others)))
        few = max(1, PAIRS // max(count * dim, 1))
        for start in range(0, len(others), few):
            some = others[start : start + few]
            apart = (points[:, None] - some).reshape(-1, dim)
            pairs = self._pairs(apart, np.repeat(points, len(some), axis=0), np.tile(some, (count, 1)))
            found[:, :, start : start + few] = pairs.reshape(len(self.noise), count, len(some))
        return found


def _matern(q: Array) -> Array:
    """The Matérn correlation of order 5/2 at √5 times a distance."""
    correlation: Array = (1.0 + q + q * q / 3.0) * np.exp(-q)
    return correlation
