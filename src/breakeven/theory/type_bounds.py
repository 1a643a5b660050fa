"""Theorems 1 and 2: what Algorithm 1 can lose over K types, how often it can label, and what all must lose.

A `form` chooses between two readings: "printed" is the paper's formula, "corrected" what its proof does
establish. Only the latter is a promise; where the two differ there are runs that cross the printed one.

Theorem 1. The proof gives at most ⌈u_k⌉ labels of type k. The paper prints u_k, too little for a type seen
seldom: its first label costs B all the same. Means and predictions lie in [0, 1]: a learner's answers do with
`answers_within=(0, 1)`. How often it fails depends on the arrivals. Algorithm 1 decides without looking at
labels, so where arrivals do not react to labels either, the n-th label overall belongs to a type and a count
that are fixed in advance, and its radius is used with N ≥ n: the chances of failure sum to Σ δ/n³ = ζ(3)·δ.
Where arrivals do react, any type can have any count when N is small: the sum is over types as well, ζ(3)·K·δ.
Any count N′ with N_k ≤ N′ ≤ T in the logarithm keeps the bound, however it came about: at N_k = n the radius
fails with δ/N′³ ≤ δ/n³, so ζ(3)·K·δ in all. `counted="type"` is N′ = N_k (`SeparateTypes`): the proof then
gives at most n labels for the largest n = ⌈u_k⌉ with n in place of T, so fewer, and with less loss.

Theorem 2 bounds the expected loss on the worst problem; one measured loss below it is no contradiction. Let
the mean of type k be f₀ = ½ − Δ or f₁ = ½ + Δ, with equal chances. Whatever p a player answers,
|p − f₀| + |p − f₁| ≥ 2Δ, so a round costs Δ·(1 − TV) on average at least: TV is the distance between the laws
of all that was seen by then under f₀ and under f₁. Only labels of this type tell the two apart, so by Pinsker
TV ≤ Δ·√n/σ, where n of them are bought on average. In all that is B·n + M_k·Δ·(1 − Δ·√n/σ), whose least value
over n is M_k·Δ − M_k²·Δ⁴/(4σ²B). With Δ = a·(σ²B/M_k)^⅓ it is (a − a⁴/4)·(σ²B)^⅓·M_k^⅔, most at a = 1: ¾ in
place of the printed ¼. Means lie in [0, 1], so Δ is ½ at most, less than that while M_k < 8σ²B. There it is
M_k/2 − M_k²/(64σ²B): more than ⅜·M_k, and less than the ½·M_k that never labelling and answering ½ can lose.
What is printed is more than ½·M_k while M_k < σ²B/8, so there it cannot hold.

Notation: M_k arrivals of type k (expected ones may be fractions), T rounds, K types, B label_cost, σ
noise_std, δ delta, λ threshold_scale, u_k = 2σ² log(2T³/δ)·λ⁻²·B^(−⅔)·M_k^(⅔).
"""

from collections.abc import Sequence
from math import ceil, pi
from typing import Literal, NamedTuple

import numpy as np

from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.theory.thresholds import confidence_spread

Form = Literal["corrected", "printed"]
"""Which formula: as printed in the paper, or as corrected."""
FORMS = ("corrected", "printed")
Counted = Literal["all", "type"]
"""Whose labels the logarithm of a radius counts: those of all types, or those of its own type."""
ZETA_3 = 1.2020569031595942


def is_corrected(form: Form) -> bool:
    """Whether the corrected form is meant; any other word is refused.

    >>> is_corrected("corrected"), is_corrected("printed")
    (True, False)
    """
    return bool(expect.one_of("form", form, FORMS) == "corrected")


# -- arrivals of each type ---------------------------------------------------------------------------


def arrivals_of(arrivals: Sequence[float]) -> Array:
    """Arrivals of each type as an array, zeros included.

    >>> arrivals_of([3, 0, 2.5])
    array([3. , 0. , 2.5])
    """
    counts = expect.vector("arrivals", arrivals)
    if (counts < 0).any():
        expect.refuse("arrivals", "no negative count", counts.min())
    return counts


