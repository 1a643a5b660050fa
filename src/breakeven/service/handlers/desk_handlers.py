"""The desk over HTTP: which requests are open, the next one for me, and its answer.

Until a label is told, whoever labels does not see what was predicted, why the label was asked for and what it
is worth, unless the stream says so: whoever sees it labels towards it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from breakeven.errors import ConflictingLabel, UnknownId, expect
from breakeven.errors.serving import HeldByAnother, NotAllowed
from breakeven.folding import event_of
from breakeven.learner.book import Entry
from breakeven.rows import Columns
from breakeven.service.calls import Call
from breakeven.service.desk import Lease, Nothing, OpenRequest, cursor_of
from breakeven.service.folded import SKIPPED, Folded
from breakeven.service.handlers.arrival_handlers import prediction_answer, row_of, standing_of
from breakeven.service.live_stream import Ask, LiveStream
from breakeven.service.waiting import ask_store
from breakeven.store import LogEntry
from breakeven.store.export import time_of
from breakeven.store.port import Appended
from breakeven.values import Decision, Prediction, Withdrawn
from breakeven.wire.requests import (
    LabelAnswer,
    LabelCall,
    LeaseAnswer,
    NextAnswer,
    NothingReason,
    Request,
    RequestPage,
    Revealed,
    StandingAnswer,
)

MOST_REQUESTS = 1000  # in one page
LONGEST_LEASE = 86_400.0  # seconds
NOTHING_WORDS: dict[NothingReason, str] = {
    "none_open": "No request is open.",
    "all_held": "Every open request is held by somebody else.",
    "all_skipped": 'You skipped every request that is left for you; "skipped": true shows them again.',
    "not_for_you": "No open request is for this labeller.",
}


# -- looking -------------------------------------------------------------------------------------------


async def requests(call: Call) -> RequestPage:
    """Open requests, in an order."""
    query, live = call.query, call.live
    limit = expect.whole("limit", query.limit, least=1, most=MOST_REQUESTS)
    await live.expire()
    shown, held = call.caller.may("watch"), _held(query.lease, call.by)

    def work(now: Folded) -> tuple[list[Request], str | None, int]:
        found = now.desk.listed(query.order, query.after, limit + 1, query.labeller, held)
        page, more = found[:limit], len(found) > limit
        made = [request_of(live, now, one, seen=shown) for one in page]
        return made, cursor_of(page[-1], query.order, now.desk.key) if more else None, len(now.desk)

    (made, after, count), as_of = await live.look("requests", work)
    return RequestPage(made, after, count, as_of)


def _held(lease: str | None, by: str) -> Callable[[Lease | None], bool] | None:
    """Which leases a query asks for; None is all of them."""
    kinds: dict[str, Callable[[Lease | None], bool]] = {
        "free": lambda one: one is None,
        "held": lambda one: one is not None,
        "mine": lambda one: one is not None and one.by == by,
    }
    return None if lease is None else kinds[lease]


def request_of(live: LiveStream, now: Folded, one: OpenRequest, *, seen: bool) -> Request:
    """A request as it is shown; `seen` says whether to show what was thought of it."""
    awaited = now.learner.awaited[one.id]
    decision, deadline = awaited.decision, now.config.deadline
    lease = now.desk.lease(one.id)
    before = now.config.desk.reveal == "before"
    return Request(
        one.id,
        row_of(now.columns, awaited.x),
        decision.cost,
        time_of(one.at),
        decision.round,
        None if deadline is None else time_of(one.at + deadline),
        decision.labeller,
        None if lease is None else lease_answer(live, lease),
        revealed(decision) if seen or before else None,
    )


def revealed(decision: Decision) -> Revealed:
    """What was thought when the label was asked for."""
    prediction = prediction_answer(decision.prediction)
    return Revealed(prediction, decision.reason, decision.why, decision.worth)


def lease_answer(live: LiveStream, lease: Lease) -> LeaseAnswer:
    """A lease by the clock on the wall."""
    left = lease.until - live.clock.steady()
    return LeaseAnswer(lease.by, time_of(live.clock.now() + left))


# -- holding -------------------------------------------------------------------------------------------


async def next_request(call: Call) -> NextAnswer:
    """The next request for the caller, held for them; or why there is none."""
    live, body = call.live, call.body
    await live.expire()

    def work(now: Folded) -> tuple[Request | Nothing, int]:
        found = now.desk.next(call.by, body.labeller, skipped=body.skipped)
        if isinstance(found, Nothing):
            return found, len(now.desk)
        now.desk.hold(found.id, call.by, _seconds(now, body.lease))
        return request_of(live, now, found, seen=False), len(now.desk)

    (found, count), _ = await live.look("next", work)
    if not isinstance(found, Nothing):
        return NextAnswer(found, count)
    held = [lease_answer(live, one) for one in found.leases[:10]]
    words = NOTHING_WORDS[found.reason]
    if held:
        words += f" {held[0].by} holds one until {held[0].until}."
    return NextAnswer(None, count, found.reason, words, held)


def _seconds(now: Folded, wanted: float | None) -> float:
    if wanted is None:
        return now.config.desk.lease
    return expect.number("lease", wanted, 0.0, LONGEST_LEASE)


async def lease(call: Call) -> Request:
    """Hold a request, or go on holding it."""

    def work(now: Folded) -> Request:
        one = _open(now, call.id)
        check_free(call.live, now, one.id, call.by)
        now.desk.hold(one.id, call.by, _seconds(now, call.body.seconds))
        return request_of(call.live, now, one, seen=False)

    return (await call.live.look("lease", work))[0]


async def release(call: Call) -> StandingAnswer:
    """Give a request back."""

    def work(now: Folded) -> None:
        now.desk.release(_open(now, call.id).id, call.by)

    await call.live.look("release", work)
    return StandingAnswer(call.id, "awaited", None)


async def skip(call: Call) -> StandingAnswer:
    """Not this one, for the caller; it stays open for others."""
    live = call.live

    def work(now: Folded) -> None:
        now.desk.skip(_open(now, call.id).id, call.by)
        now.add(SKIPPED, call.id)

    _, entries = await live.change(call.by, "skip", work)
    return StandingAnswer(call.id, "awaited", entries[0].seq)


def _open(now: Folded, id: str) -> OpenRequest:
    one = now.desk.requests.get(id)
    if one is None:
        standing = standing_of(now.learner, id)
        raise UnknownId(f"request: expected one that is open, got {id!r}, whose label is {standing}")
    return one


def check_free(live: LiveStream, now: Folded, id: str, by: str) -> None:
    """Raise where somebody else holds a request."""
    held = now.desk.lease(id)
    if held is not None and held.by != by:
        said = lease_answer(live, held)
        raise HeldByAnother(
            f"request: expected one that is free, got {id!r}, which {said.by} holds until {said.until}"
        )


# -- answering -----------------------------------------------------------------------------------------


async def label(call: Call) -> LabelAnswer:
    """The label came."""
    live, body = call.live, call.body
    await live.expire()
    check = not call.caller.may("administer")

    def work(now: Folded) -> tuple[Entry, bool, Prediction]:
        if check:
            check_free(live, now, call.id, call.by)
        return tell(now, call.id, body)

    try:
        (entry, late, prediction), entries = await live.change(call.by, "tell", work)
    except ConflictingLabel as error:
        await live.barrier()
        raise _who_told(await last_told(live, call.id), error) from error
    return label_answer(entry, late, prediction, entries)


def tell(now: Folded, id: str, given: LabelCall) -> tuple[Entry, bool, Prediction]:
    """Tell a learner a label: what its book has of it, whether it was late, and what is predicted now."""
    learner = now.learner
    y = label_of(now.columns, given.y, sure=given.sure)
    before = learner.state.book.find(id)
    late = before is not None and before.withdrawn is not None and before.y is None
    prediction = learner.tell(id, y, labeller=given.labeller)
    entry = learner.state.book.find(id)
    return entry or _kept(before), late, prediction


def _kept(before: Entry | None) -> Entry:
    assert before is not None  # or it could not have been told
    return before


def label_of(columns: Columns | None, y: Any, *, sure: bool = False) -> float:
    """A label as the learner takes it; one outside of its declared range only from who is sure."""
    if columns is not None and sure:
        return float(replace(columns.label_column, low=None, high=None).value(y))
    if columns is not None:
        return columns.label(y)
    if isinstance(y, str):
        expect.refuse("y", "a number", y)
    return float(y) if isinstance(y, bool) else y


def label_answer(entry: Entry, late: bool, prediction: Prediction, entries: list[Appended]) -> LabelAnswer:
    """What is answered to a label."""
    decision = entry.decision
    return LabelAnswer(
        entry.id,
        entry.y if entry.y is not None else float("nan"),
        entry.cost if entry.paid else 0.0,
        prediction_answer(prediction),
        entries[0].seq if entries else None,
        None if decision is None else revealed(decision),
        late,
        not entries,
    )


def _who_told(told: LogEntry | None, error: ConflictingLabel) -> ConflictingLabel:
    """The same refusal, and who told what."""
    if told is None:
        return error
    event = event_of(told)
    again = ConflictingLabel(f"{error} ({told.by} told it at {time_of(told.at)})")
    again.told_by, again.told = told.by, getattr(event, "y", None)
    return again


def _check_own_label(call: Call, now: Folded, verb: str) -> None:
    """In a turn that asked for the label: raise where one stands that the caller may not change."""
    if call.caller.may("administer"):
        return
    known = now.learner.state.book.find(call.id)
    if known is None or known.y is None:
        return  # which the learner takes, or refuses in its own words
    told = _last_told(now.found)
    by = "a history" if told is None else told.by
    if by != call.by:
        raise NotAllowed(f"{verb}: expected a label that you told, got {call.id!r}, told by {by}")


async def last_told(live: LiveStream, id: str) -> LogEntry | None:
    """The entry with the label of an id as it stands."""
    return _last_told(await ask_store(live.store.about, live.number, id))


def _last_told(about: Sequence[LogEntry]) -> LogEntry | None:
    told = [one for one in about if one.kind in ("Told", "Corrected")]
    return told[-1] if told else None


def _who_told_it(call: Call) -> Ask | None:
    """What to ask the store before a label is changed: who told it; who administers may change any."""
    if call.caller.may("administer"):
        return None
    return lambda _: partial(call.live.store.about, call.live.number, call.id)


async def correct(call: Call) -> LabelAnswer:
    """The label that was told is wrong; this is the right one. A labeller may correct their own."""

    def work(now: Folded) -> tuple[Entry, bool, Prediction]:
        _check_own_label(call, now, "correct")
        now.learner.correct(call.id, label_of(now.columns, call.body.y))
        entry = now.learner.state.book.told(call.id)
        return entry, False, now.learner.predict(entry.x)

    result, entries = await call.live.change(
        call.by, "correct", work, ask=_who_told_it(call), all_on_disk=True
    )
    return label_answer(*result, entries)


async def withdraw(call: Call) -> StandingAnswer:
    """The label will not come, or must go. A labeller may withdraw what is open, and labels of their own."""
    check = not call.caller.may("administer")

    def work(now: Folded) -> str:
        _check_own_label(call, now, "withdraw")
        if check:
            check_free(call.live, now, call.id, call.by)
        now.learner.withdraw(call.id, charged=call.body.charged)
        return standing_of(now.learner, call.id)

    standing, entries = await call.live.change(
        call.by, "withdraw", work, ask=_who_told_it(call), all_on_disk=True
    )
    return StandingAnswer(call.id, standing, entries[0].seq if entries else None)


async def reopen(call: Call) -> StandingAnswer:
    """A label was told or withdrawn by mistake: it is awaited again.

    A labeller may take back a label of their own for a while, and withdrawals of their own at any time.
    """
    live = call.live
    check = not call.caller.may("administer")

    def work(now: Folded) -> tuple[str, float | None]:
        if check:
            _check_own(live, now, call.id, call.by)
        before = now.learner.state.book.find(call.id)
        y = None if before is None else before.y
        now.learner.reopen(call.id)
        return standing_of(now.learner, call.id), y

    (standing, y), entries = await live.change(
        call.by, "reopen", work, ask=_who_told_it(call), all_on_disk=True
    )
    if entries and standing == "awaited":
        await live.look("lease", lambda now: _hold_again(now, call.id, call.by))
    return StandingAnswer(call.id, standing, entries[0].seq if entries else None, y)


def _hold_again(now: Folded, id: str, by: str) -> None:
    """Whoever took a label back goes on with that request."""
    if id in now.desk.requests:
        now.desk.hold(id, by, now.config.desk.lease)


def _check_own(live: LiveStream, now: Folded, id: str, by: str) -> None:
    """In a turn that asked for the label: raise unless the caller told it lately, or withdrew it."""
    known = now.learner.state.book.find(id)
    if known is not None and known.called_off:
        gone = [one.by for one in now.found if one.kind == Withdrawn.__name__]
        if gone[-1:] != [by]:
            who = gone[-1] if gone else "a history"
            raise NotAllowed(f"reopen: expected a label that you withdrew, got {id!r}, withdrawn by {who}")
        return
    told = _last_told(now.found)
    if told is None:
        return  # which the learner refuses in its own words
    if told.by != by:
        raise NotAllowed(f"reopen: expected a label that you told, got {id!r}, told by {told.by}")
    undo = now.config.desk.undo
    if live.clock.now() - told.at > undo:
        raise NotAllowed(
            f"reopen: expected a label told within the last {undo:g} seconds, "
            f"got {id!r}, told at {time_of(told.at)}; correct it instead"
        )
