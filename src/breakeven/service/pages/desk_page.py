"""The desk: one request at a time, its answer, and how that lies to what was expected.

The script asks for parts of the page: the next request, and what is said of an answer. What was predicted and
why the label was asked for is in no part before the answer, unless the stream says so.
"""

from typing import Any

from breakeven.errors import InvalidInput
from breakeven.rows import Columns
from breakeven.service.calls import Call
from breakeven.service.folded import Folded
from breakeven.service.handlers import desk_handlers
from breakeven.service.pages.rendering import Page, Visit, flag, read_number
from breakeven.service.pages.svg_charts import answer_scale
from breakeven.wire.requests import (
    LabelAnswer,
    LabelCall,
    LabelValue,
    LeaseCall,
    NextCall,
    Request,
    WithdrawCall,
)
from breakeven.wire.stream_setup import StreamConfig

YES_NO_KINDS = ("yes_no", "truth")


async def desk(visit: Visit) -> Page:
    """The empty desk; the script asks for the first request."""
    now = visit.live.ready
    labellers = sorted(now.config.labellers or {})
    values = {"config": now.config, "labellers": labellers, "labeller": visit.query.get("labeller", "")}
    return Page("desk.html", values)


async def next_request(visit: Visit) -> Page:
    """The next request for the visitor, or why there is none."""
    body = NextCall(labeller=visit.form.get("labeller") or None, skipped=flag(visit.form, "skipped"))
    answer = await desk_handlers.next_request(visit.call(body))
    if answer.request is None:
        return Page("desk_nothing.html", {"answer": answer})
    return await _shown(visit, answer.request, answer.open)


async def hold(visit: Visit) -> Page:
    """Go on holding a request."""
    return _done(await desk_handlers.lease(_about(visit, LeaseCall())))


async def give_back(visit: Visit) -> Page:
    """Hold a request no longer."""
    return _done(await desk_handlers.release(_about(visit)))


async def skip(visit: Visit) -> Page:
    """Not this one, for the visitor."""
    return _done(await desk_handlers.skip(_about(visit)))


async def withdraw(visit: Visit) -> Page:
    """The label will not come, and is not paid."""
    return _done(await desk_handlers.withdraw(_about(visit, WithdrawCall())))


async def undo(visit: Visit) -> Page:
    """Take an answer back: its request is open again, and held, with the answer in its field."""
    taken = await desk_handlers.reopen(_about(visit))
    request = await desk_handlers.lease(_about(visit, LeaseCall()))
    return await _shown(visit, request, len(visit.live.ready.desk), taken.y)


def _about(visit: Visit, body: Any = None) -> Call:
    """A call about the request that a form names: an id may hold signs that mean more in a path."""
    return visit.call(body, id=visit.form.get("id", ""))


def _done(answer: Any) -> Page:
    return Page("desk_done.html", {"id": answer.id})


async def _shown(visit: Visit, request: Request, count: int, answered: float | None = None) -> Page:
    def work(now: Folded) -> bool:
        awaited = now.learner.awaited.get(request.id)
        return awaited is not None and awaited.decision.prediction.probability is not None

    shares, _ = await visit.live.look("yes_no", work)
    now = visit.live.ready
    label = None if now.columns is None else now.columns.label_column
    values = {
        "request": request,
        "open": count,
        "answered": "" if answered is None else f"{answered:.12g}",
        "facts": facts_of(now.columns, request.row),
        "config": now.config,
        "label_name": "label" if label is None else label.name,
        "unit": unit_of_label(now.config, now.columns),
        "yes_no": shares or (label is not None and label.kind in YES_NO_KINDS),
        "low": None if label is None else label.low,
        "high": None if label is None else label.high,
    }
    return Page("desk_request.html", values)


def unit_of_label(config: StreamConfig, columns: Columns | None) -> str:
    """The unit of a label: that of its column, else that of the stream."""
    return (columns.label_column.unit if columns is not None else "") or config.unit


def facts_of(columns: Columns | None, row: Any) -> list[tuple[str, Any, str]]:
    """What is known of a case: names, values and units."""
    if columns is None or not isinstance(row, dict):
        if isinstance(row, list | tuple):
            return [(f"x{place}", one, "") for place, one in enumerate(row, 1)]
        return [("type", row, "")]
    shown = [columns.type_column] if columns.type_column is not None else list(columns.features)
    return [(one.name, row.get(one.name), one.unit) for one in shown]


async def tell(visit: Visit) -> Page:
    """Tell a label, and say how it lies to what was expected."""
    now = visit.live.ready
    body = LabelCall(
        label_value(now.columns, visit.form.get("y", "")),
        visit.form.get("labeller") or None,
        flag(visit.form, "sure"),
    )
    answer = await desk_handlers.label(_about(visit, body))
    return Page("desk_told.html", told_values(answer, now.config, now.columns))


def told_values(answer: LabelAnswer, config: StreamConfig, columns: Columns | None) -> dict[str, Any]:
    """How an answer lies to what was expected of it."""
    seen = answer.seen
    yes_no = answer.prediction.probability is not None
    inside = scale = None
    if seen is not None and not yes_no and seen.prediction.label_interval is not None:
        low, high = seen.prediction.label_interval
        if low is not None and high is not None:
            inside = low <= answer.y <= high
            scale = answer_scale(answer.y, seen.prediction.mean, low, high)
    unit = unit_of_label(config, columns)
    return {
        "answer": answer, "seen": seen, "yes_no": yes_no, "inside": inside, "scale": scale, "unit": unit,
        "config": config,
    }  # fmt: skip


def label_value(columns: Columns | None, words: str) -> LabelValue:
    """What somebody wrote, or the button they pressed, as a label."""
    words = words.strip()
    if not words:
        raise InvalidInput("label: expected an answer, got none")
    if words in ("yes", "no"):
        return words == "yes"
    if columns is not None and columns.label_column.writing.decimal is not None:
        return words  # which the column reads as it was told to
    return read_number("label", words)
