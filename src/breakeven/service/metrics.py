"""Numbers for Prometheus, in its text format: what every stream did, and how long it took."""

from collections.abc import Iterable, Iterator
from math import isfinite

from breakeven.errors import BreakevenError
from breakeven.service.alarms import alarms_of
from breakeven.service.live_stream import Folded, LiveStream
from breakeven.service.stream_times import TIME_BOUNDS, Histogram

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


async def metrics_text(streams: Iterable[LiveStream], feeds: int) -> bytes:
    """Everything, in the text format."""
    found: dict[str, list[str]] = {name: [] for name in METRICS}
    for live in streams:
        samples = [*_of_any(live), *await _of_ready(live)]
        for name, labels, value in samples:
            found[name].append(_line(name, {"stream": live.name} | labels, value))
        for name, times in (("decide_seconds", live.times.decide), ("commit_seconds", live.times.commit)):
            found[name] += _histogram(name, live.name, times)
    lines = [f"# HELP breakeven_open_feeds Feeds that are open.\n# TYPE breakeven_open_feeds gauge\n"
             f"breakeven_open_feeds {feeds}\n"]  # fmt: skip
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
