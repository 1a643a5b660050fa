"""Fits outside the learner: jobs of plain data, run anywhere, adopted when they are found."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import msgspec
import numpy as np
import pytest

from breakeven import GaussianProcess, Learner, Never, Prior, SquaredExponential, Threshold, TypeMeans, Value
from breakeven.beliefs.belief import REFIT_GROWTH
from breakeven.errors import InvalidInput, WrongEvent
from breakeven.learner import FitFound, FitJob, run_fit
from breakeven.testing import LabelledStream
from breakeven.testing.stream_runs import recorded
from breakeven.values import Fitted

BELIEFS = {
    "after the warm-up": (GaussianProcess(1, 0.2, fit="after_warmup"), 3),
    "growing": (GaussianProcess(1, None, SquaredExponential(0.5), mean="fit", fit="growing"), 0),
    "every label": (GaussianProcess(1, 0.2, fit="every_label"), 0),
    "prior": (GaussianProcess(1, 0.2, mean="fit", fit="growing", prior=Prior()), 0),
    "types": (TypeMeans(0.2, prior_std="learn"), 0),
    "noise of types": (TypeMeans(None, prior_mean="fit", label_scale="fit"), 6),
}


def make(kind, **more):
    belief, warmup = BELIEFS[kind]
    return Learner(belief, Threshold(), **{"label_cost": 1e-4, "warmup": warmup, "seed": 5, **more})


def through_the_wire(job):
    return msgspec.msgpack.decode(msgspec.msgpack.encode(job), type=FitJob)


def live(learner, *, outside):
    stream = LabelledStream.of(learner)
    for x, y in zip(stream.points[:14], stream.labels, strict=False):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y)
        if outside and learner.fit_due:
            found = run_fit(through_the_wire(learner.fit_job()))
            learner.adopt(msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=FitFound))
    learner.learn(stream.points[0], 1.0)
    if outside and learner.fit_due:
        learner.adopt(run_fit(learner.fit_job()))


def without_fitting(learner):
    """Everything but the setting that differs."""
    from breakeven.learner.snapshot import seal, unseal

    content = unseal(learner.snapshot())
    content["config"].pop("fitting")
    return seal(content)


@pytest.mark.parametrize("name", ["", "ward"])
@pytest.mark.parametrize("kind", list(BELIEFS))
def test_fits_outside_that_are_adopted_at_once_are_fits_inside_to_the_bit(kind, name):
    inside, outside = make(kind, name=name), make(kind, name=name, fitting="outside")
    logs = recorded(inside), recorded(outside)
    live(inside, outside=False)
    live(outside, outside=True)
    assert inside.fits == outside.fits > 0
    assert logs[0][1:] == logs[1][1:]
    assert without_fitting(inside) == without_fitting(outside)


def test_a_fit_runs_in_another_process():
    learner = make("growing", fitting="outside")
    for x in np.linspace(0, 1, 6):
        learner.learn(x, float(np.sin(4 * x)))
    job = learner.fit_job()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(run_fit, job).result() == run_fit(job)


def test_nothing_is_fitted_inside_and_nothing_is_due_while_a_job_is_out():
    learner = make("growing", fitting="outside")
    log = recorded(learner)
    for x in np.linspace(0, 1, 6):
        learner.learn(x, float(x))
    assert (learner.fits, learner.fit_due) == (0, True)
    before = learner.snapshot()
    job = learner.fit_job()
    assert learner.snapshot() == before
    assert not learner.fit_due
    learner.learn(0.5, 0.5)
    learner.adopt(run_fit(job))
    assert (learner.fits, learner.fit_due) == (1, False)
    assert log[-1] == Fitted(learner.number, "", run_fit(job).parameters, 6)


@pytest.mark.parametrize("kind", ["growing", "prior"])
def test_growth_counts_from_the_labels_that_were_fitted(kind):
    learner, due = make(kind, fitting="outside"), []
    for x in np.linspace(0, 1, 10):
        learner.learn(x, float(np.sin(4 * x)))
    job = learner.fit_job()
    for x in np.linspace(1, 2, 5):
        learner.learn(x, float(np.sin(4 * x)))
    learner.adopt(run_fit(job))
    assert job.labels == 10
    assert learner.fit_due, "15 labels are more than 1.2 times the 10 that were fitted"
    learner.adopt(run_fit(learner.fit_job()))
    while not learner.fit_due:
        due.append(learner.belief.labels)
        learner.learn(float(len(due)), 0.5)
    assert learner.belief.labels == int(np.ceil(15 * REFIT_GROWTH))
    assert due == list(range(15, learner.belief.labels))


def test_what_another_fit_has_overtaken_is_refused():
    learner, other = make("growing", fitting="outside"), make("growing", fitting="outside", name="other")
    for x in np.linspace(0, 1, 6):
        learner.learn(x, float(x))
        other.learn(x, float(x))
    found = run_fit(learner.fit_job())
    learner.adopt(found)
    before = learner.snapshot()
    with pytest.raises(WrongEvent, match=r"expected the fit number 2 of the stream '', got the fit number 1"):
        learner.adopt(found)
    with pytest.raises(WrongEvent, match="of 'other'; make a new job"):
        learner.adopt(run_fit(other.fit_job()))
    with pytest.raises(InvalidInput, match=r"^found: expected what run_fit returned, got "):
        learner.adopt(found.parameters)
    assert learner.snapshot() == before


def test_a_wrong_result_is_refused_and_the_right_one_still_taken():
    learner = make("growing", fitting="outside")
    for x in np.linspace(0, 1, 6):
        learner.learn(x, float(x))
    found, before = run_fit(learner.fit_job()), learner.snapshot()
    for wrong in ({}, {**found.parameters, "noise_std": -1.0}, {**found.parameters, "kernel": "rbf"}):
        with pytest.raises(InvalidInput, match="expected"):
            learner.adopt(msgspec.structs.replace(found, parameters=wrong))
        assert learner.snapshot() == before
    learner.adopt(found)
    assert learner.fits == 1


@pytest.mark.parametrize("kind", list(BELIEFS))
def test_a_fit_that_a_crash_lost_between_two_events_is_due_again(kind):
    learner = make(kind)
    log = recorded(learner)
    live(learner, outside=False)
    last = max(i for i, event in enumerate(log) if isinstance(event, Fitted))
    crashed, whole = Learner.fold(log[:last]), Learner.fold(log[: last + 1])
    assert crashed.fit_due
    assert not whole.fit_due
    restored = Learner.restore(crashed.snapshot())
    for again in (crashed, restored):
        events = []
        again.listen(events.append)
        assert again.fit()
        assert events == [log[last]]
        assert again.snapshot() == whole.snapshot()
        assert not again.fit()


def test_a_job_that_was_out_is_due_again_after_restoring():
    learner = make("growing", fitting="outside")
    for x in np.linspace(0, 1, 6):
        learner.learn(x, float(x))
    learner.fit_job()
    assert not learner.fit_due
    again = Learner.restore(learner.snapshot())
    assert again.fit_due
    assert again.fit()
    assert again.fits == 1


def test_a_belief_that_fits_nothing_has_nothing_due():
    learner = Learner(TypeMeans(0.3), Never(), label_cost=1.0, fitting="outside")
    learner.learn("flu", 1.0)
    assert not learner.fit_due
    assert not learner.fit()


def test_fitting_is_inside_or_outside():
    with pytest.raises(InvalidInput, match=r"^fitting: expected one of 'inside', 'outside', got 'elsewhere'"):
        make("growing", fitting="elsewhere")


def test_a_class_of_ones_own_is_named_to_whoever_runs_its_fit():
    class Own(GaussianProcess):
        pass

    learner = Learner(Own(1, 0.2, fit="growing"), Value(), label_cost=1.0, fitting="outside")
    for x in np.linspace(0, 1, 6):
        learner.learn(x, float(x))
    job = learner.fit_job()
    with pytest.raises(InvalidInput, match=r"^belief: kind: expected a known name, .*, got 'own:Own'"):
        run_fit(job)
    learner.adopt(run_fit(job, beliefs=[Own]))
    assert learner.fits == 1


def test_a_log_written_by_a_learner_that_was_restored_before_its_first_fit_rebuilds_it():
    """How often labels changed is counted alike, whether a snapshot lies between or not."""
    learner = Learner(TypeMeans(0.3, prior_std="learn", forgetting=5.0), Value(), label_cost=1e-3)
    log = [learner.created]
    for i in range(40):
        if i == 4:
            assert learner.fits == 0
            learner = Learner.restore(learner.snapshot())
        if i in (0, 4):
            learner.listen(log.append)
        decision = learner.decide("ab"[i % 2] if i < 5 else "abc"[i % 3])
        if decision.wants_label:
            learner.tell(decision.id, float(i % 3))
    assert learner.fits > 0
    assert Learner.fold(log).snapshot() == learner.snapshot()


@pytest.mark.parametrize("restored", [False, True])
def test_changes_while_the_first_fit_runs_elsewhere_count_from_its_labels(restored):
    belief = TypeMeans(0.3, prior_std="learn", forgetting=5.0)
    learner = Learner(belief, Never(), label_cost=1.0, fitting="outside")
    for x in ("a", "b", "c"):
        learner.learn(x, 1.0)
    job = learner.fit_job()
    learner.learn("a", 2.0)
    learner.learn("b", 2.0)
    if restored:
        learner = Learner.restore(learner.snapshot())
    learner.adopt(run_fit(job))
    assert learner.belief.state()["learnt"]["changes"] == 2


@pytest.mark.parametrize(
    "wrong",
    [{"types": "x"}, {"changes": -5}, {"rounds": None}, {"repeats": "q"}, {"noise_from": object}, None],
)
def test_parameters_that_no_fit_finds_are_refused_and_change_nothing(wrong):
    belief = TypeMeans(None, prior_std="learn", forgetting=5.0)
    learner = Learner(belief, Never(), label_cost=1.0, warmup=3, fitting="outside")
    for x in ("a", "b", "c"):
        learner.tell(learner.decide(x).id, 1.0)
    found, before = run_fit(learner.fit_job()), learner.snapshot()
    parameters = None if wrong is None else found.parameters | wrong
    with pytest.raises(InvalidInput, match="expected"):
        learner.adopt(msgspec.structs.replace(found, parameters=parameters))
    assert learner.snapshot() == before
    learner.adopt(found)
    assert learner.fits == 1
