"""What goes wrong is one line and an exit code, whatever it is."""

import json

import pytest
import typer

from breakeven import errors
from breakeven.cli import failures
from breakeven.cli.program import MissingCommand
from breakeven.files import UnwritableFolder
from breakeven.folding import Damage
from breakeven.store import SecondWriter, StoreError, StoreFailed, StoreHeld, UnknownStream, WrongStore

OURS = [
    *(getattr(errors, name) for name in errors.__all__),
    *(SecondWriter, StoreError, StoreFailed, StoreHeld, UnknownStream, WrongStore),
    Damage,
    MissingCommand,
    UnwritableFolder,
]


def run(error, *words):
    app = typer.Typer()

    @app.command()
    def command(as_json: bool = typer.Option(False, "--json")):
        raise error

    return failures.run(typer.main.get_command(app), list(words))


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_each_of_our_errors_is_its_message_on_one_line(capsys, kind):
    assert run(kind("a [b]:\n  expected [red]c[/red]")) == 2
    assert capsys.readouterr() == ("", "breakeven: a [b]: expected [red]c[/red]\n")


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_with_json_each_names_its_kind(capsys, kind):
    assert run(kind('a "quoted" \x1b'), "--json") == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert json.loads(err) == {"error": {"kind": kind.__name__, "message": 'a "quoted" \\x1b'}}


OTHERS = {
    "no permission": (PermissionError(13, "Permission denied", "a [b].csv"), "a [b].csv: Permission denied"),
    "bytes for a name": (PermissionError(13, "Permission denied", b"a\xff"), r"a\udcff: Permission denied"),
    "a full disk": (OSError(28, "No space left on device"), "No space left on device"),
    "only words": (OSError("it broke"), "it broke"),
    "no words": (TimeoutError(), "TimeoutError"),
    "Ctrl-C": (KeyboardInterrupt(), "interrupted"),
    "given up": (typer.Abort(), "interrupted"),
    "a bad value": (typer.BadParameter("not so"), "Invalid value: not so (see `breakeven --help`)"),
}


@pytest.mark.parametrize(("error", "message"), OTHERS.values(), ids=OTHERS)
def test_what_a_user_can_cause_is_one_line(capsys, error, message):
    assert run(error) == 2
    assert capsys.readouterr() == ("", f"breakeven: {message}\n")


def test_an_interrupt_with_json_is_an_object_too(capsys):
    assert run(KeyboardInterrupt(), "--json") == 2
    assert json.loads(capsys.readouterr().err) == {"error": {"kind": "Interrupted", "message": "interrupted"}}


def test_a_bug_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run(ZeroDivisionError("a bug"))


def test_a_commands_own_exit_code_is_kept():
    assert [run(typer.Exit(code)) for code in (0, 2)] == [0, 2]
