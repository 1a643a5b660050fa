"""What every member makes of the labels, in stacked arrays, and how far each member is to be believed.

Notation: K the covariance of the labels over the amplitude s², noise included; 1 a row of ones; w = K⁻¹1 and
H = 1·w for the flat prior of the mean; P = K⁻¹ − ww′/H. Labels come as two targets z: as they are, and
through asinh, which tames skewed labels and outliers; each member looks at both. Given z, the mean at x is
β + k·Pz, with β = w·z/H, and its variance s²·(k(x, x) − k·K⁻¹k + (1 − w·k)²/H); s² itself is unknown, and
with p(s²) ∝ 1/s² everything is a Student t of ν = n − 1 degrees with ŝ² = z·Pz/ν; axes that were fitted to
the same labels take further degrees of freedom.

A member is believed by its leave-one-out errors, in the label's own units: the label i is missed by
z_i − ẑ_i = (Pz)_i / P_ii without it. The weight is prior · (mean |error|)^(−0.4·n), where two more errors as
large as those of a constant keep a member from winning by luck at a few labels.

Where the noise is known, a member says the amplitude s² instead, everything is normal, labels are taken only
as they are, and a member is believed by its evidence: log Z = −½ (log|K| + log H + z·Pz/s² + (n−1) log s²).
"""

from copy import copy
from math import inf, log, pi
from typing import Any, NamedTuple

import numpy as np

from breakeven.beliefs.averaged.members import (
    AMPLITUDES,
    MOVING,
    NOISES,
    SHAPES,
    Frame,
    Kernels,
    Member,
    log_prior,
)
from breakeven.beliefs.averaged.mixture import Places
from breakeven.beliefs.gp import blas
from breakeven.errors.expect import Array

PLAIN, TAMED = 0, 1  # the two targets
BEYOND = 1.0  # how far tamed targets are believed beyond those seen: e times as far out, in label units
TAMED_FROM = 5  # labels: fewer do not tell an outlier from the others
FEWEST_DEGREES = 2.0  # a Student t of fewer has no expected error to speak of
LUCK = 2.0  # errors of a constant that are added to those of every member
TEMPER = 0.4  # of the exponent of a mean error in a weight: left-out errors are not independent
ABOVE_ZERO = 1e-300
LEAST_OWN_NOISE = 1e-6  # of a label, over the amplitude of f: less is lost in the rounding of an inverse
FACTORED = 100_000  # entries of covariances that are factored together
HALVED_FROM = 200  # labels from which reading only half of an inverse is faster
ROOM = 16  # labels for which room is made at once
LEANT_TOGETHER = 20_000  # entries of inverses that change together: more leave the cache
LEAST_SCALE = 0.5  # of a part of the labels, over that of all: a few that happen to be equal prove nothing
SCALE_RANGE = 2.0 * log(100.0)  # the range of log s² before any label, where one world is weighed against two


class LabelScale(NamedTuple):
    """Where labels lie: their median, their std, and the median distance from the median.

    >>> scale = LabelScale.of(np.array([1.0, 2.0, 3.0, 1000.0]))
    >>> scale.centre, scale.spread
    (2.5, 1.0)
    """

    centre: float
    std: float
    spread: float
    farthest: float  # of tamed targets: beyond it nothing is claimed

    @staticmethod
    def of(y: Array) -> "LabelScale":
        """The scale of these labels; 1 where they are all equal."""
        centre = _median(y)
        apart = np.abs(y - centre)
        spread = _median(apart) or float(apart.mean()) or 1.0
        farthest = float(np.arcsinh(apart.max() / spread)) + BEYOND
        return LabelScale(centre, float(y.std()) or 1.0, spread, farthest)

    def targets(self, y: Array) -> Array:
        """Both targets of labels: a row each."""
        apart = y - self.centre
        return np.array([apart / self.std, np.arcsinh(apart / self.spread)])

    def tamed(self, z: Array) -> Array:
        """Labels whose tamed targets these are."""
        labels: Array = self.centre + self.spread * np.sinh(
            np.minimum(np.maximum(z, -self.farthest), self.farthest)
        )
        return labels


