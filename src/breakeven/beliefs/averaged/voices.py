"""What a decision reads: the members that count, and all that holds for them until something is told or kept.

A *component* of the average is a member that looks at one of the two targets. Of those of little weight an
even part speaks for all of them; members without a component that speaks are not looked at. What is fixed
until the next label is worked out here, once, so that a decision only meets what is new: its own point.
Nothing here is kept in a snapshot, and no label told depends on it.
"""

from functools import cached_property

import numpy as np

from breakeven.beliefs.averaged.coming import Coming, ErrorsAhead
from breakeven.beliefs.averaged.mixture import (
    FEW_NODES,
    NODE_WEIGHTS,
    Mixture,
    below,
    node_between,
    nodes,
    unit_error,
)
from breakeven.beliefs.averaged.posterior import PLAIN, TAMED, Look, Posterior
from breakeven.errors.expect import Array
from breakeven.values import counted

LIGHT = 0.012  # the weight below which a component speaks for others, or another for it
FIRST_TURN = 0.618  # of a turn, before the first that speaks: at ½ equal weights would often leave open which
NOISE_RANGE = (0.1, 0.9)  # of the weight, when it is said how noisy labels are


class Voices:
    """The components of an average that count, and the arrivals that stand for those to come."""

    def __init__(self, posterior: Posterior, coming: Coming, widened: float, level: float) -> None:
        counts = speaking(posterior.weights.ravel(), np.tile(posterior.kernels.noise, 2))
        heard = np.flatnonzero(counts)
        targets, who = np.divmod(heard, len(posterior.members))
        which, who = np.unique(who, return_inverse=True)
        self._which, self.posterior = which, posterior.part(which)
        self.weights: Array = counts[heard] / counts.sum()
        self.who = who  # the member of each component
        self._level, scale = level, posterior.scale
        self._tamed = int(np.searchsorted(targets, TAMED))  # the first tamed component
        self._stds: Array = widened * posterior.spreads[targets, which[who]]  # ŝ, of a target
        self._units = np.where(targets == PLAIN, scale.std, scale.spread)  # of a target, near the centre
        self._noise = self.posterior.kernels.noise
        self._added = np.array([np.zeros(len(self._noise)), self._noise])  # to f, and to a label
        self._degrees = self.posterior.degrees[who].tolist()
        self._of_labels = np.where(targets == PLAIN, scale.std, 1.0)  # plain targets are claimed as labels
        self._means = self._of_labels * self.posterior.means[targets, who]
        self._means[: self._tamed] += scale.centre
        self._components = 2 * who + targets  # their places among both targets of all members
        self._spread_nodes()
        self.watch(coming)

    def _spread_nodes(self) -> None:
        """Let each component stand for itself by its nodes: light ones by few, at other levels in turn."""
        light = self.weights < 2.0 * LIGHT
        turns = (light.cumsum() % 2).tolist()
        few = [turn if one else None for one, turn in zip(light.tolist(), turns, strict=True)]
        each = [nodes(one, turn) for one, turn in zip(self._degrees, few, strict=True)]
        counts = [len(one) for one in each]
        self._node_of = np.repeat(np.arange(len(each)), counts)  # its component
        self._node_who = self.who[self._node_of]
        self._tamed_nodes = sum(counts[: self._tamed])  # the first of a tamed component
        self._reach_of_nodes = np.concatenate(each) * (self._of_labels * self._stds)[self._node_of]
        weights = np.concatenate([NODE_WEIGHTS if turn is None else FEW_NODES[turn][1] for turn in few])
        self._node_weights = np.tile(weights * self.weights[self._node_of], (2, 1))

    def watch(self, coming: Coming) -> None:
        """Take these arrivals for those to come."""
        self.coming = coming.part(self._which)
        places = np.concatenate([self.posterior.places, coming.places])
        self._features = self.posterior.kernels.features(places)
        self._rates: Array | None = None
        self._ahead: ErrorsAhead | None = None

    def keep(self, coming: Coming, one: Coming, stay: list[int]) -> None:
        """One more stands for those to come, which has joined these; only some stay."""
        one = one.part(self._which)
        if self.coming is not coming:
            self.coming.join(one, stay)
        rates = self._rates
        self.watch(self.coming)
        if rates is not None:
            self._rates = np.concatenate([rates, self._rates_at(one)], axis=1)[:, stay]

    @property
    def noise_stds(self) -> Array:
        """The noise of a label that each component takes it to have, in label units."""
        stds: Array = self._stds * np.sqrt(self._noise[self.who]) * self._units
        return stds

    def noise_between(self) -> list[float]:
        """Between which noises four fifths of the weight lie."""
        stds = self.noise_stds
        order = np.argsort(stds, kind="stable")
        places = np.searchsorted(np.cumsum(self.weights[order]), NOISE_RANGE)
        ends: list[float] = stds[order][np.minimum(places, len(order) - 1)].tolist()
        return ends

    # -- at one point --------------------------------------------------------------------------------

    def look(self, place: Array) -> Look:
        """What the members know at a placed point, and of the arrivals kept from there."""
        return self.posterior.seen(place, self.posterior.kernels.column(self._features, place))

    def claims(self, look: Look) -> tuple[Mixture, Mixture]:
        """The distributions of f and of a label there."""
        first = self._tamed_nodes
        stds = look.variance + self._added
        np.sqrt(stds, out=stds)
        values = stds.take(self._node_who, axis=1)
        values *= self._reach_of_nodes
        values += self._centres(look).take(self._node_of)
        if first < values.shape[1]:
            values[:, first:] = self.posterior.scale.tamed(values[:, first:])
        of_f, of_labels = Mixture.rows(values, self._node_weights)
        return of_f, of_labels

    def _centres(self, look: Look) -> Array:
        """The centre of each component, of a label or of a tamed target."""
        centres: Array = look.pulled.take(self._components)
        centres *= self._of_labels
        centres += self._means
        return centres

    def below(self, look: Look, y: float, ratio: float) -> float:
        """The probability that a label there, of this noise relative to others, is below y."""
        scale, first = self.posterior.scale, self._tamed
        stds = self._stds * np.sqrt(look.variance + ratio * self._noise)[self.who]
        stds[:first] *= scale.std
        targets = np.full(len(stds), y)
        targets[first:] = scale.targets(targets[first:])[TAMED]
        scores = (targets - self._centres(look)) / stds
        return float(self.weights @ below(scores, self.posterior.degrees[self.who]))

    def narrowed(self, look: Look) -> float:
        """By how much labels awaited lower the standard deviation of f there."""
        counts = self.weights * self._stds**2
        whole = float(counts @ look.variance[self.who])
        return float(np.sqrt(float(counts @ look.narrowed[self.who]) / max(whole, 1e-300)))

    # -- what labels save ----------------------------------------------------------------------------

    @cached_property
    def _scales(self) -> Array:
        """What a unit of each member's scale means in errors."""
        scales: Array = np.zeros(len(self._noise))
        np.add.at(scales, self.who, self._errors)
        return scales

    @cached_property
    def _errors(self) -> Array:
        """What each component adds to the expected error where its targets are labels, by a unit of scale."""
        usual = np.array([unit_error(one, self._level) for one in self._degrees]) * self._units
        errors: Array = self.weights * self._stds * usual
        return errors

    @property
    def ahead(self) -> ErrorsAhead:
        """What is at stake at each arrival kept; worked out when a rule first asks."""
        if self._ahead is None:
            if self._rates is None:
                self._rates = self._rates_at(self.coming)
            self._ahead = ErrorsAhead.of(self._rates, self.coming.variance, self._noise)
        return self._ahead

    def _rates_at(self, coming: Coming) -> Array:
        """What a unit of each member's scale means in errors at each of these arrivals."""
        posterior, first = self.posterior, self._tamed
        rates = np.zeros(coming.variance.shape)
        rates[self.who[:first]] = self._errors[:first, None]
        who = self.who[first:]
        if len(who):
            means = np.einsum("mri,mi->mr", coming.k, posterior.pulls[TAMED])[who]
            means += posterior.means[TAMED, who][:, None]
            spread = self._stds[first:, None] * np.sqrt(coming.variance[who] + self._noise[who][:, None])
            counts = (self.weights * self._stds)[first:, None]
            rates[who] += self._tamed_rates(means, spread) * counts
        return rates

    def _tamed_rates(self, means: Array, spreads: Array) -> Array:
        """The expected error of a tamed component, in label units, over its spread."""
        scale, degrees = self.posterior.scale, self._degrees[self._tamed :]
        tamed = np.array([nodes(one) for one in degrees])
        middles = np.array([node_between(one, self._level) for one in degrees])
        values = scale.tamed(means[..., None] + spreads[..., None] * tamed[:, None])
        apart = values - scale.tamed(means + spreads * middles[:, None])[..., None]
        errors = np.einsum("cri,i->cr", counted(apart, self._level), NODE_WEIGHTS)
        rates: Array = errors / np.maximum(spreads, 1e-300)
        return rates

    def given(self, variance: Array) -> ErrorsAhead:
        """The errors ahead where labels awaited have narrowed what is unsure to this variance."""
        return ErrorsAhead.of(self.ahead.rates, variance, self._noise)

    def saved(
        self, look: Look, taken: Array | None, ratio: float, ahead: ErrorsAhead
    ) -> tuple[float, float, float]:
        """What a label of this relative noise takes off the errors: here, and at an arrival to come.

        The last two are against f and against labels. `taken` is what labels awaited take off its reach.
        """
        variance, noise = look.narrowed, ratio * self._noise
        spread = variance + noise
        falls = variance / spread  # by this share of its variance: a std by that over 1 + √ of what is left
        here = float(self._scales @ (np.sqrt(variance) * falls / (1.0 + np.sqrt(noise / spread))))
        reach = self.coming.reach(look, self.posterior)
        if taken is not None:
            reach -= taken
        reach *= reach
        reach /= spread[:, None]
        return here, *ahead.saved(reach)


def speaking(weights: Array, noises: Array) -> Array:
    """For how much weight each component speaks: the light ones have about as much in turn, or none.

    Of these an even part speaks, by the noise that they assume and then by kind: what is left out is spoken
    for by what is like it, so that the average leans to no side.

    >>> speaking(np.array([0.976, 0.008, 0.004, 0.002, 0.006, 0.004]), np.ones(6)).round(3).tolist()
    [0.976, 0.012, 0.0, 0.0, 0.012, 0.0]
    """
    order = np.argsort(noises, kind="stable")
    light = weights < LIGHT
    upto = np.where(light, weights, 0.0)[order].cumsum()
    speakers = round(float(upto[-1]) / LIGHT)
    counts: Array = np.where(light, 0.0, weights)
    if speakers:
        share = upto[-1] / speakers
        chosen = order[np.searchsorted(upto, (np.arange(speakers) + FIRST_TURN) * share)]
        np.add.at(counts, chosen, share)
    return counts
