"""A progress bar on a terminal, and none in a pipe."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from breakeven.tables.running.run import Progress as Rounds

Progress = Callable[[int, int | None], None]
Counts = Callable[[str, int, int], None]


@contextmanager
def bars(title: str, *, hidden: bool = False) -> Iterator[Counts | None]:
    """One bar for all, and one for each name that is under way; None where nobody looks."""
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
def bar(title: str, *, hidden: bool = False) -> Iterator[Progress | None]:
    """A bar to be told how much is done and, where that is known, of how much; None where nobody looks.

    It is drawn on standard error, and gone once the work is done.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    with _drawn(transient=True) as drawn:
        task = drawn.add_task(title, total=None)
        yield lambda done, whole: drawn.update(task, completed=done, total=whole)


@contextmanager
def rounds(title: str, *, hidden: bool = False) -> Iterator["Rounds | None"]:
    """A bar of rounds that cost money: how fast they pass, what is spent, and the time left.

    While it is drawn rich keeps standard output to itself, so nothing is printed inside.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    with _drawn("{task.fields[rate]} rounds/s, {task.fields[spend]} spent", transient=True) as drawn:
        task = drawn.add_task(title, total=None, rate="0", spend="0")

        def tell(done: int, whole: int, spend: float) -> None:
            speed = f"{drawn.tasks[0].speed or 0.0:,.0f}"
            drawn.update(task, completed=done, total=whole, rate=speed, spend=f"{spend:,.0f}")

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
