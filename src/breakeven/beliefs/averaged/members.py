"""The members of an averaged belief: what each takes f and the noise to be like, and their kernels.

A member is a kernel of amplitude about 1, a noise variance relative to that amplitude, and the axes it
measures along. Points are placed in a `Frame` first, so that lengths mean the same for all data. Notation:
r² = Σ_j (a_j − b_j)² / (2·D·m_j²), with D the number of features that vary and m_j how long axis j is taken
to be: two arrivals are about 1 apart.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from breakeven.beliefs.averaged.frame import ALIKE, MOVING, RANKED, Frame
from breakeven.beliefs.averaged.mixture import Places
from breakeven.beliefs.similarity import Hearing
from breakeven.errors.expect import Array

Profile = Literal["none", "matern", "gauss", "additive"]

NOISES = (0.01, 0.1, 0.5, 2.0)  # noise variance over the amplitude of f
AMPLITUDES = (0.4, 2.0, 10.0, 50.0)  # of f, over the variance of labels: where the noise is known
PAIRS = 60_000  # of points, times kinds of members, that are computed together
MOST_PARTS = 4  # of the members whose kernels are kept
ALONE = 0.6  # share of an additive kernel in which every feature acts by itself
NULL_PRIOR = 0.25  # that the features say nothing
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
    """Indices of a shape, of axes (alike, shaped, moving or ranked) and of a noise, or of an amplitude."""

    shape: int
    axes: int
    noise: int


NULL_MEMBER = Member(0, 0, 2)  # without a kernel any noise ratio says the same


def all_members(families: Sequence[int]) -> list[Member]:
    """Every member there can be with these families of axes.

    >>> len(all_members([ALIKE])), len(all_members([ALIKE, RANKED])), len(all_members(range(4)))
    (93, 185, 369)
    """
    some = [
        Member(shape, axes, noise)
        for axes in families
        for shape in range(1, len(SHAPES))
        for noise in range(len(NOISES))
    ]
    return [NULL_MEMBER, *some]


@cache
def log_prior(member: Member, *, ranked: bool = False) -> float:
    """How likely a member is before any label: a quarter for none of the features, else all alike.

    That the world moves is a fifth as likely. Where features have ranks, axes that are alike are as likely
    along these as without them.
    """
    others = (len(SHAPES) - 1) * len(NOISES)
    odds = MOVING_ODDS if member.axes == MOVING else 1.0
    if ranked and member.axes in (ALIKE, RANKED):
        odds = 0.5
    return float(np.log(NULL_PRIOR if member.shape == 0 else odds * (1.0 - NULL_PRIOR) / others))


class Kernels:
    """The kernels of some members, evaluated together: what they have in common is computed once.

    `between` works pair by pair: what it finds for two points is the same to the last bit, whichever others
    are beside them. All that is kept rests on it. `column` is quick at one point, and for looking only.
    """

    def __init__(self, members: list[Member], frame: Frame) -> None:
        self._members, self._frame = members, frame
        self._parts: dict[bytes, Kernels] = {}
        self.noise = np.array([NOISES[member.noise] for member in members])
        kinds = sorted(
            {(member.shape, member.axes) for member in members}
        )  # members that differ beside noise
        kind = {key: i for i, key in enumerate(kinds)}
        self.kind = np.array([kind[member.shape, member.axes] for member in members])
        families = sorted({axes for _, axes in kinds})
        family = {axes: i for i, axes in enumerate(families)}
        self._axes = frame.axes.shape[1] - (MOVING not in families)  # time is last, and matters only to them
        axes, variation = frame.axes[families, : self._axes], frame.variations[: self._axes]
        inverse = axes**-2.0
        self._apart = inverse / (2.0 * max(frame.features, 1e-12))  # weights of squared differences
        along = inverse * variation
        whole = np.maximum(along.sum(axis=1, keepdims=True), 1e-300)
        self._slopes = inverse / whole
        shapes = [SHAPES[shape] for shape, _ in kinds]
        self._family = np.array([family[axes] for _, axes in kinds])
        keys = [(one.profile, family[axes], one.length) for one, (_, axes) in zip(shapes, kinds, strict=True)]
        matern, additive, gauss = (
            sorted({key for key in keys if key[0] == profile}) for profile in ("matern", "additive", "gauss")
        )
        order = [*matern, *additive, *gauss]
        none = len(order)
        self._profile = np.array([order.index(key) if key in order else none for key in keys])
        self._linear = np.array([[shape.linear] for shape in shapes])
        self._smooth = 1.0 - self._linear
        level = np.where(self._profile[:, None] == none, 0.0, self._smooth)
        self._level = level[self.kind]  # k(x, x) of every member without its trend, and what that adds
        self._steep = (self._linear * self._slopes[self._family])[self.kind]
        self._near_of = [place for _, place, _ in (*matern, *additive)]
        near = [
            length if profile == "matern" else 2.0 * length for profile, _, length in (*matern, *additive)
        ]
        self._near_by = np.array([sqrt(5.0) / length for length in near])[:, None]
        self._gauss_of = [place for _, place, _ in gauss]
        self._gauss_by = np.array([-0.5 / length**2 for _, _, length in gauss])[:, None]
        alone_of = [place for _, place, _ in additive]
        lengths = sqrt(2.0 / 5.0) * np.array([length for _, _, length in additive])[:, None]
        self._alone_by = (1.0 / (lengths * axes[alone_of]))[:, :, None]
        self._alone = ALONE * (along / whole)[alone_of]  # shares of features

    def part(self, which: Places) -> "Kernels":
        """Those of some of the members, which are often the same."""
        key = which.tobytes()
        if key not in self._parts:
            if len(self._parts) >= MOST_PARTS:
                self._parts.clear()
            self._parts[key] = Kernels([self._members[i] for i in which], self._frame)
            self._parts[key].noise = self.noise[which]
        return self._parts[key]

    def features(self, points: Array) -> Array:
        """The features of placed points that matter, a row each."""
        return np.ascontiguousarray(points.T[: self._axes])

    def own(self, points: Array) -> Array:
        """k of each placed point with itself: a row for each member."""
        features = np.ascontiguousarray(points[:, : self._axes])
        own: Array = self._level + np.einsum("md,nd->mn", self._steep, features * features)
        return own

    def at(self, x: Array) -> Array:
        """The same of one placed point."""
        x = x[: self._axes]
        at: Array = self._level[:, 0] + self._steep.dot(x * x)
        return at

    def between(self, points: Array, others: Array) -> Array:
        """k between two sets of placed points: members × points × others."""
        features, those = self.features(points), self.features(others)
        found: Array = np.empty((len(self._family), len(points), len(others)))
        few = max(1, PAIRS // max(len(points) * len(found), 1))
        for start in range(0, len(others), few):
            found[:, :, start : start + few] = self._block(features, those[:, start : start + few])
        of_members: Array = found[self.kind]
        return of_members

    def among(self, points: Array) -> Array:
        """k of placed points with each other: kinds of members × points × points.

        Only on and below the diagonal: what lies above is not filled in, and is as good as anything.
        """
        features, count = self.features(points), len(points)
        found: Array = np.empty((len(self._family), count, count))
        few = max(1, PAIRS // max(count * len(found), 1))
        for start in range(0, count, few):
            block = self._block(features[:, start:], features[:, start : start + few])
            found[:, start:, start : start + few] = block
        return found

    def _block(self, features: Array, others: Array) -> Array:
        """k between points given by their features: kinds × points × others."""
        apart = features[:, :, None] - others[:, None, :]
        products = features[:, :, None] * others[:, None, :]
        pairs = self._pairs(apart.reshape(len(apart), -1), products.reshape(len(apart), -1))
        return pairs.reshape(len(pairs), *apart.shape[1:])

    def _pairs(self, apart: Array, products: Array) -> Array:
        """k of pairs of placed points, by their differences and products: a row for each kind of member."""
        near, gauss = len(self._near_of), len(self._gauss_of)
        profiles = np.empty((near + gauss + 1, apart.shape[1]))
        profiles[-1] = 0.0
        squares = np.einsum("fd,dn->fn", self._apart, apart * apart)
        _matern(np.sqrt(squares)[self._near_of] * -self._near_by, profiles[:near])
        np.exp(squares[self._gauss_of] * self._gauss_by, out=profiles[near : near + gauss])
        if len(self._alone):
            steps = np.abs(apart) * -self._alone_by
            _matern(steps, steps)
            together = profiles[near - len(steps) : near]
            together *= 1.0 - ALONE
            together += np.einsum("ad,adn->an", self._alone, steps)
        kernels: Array = profiles[self._profile]
        kernels *= self._smooth
        kernels += self._linear * np.einsum("fd,dn->fn", self._slopes, products)[self._family]
        return kernels

    def column(self, features: Array, x: Array) -> Array:
        """k between points, given by their `features`, and a placed one: a row for each member.

        A few products of matrices, as each of the many steps of `between` takes longer than its work here.
        """
        powers, shares, steps = self._matrices
        families, x = len(self._apart), x[: self._axes]
        apart = features - x[:, None]
        distances = np.empty((powers.shape[1], apart.shape[1]))
        if len(self._alone):
            np.abs(apart, out=distances[families:-families])
        apart *= apart
        squares = self._apart.dot(apart, out=distances[-families:])
        np.sqrt(squares, out=distances[:families])
        rows = np.empty((shares.shape[1], apart.shape[1]))
        exponents = powers.dot(distances, out=rows[: len(powers)])
        polynomials = _polynomials(rows[:steps])
        np.exp(exponents, out=exponents)
        rows[:steps] *= polynomials
        (self._slopes * x).dot(features, out=rows[len(powers) :])
        column: Array = shares.dot(rows)
        return column

    @cached_property
    def _matrices(self) -> tuple[Array, Array, int]:
        """What `column` multiplies with, to get from distances to exponents and from these to members.

        Distances are those of all features, of each by itself, and squared. Exponents are those of the Matérn
        kernels, of additive ones feature by feature: so many *steps*; and of Gaussians. The last rows to be
        shared out are the trends.
        """
        families, near, alone = len(self._apart), len(self._near_of), len(self._alone)
        features = self._axes if alone else 0
        steps, gauss = near + alone * features, len(self._gauss_of)
        powers = np.zeros((steps + gauss, families + features + families))
        powers[np.arange(near), self._near_of] = -self._near_by[:, 0]
        bells = families + features + np.array(self._gauss_of, dtype=int)
        powers[steps + np.arange(gauss), bells] = self._gauss_by[:, 0]
        profiles = np.zeros((near + gauss + 1, steps + gauss + families))  # the last is 0
        profiles[:near, :near] = np.eye(near)
        profiles[near:-1, steps : steps + gauss] = np.eye(gauss)
        for i in range(alone):
            rows = slice(near + i * features, near + (i + 1) * features)
            powers[rows, families:-families] = np.diag(-self._alone_by[i, :, 0])
            profiles[near - alone + i] *= 1.0 - ALONE
            profiles[near - alone + i, rows] = self._alone[i]
        shares = self._smooth * profiles[self._profile]
        shares[np.arange(len(shares)), steps + gauss + self._family] = self._linear[:, 0]
        return powers, shares[self.kind], steps


def axis_hearing(frame: Frame, members: Sequence[Member], weights: Array) -> Hearing:
    """What an average listens to: the shares of features and of time, over members of these weights.

    With v_j how much a feature varies, its share in a member is v_j/m_j² over the sum of these. A linear
    trend has the same shares. The constant listens to nothing.
    """
    along = np.array([frame.by_feature(row) for row in frame.axes]) ** -2.0 * frame.variation
    along = along / np.maximum(along.sum(axis=1, keepdims=True), 1e-300)
    by_family = np.zeros(len(frame.axes))
    for member, weight in zip(members, weights.tolist(), strict=True):
        if member.shape:
            by_family[member.axes] += weight
    shares = by_family @ along / float(weights.sum())
    varies = frame.variation[:-1] > 0.0
    spreads = np.where(varies, frame.scale[:-1], 0.0) * np.sqrt(frame.variation[:-1])
    return Hearing.of(shares[:-1], spreads, float(shares[-1]))


def _matern(exponents: Array, out: Array) -> None:
    """The Matérn correlation of order 5/2 at −√5 times a distance, which may be written over."""
    polynomials = _polynomials(exponents)
    np.exp(exponents, out=out)
    out *= polynomials


def _polynomials(exponents: Array) -> Array:
    """1 + q + q²/3 at −q."""
    polynomials = exponents / 3.0
    polynomials -= 1.0
    polynomials *= exponents
    polynomials += 1.0
    return polynomials
