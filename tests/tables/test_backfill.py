"""An archive through learners: the same as one by one, after any kill, by key, and in several processes."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import count

import numpy as np
import polars as pl
import pytest

from breakeven import files
from breakeven.cli import main
from breakeven.errors import InvalidInput
from breakeven.learner.replay import replay
from breakeven.rows import open_bill
from breakeven.tables.backfill import BackfillOptions, archive, backfilling, run_backfill, stream_learners
from breakeven.tables.backfill.ledger_of_parts import OtherBackfill
from breakeven.tables.faults import BadTable

ROWS = 400


def frame(number, rows=ROWS, text=False):
    random = np.random.default_rng([3, number])
    types = random.integers(6, size=rows)
    labels = np.linspace(0.0, 1.0, 6)[types] + 0.1 * random.standard_normal(rows)
    return pl.DataFrame(
        {
            "kind": [f"type {one}" for one in types] if text else types,
            "y": labels,
            "clinic": [f"clinic {one}" for one in random.integers(3, size=rows)],
            "age": random.normal(size=rows),
            "bmi": random.normal(size=rows),
            "time": np.arange(rows) + number * rows,
            "patient": [f"{number}-{one}" for one in range(rows)],
        }
    )


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "archive"
    folder.mkdir()
    for number in range(3):
        frame(number).write_parquet(folder / f"part-{number}.parquet")
    return folder


def options(folder, **more):
    wished = {"label": "y", "label_cost": 0.5, "type": "kind", "noise_std": 0.1, "rule": "threshold"}
    if more.get("features"):
        del wished["type"]
    return BackfillOptions(**(wished | {"folder": str(folder), "out": str(folder.parent / "out")} | more))


def decided(out):
    """All decisions, and everything else that must not depend on kills, parts and processes."""
    progress = json.loads((out / "progress.json").read_text())
    frames = {path.name: pl.read_parquet(path) for path in sorted((out / "decisions").iterdir())}
    sums = [
        [one[name] for name in ("file", "number", "rows", "labels", "error")] for one in progress["parts"]
    ]
    return frames, sums, (out / progress["snapshot"]).read_bytes()


def same(one, other):
    assert list(one[0]) == list(other[0])
    for name, table in one[0].items():
        assert table.equals(other[0][name]), name
    assert one[1:] == other[1:]


def one_by_one(options, table):
    """What a learner decides without any of this."""
    rows = archive.PartRows(table["kind"].to_list(), table["y"].to_numpy(), None, None, None, 0)
    first = archive.Archive(options).first(2_000)
    learner = stream_learners.first_learner(options, first, len(rows.labels))
    points = learner.belief.points(rows.points)
    answers = [one.wants_label for one, _ in replay(learner, points, rows.labels)]
    return answers, learner


# -- the same decisions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["value", "threshold", "random", "variable", "always", "never"])
def test_an_archive_is_decided_on_as_one_stream(folder, rule):
    wished = options(folder, rule=rule)
    done = run_backfill(wished)
    table = pl.concat([frame(number) for number in range(3)])
    answers, learner = one_by_one(wished, table)
    found = done.decisions().collect()
    assert found["wants_label"].to_list() == answers
    assert done.learner().snapshot() == learner.snapshot()
    assert done.bill.labels == sum(answers)
    assert done.bill.spend == 0.5 * sum(answers)
    error = (table["y"] - found["answer"]).abs()
    assert done.bill.error == pytest.approx(error.sum(), rel=1e-12)
    assert done.bill.total == done.bill.spend + done.bill.error
    assert error.filter(found["wants_label"]).sum() == 0.0


def test_compiled_loops_decide_the_same(folder, monkeypatch):
    whole = run_backfill(options(folder, out=str(folder.parent / "plain")))
    monkeypatch.setattr(stream_learners.loops.stream, "SHORTEST", 100)
    monkeypatch.setattr(stream_learners, "ROWS_BEFORE_LOOPS", 30)
    again = run_backfill(options(folder))
    same(decided(whole.folder), decided(again.folder))


def test_small_files_of_a_long_archive_go_through_the_loops(folder, monkeypatch):
    plain = run_backfill(options(folder, out=str(folder.parent / "plain")))
    monkeypatch.setattr(stream_learners.loops.stream, "SHORTEST", 3 * ROWS)
    monkeypatch.setattr(stream_learners, "LEAST_COMPILED", 100)
    monkeypatch.setattr(stream_learners, "ROWS_BEFORE_LOOPS", 30)
    compiled, replay = [], stream_learners.loops.replay

    def counted(state, points, *words, **more):
        compiled.append(len(points))
        return replay(state, points, *words, **more)

    monkeypatch.setattr(stream_learners.loops, "replay", counted)
    again = run_backfill(options(folder))
    assert sum(compiled) > 2.5 * ROWS
    same(decided(plain.folder), decided(again.folder))


def test_types_may_be_text(folder):
    for number in range(3):
        frame(number, text=True).write_parquet(folder / f"part-{number}.parquet")
    done = run_backfill(options(folder))
    assert done.learner().predict("type 3").mean == pytest.approx(0.6, abs=0.1)


@pytest.mark.parametrize("order", [None, "time"])
def test_files_without_rows_say_nothing(folder, order):
    plain = run_backfill(options(folder, out=str(folder.parent / "plain")))
    for name in ("a first", "part-1b", "z last"):
        frame(0).clear().write_parquet(folder / f"{name}.parquet")
    done = run_backfill(options(folder, order=order))
    assert done.bill.rows == 3 * ROWS
    assert done.learner().snapshot() == plain.learner().snapshot()
    assert run_backfill(options(folder, order=order)).resumed == 3 * ROWS


def test_rows_of_numbers_are_decided_on(folder):
    done = run_backfill(options(folder, features=("age", "bmi"), rule="random", chance=0.05, noise_std=None))
    assert done.bill.rows == 3 * ROWS
    assert 20 < done.bill.labels < 120


def test_the_size_of_parts_changes_nothing_but_the_files(folder, monkeypatch):
    whole = run_backfill(options(folder, out=str(folder.parent / "whole")))
    monkeypatch.setattr(archive, "ROWS_A_PART", 150)
    parts = run_backfill(options(folder))
    names = [path.name for path in sorted((parts.folder / "decisions").iterdir())]
    assert names[:4] == [
        "part-0.0000.parquet",
        "part-0.0001.parquet",
        "part-0.0002.parquet",
        "part-1.0000.parquet",
    ]
    assert parts.decisions().collect().equals(whole.decisions().collect())
    assert parts.learner().snapshot() == whole.learner().snapshot()


def test_one_goes_on_from_it_in_production(folder):
    run_backfill(options(folder))
    columns, learner = open_bill(folder.parent / "out")
    assert learner.decide(columns.point({"kind": 3})).prediction.mean == pytest.approx(0.6, abs=0.1)


def test_noise_is_found_where_it_is_not_given(folder):
    done = run_backfill(options(folder, noise_std=None, rule="value"))
    assert done.learner().belief.traits.noise_std == pytest.approx(0.1, rel=0.5)


# -- order -------------------------------------------------------------------------------------------------


def test_rows_are_sorted_inside_a_file_and_files_by_their_first_value(folder, tmp_path):
    plain = run_backfill(options(folder, id="patient", out=str(tmp_path / "plain")))
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for number in range(3):
        table = frame(number).sample(fraction=1.0, shuffle=True, seed=1)
        table.write_parquet(mixed / f"part-{2 - number}.parquet")
    done = run_backfill(options(mixed, id="patient", order="time"))
    by_patient = [one.decisions().collect().sort("id").drop("row", strict=False) for one in (plain, done)]
    assert by_patient[0].equals(by_patient[1])
    assert done.learner().snapshot() == plain.learner().snapshot()
    assert done.decisions().collect()["row"].max() == ROWS


def test_files_whose_order_overlaps_are_refused(folder):
    frame(1).with_columns(pl.col("time") - 10).write_parquet(folder / "part-1.parquet")
    words = (
        r"part-1.parquet, column 'time': expected files that follow one another, got 390, and part-0.parquet"
    )
    with pytest.raises(BadTable, match=words):
        run_backfill(options(folder, order="time"))


# -- keys --------------------------------------------------------------------------------------------------


def test_every_key_is_a_stream_of_its_own(folder, tmp_path):
    done = run_backfill(options(folder, key="clinic"))
    table = pl.concat([frame(number) for number in range(3)])
    found, learners = done.decisions().collect(), done.learners()
    assert sorted(learners) == ["clinic 0", "clinic 1", "clinic 2"]
    for key, learner in learners.items():
        own = tmp_path / key
        own.mkdir()
        table.filter(pl.col("clinic") == key).write_parquet(own / "all.parquet")
        alone = run_backfill(options(own, out=str(tmp_path / f"out {key}")))
        mine = found.filter(pl.col("key") == key).drop("key")
        assert mine.equals(alone.decisions().collect())
        assert learner.name == key
        assert learner.rounds == mine.height


def test_processes_change_nothing(folder):
    alone = run_backfill(options(folder, key="clinic", out=str(folder.parent / "alone")))
    two = run_backfill(options(folder, key="clinic", workers=2))
    same(decided(alone.folder), decided(two.folder))


def test_another_number_of_processes_goes_on(folder, monkeypatch):
    whole = run_backfill(options(folder, key="clinic", out=str(folder.parent / "whole")))
    stops = iter([True, False, False])
    part = run_backfill(options(folder, key="clinic", workers=2), stop=lambda: next(stops))
    assert not part.whole
    run_backfill(options(folder, key="clinic"))
    same(decided(whole.folder), decided(folder.parent / "out"))


def test_an_error_in_a_process_is_told_here(folder):
    first = archive.Archive(options(folder, key="clinic")).first(100)
    template = stream_learners.first_learner(options(folder, key="clinic"), first, 100).snapshot()
    learners = stream_learners.LearnersInProcesses(template, 2)
    with pytest.raises(InvalidInput, match="y: expected a finite number, got nan"):
        learners.decide(first._replace(labels=np.full(100, np.nan)))
    learners._processes[0].kill()
    learners._processes[0].join()
    with pytest.raises(
        stream_learners.LostProcess, match="a process that decides has died; the same command goes"
    ):
        learners.dump()
    learners.close()


# -- killed ------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The end of a process."""


