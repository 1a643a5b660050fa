"""What commands print: plain text for people and pipes alike, one JSON document with `--json`, progress bars.

Names and paths are shown as they are; what no terminal can show, such as a line end in one, is escaped. A bar
is drawn on a terminal only, on standard error.
"""

import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import msgspec
import typer

from breakeven.errors import BreakevenError

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from breakeven.tables.run import RoundsDone
    from breakeven.values import BillRow, Sweep

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DoneOfAll = Callable[[int, int | None], None]
DoneByName = Callable[[str, int, int], None]

LINE_WIDTH = 80
WAY_COLUMNS = ("labels", "spend", "error", "not asked", "total")
ABOUT_COLUMNS = (
    "error: its mean over all cases; not asked: over those not labelled; saves: how much less {} costs."
)
COST_COLUMNS = ("labels", "total", "everyone", "no one *", "at random")


class OutputClosed(BreakevenError):
    """Nobody reads what is printed any more, while there was more to do or to say."""


@contextmanager
def read_or_told(words: str) -> Iterator[None]:
    """Where standard output is closed meanwhile, these words go to standard error, and the command ends."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise OutputClosed(f"standard output was closed; {words}") from error


def print_json(document: object, to: TextIO | None = None) -> None:
    """Print one JSON document on a line of its own.

    >>> print_json({"labels": 72, "costs": [100.0, None]})
    {"labels":72,"costs":[100.0,null]}
    """
    print(msgspec.json.encode(document, enc_hook=_as_plain).decode(), file=to or sys.stdout)


def login_name(option: str) -> str:
    """Who runs the command; where nobody can tell, as in some containers, `option` must say it."""
    import getpass

    from breakeven.errors import expect

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        expect.refuse(option, "who does this", "none, and no login name", described=True)


def show_whatever_comes(stream: object) -> None:
    """Let a stream escape letters that its encoding lacks, instead of raising an error."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def as_line(text: object) -> str:
    r"""The text on one line that can be printed anywhere.

    >>> print(as_line("expected one of:\n\tred, blue"), as_line("[b]\x1b\udcff"))
    expected one of: red, blue [b]\x1b\udcff
    """
    return printable(" ".join(part.strip() for part in str(text).splitlines()))


def printable(text: str) -> str:
    """The text with signs that cannot be printed written out."""
    return (
        text
        if text.isprintable()
        else "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
    )


def facts(title: str, rows: Mapping[str, str]) -> str:
    r"""A title and, indented below it, names with their values; a value may have several lines.

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
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value).encode(errors="backslashreplace").decode()


def amount(number: float) -> str:
    """A number as people read it."""
    from breakeven.values.amounts import amount as written  # brings NumPy, which --help does without

    return written(number)


# -- bills ---------------------------------------------------------------------------------------------


def table_of_ways(
    rows: "Sequence[BillRow]", own: "BillRow | None" = None, *, intervals: bool = False
) -> list[str]:
    """A row for each way to go about the stream; `saves` is what the `own` way saves against it."""
    head = ("", *WAY_COLUMNS, *(() if own is None else ("saves",)))
    head += ("total from", "to") if intervals else ()
    return table([head, *((*cells(row, own), *(_interval(row) if intervals else ())) for row in rows)])


def cells(row: "BillRow", own: "BillRow | None" = None) -> tuple[str, ...]:
    """One row of the table.

    >>> from breakeven.values import BillRow
    >>> row = BillRow(name="label no one *", labels=0, spend=0, mean_error=0.25, total=100)
    >>> cells(row, BillRow(name="breakeven", labels=6, spend=60, mean_error=0.1, total=75))
    ('label no one *', '0', '0', '0.25', '', '100', '25 (25%)')
    """
    unasked = "" if row.unasked_error is None else f"{row.unasked_error:.4g}"
    numbers = amount(row.spend), f"{row.mean_error:.4g}", unasked, amount(row.total)
    from breakeven.values.bill_words import with_share  # brings NumPy, which --help does without

    saved: tuple[str, ...] = ()
    if own is not None:
        saved = ("",) if row.name == own.name else (with_share(row.total - own.total, row.total),)
    return row.name, f"{row.labels:,.1f}".removesuffix(".0"), *numbers, *saved


def _interval(row: "BillRow") -> tuple[str, str]:
    """Where the mean total lies, if that is known."""
    return ("", "") if row.low is None or row.high is None else (amount(row.low), amount(row.high))


def table_of_costs(sweep: "Sweep", own: float | None = None) -> list[str]:
    """A row for each cost of a label, with the totals of our rule and of the simple ways; `own` is marked."""
    place = None if own is None else sweep.at(own)
    rows = [
        (
            amount(cost) + (" <" if row == place else "  "),
            f"{sweep.labels[row]:,.1f}".removesuffix(".0"),
            amount(sweep.total[row]),
            amount(sweep.everyone[row]),
            amount(sweep.no_one[row]),
            "" if sweep.at_random[row] is None else amount(sweep.at_random[row] or 0.0),
        )
        for row, cost in enumerate(sweep.label_costs)
    ]
    return table([("a label costs", *COST_COLUMNS), *rows])


def filled(notes: Sequence[str]) -> list[str]:
    """Notes in lines that are not too long."""
    return [textwrap.fill(as_line(note), LINE_WIDTH) for note in notes]


# -- progress ------------------------------------------------------------------------------------------


@contextmanager
def bars(title: str, *, hidden: bool = False) -> Iterator[DoneByName | None]:
    """One bar for all, and one for each name that is under way; None where there is no terminal."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    with _drawn(transient=False) as drawn:
        overall = drawn.add_task(title, total=0)
        names: dict[str, tuple[TaskID, int, int]] = {}

        def tell(name: str, done: int, whole: int) -> None:
            task = names[name][0] if name in names else drawn.add_task(name, total=whole, visible=False)
            names[name] = task, done, whole
            drawn.update(task, completed=done, visible=0 < done < whole)
            counts = [(done, whole) for _, done, whole in names.values()]
            drawn.update(overall, completed=sum(d for d, _ in counts), total=sum(w for _, w in counts))

        yield tell


@contextmanager
def bar(title: str, *, hidden: bool = False) -> Iterator[DoneOfAll | None]:
    """A bar that is told how much is done and, if known, of how much; None where there is no terminal.

    It is drawn on standard error, and gone once the work is done.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    with _drawn(transient=True) as drawn:
        task = drawn.add_task(title, total=None)
        yield lambda done, whole: drawn.update(task, completed=done, total=whole)


@contextmanager
def rounds(title: str, *, hidden: bool = False) -> Iterator["RoundsDone | None"]:
    """A bar of rounds: how fast they pass, what is spent where that is told, and the time left.

    While it is drawn rich keeps standard output to itself, so nothing is printed inside.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    with _drawn("{task.fields[rate]} rounds/s{task.fields[spend]}", transient=True) as drawn:
        task = drawn.add_task(title, total=None, rate="0", spend="")

        def tell(done: int, whole: int, spend: float) -> None:
            speed = f"{drawn.tasks[0].speed or 0.0:,.0f}"
            spent = f", {spend:,.0f} spent" if spend else ""
            drawn.update(task, completed=done, total=whole, rate=speed, spend=spent)

        yield tell


def _drawn(*words: str, transient: bool) -> "RichProgress":
    """What every bar has: its title, how far it is, some words, and the time left."""
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn() if not transient else progress.TaskProgressColumn(),
        *(progress.TextColumn(text, markup=False) for text in words),
        progress.TimeRemainingColumn(),
    )
    return progress.Progress(*columns, console=Console(stderr=True), transient=transient)
