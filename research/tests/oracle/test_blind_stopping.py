"""Rules that know no size: against those that do, and against others on streams of their own prior."""

import numpy as np
import pytest

from breakeven_research.experiments.runs.blind_stopping import (
    SPREAD_OF_SIZES,
    scaleless_plan,
    scaleless_run,
    sizeless_plan,
    sizeless_run,
)
from breakeven_research.experiments.runs.stopping import optimal_looking, optimal_stopping, stopping_run


def total(run, cost):
    return cost * run.labels[-1] + run.errors[-1]


# -- exceptions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [12, 60])
def test_where_sizes_do_not_vary_the_first_exception_tells_all(rounds):
    plan = sizeless_plan(rounds, spread=1e-9)
    for place, size in enumerate(np.exp(plan.places)):
        known, _ = optimal_stopping(rounds, cost=1.0, size=float(size))
        for n in range(1, rounds):
            assert [place < end for end in plan.stops[n]] == known[n][1:].tolist()


@pytest.mark.parametrize("rounds", [20, 100, 500])
def test_it_looks_about_as_long_as_whoever_knows_the_size_from_the_first_exception_on(rounds):
    assert sizeless_plan(rounds).looks == pytest.approx(optimal_looking(rounds), rel=0.1)


def drawn_stream(random, rounds):
    """Labels at a price of 1, drawn as the rule takes them to be."""
    share, middle = random.beta(0.5, 0.5), random.uniform(-np.log(rounds), np.log(rounds))
    sizes = np.exp(middle + SPREAD_OF_SIZES * random.normal(size=rounds) - SPREAD_OF_SIZES**2 / 2)
    return np.where(random.random(rounds) < share, sizes, 0.0)


def test_on_streams_of_its_own_prior_no_number_of_equal_labels_does_better():
    """After the first exception the others do as it does."""
    random = np.random.default_rng(0)
    streams = [drawn_stream(random, 60) for _ in range(600)]
    own = np.mean([total(sizeless_run(one, 1.0), 1.0) for one in streams])

    def first(one, n):
        return one[:n].any() or n >= len(one)

    for n in (2, 5, 30, 60):
        costs = [
            total(sizeless_run(one, 1.0), 1.0) if first(one, n) else n + one[n:].sum() for one in streams
        ]
        assert own <= np.mean(costs) * 1.02  # the streams are few


def test_it_does_not_depend_on_units():
    labels = drawn_stream(np.random.default_rng(3), 80)
    one, other = sizeless_run(labels, 0.3), sizeless_run(1e4 * labels, 3e3)
    assert one.labels == other.labels
    assert other.errors[-1] == pytest.approx(1e4 * one.errors[-1])


def test_not_knowing_the_size_costs_something():
    """Dear labels, rare exceptions: who knows that they are small looks less long."""
    labels = np.zeros(500)
    labels[::50] = 1.0
    labels[:90] = 0.0
    assert total(stopping_run(labels, 5.0), 5.0) < 0.5 * total(sizeless_run(labels, 5.0), 5.0)


# -- numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("price", "labels", "least", "most"), [(100.0, 3, 1.6, 1.95), (30.0, 4, 1.25, 1.45)])
def test_of_600_normal_labels_three_or_four_are_bought_where_they_are_dear(price, labels, least, most):
    random = np.random.default_rng(1)
    runs = []
    for _ in range(150):
        y = random.normal(5.0, 2.0, 600)
        run = scaleless_run(y, 2.0 * price)
        runs.append((run.labels[-1], total(run, 2.0 * price) / np.abs(y - np.median(y)).sum()))
    bought, ratios = np.mean(runs, axis=0)
    assert bought == pytest.approx(labels, abs=0.5)
    assert least < ratios < most


def test_on_scales_of_its_own_prior_no_fixed_number_of_labels_does_better():
    random, rounds = np.random.default_rng(2), 100
    scales = np.exp(random.uniform(-np.log(rounds), np.log(rounds), 600))
    streams = [scale * random.normal(size=rounds) for scale in scales]
    own = np.mean([total(scaleless_run(one, 1.0), 1.0) for one in streams])
    for n in (2, 3, 5, 10, 30, 60, rounds):
        assert own < np.mean([n + np.abs(one[n:] - one[:n].mean()).sum() for one in streams])


def test_it_sees_two_labels_at_least_and_all_where_they_spread_over_many_prices():
    plan = scaleless_plan(50)
    assert min(plan.stops) == 2
    assert scaleless_run(np.random.default_rng(4).normal(size=40), 1e-3).labels[-1] == 40
