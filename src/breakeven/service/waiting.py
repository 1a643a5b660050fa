"""Waiting for the store: never on the event loop, and never for long, as it may be locked or frozen.

Whoever waits longer than `STORE_SECONDS` is refused with `NotReady`. What they asked for may be done all the
same, which is why every call may be sent again.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from breakeven.errors import BreakevenError
from breakeven.errors.serving import NotReady

logger = logging.getLogger(__name__)
Given = ParamSpec("Given")
Result = TypeVar("Result")

STORE_SECONDS = 5.0  # that a call waits for the store
STORE_THREADS = 32  # that wait for it at once; others wait for a thread


def use_threads() -> None:
    """Have enough threads for a store that is slow, whatever the number of cores."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(STORE_THREADS, "breakeven-store"))


def no_answer() -> NotReady:
    """What to raise where the store does not answer in time."""
    return NotReady(
        f"store: expected an answer within {STORE_SECONDS:g} seconds, got none: it is locked or overloaded; "
        "send this again"
    )


async def ask_store(ask: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """What a function gives that asks the store, in a thread; `NotReady` if that takes long."""
    try:
        async with asyncio.timeout(STORE_SECONDS):  # where it has no thread by then, it is not begun
            return await asyncio.to_thread(ask, *given, **named)
    except TimeoutError as error:
        raise no_answer() from error


async def done_in_time(work: Coroutine[Any, Any, Result]) -> Result:
    """What a change gives; `NotReady` if that takes long, and it is done all the same."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=STORE_SECONDS)
    if not task.done():
        task.add_done_callback(_log_failure)
        raise no_answer()
    return task.result()


def _log_failure(task: "asyncio.Future[Any]") -> None:
    """Log how something failed for which nobody waits any more."""
    if not task.cancelled() and (error := task.exception()) is not None:
        level = logging.WARNING if isinstance(error, BreakevenError) else logging.ERROR
        logger.log(level, "a call that was answered 503 has failed since: %s", error)
