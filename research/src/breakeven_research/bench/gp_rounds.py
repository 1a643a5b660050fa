"""Rounds of a Gaussian process with n labels: one by one, in batches, and under `Value`.

One by one they stand beside a bare triangular solve, scikit-learn and GPyTorch; batches beside a bare solve
of 64 columns; a decision of `Value`, which looks at arrivals to come, beside a plain round of the same
process.
"""

from collections.abc import Callable, Iterator
from functools import partial
from math import inf

import numpy as np
from scipy.linalg.blas import dtrsm, dtrsv

from breakeven.learner import Learner
from breakeven.rules import Always, Never, Value
from breakeven.trace import simulate
from breakeven_research.bench.gp_problem import (
    NEAR,
    Problem,
    decide_and_tell,
    gpytorch,
    problem,
    scikit_learn,
)
from breakeven_research.bench.results import Measurement, Reading, Result, Sizes, reading
from breakeven_research.bench.timing import Task, Timing, a_round, exponent, side_by_side

BARE, STREAM = "dtrsv", "one by one"
ALLOWED, OVERHEAD = 1.3, 15e-6
TIMES_FASTER = {1000: 300, 3000: 300}
FEW = 3  # repeats of what takes seconds
GROWTH = 0.1  # by which an exponent may exceed that of the bare solve

PEERS: dict[str, tuple[Callable[[Problem], Task], dict[int, int]]] = {
    "scikit-learn refit": (scikit_learn, TIMES_FASTER),
    "GPyTorch fantasy": (gpytorch, {}),
}


def measurements(sizes: Sizes) -> list[Measurement]:
    """For each number of labels: the bare solve, then each peer."""
    return [
        measurement
        for dim in sizes.dims
        for labels in sizes.labels
        for measurement in _at(labels, dim, sizes)
    ]


def _at(labels: int, dim: int, sizes: Sizes) -> Iterator[Measurement]:
    what = f"GP round, n={labels:,}, d={dim}"
    yield Measurement(what, partial(_beside_bare, what, labels, dim, sizes))
    for name in PEERS:
        yield Measurement(f"GP round, beside {name}", partial(_beside_peer, name, what, labels, dim, sizes))


def _beside_bare(what: str, labels: int, dim: int, sizes: Sizes) -> Iterator[Result]:
    task, chart = problem(labels, dim, sizes.stretch), f"round-d{dim}"
    timings = side_by_side(
        _bare(task), task.one_by_one(), _unlabelled(task), _labelled(task), repeats=sizes.repeats
    )
    bare, stream, unlabelled, labelled = timings
    by_share = dict(zip(("one in ten", "none", "all"), timings[1:], strict=True))
    yield Result(
        what=f"{what}, one in ten labelled",
        measured=f"{a_round(stream)}; unlabelled {a_round(unlabelled)}, labelled {a_round(labelled)}",
        beside=f"dtrsv {a_round(bare)}",
        ratio=f"{max(stream.median - OVERHEAD, 0) / bare.median:.2f}× dtrsv + 15 µs",
        target=f"≤ {ALLOWED}× + 15 µs",
        reached=stream.median <= ALLOWED * bare.median + OVERHEAD,
        readings=[
            reading(chart, BARE, bare, at=labels),
            reading(chart, STREAM, stream, at=labels),
            *[reading(f"{chart}-labelled", *pair, at=labels) for pair in by_share.items()],
        ],
    )


def _beside_peer(name: str, what: str, labels: int, dim: int, sizes: Sizes) -> Iterator[Result]:
    peer, targets = PEERS[name]
    task = problem(labels, dim, sizes.stretch)
    theirs, ours = side_by_side(peer(task), task.one_by_one(), repeats=min(FEW, sizes.repeats))
    ratio, target = theirs.median / ours.median, targets.get(labels)
    yield Result(
        what=f"{what}, one in ten labelled",
        measured=a_round(ours),
        beside=f"{name} {a_round(theirs)}",
        ratio=f"{ratio:,.0f}× faster",
        target=f"≥ {target}×" if target else "",
        reached=ratio >= target if target else None,
        readings=[reading(f"round-d{dim}", name, theirs, at=labels)],
    )


def _bare(task: Problem) -> Task:
    L, vector = task.factor, task.y

    def run() -> None:
        for _ in range(task.stretch):
            dtrsv(L, vector, lower=1)

    return Task(run, task.stretch)


