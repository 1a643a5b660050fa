"""What every member makes of yes/no labels: Laplace's approximation of a logistic process, stacked.

Notation: f the log odds of a yes, with the prior covariance K = s²·k + c: k the kernel of a member, s² its
amplitude, c the variance of the constant, which is that of Beta(½, ½) in log odds, π². At the mode f = K·(y −
p), with p = 1/(1 + exp(−f)) and W = p·(1 − p); G = (K + W⁻¹)⁻¹. At x the log odds have the mean k·(y − p) and
the variance k(x, x) − k·Gk.

The approximation is too cautious where one answer is rare. For the constant alone the exact answer is known,
(yes + ½)/(n + 1), and so is its evidence: what the approximation adds to the evidence there is taken off
everywhere. And every member expects, on average over the points labelled, that same share of yeses: its log
odds are moved by as much as that takes. So of many labels the commoner kind may be thinned: members learn
where yeses are from those that are left, and how many there are from all.
"""

from math import inf, lgamma, log, pi
from typing import NamedTuple

import numpy as np

from breakeven.beliefs.averaged.frame import Frame
from breakeven.beliefs.averaged.members import Kernels, Member, log_prior
from breakeven.errors.expect import Array

AMPLITUDES_OF_ODDS = (0.5, 2.0, 8.0, 32.0)  # s²: log odds of ±0.7 to ±6 are usual
CONSTANT_VARIANCE = pi**2
MOST_STEPS = 30
PARTS_TRIED = 16  # places where labels may have changed
NO_STEP = 1e-6  # a step of log odds that is none any more


class OddsLook(NamedTuple):
    """Log odds at some points as members see them: members × points, or members × points × labels."""

    places: Array
    k: Array
    reached: Array  # Gk
    mean: Array
    variance: Array
    labels: Array  # how many labels there would say as much as all labels do


