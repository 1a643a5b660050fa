"""Many arrivals at once at a Gaussian process with n labels, beside a bare solve of 64 columns."""

from collections.abc import Iterator
from functools import partial
from math import inf

import numpy as np
from scipy.linalg.blas import dtrsm

from breakeven.bench.gp_problem import Problem, problem
from breakeven.bench.measurement import Measurement
from breakeven.bench.results import Reading, Result, reading
from breakeven.bench.sizes import Sizes
from breakeven.bench.timing import Task, Timing, side_by_side
from breakeven.bench.wording import a_round
from breakeven.learner import Learner
from breakeven.simulate import simulate

BLOCK = 64
BARE = "dtrsm, a column of 64"
TIMES_BARE, TIMES_FASTER = {1000: 1.6}, {3000: 3.5}
PASSES = 4  # blocks of columns timed together


def measurements(sizes: Sizes) -> list[Measurement]:
    """Each number of labels that batches are measured at."""
    return [
        Measurement(_what(labels, dim), partial(_batches, labels, dim, sizes))
        for dim in sizes.dims
        for labels in sizes.labels
    ]


def _what(labels: int, dim: int) -> str:
    return f"GP batch, n={labels:,}, d={dim}, one in ten labelled"


def _batches(labels: int, dim: int, sizes: Sizes) -> Iterator[Result]:
    task = problem(labels, dim, sizes.stretch)
    bare, alone, simulated, blocks = side_by_side(
        _bare(task),
        task.one_by_one(),
        task.stream(lambda learner: simulate(learner, task.new, task.new_y)),
        task.stream(partial(_in_blocks, task)),
        repeats=sizes.repeats,
    )
    points = {"in blocks": simulated, BARE: bare}
    readings = [reading(f"round-d{dim}", *point, at=labels) for point in points.items()]
    what = _what(labels, dim)
    yield _result(f"{what}, simulate", labels, simulated, bare, alone, readings)
    yield _result(f"{what}, decide_many of {BLOCK}", labels, blocks, bare, alone, [])


def _result(
    what: str, labels: int, ours: Timing, bare: Timing, alone: Timing, readings: list[Reading]
) -> Result:
    times_bare, times_faster = ours.median / bare.median, alone.median / ours.median
    most, least = TIMES_BARE.get(labels), TIMES_FASTER.get(labels)
    targets = [f"≤ {most}× dtrsm"] * bool(most) + [f"≥ {least}× faster"] * bool(least)
    return Result(
        what=what,
        measured=a_round(ours),
        beside=f"{BARE} {a_round(bare)}; one by one {a_round(alone)}",
        ratio=f"{times_bare:.2f}× dtrsm, {times_faster:.2f}× faster than one by one",
        target=", ".join(targets),
        reached=times_bare <= (most or inf) and times_faster >= (least or 0) if targets else None,
        readings=readings,
    )


def _bare(task: Problem) -> Task:
    columns = np.asfortranarray(np.random.default_rng(0).random((task.labels, BLOCK)))

    def run() -> None:
        for _ in range(PASSES):
            dtrsm(1.0, task.factor, columns, lower=1)

    return Task(run, PASSES * BLOCK)


def _in_blocks(task: Problem, learner: Learner) -> None:
    """Blocks of arrivals; the labels of each are told before the next comes."""
    for low in range(0, task.stretch, BLOCK):
        part = slice(low, low + BLOCK)
        decisions = learner.decide_many(task.new[part])
        asked = [(one.id, y) for one, y in zip(decisions, task.new_y[part], strict=True) if one.wants_label]
        learner.tell_many([id for id, _ in asked], [y for _, y in asked])
