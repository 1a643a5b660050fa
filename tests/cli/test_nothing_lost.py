"""Whatever ends a run early is one line, and what was written is whole; a learner that went on is kept."""

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from breakeven import starting
from breakeven.cli import main
from breakeven.files import claimed
from breakeven.rows import open_bill, save_bill
from tests.cli.conftest import ROOT
from tests.tables.samples import smooth

WHOLE = {"columns.json", "decisions.parquet", "learner.snapshot", "report.html", "summary.json"}


@pytest.fixture
def words(own):
    smooth(60).write_csv(own / "cases.csv")
    return [
        "simulate",
        str(own / "cases.csv"),
        "--label",
        "y",
        "--cost",
        "0.5",
        "--no-sweep",
        "--out",
        str(own / "bill"),
    ]


def names(folder):
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


# -- a learner that has gone on --------------------------------------------------------------------------


def test_a_second_run_does_not_destroy_labels_told_since(capsys, own, words):
    assert main(words) == main(words) == 0
    columns, learner = open_bill(own / "bill")
    learner.decide(columns.point({"a": "0.1", "b": 0.2}), id="Anna", force=True)
    learner.tell("Anna", columns.label(0.7))
    save_bill(own / "bill", learner)
    live = (own / "bill" / "learner.snapshot").read_bytes()
    capsys.readouterr()
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "got one that has gone on since" in err
    assert "or say --overwrite, which keeps what is there under another name" in err
    assert (own / "bill" / "learner.snapshot").read_bytes() == live
    assert main([*words, "--overwrite"]) == 0
    assert f"What was in {own / 'bill'} before is kept in {own / 'bill.1'}." in capsys.readouterr().out
    assert (own / "bill.1" / "learner.snapshot").read_bytes() == live
    assert names(own / "bill") == names(own / "bill.1") == WHOLE


def test_a_folder_in_use_is_one_line_and_nothing_is_written(breakeven, own, words):
    (own / "bill").mkdir()
    with claimed(own / "bill"):
        done = breakeven(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f"{own / 'bill'}: another run is writing to it" in done.stderr
    assert names(own / "bill") == set()


# -- nobody reads, no room -------------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [False, True], ids=["words", "json"])
def test_files_are_there_though_nobody_reads_what_is_printed(breakeven, own, words, as_json):
    reader = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    reader.wait()
    with reader:
        done = breakeven(*words, *(["--json"] if as_json else []), stdout=reader.stdin)
    assert done.returncode == 1
    if as_json:
        closed = f"standard output was closed; everything is in {own / 'bill'}"
        assert json.loads(done.stderr) == {"error": {"kind": "OutputClosed", "message": closed}}
    else:
        left = f"the bill is in {own / 'bill'}, and nothing was compared with it"
        assert done.stderr == f"breakeven: standard output was closed; {left}\n"
    assert open_bill(own / "bill")[1].rounds == 60
    assert names(own / "bill") == WHOLE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_files_are_there_though_what_is_printed_finds_no_room(breakeven, own, words):
    with open("/dev/full", "w") as full:
        done = breakeven(*words, stdout=full)
    assert (done.returncode, done.stderr) == (2, "breakeven: No space left on device\n")
    assert names(own / "bill") == WHOLE


def no_large_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


def test_a_full_disk_is_one_line_and_nothing_half_written(breakeven, own, words):
    done = breakeven(*words, preexec_fn=no_large_files)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr == f"breakeven: {own / 'bill'}: could not write report.html (File too large)\n"
    assert names(own / "bill") == set()


# -- Ctrl-C at once --------------------------------------------------------------------------------------

SLOW_IMPORT = """
import os, signal, sys, time
sys.argv = ["breakeven", *sys.argv[1:]]
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
sys.meta_path.insert(0, Slow())
from breakeven.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("as_json", [False, True], ids=["words", "json"])
@pytest.mark.parametrize("module", ["numpy", "breakeven.cli.program", "polars", "breakeven.report.bill_page"])
def test_ctrl_c_in_the_middle_of_an_import_is_one_line(own, words, module, as_json):
    command = [
        sys.executable,
        "-c",
        SLOW_IMPORT.format(module=module),
        *words,
        *(["--json"] if as_json else []),
    ]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    told = {"error": {"kind": "Interrupted", "message": "interrupted"}}
    assert (json.loads(done.stderr) == told) if as_json else (done.stderr == "breakeven: interrupted\n")
    assert not (own / "bill").exists()


PROGRAMS = {
    "the script": (["/usr/bin/breakeven", "demo"], ["python", "/usr/bin/breakeven", "demo"], True),
    "the module": (["-m"], ["python", "-m", "breakeven", "demo"], True),
    "another module": (["-m"], ["python", "-m", "pytest"], False),
    "a program of one's own": (["clinic.py", "breakeven"], ["python", "clinic.py", "breakeven"], False),
    "nothing": ([""], ["python"], False),
}


@pytest.mark.parametrize(("argv", "asked", "ours"), PROGRAMS.values(), ids=PROGRAMS)
def test_only_the_program_itself_hears_ctrl_c_in_its_own_way(monkeypatch, argv, asked, ours):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", asked)
    assert starting.is_program() is ours


def test_who_imports_the_library_keeps_their_signals():
    program = (
        "import signal; before = signal.getsignal(2); import breakeven; print(signal.getsignal(2) is before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_inside_it_the_handler_is_ours_and_afterwards_the_old_one():
    before = signal.getsignal(signal.SIGINT)
    with starting.ending_at_once():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
