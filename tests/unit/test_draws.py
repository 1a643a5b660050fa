"""Draws: one uniform number for every round, whatever was drawn before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from breakeven import Learner, RandomSelect, TypeMeans
from breakeven.errors import InvalidInput
from breakeven.rules import Draws


@given(st.integers(0, 2**63 - 1), st.lists(st.integers(0, 2**40), min_size=1, max_size=20))
def test_a_rounds_number_does_not_depend_on_what_was_drawn_before(seed, rounds):
    draws = Draws(seed)
    assert [draws(t) for t in rounds] == [Draws(seed)(t) for t in rounds]


def test_numbers_drawn_in_turn_are_those_drawn_anywhere():
    in_turn = Draws(5)
    numbers = [in_turn(t) for t in range(1, 1001)]
    anywhere = Draws(5)
    for t in np.random.default_rng(0).permutation(np.arange(1, 1001)):
        assert anywhere(int(t)) == numbers[t - 1]


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63 - 1])
def test_numbers_are_uniform(seed):
    draws = Draws(seed)
    numbers = [draws(t) for t in range(1, 20_001)]
    assert kstest(numbers, "uniform").pvalue > 0.01
    assert min(numbers) >= 0.0
    assert max(numbers) < 1.0


def test_numbers_have_no_memory():
    draws = Draws(0)
    numbers = np.array([draws(t) for t in range(1, 20_001)])
    for lag in (1, 2, 255, 256, 257):
        assert abs(np.corrcoef(numbers[:-lag], numbers[lag:])[0, 1]) < 4 / np.sqrt(len(numbers))


def test_seeds_next_to_each_other_have_nothing_in_common():
    one, other = (np.array([draws(t) for t in range(1, 5001)]) for draws in (Draws(7), Draws(8)))
    assert len(set(one) & set(other)) == 0
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(5000)


def test_no_number_comes_twice():
    draws = Draws(3)
    numbers = [draws(t) for t in range(20_000)]
    assert len(set(numbers)) == len(numbers)


def test_the_numbers_of_seed_zero_stay_what_they_are():
    draws = Draws(0)
    assert {t: draws(t) for t in (1, 2, 1000)} == {
        1: 0.24154919656271812,
        2: 0.11142585551493822,
        1000: 0.05665681304802672,
    }


@pytest.mark.parametrize("seed", [2**63, 2**64, 2**128, 10**400])
def test_a_seed_too_large_to_keep_is_refused(seed):
    with pytest.raises(InvalidInput, match=f"^seed: expected a whole number of at most {2**63 - 1}, got "):
        Learner(TypeMeans(noise_std=1.0), RandomSelect(), label_cost=1.0, seed=seed)


@pytest.mark.parametrize("seed", [0, 2**32, 2**63 - 1])
def test_a_large_seed_works_and_is_kept(seed):
    learner = Learner(TypeMeans(noise_std=1.0), RandomSelect(), label_cost=1.0, seed=seed)
    learner.decide_many(["a"] * 10)
    again = Learner.restore(learner.snapshot())
    assert again.seed == seed
    assert [again.decide("a").wants_label for _ in range(20)] == [
        learner.decide("a").wants_label for _ in range(20)
    ]


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**40), st.integers(0, 1500), st.integers(0, 3))
def test_many_numbers_are_those_drawn_one_by_one(seed, first, count, stream):
    draws = Draws(seed)
    assert draws.many(first, count, stream).tolist() == [
        draws(t, stream) for t in range(first, first + count)
    ]


def test_streams_of_numbers_have_nothing_in_common():
    draws = Draws(7)
    one, other = np.array([(draws(t), draws(t, 1)) for t in range(1, 5001)]).T
    assert len(set(one) & set(other)) == 0
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(5000)
