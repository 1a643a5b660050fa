"""From the description of a verb to a method: one that waits for the answer, or one that is awaited.

So each verb is written once, and types say which of the two it is.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, overload

from breakeven.client.described_calls import Answered, ClientCall, ClientPages

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