def _unlabelled(task: Problem) -> Task:
    learner = task.learner(Never(), short=False)
    return Task(partial(decide_and_tell, learner, task.new, task.new_y), task.stretch)


def _labelled(task: Problem) -> Task:
    rounds = 2 * NEAR
    return Task(
        lambda learner: decide_and_tell(learner, task.new[:rounds], task.new_y[:rounds]),
        rounds,
        lambda: task.learner(Always(), short=True),
    )


def conclusions(results: list[Result]) -> Iterator[Result]:
    """How fast the cost of a round grows with n, beside that of the bare solve."""
    readings = [one for result in results for one in result.readings]
    for chart in dict.fromkeys(one.chart for one in readings if one.series == STREAM):
        ours, bare = (_exponent(readings, chart, series) for series in (STREAM, BARE))
        yield Result(
            what=f"GP round, growth with n, {chart.removeprefix('round-').replace('d', 'd=')}",
            measured=f"n^{ours:.2f}",
            beside=f"dtrsv n^{bare:.2f}",
            ratio=f"{ours - bare:+.2f} in the exponent",
            target=f"≤ +{GROWTH}",
            reached=ours <= bare + GROWTH,
        )


def _exponent(readings: list[Reading], chart: str, series: str) -> float:
    found = [one for one in readings if (one.chart, one.series) == (chart, series)]
    return exponent([one.at or 1.0 for one in found], [one.median for one in found])


# -- batches -------------------------------------------------------------------------------------------------


BLOCK = 64
BARE_BLOCK = "dtrsm, a column of 64"
TIMES_BARE, BATCH_TIMES_FASTER = {1000: 1.6}, {3000: 3.5}
PASSES = 4  # blocks of columns timed together


def batch_measurements(sizes: Sizes) -> list[Measurement]:
    """Each number of labels that batches are measured at."""
    return [
        Measurement(_batch_words(labels, dim), partial(_batches, labels, dim, sizes))
        for dim in sizes.dims
        for labels in sizes.labels
    ]


def _batch_words(labels: int, dim: int) -> str:
    return f"GP batch, n={labels:,}, d={dim}, one in ten labelled"


def _batches(labels: int, dim: int, sizes: Sizes) -> Iterator[Result]:
    task = problem(labels, dim, sizes.stretch)
    bare, alone, simulated, blocks = side_by_side(
        _bare_block(task),
        task.one_by_one(),
        task.stream(lambda learner: simulate(learner, task.new, task.new_y)),
        task.stream(partial(_in_blocks, task)),
        repeats=sizes.repeats,
    )
    points = {"in blocks": simulated, BARE_BLOCK: bare}
    readings = [reading(f"round-d{dim}", *point, at=labels) for point in points.items()]
    what = _batch_words(labels, dim)
    yield _batch_result(f"{what}, simulate", labels, simulated, bare, alone, readings)
    yield _batch_result(f"{what}, decide_many of {BLOCK}", labels, blocks, bare, alone, [])


def _batch_result(
    what: str, labels: int, ours: Timing, bare: Timing, alone: Timing, readings: list[Reading]
) -> Result:
    times_bare, times_faster = ours.median / bare.median, alone.median / ours.median
    most, least = TIMES_BARE.get(labels), BATCH_TIMES_FASTER.get(labels)
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


def _bare_block(task: Problem) -> Task:
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


# -- Value ---------------------------------------------------------------------------------------------------


DEAR = 1e9  # a price that no label is worth, so that none changes the process
MOST = {1000: 3.0}


def value_measurements(sizes: Sizes) -> list[Measurement]:
    """Each number of labels."""
    return [
        Measurement(_value_words(labels, dim), partial(_beside_plain, labels, dim, sizes))
        for dim in sizes.dims
        for labels in sizes.labels
    ]


def _value_words(labels: int, dim: int) -> str:
    return f"Value, n={labels:,}, d={dim}, reservoir 256"


def _beside_plain(labels: int, dim: int, sizes: Sizes) -> Iterator[Result]:
    task = problem(labels, dim, sizes.stretch)
    ours, plain = side_by_side(_value(task), _plain(task), repeats=sizes.repeats)
    ratio, most = ours.median / plain.median, MOST.get(labels)
    yield Result(
        what=_value_words(labels, dim),
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
