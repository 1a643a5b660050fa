"""The members of an averaged belief: what each takes f and the noise to be like, and their kernels.

A member is a kernel of amplitude about 1, a noise variance relative to that amplitude, and the axes it
measures along. Points are standardised first: every feature by its mean and spread over the arrivals seen,
so that lengths mean the same for all data. Notation: r² = Σ_j (a_j − b_j)² / (2·D·m_j²), with D the number of
features that vary and m_j how long axis j is taken to be: two arrivals are about 1 apart.
"""

from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from breakeven.errors.expect import Array

Profile = Literal["none", "matern", "gauss", "additive"]

NOISES = (0.01, 0.1, 0.5, 2.0)  # noise variance over the amplitude of f
AMPLITUDES = (0.1, 0.5, 2.5, 12.0)  # of f, over the variance of labels: where the noise is known
ALONE = 0.6  # share of an additive kernel in which every feature acts by itself
NULL_PRIOR = 0.25  # that the features say nothing


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
    """Indices of a shape, of the axes (0: all alike, 1: as fitted) and of a noise, or of an amplitude."""

    shape: int
    axes: int
    noise: int


NULL_MEMBER = Member(0, 0, 2)  # without a kernel any noise ratio says the same


def all_members(families: int) -> list[Member]:
    """Every member there can be; `families` is 2 where axes were fitted, else 1.

    >>> len(all_members(1)), len(all_members(2))
    (93, 185)
    """
    some = [
        Member(shape, axes, noise)
        for axes in range(families)
        for shape in range(1, len(SHAPES))
        for noise in range(len(NOISES))
    ]
    return [NULL_MEMBER, *some]


def log_prior(member: Member) -> float:
    """How likely a member is before any label: a quarter for none of the features, else all alike."""
    others = (len(SHAPES) - 1) * len(NOISES)
    return float(np.log(NULL_PRIOR if member.shape == 0 else (1.0 - NULL_PRIOR) / others))


class Frame(NamedTuple):
    """What points are measured in: centres, scales and how much each feature then varies; and the axes.

    A feature that takes only the values 0 and 1 keeps its scale, so that a column of text with many levels
    counts for about one feature. A feature that never varied has the scale ∞ and says nothing.
    """

    centre: Array
    scale: Array
    variation: Array  # variance of each feature over the arrivals seen, in this scale
    axes: Array  # m_j, a row for each family of axes

    def place(self, X: Array) -> Array:
        """Points in this frame."""
        placed: Array = (X - self.centre) / self.scale
        return placed


class Kernels:
    """The kernels of some members, evaluated together: what they have in common is computed once."""

    def __init__(self, members: list[Member], frame: Frame) -> None:
        features = max(float(frame.variation.sum()), 1e-12)
        inverse = frame.axes**-2.0
        self._apart = inverse / (2.0 * features)  # weights of squared differences, by family
        along = inverse * frame.variation
        self._along = along / np.maximum(along.sum(axis=1, keepdims=True), 1e-300)  # shares of features
        self._trend = inverse / np.maximum(along.sum(axis=1, keepdims=True), 1e-300)
        self._reach = sqrt(2.0) * frame.axes
        shapes = [SHAPES[member.shape] for member in members]
        self.noise = np.array([NOISES[member.noise] for member in members])
        self._families = sorted({member.axes for member in members})
        family = {axes: i for i, axes in enumerate(self._families)}
        wanted = {(shape.profile, m.axes, shape.length) for shape, m in zip(shapes, members, strict=True)}
        self._matern = sorted(one for one in wanted if one[0] == "matern")
        self._gauss = sorted(one for one in wanted if one[0] == "gauss")
        self._additive = sorted(one for one in wanted if one[0] == "additive")
        order = [*self._matern, *self._gauss, *self._additive]
        place = {key: i for i, key in enumerate(order)}
        none = len(order)
        keys = [(shape.profile, m.axes, shape.length) for shape, m in zip(shapes, members, strict=True)]
        self._profile = np.array([place.get(key, none) for key in keys])
        self._family = np.array([family[member.axes] for member in members])
        self._linear = np.array([[shape.linear] for shape in shapes])
        self._smooth = 1.0 - self._linear
        self._level = np.where(self._profile[:, None] == none, 0.0, self._smooth)  # k(x, x) without trend
        self._profiles = none + 1
        self._matern_of = [family[axes] for _, axes, _ in self._matern]
        self._matern_by = np.array([[sqrt(5.0) / length] for _, _, length in self._matern])
        self._gauss_of = [family[axes] for _, axes, _ in self._gauss]
        self._gauss_by = np.array([[-0.5 / length**2] for _, _, length in self._gauss])

    def column(self, points: Array, x: Array) -> Array:
        """k between placed points, a row each, and one: a row for each member."""
        apart = points - x
        apart *= apart
        squares = np.array([np.einsum("nd,d->n", apart, self._apart[axes]) for axes in self._families])
        profiles = np.zeros((self._profiles, len(points)))
        here = 0
        if self._matern:
            here = len(self._matern)
            profiles[:here] = _matern(np.sqrt(squares[self._matern_of]) * self._matern_by)
        if self._gauss:
            np.exp(squares[self._gauss_of] * self._gauss_by, out=profiles[here : here + len(self._gauss)])
            here += len(self._gauss)
        for i, (_, axes, length) in enumerate(self._additive, start=here):
            steps = _matern(np.sqrt(apart) * (sqrt(5.0) / (length * self._reach[axes])))
            alone = np.einsum("nd,d->n", steps, self._along[axes])
            together = _matern(np.sqrt(squares[self._families.index(axes)]) * (sqrt(5.0) / (2.0 * length)))
            profiles[i] = ALONE * alone + (1.0 - ALONE) * together
        trends = np.array([np.einsum("nd,d->n", points, x * self._trend[axes]) for axes in self._families])
        kernels: Array = profiles[self._profile]
        kernels *= self._smooth
        kernels += self._linear * trends[self._family]
        return kernels

    def own(self, points: Array) -> Array:
        """k of each placed point with itself: a row for each member."""
        squares = points * points
        trends = np.array([np.einsum("nd,d->n", squares, self._trend[axes]) for axes in self._families])
        own: Array = self._level + self._linear * trends[self._family]
        return own

    def between(self, points: Array, others: Array) -> Array:
        """k between two sets of placed points: members × points × others."""
        if not len(others):
            return np.zeros((len(self.noise), len(points), 0))
        return np.stack([self.column(points, x) for x in others], axis=2)


def _matern(q: Array) -> Array:
    """The Matérn correlation of order 5/2 at √5 times a distance."""
    correlation: Array = (1.0 + q + q * q / 3.0) * np.exp(-q)
    return correlation
