"""The program as a whole: help, version, and what its processes leave on each stream."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from breakeven import __version__
from breakeven.cli import main
from breakeven.cli.program import app

HELP = [["--help"], [], ["datasets", "--help"], ["datasets", "fetch", "--help"], ["bench", "--help"]]
HELP += [[name, "--help"] for name in ("demo", "simulate", "plan")]
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
    listed = CliRunner().invoke(app, ["--help"]).stdout
    groups = [group.name or group.typer_instance.info.name for group in app.registered_groups]
    commands = [command.name or command.callback.__name__ for command in app.registered_commands]
    assert "datasets" in groups
    for name in groups + commands:
        assert f"\n  {name} " in listed


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
    "datasets": "Missing command (see `breakeven datasets --help`)",
    "datasets lst": "No such command 'lst'. Did you mean 'list'? (see `breakeven datasets --help`)",
    "datasets list --foo": "No such option: --foo (see `breakeven datasets list --help`)",
    "datasets fetch": "Missing argument 'NAME' (see `breakeven datasets fetch --help`)",
}


@pytest.mark.parametrize(("words", "message"), WRONG_WORDS.items(), ids=WRONG_WORDS)
def test_a_wrong_word_is_one_line_and_exit_code_2(capsys, words, message):
    assert main(words.split()) == 2
    assert capsys.readouterr() == ("", f"breakeven: {message}\n")


def test_a_wrong_word_with_json_is_one_object_on_standard_error(breakeven):
    done = breakeven("datasets", "list", "--foo", "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert json.loads(done.stderr) == {
        "error": {
            "kind": "UsageError",
            "message": "No such option: --foo (see `breakeven datasets list --help`)",
        }
    }


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_under_standard_output_is_one_line(breakeven):
    with open("/dev/full", "w") as full:
        done = breakeven("datasets", "list", stdout=full)
    assert (done.returncode, done.stderr) == (2, "breakeven: No space left on device\n")


def test_a_reader_that_left_is_no_cause_for_words(breakeven):
    reader = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    reader.wait()
    with reader:
        done = breakeven("datasets", "list", stdout=reader.stdin)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_narrow_encoding_escapes_what_it_lacks(breakeven, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("BREAKEVEN_DATA", "/tmp/é")
    done = breakeven("datasets", "verify")
    assert (done.returncode, done.stderr) == (2, "")
    assert r"in /tmp/\xe9 or " in done.stdout
