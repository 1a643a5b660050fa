"""Streams that take long to read: what a fold has done before a kill is not done again after it."""

import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

from breakeven.errors.serving import NotReady
from breakeven.folding import check_stream, entry_of, fold_stream
from breakeven.learner import Learner
from breakeven.service import folded
from breakeven.service.clock import Clock
from breakeven.service.folded import FoldWatch, read_folded
from breakeven.service.setting_up import create
from breakeven.store import open_store
from breakeven.wire.stream_setup import StreamConfig

YES_NO = StreamConfig(
    belief={"kind": "AveragedShares", "dim": 2},
    rule={"kind": "Value", "horizon": 1000},
    label_cost=1.0,
    miss_cost=50.0,
    false_alarm_cost=5.0,
)
SLOW = """
import time
from breakeven.cli import main
from breakeven.learner import Learner

apply = Learner.apply


def slow(self, *given, **named):
    time.sleep(0.005)
    apply(self, *given, **named)


Learner.apply = slow
main()
"""
SECONDS_A_LIFE = 5.0


def filled(address, arrivals):
    """A store with a yes/no stream, every arrival of which was labelled; the number of its last entry."""
    with closing(open_store(address, "create")) as store:
        stored = create(store, "clinic", YES_NO, by="test")
        learner, made, draw = fold_stream(store, stored), [], np.random.default_rng(1)
        learner.listen(made.append)
        for point in draw.random((arrivals, 2)):
            told = learner.decide(point.tolist(), force=True)
            learner.tell(told.id, float(draw.random() < point[0]))
        first = store.last(stored.number) + 1
        store.append([entry_of(one, stored.number, seq, by="test") for seq, one in enumerate(made, first)])
        return store.last(stored.number)


def test_a_fold_that_is_killed_goes_on_where_it_was(serving, address, monkeypatch):
    monkeypatch.setattr(folded, "KEPT_EVERY", 0.0)
    monkeypatch.setattr(folded, "SHARE_OF_KEEPING", 1e9)
    monkeypatch.setattr(folded, "ENTRIES_BETWEEN_LOOKS", 10)
    last, apply, done = filled(address, 60), Learner.apply, []

    def counted(learner, event, *given, **named):
        if len(done) in (45, 90):
            done.append("killed")
            raise ZeroDivisionError
        apply(learner, event, *given, **named)
        done.append(event.number)

    monkeypatch.setattr(Learner, "apply", counted)
    for state in ("failed", "failed", "ready"):
        with serving() as served:
            assert served.live().state == state
            if state == "ready":
                assert 0.0 < served.live().pace < 1.0
    assert len(done) - 2 < last + 2 * 10, "what was done is done again"
    monkeypatch.undo()
    with closing(open_store(address, "read")) as store:
        report = check_stream(store, store.stream("clinic"))
        assert (report.wrong, report.snapshots, report.entries) == ((), 2, last)


def test_keeping_snapshots_takes_a_small_part_of_a_fold(address, monkeypatch):
    filled(address, 300)
    monkeypatch.setattr(folded, "ENTRIES_BETWEEN_LOOKS", 1)
    seconds, kept = [0.0], []
    monkeypatch.setattr(folded, "perf_counter", lambda: seconds[0])
    snapshot, apply = Learner.snapshot, Learner.apply

    def slow_snapshot(learner):
        seconds[0] += 0.7
        return snapshot(learner)

    def slow_apply(*given, **named):
        seconds[0] += 0.1
        return apply(*given, **named)

    monkeypatch.setattr(Learner, "snapshot", slow_snapshot)
    monkeypatch.setattr(Learner, "apply", slow_apply)
    with closing(open_store(address, "read")) as store:
        watch = FoldWatch(lambda progress: None, lambda seq, body: kept.append(seq))
        read_folded(store, store.stream("clinic"), Clock(), watch)
    assert kept[0] <= 12, "after the first second"
    assert len(kept) == 1 + int(60.0 / 7.0), "then at most a tenth of the time"


def test_a_fold_is_left_when_the_service_stops(serving, address):
    filled(address, 60)
    with serving() as served:
        served.live().leave()
        with pytest.raises(
            NotReady, match="stream 'clinic': the service stops; it is read at the next start"
        ):
            served.live().fold()


def snapshot_numbers(address):
    with closing(open_store(address, "read")) as store:
        return store.snapshot_numbers(1)


@pytest.mark.slow
def test_a_stream_under_kills_every_few_seconds_is_read_in_the_end(tmp_path):
    """Folding all of it takes some lives of the server: each goes on from where the last one came."""
    address = f"sqlite:///{tmp_path}/clinic.db"
    last, marks = filled(address, 1500), [0]
    command = [sys.executable, "-c", SLOW, "serve", "--json", "--port", "0", "--store", address]
    while marks[-1] < last - 400:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                time.sleep(SECONDS_A_LIFE)
            finally:
                process.kill()
        marks.append((snapshot_numbers(address) or [0])[-1])
        assert marks[-1] > marks[-2], "a life without progress"
    assert len(marks) > 3
    with closing(open_store(address, "read")) as store:
        assert check_stream(store, store.stream("clinic")).wrong == ()


@pytest.mark.slow
def test_a_server_that_reads_a_long_stream_stops_at_once(tmp_path):
    address = f"sqlite:///{tmp_path}/clinic.db"
    filled(address, 10_000)  # a minute and a half
    command = [sys.executable, "-c", SLOW, "serve", "--json", "--port", "0", "--store", address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            time.sleep(3.0)
            process.terminate()
            process.communicate(timeout=20.0)
        finally:
            process.kill()
    assert 0 < snapshot_numbers(address)[-1] < 20_000
