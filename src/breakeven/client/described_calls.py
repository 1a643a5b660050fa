"""Calls as plain data, before anything is sent: the one description that both clients carry out.

A verb is written once. On a carrier it is a method: one that waits for the answer, or one that is awaited.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from math import isfinite
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import msgspec

from breakeven.errors import BreakevenError, expect
from breakeven.errors.serving import NotReady, ServiceError, TooMany, Unreachable
from breakeven.wire.problems import PROBLEM_MEDIA, Problem, error_of

Answered = TypeVar("Answered")
SHOWN_OF_ANSWER = 200  # letters of an answer that nobody expected
PROXY_STATUSES = (502, 504)  # what a proxy answers where it cannot reach the service


class RawAnswer(msgspec.Struct, frozen=True):
    """What came back: a status, headers by their names in small letters, and bytes."""

    status: int
    headers: dict[str, str]
    content: bytes


@dataclass(frozen=True)
class ClientCall(Generic[Answered]):
    """One call: where it goes, what it says, and how its answer is read."""

    method: str
    path: str
    read: Callable[[bytes], Answered]
    query: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None

    def answer(self, raw: RawAnswer) -> Answered:
        """What the answer says; raises what was refused, in the library's own class."""
        if not 200 <= raw.status < 300:
            raise refusal(raw)
        try:
            return self.read(raw.content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ServiceError(f"{self.path}: expected an answer of breakeven, got {error}") from error


@dataclass(frozen=True)
class ClientPages(Generic[Answered]):
    """Calls one after the other: the first, and what is on a page and which call comes next."""

    first: ClientCall[Any]
    turn: Callable[[Any], tuple[list[Answered], ClientCall[Any] | None]]


def reading(kind: Any) -> Callable[[bytes], Any]:
    """Reads JSON of a type."""
    return msgspec.json.Decoder(kind).decode


def written(body: Any) -> bytes:
    """A body as JSON; what JSON cannot say is refused. Numbers of NumPy are taken."""
    return msgspec.json.encode(body, enc_hook=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy, columns of tables
        found = value.tolist()
        check_finite("value", found)
        return found
    expect.refuse("value", "plain data: text, numbers, truth, lists of them", value)


def check_finite(name: str, value: Any) -> None:
    """Raise where a number is not finite: JSON would silently make it null.

    >>> check_finite("row", {"age": float("nan")})
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: row['age']: expected a finite number (None says that a value is missing), \
got nan
    """
    if isinstance(value, float) and not isfinite(value):
        expect.refuse(name, "a finite number (None says that a value is missing)", value)
    if isinstance(value, dict):
        for key, one in value.items():
            check_finite(f"{name}[{key!r}]", one)
    elif isinstance(value, list | tuple):
        for i, one in enumerate(value):
            check_finite(f"{name}[{i}]", one)


def refusal(raw: RawAnswer) -> BreakevenError:
    """The error that an answer speaks of; `retry_after` is set where the answer says when to come back."""
    error = _named(raw)
    after = raw.headers.get("retry-after", "")
    if isinstance(error, ServiceError) and after.isdecimal():
        error.retry_after = float(after)
    return error


def _named(raw: RawAnswer) -> BreakevenError:
    media = raw.headers.get("content-type", "").split(";")[0].strip()
    if media == PROBLEM_MEDIA:
        try:
            return error_of(msgspec.json.decode(raw.content, type=Problem))
        except msgspec.DecodeError:
            pass
    said = " ".join(raw.content[: 4 * SHOWN_OF_ANSWER].decode(errors="replace").split())[:SHOWN_OF_ANSWER]
    words = f"url: expected an answer of breakeven, got {raw.status} ({said or 'empty'}); check the address"
    if raw.status in PROXY_STATUSES:
        return Unreachable(words)
    return {429: TooMany, 503: NotReady}.get(raw.status, ServiceError)(words)


Given = ParamSpec("Given")


class WaitingCarrier(ABC):
    """Whatever carries calls out and waits for their answers."""

    @abstractmethod
    def carry(self, call: ClientCall[Answered]) -> Answered:
        """Send a call, again where that makes sense, and return its answer."""

    def carry_pages(self, pages: ClientPages[Answered]) -> Iterator[Answered]:
        """Everything on all pages."""
        call: ClientCall[Any] | None = pages.first
        while call is not None:
            found, call = pages.turn(self.carry(call))
            yield from found


class AwaitedCarrier(ABC):
    """Whatever carries calls out and is awaited."""

    @abstractmethod
    async def carry(self, call: ClientCall[Answered]) -> Answered:
        """Send a call, again where that makes sense, and return its answer."""

    async def carry_pages(self, pages: ClientPages[Answered]) -> AsyncIterator[Answered]:
        """Everything on all pages."""
        call: ClientCall[Any] | None = pages.first
        while call is not None:
            found, call = pages.turn(await self.carry(call))
            for one in found:
                yield one


class Verb(Generic[Given, Answered]):
    """A verb by its description; on a carrier it is a method."""

    def __init__(self, describe: Callable[Concatenate[Any, Given], ClientCall[Answered]]) -> None:
        self._describe, self.__doc__ = describe, describe.__doc__

    @overload
    def __get__(self, one: None, owner: type) -> Self: ...
    @overload
    def __get__(self, one: WaitingCarrier, owner: type) -> Callable[Given, Answered]: ...
    @overload
    def __get__(self, one: AwaitedCarrier, owner: type) -> Callable[Given, Awaitable[Answered]]: ...
    def __get__(self, one: Any, owner: type) -> Any:
        """The method."""
        if one is None:
            return self

        @wraps(self._describe)
        def carried_out(*given: Given.args, **named: Given.kwargs) -> Any:
            return one.carry(self._describe(one, *given, **named))

        return carried_out


class PagedVerb(Generic[Given, Answered]):
    """The same for a verb whose answer comes in pages: its method iterates over what is on them."""

    def __init__(self, describe: Callable[Concatenate[Any, Given], ClientPages[Answered]]) -> None:
        self._describe, self.__doc__ = describe, describe.__doc__

    @overload
    def __get__(self, one: None, owner: type) -> Self: ...
    @overload
    def __get__(self, one: WaitingCarrier, owner: type) -> Callable[Given, Iterator[Answered]]: ...
    @overload
    def __get__(self, one: AwaitedCarrier, owner: type) -> Callable[Given, AsyncIterator[Answered]]: ...
    def __get__(self, one: Any, owner: type) -> Any:
        """The method."""
        if one is None:
            return self

        @wraps(self._describe)
        def carried_out(*given: Given.args, **named: Given.kwargs) -> Any:
            return one.carry_pages(self._describe(one, *given, **named))

        return carried_out
