"""What a desk remembers: the tasks it made, what each person says now, and a numbered list of what they did.

A desk tells the journal what it sees, as often as it likes; only what differs from before becomes an answer.
So polling twice, or a webhook beside polling, counts once, and a cursor is the number of an answer.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from uuid import uuid4

from breakeven.desks.interface import AnswerKind, DeskAnswer, DeskRequest
from breakeven.errors.expect import refuse
from breakeven.files import UnwritableFolder

TABLES = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS task (id TEXT PRIMARY KEY, place TEXT, open INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS task_place ON task (place);
CREATE TABLE IF NOT EXISTS print (place INTEGER PRIMARY KEY, print TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS voice
    (mark TEXT PRIMARY KEY, id TEXT, labeller TEXT, y REAL, at REAL, last INTEGER);
CREATE INDEX IF NOT EXISTS voice_id ON voice (id);
CREATE TABLE IF NOT EXISTS answer
    (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, y REAL, kind TEXT, labeller TEXT, at REAL);
"""
NAME = "name of the journal"
PENDING = "SELECT id, place FROM task WHERE open AND id NOT IN (SELECT id FROM voice)"

Said = tuple[float | None, float]  # a label (None: skipped), and when


def opened(path: str | Path | None, tables: str, *, alone: bool = False) -> sqlite3.Connection:
    """A small database in a file, or in memory for None, that any thread may use.

    One that is opened `alone` is refused to everyone else until it is closed, or its process ends.
    """
    try:
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        if alone:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
        connection.executescript(tables)  # which ends that, and keeps the lock
    except (sqlite3.Error, OSError) as error:
        raise UnwritableFolder(f"{path}: cannot be used ({error}); name another folder or file") from error
    return connection


