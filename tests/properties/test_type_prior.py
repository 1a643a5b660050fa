"""Priors over types against dense normal models, and savings against what errors are before and after."""

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import Learner, TypeMeans, Value, theory
from breakeven.beliefs.types.across_types import learnt
from breakeven.beliefs.types.type_savings import arrival_rate, familiarity
from breakeven.errors import InvalidInput
from breakeven.values import Fitted

KINDS = ["a", "b", "c", "d"]
STDS = st.floats(0.05, 20.0)
LABELS = st.lists(st.tuples(st.integers(0, 3), st.floats(-10.0, 10.0), STDS), max_size=12)


def dense(labels, prior_mean, prior_std):
    """Means and stds of all types, by solving with the covariance of the labels."""
    kinds = np.array([kind for kind, _, _ in labels], dtype=int)
    noise = np.array([std for _, _, std in labels])
    cross = prior_std**2 * np.equal.outer(np.arange(len(KINDS)), kinds)
    among = prior_std**2 * np.equal.outer(kinds, kinds) + np.diag(noise**2)
    y = np.array([y for _, y, _ in labels]) - prior_mean
    gain = np.linalg.solve(among, cross.T).T if labels else np.zeros((len(KINDS), 0))
    variances = prior_std**2 - (gain * cross).sum(axis=1)
    return prior_mean + gain @ y, np.sqrt(np.maximum(variances, 0.0))


def told(labels, **arguments):
    belief = TypeMeans(0.5, **arguments)
    for kind, y, noise in labels:
        belief.learn(KINDS[kind], y, None, noise)
    return belief


@given(LABELS, st.floats(-3.0, 3.0), STDS)
def test_predictions_are_the_posterior_of_a_dense_normal_model(labels, prior_mean, prior_std):
    predicted = told(labels, prior_mean=prior_mean, prior_std=prior_std).predict_many(KINDS)
    means, stds = dense(labels, prior_mean, prior_std)
    assert np.allclose([one.mean for one in predicted], means, rtol=1e-6, atol=1e-6)
    assert np.allclose([one.std for one in predicted], stds, rtol=1e-5)


@given(LABELS, STDS, STDS, st.integers(0, 3), st.lists(st.integers(0, 3), max_size=20))
def test_a_label_saves_what_the_expected_error_falls_by(labels, prior_std, noise, kind, arrivals):
    belief = told(labels, prior_std=prior_std)
    for one in arrivals:
        belief.arrive(KINDS[one])
    saving = belief.look(KINDS[kind]).saves(noise)
    before = dense(labels, 0.0, prior_std)[1][kind]
    after = dense([*labels, (kind, 0.0, noise)], 0.0, prior_std)[1][kind]
    assert saving.here == pytest.approx(sqrt(2 / np.pi) * (before - after), rel=1e-4, abs=1e-6)
    rate = arrival_rate(arrivals.count(kind) + 1, len(arrivals) + 1, len({*arrivals, kind}))
    assert saving.later == pytest.approx(rate * saving.here)
    assert (saving.lesson, saving.half_life) == (0.0, inf)


@given(LABELS, STDS, st.integers(0, 3))
def test_awaited_labels_save_nothing_twice(labels, prior_std, kind):
    awaiting, belief = TypeMeans(0.5, prior_std=prior_std), told(labels, prior_std=prior_std)
    for i, (one, _, noise) in enumerate(labels):
        awaiting.ask(i, KINDS[one], None, noise)
    assert awaiting.look(KINDS[kind]).saves(1.0) == belief.look(KINDS[kind]).saves(1.0)


def test_under_a_flat_prior_the_first_label_saves_everything():
    belief = TypeMeans(2.0)
    assert (belief.look("a").saves(2.0).here, belief.look("a").saves(2.0).later) == (inf, inf)
    belief.learn("a", 1.0)
    fall = sqrt(2 / np.pi) * (2.0 - 2.0 / sqrt(2.0))
    assert belief.look("a").saves(2.0).here == pytest.approx(fall)


