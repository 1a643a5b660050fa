"""`breakeven store`: each command on a store with a life behind it, its JSON, and its one-line errors."""

import csv
import json

import pytest

from breakeven import Learner, Threshold, TypeMeans
from breakeven.cli import main
from breakeven.folding import entry_of, fold_stream
from breakeven.store import LogEntry, SqliteStore, StoredSnapshot
from breakeven.store.schema import SCHEMA_VERSION
from tests.store.older import as_version_1

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx")


@pytest.fixture
def path(tmp_path):
    """A store with two streams and some snapshots."""
    path = tmp_path / "clinic.db"
    store = SqliteStore(path, "create")
    for name in ("clinic", "lab"):
        fill(store, name)
    store.close()
    return path


def fill(store, name):
    learner, stream = (
        Learner(TypeMeans(noise_std=1.0), Threshold(), label_cost=5.0, name=name),
        store.create_stream(name, b"", at=0.0),
    )

    def keep(event):
        store.append([entry_of(event, stream.number, event.number, by=f"{name} nurse", at=1e9)])

    keep(learner.created)
    learner.listen(keep)
    for i, id in enumerate(("Ann", "Ben", *FORMULAS)):
        if learner.decide("flu", id=id).wants_label:
            learner.tell(id, 38.0 + i)
        if i % 3 == 0:
            body = learner.snapshot()
            store.keep_snapshot(StoredSnapshot(stream.number, learner.number, 0.0, "1", body))
    learner.decide(b"\x00\xff", id="bytes")


@pytest.fixture
def run(path, capsys):
    """Run a command on the store; exit code, standard output and standard error."""

    def run(*words, json_too=False):
        more = ["--store", f"sqlite:///{path}", *(["--json"] if json_too else [])]
        code = main(["store", *map(str, words), *more])
        done = capsys.readouterr()
        return (code, json.loads(done.out or "null"), done.err) if json_too else (code, done.out, done.err)

    return run


def opened(path):
    return SqliteStore(path, "read")


# -- check -------------------------------------------------------------------------------------------------


def test_check_says_that_all_is_well(run):
    code, out, err = run("check")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["entries", "clinic", "lab"]
    assert out.count("whole") == 2
    code, told, _ = run("check", "--stream", "lab", json_too=True)
    assert (code, told["wrong"], [one["name"] for one in told["streams"]]) == (0, [], ["lab"])
    assert told["streams"][0]["rounds"] == 9
    assert told["streams"][0]["snapshots"] == 3


def test_check_finds_a_wrong_snapshot(run, path):
    store = SqliteStore(path)
    wrong = store.snapshot(1, store.snapshot_numbers(1)[0]).body
    store.keep_snapshot(StoredSnapshot(1, store.last(1), 0.0, "1", wrong))
    last = store.last(1)
    store.close()
    code, out, err = run("check")
    assert code == 2
    assert "WRONG" in out
    assert err == (
        f"breakeven: stream 'clinic': the snapshot after entry {last} is not what the entries lead to\n"
    )
    code, told, err = run("check", json_too=True)
    assert (code, len(told["wrong"]), json.loads(err)["error"]["kind"]) == (2, 1, "Damage")


def test_check_of_an_empty_store(tmp_path, capsys):
    SqliteStore(tmp_path / "new.db", "create").close()
    assert main(["store", "check", "--store", f"sqlite:///{tmp_path / 'new.db'}"]) == 0
    assert capsys.readouterr().out == "no streams\n"


def test_reading_commands_work_while_a_server_writes(run, path, tmp_path):
    server = SqliteStore(path)
    assert run("check")[0] == 0
    assert run("export", "--out", tmp_path / "log.jsonl")[0] == 0
    assert run("backup", tmp_path / "copy.db")[0] == 0
    for words in (("compact",), ("erase", "Ann"), ("upgrade",), ("restore", tmp_path / "copy.db")):
        code, _, err = run(*words)
        assert code == 2
        assert "expected a store that nobody else writes to, got one held by process" in err
        assert err.count("\n") == 1
    server.close()


# -- the others --------------------------------------------------------------------------------------------


def test_upgrade(run, tmp_path, capsys):
    assert run("upgrade")[1].endswith(f"is of version {SCHEMA_VERSION} already\n")
    assert run("upgrade", json_too=True)[1]["before"] == SCHEMA_VERSION
    old = SqliteStore(tmp_path / "old.db", "create")
    with old._transaction() as connection:
        as_version_1(connection)
    old.close()
    address = f"sqlite:///{tmp_path / 'old.db'}"
    assert main(["store", "check", "--store", address]) == 2
    line = capsys.readouterr().err.partition("run `breakeven ")[2].partition("`")[0]
    assert main(line.split()) == 0
    assert f"version 1 became version {SCHEMA_VERSION}" in capsys.readouterr().out
    assert main(["store", "check", "--store", address]) == 0


