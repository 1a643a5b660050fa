"""Tables in a database: `sqlite:///cases.db`, or `postgresql://host/name` with a query.

SQLite comes with Python; PostgreSQL needs psycopg, the extra `postgres`. Nothing is ever written to a
database, and what a query returns is held in memory. Passwords in an address are shown nowhere.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn, Protocol
from urllib.parse import quote

import polars as pl

from breakeven.errors import how_to_install
from breakeven.errors.addresses import POSTGRESQL, SQLITE, without_password
from breakeven.tables.faults import (
    Fault,
    MissingReader,
    OptionWords,
    first_line,
    refuse_table,
    twice,
)

QUERY_SHOWN = 80  # letters of a query in a message
TABLES_NAMED = 5


class Cursor(Protocol):
    """What is needed of a cursor; those of sqlite3 and psycopg have it."""

    @property
    def description(self) -> Sequence[Any] | None:
        """A sequence for each column, which begins with its name; None where nothing is returned."""

    def fetchall(self) -> list[Any]:
        """All rows."""


def is_address(table: str) -> bool:
    """Whether this names a database, and no file.

    >>> is_address("sqlite:///clinic.db"), is_address("clinic.csv")
    (True, False)
    """
    return "://" in table


def read_database(address: str, query: str | None, option: OptionWords) -> tuple[str, pl.DataFrame]:
    """What a query returns and, of SQLite, the only table where there is no query; and what to call it."""
    name = without_password(address)
    if address.startswith(SQLITE):
        return name, _from_sqlite(name, address.removeprefix(SQLITE), query, option)
    if address.startswith(POSTGRESQL):
        return name, _from_postgresql(name, address, query, option)
    scheme = address.partition("://")[0]
    refuse_table(name, Fault("an address that begins with sqlite:/// or postgresql://", f"{scheme}://"))


# -- SQLite ----------------------------------------------------------------------------------------------


def _from_sqlite(name: str, path: str, query: str | None, option: OptionWords) -> pl.DataFrame:
    if not Path(path).is_file():
        refuse_table(name, Fault("a database", f"no file {path!r}", hint=_slashes(path)))
    with _telling(name, sqlite3.Error):
        address = f"file:{quote(str(Path(path).absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            asked = query if query is not None else f"SELECT * FROM {_only_table(name, connection, option)}"
            return frame_of(name, asked, connection.execute(asked))


def _slashes(path: str) -> str:
    """What to say of a path that may lack its first slash."""
    return f"write sqlite:////{path} for /{path}" if Path(f"/{path}").exists() else ""


def _only_table(name: str, connection: sqlite3.Connection, option: OptionWords) -> str:
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    )
    tables = sorted(str(one) for (one,) in found)
    if len(tables) == 1:
        return '"' + tables[0].replace('"', '""') + '"'
    if not tables:
        refuse_table(name, Fault("a table", "a database without any"))
    some = ", ".join(map(repr, tables[:TABLES_NAMED])) + (", …" if len(tables) > TABLES_NAMED else "")
    hint = f"say {option('query', f'SELECT * FROM {tables[0]}')}"
    refuse_table(name, Fault("one table, or a query", f"{len(tables)} tables ({some})", hint=hint))


# -- PostgreSQL ------------------------------------------------------------------------------------------


def _from_postgresql(name: str, address: str, query: str | None, option: OptionWords) -> pl.DataFrame:
    if query is None:
        refuse_table(
            name, Fault("a query", "none", hint=f"say {option('query', 'SELECT * FROM cases')}, for instance")
        )
    try:
        import psycopg
    except ImportError as error:
        raise MissingReader(
            f"{name}: psycopg is needed to read PostgreSQL; {how_to_install('postgres')}"
        ) from error
    with _telling(name, psycopg.Error), psycopg.connect(address) as connection:
        connection.read_only = True
        return frame_of(name, query, connection.execute(query))


# -- both ------------------------------------------------------------------------------------------------


@contextmanager
def _telling(name: str, kind: type[Exception]) -> Iterator[None]:
    """Inside it, what a database complains of becomes a `BadTable`."""
    try:
        yield
    except kind as error:
        refuse_table(name, Fault("a database and a query that can be read", first_line(error)))


def frame_of(name: str, query: str, cursor: Cursor) -> pl.DataFrame:
    """All that a query returned; a query that returned nothing is refused."""
    if cursor.description is None:
        _refuse_nothing(name, query, "no columns")
    names = [str(one[0]) for one in cursor.description]
    rows = cursor.fetchall()
    fault = twice(names)
    if fault is not None:
        refuse_table(name, fault)
    if not rows:
        _refuse_nothing(name, query, "none")
    columns = zip(*rows, strict=True)
    return pl.DataFrame([_column(one, list(some)) for one, some in zip(names, columns, strict=True)])


def _refuse_nothing(name: str, query: str, what: str) -> NoReturn:
    asked = " ".join(query.split())
    asked = asked if len(asked) <= QUERY_SHOWN else f"{asked[:QUERY_SHOWN]}…"
    refuse_table(name, Fault("rows", f"{what} for the query {asked!r}"))


def _column(name: str, values: list[Any]) -> pl.Series:
    """Values of one type as they are; of several, as text, where SQLite lets a column hold anything."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float, bool}:
        values = [None if value is None else str(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else float(value) for value in values]
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, values, dtype=pl.Object)
