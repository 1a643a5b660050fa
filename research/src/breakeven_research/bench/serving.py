"""What a decision costs over HTTP, beside the same server with a handler that does nothing.

An empty call differs in its handler alone: the same process with the same settings, the same application, its
caller identified and checked in the same way, a body of the same length read (and not decoded), an answer
sent (without content).

Calls come over connections that stay open, each sending the next call when the last was answered. CPU is that
of the server's process alone; decisions are on disk, in SQLite, before they are answered.
"""

import asyncio
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import Any, NamedTuple

import msgspec
import numpy as np

from breakeven.folding import fold_stream
from breakeven.service.setting_up import create
from breakeven.store import LogEntry, open_store
from breakeven.store.sqlite import SqliteStore
from breakeven.wire.stream_setup import StreamConfig
from breakeven_research.bench.results import Measurement, NotMeasured, Result, Sizes

KINDS = 200  # types of arrivals
PAIRS = 8  # of loads in turn, empty calls and decisions; the ratio is the middle one of theirs
MOST_AT = {16: 2.2, 64: 1.8}  # connections, and how many empty calls a decision may cost
RATE_AT_64 = 0.6  # of the rate of empty calls
RATE_AT_16 = 0.5  # of the rate of empty calls, or of 16 commits at a time
LONE_COMMITS = 100
BESIDE_FIT = 2.0, 0.010  # of the waiting times without it, and seconds more
WAITING_CONNECTIONS = 4
MOST_IN_BATCH = 2.0  # of the bare verb
BATCH = 100
GP_LABELS = 1000
MICROSECONDS = 1e6
MOST_TO_START = 60.0  # seconds

TYPES = StreamConfig(
    belief={"kind": "TypeMeans", "noise_std": 0.5}, rule={"kind": "Threshold"}, label_cost=200.0
)
CURVE = StreamConfig(
    belief={"kind": "GaussianProcess", "dim": 2, "noise_std": 0.1}, rule={"kind": "Threshold"}, label_cost=1e9
)
FITTED = StreamConfig(
    belief={"kind": "GaussianProcess", "dim": 2, "noise_std": 0.1, "fit": "growing"},
    rule={"kind": "Threshold"},
    label_cost=1e9,
)

ANSWER_LENGTH = re.compile(rb"content-length: ?(\d+)", re.IGNORECASE)
EMPTY = "/v1/streams/types/empty"  # a call whose handler does nothing

Body = Callable[[int], bytes]


class Load(NamedTuple):
    """What a load led to: CPU seconds of the server a call, calls a second, and the longest waits but 1%."""

    cpu: float
    rate: float
    wait: float


class Served(NamedTuple):
    """A server that runs, and the address of its store."""

    port: int
    address: str

    def under_load(self, path: str, body: Body, connections: int, calls: int) -> Load:
        """Send so many calls over so many connections."""
        return asyncio.run(_load(self.port, path, body, connections, calls))


def measurements(sizes: Sizes) -> list[Measurement]:
    """Single decisions, batches, and decisions of a process, with each parser of HTTP that is installed."""
    return [
        Measurement(f"Decisions over HTTP ({http})", partial(_measured, http, sizes))
        for http in ("h11", "httptools")
    ]


