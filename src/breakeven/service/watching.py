"""What the service says of itself: alarms, in the log and to a receiver, and numbers for Prometheus.

An alarm that begins or ends is an entry of the log. So is the fact that the receiver has taken it: whatever
lies behind the last of these has still to be sent, also after a restart. The receiver gets each message at
least once, with an id to know it by.
"""

import asyncio
import logging
import urllib.request
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from itertools import chain
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from breakeven.errors import BreakevenError, expect
from breakeven.folding import EVENT_KINDS, event_of
from breakeven.service.admission import Admission
from breakeven.service.beside import Repeating
from breakeven.service.clock import TIME_BOUNDS, Histogram
from breakeven.service.folded import Folded
from breakeven.service.live_stream import LiveStream
from breakeven.service.waiting import ask_store
from breakeven.store import LogEntry, Store
from breakeven.store.export import time_of
from breakeven.values import AnyEvent, Arrived, Corrected, Reopened, Told, Withdrawn
from breakeven.wire.signing import SIGNATURE_HEADER, signature_of
from breakeven.wire.stream_setup import AlarmAnswer

logger = logging.getLogger(__name__)

ALARMED = "Alarmed"  # the kind of an entry that says that an alarm began or ended
NOTIFIED = "Notified"  # the kind of an entry that says up to which entry the receiver was told
WATCHER = "alarms"  # who writes them
SECONDS_OF_A_DAY = 86_400.0
LONGEST_SILENCE = 300.0  # seconds between two tries to reach the receiver
SHORTEST_ALARM_SECRET = 16
ENTRIES_LOOKED_AT = 20_000  # from the end of the log on, where audited labels are counted
AUDITED = "audited"  # the reason of an audit
ALARM_SECONDS = 10.0  # that the receiver may take


class AlarmChange(Struct, frozen=True, omit_defaults=True):
    """The body of an entry: an alarm that began, or ended."""

    kind: str
    began: bool
    words: str


class NotifiedUpTo(Struct, frozen=True):
    """The body of an entry: the receiver has taken everything up to this number."""

    entry: int


# -- what they are now -----------------------------------------------------------------------------------


def alarms_of(live: LiveStream, now: Folded) -> list[AlarmAnswer]:
    """The alarms of a stream at this moment."""
    setup, ledger, time = now.config.alarms, now.learner.ledger, live.clock.now()
    found = []
    standing, audit = ledger.standing, ledger.audit
    if setup.refuted and standing is not None and standing.refuted_since is not None:
        found.append(AlarmAnswer("belief_refuted", f"the belief is {standing.words}"))
    if setup.error is not None and audit is not None and audit.absolute.low > setup.error:
        low = f"{audit.absolute.low:.4g}"
        words = f"audits say that the mean error is at least {low}; {setup.error:.4g} is the limit"
        found.append(AlarmAnswer("audited_error", words))
    if setup.coverage is not None and live.coverage is not None:
        inside, count = live.coverage
        most = most_covered(inside, count)
        if most < setup.coverage:
            held = f"{inside:,} of {count:,} audited labels lay within their interval of 95%"
            words = f"{held}: {100 * most:.1f}% at most; {100 * setup.coverage:.4g}% is the limit"
            found.append(AlarmAnswer("coverage_low", words))
    if live.mismatch is not None:
        found.append(AlarmAnswer("log_mismatch", live.mismatch))
    oldest = now.desk.oldest
    if setup.oldest is not None and oldest is not None and time - oldest.at > setup.oldest:
        words = f"a request is open for {time - oldest.at:.0f} seconds; {setup.oldest:.0f} is the limit"
        found.append(AlarmAnswer("requests_too_old", words))
    if setup.spend_a_day is not None:
        plan = setup.spend_a_day * max((time - live.stored.created) / SECONDS_OF_A_DAY, 1.0)
        if ledger.label_spend > plan:
            words = f"labels cost {ledger.label_spend:.2f} so far; {plan:.2f} was planned"
            found.append(AlarmAnswer("spend_ahead", words))
    return found


