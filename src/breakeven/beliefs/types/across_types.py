"""What types have in common: a prior of their means, the noise of labels, and the scale of labels.

A prior is given, or learnt from the types that have labels. Noise and scale are given, or measured once, from
the labels told when the warm-up is over. Jobs are plain data, and the functions that work on them are pure.
"""

from collections.abc import Callable, Iterable, Sequence
from math import cbrt, fsum, inf, log2, sqrt
from typing import Any, Literal, Protocol

import numpy as np

from breakeven import theory
from breakeven.beliefs.belief import ENOUGH_TO_FIT, REFIT_GROWTH
from breakeven.beliefs.types.tallies import Census, TypeLabels
from breakeven.beliefs.types.weighing import TypePrior, joined, noise_weight
from breakeven.errors import expect
from breakeven.errors.expect import Array

FADED = 1e-12  # the least that a type's labels weigh in what is learnt, however old they are
SPREAD_CONFIDENCE = 0.9  # at which the spread of types is taken at its upper end
SPREADS_TRIED, SPREAD_STEPS = 60, 40
FURTHEST = 1e3  # the spread is looked for this many times beyond what the numbers span, both ways
LEAST_VARIATION = 1e-12  # of their size must labels vary to tell their scale
SEEN = ("types", "changes", "rounds")  # the counts that a fit was made at; growth is counted from them
JOINED = ("means", "weights", "apart_means", "apart_weights")

PriorStd = float | Literal["learn"] | None


class TypesWithLabels(Protocol):
    """Types and their labels."""

    @property
    def told(self) -> int:
        """How many labels were told, of all types."""
        ...

    def count(self) -> Census:
        """The counts over all types."""
        ...

    def known(self) -> dict[Any, tuple[float, float]]:
        """The mean of the labels of each type that has any told, and what they weigh."""
        ...

    def predict(self, prior: TypePrior) -> None:
        """Predict every type under this prior."""
        ...


