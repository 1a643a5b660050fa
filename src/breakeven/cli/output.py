"""What commands print: plain text for people and pipes alike, or one JSON document with `--json`.

Names and paths are shown as they are; what no terminal can show, such as a line end in one, is escaped.
"""

import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from typing import Annotated, Any, TextIO

import msgspec
import numpy as np
import typer

from breakeven.values.amounts import amount as amount

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def print_json(document: object, to: TextIO | None = None) -> None:
    """Print one JSON document on a line of its own.

    >>> print_json({"labels": 72, "costs": [100.0, None]})
    {"labels":72,"costs":[100.0,null]}
    """
    print(msgspec.json.encode(document, enc_hook=_as_plain).decode(), file=to or sys.stdout)


def show_whatever_comes(stream: object) -> None:
    """Let a stream escape the letters that its encoding lacks, where it would otherwise give up."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def as_line(text: object) -> str:
    r"""The text on one line that can be printed anywhere.

    >>> print(as_line("expected one of:\n\tred, blue"), as_line("[b]\x1b\udcff"))
    expected one of: red, blue [b]\x1b\udcff
    """
    line = " ".join(part.strip() for part in str(text).splitlines())
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)


def facts(title: str, rows: Mapping[str, str]) -> str:
    r"""A title and, indented below it, what is known under it; a value may have several lines.

    >>> print(facts("apples", {"colour": "red", "from": "here\nand there"}))
    apples
        colour  red
        from    here
                and there
    """
    width = max(map(len, rows))
    lines = [title]
    for name, value in rows.items():
        first, *others = value.split("\n")
        lines.append(f"    {name:{width}}  {first}")
        lines.extend(f"    {'':{width}}  {other}" for other in others)
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    r"""Rows of cells as lines: names to the left, numbers to the right, and never without a gap between them.

    >>> print("\n".join(table([("", "labels", "spend"), ("label everyone", "442", "44,200")])))
                    labels   spend
    label everyone     442  44,200
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([f"{row[0]:<{widths[0]}}", *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]


def _as_plain(value: Any) -> Any:
    """An array as a list, and what JSON does not know as text."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value).encode(errors="backslashreplace").decode()
