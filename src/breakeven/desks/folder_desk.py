"""The simplest desk: a folder with a file of requests, and files of answers that people put there.

`requests.csv` (or `.jsonl`) has a line for every open request: its id and what arrived. People who label
write `answers.csv`, `answers-ann.jsonl` and so on: id and y, and if they like labeller and kind. What the
files say now is what counts: a line that is changed is a changed answer, and one that is removed a deleted
answer. A file counts once two looks in a row find it the same: before that it may be half written.
"""

import csv
import hashlib
import io
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from breakeven import files
from breakeven.desks.answer_files import AnswersRead, ends_whole, read_answers, read_lines
from breakeven.desks.interface import DeskAnswer, DeskDown, DeskRequest, UnreadableAnswer
from breakeven.desks.journal import Journal
from breakeven.errors import expect
from breakeven.store.export import as_before_defusing, defused

logger = logging.getLogger(__name__)

FolderForm = Literal["csv", "jsonl"]
JOURNAL_FILE = "journal.db"
LOOKS = "looks at files of answers"  # in the journal
UNENDED_AFTER = 5.0  # seconds after which a last line without an end counts as written
MOST_GONE_UNCONFIRMED = 3  # answers that may go at once without a confirmation, if others stay
GONE, CONFIRMED = "answers-gone.txt", "answers-gone-confirmed.txt"
PROBLEMS = "answers-problems.txt"
FOLDER_COLUMNS = ("id", "y", "kind", "labeller")  # columns that are not those of an arrival


class FileLook(msgspec.Struct, frozen=True):
    """A file as it was seen. `at` is when it was first seen like this; times of files may be coarse."""

    size: int
    mtime_ns: int
    inode: int
    digest: str
    at: float

    def same_as(self, other: "FileLook") -> bool:
        """Whether nobody touched the file in between."""
        return msgspec.structs.replace(self, at=other.at) == other


class SettledPart(NamedTuple):
    """What two looks found alike: the whole file, or the beginning of one that grows."""

    content: bytes
    whole: bool


