"""The verbs of a store that are about who may do what: tokens, sessions, people, and the trail of changes.

A change and its line in the trail are one transaction. Nothing here knows of logs; `SqlStore` adds those.
"""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

from breakeven.errors import DuplicateId, expect
from breakeven.store.port import (
    StoredPerson,
    StoredSession,
    StoredToken,
    TrailEntry,
    TrailVerb,
    check_name,
    rights_of,
)

TOKEN_FIELDS = "id, name, hash, roles, streams, created, expires, used, revoked"
Row = tuple[Any, ...]


class SqlAccess(ABC):
    """Tokens, sessions and people in tables."""

    slot = "?"  # what stands for a value in a statement

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Any]:
        """A connection that nobody else uses meanwhile."""

    @abstractmethod
    def _writing(self, rules: dict[str, Any] | None = None) -> AbstractContextManager[Any]:
        """A connection for one change, whole or undone."""

    # -- tokens ------------------------------------------------------------------------------------

    def add_token(self, token: StoredToken, *, by: str) -> None:
        """Keep a token."""
        check_name("name", token.name)
        fields = (
            token.id, token.name, token.hash, token.roles, token.streams, token.created, token.expires,
            token.used, token.revoked,
        )  # fmt: skip
        with self._writing() as connection:
            if self._rows(connection, "SELECT 1 FROM token WHERE id = ?", token.id):
                raise DuplicateId(f"token: expected an id that no token has, got {expect.shown(token.id)}")
            sql = f"INSERT INTO token ({TOKEN_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            self._run(connection, sql, *fields)
            words = f"{token.id}: {rights_of(token)}"
            self._note(connection, token.created, by, "add token", token.name, words)

    def tokens(self) -> list[StoredToken]:
        """All tokens."""
        with self._reading() as connection:
            rows = self._rows(connection, f"SELECT {TOKEN_FIELDS} FROM token ORDER BY created, id")
        return [StoredToken(*row) for row in rows]

    def token(self, id: str) -> StoredToken | None:
        """The token with this id."""
        with self._reading() as connection:
            rows = self._rows(connection, f"SELECT {TOKEN_FIELDS} FROM token WHERE id = ?", id)
        return StoredToken(*rows[0]) if rows else None

    def revoke_token(self, id: str, at: float, *, by: str) -> bool:
        """Say that a token is good no more."""
        with self._writing() as connection:
            rows = self._rows(connection, "SELECT name, revoked FROM token WHERE id = ?", id)
            if rows and rows[0][1] is None:
                at = expect.finite("at", at)
                self._run(connection, "UPDATE token SET revoked = ? WHERE id = ?", at, id)
                self._note(connection, at, by, "revoke token", rows[0][0], id)
        return bool(rows)

    def use_token(self, id: str, at: float) -> None:
        """Remember that a token was used."""
        with self._writing() as connection:
            self._run(connection, "UPDATE token SET used = ? WHERE id = ?", expect.finite("at", at), id)

    # -- sessions ----------------------------------------------------------------------------------

    def add_session(self, session: StoredSession) -> None:
        """Keep a session."""
        sql = "INSERT INTO session (hash, token, expires) VALUES (?, ?, ?)"
        with self._writing() as connection:
            self._run(connection, sql, session.hash, session.token, expect.finite("expires", session.expires))

    def session(self, hash: bytes) -> StoredSession | None:
        """The session with this digest."""
        with self._reading() as connection:
            rows = self._rows(connection, "SELECT hash, token, expires FROM session WHERE hash = ?", hash)
        return StoredSession(*rows[0]) if rows else None

    def end_session(self, hash: bytes) -> None:
        """Forget a session."""
        with self._writing() as connection:
            self._run(connection, "DELETE FROM session WHERE hash = ?", hash)

    def end_sessions(self, before: float) -> int:
        """Forget all sessions that expire before a time."""
        with self._writing() as connection:
            return int(self._run(connection, "DELETE FROM session WHERE expires < ?", before).rowcount)

    # -- people ------------------------------------------------------------------------------------

    def keep_person(self, person: StoredPerson, at: float, *, by: str) -> None:
        """Keep what somebody may do."""
        check_name("name", person.name)
        with self._writing() as connection:
            self._run(connection, "DELETE FROM person WHERE name = ?", person.name)
            sql = "INSERT INTO person (name, roles, streams) VALUES (?, ?, ?)"
            self._run(connection, sql, person.name, person.roles, person.streams)
            self._note(connection, at, by, "add person", person.name, rights_of(person))

    def people(self) -> list[StoredPerson]:
        """Everybody, by name."""
        with self._reading() as connection:
            rows = self._rows(connection, "SELECT name, roles, streams FROM person")
        return sorted((StoredPerson(*row) for row in rows), key=lambda one: one.name)

    def person(self, name: str) -> StoredPerson | None:
        """The person of this name."""
        with self._reading() as connection:
            rows = self._rows(connection, "SELECT name, roles, streams FROM person WHERE name = ?", name)
        return StoredPerson(*rows[0]) if rows else None

    def drop_person(self, name: str, at: float, *, by: str) -> bool:
        """Forget a person."""
        with self._writing() as connection:
            there = bool(self._run(connection, "DELETE FROM person WHERE name = ?", name).rowcount)
            if there:
                self._note(connection, at, by, "remove person", name, "")
        return there

    # -- the trail ---------------------------------------------------------------------------------

    def trail(self) -> list[TrailEntry]:
        """Who changed what somebody may do."""
        with self._reading() as connection:
            rows = self._rows(
                connection, "SELECT number, at, by, verb, about, detail FROM trail ORDER BY number"
            )
        return [TrailEntry(*row) for row in rows]

    def _note(self, connection: Any, at: float, by: str, verb: TrailVerb, about: str, detail: str) -> None:
        """In a change: add it to the trail."""
        ((last,),) = self._rows(connection, "SELECT coalesce(max(number), 0) FROM trail")
        sql = "INSERT INTO trail (number, at, by, verb, about, detail) VALUES (?, ?, ?, ?, ?, ?)"
        fields = (last + 1, expect.finite("at", at), check_name("by", by), verb, about, detail)
        self._run(connection, sql, *fields)

    # -- statements --------------------------------------------------------------------------------

    def _rows(self, connection: Any, sql: str, *values: object) -> list[Row]:
        rows: list[Row] = self._run(connection, sql, *values).fetchall()
        return rows

    def _run(self, connection: Any, sql: str, *values: object) -> Any:
        return connection.execute(sql.replace("?", self.slot), values)
