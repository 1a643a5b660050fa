"""Streams: made, changed, closed, removed; where one stands; its snapshot; people erased from it.

And what is said of the whole service: whether it is well, and who changed what somebody may do.
"""

from contextlib import suppress

from msgspec import UNSET, Struct

from breakeven.errors import BreakevenError, expect
from breakeven.folding import Erasure
from breakeven.learner.summary import Summary
from breakeven.rows import Columns
from breakeven.rules import rule_of
from breakeven.service.access.callers import ANYBODY
from breakeven.service.calls import BYTES_MEDIA, Answer, Call
from breakeven.service.folded import Folded
from breakeven.service.live_stream import LiveStream
from breakeven.service.setting_up import (
    CONFIGURED,
    changed_config,
    check_alarms,
    check_reveal,
    check_shown,
    config_bytes,
    config_now,
    repriced,
)
from breakeven.service.waiting import ask_store
from breakeven.service.watching import METRICS_MEDIA, alarms_of, metrics_text
from breakeven.store.export import time_of
from breakeven.wire.stream_setup import (
    AlarmAnswer,
    ErasedAnswer,
    Health,
    Readiness,
    StreamAnswer,
    StreamConfig,
    StreamLine,
    StreamList,
    SummaryAnswer,
    TrailAnswer,
    TrailLine,
)

MOST_CHANGES = 1000  # of the trail, in one answer
ENTRY_HEADER = "breakeven-entry"  # of an answer that is no JSON: the entry of the log that it is of


# -- looking -------------------------------------------------------------------------------------------


async def streams(call: Call) -> StreamList:
    """All streams that the caller may see."""
    seen = [one for one in call.service.streams.values() if call.caller.sees(one.name)]
    return StreamList([await line_of(one) for one in seen])


async def line_of(live: LiveStream) -> StreamLine:
    """A stream in a list of them; one that is not read yet says so."""
    try:
        line, _ = await live.look("line", lambda now: _line(live, now))
    except BreakevenError:
        return StreamLine(live.name, live.state, "", "")
    return line


def _line(live: LiveStream, now: Folded) -> StreamLine:
    ledger, config = now.learner.ledger, now.config
    return StreamLine(
        live.name,
        live.state,
        config.unit,
        config.currency,
        ledger.rounds,
        ledger.labels,
        ledger.label_spend,
        len(now.desk),
        oldest_of(now),
        live.seq,
        alarms_of(live, now),
    )


def oldest_of(now: Folded) -> str | None:
    """Since when the oldest request has been open."""
    return None if now.desk.oldest is None else time_of(now.desk.oldest.at)


async def stream(call: Call) -> StreamAnswer:
    """A stream and how it is set up."""
    config, as_of = await call.live.look("config", lambda now: now.config)
    return stream_answer(call.live, config, as_of)


def stream_answer(live: LiveStream, config: StreamConfig, entries: int) -> StreamAnswer:
    """What is said of a stream."""
    return StreamAnswer(live.name, live.state, time_of(live.stored.created), config, entries)


async def summary(call: Call) -> SummaryAnswer:
    """Where a stream stands, and what labelling everyone would have cost."""
    live = call.live
    seen, as_of = await live.look("summary", lambda now: overview_of(live, now))
    found = seen.learner
    return SummaryAnswer(
        name=live.name,
        unit=seen.config.unit,
        currency=seen.config.currency,
        ledger=found.ledger.plain(),
        belief=found.belief,
        rule=found.rule,
        label_cost=found.label_cost,
        error_cost=found.error_cost,
        labels_known=found.labels_known,
        warmup_left=found.warmup_left,
        fits=found.fits,
        open_requests=seen.open,
        oldest=seen.oldest,
        spend=found.ledger.label_spend,
        everyone=seen.everyone,
        alarms=seen.alarms,
        words=str(found),
        as_of=as_of,
    )


class StreamOverview(Struct, frozen=True):
    """Where a stream stands at one moment: what its learner says, its desk and its alarms."""

    learner: Summary
    config: StreamConfig
    columns: Columns | None
    open: int
    oldest: str | None
    alarms: list[AlarmAnswer]

    @property
    def everyone(self) -> float:
        """What labelling everyone would have cost."""
        return self.learner.ledger.rounds * self.learner.label_cost


def overview_of(live: LiveStream, now: Folded) -> StreamOverview:
    """Where a stream stands, for its summary and its board."""
    open, alarms = len(now.desk), alarms_of(live, now)
    return StreamOverview(now.learner.summary(), now.config, now.columns, open, oldest_of(now), alarms)


# -- setting up ----------------------------------------------------------------------------------------


