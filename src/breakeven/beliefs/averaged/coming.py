"""The arrivals that stand for those to come, and the labels awaited, as all members see them.

Notation as in `posterior`. For an arrival kept, `explained` is k·K⁻¹k: what the labels say of it before the
mean is counted. A label awaited narrows what it reaches like one told, but moves no mean and no weight.
"""

from copy import copy
from typing import NamedTuple

import numpy as np

from breakeven.beliefs.averaged.posterior import Look, Posterior
from breakeven.errors.expect import Array

LEAST_STD = 1e-300  # where nothing is unsure, nothing is saved


class Coming:
    """Past arrivals that stand for those to come: what every member knows of f at each."""

    def __init__(self, posterior: Posterior, places: Array, explained: Array | None = None) -> None:
        self.places = places
        self.k = np.ascontiguousarray(posterior.kernels.between(posterior.places, places).transpose(0, 2, 1))
        if explained is None:
            explained = np.einsum("mri,mri->mr", np.matmul(self.k, posterior.inverse), self.k)
        self.explained = explained
        self.survey(posterior)

    def part(self, which: Array) -> "Coming":
        """The same arrivals for some of the members, to be looked at only."""
        if len(which) == len(self.k):
            return self
        part = copy(self)
        part.k, part.open, part.variance = self.k[which], self.open[which], self.variance[which]
        return part

    def add(self, look: Look, stay: list[int], posterior: Posterior) -> None:
        """One more, which was just looked at; of all with it, only these stay."""
        self.places = np.vstack([self.places, look.place])
        self.k = np.concatenate([self.k, look.k[:, None, :]], axis=1)
        explained = np.einsum("mi,mi->m", look.k, look.reached)
        self.explained = np.concatenate([self.explained, explained[:, None]], axis=1)
        if len(stay) < len(self.places):
            self.places, self.k = self.places[stay], self.k[:, stay]
            self.explained = self.explained[:, stay]
        self.survey(posterior)

    def tell(self, look: Look, pivot: Array) -> None:
        """A label is told at a point just looked at, whose own variance without the mean is `pivot`."""
        bare = look.coming - np.matmul(self.k, look.reached[:, :, None])[:, :, 0]
        self.explained = self.explained + bare * bare / pivot[:, None]
        self.k = np.concatenate([self.k, look.coming[:, :, None]], axis=2)

    def survey(self, posterior: Posterior) -> None:
        """Variances, given the labels told."""
        self.open = 1.0 - np.matmul(self.k, posterior.ones[:, :, None])[:, :, 0]
        variance = posterior.kernels.own(self.places) - self.explained
        self.variance = np.maximum(variance + self.open**2 / posterior.certain[:, None], 0.0)

    def reach(self, look: Look, posterior: Posterior) -> Array:
        """The covariance of f at a point with f at each arrival kept, given the labels told."""
        bare = look.coming - np.matmul(self.k, look.reached[:, :, None])[:, :, 0]
        reach: Array = bare + (look.open / posterior.certain)[:, None] * self.open
        return reach


class ErrorsAhead(NamedTuple):
    """What every member has at stake at each arrival kept, until the next label.

    `rates` turn a unit of a member's scale into errors, weights included. `variances` are those of f there
    and of a label, and `stds` their roots; `error` is the expected error of labels there, on average.
    """

    rates: Array
    variances: Array
    stds: Array
    error: float

    @staticmethod
    def of(rates: Array, variance: Array, noise: Array) -> "ErrorsAhead":
        """The stakes at these variances of f, in units of each member's scale."""
        variances = np.array([variance, variance + noise[:, None]])
        stds = np.maximum(np.sqrt(variances), LEAST_STD)
        error = float(np.einsum("mr,mr->", rates, stds[1])) / max(rates.shape[1], 1)
        return ErrorsAhead(rates, variances, stds, error)

    def saved(self, gone: Array) -> tuple[float, float]:
        """What comes off the expected error against f, and against labels, where so much variance goes.

        A std falls by gone / (std before + std after), which is exact also where little goes.
        """
        gone = np.minimum(gone, self.variances[0])
        both = np.sqrt(self.variances - gone)
        both += self.stds
        np.divide(self.rates * gone, both, out=both)
        of_f, of_labels = both.reshape(2, -1).sum(axis=1).tolist()
        kept = max(gone.shape[1], 1)
        return of_f / kept, of_labels / kept


class Narrowing:
    """The labels awaited, as far as they narrow what the members know."""

    def __init__(self, posterior: Posterior, coming: Coming, places: Array, ratios: Array) -> None:
        self._posterior = posterior
        self._places = places
        looks = [posterior.look(place, coming.places) for place in places]
        self._reached = np.stack([look.reached for look in looks], axis=1)
        self._open = np.stack([look.open for look in looks], axis=1)
        joint = np.stack([self._covariance(look) for look in looks], axis=2)
        joint += posterior.kernels.noise[:, None, None] * np.diag(ratios)
        self._inverse = np.linalg.inv(joint)
        self._reach = np.stack([coming.reach(look, posterior) for look in looks], axis=1)
        solved = np.matmul(self._inverse, self._reach)
        self.coming = np.maximum(coming.variance - np.einsum("mqr,mqr->mr", self._reach, solved), 0.0)

    def _covariance(self, look: Look) -> Array:
        """The covariance of f at a point with f at each label awaited, given the labels told."""
        k = self._posterior.kernels.column(self._places, look.place)
        bare = k - np.einsum("mqi,mi->mq", self._reached, look.k)
        joint: Array = bare + self._open * (look.open / self._posterior.certain)[:, None]
        return joint

    def narrow(self, look: Look) -> tuple[Look, Array]:
        """The same look with its variance narrowed, and what must be taken off its reach."""
        joint = self._covariance(look)
        solved = np.matmul(self._inverse, joint[:, :, None])[:, :, 0]
        narrowed = np.maximum(look.variance - np.einsum("mq,mq->m", joint, solved), 0.0)
        return look._replace(narrowed=narrowed), np.einsum("mq,mqr->mr", solved, self._reach)
