"""The simplest desk: a folder with a file of requests, and files of answers that people put there.

`requests.csv` (or `.jsonl`) has a line for every open request: its id and what arrived. Whoever labels writes
`answers.csv`, `answers-ann.jsonl` and so on: id and y, and if they like labeller and kind. What the files say
now is what counts: a line that is changed is a changed answer, and one that is removed a deleted answer.
"""

import csv
import io
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from breakeven import files
from breakeven.desks.interface import DeskAnswer, DeskDown, DeskRequest, UnreadableAnswer
from breakeven.desks.journal import Journal
from breakeven.errors import expect
from breakeven.store.export import defused

FolderForm = Literal["csv", "jsonl"]
JOURNAL_FILE = "journal.db"
FILES_SEEN = "files of answers"  # in the journal
SETTLED_AFTER = 5.0  # seconds after which a last line without an end counts as written
SAID_SO = {"skipped": "skipped", "skip": "skipped", "deleted": "deleted"}


class FolderDesk:
    r"""A desk in a folder. `journal` is what it remembers, kept in the same folder unless given.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     desk = FolderDesk(folder)
    ...     desk.ask([DeskRequest("7", {"age": 61})])
    ...     print((Path(folder) / "requests.csv").read_text().splitlines())
    ...     _ = (Path(folder) / "answers.csv").write_text("id,y\n7,38.9\n")
    ...     desk.answers(None)[0][0].y
    ['id,age,y', '7,61,']
    38.9
    """

    def __init__(
        self, folder: str | Path, form: FolderForm = "csv", *, journal: Journal | None = None
    ) -> None:
        expect.one_of("form", form, ("csv", "jsonl"))
        self.folder, self._form = Path(folder), form
        files.check_folder(self.folder)
        self._journal = journal or Journal(self.folder / JOURNAL_FILE)

    def ask(self, requests: Sequence[DeskRequest]) -> None:
        """Add to the file of requests what is not in it yet."""
        new = self._journal.unasked(requests)
        if not new:
            return
        rows = self._requests()
        there = {_as_given(str(row["id"])) for row in rows}
        rows += [{"id": one.id, **one.fields} for one in new if one.id not in there]
        self._write(rows)
        with self._journal.writing():
            for one in new:
                self._journal.note_task(one.id, asked=True)

    def withdraw(self, ids: Sequence[str]) -> None:
        """Remove requests from the file."""
        gone = set(ids)
        rows = self._requests()
        kept = [row for row in rows if _as_given(str(row["id"])) not in gone]
        if len(kept) < len(rows):
            self._write(kept)
        with self._journal.writing():
            for id in ids:
                self._journal.close_task(id)

    def answers(self, since: str | None) -> tuple[list[DeskAnswer], str]:
        """What changed in the files of answers."""
        now = time.time()
        with self._journal.writing():
            there = set()
            for line in self._lines():
                mark = f"{line.labeller or ''}\0{line.id}"
                if line.kind == "deleted":
                    self._journal.take_back(mark, now)
                    self._journal.task_is_gone(line.id, now)
                    continue
                there.add(mark)
                self._journal.say(mark, line.id, line.labeller, line.y, now)
            for mark in self._journal.all_marks().keys() - there:
                self._journal.take_back(mark, now)
        return self._journal.since(since)

    def read_hook(self, headers: Mapping[str, str], body: bytes) -> list[DeskAnswer]:
        """Files send no messages."""
        raise UnreadableAnswer(f"{self.folder}: expected answers in files, got a message")

    # -- files -----------------------------------------------------------------------------------

    @property
    def _path(self) -> Path:
        return self.folder / f"requests.{self._form}"

    def _requests(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        return [
            {str(name): value for name, value in row.items() if name != "y"} for _, row in _rows(self._path)
        ]

    def _write(self, rows: list[dict[str, Any]]) -> None:
        if self._form == "jsonl":
            content = b"".join(msgspec.json.encode({**row, "y": None}) + b"\n" for row in rows)
        else:
            content = _as_csv(rows).encode()
        try:
            files.write(self.folder, self._path.name, content)
        except files.UnwritableFolder as error:
            raise DeskDown(f"{error}; the requests are asked again later") from error

    def _lines(self) -> Iterator[DeskAnswer]:
        """Every line of every file of answers; the last of a person and a request is what counts."""
        found: dict[tuple[str | None, str], DeskAnswer] = {}
        for path in self._answer_files():
            for number, row in _rows(path):
                one = _answer(path, number, row)
                if one is not None:
                    found[one.labeller, one.id] = one
        yield from found.values()

    def _answer_files(self) -> list[Path]:
        """The files of answers. One that was there before must be there still: a disk may be away."""
        there = sorted(path for path in self.folder.glob("answers*.*") if path.suffix in (".csv", ".jsonl"))
        before = msgspec.json.decode(self._journal.setting(FILES_SEEN) or "[]", type=list[str])
        for name in {*before, *(path.name for path in there)}:
            path = self.folder / name
            if not path.is_file() or not path.stat().st_size:
                raise DeskDown(
                    f"{path}: expected a file of answers, as before, got none or an empty one; to take "
                    "answers back remove their lines, and leave the first one"
                )
        self._journal.keep(FILES_SEEN, msgspec.json.encode([path.name for path in there]).decode())
        return there


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file, counted from 1; a line that is still being written has no end yet, and waits.

    Some programs end no last line: of a CSV file that nobody has touched for some seconds it counts. What
    such a line said before is not known meanwhile, so the whole file waits.
    """
    try:
        text, age = path.read_text("utf-8-sig"), time.time() - path.stat().st_mtime
    except (OSError, UnicodeDecodeError) as error:
        raise DeskDown(f"{path}: cannot be read ({error}); it is read again later") from error
    if path.suffix == ".csv":
        if not text.endswith(("\n", "\r")) and abs(age) < SETTLED_AFTER:
            raise DeskDown(
                f"{path}: expected a last line with an end, got one still written; read again later"
            )
        yield from enumerate(csv.DictReader(io.StringIO(text, newline="")), start=1)
        return
    whole = text[: text.rfind("\n") + 1]
    for number, line in enumerate(whole.splitlines(), start=1):
        if line.strip():
            try:
                yield number, msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.DecodeError as error:
                raise UnreadableAnswer(
                    f"{path}, row {number}: expected a JSON object, got {line!r}"
                ) from error


def _answer(path: Path, number: int, row: Mapping[str, Any]) -> DeskAnswer | None:
    """One line; None where nothing is filled in."""
    place = f"{path}, row {number}"
    if row.get("id") in (None, ""):
        raise UnreadableAnswer(f"{place}: expected a column id, and an id in it, got {dict(row)!r}")
    kind, y, who = (_word(row.get(name)) for name in ("kind", "y", "labeller"))
    if kind is not None and kind not in (*SAID_SO, "told", "changed"):
        raise UnreadableAnswer(f"{place}: expected told, skipped or deleted, or no kind, got {kind!r}")
    id = _as_given(str(row["id"]))
    if kind in SAID_SO:
        return DeskAnswer(id, None, "skipped" if SAID_SO[kind] == "skipped" else "deleted", who)
    if y is None:
        return None
    try:
        return DeskAnswer(id, expect.finite("y", float(y)), "told", who)
    except ValueError as error:
        raise UnreadableAnswer(f"{place}: expected a number as y, got {y!r}") from error


def _word(value: Any) -> str | None:
    return None if value is None or str(value).strip() == "" else str(value).strip()


def _as_csv(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(["id", *(name for row in rows for name in row), "y"]))
    text = io.StringIO()
    table = csv.DictWriter(text, names, lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow({name: defused(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
    return text.getvalue()


def _as_given(id: str) -> str:
    """An id as it was before it was made safe for a spreadsheet.

    >>> _as_given("'=7"), _as_given("'s Gravenhage")
    ('=7', "'s Gravenhage")
    """
    return id[1:] if id[:1] == "'" and defused(id[1:]) == id else id
