"""A process is killed while it erases, compacts or upgrades: what it is at is done whole or not at all."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from breakeven.folding import check_stream, erase
from breakeven.store import open_store
from breakeven.store.port import mark_of
from breakeven.store.schema import SCHEMA_VERSION
from tests.store import housekeeper
from tests.store.housekeeper import FILLING, PEOPLE, filled, person

ROOT = Path(__file__).parents[2]


def killed_once(address, verb, begins, moment):
    """Kill it so long after its nth piece of work began; which pieces began, and which were done."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tests.store.housekeeper", address, verb]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    lines = []
    with subprocess.Popen(command, **pipes, env={**os.environ, "PYTHONPATH": paths}) as child:
        while sum(line.startswith(b"begin") for line in lines) < begins:
            lines.append(child.stdout.readline())
            if not lines[-1] or lines[-1] == b"done %d\n" % (PEOPLE - 1):
                break
        time.sleep(moment)
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.read().splitlines(keepends=True)
    said = [line.decode().split() for line in lines if line.endswith(b"\n")]
    assert said, "it ended by itself"
    return [int(n) for verb, n in said if verb == "begin"], [int(n) for verb, n in said if verb == "done"]


def check_filling(store):
    stream = store.stream("filling").number
    assert list(store.entries(stream)) == [filled(stream, seq) for seq in range(1, FILLING + 1)]
    assert store.damage() == []


def check_people(store, done):
    """Everybody is there with all of it, or gone with all of it; and gone if that was answered."""
    stream, left = store.stream("clinic"), set()
    for number in range(PEOPLE):
        id = person(number)
        there = store.find(stream.number, id) is not None
        assert len(store.about(stream.number, id)) == there
        assert (mark_of(store.id, id) in store.erased(stream.number)) != there
        assert not (there and number in done), f"{id} was erased"
        left |= {id} if there else set()
    report = check_stream(store, stream)
    assert (report.wrong, report.rounds, report.entries) == ((), PEOPLE, 2 * PEOPLE + 1)
    return left


def kill_while_erasing(address, folder, times, seed):
    moments, done = random.Random(seed), set()
    housekeeper.people(address)
    for _ in range(times):
        _, more = killed_once(address, "erase", moments.randint(1, 4), moments.expovariate(25.0))
        done |= set(more)
        with closing(open_store(address, "read")) as store:
            left = check_people(store, done)
            check_filling(store)
    with closing(open_store(address)) as store:  # whoever comes next does the rest
        erase(store, *map(person, range(PEOPLE)), by="test")
        assert check_people(store, set(range(PEOPLE))) == set()
        assert not store.uncompacted
    if folder is not None:
        content = b"".join(path.read_bytes() for path in folder.iterdir())
        assert not any(person(number).encode() in content for number in range(PEOPLE))
    return left


def kill_while_compacting(address, times, seed):
    moments = random.Random(seed)
    housekeeper.people(address)
    for _ in range(times):
        killed_once(address, "compact", moments.randint(1, 3), moments.expovariate(25.0))
        with closing(open_store(address)) as store:
            check_filling(store)
            check_people(store, set())
            assert len(store.snapshot_numbers(store.stream("filling").number)) == 1


def kill_while_upgrading(make, times, seed):
    """However often it is killed, it is of the old version, or of the new one, with everything."""
    moments, found, took = random.Random(seed), [], None
    for number in range(times + 1):
        address = make(number)
        housekeeper.people(address)
        housekeeper.older(address)
        if took is None:  # the first is left alone, to see how long it takes
            took = time_of_upgrade(address)
            continue
        _, done = killed_once(address, "upgrade", 1, moments.uniform(0.0, 2.0 * took))
        with closing(open_store(address, "upgrade")) as store:
            found.append(store.version())
            assert store.version() == SCHEMA_VERSION if done else store.version() in (1, SCHEMA_VERSION)
            store.upgrade()
            check_filling(store)
            check_people(store, set())
    return found


def time_of_upgrade(address):
    with closing(open_store(address, "upgrade")) as store:
        began = time.perf_counter()
        store.upgrade()
        return time.perf_counter() - began


def test_what_is_erased_is_gone_whole(tmp_path):
    kill_while_erasing(f"sqlite:///{tmp_path / 'clinic.db'}", tmp_path, 3, seed=1)


def test_what_is_compacted_is_all_there(tmp_path):
    kill_while_compacting(f"sqlite:///{tmp_path / 'clinic.db'}", 2, seed=1)


def test_what_is_upgraded_is_of_one_version(tmp_path):
    kill_while_upgrading(lambda number: f"sqlite:///{tmp_path / f'{number}.db'}", 2, seed=1)


def test_what_is_erased_in_postgresql_is_gone_whole(new_address):
    kill_while_erasing(new_address, None, 2, seed=2)


def test_what_is_upgraded_in_postgresql_is_of_one_version(new_schema):
    kill_while_upgrading(lambda _: new_schema(), 2, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_what_is_erased_is_gone_whole_many_times(tmp_path, part):
    kill_while_erasing(f"sqlite:///{tmp_path / 'clinic.db'}", tmp_path, 12, seed=100 + part)


@pytest.mark.slow
def test_what_is_compacted_is_all_there_many_times(tmp_path):
    kill_while_compacting(f"sqlite:///{tmp_path / 'clinic.db'}", 50, seed=100)


@pytest.mark.slow
def test_what_is_upgraded_is_of_one_version_many_times(tmp_path):
    found = kill_while_upgrading(lambda number: f"sqlite:///{tmp_path / f'{number}.db'}", 50, seed=100)
    assert set(found) == {1, SCHEMA_VERSION}, "it was always killed on the same side"


@pytest.mark.slow
def test_what_is_compacted_in_postgresql_is_all_there_many_times(new_address):
    kill_while_compacting(new_address, 30, seed=300)


@pytest.mark.slow
def test_what_is_erased_in_postgresql_is_gone_whole_many_times(new_address):
    kill_while_erasing(new_address, None, 12, seed=300)


@pytest.mark.slow
def test_what_is_upgraded_in_postgresql_is_of_one_version_many_times(new_schema):
    found = kill_while_upgrading(lambda _: new_schema(), 50, seed=300)
    assert set(found) == {1, SCHEMA_VERSION}, "it was always killed on the same side"
