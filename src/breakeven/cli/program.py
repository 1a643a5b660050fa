"""The program `breakeven`: its options, and the commands that it is made of.

A command is a function in a file of its own, named here with its first line and loaded when it is asked for,
so that --help loads none of them. Other packages add theirs as entry points of the group
`breakeven.commands`.
"""

import sys
from collections.abc import Callable, MutableMapping, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import breakeven
from breakeven.cli import failures
from breakeven.cli.log_messages import all_with_log_level, with_log_level
from breakeven.errors import BreakevenError
from breakeven.starting import ending_at_once

JOINING = "breakeven.commands"
OURS = {
    "demo": "Run the diabetes patients through it, and write the report.",
    "simulate": "Run past cases as if they came one by one, and draw up the bill.",
    "backfill": "Run an archive of Parquet files through learners, and draw up one bill for all of it.",
    "plan": "Say what to expect before there are data: labels, spend and errors.",
    "serve": "Decide over HTTP, and let people label from a desk.",
    "token": "Who may use a service: add, list and revoke tokens.",
    "person": "What people may do whom a proxy has logged in: add, list and remove them.",
    "desk": "Let people label in Label Studio, in files or in a tool of yours.",
    "store": "Logs and snapshots of streams: create, check, back up, export, erase.",
}
TOGETHER = {"token": "access", "person": "access"}  # commands that share a module, and its name
LABORATORY = {  # what breakeven-research brings
    "reproduce": "Reproduce the paper's figures, tables and bounds, and write one page about them.",
    "bench": "Measure speed and memory beside other libraries, and write one page about it.",
    "datasets": "The data files of the paper's experiments.",
}
ANY_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}


class MissingCommand(BreakevenError, ImportError):
    """A command of a package that is not installed; the message says how to get it."""


class Commands(TyperGroup):
    """The commands of the program, each loaded when it is first asked for."""

    def __init__(self, **given: Any) -> None:
        self._loaded: dict[str, Any] = {}
        self._joining: dict[str, Callable[[], Any]] | None = None
        super().__init__(**given)

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """All of them, loaded."""
        names = [*self.list_commands(None), *(name for name in LABORATORY if name not in self.joining)]
        return {name: self.get_command(None, name) for name in names}

    @commands.setter
    def commands(self, given: MutableMapping[str, Any]) -> None:
        self._loaded.update(given)

    @property
    def joining(self) -> dict[str, Callable[[], Any]]:
        """What loads each command of other packages."""
        if self._joining is None:
            self._joining = installed()
        return self._joining

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order in which they are shown."""
        return [*OURS, *self.joining]

    def get_command(self, ctx: Any, name: str) -> Any:
        """One of them; None where there is none of that name."""
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Any:
        if name in OURS:
            return _command(
                name, getattr(import_module(f"breakeven.cli.{TOGETHER.get(name, name)}_command"), name)
            )
        if name in self.joining:
            return _command(name, self.joining[name]())
        if name in LABORATORY:
            return _command(name, _missing, hidden=True, add_help_option=False, context_settings=ANY_WORDS)
        return None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Their names and first lines; those known here are not loaded for that."""
        known = OURS | LABORATORY
        rows = [
            (name, known[name] if name in known else self.get_command(ctx, name).get_short_help_str())
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _command(name: str, what: Any, **how: Any) -> Any:
    """A function or a group of commands as a command of this name."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    if isinstance(what, typer.Typer):
        app.add_typer(all_with_log_level(what), name=name)
    else:
        app.callback()(_nothing)
        app.command(name, **how)(what if what is _missing else with_log_level(what))
    group: Any = typer.main.get_command(app)
    return group.commands[name]


def _nothing() -> None:
    """A program of one command is that command; with this it stays a group."""


def program(joining: dict[str, Any] | None = None) -> typer.Typer:
    """The program: our commands, and those `joining` them, by default all that other packages bring."""

    class Joined(Commands):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            if joining is not None:
                self._joining = {name: partial(_given, one) for name, one in joining.items()}

    app = typer.Typer(name="breakeven", rich_markup_mode=None, cls=Joined)
    app.callback(invoke_without_command=True)(_program)
    return app


def _given(what: Any) -> Any:
    return what


def installed() -> dict[str, Callable[[], Any]]:
    """What loads each command of other packages, in the order of our list and then of their names."""
    found = {point.name: point for point in entry_points(group=JOINING)}
    order = [*(name for name in LABORATORY if name in found), *sorted(set(found) - set(LABORATORY))]
    return {name: found[name].load for name in order}


def main(words: Sequence[str] | None = None) -> int:
    """Run the command that these words name, by default those of the command line; returns the exit code."""
    with failures.terminable():
        with ending_at_once():
            command = typer.main.get_command(program())
        return failures.run(command, list(sys.argv[1:] if words is None else words))


def _missing(context: typer.Context) -> None:
    raise MissingCommand(
        f"`breakeven {context.info_name}` comes with breakeven-research, which is not installed: "
        "pip install ./research in the folder of breakeven's source"
    )


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"breakeven {breakeven.__version__}")
        raise typer.Exit


def _program(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Pay for a label only when it pays for itself."""
    if context.invoked_subcommand is None:
        print(context.get_help())