class AuditedLabels:
    """Of the audited labels of a stream: how many lay within the interval that was to hold them.

    They are read from the log: from its last entries on, and then what is added. An audit is drawn by lot
    among arrivals that nobody asked about, so their share says how good intervals are there.
    """

    def __init__(self, store: Store, stream: int) -> None:
        self._store, self._stream, self._upto = store, stream, max(store.last(stream) - ENTRIES_LOOKED_AT, 0)
        self._intervals: dict[str, tuple[float, float]] = {}  # of audits
        self._inside: dict[str, bool] = {}  # of those whose label stands

    def read(self, upto: int) -> tuple[int, int]:
        """Go on to this entry; how many labels lie within their interval, and how many there are."""
        for entry in self._store.entries(self._stream, self._upto, upto):
            if entry.kind in EVENT_KINDS:
                self._hear(event_of(entry))
        self._upto = upto
        return sum(self._inside.values()), len(self._inside)

    def _hear(self, event: AnyEvent) -> None:
        if isinstance(event, Arrived):
            decision = event.decision
            if decision.reason == AUDITED and decision.prediction.probability is None:
                self._intervals[decision.id] = decision.prediction.interval(of="label")
        elif isinstance(event, Told | Corrected) and event.id in self._intervals:
            low, high = self._intervals[event.id]
            self._inside[event.id] = low <= event.y <= high
        elif isinstance(event, Withdrawn | Reopened):
            self._inside.pop(event.id, None)


def most_covered(inside: int, count: int) -> float:
    """The largest share of labels within their interval that fits what audits found, at every moment at once.

    The upper end of Clopper and Pearson, whose failures at 1, 2, 3, … labels add up to 5%.

    >>> most_covered(0, 0), round(most_covered(50, 100), 3), most_covered(100, 100)
    (1.0, 0.714, 1.0)
    """
    if inside == count:
        return 1.0
    from scipy.special import betaincinv  # slow to import, rarely needed

    failing = 0.05 / (count * (count + 1))
    return float(betaincinv(inside + 1, count - inside, 1.0 - failing))


# -- in the log ------------------------------------------------------------------------------------------


class AlarmWatch(Repeating):
    """Notes in the log that an alarm began or ended, and tells the receiver, if there is one."""

    def __init__(self, receiver: "AlarmReceiver | None" = None) -> None:
        self._receiver = receiver
        self._standing: dict[int, set[str]] = {}  # kinds of alarms by stream, as the log has them
        self._pending: dict[int, list[LogEntry]] = {}
        self._audits: dict[int, tuple[int, AuditedLabels]] = {}  # as read after so many rewrites of the log
        self._sending: asyncio.Task[None] | None = None
        self._silent_until, self._failures = 0.0, 0

    async def stop(self) -> None:
        """Look no more, and send no more."""
        await super().stop()
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])

    async def look(self, live: LiveStream) -> None:
        """Note what changed, and have sent what is to be sent: a receiver that is slow holds up no note."""
        if live.state != "ready":
            return
        if live.number not in self._standing:
            beside = await ask_store(live.store.beside, live.number)
            self._standing[live.number], self._pending[live.number] = noted(beside)
        if live.ready.config.alarms.coverage is not None:
            live.coverage = await asyncio.to_thread(self._covered, live, live.written)
        await self._note(live)
        idle = self._sending is None or self._sending.done()
        if self._receiver is not None and self._pending[live.number] and idle:
            self._sending = asyncio.create_task(self._send(live, self._receiver))

    def _covered(self, live: LiveStream, upto: int) -> tuple[int, int]:
        rewrites, labels = self._audits.get(live.number, (-1, None))
        if labels is None or rewrites != live.rewrites:
            labels = AuditedLabels(live.store, live.number)
            self._audits[live.number] = live.rewrites, labels
        return labels.read(upto)

    async def _note(self, live: LiveStream) -> None:
        before = self._standing[live.number]
        present, _ = await live.look("alarms", lambda now: alarms_of(live, now))
        kinds = {one.kind: one.words for one in present}
        changes = [AlarmChange(kind, True, words) for kind, words in kinds.items() if kind not in before]
        changes += [AlarmChange(kind, False, "it is over") for kind in sorted(before - kinds.keys())]
        if not changes:
            return

        def work(now: Folded) -> None:
            for one in changes:
                now.add(ALARMED, None, msgspec.json.encode(one))

        _, entries = await live.change(WATCHER, "alarm", work)
        for one in changes:
            level = logging.WARNING if one.began else logging.INFO
            logger.log(level, "stream %r: alarm %s: %s", live.name, one.kind, one.words)
        self._standing[live.number] = set(kinds)
        self._pending[live.number] += chain.from_iterable(one.entries() for one in entries)

    async def _send(self, live: LiveStream, receiver: "AlarmReceiver") -> None:
        pending = self._pending[live.number]
        try:
            while pending and live.clock.steady() >= self._silent_until:
                await self._send_first(live, receiver, pending)
        except BreakevenError as error:
            logger.info("stream %r: %s", live.name, error)
        except Exception:
            logger.exception("stream %r", live.name)

    async def _send_first(self, live: LiveStream, receiver: "AlarmReceiver", pending: list[LogEntry]) -> None:
        body = message_of(live, pending[0])
        try:
            await asyncio.to_thread(receiver.send, body, live.clock.now())
        except (OSError, HTTPException) as error:
            self._failures += 1
            pause = min(2.0**self._failures, LONGEST_SILENCE)
            self._silent_until = live.clock.steady() + pause
            logger.warning("alarms cannot be sent (%s); tried again in %.0f s", error, pause)
            return
        self._failures, done = 0, NotifiedUpTo(pending[0].seq)

        def work(now: Folded) -> None:
            now.add(NOTIFIED, None, msgspec.json.encode(done))

        await live.change(WATCHER, "alarm", work)
        pending.pop(0)