async def put_stream(call: Call) -> Answer:
    """Make a stream; the same again is harmless."""
    live, new = await call.service.create(call.stream_name, call.body, call.by)
    config = await ask_store(config_now, call.service.store, live.stored)
    return Answer(stream_answer(live, config, live.seq), 201 if new else 200)


async def patch_stream(call: Call) -> StreamAnswer:
    """Change costs, the rule, the deadline or the desk."""
    live, change = call.live, call.body

    def work(now: Folded) -> StreamConfig:
        config = changed_config(now.config, change)
        if config == now.config:
            return config
        check_shown(config.deadline, config.open_requests, config.desk)
        check_alarms(config.alarms)
        check_reveal(config.desk, now.learner.rule if change.rule is UNSET else rule_of(change.rule))
        config = repriced(now.learner, config, change)
        now.add(CONFIGURED, None, config_bytes(config))
        now.config = config
        return config

    config, entries = await live.change(call.by, "configure", work)
    return stream_answer(live, config, entries[-1].seq if entries else live.seq)


async def delete_stream(call: Call) -> Answer:
    """Close a stream, or remove it with all that is in it."""
    if call.query.erase:
        await call.service.remove(call.stream_name, call.by)
    else:
        await call.service.close(call.stream_name, call.by)
    return Answer(status=204)


# -- snapshots and erasing -----------------------------------------------------------------------------


async def get_snapshot(call: Call) -> Answer:
    """The learner as bytes that `Learner.restore` reads."""
    blob, as_of = await call.live.look("snapshot", lambda now: now.learner.snapshot())
    return Answer(blob, media=BYTES_MEDIA, headers={ENTRY_HEADER: str(as_of)})


async def put_snapshot(call: Call) -> Answer:
    """Make a stream that goes on with the learner of a snapshot."""
    live = await call.service.create_from(call.stream_name, call.body, call.by)
    return Answer(stream_answer(live, live.ready.config, live.seq), 201)


async def erase(call: Call) -> ErasedAnswer:
    """Delete all content about some ids, for good: all of them, or none where one is unknown.

    It answers once that is on disk; the stream is read anew afterwards, and its files are written anew later.
    """
    live, ids = call.live, call.body.ids
    if not ids:
        expect.refuse("ids", "one at least", "none", described=True)
    await ask_store(_check_usable, live)
    erasure = await ask_store(Erasure, live.store, live.stored, ids, by=call.by, at=live.clock.now())
    entries = await live.alone(erasure.write, erasure.find)
    call.service.compaction.begin_soon()
    return ErasedAnswer(entries or 0)


def _check_usable(live: LiveStream) -> None:
    """Raise where a table is locked that erasing needs in the end."""
    live.store.erased(live.number)
    live.store.snapshot_numbers(live.number)


# -- access --------------------------------------------------------------------------------------------


async def trail(call: Call) -> TrailAnswer:
    """Who added and revoked tokens, said what people may do, and ended streams."""
    after = expect.whole("after", call.query.after)
    limit = expect.whole("limit", call.query.limit, least=1, most=MOST_CHANGES)
    changes = (await ask_store(call.service.store.trail))[after:]
    lines = [
        TrailLine(one.number, time_of(one.at), one.by, one.verb, one.about, one.detail)
        for one in changes[:limit]
    ]
    return TrailAnswer(lines, lines[-1].number if len(changes) > limit else None)


# -- health --------------------------------------------------------------------------------------------


async def healthz(call: Call) -> Health:
    """The server is alive."""
    return Health()


async def metrics(call: Call) -> Answer:
    """Numbers for Prometheus."""
    seen = [one for one in call.service.streams.values() if call.caller.sees(one.name)]
    text = await metrics_text(seen, call.service.feeds.count, call.service.admission)
    return Answer(text, media=METRICS_MEDIA)


async def readyz(call: Call) -> Answer:
    """Whether every stream has been read; how far each is, for those who may watch it."""
    streams, caller = list(call.service.streams.values()), ANYBODY
    with suppress(BreakevenError):  # whoever is not known hears how many there are
        caller = await call.service.entrance.identify("GET", call.headers)
    far = {one.name: one.progress for one in streams if caller.may("watch") and caller.sees(one.name)}
    why = {
        one.name: str(one.failure)
        for one in streams
        if one.state == "failed" and "administer" in caller.roles and caller.sees(one.name)
    }
    read = sum(one.state in ("ready", "closed") for one in streams)
    ready = read == len(streams) and call.service.compaction.since is None
    return Answer(Readiness(ready, read, len(streams), far, why), 200 if ready else 503)
