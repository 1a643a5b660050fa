"""What the library says by `logging`: fits, alarms, restores and files, and nothing unless asked."""

import logging
import subprocess
import sys

import numpy as np
import pytest

from breakeven import Averaged, Check, GaussianProcess, Learner, Threshold, TypeMeans, Value, files
from breakeven.learner import run_fit


def said(caplog):
    return [(record.levelname, record.getMessage()) for record in caplog.records]


@pytest.fixture(autouse=True)
def everything(caplog):
    caplog.set_level(logging.DEBUG, logger="breakeven")


def test_a_restore_says_where_the_stream_goes_on(caplog):
    learner = Learner(TypeMeans(noise_std=1.0), Threshold(), label_cost=5.0, name="surgery")
    learner.decide("flu")
    Learner.restore(learner.snapshot())
    message = "stream 'surgery': restored after event 2, with 1 arrivals and 1 labels awaited"
    assert said(caplog) == [("INFO", message)]


@pytest.mark.parametrize("fitting", ["inside", "outside"])
def test_a_fit_says_its_number_and_its_labels(caplog, fitting):
    belief = GaussianProcess(1, noise_std=0.1, fit="growing")
    learner = Learner(belief, Threshold(), label_cost=1.0, fitting=fitting)
    for x in (0.0, 0.5, 1.0):
        learner.learn([x], x)
    if fitting == "outside":
        assert said(caplog) == []
        learner.adopt(run_fit(learner.fit_job()))
    assert said(caplog) == [("INFO", "stream '': fit 1, to 3 labels")]


def test_a_replay_fits_nothing_and_says_nothing(caplog):
    belief = GaussianProcess(1, noise_std=0.1, fit="growing")
    learner = Learner(belief, Threshold(), label_cost=1.0)
    log = [learner.created]
    learner.listen(log.append)
    for x in (0.0, 0.5, 1.0):
        learner.learn([x], x)
    caplog.clear()
    assert Learner.fold(log).fits == 1
    assert said(caplog) == []


def test_an_alarm_is_a_warning_that_says_what_was_done(caplog):
    random = np.random.default_rng(0)
    learner = Learner(Averaged(dim=1), Check(Value(horizon=400), 0.3), label_cost=0.5, name="clinic")
    for t in range(400):
        x = random.random()
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, np.sin(6 * x) + 0.1 * random.normal() + (9.0 if t >= 200 else 0.0))
    warnings = [message for level, message in said(caplog) if level == "WARNING"]
    assert len(warnings) == learner.ledger.standing.alarms > 0
    assert warnings[0].startswith("stream 'clinic', round 2")
    assert "labels refuted the belief; it set aside its first" in warnings[0]


def test_a_file_that_was_written_is_named(caplog, tmp_path):
    files.write(tmp_path, "page.html", b"")
    assert said(caplog) == [("INFO", f"wrote {tmp_path / 'page.html'}")]


def test_nothing_is_printed_unless_asked():
    code = "import logging, breakeven; logging.getLogger('breakeven.learner').error('unheard')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
