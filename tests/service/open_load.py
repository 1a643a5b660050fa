"""Open-loop load: single arrivals sent when they are due, whether or not earlier ones were answered.

`python -m tests.service.open_load PORT RATE SECONDS` is a process of its own. Arrivals come at random moments
(a Poisson process from a seed), each goes to the next of the streams over a connection that stays open, and a
wait is counted from the moment at which the arrival was due: what a slow server keeps from being sent counts
as well. It prints what came of them as JSON.
"""

import json
import random
import re
import select
import socket
import sys
import time
from collections import Counter, deque

STREAMS = 10
KINDS = 200  # types of arrivals
MOST_CONNECTIONS = 4000
HEALTH_EVERY = 0.1  # seconds between two looks at /healthz
LAST_ANSWERS = 5.0  # seconds after the last arrival, after which what has no answer is lost
LENGTH = re.compile(rb"content-length: ?(\d+)", re.IGNORECASE)
CALL = b"POST /v1/streams/s%d/arrivals HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


class _Connection:
    """One connection, with at most one call under way."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.due, self.got, self.call = None, b"", b""

    def send(self, due, call):
        self.due, self.call = due, call
        self.socket.send(call)

    def status(self):
        """The status of the answer once all of it is here; 0 where the server closed, else None."""
        try:
            came = self.socket.recv(1 << 16)
        except BlockingIOError:
            return None
        except OSError:
            return 0
        if not came:
            return 0
        self.got = self.got + came if self.got else came
        head = self.got.find(b"\r\n\r\n")
        if head < 0 or len(self.got) < head + 4 + int(LENGTH.search(self.got)[1]):
            return None
        status, self.got = int(self.got[9:12]), b""
        return status


class OpenLoad:
    """Arrivals at a rate for some seconds, and what came of each."""

    def __init__(self, port, rate, seconds, seed=1):
        self._port, self._rate, self._seconds = port, rate, seconds
        self._random, self._poll = random.Random(seed), select.epoll()
        self._open, self._free, self._waiting = {}, [], deque()
        self._named = f"{seed}-{time.time_ns():x}".encode()
        self.waits, self.health, self.counts = {200: [], 503: []}, [], Counter()
        self.late = []  # by how much arrivals were sent late, for want of a connection or of time

    def run(self):
        """Send all, wait for the last answers, and say what came."""
        began, cpu = time.perf_counter(), time.process_time()
        due, look, number = began + self._random.expovariate(self._rate), began, 0
        health = self._connect()
        while (now := time.perf_counter()) < began + self._seconds:
            while due <= now:
                self._waiting.append((due, self._arrival(number)))
                number += 1
                due += self._random.expovariate(self._rate)
            self._send()
            if look <= now and health.due is None:
                health.send(look, HEALTH)
                look += HEALTH_EVERY
            health = self._take(max(0.0, min(due - time.perf_counter(), 0.001)), health)
        sent, took = number - len(self._waiting), time.perf_counter() - began
        self._waiting.clear()
        while any(one.due is not None for one in self._open.values()) and now < began + took + LAST_ANSWERS:
            health = self._take(0.01, health)
            now = time.perf_counter()
        return self._report(number, sent, took, (time.process_time() - cpu) / took)

    def _arrival(self, number):
        body = b'{"row":"type %d","id":"%s-%d"}' % (self._random.randrange(KINDS), self._named, number)
        return CALL % (number % STREAMS) + b"content-length: %d\r\n\r\n" % len(body) + body

    def _connect(self):
        one = _Connection(self._port)
        self._open[one.socket.fileno()] = one
        self._poll.register(one.socket, select.EPOLLIN)
        return one

    def _close(self, one):
        del self._open[one.socket.fileno()]
        one.socket.close()
        if one in self._free:
            self._free.remove(one)

    def _send(self):
        while self._waiting:
            if not self._free:
                if len(self._open) >= MOST_CONNECTIONS:
                    return
                self._free.append(self._connect())
            one, (due, call) = self._free.pop(), self._waiting.popleft()
            self.late.append(time.perf_counter() - due)
            try:
                one.send(due, call)
            except OSError:  # closed by the server in this moment
                self._close(one)
                self._waiting.appendleft((due, call))

    def _take(self, seconds, health):
        """Take what comes; returns the connection that looks at the server's health."""
        for handle, _ in self._poll.poll(seconds):
            one = self._open[handle]
            status = one.status()
            if status is None:
                continue
            if status == 0:
                self._close(one)
                if one is health:
                    health = self._connect()
                elif one.due is not None:
                    self._waiting.appendleft((one.due, one.call))  # safe to repeat, as it has an id
                continue
            wait, one.due = time.perf_counter() - one.due, None
            if one is health:
                self.health.append(wait)
                continue
            self.counts[status] += 1
            self.waits.setdefault(status, []).append(wait)
            self._free.append(one)
        return health

    def _report(self, due, sent, took, cpu):
        return {
            "rate": self._rate,
            "due": due,
            "sent": sent,
            "answered": self.counts[200] / took,
            "counts": {str(status): count for status, count in self.counts.items()},
            "lost": due - sum(self.counts.values()),
            "p50": quantile(self.waits[200], 0.5),
            "p99": quantile(self.waits[200], 0.99),
            "refused_p99": quantile(self.waits[503], 0.99),
            "health_p99": quantile(self.health, 0.99),
            "health_looks": len(self.health),
            "late_p99": quantile(self.late, 0.99),
            "connections": len(self._open),
            "cpu": cpu,
        }


def quantile(values, share):
    """The value that a share of them does not exceed; None of none."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)] if values else None


if __name__ == "__main__":
    port, rate, seconds = sys.argv[1:]
    print(json.dumps(OpenLoad(int(port), float(rate), float(seconds)).run()))
