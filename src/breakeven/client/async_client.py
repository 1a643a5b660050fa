"""A client whose answers are awaited; everything else is as with `Client`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx

from breakeven.client.connection import Attempts, Connection, FeedReader, Patience, raw_answer
from breakeven.client.described_calls import Answered, AwaitedCarrier, ClientCall, RawAnswer
from breakeven.client.verbs import ServiceVerbs, StreamVerbs
from breakeven.errors import BreakevenError


class AsyncClient(ServiceVerbs, AwaitedCarrier):
    """The service at an address, for programs with an event loop.

    >>> AsyncClient("http://127.0.0.1:8765").stream("clinic")
    AsyncStream('clinic')
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        seconds: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._to = Connection(url, token, seconds)
        self._patience, self._sleep = patience or Patience(), sleep
        self._http = httpx.AsyncClient(**self._to.settings, transport=transport)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._to.url!r})"

    def stream(self, name: str) -> "AsyncStream":
        """A stream by its name; nothing is sent yet."""
        return AsyncStream(self, name)

    async def carry(self, call: ClientCall[Answered]) -> Answered:
        """Send a call, again where that makes sense, and return its answer."""
        attempts = Attempts(self._patience)
        while True:
            try:
                return call.answer(await self._send(call))
            except BreakevenError as error:
                await self._sleep(attempts.pause(error))

    async def _send(self, call: ClientCall[Any]) -> RawAnswer:
        try:
            response = await self._http.request(**self._to.request(call))
        except httpx.HTTPError as error:
            raise self._to.broken(error) from error
        return raw_answer(response, response.content)

    async def listen(self, path: str, after: int | None) -> AsyncIterator[int]:
        """The numbers of entries that a feed tells; a connection that breaks is made again."""
        reader, attempts = FeedReader(after), Attempts(self._patience)
        while True:
            try:
                async with self._opened(path, reader) as lines:
                    async for line in lines:
                        attempts.succeeded()
                        if (entry := reader.line(line)) is not None:
                            yield entry
            except httpx.HTTPError as error:
                await self._sleep(attempts.pause(self._to.broken(error)))
            except BreakevenError as error:
                await self._sleep(attempts.pause(error))
            else:
                await self._sleep(attempts.pause(self._to.broken(None)))

    @asynccontextmanager
    async def _opened(self, path: str, reader: FeedReader) -> AsyncIterator[AsyncIterator[str]]:
        async with self._http.stream(**self._to.feed(path, reader)) as response:
            reader.check(raw_answer(response, b"" if response.status_code == 200 else await response.aread()))
            yield response.aiter_lines()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncStream(StreamVerbs, AwaitedCarrier):
    """A stream of a service; verbs are awaited, and `requests`, `entries` and `feed` are for `async for`."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        super().__init__(name)
        self._client = client

    async def carry(self, call: ClientCall[Answered]) -> Answered:
        """Send a call, again where that makes sense, and return its answer."""
        return await self._client.carry(call)

    def feed(self, *, after: int | None = None) -> AsyncIterator[int]:
        """That the log goes on, and up to which entry; from behind entry `after` on, without an end."""
        return self._client.listen(f"{self.path}/feed", after)
