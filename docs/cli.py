"""Write the reference of the command line from the commands themselves: `python docs/cli.py`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from breakeven.cli.program import program

HERE = Path(__file__).parent
HEAD = """# The command line

Every command, as it explains itself. This page is made by `python docs/cli.py`.

- `--json` prints one JSON document, and no progress bar is shown. All commands have it.
- `--log-level info` also writes [log messages](messages.md) to standard error. All commands have it.
- An error is one line on standard error, and exit code 2. With `--json` it is an object
  `{"error": {"kind": …, "message": …}}`.

## Completion in the shell

Bash, Zsh, Fish and PowerShell can complete commands and options at the Tab key:

```console
breakeven --install-completion
```

It takes effect in the next shell. To see what would be installed, or to put it elsewhere, use
`--show-completion`.
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
