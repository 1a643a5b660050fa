"""Write the reference of the command line from the commands themselves: `python docs/cli.py`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from breakeven.cli.program import program

HERE = Path(__file__).parent
HEAD = """# The command line

Every command, as it explains itself. This page is made by `python docs/cli.py`.

All take `--json`, which prints one JSON document and hides the progress bar. What goes wrong is one line on
standard error and exit code 2: with `--json` an object `{"error": {"kind": …, "message": …}}`.
"""


def page() -> str:
    """The whole page."""
    command = typer.main.get_command(program())
    parts = [f"## `{name}`\n\n```text\n{text}\n```\n" for name, text in _commands(command, "breakeven", None)]
    return "\n".join([HEAD, *parts])


def _commands(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    """A command and those below it, each with what it says for --help."""
    context = command.make_context(name.split()[-1], [], parent=parent, resilient_parsing=True)
    context.terminal_width = context.max_content_width = 80
    yield name, command.get_help(context).rstrip()
    for below in getattr(command, "commands", {}).values():
        yield from _commands(below, f"{name} {below.name}", context)


if __name__ == "__main__":
    (HERE / "cli.md").write_text(page())