class FolderDesk:
    r"""A desk in a folder. `journal` is what it remembers, kept in the same folder unless given.

    A file counts once two looks, `looks_apart` seconds apart or more, find it the same.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     desk = FolderDesk(folder)
    ...     desk.ask([DeskRequest("7", {"age": 61})])
    ...     print((Path(folder) / "requests.csv").read_text().splitlines())
    ...     _ = (Path(folder) / "answers.csv").write_text("id,y\n7,38.9\n")
    ...     first, second = desk.answers(None)[0], desk.answers(None)[0]
    ...     len(first), second[0].y
    ['id,age,y', '7,61,']
    (0, 38.9)
    """

    def __init__(
        self,
        folder: str | Path,
        form: FolderForm = "csv",
        *,
        journal: Journal | None = None,
        looks_apart: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        expect.one_of("form", form, ("csv", "jsonl"))
        self.folder, self._form, self._clock = Path(folder), form, clock
        self._apart = expect.number("looks_apart", looks_apart, 0.0)
        files.check_folder(self.folder)
        self._journal = journal or Journal(self.folder / JOURNAL_FILE)
        self._problems: dict[str, list[str]] = {}  # by file, when it was last read
        self._said: set[str] = set()  # in the log, as long as it is true

    # -- requests --------------------------------------------------------------------------------

    def ask(self, requests: Sequence[DeskRequest]) -> None:
        """Add to the file of requests what is not in it yet."""
        new = self._journal.unasked(requests)
        if not new:
            return
        rows = self._requests()
        there = set(map(self._id_of, rows))
        rows += [_row(one, safe=self._form == "csv") for one in new if one.id not in there]
        self._write(rows)
        with self._journal.writing():
            for one in new:
                self._journal.note_task(one.id, asked=True)

    def withdraw(self, ids: Sequence[str]) -> None:
        """Remove requests from the file."""
        gone = set(ids)
        rows = self._requests()
        kept = [row for row in rows if self._id_of(row) not in gone]
        if len(kept) < len(rows):
            self._write(kept)
        with self._journal.writing():
            for id in ids:
                self._journal.close_task(id)

    @property
    def _path(self) -> Path:
        return self.folder / f"requests.{self._form}"

    def _requests(self) -> list[dict[str, Any]]:
        """The rows of the file of requests, as we wrote them; a row that somebody spoilt is left out."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise DeskDown(f"{self._path}: cannot be read ({error}); it is read again later") from error
        rows = [row for _, row in read_lines(self._path.name, content) if isinstance(row, dict)]
        return [{**row, "y": None} for row in rows if isinstance(row.get("id"), str)]

    def _id_of(self, row: Mapping[str, Any]) -> str:
        return as_before_defusing(row["id"]) if self._form == "csv" else str(row["id"])

    def _write(self, rows: list[dict[str, Any]]) -> None:
        if self._form == "jsonl":
            content = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
        else:
            content = _as_csv(rows).encode()
        try:
            files.write(self.folder, self._path.name, content)
        except files.UnwritableFolder as error:
            raise DeskDown(f"{error}; the requests are asked again later") from error

    # -- answers ---------------------------------------------------------------------------------

    def answers(self, since: str | None) -> tuple[list[DeskAnswer], str]:
        """What changed in the files of answers."""
        now = self._clock()
        with self._journal.writing():
            looks = msgspec.json.decode(self._journal.setting(LOOKS) or "{}", type=dict[str, FileLook])
            gone, held, quiet = self._look_at_files(looks, now)
            if self._many(gone):
                held, gone = held + gone, []
            confirmation = self._confirmation() if quiet else None
            confirmed = confirmation is not None and bool(held) and _number_of(held) in confirmation
            for mark in gone + (held if confirmed else []):
                self._journal.take_back(mark, now)
            self._journal.keep(LOOKS, msgspec.json.encode(looks).decode())
        if quiet:
            self._tell_people([] if confirmed else held, answered=confirmation is not None)
        return self._journal.since(since)

    def _look_at_files(self, looks: dict[str, FileLook], now: float) -> tuple[list[str], list[str], bool]:
        """Note what the files say; the marks of what they say no more, and those of files that are gone.

        The third says whether all files that are there have settled.
        """
        there = self._answer_files(looks)
        by_file: dict[str, list[str]] = {}
        for mark in self._journal.all_marks():
            by_file.setdefault(mark.partition("\0")[0], []).append(mark)
        gone: list[str] = []
        quiet = True
        for name, content in there.items():
            part = None if content is None else self._settled(looks, name, content, now)
            quiet = quiet and part is not None and part.whole
            if part is not None:
                gone += self._take_up(name, part, by_file.get(name, []), now)
        missing = [mark for name in looks if name not in there for mark in by_file.get(name, [])]
        if quiet and there:  # an older journal knew no files
            gone += [mark for name, marks in by_file.items() if name not in looks for mark in marks]
        for name in looks.keys() - there.keys() - by_file.keys():
            del looks[name]
        return gone, missing, quiet

    def _many(self, gone: list[str]) -> bool:
        """Whether a person would hardly take back as many answers on purpose at once.

        A request that has another answer still is not among them.
        """
        of = self._journal.all_marks()
        left = {id for mark, id in of.items() if mark not in set(gone)}
        return _too_many(len({of[mark] for mark in gone} - left), len(set(of.values())))

    def _answer_files(self, looks: Mapping[str, FileLook]) -> dict[str, bytes | None]:
        """The files of answers that are there and not empty; None where one cannot be read now."""
        if not self.folder.is_dir():
            raise DeskDown(f"{self.folder}: expected a folder, got none; it is looked for again later")
        found: dict[str, bytes | None] = {}
        for path in sorted(self.folder.glob("answers*.*")):
            if path.suffix in (".csv", ".jsonl") and path.is_file():
                try:
                    found[path.name] = path.read_bytes()
                except OSError as error:
                    found[path.name] = None
                    words = f"{path.name}: cannot be read now ({error.strerror}); it is read again later"
                    self._problems[path.name] = [words]
        if looks and not found and not self._path.exists():
            raise DeskDown(
                f"{self.folder}: expected requests and answers, as before, got none of them: a disk may be "
                "away; they are looked for again later"
            )
        self._problems = {name: some for name, some in self._problems.items() if name in found}
        return {name: content for name, content in found.items() if content != b""}

    def _settled(
        self, looks: dict[str, FileLook], name: str, content: bytes, now: float
    ) -> SettledPart | None:
        """What counts of a file; how it looks is remembered."""
        try:
            stat = (self.folder / name).stat()
        except OSError:
            return None
        digest = hashlib.sha256(content).hexdigest()
        look = FileLook(len(content), stat.st_mtime_ns, stat.st_ino, digest, now)
        before = looks.get(name)
        if before is None or now < before.at:
            looks[name] = look
            return None
        if look.same_as(before):
            least = self._apart if ends_whole(content) else max(self._apart, UNENDED_AFTER)
            return SettledPart(content, whole=True) if now - before.at >= least else None
        looks[name] = look
        beginning = content[: before.size]
        if now - before.at < self._apart or hashlib.sha256(beginning).hexdigest() != before.digest:
            return None
        return SettledPart(beginning[: beginning.rfind(b"\n") + 1], whole=False)

    def _take_up(self, name: str, part: SettledPart, standing: Iterable[str], now: float) -> list[str]:
        """Note what a file says; returns the marks of what it says no more."""
        read = read_answers(name, part.content)
        for one in read.answers:
            mark = _mark(name, one.labeller, one.id)
            if one.kind == "deleted":
                self._journal.take_back(mark, now)
                self._journal.task_is_gone(one.id, now)
            else:
                self._journal.say(mark, one.id, one.labeller, one.y, now)
        if not part.whole:
            return []
        self._problems[name] = read.problems
        return [] if read.unsure else _gone(name, read, standing)

    def read_hook(self, headers: Mapping[str, str], body: bytes) -> list[DeskAnswer]:
        """Files send no messages."""
        raise UnreadableAnswer(f"{self.folder}: expected answers in files, got a message")

    # -- what people are told ----------------------------------------------------------------------

    def _confirmation(self) -> str | None:
        """What somebody confirmed, if anybody did."""
        try:
            return (self.folder / CONFIRMED).read_text("utf-8", "replace")
        except OSError:
            return None

    def _tell_people(self, held: Sequence[str], *, answered: bool) -> None:
        """Say in the folder, and once in the log, what waits for a confirmation and what is unreadable."""
        lines = [line for name in sorted(self._problems) for line in self._problems[name]]
        try:
            self._put(PROBLEMS, "".join(f"{line}\n" for line in lines))
            self._put(GONE, _gone_note(held) if held else "")
            if answered:
                (self.folder / CONFIRMED).unlink(missing_ok=True)
        except OSError as error:
            lines.append(f"notes for people cannot be written ({error})")
        if held:
            lines.append(
                f"{len(held):,} answers are gone from the files; their labels stay until somebody confirms "
                f"it: see {GONE}"
            )
        for line in lines:
            if line not in self._said:
                logger.warning("%s: %s", self.folder, line)
        self._said = set(lines)

    def _put(self, name: str, text: str) -> None:
        path, content = self.folder / name, text.encode("utf-8", "replace")
        if not content:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != content:
            files.write(self.folder, name, content)


def _mark(name: str, labeller: str | None, id: str) -> str:
    return f"{name}\0{labeller or ''}\0{id}"


def _gone(name: str, read: AnswersRead, standing: Iterable[str]) -> list[str]:
    named = {_mark(name, *key) for key in read.named}
    return [mark for mark in standing if mark not in named]


def _too_many(gone: int, standing: int) -> bool:
    """Whether these are more than a few of those that stood, or at least half of them.

    A file that is cut loses much of what it had; a person who changes their mind takes back a line or two.

    >>> _too_many(1, 1), _too_many(2, 3), _too_many(3, 40), _too_many(4, 40)
    (False, True, False, True)
    """
    return gone > MOST_GONE_UNCONFIRMED or (gone > 1 and 2 * gone >= standing)


def _number_of(held: Iterable[str]) -> str:
    """A number that stands for just these answers."""
    return hashlib.sha256("\n".join(sorted(held)).encode("utf-8", "replace")).hexdigest()[:16]


def _gone_note(held: Sequence[str]) -> str:
    """What people read who are asked whether answers are gone on purpose."""
    rows = sorted(mark.split("\0") for mark in held)
    lines = [
        f"{len(held)} answers are gone from the files, which may be an accident. Nothing was taken back yet.",
        "",
        "If it was an accident, put them back: this file goes away by itself.",
        f"If it is meant, rename this file to {CONFIRMED}: then their labels are taken back.",
        "",
        f"These answers have the number {_number_of(held)} (request, who answered, file):",
        *(", ".join(part for part in reversed(row) if part) for row in rows),
    ]
    return "\n".join([*lines, ""])


def _row(one: DeskRequest, *, safe: bool) -> dict[str, Any]:
    """A request as a row, safe for a spreadsheet; a field that is called as a column of ours is renamed."""
    fields = {f"x.{name}" if name in FOLDER_COLUMNS else name: value for name, value in one.fields.items()}
    row = {"id": one.id, **fields, "y": None}
    if not safe:
        return row
    return {defused(name): defused(cell) if isinstance(cell, str) else cell for name, cell in row.items()}


def _as_csv(rows: list[dict[str, Any]]) -> str:
    names = [name for name in dict.fromkeys(["id", *(name for row in rows for name in row)]) if name != "y"]
    text = io.StringIO()
    table = csv.DictWriter(text, [*names, "y"], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()
