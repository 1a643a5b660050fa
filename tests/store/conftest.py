"""Stores of every kind."""

from itertools import count

import pytest

from breakeven.store import SqliteStore, open_store
from breakeven.testing import MemoryStore
from tests.servers import postgresql

SCHEMAS = count()


@pytest.fixture(scope="session")
def server():
    with postgresql() as running:
        yield running


@pytest.fixture
def new_address(server):
    """The address of a new, empty schema of the server."""
    import psycopg

    name = f"store{next(SCHEMAS)}"
    with psycopg.connect(server.address) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server.address}&options=-csearch_path%3D{name}"


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request, tmp_path):
    if request.param == "memory":
        made = MemoryStore()
    elif request.param == "sqlite":
        made = SqliteStore(tmp_path / "clinic.db", "create")
    else:
        made = open_store(request.getfixturevalue("new_address"), "create")
    yield made
    made.close()
