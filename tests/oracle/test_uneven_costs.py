"""Answers too low and too high that cost differently: what is answered, claimed and counted, another way."""

import numpy as np
import pytest

from breakeven import GaussianProcess, Learner, SquaredExponential, TypeMeans, Value
from breakeven.values import counted, expected_error

LEVELS = (0.1, 0.5, 0.8, 0.97)


def process(level, forgetting=None):
    kernel = SquaredExponential(lengthscale=0.5, amplitude=2.0)
    belief = GaussianProcess(1, 0.6, kernel, mean=1.0, forgetting=forgetting, level=level)
    for x, y in ((0.1, 2.0), (0.7, -0.4), (1.3, 1.1)):
        belief.learn(belief.point(x), y)
    return belief


def types(level, forgetting=None):
    belief = TypeMeans(0.6, prior_mean=1.0, prior_std=1.5, forgetting=forgetting, level=level)
    for y in (2.0, 2.9, 1.1):
        belief.learn("a", y)
    return belief


POINTS = {process: 0.4, types: "a"}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("make", POINTS, ids=lambda one: one.__name__)
class TestABelief:
    def test_answers_the_quantile_of_least_expected_cost(self, make, level):
        belief, even = make(level), make(0.5)
        answer = belief.predict(belief.point(POINTS[make]))
        known = even.predict(even.point(POINTS[make]))
        random = np.random.default_rng(1)
        labels = known.mean + np.hypot(known.std, known.noise_std) * random.standard_normal(400_000)
        assert np.mean(labels < answer.mean) == pytest.approx(level, abs=0.004)
        cost = {p: counted(labels - p, level).mean() for p in answer.mean + np.array([-0.2, 0.0, 0.2])}
        assert min(cost, key=cost.get) == answer.mean
        assert cost[answer.mean] == pytest.approx(belief_claims(belief, make), rel=0.01)

    def test_keeps_its_intervals(self, make, level):
        belief, even = make(level), make(0.5)
        answer, known = (one.predict(one.point(POINTS[make])) for one in (belief, even))
        assert answer.interval(0.9) == known.interval(0.9)
        assert answer.interval(0.9, of="label") == known.interval(0.9, of="label")

    @pytest.mark.parametrize("forgetting", [None, 30.0])
    def test_says_savings_in_the_errors_that_count(self, make, level, forgetting):
        plain, uneven = (saves(make(one, forgetting), make) for one in (0.5, level))
        factor = expected_error(level) / expected_error(0.5)
        for field in ("here", "later", "outright"):
            assert getattr(uneven, field) == pytest.approx(factor * getattr(plain, field), rel=1e-12)
        assert uneven.over(50, lessons=True) == pytest.approx(
            factor * plain.over(50, lessons=True), rel=1e-12
        )


def saves(belief, make):
    belief.watch(16)
    point = belief.point(POINTS[make])
    return belief.look(point).saves(belief.traits.noise_std)


def belief_claims(belief, make):
    return saves(belief, make).outright


@pytest.mark.parametrize("level", LEVELS)
def test_the_expected_error_of_a_normal_number_is_twice_its_density(level):
    numbers = np.random.default_rng(0).standard_normal(1_000_000)
    best = np.quantile(numbers, level)
    assert counted(numbers - best, level).mean() == pytest.approx(expected_error(level), rel=0.01)


def test_at_the_median_everything_has_the_bits_of_one_cost():
    def stream(**costs):
        learner = Learner(process(0.5), Value(horizon=60), label_cost=0.3, **costs)
        xs = np.random.default_rng(2).random(40)
        return [learner.decide(x) for x in xs], learner.snapshot()

    assert stream(error_cost=3.0) == stream(under_cost=3.0, over_cost=3.0)
