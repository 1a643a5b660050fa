"""How many calls may be under way: as many as can be answered soon. Every further one is refused at once.

A call's wait is expected to be the work ahead of it: the calls under way, times the seconds of CPU that one
took of late. Beyond `MOST_WAIT` it is refused with 503 and Retry-After before it is read, which costs a small
part of what answering costs: so a server that is asked for more than it can do goes on doing what it can. A
call that only waits is no work and does not count: for its body, for the next event of a feed, or until its
caller reads the answer. Otherwise callers who send and read nothing could keep all others out.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import Any

import msgspec
from uvicorn.protocols.http.flow_control import FlowControl

from breakeven.errors.serving import Overloaded
from breakeven.wire.problems import PROBLEM_MEDIA, problem_of

logger = logging.getLogger(__name__)

MOST_WAIT = 0.2  # seconds of work ahead of a call that is taken
FEWEST = 16  # calls that may be under way whatever they cost
USUAL = 0.0005  # seconds of CPU that a call takes, before that is known
LAST_COUNTS = 0.2  # how much the last look counts
MEASURED_EVERY = 0.1  # seconds
BUSY = 0.5  # of a core that is used, or of a look that comes late
LOGGED_EVERY = 10.0  # seconds
ALWAYS_TAKEN = frozenset(("/healthz", "/readyz", "/metrics"))

LENGTH_OR_OTHER = re.compile(
    rb"\r\n(content-length|transfer-encoding|expect|upgrade|connection):[ \t]*([^\r]*)", re.IGNORECASE
)
REFUSED_HEAD = (
    "HTTP/1.1 503 Service Unavailable\r\ncontent-type: {}\r\ncontent-length: {}\r\nretry-after: {}\r\n"
    "x-content-type-options: nosniff\r\ncache-control: no-store\r\n\r\n"
)


def overloaded() -> Overloaded:
    """What to raise where there is too much to do."""
    return Overloaded(
        "service: expected no more calls than can be answered soon, got more; nothing of this one was kept, "
        "send it again when Retry-After says so"
    )


def refusal() -> bytes:
    """The whole answer to a call that is refused."""
    error = overloaded()
    body = msgspec.json.encode(problem_of(error))
    return REFUSED_HEAD.format(PROBLEM_MEDIA, len(body), round(error.retry_after or 1)).encode() + body


class Admission:
    """The calls under way and how many there may be; `tasks` are those of the server, one for each call."""

    def __init__(self, cpu: Callable[[], float] = process_time, steady: Callable[[], float] = perf_counter):
        self.tasks: Sized = ()
        self.waiting = 0  # of these, for something that is no work
        self.refused = self.taken = 0
        self.seconds = USUAL  # of CPU that a call takes
        self.most = int(MOST_WAIT / USUAL)
        self._cpu, self._steady = cpu, steady
        self._looked = (steady(), cpu(), 0)  # when, and CPU and calls until then
        self._logged = (steady(), 0)  # when, and what was refused until then

    @property
    def under_way(self) -> int:
        """Calls that are worked on, or wait for their turn or for the disk."""
        return len(self.tasks) - self.waiting

    @property
    def full(self) -> bool:
        """Whether the next call would wait for too long."""
        return len(self.tasks) - self.waiting >= self.most

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Meanwhile a call only waits."""
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    def look(self) -> None:
        """Some times a second: measure what a call costs, and so how many may be under way.

        That is known while there is more to do than is done: the process is busy, or its turn comes late, and
        calls wait. They may also wait for the disk, which takes any number at once: then it is not busy.
        Otherwise what was learnt from calls that took long is forgotten.
        """
        before, cpu_before, taken_before = self._looked
        self._looked = now, cpu, taken = self._steady(), self._cpu(), self.taken
        took, used, found = now - before, cpu - cpu_before, min(self.seconds, USUAL)
        busy = used > BUSY * took or took > (1.0 + BUSY) * MEASURED_EVERY
        if busy and self.under_way >= FEWEST:
            found = used / max(taken - taken_before, 1)
        self.seconds += LAST_COUNTS * (found - self.seconds)
        self.most = max(FEWEST, int(MOST_WAIT / self.seconds))
        self._log(now)

    def _log(self, now: float) -> None:
        since, refused = self._logged
        if self.refused > refused and now >= since + LOGGED_EVERY:
            logger.warning(
                "overloaded: %d calls were refused; %d may be under way, at %.2f ms each",
                *(self.refused - refused, self.most, 1e3 * self.seconds),
            )
            self._logged = now, self.refused


def shedding(parser: Any, admission: Admission) -> Any:
    """A parser of HTTP that refuses calls while there is too much to do.

    A call that is here as a whole is refused unread, if the parser tells where calls begin and end; any other
    is marked, and refused by the application before its body is read.
    """
    refused, tells = refusal(), hasattr(parser, "on_message_begin")

    class Flow(FlowControl):
        async def drain(self) -> None:
            with admission.aside():
                await super().drain()

    class Shedding(parser):  # type: ignore[misc]
        between_calls = tells
        refusals = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.flow = Flow(self.transport)

        def data_received(self, data: bytes) -> None:
            last = self.cycle
            if admission.full and self.between_calls and self._is_read() and is_whole_post(data):
                self._unset_keepalive_if_required()
                self.refusals += 1
                admission.refused += 1
                self.transport.write(refused)
                return
            super().data_received(data)
            if not tells and self.cycle is not last:
                mark(self.cycle.scope, admission)

        def _is_read(self) -> bool:
            """Whether the last call was answered, and its caller reads: or answers would pile up."""
            return (self.cycle is None or self.cycle.response_complete) and not self.flow.write_paused

        if tells:

            def on_message_begin(self) -> None:
                self.between_calls = False
                super().on_message_begin()

            def on_headers_complete(self) -> None:
                mark(self.scope, admission)
                super().on_headers_complete()

            def on_message_complete(self) -> None:
                super().on_message_complete()
                self.between_calls = True

    return Shedding


def mark(scope: Any, admission: Admission) -> None:
    """Count a call, or say in its scope that it is one too many."""
    if admission.full:
        scope["overloaded"] = True
    else:
        admission.taken += 1


def is_whole_post(data: bytes) -> bool:
    r"""Whether bytes are one POST, head and body, of the plainest kind.

    >>> is_whole_post(b"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
    True
    >>> is_whole_post(b"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\n{}")
    False
    """
    head, line = data.find(b"\r\n\r\n"), data.find(b"\r\n")
    if head < 0 or not data.startswith(b"POST ") or not data.endswith(b" HTTP/1.1", 0, line):
        return False
    if data.count(b"\n", 0, head) != data.count(b"\r\n", 0, head):  # which others may take for lines
        return False
    length: bytes | None = None
    for name, value in LENGTH_OR_OTHER.findall(data, line, head + 2):
        if name[-1] in b"hH" and length is None:
            length = value
        elif value.lower() != b"keep-alive":
            return False
    body = b"%d" % (len(data) - head - 4)  # not the other way: reading a number of many digits takes long
    return body == (b"0" if length is None else length)
