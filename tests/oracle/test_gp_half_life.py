"""A half-life that is left to the data: found where f moves, none where it does not."""

import numpy as np
import pytest

from breakeven import GaussianProcess, Learner, Prior, SquaredExponential, Value
from breakeven.beliefs.gp.kernels import LASTING
from breakeven.errors import InvalidInput
from breakeven.testing.stream_runs import recorded


def fitted(seed, drifts, labels=120):
    """The half-life found in labels of f, which takes on another shape as time goes by, or does not."""
    rng = np.random.default_rng(seed)
    belief = GaussianProcess(1, None, mean="fit", fit="growing", prior=Prior(), forgetting="fit")
    for t in range(labels):
        x = rng.random()
        point = belief.point(x)
        belief.arrive(point)
        phase = t / 25.0 if drifts else 0.0
        belief.learn(point, np.sin(6.0 * x + phase) + 0.1 * rng.normal())
    belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(seed)))
    return belief


@pytest.mark.parametrize("seed", range(3))
def test_what_moves_fades_and_what_stays_does_not(seed):
    moving, still = fitted(seed, drifts=True), fitted(seed, drifts=False)
    assert moving.parameters.half_life < LASTING
    assert moving.describe()["half_life"] <= 400.0
    assert still.parameters.half_life == LASTING
    assert still.describe()["half_life"] is None


def test_before_any_fit_nothing_fades():
    belief = GaussianProcess(1, 0.1, SquaredExponential(0.3), fit="growing", forgetting="fit")
    belief.learn(belief.point(0.5), 1.0)
    for _ in range(1000):
        belief.arrive(None)
    plain = GaussianProcess(1, 0.1, SquaredExponential(0.3), fit="growing")
    plain.learn(plain.point(0.5), 1.0)
    for x in (0.5, 0.8):
        one, other = belief.predict(belief.point(x)), plain.predict(plain.point(x))
        assert (one.mean, one.std) == pytest.approx((other.mean, other.std), rel=1e-9)


def test_the_choice_is_an_event_and_is_kept():
    rng = np.random.default_rng(5)
    belief = GaussianProcess(1, 0.2, mean="fit", fit="growing", prior=Prior(), forgetting="fit")
    learner = Learner(belief, Value(), label_cost=0.05)
    log = recorded(learner)
    for t in range(60):
        x = rng.random()
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, np.sin(6 * x + t / 10.0) + 0.2 * rng.normal())
    assert Learner.fold(log).snapshot() == learner.snapshot()
    assert Learner.restore(learner.snapshot()).belief.parameters == learner.belief.parameters
    assert learner.belief.parameters.half_life < LASTING


def test_without_fits_there_is_nothing_to_leave_to_the_data():
    with pytest.raises(InvalidInput, match="forgetting: expected a number, because fit=None"):
        GaussianProcess(1, 0.1, forgetting="fit")
    with pytest.raises(InvalidInput, match="forgetting"):
        GaussianProcess(1, 0.1, fit="growing", forgetting="often")
