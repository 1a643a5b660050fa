"""The verbs of a store that are about the log: adding entries, reading them, finding them, rewriting them.

Arrivals that were written together lie in one row, `upto` the last number of them, and are split when they
are read. Their number is that of the first, so the key of the table still refuses whoever writes a number
that is taken. The id of every arrival is in a table of its own, with the row that holds it.
"""

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from breakeven.errors import DuplicateId, WrongEvent
from breakeven.store.access_tables import Row, SqlAccess
from breakeven.store.port import (
    ARRIVAL,
    Appended,
    LogBatch,
    LogEntry,
    check_entries,
    numbered,
    split_batch,
    taken_number,
    unknown_stream,
)
from breakeven.store.schema import NO_LEARNERS_KIND

NO_END = 2**62  # more than any number of an entry
NUMBERS_A_PAGE = 1000
IDS_AT_ONCE = 500  # in one statement
FEW = 3  # ids that are added faster one by one
ENTRY_FIELDS = "stream, seq, at, by, kind, id, body"
READ_FIELDS = "e.stream, e.seq, e.at, e.by, e.kind, e.id, e.body, e.upto"
FOUND_BY_ID = f"SELECT {READ_FIELDS} FROM arrived a JOIN entry e ON e.stream = a.stream AND e.seq = a.entry"
ADDED_BATCH = "INSERT INTO entry VALUES (?, ?, ?, ?, 'Arrived', NULL, ?, ?)"
ADDED_ID = "INSERT INTO arrived VALUES (?, ?, ?)"
ADDED_IDS = (
    "INSERT INTO arrived SELECT stream, id, seq FROM entry WHERE stream = ? AND seq >= ? AND seq <= ? "
    "AND kind = 'Arrived' AND id IS NOT NULL"
)
REWRITTEN = "UPDATE entry SET at = ?, by = ?, kind = ?, id = ?, body = ? WHERE stream = ? AND seq = ?"


