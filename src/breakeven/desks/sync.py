"""Requests to a desk, and its answers back: again and again, and nothing twice.

All that must survive a crash is in one small file. Answers enter it together with their cursor, as verbs
still to be called; a verb leaves it once it was called. So after a kill at any moment the same verbs are
called in the same order, at worst one of them a second time, which changes nothing.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from breakeven.desks.counting import CountedLabel, Counting, VerbCall, steps_to
from breakeven.desks.interface import DeskAnswer, DeskDown, DeskRequest, LabellingDesk, Verbs
from breakeven.desks.journal import all_or_nothing, opened
from breakeven.errors import BreakevenError, ConflictingLabel, InvalidInput, UnknownId
from breakeven.errors.expect import refuse
from breakeven.errors.serving import HeldByAnother, Malformed, NotAllowed, TooLarge, UnknownPlace
from breakeven.errors.statuses import ending_of
from breakeven.errors.storing import StoreFailed
from breakeven.learner import Learner

logger = logging.getLogger(__name__)

TABLES_OF_SYNC = """
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS asked (id TEXT PRIMARY KEY, open INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS said (id TEXT, labeller TEXT, y REAL, number INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE INDEX IF NOT EXISTS said_id ON said (id);
CREATE TABLE IF NOT EXISTS told (id TEXT PRIMARY KEY, y REAL, labeller TEXT);
CREATE TABLE IF NOT EXISTS due
    (number INTEGER PRIMARY KEY AUTOINCREMENT, verb TEXT, id TEXT, y REAL, labeller TEXT);
"""
POSTPONED = (HeldByAnother, UnknownPlace)  # a path that the service does not take: an id with a slash in it
REFUSALS = (UnknownId, ConflictingLabel, InvalidInput, Malformed, TooLarge)  # what no repetition will change
REPORTED_AS = {"tell": "told", "correct": "corrected", "withdraw": "withdrawn"}  # as a report has it
TRY_LATER = (429, 503)  # the statuses of what passes by itself
NEXT_DUE = "SELECT number, verb, id, y, labeller FROM due WHERE number > ? ORDER BY number LIMIT 1"

Waiting = Callable[[], Iterable[DeskRequest]]
"""Gives the requests that are open now."""


class SyncReport(msgspec.Struct):
    """What was carried: requests to the desk, and what came of its answers.

    `refused` has a line for every answer that could not be used, such as one for an id nobody asked about,
    and `postponed` one for every answer that is tried again: somebody else holds its request, or the service
    does not take its id.
    """

    asked: int = 0
    taken_back: int = 0
    told: int = 0
    corrected: int = 0
    withdrawn: int = 0
    refused: list[str] = []
    postponed: list[str] = []

    def __str__(self) -> str:
        """In a line.

        >>> str(SyncReport(asked=2, told=1))
        '2 asked, 1 told, 0 corrected, 0 withdrawn, 0 taken back, 0 refused'
        """
        return (
            f"{self.asked} asked, {self.told} told, {self.corrected} corrected, {self.withdrawn} withdrawn, "
            f"{self.taken_back} taken back, {len(self.refused)} refused"
            + (f", {len(self.postponed)} postponed" if self.postponed else "")
        )

    @property
    def anything(self) -> bool:
        """Whether anything happened."""
        return self != SyncReport()


class DeskSync:
    """Between a desk and whatever has the verbs of a learner.

    `waiting` gives the requests that are open now. `memory` is the file that remembers how far it is; a file
    of another stream or desk, which `name` says, is refused. One process at a time may use it.

    >>> from tempfile import TemporaryDirectory
    >>> from breakeven import Learner, Threshold, TypeMeans
    >>> from breakeven.desks import FolderDesk
    >>> learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
    >>> id = learner.decide("flu").id
    >>> with TemporaryDirectory() as folder:
    ...     sync = DeskSync(FolderDesk(folder), learner, lambda: requests_of(learner))
    ...     print(sync.once())
    1 asked, 0 told, 0 corrected, 0 withdrawn, 0 taken back, 0 refused
    """

    def __init__(
        self,
        desk: LabellingDesk,
        verbs: Verbs,
        waiting: Waiting,
        *,
        memory: str | Path | None = None,
        counting: Counting | None = None,
        name: str = "",
    ) -> None:
        self._desk, self._verbs, self._waiting = desk, verbs, waiting
        self._counting = counting or Counting()
        self._memory = memory
        self._db = opened(memory, TABLES_OF_SYNC, alone=True)
        known = self._fact("name")
        if known is not None and known != name:
            refuse("memory", f"the file of {name}", f"that of {known} in {memory}", described=True)
        if known is None:
            with all_or_nothing(self._db):
                self._keep("name", name)

    def close(self) -> None:
        """Close its file."""
        self._db.close()

    def once(self) -> SyncReport:
        """Carry everything once: answers first, then requests, then requests that need no answer any more.

        Where the desk is down, what it answered before is told all the same.
        """
        report = SyncReport()
        try:
            try:
                self._hear()
            except DeskDown:
                self._call_due(report)
                raise
            self._call_due(report)
            self._ask(report)
        except sqlite3.Error as error:
            raise StoreFailed(
                f"{self._memory or 'memory'}: what the sync remembers cannot be read or written ({error}); "
                "nothing is lost, and it is tried again later"
            ) from error
        return report

    # -- answers ---------------------------------------------------------------------------------

    def _hear(self) -> None:
        """Take up what people did, and note the verbs that follow."""
        answers, cursor = self._desk.answers(self._fact("cursor"))
        with all_or_nothing(self._db):
            for answer in answers:
                self._take(answer)
            self._keep("cursor", cursor)

    def _take(self, answer: DeskAnswer) -> None:
        id, gone = answer.id, answer.kind == "deleted" and answer.labeller is None
        if answer.y is not None:
            self._say(id, answer.labeller, answer.y)
        else:
            self._db.execute("DELETE FROM said WHERE id = ? AND labeller IS ?", [id, answer.labeller])
        voices = self._db.execute(
            "SELECT labeller, y FROM said WHERE id = ? ORDER BY number", [id]
        ).fetchall()
        row = self._db.execute("SELECT y, labeller FROM told WHERE id = ?", [id]).fetchone()
        before = None if row is None or row[0] is None else CountedLabel(*row)
        now = self._counting.label(voices)
        ends = row is None and not voices and (gone or answer.kind == "skipped")
        steps = steps_to(id, before, now, ends=ends, withdrawn=row is not None and before is None)
        if not steps:
            return
        self._db.execute("INSERT OR REPLACE INTO told VALUES (?, ?, ?)", [id, *(now or (None, None))])
        self._db.executemany(
            "INSERT INTO due (verb, id, y, labeller) VALUES (?, ?, ?, ?)", list(map(list, steps))
        )

    def _say(self, id: str, labeller: str | None, y: float) -> None:
        found = "UPDATE said SET y = ? WHERE id = ? AND labeller IS ?"
        if self._db.execute(found, [y, id, labeller]).rowcount == 0:
            self._db.execute("INSERT INTO said (id, labeller, y) VALUES (?, ?, ?)", [id, labeller, y])

    def _call_due(self, report: SyncReport) -> None:
        """Call the verbs that are due, the oldest first; each is forgotten once it was called.

        Where one cannot be called now, those for the same request behind it wait, too.
        """
        waiting: set[str] = set()
        number = 0
        while (row := self._db.execute(NEXT_DUE, [number]).fetchone()) is not None:
            number, step = row[0], VerbCall(*row[1:])
            if step.id in waiting:
                continue
            try:
                self._call(step)
            except POSTPONED as error:
                report.postponed.append(str(error))
                waiting.add(step.id)
                continue
            except (*REFUSALS, NotAllowed) as error:
                if isinstance(error, NotAllowed) and step.verb == "tell":
                    raise  # the token may not label at all
                report.refused.append(str(error))
                logger.warning("not used: %s", error)
                refused = True
            else:
                if step.verb in REPORTED_AS:
                    setattr(report, REPORTED_AS[step.verb], getattr(report, REPORTED_AS[step.verb]) + 1)
                refused = False
            with all_or_nothing(self._db):
                self._db.execute("DELETE FROM due WHERE number = ?", [number])
                if refused and step.verb == "tell":
                    self._untell(step.id)

    def _untell(self, id: str) -> None:
        """A label was refused: what follows it begins anew, so that a better one can still be told."""
        row = self._db.execute("SELECT number, verb FROM due WHERE id = ? ORDER BY number", [id]).fetchone()
        if row is not None and row[1] == "correct":
            self._db.execute("UPDATE due SET verb = 'tell' WHERE number = ?", [row[0]])
            return
        if row is not None and row[1] == "withdraw":  # of a label that was never told
            first = "SELECT MIN(number) FROM due WHERE id = ? AND verb = 'reopen'"
            self._db.execute(f"DELETE FROM due WHERE number = ({first})", [id])
            self._db.execute("DELETE FROM due WHERE number = ?", [row[0]])
        if self._db.execute("SELECT 1 FROM due WHERE id = ?", [id]).fetchone() is None:
            self._db.execute("DELETE FROM told WHERE id = ?", [id])

    def _call(self, step: VerbCall) -> None:
        match step.verb:
            case "tell":
                assert step.y is not None
                who = {} if step.labeller is None else {"labeller": step.labeller}
                self._verbs.tell(step.id, step.y, **who)
            case "correct":
                assert step.y is not None
                self._verbs.correct(step.id, step.y)
            case "withdraw":
                self._verbs.withdraw(step.id, charged=self._counting.charged)
            case "reopen":
                self._verbs.reopen(step.id)

    # -- requests --------------------------------------------------------------------------------

    def _ask(self, report: SyncReport) -> None:
        """Ask what is open and not asked yet, or open again; take back what was closed elsewhere.

        What is open again begins anew: answers from before do not count any more.
        """
        due = {id for (id,) in self._db.execute("SELECT id FROM due").fetchall()}
        waiting = {request.id: request for request in self._waiting()}
        asked = dict(self._db.execute("SELECT id, open FROM asked").fetchall())
        new = [request for id, request in waiting.items() if not asked.get(id) and id not in due]
        if new:
            self._desk.ask(new)
            again = [[one.id] for one in new if one.id in asked]
            with all_or_nothing(self._db):
                self._db.executemany("DELETE FROM said WHERE id = ?", again)
                self._db.executemany("DELETE FROM told WHERE id = ?", again)
                self._db.executemany("INSERT OR REPLACE INTO asked VALUES (?, 1)", [[one.id] for one in new])
            report.asked = len(new)
        answered = {id for (id,) in self._db.execute("SELECT id FROM told").fetchall()}
        over = [id for id, open in asked.items() if open and id not in waiting]
        elsewhere = [id for id in over if id not in answered]
        if elsewhere:
            self._desk.withdraw(elsewhere)
            report.taken_back = len(elsewhere)
        if over:
            with all_or_nothing(self._db):
                self._db.executemany("UPDATE asked SET open = 0 WHERE id = ?", [[id] for id in over])

    # -- the file --------------------------------------------------------------------------------

    def _fact(self, name: str) -> str | None:
        row = self._db.execute("SELECT value FROM fact WHERE name = ?", [name]).fetchone()
        return None if row is None else str(row[0])

    def _keep(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", [name, value])


def requests_of(learner: Learner) -> list[DeskRequest]:
    """The requests of a learner that are open, the oldest first."""
    return [DeskRequest(id, _plain(one.x), one.cost, one.labeller) for id, one in learner.awaited.items()]


def _plain(x: Any) -> Any:
    return x.tolist() if hasattr(x, "tolist") else list(x) if isinstance(x, tuple) else x


def is_down(error: BreakevenError) -> bool:
    """Whether it is worth trying again later: a desk or a service that cannot be reached, or cannot now."""
    return isinstance(error, ConnectionError | TimeoutError) or ending_of(error).status in TRY_LATER
