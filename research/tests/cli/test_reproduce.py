"""`breakeven reproduce`: a page with all its files, the same numbers twice, and one line for each fault."""

import json
import os
import re
import signal
import subprocess
import sys
from html import unescape
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import unquote

import pytest

from breakeven.cli import main
from breakeven_research.datasets import PARKINSONS, SUPERNOVA, cache_folder
from breakeven_research.experiments import EXHIBITS
from breakeven_research.experiments.runs.problems import Discrete

ROOT = Path(__file__).parents[2]
SMALL = ("branin-b10", "--recipe", "text", "--trials", "1", "--workers", "1")
PATIENCE = 120.0  # seconds after which we stop waiting for what should have happened long before
HEARING = (  # a shell may start us with Ctrl-C ignored
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from breakeven.cli import main; sys.exit(main(sys.argv[1:]))"
)


def reproduce(capsys, *words):
    """Run the command in this process: exit code, output and what it complains of."""
    code = main(["reproduce", *map(str, words)])
    return code, *capsys.readouterr()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small run, as anyone would start it."""
    out = tmp_path_factory.mktemp("small") / "out"
    done = subprocess.run(
        [sys.executable, "-m", "breakeven", "reproduce", *SMALL, "--out", out],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out, done.stdout


def csv_files(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


# -- what there is --------------------------------------------------------------------------------------


def test_the_list_shows_every_exhibit_and_runs_nothing(capsys, monkeypatch, own):
    monkeypatch.chdir(own)
    code, out, err = reproduce(capsys, "--list")
    assert (code, err) == (0, "")
    assert [line.split(maxsplit=1) for line in out.splitlines()] == [[*item] for item in EXHIBITS.items()]
    assert list(own.iterdir()) == []


def test_the_list_as_json_is_one_document(capsys):
    code, out, err = reproduce(capsys, "--list", "--json")
    assert (code, json.loads(out), err) == (0, EXHIBITS, "")


# -- what is refused ------------------------------------------------------------------------------------

NAMES = "a name that `breakeven reproduce --list` shows, or the beginning of one such as branin"
REFUSED = {
    "brannin-b10": f"panel: expected {NAMES}, got 'brannin-b10'; did you mean branin-b10?",
    "branin-b10 pannels": f"panel: expected {NAMES}, got 'pannels'; did you mean panels?",
    "xyz": f"panel: expected {NAMES}, got 'xyz'",
    "branin --recipe txt": "recipe: expected one of 'figures', 'text', 'both', got 'txt'",
    "branin --trials 0": "trials: expected a whole number of at least 1, got 0",
    "branin --workers 0": "workers: expected a whole number of at least 1, got 0",
    "branin --trials 101": "trials: expected a whole number of at most 100, got 101",
}


@pytest.mark.parametrize(("words", "message"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_reproduced_is_one_line_and_exit_code_2(capsys, own, words, message):
    out = own / "out"
    assert reproduce(capsys, *words.split(), "--out", out) == (2, "", f"breakeven: {message}\n")
    assert not out.exists()


def test_what_cannot_be_reproduced_is_one_object_with_json(capsys, own):
    code, out, err = reproduce(capsys, "branin", "--recipe", "txt", "--json", "--out", own / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert json.loads(err)["error"]["kind"] == "InvalidInput"


def test_a_folder_that_cannot_be_written_to_is_one_line_before_any_work(capsys, own):
    (own / "file").write_text("in the way")
    out = own / "file" / "out"
    code, printed, err = reproduce(capsys, *SMALL, "--out", out)
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"breakeven: {out}")
    assert err.endswith("cannot be written to (Not a directory)\n")
    assert [path.name for path in own.iterdir()] == ["file"]


def test_a_missing_data_file_is_one_line_before_any_work(capsys, own):
    out = own / "out"
    code, printed, err = reproduce(capsys, "branin-b10", "supernova-b1", "--trials", 1, "--out", out)
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert err == (
        f"breakeven: supernova: found no file {SUPERNOVA.filename} in {cache_folder()}; "
        "run `breakeven datasets fetch supernova`, "
        f"or set BREAKEVEN_DATA to a folder that holds {SUPERNOVA.filename}\n"
    )
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "source"),
    [("supernova-b1", SUPERNOVA), ("scales", PARKINSONS), ("all", PARKINSONS), ("rules", PARKINSONS)],
)
def test_a_damaged_data_file_is_one_line_before_any_work(capsys, monkeypatch, own, name, source):
    monkeypatch.setenv("BREAKEVEN_DATA", str(own))
    (own / source.filename).write_bytes(b"0.5 42.3 0.2\n")
    code, printed, err = reproduce(capsys, name, "--trials", 1, "--out", own / "out")
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert err.startswith(
        f"breakeven: {source.name}: expected {source.size} bytes with SHA-256 {source.sha256}, got 13 bytes"
    )
    assert f"from {own / source.filename}; remove that file" in err
    assert not (own / "out").exists()


# -- a run ----------------------------------------------------------------------------------------------


def test_a_run_writes_the_page_pictures_and_tables(small):
    out, printed = small
    assert printed.endswith(f"Open {out / 'index.html'}\n")
    names = {path.name for path in out.iterdir()}
    charts = [f"branin-b10-text-{what}" for what in ("loss", "error")]
    assert {"index.html", "branin-b10.csv", "end-points.csv", "runs"} <= names
    assert {f"{chart}.{ending}" for chart in charts for ending in ("png", "svg")} <= names
    assert (out / f"{charts[0]}.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert b"<svg" in (out / f"{charts[0]}.svg").read_bytes()
    assert not [name for name in names if name.startswith(".")]
    assert len(list((out / "runs").iterdir())) == 1


def test_every_link_of_the_page_leads_somewhere(small):
    out, _ = small
    page = (out / "index.html").read_text()
    links = [unescape(link) for link in re.findall(r'(?:href|src)="([^"]*)"', page)]
    places = {link[1:] for link in links if link.startswith("#")}
    files = {link for link in links if not link.startswith("#")}
    assert places <= set(re.findall(r'id="([^"]*)"', page))
    assert places
    assert {Path(name).suffix for name in files} == {".csv", ".png", ".svg"}
    for name in files:
        assert (out / unquote(name)).is_file()


def test_another_folder_gets_the_same_tables_to_the_bit_and_json_is_one_document(capsys, small, own):
    again = own / "again"
    code, printed, err = reproduce(capsys, *SMALL, "--json", "--out", again)
    document = json.loads(printed)
    assert (code, err, printed.count("\n")) == (0, "", 1)
    assert document["page"] == str(again / "index.html")
    assert document["exhibits"] == ["branin-b10"]
    assert [point["method"] for point in document["end_points"]][:2] == ["Algorithm 2", "Random Select"]
    assert csv_files(again) == csv_files(small[0])
    assert "branin-b10.csv" in csv_files(again)


def test_a_run_that_is_repeated_changes_no_file(capsys, small):
    out, _ = small
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    kept = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert reproduce(capsys, *SMALL, "--out", out)[0] == 0
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == kept


def test_rules_adds_value_to_the_panels_named_and_the_table_of_all_rules(capsys, monkeypatch, own):
    monkeypatch.setattr(Discrete, "rounds", 400)
    out, panel = own / "out", "discrete-k10-uniform-b10"
    words = [panel, "--rules", "--recipe", "text", "--trials", "1", "--workers", "1"]
    code, printed, err = reproduce(capsys, *words, "--json", "--out", out)
    assert (code, err) == (0, "")
    assert json.loads(printed)["exhibits"] == [panel, "rules", "apart", "value-ablation"]
    for name in ("rules", "rules-ratios", "rules-end-points", "value-ablation"):
        rows = (out / f"{name}.csv").read_text().splitlines()[1:]
        assert [row.split(",")[0] for row in rows] == [panel]
    methods = {line.split(",")[1] for line in (out / f"{panel}.csv").read_text().splitlines()[1:]}
    assert {"Algorithm 1", "Value", '"Value'} <= methods  # the comma of the last is quoted
    assert (out / "rules-figure.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert "Value beside the paper's rule" in unescape((out / "index.html").read_text())


# -- Ctrl-C ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_ctrl_c_is_one_line_and_the_next_run_goes_on(capsys, own, workers):
    out = own / "out"
    words = ["branin-b10", "--recipe", "text", "--trials", "5", "--workers", workers, "--out", str(out)]
    running = subprocess.Popen(
        [sys.executable, "-c", HEARING, "reproduce", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with running:
        finished = first_result(out / "runs", running)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to all of them
        printed, complained = running.communicate(timeout=PATIENCE)
    assert (running.returncode, printed, complained) == (2, "", "breakeven: interrupted\n")
    assert {path.name for path in out.iterdir()} == {"runs"}
    kept = sorted((out / "runs").iterdir())
    assert finished in kept
    assert 1 <= len(kept) < 5

    time = finished.stat().st_mtime_ns
    assert reproduce(capsys, *words)[0] == 0
    assert (out / "index.html").is_file()
    assert len(list((out / "runs").iterdir())) == 5
    assert finished.stat().st_mtime_ns == time


def first_result(folder, running):
    """The first result that a run keeps."""
    begun = monotonic()
    while monotonic() - begun < PATIENCE and running.poll() is None:
        found = list(folder.glob("[!.]*.json"))
        if found:
            return found[0]
        sleep(0.01)
    raise AssertionError("the run kept no result")


# -- decisions on streams -------------------------------------------------------------------------------

QUICK = ("--streams", "--quick", "--workers", "1")
STREAM_NAMES = "a name that `breakeven reproduce --streams --list` shows, or one of their groups"
STREAMS_REFUSED = {
    "--streams fredman1": f"stream: expected {STREAM_NAMES}, got 'fredman1'; did you mean friedman1?",
    "--streams --rules": "streams: expected neither --rules nor --recipe beside it, got one of them",
    "--streams step --trials 0": "trials: expected a whole number of at least 1, got 0",
}


@pytest.mark.parametrize(("words", "message"), STREAMS_REFUSED.items(), ids=STREAMS_REFUSED)
def test_streams_that_cannot_be_run_are_one_line(capsys, own, words, message):
    out = own / "out"
    assert reproduce(capsys, *words.split(), "--out", out) == (2, "", f"breakeven: {message}\n")
    assert not out.exists()


def test_a_real_stream_without_its_file_is_one_line_before_any_work(capsys, own):
    code, printed, err = reproduce(capsys, "concrete", *QUICK, "--out", own / "out")
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert err.endswith("set BREAKEVEN_DATA to a folder that holds streams/concrete_strength.csv\n")
    assert "fetch" not in err


def test_the_list_of_streams_says_what_each_is_an_example_of(capsys):
    code, out, err = reproduce(capsys, "--streams", "--list", "--json")
    assert (code, json.loads(out)["friedman1"], err) == (0, "smooth functions", "")


@pytest.fixture(scope="module")
def looked(tmp_path_factory):
    """A quick look at decisions on rare labels."""
    out = tmp_path_factory.mktemp("looked") / "out"
    done = subprocess.run(
        [sys.executable, "-m", "breakeven", "reproduce", "rare-000", *QUICK, "--out", out],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out, done.stdout


def test_a_quick_look_writes_page_document_and_every_number(looked):
    out, printed = looked
    assert printed.endswith(f"Open {out / 'index.html'}\n")
    document = (out / "decisions.md").read_text()
    assert document.startswith("# Decisions, measured\n")
    assert "**A quick look, not the table**" in document
    for title in ("In short", "Ratios by group and price", "Rare labels", "Losses, stream by stream"):
        assert f"\n## {title}\n" in document
    header, *rows = (out / "decisions.csv").read_text().splitlines()
    assert {"stream", "price", "learner", "loss", "labels", "cover95", "ratio"} <= set(header.split(","))
    assert [row.split(",")[5] for row in rows] == ["default"]


def test_a_second_look_takes_everything_from_the_shelf(capsys, looked):
    out, _ = looked
    before = {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    code, printed, err = reproduce(capsys, "rare-000", *QUICK, "--json", "--out", out)
    assert (code, err) == (0, "")
    assert len(json.loads(printed)["runs"]) == 1
    assert {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before
