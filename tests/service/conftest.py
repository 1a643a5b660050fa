"""A service in the test's own process: an event loop, a client that speaks to the application, a clock."""

import asyncio
from contextlib import contextmanager
from types import GeneratorType

import httpx
import pytest

from breakeven.service.app import make_app
from breakeven.service.service import Service
from breakeven.store import open_store
from tests.service.samples import TYPES


class HandClock:
    """A clock that a test moves."""

    def __init__(self):
        self.time, self.gone = 1_700_000_000.0, 0.0

    def now(self):
        return self.time

    def steady(self):
        return self.gone

    def go_on(self, seconds):
        self.time += seconds
        self.gone += seconds


KNOWN_AT_ONCE = ("name", "address", "location", "path")


class OffLoop:
    """A store that may not be asked on the event loop: it may be locked, and everybody would wait."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        if name in KNOWN_AT_ONCE:
            return getattr(self._store, name)
        if not callable(getattr(type(self._store), name, None)):  # a property reads
            return self._checked(name, lambda: getattr(self._store, name))
        return lambda *given, **named: self._checked(
            name, lambda: getattr(self._store, name)(*given, **named)
        )

    def _checked(self, name, ask):
        _check_off_loop(name)
        said = ask()
        return _each_checked(name, said) if isinstance(said, GeneratorType) else said


def _check_off_loop(name):
    assert asyncio._get_running_loop() is None, f"store.{name} was asked on the event loop"


def _each_checked(name, some):
    for one in some:
        _check_off_loop(name)
        yield one


class Served:
    """A running service and a client of it; every call runs the loop until it is answered."""

    def __init__(self, store, clock, token=None, **settings):
        self.store, self.clock, self.loop = store, clock, asyncio.new_event_loop()
        self.service = Service(OffLoop(store), clock, beside=[], **settings)
        self.app = make_app(self.service)
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=True)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)
        self.run(self.service.start())
        self.run(self.service.read())

    def run(self, work):
        return self.loop.run_until_complete(work)

    def __call__(self, method, path, body=None, *, stream="clinic", status=200, **more):
        """Ask for a path of a stream, or for one that begins with a slash; the answer, with this status."""
        url = path if path.startswith("/") else f"/v1/streams/{stream}/{path}".rstrip("/")
        if body is not None:
            more["json"] = body
        answer = self.run(self.client.request(method, url, **more))
        assert answer.status_code == status, answer.text
        return answer.json() if "json" in answer.headers.get("content-type", "").split("-")[0] else answer

    def live(self, name="clinic"):
        return self.service.streams[name]

    def compacted(self):
        """Wait until the files hold nothing of what was erased."""
        self.run(self.service.compaction.finish())

    def stop(self):
        self.run(self.client.aclose())
        self.run(self.service.stop())
        self.run(self.loop.shutdown_default_executor())
        self.loop.close()


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def address(tmp_path):
    return f"sqlite:///{tmp_path}/clinic.db"


@pytest.fixture
def serving(address, clock):
    """A context in which the store is served; what is served again later is the same store."""

    @contextmanager
    def begin(store=None, token=None, **settings):
        opened = store or open_store(address, "create")
        served = Served(opened, clock, token, **settings)
        try:
            yield served
        finally:
            served.stop()
            opened.close()

    return begin


@pytest.fixture
def served(serving):
    """A service without streams."""
    with serving() as one:
        yield one


@pytest.fixture
def clinic(served):
    """A service with a stream of types."""
    served("PUT", "", TYPES, status=201)
    return served
