"""What runs beside the requests: a process that is restarted, fits that come back, snapshots from the log."""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from breakeven.folding import fold_stream
from breakeven.service import beside
from breakeven.service.beside import (
    FITTER,
    FitRunner,
    SnapshotRunner,
    WorkerLost,
    WorkerProcess,
    WorkFailed,
    _Progress,
)
from tests.service.samples import ALL_WANTED, TYPES

CURVE = {
    "belief": {"kind": "GaussianProcess", "dim": 1, "noise_std": 0.1, "fit": "growing"},
    "rule": {"kind": "Always"},
    "label_cost": 1.0,
}


@pytest.fixture
def process():
    one = WorkerProcess(limit=30.0)
    yield one
    one.end()


def test_a_process_does_what_it_is_given_and_says_what_failed(process):
    assert asyncio.run(process.run(pow, 2, 10)) == 1024
    with pytest.raises(WorkFailed, match="divmod: ZeroDivisionError"):
        asyncio.run(process.run(divmod, 1, 0))
    assert asyncio.run(process.run(os.getpid)) != os.getpid()
    assert process.starts == 1


def test_a_process_that_died_is_started_anew(process):
    with pytest.raises(WorkerLost, match="died or was killed"):
        asyncio.run(process.run(os._exit, 3))
    assert asyncio.run(process.run(pow, 3, 2)) == 9
    there = asyncio.run(process.run(os.getpid))
    os.kill(there, signal.SIGKILL)
    os.waitid(os.P_PID, there, os.WEXITED | os.WNOWAIT)
    assert asyncio.run(process.run(pow, 3, 3)) == 27
    assert process.starts == 3


def test_a_process_that_takes_too_long_is_killed():
    process = WorkerProcess(limit=0.5)
    with pytest.raises(WorkerLost, match=r"within 0\.5 s"):
        asyncio.run(process.run(time.sleep, 60.0))
    process.end()
    with pytest.raises(WorkerLost, match="was ended"):
        asyncio.run(process.run(pow, 3, 2))


STARTING_A_HELPER = """
import asyncio
from breakeven.service.beside import WorkerProcess

long = "import sys, time; print('begun', file=sys.stderr, flush=True); time.sleep(600.0)"
asyncio.run(WorkerProcess(limit=600.0).run(exec, long))
"""


def test_a_process_ends_at_once_when_its_service_is_killed():
    command = [sys.executable, "-c", STARTING_A_HELPER]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as service:
        assert service.stderr.readline() == b"begun\n"
        service.kill()
        service.communicate(timeout=30.0)  # the helper holds the other end as long as it lives


def labelled_curve(served, count=12):
    served("PUT", "", CURVE, status=201)
    for i in range(count):
        served("POST", "arrivals", {"row": [i / count], "id": f"a{i}"})
        served("POST", f"requests/a{i}/label", {"y": float(i % 3)})


