"""The optimal stopping rule against brute force, and against itself on streams of its own prior."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from breakeven_research.experiments.runs.stopping import (
    optimal_looking,
    optimal_stopping,
    stopping_run,
    unsized_run,
)


def chance_of(labels):
    """The probability of a sequence of labels under the Beta(½, ½) prior, one by one."""
    chance, exceptions = Fraction(1), 0
    for n, label in enumerate(labels):
        q = Fraction(2 * exceptions + 1, 2 * n + 2)
        chance *= q if label else 1 - q
        exceptions += label
    return chance


def best_by_brute_force(rounds, cost, size):
    """The least expected loss of all policies that may label any arrival, also after they did not.

    A policy knows its own labels only. It answers an unlabelled arrival by the likelier value.
    """

    @cache
    def value(t, n, k):
        if t == rounds:
            return Fraction(0)
        q = Fraction(2 * k + 1, 2 * n + 2)
        skip = size * min(q, 1 - q) + value(t + 1, n, k)
        label = cost + q * value(t + 1, n + 1, k + 1) + (1 - q) * value(t + 1, n + 1, k)
        return min(skip, label)

    return value(0, 0, 0)


SETTINGS = [
    (rounds, Fraction(cost, 100), Fraction(size, 10))
    for rounds, cost, size in product((1, 2, 5, 12), (1, 7, 20, 45, 80), (5, 10, 30))
]


@pytest.mark.parametrize(("rounds", "cost", "size"), SETTINGS, ids=str)
def test_no_policy_is_better_not_even_one_that_begins_again(rounds, cost, size):
    _, loss = optimal_stopping(rounds, float(cost), float(size))
    assert loss == pytest.approx(float(best_by_brute_force(rounds, cost, size)))


@pytest.mark.parametrize(("rounds", "cost", "size"), [(8, 0.05, 1.0), (8, 0.2, 1.0), (9, 0.1, 0.5)])
def test_the_expected_loss_is_that_of_all_streams_by_their_chance(rounds, cost, size):
    total, chances = 0.0, Fraction(0)
    for labels in product((0, 1), repeat=rounds):
        run = stopping_run(np.array(labels) * size, cost, size)
        total += float(chance_of(labels)) * (cost * run.labels[-1] + run.errors[-1])
        chances += chance_of(labels)
    assert chances == 1
    assert total == pytest.approx(optimal_stopping(rounds, cost, size)[1])


def test_it_labels_everyone_who_costs_next_to_nothing_and_no_one_who_costs_more_than_a_guess():
    labels = np.array([0.0, 1.0, 0.0, 0.0, 1.0])
    assert stopping_run(labels, cost=1e-6).labels[-1] == 5
    assert stopping_run(labels, cost=100.0).labels[-1] == 0
    assert stopping_run(labels, cost=100.0).errors[-1] == 2.0


def test_where_exceptions_are_the_rule_it_answers_them():
    run = stopping_run(np.ones(400), cost=0.5)
    assert 0 < run.labels[-1] < 400
    assert run.errors[-1] == 0.0


def test_it_does_not_stop_too_soon_at_a_rare_yes():
    """After three zeros in a row another label is still worth a tenth of a miss."""
    stops, _ = optimal_stopping(2000, cost=1 / 60)
    assert not stops[3][0]
    assert stops[1999][0]


@pytest.mark.parametrize("rounds", [5, 40, 200])
def test_without_the_size_it_looks_longer_than_for_small_exceptions_and_shorter_than_for_large(rounds):
    def looks(size):
        stops, _ = optimal_stopping(rounds, cost=1.0, size=size)
        return next((n for n in range(rounds) if stops[n][0]), rounds)

    assert looks(1.0 / rounds) < optimal_looking(rounds) < looks(float(rounds))


def test_without_the_size_it_looks_as_long_at_any_price_and_knows_the_size_from_the_first_exception_on():
    zeros = np.zeros(100)
    assert {unsized_run(zeros, cost).labels[-1] for cost in (0.01, 1.0, 100.0)} == {optimal_looking(100)}
    labels = np.append([0.0, 0.0, 0.0, 1.0], zeros)
    assert unsized_run(labels, cost=2.0).labels[-1] == 4
    assert unsized_run(labels, cost=1e-4).labels[-1] == len(labels)
