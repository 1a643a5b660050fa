"""Keeps house in a store until it is killed: `housekeeper.py ADDRESS erase|compact|upgrade`.

Every line on standard output is a piece of work that begins, or that is done. `people` is what the store
holds at first, so that whoever looks afterwards knows what must be left.
"""

import os
import sys
from itertools import count

from breakeven import Learner, Threshold, TypeMeans
from breakeven.folding import entry_of, erase
from breakeven.store import LogEntry, StoredSnapshot, open_store
from tests.store.older import as_version_1

PEOPLE = 40
FILLING = 3000  # entries of another stream, so that there is something to write anew


def person(number):
    """An id whose bytes are in no other content."""
    return f"person-{number:04d}-of-the-clinic"


def people(address):
    """A new store in which everybody arrived and was labelled, and a large stream beside it."""
    store = open_store(address, "create")
    clinic, filling = store.create_stream("clinic", b"", at=0.0), store.create_stream("filling", b"", at=0.0)
    learner, events = Learner(TypeMeans(noise_std=1.0), Threshold(), label_cost=5.0), []
    learner.listen(events.append)
    for number in range(PEOPLE):
        learner.decide("flu", id=person(number), force=True)
        learner.tell(person(number), 37.0 + number / 50)
    some = [learner.created, *events]
    store.append([entry_of(one, clinic.number, seq, by="test", at=0.0) for seq, one in enumerate(some, 1)])
    store.append([filled(filling.number, seq) for seq in range(1, FILLING + 1)])
    keep_snapshot(store, clinic.number, learner.snapshot())
    store.close()


def filled(stream, seq):
    return LogEntry(stream, seq, float(seq), "test", "Alarmed", None, b"%d " % seq * 100)


def keep_snapshot(store, stream, body):
    store.keep_snapshot(StoredSnapshot(stream, store.last(stream), 0.0, "1", body))


def older(address):
    """Take a store back to version 1."""
    store = open_store(address)
    with store._transaction() as connection:
        as_version_1(connection)
    store.close()


def say(*words):
    os.write(1, (" ".join(words) + "\n").encode())


def erasing(store):
    for number in range(PEOPLE):
        say("begin", str(number))
        erase(store, person(number), by="test")
        say("done", str(number))


def compacting(store):
    filling = store.stream("filling").number
    for turn in count():
        keep_snapshot(store, filling, b"snapshot %d " % turn * 50_000)
        say("begin", str(turn))
        store.compact()
        say("done", str(turn))


def main(address, verb):
    store = open_store(address, "upgrade" if verb == "upgrade" else "write")
    if verb == "upgrade":
        say("begin", "0")
        store.upgrade()
        say("done", "0")
    else:
        {"erase": erasing, "compact": compacting}[verb](store)
    sys.stdin.read()  # until whoever started us is gone


if __name__ == "__main__":
    main(*sys.argv[1:])
