"""How every session with PostgreSQL is set up: what it waits for, for how long, and how it finds rows.

The server ends statements that wait for a lock or take too long, and transactions that were left open. A
server that is frozen answers nothing at all, so this side has a limit of its own, and hangs up.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

CONNECT_SECONDS = 5
LOCK_SECONDS = 4.0  # that a statement waits for a lock
STATEMENT_SECONDS = 30.0  # that a statement takes, unless it keeps house
IDLE_SECONDS = 30.0  # that a transaction stays open without a statement: its locks are in the way of others
ANSWER_SECONDS = STATEMENT_SECONDS + 5.0  # after which the server is taken for frozen
WATCHED_EVERY = 0.5  # seconds
# No statistics are kept of ids, so the server cannot know that few rows have one: all go by an index.
BY_INDEX = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}
NETWORK: dict[str, Any] = {  # for a machine that is gone without a word; `tcp_user_timeout` is in thousandths
    "connect_timeout": CONNECT_SECONDS,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


def open_session(address: str, watch: "Watch") -> "psycopg.Connection[Any]":
    """A new session, set up as every session is; the address may say otherwise about the network alone."""
    import psycopg

    us = f"process {os.getpid()} on {socket.gethostname()}"
    given = NETWORK | psycopg.conninfo.conninfo_to_dict(address)
    session = psycopg.connect(**given | {"autocommit": True, "application_name": us[:63]})
    try:
        with watch.over(session):
            settings = _settings()
            each = ", ".join(["set_config(%s, %s, false)"] * len(settings))
            session.execute(f"SELECT {each}", [word for pair in settings.items() for word in pair])
    except BaseException:
        session.close()
        raise
    return session


def _settings() -> dict[str, str]:
    return {
        "synchronous_commit": "on",
        "lock_timeout": f"{LOCK_SECONDS * 1000:.0f}",
        "statement_timeout": f"{STATEMENT_SECONDS * 1000:.0f}",
        "idle_in_transaction_session_timeout": f"{IDLE_SECONDS * 1000:.0f}",
    } | BY_INDEX


class Watch:
    """Hangs up on a server that does not answer, so that whoever waits for it hears of that."""

    def __init__(self) -> None:
        self._until: dict[psycopg.Connection[Any], float] = {}
        self._turn, self._ended = Lock(), Event()
        self._thread: Thread | None = None

    @contextmanager
    def over(self, session: "psycopg.Connection[Any]") -> Iterator[None]:
        """Hang up unless this ends in time."""
        with self._turn:
            self._until[session] = monotonic() + ANSWER_SECONDS
            if self._thread is None:
                self._thread = Thread(target=self._look, name="breakeven-watch", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._turn:
                self._until.pop(session, None)

    def forget(self, session: "psycopg.Connection[Any]") -> None:
        """What this session does now may take as long as it takes."""
        with self._turn:
            self._until.pop(session, None)

    def end(self) -> None:
        """Look no more."""
        self._ended.set()

    def _look(self) -> None:
        while not self._ended.wait(WATCHED_EVERY):
            with self._turn:  # so no session ends meanwhile, and its number is no other's
                for session, until in self._until.items():
                    if monotonic() > until:
                        _hang_up(session)


def _hang_up(session: "psycopg.Connection[Any]") -> None:
    import psycopg

    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(session.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)
