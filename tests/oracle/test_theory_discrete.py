"""Theorems 1 and 2 against hand-worked values and formulas written out a second way."""

from fractions import Fraction
from math import ceil, log, pi

import numpy as np
import pytest
from scipy.special import zeta

from breakeven import theory
from breakeven.errors import InvalidInput

SETTING = {"label_cost": 8.0, "noise_std": 0.5, "delta": 0.1}


def test_label_bound_is_worked_out_by_hand_for_round_numbers():
    # 2σ² = ½, log(2·100³/0.1) = 16.811…, B^(−⅔) = ¼: rate 2.1014 per M^⅔, with M^⅔ = 9, 4, 1
    assert theory.label_bound([27, 8, 1, 0], labels=100, **SETTING).tolist() == [19.0, 9.0, 3.0, 0.0]


def test_label_bound_takes_all_arrivals_as_labels_unless_told():
    known = theory.label_bound([30, 70], labels=100, **SETTING)
    assert theory.label_bound([30, 70], **SETTING).tolist() == known.tolist()
    assert (theory.label_bound([30, 70], labels=10, **SETTING) < known).all()


@pytest.mark.parametrize("scale", [0.25, 1.0, 3.0])
def test_corrected_bound_charges_each_label_and_each_threshold(scale):
    arrivals, B = [27, 8, 0, 65], 8.0
    by_hand = 0.0
    for M in (27, 8, 65):
        labels = ceil(2 * 0.5**2 * log(2 * 100**3 / 0.1) / scale**2 / B ** (2 / 3) * M ** (2 / 3))
        by_hand += (B + 1) * labels + 1.5 * scale * B ** (1 / 3) * M ** (2 / 3)
    assert theory.upper_bound(arrivals, threshold_scale=scale, **SETTING) == pytest.approx(by_hand, rel=1e-12)


def test_printed_bound_is_the_sum_in_the_theorem():
    B = 8.0
    by_hand = sum(
        (B ** (1 / 3) + B ** (-2 / 3)) * 2 * 0.5**2 * log(2 * 100**3 / 0.1) * M ** (2 / 3)
        + 3 / 2 * B ** (1 / 3) * M ** (2 / 3)
        for M in (27, 8, 65)
    )
    printed = theory.upper_bound([27, 8, 65], form="printed", **SETTING)
    assert printed == pytest.approx(by_hand, rel=1e-12)


def test_more_rounds_than_arrivals_enter_the_logarithm_only():
    few = theory.upper_bound([50], form="printed", **SETTING)
    many = theory.upper_bound([50], rounds=500, form="printed", **SETTING)
    extra = (2 + 0.25) * 2 * 0.5**2 * 3 * log(10) * 50 ** (2 / 3)
    assert many - few == pytest.approx(extra)


@pytest.mark.parametrize("form", ["corrected", "printed"])
def test_types_never_seen_cost_nothing(form):
    with_empty = theory.upper_bound([5, 0, 7, 0], form=form, **SETTING)
    assert with_empty == theory.upper_bound([5, 7], form=form, **SETTING)
    assert theory.upper_bound([], form=form, **SETTING) == 0.0
    assert theory.upper_bound([0, 0], form=form, **SETTING) == 0.0


def test_worst_case_in_print_has_the_rate_of_the_corollary():
    K, T, B = 8, 8000, 27.0
    rate = 27 ** (1 / 3) * K ** (1 / 3) * T ** (2 / 3)
    spread = theory.confidence_spread(0.5, T, 0.1)
    worst = theory.worst_case_upper_bound(K, T, label_cost=B, noise_std=0.5, delta=0.1, form="printed")
    assert worst == pytest.approx(rate * (1.5 + spread * (1 + 1 / B)))


def test_an_uneven_split_can_exceed_the_bound_of_the_even_one():
    # a rate just below ¼ with M = 8 each: two labels, but 9 and 7 need three
    setting = {"label_cost": 1.0, "noise_std": 1.0, "delta": 0.1, "threshold_scale": 1.0}
    spread = theory.confidence_spread(1.0, 16, 0.1)
    setting["threshold_scale"] = (spread / 0.2499) ** 0.5
    even = theory.upper_bound([8, 8], **setting)
    uneven = theory.upper_bound([9, 7], **setting)
    assert even < uneven <= theory.worst_case_upper_bound(2, 16, **setting)


def test_failure_probability_is_a_union_over_types_and_label_counts():
    union = sum(3 * 0.01 / j**3 for j in range(1, 20_000))
    assert theory.failure_probability(3, 0.01) == pytest.approx(union, rel=1e-8)
    assert theory.failure_probability(3, 0.01) == pytest.approx(float(zeta(3)) * 0.03, rel=1e-15)
    assert theory.failure_probability(3, 0.01, form="printed") == pytest.approx(0.01 * pi**2 / 12)