def _measured(http: str, sizes: Sizes) -> Iterator[Result]:
    if http == "httptools":
        try:
            import httptools  # noqa: F401
        except ImportError as error:
            raise NotMeasured("httptools is not installed") from error
    calls = 8000 if sizes.full else 200
    with TemporaryDirectory() as folder, _served(f"sqlite:///{Path(folder) / 'load.db'}", http) as served:
        served.under_load(EMPTY, lambda n: b"{}", 16, calls // 4)  # warm
        for connections, most in MOST_AT.items():
            yield from _single(served, http, connections, most, calls)
        yield _batches(served, http, calls // 20)
        yield _of_process(served, http, calls // 4)
        if http == "httptools":
            yield _beside_a_fit(served, calls // 4, GP_LABELS if sizes.full else 30)


def _single(served: Served, http: str, connections: int, most: float, calls: int) -> Iterator[Result]:
    names = count()

    def body(n: int) -> bytes:
        return b'{"row":"type %d","id":"%d of %d"}' % (n % KINDS, next(names), connections)

    pairs = [
        (
            served.under_load(EMPTY, body, connections, calls // PAIRS),
            served.under_load("/v1/streams/types/arrivals", body, connections, calls // PAIRS),
        )
        for _ in range(PAIRS)
    ]
    empty, one = (Load(*np.median(column, axis=0).tolist()) for column in zip(*pairs, strict=True))
    ratio = float(np.median([after.cpu / before.cpu for before, after in pairs]))
    yield _line(
        f"One decision, {connections} connections, {http}: CPU",
        one.cpu,
        empty.cpu,
        "an empty call",
        most,
        ratio,
    )
    if connections == 64:
        beside, least, named = empty.rate, RATE_AT_64, f"empty calls {empty.rate:,.0f} a second"
    else:
        commits = connections * _lone_commits()
        beside, least = min(empty.rate, commits), RATE_AT_16
        named = f"empty calls {empty.rate:,.0f} a second, {connections} commits at a time {commits:,.0f}"
    yield Result(
        what=f"One decision, {connections} connections, {http}: rate",
        measured=f"{one.rate:,.0f} a second",
        beside=named,
        ratio=f"{one.rate / beside:.2f}× of the least of them",
        target=f"≥ {least:g}×",
        reached=one.rate >= least * beside,
    )


def _lone_commits() -> float:
    """Commits of one row a second, one after the other, on the disk that the store is on."""
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "commits.db", "create")
        stream = store.create_stream("rows", b"", at=0.0).number
        began = perf_counter()
        for seq in range(1, LONE_COMMITS + 1):
            store.append([LogEntry(stream, seq, 0.0, "bench", "Arrived", f"case {seq}", bytes(350))])
        took = perf_counter() - began
        store.close()
    return LONE_COMMITS / took


def _batches(served: Served, http: str, calls: int) -> Result:
    names = count()

    def rows() -> list[dict[str, str]]:
        return [{"row": f"type {i % KINDS}", "id": f"b{next(names)}"} for i in range(BATCH)]

    def body(n: int) -> bytes:
        return msgspec.json.encode(rows())

    found = served.under_load("/v1/streams/types/arrivals", body, 4, max(calls, 8))
    return _line(
        f"A decision in a batch of {BATCH} with ids, {http}: CPU",
        found.cpu / BATCH,
        _bare_batches(served.address, rows, max(calls, 8)),
        "the bare verb",
        MOST_IN_BATCH,
    )


def _bare_batches(address: str, rows: Callable[[], list[dict[str, str]]], calls: int) -> float:
    """CPU seconds of a decision in a batch with ids and a listener, of the same learner."""
    with closing(open_store(address, "read")) as store:
        learner = fold_stream(store, store.stream("types"))
    learner.listen([].append)
    given = [rows() for _ in range(calls)]
    batches = [([one["row"] for one in some], [one["id"] for one in some]) for some in given]
    began = process_time()
    for points, ids in batches:
        learner.decide_many(points, ids=ids)
    return (process_time() - began) / (calls * BATCH)


def _of_process(served: Served, http: str, calls: int) -> Result:
    with closing(open_store(served.address, "read")) as store:
        learner = fold_stream(store, store.stream("curve"))
    points = np.random.default_rng(1).random((calls, 2)).tolist()
    began = process_time()
    for point in points:
        learner.decide(point)
    bare = (process_time() - began) / calls

    def body(n: int) -> bytes:
        return msgspec.json.encode({"row": points[n % calls], "id": f"p{n}"})

    empty = served.under_load(EMPTY, body, 16, calls)
    one = served.under_load("/v1/streams/curve/arrivals", body, 16, calls)
    allowed = 1.5 * bare + 2.5 * empty.cpu
    return Result(
        what=f"One decision of a process with {GP_LABELS} labels, {http}: CPU",
        measured=_microseconds(one.cpu),
        beside=f"bare {_microseconds(bare)}, an empty call {_microseconds(empty.cpu)}",
        ratio=f"{one.cpu / allowed:.2f}× of 1.5 bare + 2.5 empty",
        target="≤ 1×",
        reached=one.cpu <= allowed,
    )


def _beside_a_fit(served: Served, calls: int, labels: int) -> Result:
    """How long decisions of one process wait while another stream's belief is fitted, and adopted."""
    points = np.random.default_rng(2).random((calls, 2)).tolist()
    names = count()

    def body(n: int) -> bytes:
        return msgspec.json.encode({"row": points[n % calls], "id": f"w{next(names)}"})

    def waits() -> float:
        return served.under_load("/v1/streams/curve/arrivals", body, WAITING_CONNECTIONS, calls).wait

    idle = waits()
    _learn(served, "fitted", _curve(labels))
    found, until = waits(), perf_counter() + MOST_TO_START
    while not _fits(served) and perf_counter() < until:
        found = max(found, waits())
    factor, more = BESIDE_FIT
    return Result(
        what=f"Decisions beside a fit of {labels} labels: 99 of 100 wait at most",
        measured=f"{1e3 * found:.1f} ms",
        beside=f"without it {1e3 * idle:.1f} ms",
        ratio=f"{found / idle:.2f}× of it",
        target=f"≤ {factor:g}× + {1e3 * more:g} ms",
        reached=found <= factor * idle + more,
    )


def _fits(served: Served) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/v1/streams/fitted/summary") as answer:
        return int(msgspec.json.decode(answer.read())["fits"])


def _line(
    what: str, found: float, beside: float, named: str, most: float, ratio: float | None = None
) -> Result:
    ratio = found / beside if ratio is None else ratio
    return Result(
        what=what,
        measured=_microseconds(found),
        beside=f"{named} {_microseconds(beside)}",
        ratio=f"{ratio:.2f}× of it",
        target=f"≤ {most:g}×",
        reached=ratio <= most,
    )


def _microseconds(seconds: float) -> str:
    return f"{MICROSECONDS * seconds:.1f} µs"


# -- the server, and the load ----------------------------------------------------------------------------


@contextmanager
def _served(address: str, http: str) -> Iterator[Served]:
    """A server with a stream of types that were labelled, and one of a Gaussian process."""
    with closing(open_store(address, "create")) as store:
        create(store, "types", TYPES, by="bench")
        create(store, "curve", CURVE, by="bench")
        create(store, "fitted", FITTED, by="bench")
    command = [sys.executable, "-m", "breakeven_research.bench.load_server", address, http]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            served = Served(int(process.stdout.readline()), address)
            _wait_until_ready(served)
            _teach(served)
            yield served
        finally:
            process.kill()


def _wait_until_ready(served: Served) -> None:
    until = perf_counter() + MOST_TO_START
    while perf_counter() < until:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{served.port}/readyz").close()
        except OSError:  # not yet
            sleep(0.05)
        else:
            return
    raise NotMeasured("the server did not start")


def _teach(served: Served) -> None:
    random = np.random.default_rng(0)
    types = [{"row": f"type {i % KINDS}", "y": float(random.normal())} for i in range(20 * KINDS)]
    _learn(served, "types", types)
    _learn(served, "curve", _curve(GP_LABELS))


def _curve(labels: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    return [{"row": random.random(2).tolist(), "y": float(random.normal())} for _ in range(labels)]


def _learn(served: Served, stream: str, rows: list[dict[str, Any]]) -> None:
    lines = msgspec.json.encode(rows)
    served.under_load(f"/v1/streams/{stream}/history", lambda n: lines, 1, 1)


async def _load(port: int, path: str, body: Body, connections: int, calls: int) -> Load:
    loop, waits, left = asyncio.get_running_loop(), list[float](), iter(range(calls))
    before, began = _cpu(port), perf_counter()
    senders = [_Sender(path, body, left, waits) for _ in range(connections)]
    for sender in senders:
        await loop.create_connection(lambda sender=sender: sender, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.gather(*(sender.done for sender in senders))
    took = perf_counter() - began
    return Load((_cpu(port) - before) / calls, calls / took, float(np.quantile(waits, 0.99)))


def _cpu(port: int) -> float:
    """Seconds of CPU that the server has used."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/cpu", data=b"") as answer:
        return float(answer.read())


class _Sender(asyncio.Protocol):
    """One connection, which sends the next call when the last was answered.

    It does as little as it can, for it runs on the machine of the server that it measures.
    """

    def __init__(self, path: str, body: Body, left: Iterator[int], waits: list[float]) -> None:
        self._head = (
            f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: %d"
            "\r\n\r\n%s"
        ).encode()
        self._body, self._left, self._waits = body, left, waits
        self._came, self._sent = b"", 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first call."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        """Send the next call once the answer has come whole."""
        came = self._came + data if self._came else data
        head, found, content = came.partition(b"\r\n\r\n")
        if not found or len(content) < int(ANSWER_LENGTH.search(head)[1]):  # type: ignore[index]
            self._came = came
            return
        self._waits.append(perf_counter() - self._sent)
        self._came = b""
        if not head.startswith(b"HTTP/1.1 200"):
            self._fail(f"expected 200, got {came.decode()}")
        else:
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        """Say that the server hung up, if there was more to send."""
        self._fail("expected an answer, got none: the server hung up")

    def _send(self) -> None:
        n = next(self._left, None)
        if n is None:
            self.done.set_result(None)
            self._transport.close()
            return
        content = self._body(n)
        self._sent = perf_counter()
        self._transport.write(self._head % (len(content), content))

    def _fail(self, words: str) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError(words))