def test_backup_and_restore(run, path, tmp_path):
    copy = tmp_path / "copy.db"
    code, told, _ = run("backup", copy, json_too=True)
    assert (code, told["backup"], told["bytes"]) == (0, str(copy), copy.stat().st_size)
    assert run("backup", copy)[2].endswith("expected the name of a new file, got one that is there\n")
    assert run("erase", "Ann")[0] == 0
    assert run("restore", copy)[0] == 2
    code, told, _ = run("restore", copy, "--overwrite", json_too=True)
    assert (code, told["kept"]) == (0, f"{path}.1")
    store = opened(path)
    assert store.find(1, "Ann") is not None
    store.close()
    assert run("check")[0] == 0
    code, out, _ = run("restore", copy, "--overwrite")
    assert f"what was there before is kept in {path}.2" in out
    assert run("restore", tmp_path / "none.db")[2].endswith("expected a store, got no file of that name\n")


def test_a_store_in_postgresql_is_backed_up_by_its_own_tools(capsys, tmp_path):
    assert main(["store", "restore", str(tmp_path / "x"), "--store", "postgresql://db/clinic"]) == 2
    assert "use pg_dump and pg_restore" in capsys.readouterr().err


def test_export_as_json_lines(run, tmp_path):
    code, out, _ = run("export")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [line["seq"] for line in lines if line["stream"] == "lab"] == list(range(1, len(lines) // 2 + 1))
    assert lines[1]["event"]["decision"]["id"] == lines[1]["id"] == "Ann"
    assert lines[1]["at"] == "2001-09-09T01:46:40.000000Z"
    assert lines[1]["by"] == "clinic nurse"
    assert [line["id"] for line in lines if "body" in line] == ["bytes", "bytes"]
    code, told, _ = run("export", "--out", tmp_path / "log.jsonl", "--stream", "lab", json_too=True)
    assert told["entries"] == len(lines) // 2 == len((tmp_path / "log.jsonl").read_text().splitlines())
    assert run("export", json_too=True)[0] == 2


def test_exported_csv_carries_no_formulas(run, tmp_path):
    code, out, _ = run("export", "--format", "csv", "--out", tmp_path / "log.csv")
    assert code == 0
    with (tmp_path / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert f"{len(rows)} entries are in" in out
    arrived = [row["id"] for row in rows if row["kind"] == "Arrived" and row["stream"] == "lab"]
    assert arrived == ["Ann", "Ben", *(f"'{text}" for text in FORMULAS), "bytes"]
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_compact_drops_old_snapshots_and_no_entries(run, path):
    store = opened(path)
    before = list(store.entries(1))
    size = path.stat().st_size
    store.close()
    code, told, _ = run("compact", json_too=True)
    assert (code, told["snapshots_dropped"]) == (0, 4)
    store = opened(path)
    assert list(store.entries(1)) == before
    assert len(store.snapshot_numbers(1)) == 1
    store.close()
    assert path.stat().st_size <= size
    assert run("compact", "--keep", "0")[1].endswith("2 old snapshots dropped, free space given back\n")
    assert run("compact", "--keep", "-1")[0] == 2


def test_erase_from_one_stream_and_from_all(run, path):
    code, told, _ = run("erase", "Ann", "--stream", "lab", "--by", "officer", json_too=True)
    assert (code, told["erased"]) == (0, [{"name": "lab", "entries": 2, "rounds": 9}])
    store = opened(path)
    assert store.find(1, "Ann") is not None
    assert store.find(2, "Ann") is None
    assert [one.by for one in store.entries(2) if one.kind == "Erased"] == ["officer"] * 2
    assert fold_stream(store, store.stream("lab")).rounds == 9
    store.close()
    assert run("erase", "Ben") == (0, "clinic: 2 entries erased\nlab: 2 entries erased\n", "")
    assert run("erase", "bytes", "--stream", "lab") == (0, "lab: 1 entry erased\n", "")
    assert run("check")[0] == 0
    assert run("erase", "Ben") == (0, "Ben was erased before\n", "")
    assert run("erase", "Nobody") == (
        2, "", "breakeven: id: expected one that is in the store, got 'Nobody'; nothing was erased\n",
    )  # fmt: skip
    assert run("erase", "Ann", "--stream", "none")[2].endswith("expected one of this store, got 'none'\n")


def test_who_erases_must_be_known(run, monkeypatch):
    def nobody():
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert run("erase", "Ann")[2] == "breakeven: --by: expected who does this, got none, and no login name\n"


def test_entries_of_other_kinds_are_exported_as_bytes(run, path):
    store = SqliteStore(path)
    store.append([LogEntry(1, store.last(1) + 1, 0.0, "x", "Skipped", "Ann", b"\x01\x02")])
    store.close()
    line = json.loads(run("export", "--stream", "clinic")[1].splitlines()[-1])
    assert (line["kind"], line["body"]) == ("Skipped", "AQI=")


@pytest.mark.parametrize("command", ["check", "upgrade", "compact", "export"])
def test_what_is_no_store_is_one_line(tmp_path, capsys, command):
    (tmp_path / "text.db").write_text("no database at all " * 100)
    for address, words in {
        f"sqlite:///{tmp_path / 'none.db'}": "expected a store, got no file of that name",
        f"sqlite:///{tmp_path / 'text.db'}": "expected a store of breakeven, got another file",
        "mysql://host/name": "expected an address that begins with sqlite:/// or postgresql://",
    }.items():
        assert main(["store", command, "--store", address]) == 2
        err = capsys.readouterr().err
        assert words in err
        assert err.count("\n") == 1
