"""History: every entry of a stream's log, the newest first; and one case with all that came of it."""

from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from breakeven.errors import BreakevenError, expect
from breakeven.errors.serving import Malformed
from breakeven.folding import EVENT_KINDS, event_of
from breakeven.service.folded import Folded
from breakeven.service.handlers import arrival_handlers, desk_handlers
from breakeven.service.handlers.log_handlers import MOST_DIGITS
from breakeven.service.live_stream import LiveStream
from breakeven.service.pages.desk_page import facts_of, label_value, unit_of_label
from breakeven.service.pages.rendering import Elsewhere, Page, Visit, address, shown_amount
from breakeven.service.waiting import ask_store
from breakeven.store import LogEntry
from breakeven.values import AnyEvent, Arrived, Corrected, Fitted, Learnt, Refuted, Told, Withdrawn
from breakeven.wire.requests import CorrectCall

ENTRIES_SHOWN = 50
READ_AT_ONCE, MOST_READ = 1000, 50_000  # entries looked through for a page
ENTRY_KINDS = (
    "Arrived", "Told", "Corrected", "Withdrawn", "Reopened", "Skipped", "Learnt", "Fitted", "Refuted",
    "Repriced", "Configured", "Erased", "Created",
)  # fmt: skip


class HistoryLineShown(Struct, frozen=True):
    """An entry and what it says, in words."""

    entry: LogEntry
    words: str


async def history(visit: Visit) -> Page | Elsewhere:
    """Entries, the newest first; an id leads to its case."""
    query, live = visit.query, visit.live
    if query.get("id"):
        return Elsewhere(address("streams", live.name, "history", "case", id=query["id"].strip()))
    await live.barrier()
    last = live.written or await ask_store(live.store.last, live.number)
    before = _whole(query.get("before"), last + 1)
    chosen = {name: query.get(name, "").strip() for name in ("kind", "by", "from", "to")}
    wanted = _filter(chosen)
    entries, rest = await ask_store(_looked_up, live, min(before, last + 1), wanted)
    unit = unit_of_label(live.ready.config, live.ready.columns)
    values = {
        "lines": [HistoryLineShown(one, words_of(one, unit)) for one in entries],
        "chosen": chosen,
        "kinds": ENTRY_KINDS,
        "before": rest,
        "newest": before > last,
        "as_of": last,
    }
    return Page("history.html", values)


def _whole(text: str | None, default: int) -> int:
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise Malformed(f"before: expected the number of an entry, got {text[:40]!r}")
    return int(text)


def _filter(chosen: dict[str, str]) -> Any:
    since, until = _day(chosen["from"]), _day(chosen["to"])

    def wanted(one: LogEntry) -> bool:
        return (
            (not chosen["kind"] or one.kind == chosen["kind"])
            and (not chosen["by"] or one.by == chosen["by"])
            and (since is None or one.at >= since)
            and (until is None or one.at < until + 86_400)
        )

    return wanted


def _day(text: str) -> float | None:
    if not text:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        expect.refuse("date", "one such as 2026-01-31", text)


def _looked_up(live: LiveStream, before: int, wanted: Any) -> tuple[list[LogEntry], int | None]:
    """The entries before a number that are wanted, the newest first; and where the next page begins."""
    found: list[LogEntry] = []
    end = max(before - MOST_READ, 0)
    while before > max(end, 1) and len(found) < ENTRIES_SHOWN:
        start = max(before - 1 - READ_AT_ONCE, 0)
        part = [one for one in live.store.entries(live.number, start, before - 1) if wanted(one)]
        part.reverse()
        room = ENTRIES_SHOWN - len(found)
        found += part[:room]
        before = found[-1].seq if len(part) > room else start + 1
    return found, before if before > 1 else None


def words_of(entry: LogEntry, unit: str) -> str:
    """What an entry says."""
    event: AnyEvent | None = event_of(entry) if entry.kind in EVENT_KINDS else None
    match event:
        case Arrived():
            return event.decision.why
        case Told() | Corrected() | Learnt():
            said = {"Told": "Label", "Corrected": "Corrected to", "Learnt": "Learnt from elsewhere:"}[
                entry.kind
            ]
            who = getattr(event, "labeller", None)
            return f"{said} {shown_amount(event.y, unit)}" + (f", by {who}" if who else "")
        case Withdrawn():
            return "Withdrawn, and paid for all the same" if event.charged else "Withdrawn, at no cost"
        case Fitted():
            return f"Fitted to {event.labels:,} labels"
        case Refuted():
            return f"Labels refuted the belief in round {event.round:,}"
    return {
        "Reopened": "Taken back: awaited again",
        "Skipped": "Skipped",
        "Repriced": "Costs or the rule changed",
        "Configured": "Settings changed",
        "Created": "The stream was made",
        "Erased": "Content erased",
    }.get(entry.kind, entry.kind)


async def correct(visit: Visit) -> Page | Elsewhere:
    """Correct a label that was told, or say what is wrong with the correction."""
    id, now = visit.form.get("id", ""), visit.live.ready
    try:
        body = CorrectCall(label_value(now.columns, visit.form.get("y", "")))
        await desk_handlers.correct(visit.call(body, id=id))
    except BreakevenError as error:
        return await _case(visit, id, str(error))
    return Elsewhere(address("streams", visit.live.name, "history", "case", id=id))


async def case(visit: Visit) -> Page:
    """One arrival: its row, its decision and why, and all that came of it."""
    return await _case(visit, visit.query.get("id", ""))


async def _case(visit: Visit, id: str, problem: str = "") -> Page:
    live = visit.live
    answer = await arrival_handlers.arrival(visit.call(id=id))

    def work(now: Folded) -> list[str]:
        found = now.learner.explain(id)
        return (found if now.columns is None else now.columns.explained(found)).sentences

    try:
        sentences, _ = await live.look("explain", work)
    except BreakevenError:
        sentences = []
    now = live.ready
    came = await ask_store(live.store.about, live.number, id)
    unit = unit_of_label(now.config, now.columns)
    values = {
        "id": id,
        "answer": answer,
        "sentences": sentences,
        "facts": facts_of(now.columns, answer.row),
        "lines": [HistoryLineShown(one, words_of(one, unit)) for one in came],
        "unit": unit,
        "currency": now.config.currency,
        "yes_no": answer.decision.prediction.probability is not None,
        "problem": problem,
    }
    return Page("case.html", values, 422 if problem else 200)