def _median(y: Array) -> float:
    """The median, as NumPy's own finds it, and far quicker for a few numbers."""
    middle, odd = divmod(len(y), 2)
    ordered = np.sort(y)
    return float(ordered[middle] if odd else (ordered[middle - 1] + ordered[middle]) / 2.0)


class KnownNoise(NamedTuple):
    """A noise that is known, and the std of the labels at the last fit, which amplitudes count in."""

    noise_std: float
    label_std: float

    def amplitudes(self, members: list[Member]) -> Array:
        """The std of f that each member assumes, in label units."""
        amplitudes: Array = self.label_std * np.sqrt([AMPLITUDES[member.noise] for member in members])
        return amplitudes


class Look(NamedTuple):
    """What the members know of f at one point, in units of ŝ: a row or number for each of them."""

    place: Array
    k: Array  # with the labels' points
    reached: Array  # K⁻¹k
    open: Array  # 1 − w·k: what the mean leaves open there
    pulled: Array  # Pz·k: how far labels pull the mean there, members × targets
    variance: Array  # given the labels told
    narrowed: Array  # given also those awaited
    coming: Array  # k with the arrivals kept


class Posterior:
    """The members, the labels told as they see them, and their weights."""

    def __init__(
        self,
        members: list[Member],
        frame: Frame,
        places: Array,
        ratios: Array,
        known: KnownNoise | None = None,
    ) -> None:
        self.members = members
        self.kernels = Kernels(members, frame)
        self.amplitudes: Array | None = None
        if known is not None:
            self.amplitudes = known.amplitudes(members)
            self.kernels.noise = np.maximum((known.noise_std / self.amplitudes) ** 2, LEAST_OWN_NOISE)
        self.prior = np.array([log_prior(member) for member in members])
        self._spent = np.array([frame.spent[member.axes] for member in members])
        self.places, self.ratios = places, ratios
        self._table: Array | None = None  # what a part reads at once: inverses, with rows behind them
        self._begin()

    def _begin(self) -> None:
        """Invert the covariances of the labels that are there at first."""
        members = np.arange(len(self.members))
        halves, self._logdet = inverse_factors(self._covariances(self.kernels.among(self.places), members))
        self._inverse: Array = np.zeros((len(members), room(self.labels), room(self.labels)))
        np.matmul(halves.transpose(0, 2, 1), halves, out=self.inverse)
        self._each = list(self._inverse)

    def _covariances(self, among: Array, which: Places) -> Array:
        """Those of the labels for some of the members, on and below the diagonal."""
        K: Array = among[self.kernels.kind[which]]
        np.einsum("mii->mi", K)[:] += np.maximum(
            self.kernels.noise[which, None] * self.ratios, LEAST_OWN_NOISE
        )
        return K

    @property
    def labels(self) -> int:
        """How many labels are told."""
        return len(self.places)

    @property
    def inverse(self) -> Array:
        """K⁻¹ of each member; from 200 labels on only on and above the diagonal."""
        return self._inverse[:, : self.labels, : self.labels]

    def pivot(self, look: Look, ratio: float) -> Array:
        """The variance of a label at a point just looked at, before the mean is counted."""
        noise = np.maximum(ratio * self.kernels.noise, LEAST_OWN_NOISE)
        pivot = self.kernels.at(look.place) + noise
        pivot -= np.einsum("mi,mi->m", look.k, look.reached)
        return np.maximum(pivot, noise)  # but for rounding it never is below

    def grow(self, look: Look, ratio: float) -> None:
        """One more label at a point just looked at, of this noise relative to others."""
        count = self.labels
        pivot = self.pivot(look, ratio)
        lean = look.reached / pivot[:, None]
        if count == self._inverse.shape[1]:
            before = self.inverse
            self._inverse = np.zeros((len(before), room(count + 1), room(count + 1)))
            self._inverse[:, :count, :count] = before
            self._each = list(self._inverse)
        self._lean(look.reached, lean, pivot)
        inverse = self._inverse
        inverse[:, count, :count] = inverse[:, :count, count] = -lean
        inverse[:, count, count] = 1.0 / pivot
        self._logdet = self._logdet + np.log(pivot)
        self.places = np.vstack([self.places, look.place])
        self.ratios = np.append(self.ratios, ratio)

    def _lean(self, reached: Array, lean: Array, pivot: Array) -> None:
        """Add to each inverse the product of these, in place."""
        count, inverse = self.labels, self.inverse
        if count < HALVED_FROM:
            few = max(1, LEANT_TOGETHER // count**2)
            for i in range(0, len(inverse), few):
                some = slice(i, i + few)
                inverse[some] += reached[some, :, None] * lean[some, None, :]
            return
        roomy = np.zeros(self._inverse.shape[:2])
        roomy[:, :count] = reached
        for one, column, share in zip(self._each, roomy, (1.0 / pivot).tolist(), strict=True):
            blas.dsyr(share, column, lower=1, a=one.T, overwrite_a=1)

    def learn(self, y: Array) -> None:
        """Take the labels in: means, scales and weights of all members."""
        count = len(y)
        self.scale = LabelScale.of(y)
        targets = self.scale.targets(y)
        found, diagonal = self._solutions(np.vstack([np.ones(count), targets]))
        self._rows: Array = np.empty((len(self.members), 1 + len(targets), count))
        self.ones, self.pulls = self._rows[:, 0], self._rows[:, 1:].transpose(1, 0, 2)
        self.ones[:] = found[0]
        self.certain = found[0].sum(axis=1)  # H
        self.means = np.einsum("mi,ti->tm", found[0], targets) / self.certain
        np.subtract(found[1:], self.means[:, :, None] * found[0], out=self.pulls)  # Pz
        quadratic = np.einsum("tmi,ti->tm", self.pulls, targets)
        self.degrees = self._freedom(count)
        self.spreads = np.sqrt(np.maximum(quadratic, ABOVE_ZERO) / self.degrees)  # ŝ
        if self.amplitudes is None:
            diagonal = diagonal - self.ones**2 / self.certain[:, None]
            left_out = targets[:, None, :] - self.pulls / np.maximum(diagonal, ABOVE_ZERO)
            self._weigh(self._scores(y, left_out))
        else:
            self.degrees = np.full(len(self.members), inf)
            self.spreads = np.tile(self.amplitudes / self.scale.std, (2, 1))
            self._weigh(self._evidence(quadratic[PLAIN], count))

    def _freedom(self, count: int) -> Array:
        """Degrees of freedom of each member: the mean takes one, and axes that were fitted theirs."""
        freedom: Array = np.maximum(count - 1.0 - self._spent, min(count - 1.0, FEWEST_DEGREES))
        return freedom

    def _scores(self, y: Array, left_out: Array) -> Array:
        """Log weights by what each member would have answered without the label, in the label's own units."""
        scale, count = self.scale, len(y)
        answers = np.stack([scale.centre + scale.std * left_out[PLAIN], scale.tamed(left_out[TAMED])])
        errors = np.abs(answers - y).sum(axis=2)
        constant = np.abs(y - scale.centre).sum() / count
        mean = (errors + LUCK * constant) / (count + LUCK)
        scores: Array = self.prior - TEMPER * count * np.log(np.maximum(mean, ABOVE_ZERO))
        if count < TAMED_FROM:
            scores[TAMED] = -inf
        return scores

    def _evidence(self, quadratic: Array, count: int) -> Array:
        """Log weights by how likely each member makes the labels."""
        spread = self.spreads[PLAIN]
        evidence = -0.5 * (self._logdet + np.log(self.certain) + quadratic / spread**2)
        evidence -= (count - 1) * np.log(spread)
        return np.stack([self.prior + evidence, np.full(len(evidence), -inf)])

    def _solutions(self, columns: Array) -> tuple[Array, Array]:
        """K⁻¹ times each of these, for each member: columns × members × labels; and the diagonals of K⁻¹."""
        diagonals = np.einsum("mii->mi", self.inverse)
        if self.labels < HALVED_FROM:
            return np.ascontiguousarray(np.matmul(self.inverse, columns.T).transpose(2, 0, 1)), diagonals
        tiled = (np.tile(column, (len(self.members), 1)) for column in columns)
        return np.array([self._solved(column) for column in tiled]), diagonals

    def explained(self, k: Array) -> Array:
        """k·K⁻¹k of several points, whose k is given: members × points × labels."""
        if self.labels < HALVED_FROM:
            explained: Array = np.einsum("mri,mri->mr", np.matmul(k, self.inverse), k)
            return explained
        roomy: Array = np.zeros((*k.shape[:2], len(self._each[0])))
        roomy[:, :, : self.labels] = k
        pairs = zip(self._each, roomy, strict=True)
        reached = [blas.dsymm(1.0, one.T, rows.T, lower=1).T for one, rows in pairs]
        return np.array([np.einsum("ri,ri->r", *pair) for pair in zip(reached, roomy, strict=True)])

    def _weigh(self, scores: Array) -> None:
        weights = np.exp(scores - scores.max())
        self.weights: Array = weights / weights.sum()  # targets × members

    def part(self, which: Places) -> "Posterior":
        """Some of the members, or all, to be looked at only: what is told is told to the whole."""
        part = copy(self)
        if len(which) < len(self.members):
            part.members, part.kernels = [self.members[i] for i in which], self.kernels.part(which)
            part.certain, part.means = self.certain[which], self.means[:, which]
            part.degrees, part._spent = self.degrees[which], self._spent[which]
            part._rows = self._rows[which]
            part.ones, part.pulls = part._rows[:, 0], part._rows[:, 1:].transpose(1, 0, 2)
        if self.labels < HALVED_FROM:
            part._table = np.concatenate([self.inverse[which], part._rows], axis=1)
            part._inverse = part._table[:, : self.labels]
        else:
            part._each = [self._each[i] for i in which]
        return part

    def look(self, place: Array, kept: Array) -> Look:
        """What is known at a placed point; `kept` are the placed arrivals that stand for those to come."""
        return self.seen(place, self.kernels.between(np.vstack([self.places, kept]), place[None])[:, :, 0])

    def seen(self, place: Array, column: Array) -> Look:
        """The same where k is known: of the labels' points and, behind these, of the arrivals kept."""
        count = self.labels
        k, coming = column[:, :count], column[:, count:]
        if self._table is None:
            reached, along = self._solved(k), np.matmul(self._rows, k[:, :, None])[:, :, 0]
        else:
            read = np.matmul(self._table, k[:, :, None])[:, :, 0]
            reached, along = read[:, :count], read[:, count:]
        opened = 1.0 - along[:, 0]
        variance = self.kernels.at(place) - np.einsum("mi,mi->m", k, reached)
        variance += opened * opened / self.certain
        np.maximum(variance, 0.0, out=variance)
        return Look(place, k, reached, opened, along[:, 1:], variance, variance, coming)

    def _solved(self, k: Array) -> Array:
        """K⁻¹k for each member."""
        if self.labels < HALVED_FROM:
            solved: Array = np.matmul(self.inverse, k[:, :, None])[:, :, 0]
            return solved
        roomy = np.zeros((len(k), len(self._each[0])))
        roomy[:, : self.labels] = k
        pairs = zip(self._each, roomy, strict=True)
        found = np.array([blas.dsymv(1.0, one.T, column, lower=1) for one, column in pairs])
        return found[:, : self.labels]

    def centres(self, look: Look) -> Array:
        """The means of both targets at a point: targets × members."""
        centres: Array = self.means + look.pulled.T
        return centres

    def describe(self) -> dict[str, Any]:
        """The heaviest member, and the weight of the constant, of a moving world and of tamed labels."""
        weights = self.weights.sum(axis=0)
        heaviest = self.members[int(weights.argmax())]
        shape = SHAPES[heaviest.shape]
        return {
            "heaviest": {
                "weight": float(weights.max()),
                "profile": shape.profile,
                "length": shape.length,
                "linear": shape.linear,
                "noise": NOISES[heaviest.noise],
                "axes": ("alike", "fitted", "fitted, with time")[heaviest.axes],
            },
            "constant": float(weights[[member.shape == 0 for member in self.members]].sum()),
            "moving": float(weights[[member.axes == MOVING for member in self.members]].sum()),
            "tamed": float(self.weights[TAMED].sum()),
        }

    # -- one world or two --------------------------------------------------------------------------

    def evidence_of_parts(self, places: Array, y: Array, ratios: Array) -> tuple[Array, Array, Array]:
        """How likely each member makes the first k of these labels, and the others; and their target.

        Rows are members, columns k = 0 … n. Either part has a mean and a scale of its own.
        """
        z = self.scale.targets(y)[TAMED if self.weights[TAMED].sum() > 0.5 else PLAIN]
        K = self.kernels.between(places, places)
        K += self.kernels.noise[:, None, None] * np.diag(ratios)
        unknown: list[float | None] = [None] * len(K)
        amplitudes = unknown if self.amplitudes is None else (self.amplitudes / self.scale.std).tolist()
        before = [growing_evidence(one, z, s) for one, s in zip(K, amplitudes, strict=True)]
        after = [
            growing_evidence(one[::-1, ::-1], z[::-1], s)[::-1] for one, s in zip(K, amplitudes, strict=True)
        ]
        return np.array(before), np.array(after), z


class Candidates(Posterior):
    """Members that are only to be weighed: no inverse is needed for that, and some of them fit in a cache."""

    def _begin(self) -> None:
        self._logdet = np.empty(len(self.members))

    def _solutions(self, columns: Array) -> tuple[Array, Array]:
        found = np.empty((len(columns), len(self.members), self.labels))
        diagonals = np.empty(found.shape[1:])
        among, few = self.kernels.among(self.places), max(1, FACTORED // self.labels**2)
        for start in range(0, len(self.members), few):
            some = np.arange(start, min(start + few, len(self.members)))
            halves, self._logdet[some] = inverse_factors(self._covariances(among, some))
            solved = np.matmul(halves.transpose(0, 2, 1), np.matmul(halves, columns.T))
            found[:, some] = solved.transpose(2, 0, 1)
            diagonals[some] = np.einsum("mji,mji->mi", halves, halves)
        return found, diagonals


def room(count: int) -> int:
    """For how many labels there is room where there are so many."""
    return -(-count // ROOM) * ROOM


def inverse_factors(K: Array) -> tuple[Array, Array]:
    """L⁻¹ of each covariance LL′, so that its inverse is L⁻¹′L⁻¹, and the log of its determinant.

    Only what lies on and below the diagonal is read.

    >>> halves, logs = inverse_factors(np.array([[[4.0, 2.0], [2.0, 2.0]]]))
    >>> halves.tolist(), round(float(logs[0]), 4)
    ([[[0.5, 0.0], [-0.5, 1.0]]], 1.3863)
    """
    factors: Array = np.linalg.cholesky(K).astype(np.float64, copy=False)
    logs: Array = 2.0 * np.log(np.einsum("mii->mi", factors)).sum(axis=1)
    for factor in factors:  # in place: a row of NumPy is a column of LAPACK
        blas.dtrtri(factor.T, lower=0, overwrite_c=1)
    return factors, logs


def growing_evidence(K: Array, z: Array, amplitude: float | None) -> Array:
    """The log evidence of the first k labels, k = 0 … n; the mean is anywhere in the range of all labels.

    >>> round(float(growing_evidence(np.eye(3), np.array([0.0, 1.0, 2.0]), 1.0)[3]), 4)
    -4.0803
    """
    from scipy.linalg import solve_triangular  # slow to import
    from scipy.special import gammaln

    usual = float(np.mean(np.diag(K)))
    C = np.linalg.cholesky(K + 1e-9 * usual * np.eye(len(z)))
    both = np.column_stack([np.ones(len(z)), z])
    a, u = solve_triangular(C, both, lower=True, check_finite=False).T
    certain, degrees = np.cumsum(a * a), np.arange(len(z)).astype(float)
    quadratic = np.cumsum(u * u) - np.cumsum(a * u) ** 2 / certain
    quadratic = np.maximum(quadratic, degrees * LEAST_SCALE**2 * float(np.var(z)) / usual + ABOVE_ZERO)
    found = -np.cumsum(np.log(np.diag(C))) - 0.5 * np.log(certain) - log(float(np.ptp(z)) or 1.0)
    if amplitude is None:
        degrees[0] = 1.0  # one label says nothing of the scale, and is never a part by itself
        found += gammaln(degrees / 2.0) - degrees / 2.0 * np.log(pi * quadratic) - log(SCALE_RANGE)
    else:
        found -= 0.5 * (quadratic / amplitude**2 + degrees * log(2.0 * pi * amplitude**2))
    return np.append(0.0, found)
