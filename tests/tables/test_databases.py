"""Tables in a database: what a query returns, read only; passwords stay out of sight."""

import sqlite3
import sys
from datetime import date
from decimal import Decimal

import polars as pl
import pytest

from breakeven.errors.addresses import without_password
from breakeven.tables import from_table
from breakeven.tables.cases import read_cases
from breakeven.tables.databases import frame_of
from breakeven.tables.faults import BadTable, MissingReader, as_flag
from breakeven.tables.options import read_options
from breakeven.tables.sources import Access, open_table
from tests.servers import postgresql
from tests.tables.samples import asked_for

ALL = "SELECT * FROM cases"


@pytest.fixture
def clinic(tmp_path):
    """A database with one table."""
    with sqlite3.connect(tmp_path / "clinic.db") as connection:
        connection.execute("CREATE TABLE cases (who TEXT, age INTEGER, seen TEXT, weight REAL, y REAL)")
        rows = [(f"p{i}", 20 + i * i % 37, f"2024-01-{1 + i % 28:02}", 50 + i / 3, i) for i in range(40)]
        connection.executemany("INSERT INTO cases VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()
    return tmp_path / "clinic.db"


def opened(path, query=None):
    return open_table(f"sqlite:///{path}", Access(query=query, option=as_flag))


def execute(path, statement):
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_the_only_table_needs_no_query(clinic):
    table = opened(clinic)
    assert table.name == f"sqlite:///{clinic}"
    cases = read_cases(table, asked_for(id="who", order="seen"))
    assert (len(cases), cases.columns.names) == (40, ["age", "weight"])
    assert cases.ids[0] == "p0"


def test_a_query_is_what_is_read(clinic):
    cases = read_cases(opened(clinic, "SELECT age * 2 AS twice, y FROM cases WHERE age < 30"), asked_for())
    assert cases.columns.names == ["twice"]
    outcome = from_table(f"sqlite:///{clinic}", query=f"{ALL} LIMIT 30", label="y", cost=50.0, sweep=False)
    assert len(outcome.run.cases) == 30


def test_a_column_may_hold_anything(clinic):
    execute(clinic, "UPDATE cases SET age = 'sixty' WHERE who = 'p39'")
    with pytest.raises(BadTable, match="row 40, column 'age': expected a finite number, got 'sixty'"):
        read_cases(opened(clinic), asked_for(features=("age",)))


REFUSED = {
    "nothing": (f"{ALL} WHERE age > 1000", "expected rows, got none for the query 'SELECT"),
    "no columns": ("PRAGMA user_version = 0", "expected .*, got"),
    "no such table": ("SELECT * FROM patients", "got no such table: patients"),
    "no SQL": ("all of it", 'got near "all": syntax error'),
    "two statements": (f"{ALL}; {ALL}", "got You can only execute one statement at a time"),
    "a change": ("DELETE FROM cases", "got attempt to write a readonly database"),
    "a name twice": ("SELECT age, age, y FROM cases", "column 'age': expected a column only once"),
}


@pytest.mark.parametrize(("query", "message"), REFUSED.values(), ids=REFUSED)
def test_a_query_that_gives_no_table_is_refused(clinic, query, message):
    with pytest.raises(BadTable, match=f"^sqlite:///{clinic}.*{message}"):
        opened(clinic, query)
    assert read_cases(opened(clinic), asked_for(features=("age",))).labels.tolist() == list(range(40))


def test_several_tables_need_a_query_and_none_is_none(clinic, tmp_path):
    execute(clinic, "CREATE TABLE others (a)")
    with pytest.raises(
        BadTable, match=r"got 2 tables \('cases', 'others'\); say --query 'SELECT \* FROM cases'"
    ):
        opened(clinic)
    sqlite3.connect(tmp_path / "empty.db").execute("CREATE TABLE t (a)").connection.close()
    execute(tmp_path / "empty.db", "DROP TABLE t")
    with pytest.raises(BadTable, match="expected a table, got a database without any"):
        opened(tmp_path / "empty.db")


def test_what_is_no_database_is_refused(tmp_path):
    with pytest.raises(BadTable, match="expected a database, got no file"):
        opened(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("a,y\n1,2\n" * 200)
    with pytest.raises(BadTable, match="got file is not a database"):
        opened(tmp_path / "text.db")
    with pytest.raises(BadTable, match=f"write sqlite:///{tmp_path} for {tmp_path}"):
        opened(str(tmp_path).removeprefix("/"))
    with pytest.raises(
        BadTable, match="expected an address that begins with sqlite:/// or postgresql://, got my"
    ):
        open_table("mysql://ann:secret@host/clinic")
    with pytest.raises(BadTable, match=r"text.db: expected no query for a text file, got 'SELECT"):
        open_table(tmp_path / "text.db", Access(query=ALL))


def test_a_database_that_somebody_writes_to_is_one_line(clinic, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *words, **more: connect(*words, **more, timeout=0.1))
    busy = connect(clinic)
    busy.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BadTable, match="got database is locked"):
        opened(clinic)
    busy.close()


def test_in_a_configuration_file_a_database_lies_beside_it(tmp_path):
    (tmp_path / "bill.toml").write_text('table = "sqlite:///clinic.db"\n')
    assert read_options(tmp_path / "bill.toml") == {"table": f"sqlite:///{tmp_path / 'clinic.db'}"}
    (tmp_path / "bill.toml").write_text('table = "postgresql://host/clinic"\n')
    assert read_options(tmp_path / "bill.toml") == {"table": "postgresql://host/clinic"}


# -- PostgreSQL ------------------------------------------------------------------------------------------


def test_passwords_are_not_shown():
    secret = "postgresql://ann:se%40cret@db:5432/clinic?password=secret&sslmode=require"
    assert without_password(secret) == "postgresql://ann:***@db:5432/clinic?sslmode=require"
    assert without_password("postgresql://db/clinic") == "postgresql://db/clinic"
    with pytest.raises(BadTable) as refused:
        open_table(secret, Access(option=as_flag))
    assert "secret" not in str(refused.value)
    assert "expected a query, got none; say --query 'SELECT * FROM cases', for instance" in str(refused.value)


def test_without_psycopg_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingReader, match=r"psycopg is needed to read PostgreSQL; .*'\.\[postgres\]'"):
        open_table("postgresql://db/clinic", Access(query=ALL))