@pytest.mark.parametrize("rows", [1, 10**9], ids=["after every part", "at the end"])
@pytest.mark.parametrize("more", [{}, {"key": "clinic"}], ids=["one", "by key"])
def test_a_kill_at_any_write_resumes_to_the_same_bits(folder, tmp_path, monkeypatch, more, rows):
    monkeypatch.setattr(backfilling, "KEPT_AFTER_ROWS", rows)
    whole = decided(run_backfill(options(folder, out=str(tmp_path / "whole"), **more)).folder)
    replace = os.replace
    for dies in count():
        left = [dies]

        def mortal(source, target, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            replace(source, target)

        wished = options(folder, out=str(tmp_path / f"out {dies}"), **more)
        monkeypatch.setattr(files.os, "replace", mortal)
        try:
            run_backfill(wished)
            died = False
        except Killed:
            died = True
        monkeypatch.setattr(files.os, "replace", replace)
        again = run_backfill(wished)
        same(whole, decided(again.folder))
        if not died:
            break
    assert dies >= (12 if rows == 1 else 8)


def test_a_real_kill_resumes_to_the_same_bits(tmp_path):
    folder = tmp_path / "archive"
    folder.mkdir()
    for number in range(12):
        frame(number, rows=3_000).write_parquet(folder / f"part-{number:02d}.parquet")
    words = [str(folder), "--label", "y", "--label-cost", "0.5", "--type", "kind", "--noise-std", "0.1"]
    assert main(["backfill", *words, "--out", str(tmp_path / "whole")]) == 0
    command = [sys.executable, "-m", "breakeven", "backfill", *words, "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while len(list((tmp_path / "out" / "decisions").glob("*.parquet"))) < 3 and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert main(["backfill", *words, "--out", str(tmp_path / "out")]) == 0
    same(decided(tmp_path / "whole"), decided(tmp_path / "out"))


def test_stopped_it_goes_on_and_files_added_behind_are_decided_on(folder):
    stops = iter([True, False, False])
    part = run_backfill(options(folder), stop=lambda: next(stops))
    assert (part.whole, part.bill.rows) == (False, ROWS)
    rest = run_backfill(options(folder))
    assert (rest.whole, rest.resumed, rest.bill.rows) == (True, ROWS, 3 * ROWS)
    frame(3).write_parquet(folder / "part-3.parquet")
    more = run_backfill(options(folder))
    assert (more.resumed, more.bill.rows) == (3 * ROWS, 4 * ROWS)


# -- bad input ---------------------------------------------------------------------------------------------


def spoilt(folder, how):
    path = folder / "part-1.parquet"
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_text("kind,y\n1,2\n")
    elif how == "schema":
        frame(1, text=True).write_parquet(path)
    elif how == "column":
        frame(1).drop("y").write_parquet(path)
    else:
        table = frame(1)
        bad = {"null": None, "nan": float("nan"), "inf": float("inf")}[how]
        values = table["y"].to_list()
        values[6] = bad
        table.with_columns(pl.Series("y", values)).write_parquet(path)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut", r"part-1.parquet: expected a whole Parquet file, got one that may be cut short"),
        ("empty", r"part-1.parquet: expected a whole Parquet file, got one that may be cut short"),
        ("text", r"part-1.parquet: expected a whole Parquet file, got one that may be cut short"),
        (
            "schema",
            r"part-1.parquet, column 'kind': expected one type in all files, got String, and Int64 in part-0",
        ),
        (
            "column",
            r"part-1.parquet: expected a column 'y', got the columns kind, clinic, age, bmi, time, patient",
        ),
        (
            "null",
            r"part-1.parquet, row 7, column 'y': expected a value, got none; say --drop-missing to leave",
        ),
        (
            "nan",
            r"part-1.parquet, row 7, column 'y': expected a value, got none; say --drop-missing to leave",
        ),
        ("inf", r"part-1.parquet, row 7, column 'y': expected a finite number, got inf"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_nothing_is_lost(folder, how, words):
    good = (folder / "part-1.parquet").read_bytes()
    spoilt(folder, how)
    with pytest.raises(BadTable, match=words):
        run_backfill(options(folder))
    (folder / "part-1.parquet").write_bytes(good)
    done = run_backfill(options(folder))
    assert done.resumed == (ROWS if how in ("null", "nan", "inf") else 0)
    assert done.bill.rows == 3 * ROWS


def test_rows_with_missing_values_are_left_out_where_that_is_asked_for(folder):
    spoilt(folder, "nan")
    done = run_backfill(options(folder, drop_missing=True))
    assert (done.bill.rows, done.bill.dropped) == (3 * ROWS - 1, 1)
    assert 7 not in pl.read_parquet(done.folder / "decisions" / "part-1.parquet")["row"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"type": "ward"}, r"part-0.parquet: expected a column 'ward', got the columns kind, y"),
        ({"order": "when"}, r"part-0.parquet: expected a column 'when'"),
        ({"key": "shop"}, r"part-0.parquet: expected a column 'shop'"),
        ({"label": "patient"}, r"part-0.parquet, column 'patient': expected numbers, got String"),
        ({"type": "age"}, r"part-0.parquet, column 'age': expected whole numbers or text, got Float64"),
        ({"features": ("clinic",)}, r"part-0.parquet, column 'clinic': expected numbers, got String"),
    ],
)
def test_columns_that_cannot_be_used_are_named(folder, more, words):
    with pytest.raises(BadTable, match=words):
        run_backfill(options(folder, **more))