def test_nothing_is_bought_while_the_first_three_labels_are_on_their_way():
    learner = Learner(TypeMeans(0.5, prior_std="learn"), Value(), label_cost=1.0)
    assert [learner.decide(kind).wants_label for kind in KINDS] == [True, True, True, False]
    learner.withdraw("2")
    assert learner.decide("d").wants_label


def test_forgetting_says_how_long_a_saving_lasts():
    belief = TypeMeans(1.0, prior_std=1.0, forgetting=10.0)
    assert belief.look("a").saves(1.0).half_life == 10.0
    belief.learn("a", 0.0)
    for _ in range(10):
        belief.arrive("a")
    fall = sqrt(2 / np.pi) * ((1 + 0.5) ** -0.5 - (1 + 0.5 + 1) ** -0.5)
    assert belief.look("a").saves(1.0).here == pytest.approx(fall)


# -- learnt across types -----------------------------------------------------------------------------


def restricted(means, stds, spread):
    """The log likelihood of contrasts between the types, in which their mean has no part."""
    contrasts = np.linalg.svd(np.ones((1, len(means))))[2][1:]
    covariance = contrasts @ np.diag(np.square(stds) + spread**2) @ contrasts.T
    z = contrasts @ means
    return -0.5 * (np.linalg.slogdet(covariance)[1] + z @ np.linalg.solve(covariance, z))


@given(st.lists(st.tuples(st.floats(-5.0, 5.0), st.floats(0.05, 2.0)), min_size=3, max_size=8))
def test_the_spread_is_the_largest_that_the_likelihood_allows(types):
    means, stds = np.array(types).T
    mean, spread = learnt(means.tolist(), stds.tolist())
    grid = np.geomspace(1e-4, 1e4, 300)
    heights = np.array([restricted(means, stds, one) for one in grid])
    level = heights.max() - theory.allowance(0.9)
    assert restricted(means, stds, spread) == pytest.approx(level, abs=0.01)
    assert (heights[grid > spread] < level + 0.01).all()
    weights = 1.0 / (stds**2 + spread**2)
    assert mean == pytest.approx((weights * means).sum() / weights.sum(), abs=1e-9)


def test_many_types_say_precisely_how_far_they_spread():
    random = np.random.default_rng(0)
    means = 3.0 + 0.7 * random.standard_normal(20_000)
    mean, spread = learnt((means + 0.1 * random.standard_normal(20_000)).tolist(), [0.1] * 20_000)
    assert (mean, spread) == (pytest.approx(3.0, abs=0.02), pytest.approx(0.7, rel=0.02))


def test_types_that_are_all_alike_spread_no_more_than_noise_hides():
    assert learnt([2.0] * 50, [0.1] * 50)[1] < 0.05


def test_a_prior_is_learnt_when_three_types_have_labels_and_whenever_they_grew_by_a_fifth():
    learner, fits = Learner(TypeMeans(0.1, prior_std="learn"), Value(), label_cost=1e-6), []
    learner.listen(lambda event: fits.append(learner.rounds) if isinstance(event, Fitted) else None)
    for kind in range(40):
        learner.tell(learner.decide(kind, force=True).id, float(kind))
    assert fits == [3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40]
    assert learner.summary().belief["prior_mean"] == pytest.approx(19.5, abs=0.1)
    assert learner.predict("new").mean == learner.summary().belief["prior_mean"]


def test_until_then_a_type_without_labels_is_the_mean_of_the_others():
    belief = TypeMeans(0.1, prior_mean=7.0, prior_std="learn")
    belief.arrive("c")
    assert (belief.predict("c").mean, belief.predict("new").mean) == (7.0, 7.0)
    for y in (1.0, 2.0, 3.0):
        belief.learn("a", y)
    belief.learn("b", 4.0, 1)
    assert (belief.predict("c").mean, belief.predict("new").mean) == (3.0, 3.0)
    assert (belief.predict("a").mean, belief.predict("new").std) == (2.0, inf)
    belief.withdraw(1, "b", 4.0)
    assert belief.predict("b").mean == 2.0


