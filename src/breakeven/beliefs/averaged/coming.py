"""The arrivals that stand for those to come, and the labels awaited, as all members see them.

Notation as in `posterior`. For an arrival kept, `explained` is k·K⁻¹k: what the labels say of it before the
mean is counted. A label awaited narrows what it reaches like one told, but moves no mean and no weight.
"""

from typing import NamedTuple

import numpy as np

from breakeven.beliefs.averaged.mixture import Places
from breakeven.beliefs.averaged.posterior import LEAST_OWN_NOISE, Look, Posterior, room
from breakeven.errors.expect import Array

LEAST_STD = 1e-300  # where nothing is unsure, nothing is saved


class Coming:
    """Past arrivals that stand for those to come: what every member knows of f at each.

    What is known of one is the same to the last bit, whichever others are beside it. Rows are members and
    columns arrivals; `k` is that with the labels' points, and `open` what the mean leaves open.
    """

    __slots__ = ("_room", "explained", "k", "open", "places", "variance")

    def __init__(self, places: Array, k: Array, explained: Array, open: Array, variance: Array) -> None:
        self.places, self.explained, self.open, self.variance = places, explained, open, variance
        self.k = self._room = k  # which begins what there is room for: none more at first

    def _make_room(self, k: Array) -> None:
        """Take up k, with room for more arrivals and labels behind it."""
        members, kept, labels = k.shape
        self._room = np.empty((members, room(kept + 1), room(labels + 1)))
        self.k = self._room[:, :kept, :labels]
        self.k[:] = k

    @staticmethod
    def of(posterior: Posterior, places: Array, explained: Array | None = None) -> "Coming":
        """What is known at these placed points; `explained` as it was when it was kept."""
        k = posterior.kernels.between(places, posterior.places)
        if explained is None:
            explained = posterior.explained(k)
        return Coming(places, k, explained, *_known(posterior, k, places, explained))

    @staticmethod
    def at(look: Look, posterior: Posterior) -> "Coming":
        """One arrival, which was just looked at."""
        places, k = look.place[None], look.k[:, None, :]
        explained = np.einsum("mi,mi->m", look.k, look.reached)[:, None]
        return Coming(places, k, explained, *_known(posterior, k, places, explained))

    def part(self, which: Places) -> "Coming":
        """The same arrivals for some of the members, to be looked at only."""
        if len(which) == len(self.k):
            return self
        return Coming(self.places, self.k[which], *(each[which] for each in self._known))

    @property
    def _known(self) -> tuple[Array, Array, Array]:
        return self.explained, self.open, self.variance

    def join(self, one: "Coming", stay: list[int]) -> None:
        """One more stands for those to come as well; then only these stay."""
        kept, labels = self.k.shape[1:]
        both = [np.concatenate(pair, axis=1) for pair in zip(self._known, one._known, strict=True)]
        self.places = np.concatenate([self.places, one.places])
        if kept == self._room.shape[1]:
            self._make_room(self.k)
        self._room[:, kept, :labels] = one.k[:, 0]
        self.k = self._room[:, : kept + 1, :labels]
        if len(stay) < len(self.places):
            self.places, both = self.places[stay], [each[:, stay] for each in both]
            self._make_room(self.k[:, stay])
        self.explained, self.open, self.variance = both

    def renew(self, posterior: Posterior, places: Array, moving: Places) -> None:
        """The same arrivals at another time, which matters only to these members."""
        other = Coming.of(posterior.part(moving), places)
        self.places = places
        self.k[moving] = other.k
        for each, renewed in zip(self._known, other._known, strict=True):
            each[moving] = renewed

    def tell(self, look: Look, pivot: Array) -> None:
        """A label is told at a point just looked at, whose own variance without the mean is `pivot`."""
        bare = look.coming - np.matmul(self.k, look.reached[:, :, None])[:, :, 0]
        self.explained = self.explained + bare * bare / pivot[:, None]
        kept, labels = self.k.shape[1:]
        if labels == self._room.shape[2]:
            self._make_room(self.k)
        self._room[:, :kept, labels] = look.coming
        self.k = self._room[:, :kept, : labels + 1]

    def survey(self, posterior: Posterior) -> None:
        """Variances, given the labels told."""
        self.open, self.variance = _known(posterior, self.k, self.places, self.explained)

    def reach(self, look: Look, posterior: Posterior) -> Array:
        """The covariance of f at a point with f at each arrival kept, given the labels told."""
        reach: Array = look.coming - np.matmul(self.k, look.reached[:, :, None])[:, :, 0]
        reach += (look.open / posterior.certain)[:, None] * self.open
        return reach


def _known(posterior: Posterior, k: Array, places: Array, explained: Array) -> tuple[Array, Array]:
    """What the mean leaves open at arrivals, and the variances there."""
    opened = 1.0 - np.einsum("mri,mi->mr", k, posterior.ones)
    variance = posterior.kernels.own(places) - explained
    return opened, np.maximum(variance + opened**2 / posterior.certain[:, None], 0.0)


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
        self._features = posterior.kernels.features(places)
        looks = [posterior.look(place, coming.places) for place in places]
        self._reached = np.stack([look.reached for look in looks], axis=1)
        self._open = np.stack([look.open for look in looks], axis=1)
        joint = np.stack([self._covariance(look) for look in looks], axis=2)
        noise = np.maximum(np.multiply.outer(posterior.kernels.noise, ratios), LEAST_OWN_NOISE)
        np.einsum("mqq->mq", joint)[:] += noise
        self._inverse = np.linalg.inv(joint)
        self._reach = np.stack([coming.reach(look, posterior) for look in looks], axis=1)
        solved = np.matmul(self._inverse, self._reach)
        self.coming = np.maximum(coming.variance - np.einsum("mqr,mqr->mr", self._reach, solved), 0.0)

    def _covariance(self, look: Look) -> Array:
        """The covariance of f at a point with f at each label awaited, given the labels told."""
        k = self._posterior.kernels.column(self._features, look.place)
        bare = k - np.einsum("mqi,mi->mq", self._reached, look.k)
        joint: Array = bare + self._open * (look.open / self._posterior.certain)[:, None]
        return joint

    def narrow(self, look: Look) -> tuple[Look, Array]:
        """The same look with its variance narrowed, and what must be taken off its reach."""
        joint = self._covariance(look)
        solved = np.matmul(self._inverse, joint[:, :, None])[:, :, 0]
        narrowed = np.maximum(look.variance - np.einsum("mq,mq->m", joint, solved), 0.0)
        return look._replace(narrowed=narrowed), np.einsum("mq,mqr->mr", solved, self._reach)
