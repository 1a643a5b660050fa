"""What a label of a type is worth where labels fade: against plain sums, and against the best plan."""

from math import pi, sqrt

import numpy as np
import pytest

from breakeven import Learner, TypeMeans, Value
from breakeven.beliefs.types.type_savings import arrival_rate, drop, faded_drop

C = sqrt(2.0 / pi)
HALF_LIVES = (5.0, 20.0, 100.0, 1000.0, 1e4)


@pytest.mark.parametrize(
    ("half_life", "off"), [(0.3, 0.04), (1.0, 0.02), *((one, 1e-3) for one in HALF_LIVES)]
)
@pytest.mark.parametrize("left", [1, 2, 30, 2000])
def test_the_closed_form_is_the_sum(half_life, off, left):
    for known in (1e-4, 0.09, 1.0, 50.0):
        for more in (0.01, 1.0, 100.0):
            terms = [drop(1.0, known, more * 2.0 ** (-age / half_life)) for age in range(1, left + 1)]
            assert faded_drop(1.0, known, more, half_life, left) == pytest.approx(sum(terms), rel=off)
    assert faded_drop(1.0, 1.0, 1.0, half_life, 0) == 0.0


@pytest.mark.parametrize("half_life", HALF_LIVES)
@pytest.mark.parametrize("prior_std", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("left", [10, 300])
def test_a_first_label_is_worth_what_it_saves_until_it_is_forgotten(half_life, prior_std, left):
    """Two beliefs grow old side by side, one with the label."""
    without, having = (TypeMeans(0.3, prior_std=prior_std, forgetting=half_life) for _ in range(2))
    for belief in (without, having):
        for k in range(20):
            belief.arrive(k % 4)
    worth = without.look(0).saves(0.3).over(left, lessons=False)
    rate = arrival_rate(6, rounds=21, types=4)
    having.learn(0, 1.0)
    exact = 0.0
    for _ in range(left):
        for belief in (without, having):
            belief.arrive(1)
        exact += rate * C * (without.predict(0).std - having.predict(0).std)
    assert worth == pytest.approx(exact, rel=0.02)


def test_long_half_lives_are_as_none():
    for prior_std in (None, 1.0, "learn"):
        for cost in (0.3, 3.0):
            plain = bought(None, prior_std, cost)
            assert bought(1e9, prior_std, cost) == plain
            moved = np.not_equal(bought(1e6, prior_std, cost), plain)
            assert moved.sum() <= 2  # a label may come an arrival earlier or later
            assert sum(bought(1e6, prior_std, cost)) == sum(plain)
            assert sum(bought(800.0, prior_std, cost)) < 1.25 * sum(plain)


def bought(half_life, prior_std, cost):
    random = np.random.default_rng(1)
    means = random.normal(size=10)
    learner = Learner(TypeMeans(0.3, prior_std=prior_std, forgetting=half_life), Value(), label_cost=cost)
    wanted = []
    for k in random.integers(10, size=600).tolist():
        decision, y = learner.decide(k), means[k] + 0.3 * random.normal()
        wanted.append(decision.wants_label)
        if decision.wants_label:
            learner.tell(decision.id, y)
    return wanted


# -- the best that can be done, by its own numbers ---------------------------------------------------


class OneType:
    """One type that comes with chance `rate`; W labels' worth are known beside a prior of `prior` labels.

    Costs of all that is left to come are arrays over a grid of W, one round after the other from the end.
    """

    def __init__(self, half_life, rate, prior, price):
        self.fading, self.half_life = 2.0 ** (-1.0 / half_life), half_life
        self.rate, self.prior, self.price = rate, prior, price
        self.grid = np.concatenate([[0.0], np.geomspace(1e-4 * min(prior, 1.0), 300.0, 500)])
        self.more = np.minimum(self.grid + 1.0, self.grid[-1])

    def error(self, known):
        return C / np.sqrt(self.prior + known)

    def after(self, costs, known):
        return np.interp(self.fading * known, self.grid, costs)

    def branches(self, costs):
        without = self.error(self.grid) + self.after(costs, self.grid)
        return without, self.error(self.more) + self.price + self.after(costs, self.more)

    def best(self, rounds):
        costs = np.zeros_like(self.grid)
        for _ in range(rounds):
            arrived = np.minimum(*self.branches(costs))
            costs = self.rate * arrived + (1.0 - self.rate) * self.after(costs, self.grid)
        return costs[0]

    def under_value(self, rounds):
        costs = np.zeros_like(self.grid)
        for left in range(rounds):
            without, having = self.branches(costs)
            arrived = np.where(self.worth(left) > self.price, having, without)
            costs = self.rate * arrived + (1.0 - self.rate) * self.after(costs, self.grid)
        return costs[0]

    def worth(self, left):
        return np.array(
            [
                drop(1.0, known, 1.0) + faded_drop(self.rate, known, 1.0, self.half_life, left)
                for known in (self.prior + self.grid).tolist()
            ]
        )


@pytest.mark.parametrize("half_life", [5.0, 30.0, 200.0])
@pytest.mark.parametrize("price", [0.3, 3.0, 30.0])
@pytest.mark.parametrize(("rate", "prior"), [(1.0, 0.01), (1.0, 1.0), (0.1, 0.1)])
def test_it_costs_hardly_more_than_the_best_plan(half_life, price, rate, prior):
    world, rounds = OneType(half_life, rate, prior, price), int(min(8 * half_life, 240))
    assert world.under_value(rounds) <= 1.05 * world.best(rounds)