class AcrossTypes:
    """The prior in use, which every type is predicted by.

    Until a prior is learnt, it is flat, and its mean is the mean of the types' means.
    """

    def __init__(
        self,
        labels: TypesWithLabels,
        noise_std: float,
        mean: float,
        std: PriorStd,
        *,
        half_life: float | None = None,
        shift: float = 0.0,
    ) -> None:
        self._labels, self._noise_std, self._mean, self._shift = labels, noise_std, mean, shift
        self.learns, self._half_life = isinstance(std, str), half_life
        self._given_std = std if isinstance(std, float) else inf
        self._std = self._given_std
        self.fitted_at = 0  # types that had labels told
        self._changes = 0  # of the labels told, since, where they fade
        self._rounds = 0  # arrivals by then, where labels fade
        self.believe(mean, self._std)

    @property
    def unknown(self) -> bool:
        """Whether it is still to be learnt."""
        return self.learns and not self.fitted_at

    def believe(self, mean: float, std: float) -> None:
        """Go on with this prior."""
        self._set(mean, std)
        self._labels.predict(self.prior)

    def lean_on(self, mean: float) -> None:
        """Take this mean for now; predictions of types are not made anew."""
        self._set(mean, self._std)

    def _set(self, mean: float, std: float) -> None:
        self.prior = TypePrior(self._noise_std, mean, std, self._shift)
        self.unlabelled = self.prior.prediction

    def aim(self, shift: float) -> None:
        """Answers lie this many standard deviations of a label above means, from now on."""
        self._shift = shift
        self.believe(self.prior.mean, self.prior.std)

    def rebase(self, noise_std: float, mean: float) -> None:
        """Labels have this noise, and types this mean where nothing better is learnt."""
        self._noise_std, self._mean = noise_std, mean
        if self.unknown:
            self.guess()
        else:
            self.believe(mean, self._std)

    def widen(self, noise_std: float, factor: float, all: float) -> None:
        """Labels have this noise now, and types scatter by this `factor` further: the answers stay.

        `all` is the factor beyond the spread that was given.
        """
        self._noise_std, self._std = noise_std, all * self._given_std
        self.believe(self.prior.mean, self._std if self._std < inf else factor * self.prior.std)

    def unlearn(self) -> None:
        """Labels were set aside or taken back: predict all types anew, and learn anew what was learnt."""
        if self.learns:
            self.fitted_at = self._changes = self._rounds = 0
            self.guess()
        else:
            self.believe(self.prior.mean, self.prior.std)

    def guess(self) -> None:
        """Before a prior is learnt: take the mean of the types' means, and a spread of ∞."""
        means = [mean for mean, _ in self._labels.known().values()]
        self.believe(fsum(means) / len(means) if means else self._mean, inf)

    # -- learning --------------------------------------------------------------------------------

    @property
    def due_at(self) -> float:
        """How many types must have labels told for another fit."""
        return max(ENOUGH_TO_FIT, REFIT_GROWTH * self.fitted_at) if self.learns else inf

    def due(self) -> bool:
        """Whether enough types have labels told, or enough labels were forgotten and replaced since."""
        return self.learns and (self._labels.count().told >= self.due_at or self._replaced())

    def _replaced(self) -> bool:
        """Whether labels have faded by as much as types must grow, and each type changed once, on average."""
        if self._half_life is None or not 0 < self.fitted_at <= self._changes:
            return False
        passed = self._labels.count().arrivals - self._rounds
        return passed >= self._half_life * log2(REFIT_GROWTH)

    def note_change(self) -> None:
        """A label was told, corrected, reopened or withdrawn."""
        self._changes += self._half_life is not None

    def job(self) -> dict[str, Any]:
        """Means and weights of the types with labels, and what growth counts from: plain data."""
        means, weights = zip(*self._labels.known().values(), strict=True)
        return {
            "means": packed(means),
            "weights": packed(weights),
            "noise_std": self._noise_std,
        } | self.seen()

    def seen(self) -> dict[str, int]:
        """What a fit made now would rest on: types with labels, changes since the last fit, and arrivals."""
        census = self._labels.count()
        return {"types": census.told, "changes": self._changed, "rounds": census.arrivals}

    @property
    def _changed(self) -> int:
        """Changes since the last fit, where labels fade; before the first fit, the labels told."""
        return self._changes if self.fitted_at or self._half_life is None else self._labels.told

    def fit(self) -> dict[str, Any]:
        """The mean of the types' means, and the upper end of their spread."""
        return fit_across(self.job())

    def adopt(self, parameters: dict[str, Any]) -> None:
        """Go on with what a fit found."""
        mean, std, given = checked_prior(parameters)
        self.believe(mean, std)
        seen = self.seen() | given
        self._changes = max(self._changed - seen["changes"], 0)
        self.fitted_at, self._rounds = seen["types"], seen["rounds"]

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any] | None:
        """What was learnt, if anything was."""
        if not self.fitted_at:
            return None
        learnt = {"prior_mean": self.prior.mean, "prior_std": self.prior.std}
        return learnt | {"types": self.fitted_at, "changes": self._changes, "rounds": self._rounds}

    def load(self, state: dict[str, Any] | None) -> None:
        """Take up what `state` gave, and predict all types."""
        self.fitted_at, self._changes, self._rounds = [state[name] for name in SEEN] if state else (0, 0, 0)
        if self.unknown:
            self.guess()
        elif state:
            self.believe(state["prior_mean"], state["prior_std"])
        else:
            self.believe(self._mean, self._std)


# -- jobs ----------------------------------------------------------------------------------------------


def packed(numbers: Iterable[float]) -> bytes:
    """Numbers as bytes."""
    return np.array([*numbers], dtype=np.float64).tobytes()


def unpacked(stored: bytes) -> Array:
    """Numbers from bytes."""
    return np.frombuffer(stored, dtype=np.float64)