def seen_within(arrivals: Sequence[float], rounds: float | None) -> tuple[Array, float]:
    """Arrivals of the types that were seen, and the rounds.

    >>> seen_within([3, 0, 2], None)
    (array([3., 2.]), 5.0)
    """
    counts = arrivals_of(arrivals)
    least = max(1.0, float(counts.sum()))
    total = least if rounds is None else expect.positive("rounds", rounds)
    if total < least * (1 - 1e-12):  # a sum of fractions may be an ulp above the rounds
        expect.refuse("rounds", f"at least the {least:g} arrivals", rounds)
    return counts[counts > 0], total


def even_split(types: int, rounds: int) -> list[int]:
    """Arrivals per type when they are as equal as can be.

    >>> even_split(3, 8)
    [3, 3, 2]
    """
    share, left = divmod(rounds, types)
    return [share + (k < left) for k in range(types)]


# -- what Algorithm 1 runs with ----------------------------------------------------------------------


class DiscreteSetting(NamedTuple):
    """Label cost, noise, threshold scale, and whether label counts are rounded up."""

    label_cost: float
    noise_std: float
    threshold_scale: float
    corrected: bool

    def label_rate(self, labels: float, delta: float) -> float:
        """Give u_k / M_k^⅔, when `labels` are bought of all types."""
        spread = confidence_spread(self.noise_std, labels, delta)
        rate: float = spread * self.threshold_scale**-2 * self.label_cost ** (-2 / 3)  # proof of Thm 1
        return rate

    def labels_by_type(self, arrivals: Array, delta: float) -> Array:
        """Bound the labels of each type where types count their own: the largest n with n = ⌈u_k(n)⌉.

        From n = M_k down, each ⌈u_k(n)⌉ is a bound itself; no type has more labels than arrivals.
        """
        growth, labels = arrivals ** (2 / 3), np.ceil(arrivals)
        while True:
            rates = np.array([self.label_rate(n, delta) for n in np.maximum(labels, 1.0).tolist()])
            fewer = np.minimum(np.ceil(rates * growth), labels)
            if (fewer == labels).all():
                return labels
            labels = fewer

    def loss(self, arrivals: Array, rounds: float, delta: float) -> float:
        """Bound the loss for these arrivals of the types seen."""
        growth = arrivals ** (2 / 3)
        labels = self.label_rate(rounds, delta) * growth
        return self.bill(float((np.ceil(labels) if self.corrected else labels).sum()), float(growth.sum()))

    def bill(self, labels: float, growth: float) -> float:
        """Charge B + 1 for each label, and the thresholds of the rounds without; growth is Σ M_k^⅔."""
        skipped: float = 1.5 * self.threshold_scale * self.label_cost ** (1 / 3) * growth
        return (self.label_cost + 1) * labels + skipped  # Thm 1


def discrete_setting(
    label_cost: float, noise_std: float, threshold_scale: float, form: Form = "corrected"
) -> DiscreteSetting:
    """Check what Algorithm 1 runs with; print covers no scale but 1.

    >>> discrete_setting(10, 0.1, 1).label_cost
    10.0
    """
    if not is_corrected(form) and threshold_scale != 1:
        expect.refuse("threshold_scale", "1, as the printed theorem covers no other", threshold_scale)
    return DiscreteSetting(
        expect.positive("label_cost", label_cost),
        expect.positive("noise_std", noise_std),
        expect.positive("threshold_scale", threshold_scale),
        is_corrected(form),
    )


# -- Theorem 1 ---------------------------------------------------------------------------------------


