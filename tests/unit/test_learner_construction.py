"""What a learner is made of, and what the paper's two algorithms set."""

import gc
import weakref

import pytest

from breakeven import (
    Always,
    Audit,
    GaussianProcess,
    Learner,
    Matern,
    SquaredExponential,
    Threshold,
    TypeMeans,
    algorithm1,
    algorithm2,
)
from breakeven.errors import InvalidInput


def test_a_new_learner_has_seen_nothing():
    learner = Learner(TypeMeans(noise_std=1.0), Always(), label_cost=3)
    assert (learner.rounds, learner.label_cost, learner.warmup, learner.seed) == (0, 3.0, 0, 0)
    assert learner.keep == 10_000
    assert dict(learner.awaited) == {}
    assert (learner.ledger.labels, learner.ledger.label_spend) == (0, 0.0)


def test_algorithm1_is_type_means_under_a_threshold():
    learner = algorithm1(label_cost=10.0, noise_std=0.1, threshold_scale=0.5, clock="stream", seed=4)
    assert type(learner.belief) is TypeMeans
    assert (learner.belief.noise_std, learner.belief.delta, learner.belief.prior_mean) == (0.1, 0.05, 0.0)
    assert learner.rule == Threshold(0.5, "stream")
    assert (learner.label_cost, learner.warmup, learner.seed) == (10.0, 0, 4)
    assert algorithm1(label_cost=1.0, noise_std=0.1, delta=0.01).belief.delta == 0.01


@pytest.mark.parametrize("dim", [1, 2, 6])
def test_algorithm2_buys_five_labels_per_dimension_and_then_fits(dim):
    learner = algorithm2(dim, label_cost=10.0, noise_std=0.1)
    assert (learner.warmup, learner.belief.fit_schedule) == (5 * dim, "after_warmup")
    assert learner.belief.kernel == SquaredExponential((1.0,) * dim)
    assert learner.rule == Threshold(1.0, "type")
    assert learner.summary().warmup_left == 5 * dim


def test_algorithm2_takes_a_kernel_a_schedule_and_a_warmup_of_ones_own():
    kernel = Matern(2.5, 0.3)
    learner = algorithm2(
        2, label_cost=1.0, noise_std=None, kernel=kernel, threshold_scale=2.0, warmup=3, fit="growing", seed=8
    )
    assert (learner.warmup, learner.seed, learner.rule.scale) == (3, 8, 2.0)
    assert (learner.belief.kernel, learner.belief.noise_std) == (kernel, None)
    assert learner.belief.fit_schedule == "growing"


def test_algorithm2_without_a_fit_decides_from_the_first_round():
    learner = algorithm2(1, label_cost=1.0, noise_std=0.1, fit=None, warmup=0)
    assert learner.decide(0.5).reason == "unsure"


def test_other_schedules_need_no_warmup():
    for fit in (None, "every_label", "growing"):
        assert Learner(GaussianProcess(1, 0.1, fit=fit), Always(), label_cost=1.0).warmup == 0


def test_everything_but_belief_and_rule_is_named():
    with pytest.raises(TypeError, match="positional argument"):
        Learner(TypeMeans(noise_std=1.0), Always(), 3.0)
    with pytest.raises(
        InvalidInput, match=r"^label_cost: expected either a label cost or labellers, got neither"
    ):
        Learner(TypeMeans(noise_std=1.0), Always())


def test_whole_numbers_of_numpy_are_whole_numbers():
    np = pytest.importorskip("numpy")
    learner = Learner(
        TypeMeans(noise_std=1.0), Always(), label_cost=np.int64(3), warmup=np.int32(2), seed=np.uint64(5)
    )
    assert (type(learner.warmup), type(learner.seed), type(learner.label_cost)) == (int, int, float)
    learner.snapshot()


def test_a_belief_that_lacks_a_kernel_dimension_is_refused_before_a_learner_is_made():
    with pytest.raises(InvalidInput, match="one for each of 3 dimensions"):
        algorithm2(3, label_cost=1.0, noise_std=0.1, kernel=SquaredExponential((1.0, 2.0)))


def test_a_learner_that_is_dropped_is_freed_at_once():
    """Nothing in it refers back to it, so that nobody has to wait for the garbage collector."""
    gc.disable()
    try:
        for rule in (Threshold(), Audit(Threshold(), rate=0.1, bound=1.0)):
            learner = Learner(TypeMeans(noise_std=0.5), rule, label_cost=2.0)
            learner.tell(learner.decide("flu").id, 38.0)
            state = weakref.ref(learner.state)
            del learner
            assert state() is None
    finally:
        gc.enable()
