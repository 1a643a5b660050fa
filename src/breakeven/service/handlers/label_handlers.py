"""Labels in bulk: as JSON, JSON lines or CSV, with a preview; and labels from elsewhere, which are learnt."""

import csv
import io
from typing import Any

import msgspec

from breakeven.errors import BreakevenError, InvalidInput, expect
from breakeven.errors.serving import ErasedId, HeldByAnother, Malformed, TooLarge, WrongMedia
from breakeven.service.calls import CSV_MEDIA, JSON_MEDIA, LINES_MEDIA, Call, Raw
from breakeven.service.folded import Folded
from breakeven.service.handlers.arrival_handlers import point_at
from breakeven.service.handlers.desk_handlers import check_free, label_of, tell
from breakeven.wire.requests import (
    MOST_LINES,
    HistoryAnswer,
    HistoryLine,
    LabelCall,
    LabelLine,
    LabelResult,
    LabelResults,
)

CSV_LABEL_COLUMNS = {"id", "y", "labeller"}


async def labels(call: Call) -> LabelResults:
    """Tell many labels; each line is told or refused for itself."""
    live, preview = call.live, call.query.preview
    lines = label_lines(call.body)
    await live.expire()

    check = not call.caller.may("administer")

    def result(now: Folded, place: int, one: LabelLine, seen: dict[str, float]) -> LabelResult:
        try:
            live.check_not_erased(one.id)
            if check:
                check_free(live, now, one.id, call.by)
        except (ErasedId, HeldByAnother) as error:
            return LabelResult(place, one.id, "refused", str(error))
        return _result(now, place, one, preview, seen)

    def work(now: Folded) -> list[LabelResult]:
        seen: dict[str, float] = {}
        return [result(now, place, one, seen) for place, one in enumerate(lines, 1)]

    if preview:
        results, _ = await live.look("preview", work, len(lines))
        entry = None
    else:
        results, entries = await live.change(call.by, "tell", work, len(lines))
        entry = entries[-1].seq if entries else None
    refused = sum(one.result == "refused" for one in results)
    return LabelResults(results, len(results) - refused, refused, preview, entry)


def _result(now: Folded, place: int, one: LabelLine, preview: bool, seen: dict[str, float]) -> LabelResult:
    """What becomes of one line, or would; `seen` are the labels of lines before."""
    try:
        y = now.learner.state.label("y", label_of(now.columns, one.y))
        entry = now.learner.state.book.tellable(one.id, y)
        repeated = entry.y is not None or one.id in seen
        if seen.setdefault(one.id, y) != y:
            expect.refuse("y", f"{seen[one.id]!r}, as a line before said", y)
        if one.labeller is not None:
            now.learner.state.check_labeller(entry, one.labeller)
        late = entry.withdrawn is not None and not repeated
        if not preview:
            tell(now, one.id, LabelCall(one.y, one.labeller))
    except BreakevenError as error:
        return LabelResult(place, one.id, "refused", str(error))
    return LabelResult(place, one.id, "repeated" if repeated else "late" if late else "told", y=y)


def label_lines(body: Raw) -> list[LabelLine]:
    """The labels of a body, whichever way they are written."""
    lines: list[LabelLine] = read_lines(body, LabelLine, _labels_of_csv)
    return lines


def read_lines(body: Raw, kind: Any, of_csv: Any) -> Any:
    """Lines of a body: JSON, JSON lines or CSV."""
    try:
        if body.media == JSON_MEDIA:
            lines = msgspec.json.decode(body.content, type=list[kind])
        elif body.media == LINES_MEDIA:
            lines = msgspec.json.Decoder(kind).decode_lines(body.content)
        elif body.media == CSV_MEDIA:
            lines = of_csv(body.content)
        else:
            raise WrongMedia(
                f"body: expected {JSON_MEDIA}, {LINES_MEDIA} or {CSV_MEDIA}, got {body.media or 'nothing'!r}"
            )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"body: expected lines of the right type, got {error}") from error
    if len(lines) > MOST_LINES:
        raise TooLarge(f"body: expected at most {MOST_LINES:,} lines at once, got {len(lines):,}")
    return lines


def _labels_of_csv(content: bytes) -> list[LabelLine]:
    rows = rows_of_csv(content)
    found = []
    for place, row in enumerate(rows, 2):
        if not {"id", "y"} <= row.keys() <= CSV_LABEL_COLUMNS:
            raise Malformed(f"body: expected the columns id, y and perhaps labeller, got {', '.join(row)}")
        if not row["id"]:
            raise Malformed(f"line {place}: expected an id, got none")
        found.append(LabelLine(row["id"], _value(row["y"]), row.get("labeller") or None))
    return found


def rows_of_csv(content: bytes) -> list[dict[str, str]]:
    """The rows of CSV by the names in its first line, with commas, semicolons or tabs between cells."""
    text = content.decode("utf-8-sig")
    head = text.partition("\n")[0]
    sign = max(",;\t", key=head.count)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
        rows = list(reader)
    except csv.Error as error:
        raise Malformed(f"body: expected CSV, got {error}") from error
    for place, row in enumerate(rows, 2):
        if None in row or None in row.values():
            cells = len(reader.fieldnames or ())
            raise Malformed(f"line {place}: expected {cells} cells, got another number")
    return rows


def _value(cell: str) -> float | str:
    """A cell as a number where it is one; what the label's column says else."""
    try:
        return float(cell)
    except ValueError:
        return cell


async def history(call: Call) -> HistoryAnswer:
    """Learn labels from elsewhere: all of them, or none."""
    live = call.live
    lines: list[HistoryLine] = read_lines(call.body, HistoryLine, _history_of_csv)
    ids = [one.id for one in lines if one.id is not None]
    live.refuse_erased(*ids)

    def work(now: Folded) -> int:
        live.check_new(*ids)
        ready = []
        for place, one in enumerate(lines, 1):
            try:
                point = point_at(now.columns, one.row)
                y = now.learner.state.label("y", label_of(now.columns, one.y))
                ready.append((now.learner.belief.point(point), y, one))
            except BreakevenError as error:
                raise InvalidInput(f"line {place}: {error}") from error
        for point, y, one in ready:
            now.learner.learn(now.learner.belief.plain(point), y, id=one.id, labeller=one.labeller)
        return len(ready)

    learnt, entries = await live.change(call.by, "learn", work, max(len(lines), 1))
    return HistoryAnswer(learnt, entries[-1].seq if entries else None)


def _history_of_csv(content: bytes) -> list[HistoryLine]:
    found = []
    for row in rows_of_csv(content):
        if "y" not in row:
            raise Malformed(f"body: expected a column y with the labels, got {', '.join(row)}")
        y, id, labeller = row.pop("y"), row.pop("id", None), row.pop("labeller", None)
        found.append(HistoryLine(row, y, id or None, labeller or None))
    return found