def test_the_lesson_is_the_share_of_errors_that_one_more_type_takes_away():
    belief = TypeMeans(0.1, prior_std="learn")
    for kind, y in zip(KINDS, (1.0, 2.0, 4.0, 8.0), strict=True):
        belief.arrive(kind)
        belief.learn(kind, y)
    for _ in range(2):
        belief.arrive("e")
    belief.adopt({"prior_mean": 3.0, "prior_std": 2.5})
    lesson = 2 / (2 * 4 * 5) * sqrt(2 / np.pi) * 2.5 * 3 / 7
    assert belief.look("e").saves(0.1).lesson == pytest.approx(lesson)
    assert belief.look("a").saves(0.1).lesson == 0.0


@pytest.mark.parametrize("parameters", [{}, {"prior_mean": 0.0, "prior_std": 0.0}, {"prior_std": 1.0}])
def test_a_prior_that_is_none_is_not_adopted(parameters):
    belief = TypeMeans(0.1, prior_std="learn")
    with pytest.raises(InvalidInput, match=r"prior_.*: expected a .*finite number, got"):
        belief.adopt(parameters)
    assert belief.predict("a").std == inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prior_std": 0.0}, "prior_std: expected a positive, finite number, got 0.0"),
        ({"prior_std": inf}, "prior_std: expected a positive, finite number, got inf"),
        ({"prior_std": True}, "prior_std: expected a positive, finite number, got True"),
        ({"prior_std": "fit"}, "prior_std: expected a positive, finite number, None or \"learn\", got 'fit'"),
        ({"forgetting": 0}, "forgetting: expected a positive, finite number, got 0"),
        ({"forgetting": "never"}, "forgetting: expected a positive, finite number, got 'never'"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        TypeMeans(1.0, **arguments)


# -- arrivals ----------------------------------------------------------------------------------------


@given(st.integers(2, 10**12), st.floats(0.0, 1.0))
def test_as_many_types_are_expected_as_were_seen(rounds, share):
    types = max(1, min(int(share * rounds), rounds - 1))
    u = familiarity(types / rounds)
    assert rounds * log(1.0 + u) / u == pytest.approx(types, rel=1e-4)


def test_a_world_of_news_has_no_regulars():
    assert arrival_rate(1, 1000, 1000) == 0.0
    assert arrival_rate(1, 10**9, 10**9 - 1) < 1e-12


@given(st.integers(1, 1000), st.integers(0, 1000))
def test_a_type_that_always_came_will_nearly_always_come(rounds, others):
    rate = arrival_rate(rounds, rounds + others, 1 + (others > 0))
    assert 0.0 <= rate <= rounds / (rounds + others)


def test_a_learnt_prior_follows_a_world_that_moves():
    belief = TypeMeans(0.1, prior_std="learn", forgetting=100.0)
    learner, random = Learner(belief, Value(), label_cost=1.0), np.random.default_rng(0)
    means = random.normal(size=30)
    for t in range(3000):
        k = int(random.integers(30))
        decision = learner.decide(k)
        if decision.wants_label:
            learner.tell(decision.id, means[k] + (100.0 if t >= 1500 else 0.0))
    assert learner.belief.across.prior.mean == pytest.approx(100.0, abs=5.0)


def test_a_label_told_late_for_an_arrival_let_pass_is_as_old_as_that():
    late, asked = (TypeMeans(0.1, forgetting=10.0) for _ in range(2))
    for belief in (late, asked):
        belief.arrive("a")
    asked.ask(1, "a")
    for belief in (late, asked):
        for _ in range(30):
            belief.arrive("a")
    assert late.learn("a", 3.0, 1, age=30) == asked.tell(1, "a", 3.0)
