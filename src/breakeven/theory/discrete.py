"""Theorem 1: what Algorithm 1 can lose and how often it can label, over K types.

The proof gives at most ⌈u_k⌉ labels of type k. The paper prints u_k, too little for a type seen seldom: its
first label costs B all the same. Means and predictions lie in [0, 1].
Notation: M_k arrivals of type k, T rounds, B label_cost, σ noise_std, δ delta, λ threshold_scale,
u_k = 2σ² log(2T³/δ)·λ⁻²·B^(−⅔)·M_k^(⅔).
"""

from collections.abc import Sequence
from math import ceil, pi

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.theory.arrivals import counted, seen_within
from breakeven.theory.forms import Form, is_corrected
from breakeven.theory.setting import setting_of

ZETA_3 = 1.2020569031595942


def label_bound(
    arrivals: Sequence[float],
    *,
    labels: int | None = None,
    label_cost: float,
    noise_std: float,
    delta: float,
    threshold_scale: float = 1.0,
) -> NDArray[np.float64]:
    """Most labels that Algorithm 1 buys of each type.

    Certain, whatever the order of arrivals. `labels` is the number bought of all types, when it is known.

    >>> label_bound([1000, 10, 0], label_cost=10, noise_std=0.1, delta=0.01).tolist()
    [12.0, 1.0, 0.0]
    """
    counts = counted(arrivals)
    bought = max(1.0, float(counts.sum())) if labels is None else expect.whole("labels", labels, least=1)
    rate = setting_of(label_cost, noise_std, threshold_scale).label_rate(bought, _open(delta))
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
) -> float:
    """Loss that Algorithm 1 exceeds with `failure_probability` at most.

    `rounds` is the sum of the arrivals, unless more rounds were played than these.

    >>> setting = dict(label_cost=100, noise_std=0.1, delta=0.01)
    >>> round(upper_bound([10] * 100, **setting)), round(upper_bound([10] * 100, form="printed", **setting))
    (13332, 4364)
    """
    seen, total = seen_within(arrivals, rounds)
    return setting_of(label_cost, noise_std, threshold_scale, form).loss(seen, total, _open(delta))


def expected_upper_bound(
    arrivals: Sequence[float],
    *,
    rounds: float | None = None,
    label_cost: float,
    noise_std: float,
    threshold_scale: float = 1.0,
    form: Form = "corrected",
) -> float:
    """Bound the expected loss of Algorithm 1, run with delta 1/T.

    >>> round(expected_upper_bound([500, 500], label_cost=10, noise_std=0.1))
    610
    """
    seen, total = seen_within(arrivals, rounds)
    likely = setting_of(label_cost, noise_std, threshold_scale, form).loss(seen, total, 1 / total)
    return likely + (label_cost + 1) * total * _failure(seen.size, 1 / total, form)  # remark after Thm 2


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
    setting = setting_of(label_cost, noise_std, threshold_scale, form)
    growth = K * (T / K) ** (2 / 3)  # Cor. 1
    labels = setting.label_rate(T, _open(delta)) * growth
    return setting.bill(ceil(labels) + K - 1 if setting.corrected else labels, growth)


def failure_probability(types: int, delta: float, *, form: Form = "corrected") -> float:
    """Probability that the upper bound of Theorem 1 fails, at most.

    >>> round(failure_probability(10, 0.01), 4), round(failure_probability(10, 0.01, form="printed"), 4)
    (0.1202, 0.0082)
    """
    return _failure(expect.whole("types", types, least=1), _open(delta), form)


def _failure(types: int, delta: float, form: Form) -> float:
    return min(1.0, ZETA_3 * types * delta if is_corrected(form) else delta * pi**2 / 12)  # Thm 1


def _open(delta: float) -> float:
    return expect.probability("delta", delta, open=True)
