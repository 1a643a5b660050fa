"""A progress bar on a terminal, and none in a pipe."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

Progress = Callable[[int, int | None], None]


Counts = Callable[[str, int, int], None]


@contextmanager
def bars(title: str, *, hidden: bool = False) -> Iterator[Counts | None]:
    """A bar for each name that it is told of; None where nobody looks."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    with _drawn(transient=False) as drawn:
        tasks: dict[str, TaskID] = {}

        def tell(name: str, done: int, whole: int) -> None:
            if name not in tasks:
                tasks[name] = drawn.add_task(name, total=whole)
            drawn.update(tasks[name], completed=done)

        drawn.console.print(title, markup=False)
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


def _drawn(*, transient: bool) -> "RichProgress":
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn() if not transient else progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
    )
    return progress.Progress(*columns, console=Console(stderr=True), transient=transient)