class Odds:
    """The members, the yes/no labels told as they see them, and their weights. The first is the constant."""

    def __init__(
        self,
        members: list[Member],
        frame: Frame,
        places: Array,
        y: Array,
        ratios: Array,
        counts: Array | None = None,
    ) -> None:
        self.kernels = Kernels(members, frame)
        self.places = places
        self._scale = np.array([0.0 if one.shape == 0 else AMPLITUDES_OF_ODDS[one.noise] for one in members])
        K = self._scale[:, None, None] * self.kernels.between(places, places) + CONSTANT_VARIANCE
        seen = 1.0 / ratios
        told = seen if counts is None else seen * counts
        self._find_modes(K, y, seen)
        used, self.told = _yes_and_no(y, seen), _yes_and_no(y, told)
        self.constant = (self.told[0] + 0.5) / (sum(self.told) + 1.0)
        exact = _log_beta(used[0] + 0.5, used[1] + 0.5) - _log_beta(0.5, 0.5)
        self.evidence: Array = self._evidence - self._evidence[0] + exact
        self._thinned = _thinned(used[1], self.told[1]) - _thinned(used[0], self.told[0])
        self._shift = self._calibrated(self.look(places), told)
        scores = self.evidence + np.array([log_prior(one) for one in members])
        weights = np.exp(scores - scores.max())
        self.weights: Array = weights / weights.sum()

    def _find_modes(self, K: Array, y: Array, counts: Array) -> None:
        """Newton's steps for all members at once; a label that counts `counts` weighs so much."""
        f = np.zeros(K.shape[:2])
        eye = np.eye(len(y))
        for _ in range(MOST_STEPS):
            p = _share(f)
            W = counts * p * (1.0 - p)
            root = np.sqrt(np.maximum(W, 1e-12))
            B = eye + root[:, :, None] * K * root[:, None, :]
            b = W * f + counts * (y - p)
            Kb = np.einsum("mij,mj->mi", K, b)
            a = b - root * np.linalg.solve(B, (root * Kb)[:, :, None])[:, :, 0]
            step = np.einsum("mij,mj->mi", K, a) - f
            f = f + np.clip(step, -4.0, 4.0)
            if np.abs(step).max() < NO_STEP:
                break
        p = _share(f)
        root = np.sqrt(np.maximum(counts * p * (1.0 - p), 1e-12))
        B = eye + root[:, :, None] * K * root[:, None, :]
        self._pull: Array = counts * (y - p)
        self._G: Array = root[:, :, None] * np.linalg.inv(B) * root[:, None, :]
        likelihood = (counts * np.where(y > 0.5, -np.logaddexp(0.0, -f), -np.logaddexp(0.0, f))).sum(axis=1)
        fit = np.einsum("mi,mi->m", f, self._pull)
        self._evidence: Array = likelihood - 0.5 * fit - 0.5 * np.linalg.slogdet(B)[1]

    def _calibrated(self, look: OddsLook, counts: Array) -> Array:
        """What to add to the log odds of each member, so that it expects as many yeses as were told."""
        shift = np.full((len(look.mean), 1), -self._thinned)
        shrunk = _shrunk(look)
        weights = counts / counts.sum()
        for _ in range(MOST_STEPS):
            shares = _share(shrunk + shift)
            expected = np.clip(shares @ weights, 1e-12, 1.0 - 1e-12)
            step = _odds(self.constant) - np.log(expected / (1.0 - expected))
            shift = shift + step[:, None]
            if np.abs(step).max() < NO_STEP:
                break
        return shift

    def look(self, places: Array) -> OddsLook:
        """The log odds at placed points."""
        k = np.ascontiguousarray(self.kernels.between(self.places, places).transpose(0, 2, 1))
        k = self._scale[:, None, None] * k + CONSTANT_VARIANCE
        reached = np.matmul(k, self._G)
        own = self._scale[:, None] * self.kernels.own(places) + CONSTANT_VARIANCE
        variance = np.maximum(own - np.einsum("mri,mri->mr", k, reached), 1e-9 * own)
        mean = np.einsum("mri,mi->mr", k, self._pull)
        p = _share(mean - self._thinned)
        told = (1.0 / variance - 1.0 / own) / np.maximum(p * (1.0 - p), 1e-12)
        return OddsLook(places, k, reached, mean, variance, np.clip(told, 0.0, sum(self.told)))

    def shares(self, look: OddsLook) -> Array:
        """The probability of a yes, for members and points; that of the constant is exact."""
        shares = _share(_shrunk(look) + self._shift)
        shares[0] = self.constant
        return shares

    def variances(self, look: OddsLook, shares: Array) -> Array:
        """The variance of each probability: that of a Beta which has seen as many labels, as for a constant.

        The log odds of something rare may be very low, and are wide; but its probability cannot be much
        above one over the number of labels that were noes.
        """
        variances: Array = shares * (1.0 - shares) / (look.labels + 2.0)
        variances[0] = shares[0] * (1.0 - shares[0]) / (sum(self.told) + 2.0)
        return variances

    def covariances(self, here: OddsLook, there: OddsLook) -> Array:
        """Of the log odds at one point with those at each of some others: members × points."""
        x = here.places[0]
        column = self.kernels.column(self.kernels.features(there.places), x)
        joint = self._scale[:, None] * column + CONSTANT_VARIANCE
        gone = np.matmul(there.k, here.reached[:, 0, :, None])[:, :, 0]
        covariances: Array = joint - gone
        return covariances


def evidence_of_parts(
    members: list[Member], frame: Frame, places: Array, y: Array, ratios: Array
) -> tuple[Array, Array]:
    """How likely each member makes the first k labels, and the others; −∞ for a k that is not tried.

    Rows are members, columns k = 0 … n.
    """
    count = len(y)
    before, after = np.full((2, len(members), count + 1), -inf)
    tried = np.unique(np.linspace(0, count, min(count, PARTS_TRIED) + 1).round().astype(int))[1:-1]
    for k in (*tried.tolist(), count - 1, count):
        before[:, k] = Odds(members, frame, places[:k], y[:k], ratios[:k]).evidence
    for k in tried.tolist():
        after[:, k] = Odds(members, frame, places[k:], y[k:], ratios[k:]).evidence
    return before, after


def _shrunk(look: OddsLook) -> Array:
    """Log odds whose probability is the mean of that of normal log odds, by MacKay's approximation."""
    shrunk: Array = look.mean / np.sqrt(1.0 + pi / 8.0 * look.variance)
    return shrunk


def _yes_and_no(y: Array, weights: Array) -> tuple[float, float]:
    return float((y * weights).sum()), float(((1.0 - y) * weights).sum())


def _thinned(used: float, told: float) -> float:
    """By how much log odds are off where so many labels of one kind stand for all that were told."""
    return log(told / used) if used > 0.0 else 0.0


def _share(odds: Array) -> Array:
    """The probabilities of these log odds."""
    with np.errstate(over="ignore"):  # far outside it is 0
        share: Array = 1.0 / (1.0 + np.exp(-odds))
    return share


def _odds(share: float) -> float:
    return log(share / (1.0 - share))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
