"""The commands of this package within the program: help, wrong words, and what they leave on each stream."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from typer.testing import CliRunner

from breakeven.cli import failures, main
from breakeven.cli.program import JOINING, program
from breakeven_research.datasets import CorruptData, MissingData

HELP = [["datasets", "--help"], ["datasets", "fetch", "--help"], ["bench", "--help"]]


def test_the_three_commands_join_the_program():
    listed = CliRunner().invoke(program(), ["--help"]).stdout
    assert {point.name for point in entry_points(group=JOINING)} >= {"datasets", "reproduce", "bench"}
    for name in ("datasets", "reproduce", "bench"):
        assert f"\n  {name} " in listed


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_help_is_plain_text_that_fits_80_columns(breakeven, words):
    done = breakeven(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: breakeven")
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


WRONG_WORDS = {
    "datasets": "Missing command (see `breakeven datasets --help`)",
    "datasets lst": "No such command 'lst'. Did you mean 'list'? (see `breakeven datasets --help`)",
    "datasets list --foo": "No such option: --foo (see `breakeven datasets list --help`)",
    "datasets fetch": "Missing argument 'NAME' (see `breakeven datasets fetch --help`)",
}


@pytest.mark.parametrize(("words", "message"), WRONG_WORDS.items(), ids=WRONG_WORDS)
def test_a_wrong_word_is_one_line_and_exit_code_2(capsys, words, message):
    assert main(words.split()) == 2
    assert capsys.readouterr() == ("", f"breakeven: {message}\n")


@pytest.mark.parametrize("kind", [CorruptData, MissingData])
def test_each_of_our_errors_is_its_message_on_one_line(kind):
    told = failures.described(kind("a [b]:\n  expected [red]c[/red]"))
    assert told == {"kind": kind.__name__, "message": "a [b]: expected [red]c[/red]"}


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
