"""The program as a whole: help, version, and what its processes leave on each stream."""

import json
import math
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from breakeven import __version__
from breakeven.cli import failures, main
from breakeven.cli import program as module
from breakeven.cli.program import JOINING, LABORATORY, installed, program

HELP = [["--help"], [], *([name, "--help"] for name in ("demo", "simulate", "plan", "store"))]
SCRIPT = Path(sys.executable).with_name("breakeven")


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_help_is_plain_text_that_fits_80_columns(breakeven, words):
    done = breakeven(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: breakeven")
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_names_every_command():
    app = program()
    listed = CliRunner().invoke(app, ["--help"]).stdout
    commands = {name: one for name, one in typer.main.get_command(app).commands.items() if not one.hidden}
    assert {"demo", "simulate", "plan"} <= {*commands}
    for name in commands:
        assert f"\n  {name} " in listed


def test_first_lines_are_those_of_the_commands():
    for name, command in typer.main.get_command(program()).commands.items():
        known = {**module.OURS, **module.LABORATORY}.get(name)
        if known is not None and not command.hidden:
            assert command.help.partition("\n\n")[0].replace("\n", " ") == known, name


def test_the_version_is_the_packages(breakeven):
    done = breakeven("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"breakeven {__version__}\n", "")


@pytest.mark.skipif(not SCRIPT.exists(), reason="the package is not installed beside this Python")
def test_the_installed_script_is_the_program():
    done = subprocess.run([SCRIPT, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"breakeven {__version__}\n"


WRONG_WORDS = {
    "foo": "No such command 'foo' (see `breakeven --help`)",
    "--foo": "No such option: --foo (see `breakeven --help`)",
    "simlate": "No such command 'simlate'. Did you mean 'simulate'? (see `breakeven --help`)",
    "plan --foo": "No such option: --foo (see `breakeven plan --help`)",
}


@pytest.mark.parametrize(("words", "message"), WRONG_WORDS.items(), ids=WRONG_WORDS)
def test_a_wrong_word_is_one_line_and_exit_code_2(capsys, words, message):
    assert main(words.split()) == 2
    assert capsys.readouterr() == ("", f"breakeven: {message}\n")


def test_a_wrong_word_with_json_is_one_object_on_standard_error(breakeven):
    done = breakeven("plan", "--foo", "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert json.loads(done.stderr) == {
        "error": {
            "kind": "UsageError",
            "message": "No such option: --foo (see `breakeven plan --help`)",
        }
    }


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_under_standard_output_is_one_line(breakeven):
    with open("/dev/full", "w") as full:
        done = breakeven("--help", stdout=full)
    assert (done.returncode, done.stderr) == (2, "breakeven: No space left on device\n")


def test_a_reader_that_left_is_no_cause_for_words(breakeven):
    reader = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    reader.wait()
    with reader:
        done = breakeven("--help", stdout=reader.stdin)
    assert (done.returncode, done.stderr) == (1, "")


# -- commands of other packages --------------------------------------------------------------------------


def wave(name: str) -> None:
    """Wave to someone."""
    print(f"hello {name}")


def run_with(joining, words):
    return failures.run(typer.main.get_command(program(joining)), words)


@pytest.mark.parametrize("words", [[], ["--help"], ["branin", "--trials", "1"], ["fetch", "all", "--json"]])
@pytest.mark.parametrize("name", LABORATORY)
def test_a_command_of_the_laboratory_says_how_to_get_it(capsys, name, words):
    assert run_with({}, [name, *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"`breakeven {name}` comes with breakeven-research, which is not installed: pip install" in err


def test_without_the_laboratory_no_help_speaks_of_it(capsys):
    assert run_with({}, ["--help"]) == 0
    listed = capsys.readouterr().out
    assert "simulate" in listed
    assert not [name for name in LABORATORY if name in listed]


def test_a_function_and_a_group_of_another_package_join_the_program(capsys):
    group = typer.Typer(help="Several.")
    group.command("wave")(wave)
    group.command("other")(wave)
    joining = {"bench": wave, "people": group}
    assert run_with(joining, ["bench", "Ann"]) == run_with(joining, ["people", "wave", "Bob"]) == 0
    assert capsys.readouterr().out == "hello Ann\nhello Bob\n"
    assert run_with(joining, ["--help"]) == 0
    listed = capsys.readouterr().out
    assert "\n  bench " in listed
    assert "\n  people " in listed


def test_what_is_installed_joins_in_our_order_and_then_by_name(monkeypatch):
    found = [EntryPoint(name, "math:pi", JOINING) for name in ("zoo", "bench", "ant", "datasets")]
    monkeypatch.setattr(module, "entry_points", lambda group: found if group == JOINING else [])
    assert list(installed()) == ["bench", "datasets", "ant", "zoo"]
    assert installed()["ant"]() == math.pi