def test_a_server_that_does_not_answer_is_one_line():
    pytest.importorskip("psycopg", reason="psycopg, of the extra postgres, is not installed")
    with pytest.raises(BadTable, match="expected a database and a query that can be read, got conn"):
        open_table("postgresql://ann@127.0.0.1:1/clinic?connect_timeout=2", Access(query=ALL))


class Rows:
    """What a query returned, as any database hands it out."""

    def __init__(self, names, rows):
        self.description = None if names is None else [(name, None) for name in names]
        self.rows = rows

    def fetchall(self):
        return self.rows


def test_values_of_a_database_have_their_types():
    rows = [(1, Decimal("1.5"), date(2024, 1, 1), True, None), (2, Decimal("2.5"), None, False, "x")]
    frame = frame_of("db", "SELECT", Rows(["a", "b", "c", "d", "e"], rows))
    kinds = [pl.Int64, pl.Decimal, pl.Date, pl.Boolean, pl.String]
    assert [frame.schema[name].base_type() for name in "abcde"] == kinds
    with pytest.raises(BadTable, match="db: expected rows, got no columns for the query 'VACUUM'"):
        frame_of("db", "VACUUM", Rows(None, []))
    assert frame_of("db", "SELECT", Rows(["a"], [(1,), (0.5,)]))["a"].to_list() == [1.0, 0.5]
    assert frame_of("db", "SELECT", Rows(["a"], [(10**40,), (1,)])).schema["a"] == pl.Object


@pytest.fixture(scope="module")
def server():
    with postgresql() as running:
        yield running.address


def test_a_query_to_postgresql_is_a_table(server):
    import psycopg

    with psycopg.connect(server) as connection:
        connection.execute(
            "CREATE TABLE cases (age int, weight numeric, seen timestamptz, old bool, y float8)"
        )
        connection.cursor().executemany(
            "INSERT INTO cases VALUES (%s, %s, %s, %s, %s)",
            [(i % 7, Decimal(i) / 3, f"2024-01-{1 + i % 28:02} 12:00+00", i % 2 == 0, i) for i in range(40)],
        )
    cases = read_cases(open_table(server, Access(query=ALL)), asked_for())
    assert [one.name for one in cases.columns.features] == ["age", "weight", "seen", "old"]
    row = {"age": "1", "weight": 1 / 3, "seen": "2024-01-02T12:00Z", "old": "false"}
    assert cases.columns.point(row).tolist() == pytest.approx(cases.points[1].tolist())
    for query, message in {
        f"{ALL} WHERE age > 1000": "expected rows, got none for the query",
        "DELETE FROM cases": "cannot execute DELETE in a read-only transaction",
        "SELECT * FROM patients": 'relation "patients" does not exist',
    }.items():
        with pytest.raises(BadTable, match=message):
            open_table(server, Access(query=query))