def noted(beside: list[LogEntry]) -> tuple[set[str], list[LogEntry]]:
    """Which alarms stand, and what the receiver was not told, as the log has it."""
    standing: set[str] = set()
    pending: list[LogEntry] = []
    for entry in beside:
        if entry.kind == ALARMED:
            change = msgspec.json.decode(entry.body, type=AlarmChange)
            (standing.add if change.began else standing.discard)(change.kind)
            pending.append(entry)
        elif entry.kind == NOTIFIED:
            upto = msgspec.json.decode(entry.body, type=NotifiedUpTo).entry
            pending = [one for one in pending if one.seq > upto]
    return standing, pending


def message_of(live: LiveStream, entry: LogEntry) -> bytes:
    """What the receiver gets of an entry; `id` is the same however often it is sent."""
    change = msgspec.json.decode(entry.body, type=AlarmChange)
    return msgspec.json.encode(
        {
            "id": f"{live.store_id}-{live.number}-{entry.seq}",
            "stream": live.name,
            "entry": entry.seq,
            "at": time_of(entry.at),
            "alarm": change.kind,
            "began": change.began,
            "detail": change.words,
        }
    )


# -- the receiver ----------------------------------------------------------------------------------------


class AlarmReceiver:
    """Whoever takes alarms at a URL. A message is signed with a secret that both sides know.

    Any answer of 2xx means that it was taken.
    """

    def __init__(self, url: str, secret: str, name: str = "secret") -> None:
        if not url.startswith(("http://", "https://")):
            expect.refuse("alarm_url", "an address that begins with http:// or https://", url)
        if len(secret) < SHORTEST_ALARM_SECRET:
            came = f"{len(secret)} of them"
            expect.refuse(name, f"at least {SHORTEST_ALARM_SECRET} letters", came, described=True)
        self._url, self._secret = url, secret
        self._open = urllib.request.build_opener(_NoRedirection).open

    def send(self, body: bytes, at: float) -> None:
        """Send one message; raises `OSError` or `HTTPException` where it was not taken."""
        headers = {
            "Content-Type": "application/json",
            SIGNATURE_HEADER: signature_of(self._secret, body, at),
        }
        request = urllib.request.Request(self._url, body, headers, method="POST")
        with self._open(request, timeout=ALARM_SECONDS):
            pass


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """A redirection is no place for an alarm."""

    def redirect_request(self, *given: Any) -> None:
        """Not followed: it is an error then."""


# -- numbers ----------------------------------------------------------------------------------------------

METRICS_MEDIA = "text/plain; version=0.0.4; charset=utf-8"
METRICS = {
    "decisions_total": ("counter", "Arrivals that were decided on."),
    "labels": ("gauge", "Labels bought, less those that were withdrawn without a charge."),
    "spend": ("gauge", "What labels cost so far, in the currency of the stream."),
    "open_requests": ("gauge", "Labels that are awaited."),
    "oldest_request_seconds": ("gauge", "How long the oldest of them has been open."),
    "labels_known": ("gauge", "Labels that the belief rests on."),
    "entries": ("gauge", "The number of the last entry of the log in memory."),
    "entries_written": ("gauge", "The number of the last entry that is on disk."),
    "read_ratio": ("gauge", "How far the stream has been read from its log, from 0 to 1."),
    "ready": ("gauge", "1 if the stream can be used."),
    "fits_total": ("counter", "Fits that the belief went on with."),
    "refuted_total": ("counter", "How often labels refuted the belief."),
    "refuted": ("gauge", "1 while the belief is refuted."),
    "audit_error_low": ("gauge", "The mean |y - p| of arrivals that nobody asked about: its lower bound."),
    "audit_error_high": ("gauge", "The same: its upper bound."),
    "alarm": ("gauge", "1 for each alarm that stands."),
    "decide_seconds": ("histogram", "CPU time of deciding, for each call."),
    "commit_seconds": ("histogram", "How long a change took to be on disk."),
}

