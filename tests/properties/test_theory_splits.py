"""How arrivals are split among types: the even split is the hardest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import theory

SPLITS = st.lists(st.integers(0, 400), min_size=1, max_size=12).filter(lambda split: sum(split) > 0)
SETTINGS = st.fixed_dictionaries(
    {
        "label_cost": st.floats(0.01, 1000.0),
        "noise_std": st.floats(0.01, 3.0),
        "delta": st.floats(1e-6, 0.9),
    }
)
ROUNDING = 1 + 1e-12


@given(SPLITS, SETTINGS, st.floats(0.1, 10.0))
def test_no_split_exceeds_the_worst_case_upper_bound(split, setting, scale):
    types, rounds = len(split), sum(split)
    worst = theory.worst_case_upper_bound(types, rounds, threshold_scale=scale, **setting)
    assert theory.upper_bound(split, threshold_scale=scale, **setting) <= worst * ROUNDING


@given(SPLITS, SETTINGS)
def test_no_split_exceeds_the_printed_worst_case_upper_bound(split, setting):
    worst = theory.worst_case_upper_bound(len(split), sum(split), form="printed", **setting)
    assert theory.upper_bound(split, form="printed", **setting) <= worst * ROUNDING


@given(st.integers(1, 20), st.integers(1, 300), SETTINGS)
def test_the_printed_worst_case_is_the_bound_of_equal_arrivals(types, each, setting):
    equal = theory.upper_bound([each] * types, form="printed", **setting)
    worst = theory.worst_case_upper_bound(types, types * each, form="printed", **setting)
    assert worst == pytest.approx(equal, rel=1e-12)


@given(st.integers(1, 20), st.integers(1, 300), SETTINGS)
def test_the_corrected_worst_case_adds_less_than_a_label_per_type_to_equal_arrivals(types, each, setting):
    equal = theory.upper_bound([each] * types, **setting)
    worst = theory.worst_case_upper_bound(types, types * each, **setting)
    slack = (setting["label_cost"] + 1) * (types - 1)
    assert equal <= worst * ROUNDING
    assert worst <= (equal + slack) * ROUNDING


@given(SPLITS, SETTINGS, st.sampled_from(["corrected", "printed"]))
def test_no_split_exceeds_the_worst_case_lower_bound(split, setting, form):
    problem = {"label_cost": setting["label_cost"], "noise_std": setting["noise_std"], "form": form}
    worst = theory.worst_case_lower_bound(len(split), sum(split), **problem)
    assert theory.lower_bound(split, **problem) <= worst * ROUNDING


@given(st.integers(1, 20), st.integers(1, 300), SETTINGS, st.sampled_from(["corrected", "printed"]))
def test_the_worst_case_lower_bound_is_that_of_equal_arrivals(types, each, setting, form):
    problem = {"label_cost": setting["label_cost"], "noise_std": setting["noise_std"], "form": form}
    worst = theory.worst_case_lower_bound(types, types * each, **problem)
    assert worst == pytest.approx(theory.lower_bound([each] * types, **problem), rel=1e-12)


@given(SPLITS, st.floats(0.01, 1e6), st.floats(0.001, 100.0))
def test_the_corrected_lower_bound_is_below_what_never_labelling_loses(split, label_cost, noise_std):
    never = sum(split) / 2
    assert theory.lower_bound(split, label_cost=label_cost, noise_std=noise_std) < never


@given(SPLITS, SETTINGS)
def test_lower_bounds_lie_below_upper_bounds(split, setting):
    below = theory.lower_bound(split, label_cost=setting["label_cost"], noise_std=setting["noise_std"])
    above = theory.expected_upper_bound(
        split, label_cost=setting["label_cost"], noise_std=setting["noise_std"]
    )
    assert below <= above
