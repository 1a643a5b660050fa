"""A real server under mixed load, and what its log must say afterwards: all that was answered, each once."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from contextlib import closing, contextmanager
from threading import Thread

from breakeven.folding import event_of, fold_stream
from breakeven.service.live_stream import DEADLINE
from breakeven.store import open_store
from breakeven.wire.stream_setup import StreamConfig
from tests.service.senders import Sender

TYPES = StreamConfig(
    belief={"kind": "TypeMeans", "noise_std": 0.5}, rule={"kind": "Threshold"}, label_cost=2.0, deadline=1.5
)
# A server that fits, makes snapshots and looks for deadlines more often than others, so that kills meet it.
HURRIED = """
from breakeven.cli import main
from breakeven.service import beside, server

beside.LOOKED_AT_EVERY, beside.FEWEST_ENTRIES, server.SILENT_SECONDS = 0.1, 150, {silent}
{more}
main()
"""
CURVE = StreamConfig(
    belief={"kind": "GaussianProcess", "dim": 1, "noise_std": 0.1, "fit": "growing"},
    rule={"kind": "Threshold"},
    label_cost=1.0,
)


@contextmanager
def server(address, silent=30.0, more=""):
    """A server of its own, once it has read all streams, after `more` code; killed at the end."""
    hurried = HURRIED.format(silent=silent, more=more)
    command = [sys.executable, "-c", hurried, "serve", "--json", "--port", "0", "--store", address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = Thread(target=process.stderr.read, daemon=True)  # ends when all who could say something are gone
    said.start()
    try:
        where = json.loads(process.stdout.readline())["address"]
        while True:
            try:
                urllib.request.urlopen(f"{where}/readyz").close()
                break
            except (urllib.error.URLError, ConnectionError):  # not yet
                assert process.poll() is None, "it ended by itself"
                time.sleep(0.02)
        yield where
    finally:
        process.kill()
        process.wait()
        said.join(60.0)
        process.stdout.close()
        process.stderr.close()
    assert not said.is_alive(), "a helper lives on without its server"


def new_senders(seed):
    types = [
        Sender(
            f"t{i}", "types", lambda draw: f"type {draw.randrange(9)}", seed + i, batches=True, erases=not i
        )
        for i in range(3)
    ]
    curve = Sender(
        "c", "curve", lambda draw: [round(draw.random(), 6)], seed + 9, batches=False, erases=False
    )
    return [*types, curve]


def wait_for_answers(senders, count, seconds):
    """Until so many more calls were answered, and so long: a slow machine is under load, too."""
    before, began = sum(one.counts["done"] for one in senders), time.monotonic()
    while sum(one.counts["done"] for one in senders) < before + count or time.monotonic() < began + seconds:
        assert time.monotonic() < began + 120.0, "nobody is answered"
        time.sleep(0.001)


def check_store(address, senders):
    with closing(open_store(address, "read")) as store:
        for stream in store.streams():
            entries = list(store.entries(stream.number))
            assert [one.seq for one in entries] == list(range(1, len(entries) + 1))
            by_id = defaultdict(list)
            for entry in entries:
                if entry.id is not None:
                    by_id[entry.id].append(entry)
            for sender in senders:
                if sender.stream == stream.name:
                    check_sender(sender, by_id)
            whole = fold_stream(store, stream, use_snapshot=False)
            assert fold_stream(store, stream).snapshot() == whole.snapshot()
        assert store.damage() == []


def check_sender(sender, by_id):
    """The log says of each id what its sender was answered, and at most one thing more: the open call."""
    verb, ids, _ = sender.open or (None, (), None)
    for id, answered in sender.answered.items():
        found = [(one.kind, _label_of(one)) for one in by_id.get(id, ())]
        if any(one.by == DEADLINE for one in by_id.get(id, ())):  # and who withdraws it again changes nothing
            found, answered = _not_withdrawn(found), _not_withdrawn(answered)
        if id in sender.perhaps_erased and (not found or id in sender.erased):
            assert found == [], f"{id} was erased"
            continue
        assert found[: len(answered)] == answered, f"{id}: an answered event is missing"
        more = found[len(answered) :]
        assert len(more) <= (id in ids and verb not in ("arrive", "erase")), f"{id}: {more} was never sent"
        if more and verb != "label":  # a label is sent again
            sender.answered[id] += more
        entry, wants_label = sender.decisions[id]
        assert entry in (None, by_id[id][0].seq)  # a repeated call may not say it
        assert event_of(by_id[id][0]).decision.wants_label == wants_label
    if verb == "arrive":
        assert len([id for id in ids if id in by_id]) in (0, len(ids)), "half of a batch"
    known = {id for id in by_id if id.startswith(f"{sender.name}-")}
    assert known <= {*sender.answered, *ids}, "an arrival that was never sent"


def _not_withdrawn(events):
    return [one for one in events if one[0] != "Withdrawn"]


def _label_of(entry):
    return event_of(entry).y if entry.kind in ("Told", "Corrected") else None
