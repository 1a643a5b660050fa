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
def new_schema(server):
    """Makes a new, empty schema of the server, and gives its address."""
    import psycopg

    def make():
        name = f"store{next(SCHEMAS)}"
        with psycopg.connect(server.address) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{server.address}&options=-csearch_path%3D{name}"

    return make


@pytest.fixture
def new_address(new_schema):
    """The address of a new, empty schema of the server."""
    return new_schema()


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
