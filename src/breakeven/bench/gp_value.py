"""A decision of `Value`, which looks at arrivals to come, beside a plain round of the same process."""

from collections.abc import Iterator
from functools import partial

from breakeven.bench.gp_problem import Problem, decide_and_tell, problem
from breakeven.bench.measurement import Measurement
from breakeven.bench.results import Result
from breakeven.bench.sizes import Sizes
from breakeven.bench.timing import Task, side_by_side
from breakeven.bench.wording import a_round
from breakeven.rules import Never, Value

DEAR = 1e9  # a price that no label is worth, so that none changes the process
MOST = {1000: 3.0}


def measurements(sizes: Sizes) -> list[Measurement]:
    """Each number of labels."""
    return [
        Measurement(_what(labels, dim), partial(_beside_plain, labels, dim, sizes))
        for dim in sizes.dims
        for labels in sizes.labels
    ]


def _what(labels: int, dim: int) -> str:
    return f"Value, n={labels:,}, d={dim}, reservoir 256"


def _beside_plain(labels: int, dim: int, sizes: Sizes) -> Iterator[Result]:
    task = problem(labels, dim, sizes.stretch)
    ours, plain = side_by_side(_value(task), _plain(task), repeats=sizes.repeats)
    ratio, most = ours.median / plain.median, MOST.get(labels)
    yield Result(
        what=_what(labels, dim),
        measured=a_round(ours),
        beside=f"a plain round {a_round(plain)}",
        ratio=f"{ratio:.2f}× of it",
        target=f"≤ {most:g}×" if most else "",
        reached=ratio <= most if most else None,
    )


def _value(task: Problem) -> Task:
    learner = task.learner(Value(horizon=10**9), short=False, label_cost=DEAR)
    for x in task.new[: task.stretch]:
        learner.decide(x)  # fills the reservoir
    return Task(partial(decide_and_tell, learner, task.new, task.new_y), task.stretch)


def _plain(task: Problem) -> Task:
    learner = task.learner(Never(), short=False)
    return Task(partial(decide_and_tell, learner, task.new, task.new_y), task.stretch)
