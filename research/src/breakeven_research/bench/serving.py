"""What a decision costs over HTTP, beside the same server with a handler that does nothing.

An empty call differs in its handler alone: the same process with the same settings, the same application, its
caller identified and checked in the same way, a body of the same length read (and not decoded), an answer
sent (without content).

Calls come over connections that stay open, each sending the next call when the last was answered. CPU is that
of the server's process alone; decisions are on disk, in SQLite, before they are answered.
"""

import asyncio
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
            served.under_load(EMPTY, body, connections, calls // 4),
            served.under_load("/v1/streams/types/arrivals", body, connections, calls // 4),
        )
        for _ in range(4)
    ]
    empty, one = (Load(*np.median(column, axis=0)) for column in zip(*pairs, strict=True))
    yield _line(
        f"One decision, {connections} connections, {http}: CPU", one.cpu, empty.cpu, "an empty call", most
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


def _line(what: str, found: float, beside: float, named: str, most: float) -> Result:
    ratio = found / beside
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
    left = iter(range(calls))
    streams = [await asyncio.open_connection("127.0.0.1", port) for _ in range(connections)]
    before = float(await _ask(*streams[0], "/cpu", b""))
    began = perf_counter()

    waits = list[float]()

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for n in left:
            content, sent = body(n), perf_counter()
            await _ask(reader, writer, path, content)
            waits.append(perf_counter() - sent)

    await asyncio.gather(*(send(*one) for one in streams))
    took = perf_counter() - began
    used = float(await _ask(*streams[0], "/cpu", b"")) - before
    for _, writer in streams:
        writer.close()
    return Load(used / calls, calls / took, float(np.quantile(waits, 0.99)))


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes) -> bytes:
    writer.write(
        b"POST %s HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n%s" % (path.encode(), len(body), body)
    )
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
    answer = await reader.readexactly(length)
    if b" 200 " not in lines[0]:
        raise RuntimeError(f"{path}: expected 200, got {lines[0].decode()} {answer.decode()}")
    return answer