def test_files_whose_decisions_would_have_one_name_are_refused(folder, monkeypatch):
    monkeypatch.setattr(archive, "ROWS_A_PART", 150)
    frame(4, rows=100).write_parquet(folder / "part-1.0001.parquet")
    words = r"decisions on part-1.0001.parquet and part-1.parquet that are both called part-1.0001.parquet"
    with pytest.raises(BadTable, match=words):
        run_backfill(options(folder))
    assert not (folder.parent / "out" / "decisions").exists()


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(BadTable, match="expected a folder of Parquet files, got none of that name"):
        run_backfill(options(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadTable, match="expected a folder of Parquet files, got one without any"):
        run_backfill(options(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"rule": "value"}, "got one with --rule threshold, now value; choose another --out"),
        ({"label_cost": 2.0}, "got one with --label-cost 0.5, now 2.0"),
        ({"key": "clinic"}, "got one with --key None, now clinic"),
    ],
)
def test_an_output_folder_of_another_configuration_is_refused(folder, more, words):
    run_backfill(options(folder))
    before = decided(folder.parent / "out")
    with pytest.raises(OtherBackfill, match=words):
        run_backfill(options(folder, **more))
    same(before, decided(folder.parent / "out"))


def test_an_output_folder_with_other_things_is_refused(folder):
    (folder.parent / "out").mkdir()
    (folder.parent / "out" / "thesis.txt").write_text("all my work")
    with pytest.raises(
        OtherBackfill, match="expected an empty folder, or that of a backfill, got other files"
    ):
        run_backfill(options(folder))
    (folder.parent / "out" / "progress.json").write_text("{}")
    with pytest.raises(
        OtherBackfill, match=r"progress.json: expected what a backfill wrote, got something else"
    ):
        run_backfill(options(folder))


