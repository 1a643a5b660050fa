"""Yes/no labels of rows, another way: scikit-learn's Laplace classifier, and the constant in closed form."""

from math import pi

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from breakeven import AveragedShares, Learner, Value
from breakeven.beliefs.averaged.members import NULL_MEMBER, SHAPES, Frame, Member
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