def test_failure_probability_is_a_union_over_labels_alone_where_arrivals_do_not_react():
    alone = theory.failure_probability(100, 0.01, arrivals_react=False)
    assert alone == pytest.approx(sum(0.01 / n**3 for n in range(1, 20_000)), rel=1e-8)
    assert alone == theory.failure_probability(1, 0.01)
    printed = theory.failure_probability(3, 0.01, form="printed", arrivals_react=False)
    assert printed == theory.failure_probability(3, 0.01, form="printed")
    with pytest.raises(ValueError, match="arrivals_react: expected True or False"):
        theory.failure_probability(3, 0.01, arrivals_react="yes")


def test_what_failure_may_cost_where_arrivals_do_not_react():
    setting = {"label_cost": 100.0, "noise_std": 0.1}
    reacting = theory.expected_upper_bound([100] * 100, **setting)
    fixed = theory.expected_upper_bound([100] * 100, arrivals_react=False, **setting)
    likely = theory.upper_bound([100] * 100, delta=1e-4, **setting)
    assert (round(reacting - likely), round(fixed - likely)) == (12_141, 121)


def test_failure_probability_stops_at_one():
    assert theory.failure_probability(1000, 0.5) == 1.0


def test_expected_loss_adds_the_worst_loss_times_the_chance_of_failure():
    likely = theory.upper_bound([600, 400], label_cost=8.0, noise_std=0.5, delta=1 / 1000)
    expected = theory.expected_upper_bound([600, 400], label_cost=8.0, noise_std=0.5)
    assert expected == pytest.approx(likely + 9 * 1000 * float(zeta(3)) * 2 / 1000)


def test_expected_loss_of_a_single_round_is_defined():
    assert theory.expected_upper_bound([1], label_cost=8.0, noise_std=0.1) == pytest.approx(9 + 3 + 9)


def test_lower_bound_in_print_is_the_sum_in_the_theorem():
    printed = theory.lower_bound([27, 8, 0], label_cost=64.0, noise_std=0.125, form="printed")
    assert printed == pytest.approx(float(Fraction(1, 4) * Fraction(1, 4) * 4 * (9 + 4)))


def test_the_corrected_lower_bound_is_three_times_the_printed_once_types_are_seen_often_enough():
    B, sigma = 64.0, 1.0
    often = [ceil(8 * B), 2000]
    setting = {"label_cost": B, "noise_std": sigma}
    printed = theory.lower_bound(often, form="printed", **setting)
    assert theory.lower_bound(often, **setting) == pytest.approx(3 * printed)
    assert theory.lower_bound([int(8 * B)], **setting) == pytest.approx(3 / 8 * 8 * B)
    assert theory.lower_bound([4 * B], **setting) == pytest.approx((1 / 2 - 1 / 16) * 4 * B)
    assert theory.lower_bound([4], **setting) < theory.lower_bound([4], form="printed", **setting)


def test_the_constant_of_the_lower_bound_is_the_best_that_its_two_means_give():
    apart = np.linspace(0.0, 3.0, 300_001)  # a: means ½ ± a·(σ²B/M)^⅓
    assert (apart - apart**4 / 4).max() == pytest.approx(3 / 4, rel=1e-9)
    labels = np.linspace(0.0, 3.0, 300_001)  # in units of (σM/B)^⅔, at the best a
    lost = labels + np.maximum(0.0, 1 - np.sqrt(labels))
    assert lost.min() == pytest.approx(3 / 4, rel=1e-9)


def test_printed_lower_bound_exceeds_what_never_labelling_loses():
    M, never = 10, 10 / 2
    assert theory.lower_bound([M], label_cost=1000.0, noise_std=1.0, form="printed") > never
    assert theory.lower_bound([M], label_cost=1000.0, noise_std=1.0) < never


@pytest.mark.parametrize("arrivals", [1, 5, 30, 200, 5000])
@pytest.mark.parametrize("label_cost", [0.1, 3.0, 100.0, 1e4])
@pytest.mark.parametrize("noise_std", [0.1, 1.0])
def test_two_means_half_apart_at_most_force_the_corrected_lower_bound(arrivals, label_cost, noise_std):
    gaps = np.geomspace(1e-3, 0.5, 2000)[:, None]  # means ½ ± gap
    labels = np.concatenate([[0.0], np.geomspace(1e-9, 1e9, 4000)])[None, :]
    alike = np.maximum(0.0, 1 - gaps * np.sqrt(labels) / noise_std)  # 1 − TV, by Pinsker
    forced = (label_cost * labels + arrivals * gaps * alike).min(axis=1).max()
    found = theory.lower_bound([arrivals], label_cost=label_cost, noise_std=noise_std)
    assert found == pytest.approx(forced, rel=1e-3)  # a grid


