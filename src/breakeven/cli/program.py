"""The program `breakeven`: its options, and the commands that it is made of.

A command is a function in a file of its own, added here; what is slow to import is imported inside it.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import breakeven
from breakeven.cli import datasets, failures
from breakeven.cli.bench import bench
from breakeven.cli.demo import demo
from breakeven.cli.interrupt import terminable
from breakeven.cli.plan import plan
from breakeven.cli.reproduce import reproduce
from breakeven.cli.simulate import simulate

app = typer.Typer(name="breakeven", rich_markup_mode=None)
app.command()(demo)
app.command()(simulate)
app.command()(plan)
app.add_typer(datasets.app)
app.command()(reproduce)
app.command()(bench)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command that these words name, by default those of the command line; returns the exit code."""
    with terminable():
        return failures.run(typer.main.get_command(app), list(sys.argv[1:] if words is None else words))


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"breakeven {breakeven.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _program(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Pay for a label only when it pays for itself."""
    if context.invoked_subcommand is None:
        print(context.get_help())