def test_a_process_whose_answer_nobody_reads_ends_without_a_word():
    """Its other thread still reads: Python cannot end in order meanwhile, and says so on standard error."""
    code = beside.START_WORKER.format(path=sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as one:
        one.stdout.close()
        pickle.dump((pow, (2, 10)), one.stdin)
        one.stdin.flush()  # and stays open
        assert one.wait(30) == 0
        assert one.stderr.read() == b""


def test_a_fit_is_done_elsewhere_and_is_in_the_log(served):
    labelled_curve(served)
    live, fits = served.live(), FitRunner()
    assert live.ready.learner.fit_due
    served.run(fits.look(live))
    fits.process.end()
    assert live.ready.learner.fits == 1
    last = list(served.store.entries(live.number))[-1]
    assert (last.kind, last.by) == ("Fitted", FITTER)
    assert fold_stream(served.store, live.stored).snapshot() == live.ready.learner.snapshot()


def test_a_fit_that_was_lost_is_tried_again_with_more_labels(served):
    labelled_curve(served)
    live, fits = served.live(), FitRunner(limit=0.0)  # killed before it can answer
    served.run(fits.look(live))
    assert live.ready.learner.fits == 0
    fits.process.end()
    fits.process = WorkerProcess(limit=60.0)
    served.run(fits.look(live))
    assert fits.process.starts == 0, "as many labels as before: it would be lost again"
    for i in range(3):
        served("POST", "arrivals", {"row": [0.5 + i / 100], "id": f"b{i}"})
        served("POST", f"requests/b{i}/label", {"y": 1.0})
    served.run(fits.look(live))
    fits.process.end()
    assert live.ready.learner.fits == 1


def with_arrivals(served, count):
    served("PUT", "", TYPES, status=201)
    for low in range(0, count, 500):
        rows = [{"row": f"type {i % 7}", "id": f"a{i}"} for i in range(low, min(low + 500, count))]
        served("POST", "arrivals", rows)


def test_a_snapshot_is_made_from_the_log_when_it_is_due(served):
    with_arrivals(served, 500)
    live, runner = served.live(), SnapshotRunner()
    served.run(runner.look(live))
    assert served.store.snapshot_numbers(live.number) == []
    served("POST", "arrivals", [{"row": "flu", "id": f"b{i}"} for i in range(600)])
    served.run(runner.look(live))
    runner.process.end()
    (seq,) = served.store.snapshot_numbers(live.number)
    assert seq == live.written
    assert served.store.snapshot(live.number).body == live.ready.learner.snapshot()
    assert live.mismatch is None


def test_a_log_that_leads_elsewhere_is_said_and_stops_nothing(served, caplog):
    with_arrivals(served, 1000)
    live, runner = served.live(), SnapshotRunner()
    live.ready.learner.state.rounds += 1  # memory that went wrong
    served.run(runner.look(live))
    runner.process.end()
    assert "leads to another state" in live.mismatch
    assert "the snapshot was not kept" in caplog.text
    assert served.store.snapshot_numbers(live.number) == []
    served("POST", "arrivals", {"row": "flu", "id": "later"})


def test_a_snapshot_of_before_an_erasure_is_not_kept(served):
    with_arrivals(served, 20)
    live, runner = served.live(), SnapshotRunner()

    class Slow(WorkerProcess):
        async def run(self, function, *given):
            made = await super().run(function, *given)
            await live.alone(lambda: served.store.rewrite(live.number, []))
            await live.settled()
            served.store.drop_snapshots(live.number, keep=0)  # that of what is left
            return made

    runner.process.end()
    runner.process = Slow(60.0)
    served.run(runner.make(live, _Progress(0)))
    runner.process.end()
    assert served.store.snapshot_numbers(live.number) == []


def test_a_snapshot_that_was_lost_is_said_and_not_tried_again_at_once(served, caplog):
    with_arrivals(served, 1000)
    live, runner = served.live(), SnapshotRunner()
    runner.process.end()
    served.run(runner.look(live))
    assert "stream 'clinic': the snapshot after entry 1001 was lost (" in caplog.text
    caplog.clear()
    served.run(runner.look(live))
    assert caplog.text == ""


def test_an_erasure_leaves_a_snapshot_of_what_is_left_and_another_is_not_due(served, monkeypatch):
    monkeypatch.setattr(beside, "LEAST_REPLAY", 0.001)
    with_arrivals(served, 1000)
    live, runner = served.live(), SnapshotRunner()
    served.run(runner.look(live))
    served("POST", "erase", {"ids": ["a7"]})
    served.run(live.settled())
    kept = served.store.snapshot(live.number)
    assert served.store.snapshot_numbers(live.number) == [kept.seq] == [live.written]
    assert kept.body == live.ready.learner.snapshot()
    runner.process.end()
    monkeypatch.setattr(runner, "make", lambda *_: pytest.fail("it is there"))
    served.run(runner.look(live))


def test_snapshots_aim_at_a_second_of_folding_or_a_part_of_the_log():
    assert _Progress(0).due_at(written=5000) == 1000
    assert _Progress(0).due_at(written=1_000_000) == 20_000
    assert _Progress(0, pace=0.01).due_at(written=1_000_000) == 100
    assert _Progress(0, pace=1e-5).due_at(written=20_000) == pytest.approx(20_000)  # too little to fold


def test_ids_are_known_again_soon_after_a_restart(serving):
    with serving() as served:
        with_arrivals(served, 30)
    with serving() as served:
        live = served.live()
        served.run(live.settled())
        assert live.seen.complete
        assert "a7" in live.seen
        assert "b7" not in live.seen
        assert served("POST", "arrivals", {"row": "type 0", "id": "a7"})["repeated"]


def test_requests_are_as_old_after_a_restart_from_a_snapshot_as_before(serving, clock):
    def ask(served, id):
        clock.go_on(10.0)
        served("POST", "arrivals", {"row": "flu", "id": id})

    def ages(served):
        return [(one["id"], one["asked"]) for one in served("GET", "requests?order=age")["requests"]]

    with serving() as served:
        served("PUT", "", ALL_WANTED, status=201)
        for id in "abc":
            ask(served, id)
            served("POST", f"requests/{id}/skip")  # an entry between them that is no event of the learner
        served("POST", "requests/b/label", {"y": 1.0})
        clock.go_on(10.0)
        served("POST", "requests/b/reopen")
        live, runner = served.live(), SnapshotRunner()
        served.run(runner.make(live, _Progress(0)))
        runner.process.end()
        ask(served, "d")
        before = ages(served)
        assert served.store.snapshot_numbers(live.number)
    with serving() as served:
        assert ages(served) == before
    assert [id for id, _ in before] == ["a", "c", "b", "d"]
