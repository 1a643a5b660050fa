"""Yes/no labels of rows, another way: scikit-learn's Laplace classifier, and the constant in closed form."""

from math import pi

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from breakeven import Averaged, AveragedShares, Learner, Value
from breakeven.beliefs.averaged.common_label import CommonLabel, worth_of_looking
from breakeven.beliefs.averaged.frame import Frame
from breakeven.beliefs.averaged.members import NULL_MEMBER, SHAPES, Member
from breakeven.beliefs.averaged.odds import AMPLITUDES_OF_ODDS, Odds

DIM, LABELS = 2, 40
RANDOM = np.random.default_rng(4)
PLACES = RANDOM.standard_normal((LABELS, DIM))
SAID = (PLACES[:, 0] + 0.5 * RANDOM.standard_normal(LABELS) > 0.3).astype(float)
ELSEWHERE = RANDOM.standard_normal((7, DIM))
FRAME = Frame(np.zeros(DIM + 1), np.ones(DIM + 1), np.ones(DIM + 1), np.array([[1.0] * DIM + [np.inf]]))
SMOOTH = [i for i, one in enumerate(SHAPES) if one.profile in ("matern", "gauss") and one.linear == 0.0]


def timed(points):
    """With a time behind each, which does not matter."""
    return np.column_stack([points, np.arange(len(points))])


@pytest.mark.parametrize("shape", SMOOTH)
@pytest.mark.parametrize("amplitude", range(len(AMPLITUDES_OF_ODDS)))
def test_a_member_is_a_laplace_classifier(shape: int, amplitude: int) -> None:
    """Modes, means of the log odds and evidence are scikit-learn's, for the same kernel."""
    length = SHAPES[shape].length * np.sqrt(2.0 * DIM)  # our distances are over √(2D)
    profile = Matern(length, nu=2.5) if SHAPES[shape].profile == "matern" else RBF(length)
    kernel = ConstantKernel(AMPLITUDES_OF_ODDS[amplitude]) * profile + ConstantKernel(pi**2)
    theirs = GaussianProcessClassifier(kernel, optimizer=None).fit(PLACES, SAID).base_estimator_
    members = [NULL_MEMBER, Member(shape, 0, amplitude)]
    ours = Odds(members, FRAME, timed(PLACES), SAID, np.ones(LABELS))
    look = ours.look(timed(ELSEWHERE))
    mean = kernel(ELSEWHERE, PLACES) @ (SAID - theirs.pi_)
    np.testing.assert_allclose(look.mean[1], mean, atol=1e-4)
    K = kernel(PLACES)
    W = theirs.pi_ * (1.0 - theirs.pi_)
    G = np.linalg.inv(K + np.diag(1.0 / W))
    k = kernel(ELSEWHERE, PLACES)
    variance = np.diag(kernel(ELSEWHERE)) - np.einsum("ri,ij,rj->r", k, G, k)
    np.testing.assert_allclose(look.variance[1], variance, atol=1e-3)
    exact = ours._evidence[1]
    assert exact == pytest.approx(theirs.log_marginal_likelihood(theirs.kernel_.theta), abs=1e-3)


def test_the_constant_is_exact() -> None:
    """Beta(½, ½) and the labels, however rare a yes is."""
    y = np.zeros(LABELS)
    y[3] = 1.0
    odds = Odds([NULL_MEMBER], FRAME, timed(PLACES), y, np.ones(LABELS))
    assert odds.shares(odds.look(timed(ELSEWHERE)))[0] == pytest.approx(np.full(7, 1.5 / 41.0))


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_probabilities_are_as_they_say(share: float) -> None:
    """Useless features: the probability of a yes is about the share among the labels, nowhere 0 or 1."""
    random = np.random.default_rng(8)
    learner = Learner(AveragedShares(3), Value(horizon=500, scored="labels"), label_cost=1e-6)
    X, y = random.standard_normal((150, 3)), (random.random(150) < share).astype(float)
    for x, label in zip(X, y, strict=True):
        learner.learn(x, label)
    told = [learner.predict(x).probability for x in random.standard_normal((50, 3))]
    assert min(told) > 0.0
    assert max(told) < 1.0
    assert np.mean(told) == pytest.approx(y.mean(), abs=0.05)