def least_loss_of_any_player(arrivals, label_cost, noise_std, gap):
    """What the best player loses who knows that the mean is ½ − gap or ½ + gap, with equal chances.

    By a dynamic programme over the arrivals left and the chance of the larger mean, which is all that labels
    tell. Losses are concave in that chance, so straight lines between its values are never above them.
    """
    log_odds = np.linspace(-12.0, 12.0, 401)
    chance = 1 / (1 + np.exp(-log_odds))
    normal, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()
    drift, spread = 2 * (gap / noise_std) ** 2, 2 * gap / noise_std  # of the log odds, by a label
    moved = [log_odds[:, None] + sign * drift + spread * normal for sign in (1, -1)]
    if_high, if_low = (1 / (1 + np.exp(-one)) for one in moved)
    ahead = np.zeros(len(chance))

    def now(chance):
        return 2 * gap * np.minimum(chance, 1 - chance)  # the best answer is one of the two means

    def told(after):
        return (now(after) + np.interp(after, chance, ahead)) @ weights

    for _ in range(arrivals):
        bought = label_cost + chance * told(if_high) + (1 - chance) * told(if_low)
        ahead = np.minimum(now(chance) + ahead, bought)
    return float(ahead[len(chance) // 2])


@pytest.mark.parametrize(
    ("arrivals", "label_cost", "noise_std"),
    [(1, 1000.0, 1.0), (20, 10.0, 1.0), (50, 1.0, 1.0), (100, 10.0, 0.5), (200, 1.0, 0.3), (400, 0.1, 1.0)],
)
def test_no_player_stays_below_the_corrected_lower_bound_and_the_best_comes_near(
    arrivals, label_cost, noise_std
):
    gap = min(0.5, (noise_std**2 * label_cost / arrivals) ** (1 / 3))
    bound = theory.lower_bound([arrivals], label_cost=label_cost, noise_std=noise_std)
    least = least_loss_of_any_player(arrivals, label_cost, noise_std, gap)
    assert bound <= least <= 1.25 * bound


def test_a_larger_constant_than_that_of_the_lower_bound_would_be_wrong_for_some_player():
    M, B, sigma = 1000, 1.0, 0.3
    least = least_loss_of_any_player(M, B, sigma, gap=(sigma**2 * B / M) ** (1 / 3))
    assert 0.75 < least / (sigma**2 * B * M**2) ** (1 / 3) < 0.78


def test_worst_case_lower_bound_has_the_rate_of_the_corollary():
    setting = {"label_cost": 27.0, "noise_std": 0.5}
    rate = 0.25 * 0.5 ** (2 / 3) * 3 * 2 * 8000 ** (2 / 3)
    assert theory.worst_case_lower_bound(8, 8000, form="printed", **setting) == pytest.approx(rate)
    assert theory.worst_case_lower_bound(8, 8000, **setting) == pytest.approx(3 * rate)


def test_worst_case_over_more_types_than_rounds_is_one_arrival_each():
    assert theory.worst_case_lower_bound(50, 7, label_cost=0.1, noise_std=0.1) == pytest.approx(
        theory.lower_bound([1] * 7, label_cost=0.1, noise_std=0.1)
    )
    assert theory.worst_case_upper_bound(50, 7, **SETTING) == theory.worst_case_upper_bound(7, 7, **SETTING)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label_cost": 0.0}, "label_cost: expected a positive, finite number, got 0.0"),
        ({"noise_std": -1.0}, "noise_std: expected a positive, finite number, got -1.0"),
        ({"delta": 1.0}, r"delta: expected a number in \(0, 1\), got 1.0"),
        ({"threshold_scale": 0.0}, "threshold_scale: expected a positive, finite number"),
        ({"form": "printed", "threshold_scale": 2.0}, "threshold_scale: expected 1, as the printed theorem"),
        ({"form": "exact"}, "form: expected one of 'corrected', 'printed', got 'exact'"),
        ({"rounds": 4}, "rounds: expected at least the 5 arrivals, got 4"),
    ],
)
def test_bad_settings_are_refused(change, message):
    with pytest.raises(InvalidInput, match=message):
        theory.upper_bound([2, 3], **(SETTING | change))


@pytest.mark.parametrize("arrivals", [[1, -1], [1, float("nan")], "ab", [[1, 2]]])
def test_bad_arrivals_are_refused(arrivals):
    with pytest.raises(InvalidInput, match="arrivals: expected"):
        theory.lower_bound(arrivals, label_cost=1.0, noise_std=1.0)


@pytest.mark.parametrize(("types", "rounds", "name"), [(0, 5, "types"), (2, 0, "rounds"), (2, 2.5, "rounds")])
def test_worst_cases_need_whole_positive_counts(types, rounds, name):
    with pytest.raises(InvalidInput, match=f"{name}: expected a whole number"):
        theory.worst_case_upper_bound(types, rounds, **SETTING)
    with pytest.raises(InvalidInput, match=f"{name}: expected a whole number"):
        theory.worst_case_lower_bound(types, rounds, label_cost=1.0, noise_std=1.0)
