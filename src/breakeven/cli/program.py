"""The program `breakeven`: its options, and the commands that it is made of.

A command is a function in a file of its own, added here; what is slow to import is imported inside it. Other
packages add theirs as entry points of the group `breakeven.commands`.
"""

import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

import breakeven
from breakeven.cli import failures
from breakeven.cli.demo_command import demo
from breakeven.cli.log_messages import all_with_log_level, with_log_level
from breakeven.cli.plan_command import plan
from breakeven.cli.simulate_command import simulate
from breakeven.cli.store_command import store_app
from breakeven.errors import BreakevenError
from breakeven.starting import ending_at_once

JOINING = "breakeven.commands"
LABORATORY = ("datasets", "reproduce", "bench")  # what breakeven-research brings
ANY_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}


class MissingCommand(BreakevenError, ImportError):
    """A command of a package that is not installed; the message says how to get it."""


def program(joining: dict[str, Any] | None = None) -> typer.Typer:
    """The program: our commands, and those `joining` them, by default all that other packages bring."""
    joining = installed() if joining is None else joining
    app = typer.Typer(name="breakeven", rich_markup_mode=None)
    app.callback(invoke_without_command=True)(_program)
    for command in (demo, simulate, plan):
        app.command()(with_log_level(command))
    app.add_typer(all_with_log_level(store_app), name="store")
    for name, joined in joining.items():
        if isinstance(joined, typer.Typer):
            app.add_typer(all_with_log_level(joined), name=name)
        else:
            app.command(name)(with_log_level(joined))
    for name in LABORATORY:
        if name not in joining:
            app.command(name, hidden=True, add_help_option=False, context_settings=ANY_WORDS)(_missing)
    return app


def installed() -> dict[str, Any]:
    """What other packages add to the program, in the order of our list and then of their names."""
    found = {point.name: point for point in entry_points(group=JOINING)}
    order = [*(name for name in LABORATORY if name in found), *sorted(set(found) - set(LABORATORY))]
    return {name: found[name].load() for name in order}


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
