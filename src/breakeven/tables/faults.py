"""What is wrong with a table, and where; and what an option is called where the message is read.

A message on the command line says `--missing drop`, and the same one in Python `missing='drop'`.
"""

import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from breakeven.errors import BreakevenError
from breakeven.errors.expect import shown

OptionWords = Callable[..., str]  # the name of an option and, where it is to be given one, its value


def as_flag(name: str, value: str | Sequence[str] | None = None) -> str:
    """An option as the command line has it.

    >>> as_flag("seed_labels"), as_flag("type", "the ward"), as_flag("features", ["age", "sex"])
    ('--seed-labels', "--type 'the ward'", '--features age,sex')
    """
    flag = f"--{name.replace('_', '-')}"
    if value is None:
        return flag
    return f"{flag} {shlex.quote(value if isinstance(value, str) else ','.join(value))}"


def as_argument(name: str, value: str | Sequence[str] | None = None) -> str:
    """An option as Python has it.

    >>> as_argument("seed_labels"), as_argument("type", "the ward"), as_argument("features", ["age"])
    ('`seed_labels`', "`type='the ward'`", "`features=['age']`")
    """
    if value is None:
        return f"`{name}`"
    return f"`{name}={value!r}`" if isinstance(value, str) else f"`{name}={list(value)!r}`"


class BadTable(BreakevenError, ValueError):
    """A table that cannot be used; the message names the file and, where it can, the row and the column.

    >>> issubclass(BadTable, ValueError)
    True
    """


class MissingReader(BadTable, ImportError):
    """A table needs a package that is not installed; the message says how to get it.

    >>> issubclass(MissingReader, ImportError)
    True
    """


class Fault(NamedTuple):
    """What is wrong, and where; the header is row 0."""

    expected: str
    came: str
    row: int | None = None
    column: str | None = None
    hint: str = ""

    def said_of(self, table: str) -> str:
        """The fault of a table in words.

        >>> Fault("a cost", "0", 3, "cost").said_of("a.csv")
        "a.csv, row 3, column 'cost': expected a cost, got 0"
        """
        place = [table]
        place += [] if self.row is None else [f"row {self.row:,}" if self.row else "header"]
        place += [] if self.column is None else [f"column {shown(self.column)}"]
        words = f"{', '.join(place)}: expected {self.expected}, got {self.came}"
        return f"{words}; {self.hint}" if self.hint else words


def refuse_table(name: str, fault: Fault) -> NoReturn:
    """Raise `BadTable` with the fault in words."""
    raise BadTable(fault.said_of(name))


def twice(names: Sequence[str]) -> Fault | None:
    """The first name that is there already.

    >>> twice(["a", "y", "y"])
    Fault(expected='a column only once', came='two of that name', row=None, column='y', hint='')
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return Fault("a column only once", "two of that name", column=name)
        seen.add(name)
    return None


def first_line(error: BaseException) -> str:
    """The first line of what an error says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