def search_job(labels: TypeLabels, wanted: Sequence[str], noise_std: float) -> dict[str, Any]:
    """All that it takes to find what is `wanted` of noise_std, prior_mean and label_scale."""
    return {
        "wanted": [*wanted],
        "noise_std": noise_std,
        "by_type": [packed(one) for one in labels.early_by_type()],
        "apart": packed(labels.early_apart()),
    }


def learning_job(labels: TypeLabels, across: AcrossTypes) -> dict[str, Any]:
    """The job of learning a prior while the noise is not known: labels with their own noise stand apart."""
    columns = zip(*labels.known_apart().values(), strict=True)
    return {name: packed(column) for name, column in zip(JOINED, columns, strict=True)} | across.seen()


def checked_prior(parameters: dict[str, Any]) -> tuple[float, float, dict[str, int]]:
    """Mean and spread of the types' means, as a fit found them, and what growth counts from."""
    mean = expect.finite("prior_mean", parameters.get("prior_mean"))
    seen = {name: expect.whole(name, parameters[name]) for name in SEEN if name in parameters}
    return mean, expect.positive("prior_std", parameters.get("prior_std")), seen


def fit_across(job: dict[str, Any]) -> dict[str, Any]:
    """The mean of the types' means, and the upper end of their spread, and what growth counts from."""
    noise_std, means, weights = job["noise_std"], unpacked(job["means"]), unpacked(job["weights"])
    if "apart_means" in job:
        own = unpacked(job["apart_means"]), unpacked(job["apart_weights"])
        ratio, columns = noise_weight(noise_std, 1.0), zip(means, weights, *own, strict=True)
        means, weights = np.array([joined(m, w, own_m, own_w, ratio) for m, w, own_m, own_w in columns]).T
    errors = [noise_std / sqrt(max(weight, FADED)) for weight in weights.tolist()]
    mean, std = learnt(means.tolist(), errors)
    return {"prior_mean": mean, "prior_std": std} | {name: job[name] for name in SEEN}


def search(job: dict[str, Any]) -> dict[str, Any]:
    """Noise, mean and scale of labels, as far as they are wanted, in the unit of the labels."""
    by_type, apart = [unpacked(one) for one in job["by_type"]], unpacked(job["apart"])
    everything = np.sort(np.concatenate([*by_type, apart]))
    found: dict[str, Any] = {}
    if "noise_std" in job["wanted"]:
        found |= measured_noise(by_type, everything)
    if "prior_mean" in job["wanted"]:
        found["prior_mean"] = _within(fsum(everything.tolist()) / len(everything), everything)
    if "label_scale" in job["wanted"]:
        found["label_scale"] = spread_of(everything) or 1.0
    return found


# -- measuring noise and scale -------------------------------------------------------------------------


def measured_noise(by_type: Sequence[Array], everything: Array) -> dict[str, Any]:
    """The noise of labels, and what it was measured from.

    "repeats": how far labels of one type differ. Where none do, "spread": how far all labels differ, which
    may be too large. Where none differ at all, "nothing": it is taken as 1.

    >>> measured_noise([np.array([1.0, 3.0]), np.array([5.0])], np.array([1.0, 3.0, 5.0]))
    {'noise_std': 1.4142135623730951, 'noise_from': 'repeats', 'repeats': 1}
    """
    std, repeats = pooled(by_type)
    if std:
        return {"noise_std": std, "noise_from": "repeats", "repeats": repeats}
    spread = spread_of(everything)
    return {"noise_std": spread or 1.0, "noise_from": "spread" if spread else "nothing", "repeats": repeats}


def pooled(by_type: Sequence[Array]) -> tuple[float, int]:
    """The std of labels around the mean of their type, and the degrees of freedom it rests on.

    >>> pooled([np.array([1.0, 3.0]), np.array([5.0])])
    (1.4142135623730951, 1)
    """
    freedom = sum(len(labels) - 1 for labels in by_type)
    squares = [float(np.var(labels)) * len(labels) for labels in by_type if np.ptp(labels) > 0.0]
    return _in_reach(sqrt(fsum(squares) / freedom)) if squares else 0.0, freedom


