"""A server under mixed load is killed at random moments: nothing answered is missing, nothing is doubled."""

import random
import subprocess
import sys
import urllib.request
from collections import Counter
from contextlib import closing

import pytest

from breakeven.service.live_stream import DEADLINE
from breakeven.service.setting_up import create
from breakeven.store import open_store
from tests.servers import postgresql
from tests.service.senders import start
from tests.service.under_load import CURVE, TYPES, check_store, new_senders, server, wait_for_answers


def kill_again_and_again(address, times, seed):
    moments, senders = random.Random(seed), new_senders(seed)
    with closing(open_store(address, "create")) as store:
        create(store, "types", TYPES, by="test")
        create(store, "curve", CURVE, by="test")
    for _ in range(times):
        with server(address) as where:
            threads = start(senders, where)
            wait_for_answers(senders, moments.randint(20, 150), moments.uniform(0.0, 2.0))
        for thread in threads:
            thread.join()
        check_store(address, senders)
    tell_counts(address, times, senders)


def tell_counts(address, times, senders):
    """What the log holds in the end, and what senders were answered; shown by `pytest -rP`."""
    kinds, snapshots = Counter(), 0
    with closing(open_store(address, "read")) as store:
        for stream in store.streams():
            for one in store.entries(stream.number):
                kinds["Expired" if one.by == DEADLINE else one.kind] += 1
            snapshots += len(store.snapshot_numbers(stream.number))
    answers = sum((Counter(one.counts) for one in senders), Counter())
    print(f"{times} kills; answers {dict(answers)}; entries {dict(kinds)}; {snapshots} snapshots")


def test_a_server_that_is_killed_ten_times_loses_nothing(tmp_path):
    kill_again_and_again(f"sqlite:///{tmp_path / 'clinic.db'}", 10, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_server_that_is_killed_two_hundred_times_loses_nothing(tmp_path, part):
    kill_again_and_again(f"sqlite:///{tmp_path / 'clinic.db'}", 20, seed=100 * part)


def test_a_server_on_postgresql_that_is_killed_loses_nothing():
    with postgresql() as database:
        kill_again_and_again(database.address, 3, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_server_on_postgresql_that_is_killed_two_hundred_times_loses_nothing(part):
    with postgresql() as database:
        kill_again_and_again(database.address, 20, seed=100 * part + 50)


def test_a_second_server_on_the_same_store_is_refused_and_says_by_whom(tmp_path):
    address = f"sqlite:///{tmp_path / 'clinic.db'}"
    with closing(open_store(address, "create")) as store:
        create(store, "types", TYPES, by="test")
    with server(address) as where:
        second = subprocess.run(
            [sys.executable, "-m", "breakeven", "serve", "--port", "0", "--store", address],
            capture_output=True,
            text=True,
        )
        assert second.returncode != 0
        assert "process" in second.stderr
        assert "Traceback" not in second.stderr
        urllib.request.urlopen(f"{where}/readyz").close()