def label_bound(
    arrivals: Sequence[float],
    *,
    labels: int | None = None,
    label_cost: float,
    noise_std: float,
    delta: float,
    threshold_scale: float = 1.0,
    counted: Counted = "all",
) -> Array:
    """Most labels that Algorithm 1 buys of each type; with `counted="type"`, those of `SeparateTypes`.

    Certain, whatever the order of arrivals. `labels` is the number bought of all types, when it is known.

    >>> label_bound([1000, 10, 0], label_cost=10, noise_std=0.1, delta=0.01).tolist()
    [12.0, 1.0, 0.0]
    >>> label_bound([1000, 10, 0], label_cost=10, noise_std=0.1, delta=0.01, counted="type").tolist()
    [5.0, 1.0, 0.0]
    """
    counts = arrivals_of(arrivals)
    if _own_labels(counted):
        setting = discrete_setting(label_cost, noise_std, threshold_scale)
        return setting.labels_by_type(counts, _open(delta))
    bought = max(1.0, float(counts.sum())) if labels is None else expect.whole("labels", labels, least=1)
    rate = discrete_setting(label_cost, noise_std, threshold_scale).label_rate(bought, _open(delta))
    return np.ceil(rate * counts ** (2 / 3))  # proof of Thm 1, u


def upper_bound(
    arrivals: Sequence[float],
    *,
    rounds: float | None = None,
    label_cost: float,
    noise_std: float,
    delta: float,
    threshold_scale: float = 1.0,
    form: Form = "corrected",
    counted: Counted = "all",
) -> float:
    """Loss that Algorithm 1 exceeds with `failure_probability` at most.

    `rounds` is the sum of the arrivals, unless more rounds were played than these. With `counted="type"` it
    is the loss of `SeparateTypes`: lower, and exceeded with the probability for arrivals that react.

    >>> setting = dict(label_cost=100, noise_std=0.1, delta=0.01)
    >>> round(upper_bound([10] * 100, **setting)), round(upper_bound([10] * 100, form="printed", **setting))
    (13332, 4364)
    """
    seen, total = seen_within(arrivals, rounds)
    setting = discrete_setting(label_cost, noise_std, threshold_scale, form)
    if not _own_labels(counted):
        return setting.loss(seen, total, _open(delta))
    if not setting.corrected:
        expect.refuse("form", '"corrected", as the paper counts the labels of all types', form)
    labels = setting.labels_by_type(seen, _open(delta))
    return setting.bill(float(labels.sum()), float((seen ** (2 / 3)).sum()))


def expected_upper_bound(
    arrivals: Sequence[float],
    *,
    rounds: float | None = None,
    label_cost: float,
    noise_std: float,
    threshold_scale: float = 1.0,
    form: Form = "corrected",
    arrivals_react: bool = True,
) -> float:
    """Bound the expected loss of Algorithm 1, run with delta 1/T.

    `arrivals_react` is as for `failure_probability`.

    >>> round(expected_upper_bound([500, 500], label_cost=10, noise_std=0.1))
    610
    >>> round(expected_upper_bound([500, 500], label_cost=10, noise_std=0.1, arrivals_react=False))
    596
    """
    seen, total = seen_within(arrivals, rounds)
    likely = discrete_setting(label_cost, noise_std, threshold_scale, form).loss(seen, total, 1 / total)
    failure = _failure(seen.size, 1 / total, form, expect.truth("arrivals_react", arrivals_react))
    return likely + (label_cost + 1) * total * failure  # remark after Thm 2


def worst_case_upper_bound(
    types: int,
    rounds: int,
    *,
    label_cost: float,
    noise_std: float,
    delta: float,
    threshold_scale: float = 1.0,
    form: Form = "corrected",
) -> float:
    """Upper bound that holds however arrivals are split among types.

    Printed, it is the bound at T/K arrivals each. Counts that are rounded up can sum to more at an uneven
    split, so the corrected form takes ⌈Σ u_k⌉ + K − 1 labels, which no split exceeds.

    >>> round(worst_case_upper_bound(10, 10_000, label_cost=10, noise_std=0.1, delta=0.01))
    4893
    """
    T, K = expect.whole("rounds", rounds, least=1), expect.whole("types", types, least=1)
    K = min(K, T) if is_corrected(form) else K
    setting = discrete_setting(label_cost, noise_std, threshold_scale, form)
    growth = K * (T / K) ** (2 / 3)  # Cor. 1
    labels = setting.label_rate(T, _open(delta)) * growth
    return setting.bill(ceil(labels) + K - 1 if setting.corrected else labels, growth)