def noise_between(found: dict[str, Any]) -> list[float] | None:
    """Where the noise lies in four of five cases, given how `measured_noise` found it, if labels are normal.

    >>> [round(end, 2) for end in noise_between({"noise_std": 1.0, "noise_from": "repeats", "repeats": 20})]
    [0.84, 1.27]
    """
    if found.get("noise_from") != "repeats":
        return None
    from scipy.special import gammaincinv

    half = found["repeats"] / 2.0
    return [found["noise_std"] * sqrt(half / float(gammaincinv(half, share))) for share in (0.9, 0.1)]


def spread_of(labels: Array) -> float:
    """The std of labels, or 0 where they do not vary beyond rounding."""
    std = float(np.std(labels)) if len(labels) else 0.0
    return _in_reach(std) if std > LEAST_VARIATION * float(np.abs(labels).max(initial=0.0)) else 0.0


def _within(mean: float, ordered: Array) -> float:
    """The mean of these, which no rounding takes beyond the least or the largest of them."""
    return min(max(mean, float(ordered[0])), float(ordered[-1]))


def _in_reach(std: float) -> float:
    """A std whose square neither overflows nor vanishes."""
    return min(max(std, expect.SMALLEST), expect.LARGEST)


# -- learning a prior ----------------------------------------------------------------------------------


def learnt(means: Sequence[float], stds: Sequence[float]) -> tuple[float, float]:
    """The mean of types, and the upper end of their spread, from sample means with these standard errors.

    >>> mean, spread = learnt([1.0, 2.0, 3.0], [0.1, 0.1, 0.1])
    >>> mean, round(spread, 2)
    (2.0, 2.25)
    """
    order = sorted(zip(means, stds, strict=True))  # whatever order they come in, the bits are the same
    y, errors = np.array(order).T
    variances = errors * errors

    def mean_at(spread: float) -> float:
        weights = 1.0 / (spread * spread + variances)
        return _within(float(np.sum(weights * y) / np.sum(weights)), y)

    def likelihood(spread: float) -> float:
        """The restricted log likelihood: the mean is integrated out."""
        weights = 1.0 / (spread * spread + variances)
        off = y - mean_at(spread)
        return 0.5 * float(np.log(weights).sum() - np.sum(weights * off * off) - np.log(weights.sum()))

    low, high = float(errors.min()) / FURTHEST, FURTHEST * float(np.ptp(y) + errors.max())
    spread = _upper_end(likelihood, _in_reach(low), _in_reach(high))
    return mean_at(spread), spread


def _upper_end(likelihood: Callable[[float], float], low: float, high: float) -> float:
    """The largest argument at which the likelihood is within the allowance of its top."""
    grid = np.geomspace(low, high, SPREADS_TRIED)
    heights = np.array([likelihood(one) for one in grid])
    best = int(heights.argmax())
    top = _top(likelihood, float(grid[max(best - 1, 0)]), float(grid[min(best + 1, SPREADS_TRIED - 1)]))
    level = max(likelihood(top), float(heights[best])) - theory.allowance(SPREAD_CONFIDENCE)
    least = float(grid[heights >= level].max(initial=top))
    most = float(min(grid[grid > least], default=least))
    for _ in range(SPREAD_STEPS):
        middle = sqrt(least * most)
        least, most = (middle, most) if likelihood(middle) >= level else (least, middle)
    return least


def _top(likelihood: Callable[[float], float], low: float, high: float) -> float:
    """Where a hill between two arguments is highest, by thirds."""
    for _ in range(SPREAD_STEPS):
        third = cbrt(high / low)
        left, right = low * third, high / third
        low, high = (left, high) if likelihood(left) < likelihood(right) else (low, right)
    return sqrt(low * high)
