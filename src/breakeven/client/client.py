"""A client that waits for its answers."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import httpx

from breakeven.client.connection import Attempts, Connection, FeedReader, Patience, raw_answer
from breakeven.client.described_calls import Answered, ClientCall, RawAnswer, WaitingCarrier
from breakeven.client.verbs import ServiceVerbs, StreamVerbs
from breakeven.errors import BreakevenError


class Client(ServiceVerbs, WaitingCarrier):
    """The service at an address; `token` is one that `breakeven token add` made.

    `seconds` is how long one try may take, `patience` how often and how long the same call is tried.
    `transport` replaces the network, as tests do. Several threads may use it at once.

    >>> with Client("http://127.0.0.1:8765") as client:
    ...     clinic = client.stream("clinic")
    >>> clinic
    ClientStream('clinic')
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        seconds: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._to = Connection(url, token, seconds)
        self._patience, self._sleep = patience or Patience(), sleep
        self._http = httpx.Client(**self._to.settings, transport=transport)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._to.url!r})"

    def stream(self, name: str) -> "ClientStream":
        """A stream by its name; nothing is sent yet."""
        return ClientStream(self, name)

    def carry(self, call: ClientCall[Answered]) -> Answered:
        """Send a call, again where that makes sense, and return its answer."""
        attempts = Attempts(self._patience)
        while True:
            try:
                return call.answer(self._send(call))
            except BreakevenError as error:
                self._sleep(attempts.pause(error))

    def _send(self, call: ClientCall[Any]) -> RawAnswer:
        try:
            response = self._http.request(**self._to.request(call))
        except httpx.HTTPError as error:
            raise self._to.broken(error) from error
        return raw_answer(response, response.content)

    def listen(self, path: str, after: int | None) -> Iterator[int]:
        """The numbers of entries that a feed tells; a connection that breaks is made again."""
        reader, attempts = FeedReader(after), Attempts(self._patience)
        while True:
            try:
                with self._opened(path, reader) as lines:
                    for line in lines:
                        attempts.succeeded()
                        if (entry := reader.line(line)) is not None:
                            yield entry
            except httpx.HTTPError as error:
                self._sleep(attempts.pause(self._to.broken(error)))
            except BreakevenError as error:
                self._sleep(attempts.pause(error))
            else:
                self._sleep(attempts.pause(self._to.broken(None)))

    @contextmanager
    def _opened(self, path: str, reader: FeedReader) -> Iterator[Iterator[str]]:
        with self._http.stream(**self._to.feed(path, reader)) as response:
            reader.check(raw_answer(response, b"" if response.status_code == 200 else response.read()))
            yield response.iter_lines()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ClientStream(StreamVerbs, WaitingCarrier):
    """A stream of a service, used as a learner is."""

    def __init__(self, client: Client, name: str) -> None:
        super().__init__(name)
        self._client = client

    def carry(self, call: ClientCall[Answered]) -> Answered:
        """Send a call, again where that makes sense, and return its answer."""
        return self._client.carry(call)

    def feed(self, *, after: int | None = None) -> Iterator[int]:
        """That the log goes on, and up to which entry; from behind entry `after` on, without an end.

        At most two numbers a second come; `entries(after=…)` has what happened. Nothing is missed while the
        connection is made again.
        """
        return self._client.listen(f"{self.path}/feed", after)