def failure_probability(
    types: int, delta: float, *, form: Form = "corrected", arrivals_react: bool = True
) -> float:
    """Probability that the upper bound of Theorem 1 fails, at most.

    `arrivals_react=False` says that what arrives does not depend on labels seen before, however else it was
    chosen: the number of types then does not matter. That is the paper's setting.

    >>> round(failure_probability(10, 0.01), 4), round(failure_probability(10, 0.01, form="printed"), 4)
    (0.1202, 0.0082)
    >>> round(failure_probability(10, 0.01, arrivals_react=False), 4)
    0.012
    """
    react = expect.truth("arrivals_react", arrivals_react)
    return _failure(expect.whole("types", types, least=1), _open(delta), form, react)


def _failure(types: int, delta: float, form: Form, arrivals_react: bool) -> float:
    if not is_corrected(form):
        return delta * pi**2 / 12  # Thm 1
    return min(1.0, ZETA_3 * delta * (types if arrivals_react else 1))  # Thm 1, its union carried out


def _own_labels(counted: Counted) -> bool:
    return bool(expect.one_of("counted", counted, ("all", "type")) == "type")


def _open(delta: float) -> float:
    return expect.probability("delta", delta, open=True)


# -- Theorem 2 ---------------------------------------------------------------------------------------


def lower_bound(
    arrivals: Sequence[float], *, label_cost: float, noise_std: float, form: Form = "corrected"
) -> float:
    """Least expected loss on the worst problem with these arrivals.

    >>> round(lower_bound([1000, 27, 0], label_cost=1, noise_std=1), 2)
    81.75
    >>> lower_bound([1000, 27, 0], label_cost=1, noise_std=1, form="printed")
    27.25
    >>> round(lower_bound([1], label_cost=1000, noise_std=1), 5)  # printed: 2.5
    0.49998
    """
    return float(_least(arrivals_of(arrivals), label_cost, noise_std, form).sum())


def worst_case_lower_bound(
    types: int, rounds: int, *, label_cost: float, noise_std: float, form: Form = "corrected"
) -> float:
    """Least expected loss on the worst problem and the worst arrivals.

    Printed, every type has T/K arrivals; corrected, the whole numbers nearest to that.

    >>> round(worst_case_lower_bound(8, 8000, label_cost=1, noise_std=1))
    600
    """
    T, K = expect.whole("rounds", rounds, least=1), expect.whole("types", types, least=1)
    if is_corrected(form):
        return lower_bound(even_split(K, T), label_cost=label_cost, noise_std=noise_std)
    return K * float(_least(np.array(T / K), label_cost, noise_std, form))  # Cor. 2


def _least(arrivals: Array, label_cost: float, noise_std: float, form: Form) -> Array:
    B, sigma = expect.positive("label_cost", label_cost), expect.positive("noise_std", noise_std)
    if not is_corrected(form):
        printed: Array = np.cbrt(sigma**2 * B) * np.cbrt(arrivals) ** 2 / 4  # Thm 2
        return printed
    seen = arrivals / (8 * sigma**2 * B)  # 1 where the means ½ ± Δ are 0 and 1
    least: Array = arrivals * np.where(seen < 1, 1 / 2 - seen / 8, 3 / 8 / np.cbrt(np.maximum(seen, 1)))
    return least  # proof of Thm 2, with |p − f₀| + |p − f₁| ≥ 2Δ
