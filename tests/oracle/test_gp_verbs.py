"""The verbs of a process beyond asking and telling: reopening, releasing, detaching, erased arrivals."""

from copy import deepcopy

import msgspec
import numpy as np
import pytest

from breakeven import GaussianProcess, SquaredExponential
from breakeven.beliefs import untuned

X = np.random.default_rng(0).uniform(size=(40, 2))
Y = np.sin(3.0 * X.sum(axis=1))


def process(**arguments):
    return GaussianProcess(2, 0.1, SquaredExponential(0.5), **arguments)


def taught(belief, *keys, told=True):
    for key in keys:
        belief.arrive(X[key])
        belief.ask(key, X[key])
        if told:
            belief.tell(key, X[key], Y[key])
    return belief


def said(belief):
    views = [belief.look(x) for x in X[-5:]]
    return np.array([(view.uncertainty, view.prediction.mean, view.prediction.std) for view in views])


@pytest.mark.parametrize("arguments", [{}, {"forgetting": 30.0}], ids=["lasting", "forgetting"])
def test_a_reopened_label_is_awaited_as_if_it_had_never_been_told(arguments):
    ours = taught(process(**arguments), *range(10))
    ours.reopen(4, X[4], Y[4])
    theirs = process(**arguments)
    for key in range(10):
        taught(theirs, key, told=key != 4)
    assert said(ours) == pytest.approx(said(theirs), abs=1e-12)
    assert (ours.labels, ours.asked) == (9, 10)
    again = ours.tell(4, X[4], 3.0)
    assert again.mean == pytest.approx(theirs.tell(4, X[4], 3.0).mean, abs=1e-12)
    assert said(ours) == pytest.approx(said(theirs), abs=1e-12)


def test_a_reopened_label_keeps_its_noise():
    ours, theirs = process(), process()
    for belief in (ours, theirs):
        belief.ask(1, X[1], noise_std=2.0)
    ours.tell(1, X[1], 5.0)
    ours.reopen(1, X[1], 5.0)
    assert said(ours) == pytest.approx(said(theirs), abs=1e-12)


def test_a_label_long_forgotten_can_be_reopened_and_says_nothing():
    belief = taught(process(forgetting=1.0), 0)
    for _ in range(50):
        belief.arrive(X[0])
    taught(belief, 1, 2)  # now the first is the smaller part, and goes
    belief.adopt(belief.parameters.plain())
    before = said(belief)
    assert belief.labels == 2
    belief.correct(0, X[0], Y[0], 3.0)
    belief.reopen(0, X[0], Y[0])
    assert belief.asked == 3
    belief.tell(0, X[0], 9.0)
    assert said(belief) == pytest.approx(before, abs=1e-5)


def test_a_released_label_stays_and_cannot_be_named():
    belief = taught(process(), *range(6))
    before = said(belief)
    belief.release(3)
    assert (said(belief) == before).all()
    for verb in (lambda: belief.correct(3, X[3], Y[3], 0.0), lambda: belief.withdraw(3, X[3], Y[3])):
        with pytest.raises(KeyError):
            verb()
    belief.correct(4, X[4], Y[4], 7.0)
    assert belief.predict(X[4]).mean > 2.0


@pytest.mark.parametrize("watched", [0, 16])
def test_a_detached_process_knows_what_was_told_and_awaits_nothing(watched):
    ours, theirs = process(), process()
    for belief in (ours, theirs):
        belief.watch(watched)
        taught(belief, *range(8))
    taught(ours, 20, 21, told=False)
    ours.detach()
    assert said(ours) == pytest.approx(said(theirs), abs=1e-12)
    assert (ours.labels, ours.asked) == (8, 8)
    taught(ours, 3)  # the number of an event in another stream: another label
    assert ours.labels == 9


def test_an_erased_arrival_only_takes_time():
    ours, theirs = process(forgetting=20.0), process(forgetting=20.0)
    for belief in (ours, theirs):
        belief.watch(16)
        taught(belief, *range(5))
    ours.arrive(None)
    theirs.arrive(X[9])
    assert said(ours) == pytest.approx(said(theirs), abs=1e-12)
    kept = ours.solver.reservoir
    assert (kept.size, kept.seen) == (5, 6)
    assert theirs.solver.reservoir.seen == 6


def test_an_erased_arrival_where_nothing_is_forgotten_changes_nothing_known():
    belief = taught(process(), *range(5))
    before = said(belief)
    belief.arrive(None)
    assert (said(belief) == before).all()


def test_growth_counts_from_the_labels_that_were_fitted():
    belief = GaussianProcess(2, 0.1, fit="growing")
    taught(belief, *range(20))
    found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    job = belief.labels
    taught(belief, 20, 21, 22)
    belief.adopt(found, job)  # three of four are already there
    assert not belief.fit_due(warm=True)
    taught(belief, 23)
    assert belief.fit_due(warm=True)


def test_labels_withdrawn_while_a_fit_ran_count_as_changes():
    belief = GaussianProcess(2, 0.1, fit="every_label")
    taught(belief, *range(5))
    found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    belief.withdraw(2, X[2], Y[2])
    belief.adopt(found, 5)
    assert belief.fit_due(warm=True)


def test_a_fit_is_due_until_it_is_adopted_and_then_no_more():
    belief = GaussianProcess(2, 0.1, fit="every_label")
    assert not belief.fit_due(warm=True)
    taught(belief, 0)
    assert belief.fit_due(warm=True)
    copy = GaussianProcess(2, 0.1, fit="every_label")
    copy.load(belief.state())
    assert copy.fit_due(warm=True)
    belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(0)), belief.labels)
    assert not belief.fit_due(warm=True)


def test_a_job_is_plain_data_and_fits_alike_anywhere():
    belief = untuned(2)
    belief.watch(32)
    taught(belief, *range(20))
    before = deepcopy(belief.state())
    job = belief.fit_job()
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(job))
    assert belief.state() == before
    ours, theirs = (GaussianProcess.fit(one, np.random.default_rng(1)) for one in (job, sent))
    assert ours == theirs
    belief.adopt(msgspec.json.decode(msgspec.json.encode(ours)), 20)
    assert belief.parameters.plain() == ours


def test_an_unlabelled_job_keeps_the_parameters():
    belief = untuned(2)
    assert belief.fit(belief.fit_job(), np.random.default_rng(0)) == belief.parameters.plain()
