"""A store by its address: `sqlite:///breakeven.db`, or `postgresql://host/name`."""

from pathlib import Path

from breakeven.errors import expect
from breakeven.errors.addresses import POSTGRESQL, SQLITE, without_password
from breakeven.store.sql import SqlStore
from breakeven.store.sqlite import OpenFor, SqliteStore


def open_store(address: str, access: OpenFor = "write") -> SqlStore:
    """Open a store to "read", to "write", to "create" it where it is not there, or to "upgrade" it.

    A store open to "write" is held: a second process is refused with `StoreHeld`. Any number may "read".

    >>> open_store("mysql://host/name")
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: store: expected an address that begins with sqlite:/// or postgresql://, \
got 'mysql://host/name'
    """
    if address.startswith(SQLITE) and address != SQLITE:
        return SqliteStore(Path(address.removeprefix(SQLITE)), access)
    if address.startswith(POSTGRESQL):
        from breakeven.store.postgres import PostgresStore  # which needs psycopg

        return PostgresStore(address, access)
    expected = "an address that begins with sqlite:/// or postgresql://"
    expect.refuse("store", expected, without_password(address))
