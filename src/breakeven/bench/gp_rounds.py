"""A round of a Gaussian process with n labels: beside a bare triangular solve, scikit-learn and GPyTorch."""

from collections.abc import Callable, Iterator
from functools import partial

from scipy.linalg.blas import dtrsv

from breakeven.bench import gp_peers
from breakeven.bench.gp_problem import NEAR, Problem, decide_and_tell, problem
from breakeven.bench.growth import exponent
from breakeven.bench.measurement import Measurement
from breakeven.bench.results import Reading, Result, reading
from breakeven.bench.sizes import Sizes
from breakeven.bench.timing import Task, side_by_side
from breakeven.bench.wording import a_round
from breakeven.rules import Always, Never

BARE, STREAM = "dtrsv", "one by one"
ALLOWED, OVERHEAD = 1.3, 15e-6
TIMES_FASTER = {1000: 300, 3000: 300}
FEW = 3  # repeats of what takes seconds
GROWTH = 0.1  # by which an exponent may exceed that of the bare solve

PEERS: dict[str, tuple[Callable[[Problem], Task], dict[int, int]]] = {
    "scikit-learn refit": (gp_peers.scikit_learn, TIMES_FASTER),
    "GPyTorch fantasy": (gp_peers.gpytorch, {}),
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