def test_a_file_that_changed_after_it_was_decided_on_is_refused(folder):
    run_backfill(options(folder))
    frame(1, rows=17).write_parquet(folder / "part-1.parquet")
    with pytest.raises(
        OtherBackfill, match="expected the files that were decided on before, got others: part-1"
    ):
        run_backfill(options(folder))


def test_damaged_learners_are_refused(folder):
    run_backfill(options(folder))
    frame(3).write_parquet(folder / "part-3.parquet")
    (found,) = (folder.parent / "out").glob("learners-*.snapshot")
    found.write_bytes(found.read_bytes()[:-1])
    with pytest.raises(OtherBackfill, match="expected the learners of the last part, got damaged ones"):
        run_backfill(options(folder))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"features": ("age",), "type": "kind"}, "features: expected none beside a type"),
        ({"workers": 2}, "workers: expected 1 without a key: one stream has one learner, got 2"),
        ({"key": "clinic", "noise_std": None}, "noise_std: expected a number beside a key"),
        ({"label_cost": 0.0}, "label_cost: expected a positive, finite number, got 0.0"),
        ({"rule": "perhaps"}, "rule: expected"),
    ],
)
def test_options_that_contradict_each_other_are_refused(folder, more, words):
    with pytest.raises(InvalidInput, match=words):
        BackfillOptions(**({"folder": "a", "label": "y", "label_cost": 1.0, "type": "kind"} | more))


