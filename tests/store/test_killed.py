"""A process that writes under load is killed at random moments: nothing answered is missing or doubled."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from breakeven.store import UnknownStream, open_store
from tests.store import appender

ROOT = Path(__file__).parents[2]


def killed_once(address, moment):
    """Let it write, kill it this long after its first answer; the last number answered in each stream."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tests.store.appender", address]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    ) as child:
        first = child.stdout.readline()
        assert first, "it ended by itself"
        time.sleep(moment)
        child.send_signal(signal.SIGKILL)
        lines = (first + child.stdout.read()).decode().splitlines(keepends=True)
    answered = {}
    for line in lines:
        if line.endswith("\n"):  # the last one may be cut
            name, seq = line.split()
            answered[name] = int(seq)
    return answered


def check_log(address, answered):
    """Every entry up to what was answered is there, once, with its content; the last numbers."""
    store = open_store(address, "read")
    found = {}
    for name in appender.STREAMS:
        try:
            stream = store.stream(name)
        except UnknownStream:  # killed before it was made
            assert name not in answered
            continue
        entries = list(store.entries(stream.number))
        assert [one.seq for one in entries] == list(range(1, len(entries) + 1))
        assert entries == [appender.entry(stream, one.seq) for one in entries]
        assert len(entries) >= answered.get(name, 0), f"an answered entry of {name} is missing"
        for seq in store.snapshot_numbers(stream.number):
            assert store.snapshot(stream.number, seq).body == appender.body(name, seq)
            assert seq <= len(entries)
        found[name] = len(entries)
    assert store.damage() == []
    store.close()
    return found


def kill_again_and_again(address, times, seed):
    moments, before = random.Random(seed), dict.fromkeys(appender.STREAMS, 0)
    for _ in range(times):
        answered = killed_once(address, moments.expovariate(8.0))
        found = check_log(address, answered)
        assert all(found.get(name, 0) >= seq for name, seq in before.items()), "what was there is gone"
        before.update(found)
    assert sum(before.values()) > 100 * times


def test_nothing_answered_is_lost_to_ten_kills(tmp_path):
    kill_again_and_again(f"sqlite:///{tmp_path / 'clinic.db'}", 10, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_nothing_answered_is_lost_to_two_hundred_kills(tmp_path, part):
    kill_again_and_again(f"sqlite:///{tmp_path / 'clinic.db'}", 20, seed=100 + part)


def test_nothing_answered_is_lost_in_postgresql(new_address):
    kill_again_and_again(new_address, 3, seed=2)
