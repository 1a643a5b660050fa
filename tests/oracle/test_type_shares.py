"""Yes/no labels of types, another way: by simulation, by brute force, and against optimal stopping."""

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import betabinom

from breakeven import Learner, TypeShares, Value, simulate
from breakeven.beliefs.types.share_savings import beta_binomial, each_of_several, expected_costs
from breakeven.beliefs.types.shares import learnt_prior

SETTINGS = 12
WITHIN = 1.1  # of optimal stopping, in all but one of these settings


@pytest.mark.parametrize(("yes", "no"), [(0.5, 0.5), (0.5, 20.5), (30.5, 800.5), (0.02, 0.98)])
def test_chances_are_those_of_a_beta_binomial(yes, no):
    counts = np.array([0.0, 1.0, 7.0, 400.0])
    told, chances = beta_binomial(yes, no, counts)
    for n, some, likely in zip(counts, told, chances, strict=True):
        assert likely == pytest.approx(betabinom(int(n), yes, no).pmf(some), abs=1e-10)
        assert likely.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("price", [0.05, 0.3, 2.0])
@pytest.mark.parametrize(("miss", "alarm"), [(1.0, 1.0), (1.8, 0.2)])
def test_the_cost_after_labels_is_that_of_simulated_ones(price, miss, alarm):
    yes, no, labels = 1.5, 6.5, 9
    random = np.random.default_rng(0)
    told = random.binomial(labels, random.beta(yes, no, size=400_000))
    q = (yes + told) / (yes + no + labels)
    simulated = np.minimum(price, np.minimum(miss * q, alarm * (1.0 - q))).mean()
    assert expected_costs(yes, no, np.array([float(labels)]), miss, alarm, price)[0] == pytest.approx(
        simulated, rel=0.01
    )


def test_two_labels_may_pay_together_where_one_changes_nothing():
    """With Beta(1, 3) one more yes leaves the answer at no: only two of them turn it."""
    costs = expected_costs(1.0, 3.0, np.array([0.0, 1.0, 3.0]), 1.0, 1.0, np.inf)
    assert costs[1] == pytest.approx(costs[0])
    assert costs[2] < costs[0]
    assert each_of_several(1.0, 3.0, 0, 1.0, 1.0, 2.0, 1000.0) > 2.0


def test_a_label_that_changes_no_answer_is_worth_nothing_later():
    assert each_of_several(0.5, 4000.5, 0, 1.0, 1.0, 0.4, 100.0) < 1e-6


def test_what_is_learnt_across_types_is_what_brute_force_finds():
    random = np.random.default_rng(3)
    shares = random.beta(2.0, 8.0, size=60)
    labels = np.full(60, 30.0)
    seen = random.binomial(30, shares) / 30.0
    mean, strength = learnt_prior(seen, labels)

    def height(m, s):
        yes = seen * labels
        return np.sum(betaln(m * s + yes, (1 - m) * s + labels - yes) - betaln(m * s, (1 - m) * s))

    best = max(
        ((m, s) for m in np.linspace(0.05, 0.5, 46) for s in np.geomspace(1, 100, 60)),
        key=lambda a: height(*a),
    )
    assert mean == pytest.approx(best[0], abs=0.03)
    assert 0.3 * best[1] < strength < best[1]  # its lower end


def test_nothing_is_certain_because_it_was_equal_so_far():
    mean, strength = learnt_prior(np.zeros(10), np.full(10, 3.0))
    assert 0.005 < mean < 0.06
    assert strength <= 30.0
    belief = TypeShares()
    for _ in range(100):
        belief.learn("a", 0.0)
    assert belief.predict("a").probability == pytest.approx(0.5 / 101)


# -- optimal stopping ------------------------------------------------------------------------------------


def optimal(rounds, price, miss, alarm):
    """Whether to label on, by labels and yeses so far: Beta(½, ½), and all the rest answered alike."""
    go, value = [], np.zeros(rounds + 1)
    for labels in range(rounds - 1, -1, -1):
        q = (np.arange(labels + 1.0) + 0.5) / (labels + 1.0)
        stop = (rounds - labels) * np.minimum(miss * q, alarm * (1.0 - q))
        buy = price + q * value[1 : labels + 2] + (1.0 - q) * value[: labels + 1]
        go.append(buy < stop)
        value = np.minimum(stop, buy)
    return go[::-1]


def stopped(go, y, price, miss, alarm):
    labels = yes = 0
    while labels < len(y) and go[labels][yes]:
        yes, labels = yes + int(y[labels]), labels + 1
    says_yes = miss * (yes + 0.5) > alarm * (labels - yes + 0.5)
    rest = y[labels:]
    return price * labels + (alarm * np.sum(rest == 0.0) if says_yes else miss * np.sum(rest == 1.0))


def setting(number):
    random = np.random.default_rng([7, number])
    share, rounds = random.uniform(0.01, 0.3), int(np.exp(random.uniform(np.log(300), np.log(900))))
    ratio = 1.0 if number % 2 else np.exp(random.uniform(np.log(0.2), np.log(20.0)))
    miss, alarm = 2.0 * ratio / (1.0 + ratio), 2.0 / (1.0 + ratio)
    price = min(miss * share, alarm * (1.0 - share)) * np.exp(random.uniform(np.log(0.1), np.log(10.0)))
    return share, rounds, miss, alarm, price


def test_the_rule_costs_little_more_than_optimal_stopping():
    ratios = []
    for number in range(SETTINGS):
        share, rounds, miss, alarm, price = setting(number)
        go, ours, best = optimal(rounds, price, miss, alarm), 0.0, 0.0
        for trial in range(4):
            y = (np.random.default_rng([8, number, trial]).random(rounds) < share).astype(float)
            learner = Learner(
                TypeShares(prior_strength="learn"),
                Value(horizon=rounds, scored="labels"),
                label_cost=price,
                miss_cost=miss,
                false_alarm_cost=alarm,
            )
            ours += simulate(learner, [0] * rounds, y).ledger.total_loss
            best += stopped(go, y, price, miss, alarm)
        ratios.append(ours / best)
    assert sum(ratio <= WITHIN for ratio in ratios) >= SETTINGS - 1, ratios
    assert np.exp(np.mean(np.log(ratios))) < 1.05, ratios