# -- the command -------------------------------------------------------------------------------------------


@pytest.fixture
def run(folder, capsys):
    def run(*words):
        columns = ("--label", "y", "--type", "kind", "--label-cost", "0.5", "--noise-std", "0.1")
        code = main(["backfill", str(folder), *columns, "--out", str(folder.parent / "out"), *words])
        done = capsys.readouterr()
        return code, done.out, done.err

    return run


def test_the_command_tells_the_bill(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert "1,200 rows in" in out
    assert [line.split()[0] for line in out.splitlines() if "breakeven" in line or "everyone" in line] == [
        "label",
        "breakeven",
    ]
    code, out, _ = run("--json")
    told = json.loads(out)
    assert (code, told["whole"], told["resumed"], told["bill"]["rows"]) == (0, True, 1200, 1200)


def test_the_command_says_what_is_wrong_in_one_line(run, folder):
    (folder / "part-2.parquet").write_bytes(b"PAR1")
    code, out, err = run()
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "part-2.parquet: expected a whole Parquet file" in err


def test_the_command_takes_features(folder, capsys):
    words = [str(folder), "--label", "y", "--label-cost", "0.5", "--features", "age, bmi", "--rule", "never"]
    assert main(["backfill", *words, "--out", str(folder.parent / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bill"]["labels"] == 0