Sample = tuple[str, dict[str, str], float]
"""A number: its name, its labels beside the stream's, and itself."""


async def metrics_text(streams: Iterable[LiveStream], feeds: int, admission: Admission) -> bytes:
    """Everything, in the text format."""
    found: dict[str, list[str]] = {name: [] for name in METRICS}
    for live in streams:
        samples = [*_of_any(live), *await _of_ready(live)]
        for name, labels, value in samples:
            found[name].append(_line(name, {"stream": live.name} | labels, value))
        for name, times in (("decide_seconds", live.times.decide), ("commit_seconds", live.times.commit)):
            found[name] += _histogram(name, live.name, times)
    lines = [f"# HELP breakeven_open_feeds Feeds that are open.\n# TYPE breakeven_open_feeds gauge\n"
             f"breakeven_open_feeds {feeds}\n",
             "# HELP breakeven_calls_refused_total Calls that were refused for want of time.\n"
             "# TYPE breakeven_calls_refused_total counter\n"
             f"breakeven_calls_refused_total {admission.refused}\n"]  # fmt: skip
    for name, (kind, words) in METRICS.items():
        lines.append(f"# HELP breakeven_{name} {words}\n# TYPE breakeven_{name} {kind}\n")
        lines += found[name]
    return "".join(lines).encode()


def _of_any(live: LiveStream) -> Iterator[Sample]:
    yield "read_ratio", {}, live.progress
    yield "ready", {}, float(live.state == "ready")
    yield "entries", {}, live.seq
    yield "entries_written", {}, live.written


async def _of_ready(live: LiveStream) -> list[Sample]:
    try:
        samples, _ = await live.look("metrics", lambda now: list(_of_learner(live, now)))
    except BreakevenError:
        return []
    return samples


def _of_learner(live: LiveStream, now: Folded) -> Iterator[Sample]:
    found = now.learner.summary()
    ledger, oldest = found.ledger, now.desk.oldest
    yield "decisions_total", {}, ledger.rounds
    yield "labels", {}, ledger.labels
    yield "spend", {}, ledger.label_spend
    yield "open_requests", {}, len(now.desk)
    yield "oldest_request_seconds", {}, 0.0 if oldest is None else max(live.clock.now() - oldest.at, 0.0)
    yield "labels_known", {}, found.labels_known
    yield "fits_total", {}, found.fits
    if ledger.standing is not None:
        yield "refuted_total", {}, ledger.standing.alarms
        yield "refuted", {}, float(ledger.standing.refuted_since is not None)
    if ledger.audit is not None:
        yield "audit_error_low", {}, ledger.audit.absolute.low
        yield "audit_error_high", {}, ledger.audit.absolute.high
    for alarm in alarms_of(live, now):
        yield "alarm", {"kind": alarm.kind}, 1.0


def _histogram(name: str, stream: str, times: Histogram) -> Iterator[str]:
    for bound, count in zip(TIME_BOUNDS, times.below(), strict=True):
        yield _line(f"{name}_bucket", {"stream": stream, "le": f"{bound:g}"}, count)
    yield _line(f"{name}_bucket", {"stream": stream, "le": "+Inf"}, times.count)
    yield _line(f"{name}_sum", {"stream": stream}, times.sum)
    yield _line(f"{name}_count", {"stream": stream}, times.count)


def _line(name: str, labels: dict[str, str], value: float) -> str:
    r"""One line.

    >>> _line("spend", {"stream": 'a"b'}, 2.0)
    'breakeven_spend{stream="a\\"b"} 2.0\n'
    """
    named = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    shown = repr(value) if isfinite(value) else "+Inf" if value > 0 else "NaN" if value != value else "-Inf"
    return f"breakeven_{name}{{{named}}} {shown}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
