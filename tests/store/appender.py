"""Writes to a store under load until it is killed, and says what it was answered: `appender.py ADDRESS`.

Every line on standard output is a stream and the number of an entry that is on disk. Bodies follow from
numbers, so that whoever reads the log afterwards knows what must be in it.
"""

import os
import sys
from itertools import count
from threading import Thread

from breakeven.store import LogEntry, StoredSnapshot, Writer, open_store

STREAMS = ("one", "two", "three", "four")
SNAPSHOT_EVERY = 40


def body(name, seq):
    """What is in an entry: short or long, by its number."""
    return f"{name} {seq} ".encode() * (1 + seq % 60)


def entry(stream, seq):
    id = f"case {seq}" if seq % 3 else None
    return LogEntry(
        stream.number, seq, float(seq), "load", "Arrived" if id else "Told", id, body(stream.name, seq)
    )


def send(store, writer, stream):
    """Single entries and batches, one after the other, and a snapshot now and then."""
    seq = store.last(stream.number)
    for turn in count():
        some = [entry(stream, seq + i) for i in range(1, (1, 1, 7, 60)[turn % 4] + 1)]
        writer.write(some)
        seq = some[-1].seq
        os.write(1, f"{stream.name} {seq}\n".encode())
        if turn % SNAPSHOT_EVERY == 0:
            store.keep_snapshot(StoredSnapshot(stream.number, seq, 0.0, "1", body(stream.name, seq)))
            store.drop_snapshots(stream.number, keep=2)


def main(address):
    store = open_store(address, "create")
    known = {one.name: one for one in store.streams()}
    streams = [known.get(name) or store.create_stream(name, b"", at=0.0) for name in STREAMS]
    writer = Writer(store)
    for stream in streams:
        Thread(target=send, args=(store, writer, stream), daemon=True).start()
    sys.stdin.read()  # until whoever started us is gone


if __name__ == "__main__":
    main(sys.argv[1])