class SqlLog(SqlAccess):
    """The log in tables."""

    by_index = ""  # how to say which index to use, where the database would take the whole log instead
    _lasts: dict[int, int]  # the last numbers of streams that were written to

    @abstractmethod
    def _insert(self, connection: Any, entries: Sequence[LogEntry]) -> None:
        """Add entries, which are checked, without their ids."""

    @abstractmethod
    def _insert_ids(self, connection: Any, batch: LogBatch) -> None:
        """Add the ids of a batch, which are checked."""

    # -- adding ------------------------------------------------------------------------------------

    def append(self, entries: Sequence[Appended]) -> None:
        """Add entries to the end of their logs."""
        check_entries(entries)
        if not entries:
            return
        rules = {"number": lambda: taken_number(entries[0].stream, entries[0].seq), "arrival": taken_id}
        with self._writing(rules) as connection:
            lasts = {one: self._last_of(connection, one) for one in {entry.stream for entry in entries}}
            after = numbered(entries, lasts)
            self._add(connection, entries)
        self._lasts.update(after)

    def _add(self, connection: Any, entries: Sequence[Appended]) -> None:
        """In a change: add entries, which are checked; those of a stream follow each other."""
        single = [one for one in entries if type(one) is LogEntry]
        if single:
            self._insert(connection, single)
        for batch in entries:
            if type(batch) is LogBatch:
                fields = batch.stream, batch.seq, batch.at, batch.by, batch.body, batch.last
                self._run(connection, ADDED_BATCH, *fields)
                self._insert_ids(connection, batch)
        arrivals = [one for one in single if one.kind == ARRIVAL and one.id is not None]
        if len(arrivals) <= FEW:
            for one in arrivals:
                self._run(connection, ADDED_ID, one.stream, one.id, one.seq)
            return
        for stream in {one.stream for one in arrivals}:
            seqs = [one.seq for one in arrivals if one.stream == stream]
            self._run(connection, ADDED_IDS, stream, seqs[0], seqs[-1])

    def _last_of(self, connection: Any, stream: int) -> int:
        """The last number, which is remembered; another writer's is found by the key of the table."""
        if stream not in self._lasts:
            rows = self._rows(connection, "SELECT closed FROM stream WHERE number = ?", stream)
            if not rows:
                raise unknown_stream(stream)
            if rows[0][0] is not None:
                raise WrongEvent(
                    f"entry: expected one of an open stream, got one of {stream}, which is closed"
                )
            self._lasts[stream] = self._last(connection, stream)
        return self._lasts[stream]

    def _last(self, connection: Any, stream: int) -> int:
        sql = "SELECT coalesce(upto, seq) FROM entry WHERE stream = ? ORDER BY seq DESC LIMIT 1"
        return next((int(seq) for (seq,) in self._rows(connection, sql, stream)), 0)

    # -- reading -----------------------------------------------------------------------------------

    def entries(self, stream: int, after: int = 0, upto: int | None = None) -> Iterator[LogEntry]:
        """The entries behind a number, read in pages."""
        end, done = NO_END if upto is None else upto, after
        page = (
            f"SELECT {READ_FIELDS} FROM entry e WHERE e.stream = ? AND e.seq >= ? AND e.seq < ? "
            "ORDER BY e.seq"
        )
        while done < end:
            with self._reading() as connection:
                first = self._row_of(connection, stream, done + 1)
                if first is None or first > end:
                    return
                behind = min(first + NUMBERS_A_PAGE, end + 1)
                rows = self._rows(connection, page, stream, first, behind)
            for one in _entries_of(rows):
                if done < one.seq <= end:
                    yield one
            done = rows[-1][7] or rows[-1][1]

    def _row_of(self, connection: Any, stream: int, seq: int) -> int | None:
        """The number of the row that holds this entry, or else the next; None where there is none."""
        before = "SELECT seq, upto FROM entry WHERE stream = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
        for first, upto in self._rows(connection, before, stream, seq):
            if seq <= (upto or first):
                return int(first)
        sql = "SELECT min(seq) FROM entry WHERE stream = ? AND seq > ?"
        ((found,),) = self._rows(connection, sql, stream, seq)
        return None if found is None else int(found)

    def last(self, stream: int) -> int:
        """The number of the last entry."""
        with self._reading() as connection:
            return self._last(connection, stream)

    def times(self, stream: int, seqs: Collection[int]) -> dict[int, float]:
        """When the entries with these numbers were written."""
        wanted, found = sorted(seqs), dict[int, float]()
        if not wanted:
            return found
        together = (
            f"SELECT seq, upto, at FROM entry{self.by_index.format('batch')} "
            "WHERE stream = ? AND upto >= ? AND seq <= ? AND upto IS NOT NULL"
        )
        with self._reading() as connection:
            for first, last, at in self._rows(connection, together, stream, wanted[0], wanted[-1]):
                places = range(bisect_left(wanted, first), bisect_left(wanted, last + 1))
                found.update((wanted[place], at) for place in places)
            single = [seq for seq in wanted if seq not in found]
            for part in _parts(single):
                sql = f"SELECT seq, at FROM entry WHERE stream = ? AND seq IN ({_slots(part)})"
                found.update(self._rows(connection, sql, stream, *part))
        return found

    # -- finding -----------------------------------------------------------------------------------

    def find(self, stream: int, id: str) -> LogEntry | None:
        """The arrival with this id."""
        return self.find_many(stream, [id]).get(id)

    def find_many(self, stream: int, ids: Collection[str]) -> dict[str, LogEntry]:
        """The arrivals with these ids."""
        wanted = {id for id in ids if "\0" not in id}  # which is in no store
        rows = dict[int, Row]()
        with self._reading() as connection:
            for part in _parts(list(wanted)):
                sql = f"{FOUND_BY_ID} WHERE a.stream = ? AND a.id IN ({_slots(part)})"
                rows.update((row[1], row) for row in self._rows(connection, sql, stream, *part))
        return {one.id: one for one in _entries_of(rows.values()) if one.id is not None and one.id in wanted}

    def arrival_ids(self, stream: int) -> Iterator[str]:
        """The ids of all arrivals."""
        sql = f"SELECT id FROM arrived WHERE stream = ? AND id > ? ORDER BY id LIMIT {NUMBERS_A_PAGE}"
        after = ""
        while True:
            with self._reading() as connection:
                rows = self._rows(connection, sql, stream, after)
            yield from (id for (id,) in rows)
            if len(rows) < NUMBERS_A_PAGE:
                return
            after = rows[-1][0]

    def about(self, stream: int, id: str) -> list[LogEntry]:
        """Every entry about an id but its arrival."""
        sql = (
            f"SELECT {ENTRY_FIELDS} FROM entry WHERE stream = ? AND id = ? AND kind <> 'Arrived' "
            "AND id IS NOT NULL ORDER BY seq"
        )
        if "\0" in id:
            return []
        with self._reading() as connection:
            return [LogEntry(*row) for row in self._rows(connection, sql, stream, id)]

    def beside(self, stream: int) -> list[LogEntry]:
        """The entries of kinds that are no events of a learner."""
        table = f"entry{self.by_index.format('beside')}"
        sql = f"SELECT {ENTRY_FIELDS} FROM {table} WHERE stream = ? AND {NO_LEARNERS_KIND} ORDER BY seq"
        with self._reading() as connection:
            return [LogEntry(*row) for row in self._rows(connection, sql, stream)]

    # -- rewriting ---------------------------------------------------------------------------------

    def _put(self, connection: Any, stream: int, entry: LogEntry) -> None:
        """In a change: put an entry in the place of the one with its number."""
        row = self._row_of(connection, stream, entry.seq)
        if row is None or row > entry.seq:
            raise WrongEvent(f"entry: expected one that is there, got number {entry.seq}")
        self._split(connection, stream, row)
        sql = "SELECT id FROM entry WHERE stream = ? AND seq = ? AND kind = 'Arrived' AND id IS NOT NULL"
        for (id,) in self._rows(connection, sql, stream, entry.seq):
            self._run(connection, "DELETE FROM arrived WHERE stream = ? AND id = ?", stream, id)
        fields = entry.at, entry.by, entry.kind, entry.id, entry.body, stream, entry.seq
        self._run(connection, REWRITTEN, *fields)
        self._run(connection, ADDED_IDS, stream, entry.seq, entry.seq)

    def _split(self, connection: Any, stream: int, row: int) -> None:
        """In a change: have the arrivals of a row in rows of their own, if it holds many."""
        sql = f"SELECT {READ_FIELDS} FROM entry e WHERE e.stream = ? AND e.seq = ? AND e.upto IS NOT NULL"
        found = self._rows(connection, sql, stream, row)
        if not found:
            return
        entries = list(_entries_of(found))
        self._run(connection, "DELETE FROM entry WHERE stream = ? AND seq = ?", stream, row)
        for one in entries:
            self._run(connection, "DELETE FROM arrived WHERE stream = ? AND id = ?", stream, one.id)
        self._add(connection, entries)


def _entries_of(rows: Iterable[Row]) -> Iterator[LogEntry]:
    """The entries in rows."""
    for row in rows:
        stream, seq, at, by, _, _, body, upto = row
        if upto is None:
            yield LogEntry(*row[:7])
        else:
            yield from split_batch(stream, seq, at, by, body)


def _parts(values: Sequence[Any]) -> list[Sequence[Any]]:
    """Values, so many at a time as one statement takes."""
    return [values[low : low + IDS_AT_ONCE] for low in range(0, len(values), IDS_AT_ONCE)]


def _slots(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def taken_id() -> DuplicateId:
    """What to raise where an id has arrived before."""
    return DuplicateId(
        "id: expected one that has not arrived in this stream, got one that has; look with find"
    )