@contextmanager
def all_or_nothing(db: sqlite3.Connection) -> Iterator[None]:
    """Inside it, all that is written to a file is kept, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


class Journal:
    """Tasks, voices and answers of one desk, in a file or, without a path, in memory.

    A `mark` is the desk's own name of one person's answer to one request.

    >>> journal = Journal()
    >>> journal.say("annotation 1", "7", "ann", 38.9, at=1.0)
    >>> journal.say("annotation 1", "7", "ann", 38.9, at=1.0)
    >>> [answer.kind for answer in journal.since(None)[0]]
    ['told']
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._lock, self._db = RLock(), opened(path, TABLES)
        with self.writing():
            if self.setting(NAME) is None:
                self.keep(NAME, uuid4().hex)
        self._name = self.setting(NAME)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Inside it, all is kept or nothing; other threads wait."""
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            with all_or_nothing(self._db):
                yield

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # -- settings and tasks ----------------------------------------------------------------------

    def setting(self, name: str) -> str | None:
        """What was kept under a name."""
        with self._lock:
            row = self._db.execute("SELECT value FROM setting WHERE name = ?", [name]).fetchone()
        return None if row is None else str(row[0])

    def keep(self, name: str, value: str) -> None:
        """Keep something under a name."""
        with self.writing():
            self._db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", [name, value])

    def drop_settings(self, beginning: str, before: float) -> None:
        """Forget what was kept under names that begin so, with a time before this one."""
        old = "DELETE FROM setting WHERE substr(name, 1, ?) = ? AND CAST(value AS REAL) < ?"
        with self.writing():
            self._db.execute(old, [len(beginning), beginning, before])

    def unasked(self, requests: Iterable[DeskRequest]) -> list[DeskRequest]:
        """Those without a task, or whose task was closed, each once."""
        found: dict[str, DeskRequest] = {}
        with self._lock:
            for one in requests:
                row = self._db.execute("SELECT 1 FROM task WHERE id = ? AND open", [one.id]).fetchone()
                if row is None:
                    found.setdefault(one.id, one)
        return list(found.values())

    def note_task(self, id: str, place: str = "", *, asked: bool = False) -> None:
        """A request has a task; `place` is what the desk calls it. One that is `asked` now is open again."""
        with self.writing():
            self._db.execute("INSERT OR IGNORE INTO task VALUES (?, ?, 1)", [id, place])
            self._db.execute("UPDATE task SET place = ? WHERE id = ? AND place != ?", [place, id, place])
            if asked:
                self._db.execute("UPDATE task SET open = 1 WHERE id = ?", [id])

    def prints(self, after: int, upto: int | None) -> dict[str, str]:
        """What the tasks at these numbers looked like when they were last read."""
        query = "SELECT place, print FROM print WHERE place > ? AND place <= ?"
        with self._lock:
            rows = self._db.execute(query, [after, 2**63 - 1 if upto is None else upto]).fetchall()
        return {str(place): str(print) for place, print in rows}

    def keep_print(self, place: str, print: str | None) -> None:
        """Keep what a task looks like, or forget it for None."""
        with self.writing():
            if print is None:
                self._db.execute("DELETE FROM print WHERE place = ?", [int(place)])
            else:
                self._db.execute("INSERT OR REPLACE INTO print VALUES (?, ?)", [int(place), print])

    def pending(self) -> dict[str, str]:
        """Open tasks that nobody has answered, and their places."""
        with self._lock:
            return dict(self._db.execute(PENDING).fetchall())

    def close_task(self, id: str) -> None:
        """A request was taken back."""
        with self.writing():
            self._db.execute("UPDATE task SET open = 0 WHERE id = ?", [id])

    # -- what people say -------------------------------------------------------------------------

    def say(self, mark: str, id: str, labeller: str | None, y: float | None, at: float) -> None:
        """What a person says now: a label, or for None that they skip it."""
        same = "SELECT 1 FROM voice WHERE mark = ? AND id = ? AND labeller IS ? AND y IS ?"
        last = "(SELECT COALESCE(MAX(last), 0) + 1 FROM voice)"
        with self.writing():
            if self._db.execute(same, [mark, id, labeller, y]).fetchone() is not None:
                return
            before = self._standing(id, labeller)
            put = f"INSERT OR REPLACE INTO voice VALUES (?, ?, ?, ?, ?, {last})"
            self._db.execute(put, [mark, id, labeller, y, at])
            self._note(id, labeller, before, at)

    def marks(self, id: str) -> list[str]:
        """The marks of all that stands for a request."""
        with self._lock:
            rows = self._db.execute("SELECT mark FROM voice WHERE id = ?", [id]).fetchall()
        return [str(mark) for (mark,) in rows]

    def all_marks(self) -> dict[str, str]:
        """The marks of everything that stands, and their requests."""
        with self._lock:
            return dict(self._db.execute("SELECT mark, id FROM voice").fetchall())

    def take_back(self, mark: str, at: float) -> None:
        """What stands under a mark is gone; a mark that is not known changes nothing."""
        with self.writing():
            row = self._db.execute("SELECT id, labeller FROM voice WHERE mark = ?", [mark]).fetchone()
            if row is None:
                return
            id, labeller = row
            before = self._standing(id, labeller)
            self._db.execute("DELETE FROM voice WHERE mark = ?", [mark])
            self._note(id, labeller, before, at)

    def task_is_gone(self, id: str, at: float) -> None:
        """Somebody deleted a task. Where it was answered, its label stays: only open requests end with it."""
        with self.writing():
            found = self._db.execute(f"{PENDING} AND id = ?", [id]).fetchone()
            if found is not None:
                self.close_task(id)
                self._add(DeskAnswer(id, None, "deleted", None, at))

    def _standing(self, id: str, labeller: str | None) -> Said | None:
        """What a person said last of a request."""
        query = "SELECT y, at FROM voice WHERE id = ? AND labeller IS ? ORDER BY at DESC, last DESC LIMIT 1"
        row = self._db.execute(query, [id, labeller]).fetchone()
        return None if row is None else (row[0], row[1])

    def _note(self, id: str, labeller: str | None, before: Said | None, at: float) -> None:
        """Add what changed, if anything did."""
        now = self._standing(id, labeller)
        if (None if now is None else now[:1]) == (None if before is None else before[:1]):
            return
        kind: AnswerKind
        if now is None:
            kind = "deleted"
        elif now[0] is None:
            kind = "skipped"
        else:
            kind = "told" if before is None or before[0] is None else "changed"
        self._add(DeskAnswer(id, None if now is None else now[0], kind, labeller, at))

    def _add(self, one: DeskAnswer) -> None:
        self._db.execute(
            "INSERT INTO answer (id, y, kind, labeller, at) VALUES (?, ?, ?, ?, ?)",
            [one.id, one.y, one.kind, one.labeller, one.at],
        )

    # -- answers ---------------------------------------------------------------------------------

    def since(self, cursor: str | None) -> tuple[list[DeskAnswer], str]:
        """The answers after a cursor, and the cursor after them.

        A cursor of another journal, such as one that was lost, begins from the beginning.
        """
        query = "SELECT seq, id, y, kind, labeller, at FROM answer WHERE seq > ? ORDER BY seq"
        with self._lock:
            end = self._db.execute("SELECT COALESCE(MAX(seq), 0) FROM answer").fetchone()[0]
            rows = self._db.execute(query, [self._number(cursor, end)]).fetchall()
        return [DeskAnswer(*row[1:]) for row in rows], f"{end}-{self._name}"

    def _number(self, cursor: str | None, end: int) -> int:
        """The answer that a cursor stands at, of those up to `end`."""
        if cursor is None:
            return 0
        number, _, name = cursor.partition("-")
        if not number.isdecimal():
            refuse("since", "a cursor that `answers` gave", cursor)
        return int(number) if name in ("", self._name) and int(number) <= end else 0