def test_a_rule_in_the_features_is_learnt() -> None:
    random = np.random.default_rng(9)
    X = random.standard_normal((200, 3))
    y = (X[:, 0] + X[:, 1] > 0.0).astype(float)
    learner = Learner(AveragedShares(3), Value(horizon=200, scored="labels"), label_cost=0.2)
    wrong = spent = 0.0
    for x, label in zip(X, y, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            spent += 0.2
            learner.tell(decision.id, label)
        else:
            wrong += abs(decision.prediction.mean - label)
    assert wrong + spent < 0.5 * 0.2 * 200  # labelling everyone would cost 40


def test_equal_labels_are_never_certain() -> None:
    """After only noes a yes stays possible, and with much at stake a label is still wanted."""
    learner = Learner(AveragedShares(2), Value(horizon=5_000, scored="labels"), label_cost=0.02)
    asked = 0
    for x in RANDOM.standard_normal((60, 2)):
        decision = learner.decide(x)
        assert decision.prediction.probability > 0.0
        if decision.wants_label:
            asked += 1
            learner.tell(decision.id, 0.0)
    assert asked > 30


def test_every_member_expects_as_many_yeses_as_were_told() -> None:
    y = (PLACES[:, 0] > 1.2).astype(float)  # rare
    members = [NULL_MEMBER, *(Member(shape, 0, 3) for shape in SMOOTH)]
    odds = Odds(members, FRAME, timed(PLACES), y, np.ones(LABELS))
    shares = odds.shares(odds.look(timed(PLACES)))
    assert shares.mean(axis=1) == pytest.approx(np.full(len(members), (y.sum() + 0.5) / (LABELS + 1.0)))


def test_a_constant_is_told_by_all_labels() -> None:
    """However little a member's log odds are known, its labels are counted as for Beta(½, ½)."""
    y = np.zeros(LABELS)
    y[3] = 1.0
    odds = Odds([NULL_MEMBER, Member(0, 0, 2)], FRAME, timed(PLACES), y, np.ones(LABELS))
    look = odds.look(timed(ELSEWHERE))
    np.testing.assert_allclose(look.labels[1], LABELS, rtol=1e-6)
    shares = odds.shares(look)
    exact = 1.5 * 39.5 / (41.0**2 * 42.0)
    np.testing.assert_allclose(odds.variances(look, shares), np.full((2, 7), exact), rtol=1e-6)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_a_yes_is_rare_shares_are_as_sure_as_they_say(seed: int) -> None:
    """The squared error of the share of yeses is about its variance, where hardly anything says yes."""
    random = np.random.default_rng([12, seed])
    X = random.standard_normal((400, 3))
    true = 1.0 / (1.0 + np.exp(6.0 - 2.0 * X[:, 0]))
    y = (random.random(400) < true).astype(float)
    belief = AveragedShares(3)
    learner = Learner(belief, Value(horizon=800, scored="labels"), label_cost=1.0)
    for x, label in zip(X[:200], y[:200], strict=True):
        learner.learn(x, label)
    told = [learner.predict(x) for x in X[200:]]
    rare = [i for i, one in enumerate(told) if one.probability < 0.02]
    assert len(rare) > 30
    claimed = np.mean([told[i].std ** 2 for i in rare])
    actual = np.mean([(told[i].probability - true[200 + i]) ** 2 for i in rare])
    assert 0.2 < claimed / actual < 5.0


def test_noes_may_be_thinned() -> None:
    """A tenth of the noes, each counted for ten, tell the same shares as all of them."""
    random = np.random.default_rng(13)
    X = random.standard_normal((330, DIM))
    y = (random.random(330) < 1.0 / (1.0 + np.exp(3.0 - 1.5 * X[:, 0]))).astype(float)
    member = Member(SHAPES.index(next(one for one in SHAPES if one.linear == 1.0)), 0, 2)
    kept = np.flatnonzero((y == 1.0) | (np.arange(330) % 5 == 0))
    counts = np.where(y[kept] == 1.0, 1.0, (y == 0.0).sum() / (y[kept] == 0.0).sum())
    whole = Odds([NULL_MEMBER, member], FRAME, timed(X), y, np.ones(330))
    part = Odds([NULL_MEMBER, member], FRAME, timed(X)[kept], y[kept], np.ones(len(kept)), counts)
    elsewhere = timed(ELSEWHERE)
    looks = whole.look(elsewhere), part.look(elsewhere)
    assert part.constant == pytest.approx(whole.constant)
    there = [one.shares(look)[1] for one, look in zip((whole, part), looks, strict=True)]
    np.testing.assert_allclose(
        np.log(there[0] / (1.0 - there[0])), np.log(there[1] / (1.0 - there[1])), atol=0.5
    )
    stds = [
        np.sqrt(one.variances(look, s)[1]) for one, look, s in zip((whole, part), looks, there, strict=True)
    ]
    np.testing.assert_allclose(stds[0], stds[1], rtol=0.5)


def best_look(equal: int, left: int) -> float:
    """What a label is worth after so many equal ones, by the dynamic programme; a label costs 1.

    Sizes are log-uniform, from the least of which all to come cost one label to that of which one costs as
    much as labelling all.
    """
    rounds = equal + left + 1
    sizes, weights = np.geomspace(1.0 / (left + 1.0), left + 1.0, 41), np.full(41, 1.0)
    weights[[0, -1]] = 0.5
    weights /= weights.sum()

    def known(size: float) -> np.ndarray:
        """The least cost from one exception in n labels on, for every n."""
        later, found = np.zeros(rounds + 1), np.zeros(rounds + 1)
        for n in range(rounds - 1, equal, -1):
            q = (np.arange(n + 1) + 0.5) / (n + 1)
            go_on = 1.0 + q * later[1 : n + 2] + (1.0 - q) * later[: n + 1]
            later[: n + 1] = np.minimum((rounds - n) * size * np.minimum(q, 1.0 - q), go_on)
            found[n] = later[1]
        return found

    after = sum(weight * known(size) for weight, size in zip(weights, sizes, strict=True))
    mean, later = float(weights @ sizes), 0.0
    for n in range(rounds - 1, equal - 1, -1):
        q = 0.5 / (n + 1)
        stop, go_on = (rounds - n) * q * mean, 1.0 + q * after[n + 1] + (1.0 - q) * later
        worth = 1.0 + stop - go_on
        later = min(stop, go_on)
    return worth


@pytest.mark.parametrize("left", [100, 400])
def test_equal_labels_are_looked_at_about_as_long_as_is_best(left: int) -> None:
    few = next(n for n in range(3, left) if worth_of_looking(float(n), left - n) <= 1.0)
    assert best_look(few // 2, left - few // 2) > 1.0
    assert best_look(2 * few, left - 2 * few) < 1.0


def test_exceptions_that_are_rare_and_large_are_looked_for() -> None:
    """One in sixty, 500 prices each: a hundred zeros are no reason to stop with two thousand to come."""
    assert worth_of_looking(100.0, 2_000) > 1.0
    assert worth_of_looking(1_200.0, 10**6) < 1.0  # but there is an end to it


def test_sizes_that_spread_say_less() -> None:
    """What is known of share times size is as unsure as that of a sum of random sizes."""
    random = np.random.default_rng(14)
    labels, share = 200, 0.2
    for spread in (0.2, 1.0):
        means, thinned = [], []
        for _ in range(400):
            sizes = np.exp(spread * random.normal(size=random.binomial(labels, share)))
            means.append(sizes.sum() / labels)
            common = CommonLabel.__new__(CommonLabel)
            common.value, common.others = 0.0, sizes
            thinned.append(common.thinned)
        claimed = np.mean(thinned) / (labels * share)
        assert claimed == pytest.approx(np.var(means) / np.mean(means) ** 2 / (1.0 - share), rel=0.3)


def test_one_small_exception_does_not_end_the_looking() -> None:
    """Losses are mostly zero, and the first one is small; a label saves more than it costs."""
    random = np.random.default_rng(5)
    X, some = random.standard_normal((120, 2)), random.random(120) < 0.15
    y = np.where(some, random.exponential(100.0, 120), 0.0)
    learner = Learner(Averaged(2), Value(horizon=250, scored="labels"), label_cost=4.0)
    for x, label in zip(X, y, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, label)
    assert 0.0 < y[y > 0.0][0] < 20.0
    assert learner.belief.labels > 100
