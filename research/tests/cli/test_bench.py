"""`breakeven bench`: JSON, tables, figure and page from one run; one line for each fault."""

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from breakeven.cli import main
from breakeven_research import bench
from breakeven_research.bench import results as room
from pages import benchmarks as pages

ROOT = Path(__file__).parents[2]
SMALL = ("types", "--quick")


def measure(capsys, *words):
    """Run the command in this process: exit code, output and what it complains of."""
    code = main(["bench", *map(str, words)])
    return code, *capsys.readouterr()


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """All benchmarks at tiny sizes, as anyone would start them."""
    pytest.importorskip("numba")
    out = tmp_path_factory.mktemp("bench") / "out"
    command = [sys.executable, "-m", "breakeven", "bench", "--quick", "--out", out]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return out, done.stdout, msgspec.json.decode((out / "benchmarks.json").read_bytes(), type=bench.Run)


@pytest.fixture
def no_peers(monkeypatch):
    """A machine with nothing but breakeven and what it needs."""

    def missing(name):
        if name.partition(".")[0] in ("river", "skactiveml", "sklearn", "numba", "torch", "gpytorch"):
            raise ImportError(f"No module named {name!r}")
        return import_module(name)

    monkeypatch.setattr(room, "import_module", missing)


# -- a run ----------------------------------------------------------------------------------------------


def test_a_run_holds_every_benchmark_and_describes_its_machine(quick):
    _, _, found = quick
    assert list(found.benchmarks) == list(bench.BENCHMARKS)
    assert all(found.benchmarks.values())
    assert found.machine.cores >= 1
    assert {"breakeven", "numpy", "scipy"} <= set(found.machine.versions)
    assert not found.full


def test_readings_are_medians_between_their_quartiles(quick):
    _, _, found = quick
    readings = [one for results in found.benchmarks.values() for each in results for one in each.readings]
    assert {"rates", "round-d2", "round-d9", "stream", "memory"} <= {one.chart for one in readings}
    assert all(one.low <= one.median <= one.high for one in readings)
    assert all(one.median > 0 for one in readings if one.chart != "memory")


def test_tiny_sizes_have_no_targets(quick):
    _, _, found = quick
    results = [one for results in found.benchmarks.values() for one in results]
    assert {(one.target, one.reached) for one in results} == {("", None)}


def test_what_has_a_target_says_whether_it_was_reached():
    sizes = msgspec.structs.replace(bench.QUICK, full=True)
    found = bench.run(("types", "fitting"), sizes)
    read = msgspec.json.decode(msgspec.json.encode(found), type=bench.Run)
    assert read == found
    for result in (one for results in read.benchmarks.values() for one in results):
        assert (result.reached is None) == (result.target == "")


def test_a_run_writes_json_tables_figure_and_page(quick):
    out, printed, found = quick
    names = {path.name for path in out.iterdir()}
    charts = ("rates", "round-d2", "round-d9", "stream", "memory")
    pictures = {f"benchmarks-{chart}.{ending}" for chart in charts for ending in ("png", "svg")}
    tables = {f"{name}.csv" for name in ("benchmarks", *bench.BENCHMARKS)}
    assert names == {"benchmarks.json", "index.html", *pictures, *tables}
    assert (out / "benchmarks-rates.png").read_bytes().startswith(b"\x89PNG\r\n")
    rows = (out / "gp-round.csv").read_text().splitlines()
    assert rows[0] == "what,ratio,target,reached,measured,beside it"
    assert len(rows) == 1 + len(found.benchmarks["gp-round"])
    assert printed.endswith(f"Open {out / 'index.html'}\n")


def test_legends_show_fitted_exponents(quick):
    found = quick[2]
    (glance, *_) = bench.sections(found)
    charts = {
        chart.name: {line.label: line.remark for line in chart.lines} for chart in glance.figures[0].charts
    }
    assert charts["rates"] == {"Algorithm 1": "", "others": ""}
    for chart, series in (("round-d2", "dtrsv"), ("round-d9", "in blocks"), ("stream", "dictionary")):
        assert re.fullmatch(r"[nt]\^-?\d+\.\d\d", charts[chart][series])


def test_the_document_links_the_pictures_that_are_drawn_for_it(quick, tmp_path):
    old = tmp_path / "images" / "benchmarks" / "benchmarks-old.svg"
    old.parent.mkdir(parents=True)
    old.write_text("a picture of another run")
    pages.write_document(quick[2], tmp_path)
    text = (tmp_path / "benchmarks.md").read_text()
    assert text.startswith("# Benchmarks\n")
    assert f"{quick[2].machine}" in text
    linked = {tmp_path / link for link in re.findall(r"\]\((images/[^)]+)\)", text)}
    assert linked == set(old.parent.iterdir())
    assert {path.name for path in linked} == {f"benchmarks-{name}.png" for name in pages.SHOWN}
    assert all(path.stat().st_size < 80_000 for path in linked)


def test_json_is_one_document(capsys, own):
    code, out, err = measure(capsys, *SMALL, "--json", "--out", own / "out")
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert list(json.loads(out)["benchmarks"]) == ["types"]


# -- what is not there ----------------------------------------------------------------------------------


def test_missing_peers_are_said_and_the_rest_is_measured(capsys, own, no_peers):
    code, printed, err = measure(capsys, "types", "types-bulk", "fitting", "--quick", "--out", own / "out")
    assert (code, err) == (0, "")
    assert printed.count("not installed (pip install 'breakeven-research[bench]')") == 13
    assert "plain Python" in printed


def test_a_missing_peer_of_rounds_is_said_once(capsys, own, no_peers):
    code, printed, _ = measure(capsys, "gp-round", "--quick", "--out", own / "out")
    assert code == 0
    assert printed.count("beside scikit-learn refit\n    beside  not installed (pip install") == 1
    assert printed.count("beside GPyTorch fantasy\n    beside  not installed (no extra brings it)") == 1
    assert "dtrsv" in printed


# -- what is listed and refused -------------------------------------------------------------------------


def test_the_list_shows_every_benchmark_and_runs_nothing(capsys, monkeypatch, own):
    monkeypatch.chdir(own)
    code, out, err = measure(capsys, "--list")
    assert (code, err) == (0, "")
    assert [line.split(maxsplit=1)[0] for line in out.splitlines()] == list(bench.BENCHMARKS)
    assert list(own.iterdir()) == []


def test_the_list_as_json_is_one_document(capsys):
    code, out, err = measure(capsys, "--list", "--json")
    titles = {name: one.title for name, one in bench.BENCHMARKS.items()}
    assert (code, json.loads(out), err) == (0, titles, "")


def test_an_unknown_name_is_one_line_and_exit_code_2(capsys, own):
    code, out, err = measure(capsys, "gp-rounds", "--out", own / "out")
    names = ", ".join(map(repr, bench.BENCHMARKS))
    assert (code, out, err) == (2, "", f"breakeven: name: expected one of {names}, got 'gp-rounds'\n")
    assert not (own / "out").exists()


def test_a_folder_that_cannot_be_written_to_is_one_line_before_any_work(capsys, own):
    (own / "file").write_text("in the way")
    out = own / "file" / "out"
    code, printed, err = measure(capsys, *SMALL, "--out", out)
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"breakeven: {out}: cannot be written to")
