"""Long streams under the paper's rule, exact and with a dictionary: what an arrival costs, time and memory.

Each stream runs once, in a process of its own, in pieces that are timed one after the other.
"""

from collections.abc import Iterator
from functools import partial
from time import thread_time
from typing import Literal

import numpy as np
from msgspec import Struct

from breakeven.beliefs import GaussianProcess, SquaredExponential
from breakeven.learner import Learner
from breakeven.rules import Threshold
from breakeven.trace import simulate
from breakeven_research.bench.footprint import afresh, check_memory, resident
from breakeven_research.bench.results import Measurement, Reading, Result, Sizes, reading
from breakeven_research.bench.timing import Timing, a_round, exponent, megabytes, timing

DIM, NOISE, LENGTHSCALE, PRICE = 2, 0.1, 0.2, 1.0
FLAT = 0.98  # of the final rank
SERIES = {"exact": "exact", "auto": "dictionary"}
STEPS = (1, 2, 5)

Capacity = Literal["exact", "auto"]


class Flow(Struct, frozen=True):
    """A stream in pieces: after how many arrivals each ended, its seconds, then labels, rank and bytes.

    Ranks are 0 while the process is exact.
    """

    ends: list[int]
    seconds: list[float]
    labels: list[int]
    ranks: list[int]
    sizes: list[int]

    def between(self, low: float, high: float) -> Timing:
        """Seconds an arrival in the pieces from one arrival to another."""
        return timing([cost for end, cost in zip(self.ends, self.costs, strict=True) if low < end <= high])

    @property
    def costs(self) -> list[float]:
        """Seconds an arrival, piece by piece."""
        lengths = np.diff([0, *self.ends])
        return [float(cost) for cost in np.array(self.seconds) / lengths]


def measurements(sizes: Sizes) -> list[Measurement]:
    """The long stream first, then as much as the exact process can bear."""
    return [
        Measurement("Long stream, dictionary", partial(_dictionary, sizes.arrivals)),
        Measurement("Long stream, exact", partial(_exact, sizes.exact_arrivals)),
    ]


def flow(capacity: Capacity, arrivals: int) -> Flow:
    """Run a stream; memory is what came on top of what was there before the first arrival."""
    random = np.random.default_rng(0)
    X = random.random((arrivals, DIM))
    y = np.sin(6.0 * X[:, 0]) * np.cos(4.0 * X[:, 1]) + NOISE * random.standard_normal(arrivals)
    belief = GaussianProcess(DIM, NOISE, SquaredExponential(LENGTHSCALE), capacity=capacity)
    learner = Learner(belief, Threshold(), label_cost=PRICE)
    found = Flow([], [], [], [], [])
    before, low = resident(), 0
    for end in _ends(arrivals):
        start = thread_time()
        simulate(learner, X[low:end], y[low:end])
        found.seconds.append(thread_time() - start)
        found.ends.append(end)
        found.labels.append(learner.belief.labels)
        found.ranks.append(learner.belief.describe().get("dictionary", 0))
        found.sizes.append(resident() - before)
        low = end
    return found


def _ends(arrivals: int) -> list[int]:
    """Hundredths of the stream, the first of them in ten pieces."""
    return [*range(arrivals // 1000, arrivals // 100, arrivals // 1000)] + [
        arrivals * part // 100 for part in range(1, 101)
    ]


def _dictionary(arrivals: int) -> Iterator[Result]:
    found = _flow("auto", arrivals)
    early, late = found.between(arrivals / 10, arrivals / 5), found.between(0.9 * arrivals, arrivals)
    ratio, whole = late.median / early.median, sum(found.seconds)
    what = f"Long stream, d={DIM}, {arrivals:,} arrivals, {found.labels[-1]:,} labels, rank {found.ranks[-1]}"
    yield Result(
        what=f"{what}: the last tenth",
        measured=f"{a_round(late)} an arrival",
        beside=f"the second tenth {a_round(early)}",
        ratio=f"{ratio:.2f}×",
        target="≤ 1.3×",
        reached=ratio <= 1.3,
        readings=list(_readings("auto", found)),
    )
    yield Result(
        what=f"{what}: the whole",
        measured=f"{whole:.1f} s, {megabytes(found.sizes[-1])}",
        beside=f"after a tenth of it {megabytes(_size_after(found, arrivals // 10))}",
        target="< 40 s",
        reached=whole < 40,
    )
    flat = [end for end, rank in zip(found.ends, found.ranks, strict=True) if rank >= FLAT * found.ranks[-1]]
    yield Result(
        what=f"{what}: growth once the rank is flat, after {flat[0]:,}",
        measured=f"t^{_growth(found, flat[0]):.2f}",
        target="≤ 0.1",
        reached=_growth(found, flat[0]) <= 0.1,
    )


def _exact(arrivals: int) -> Iterator[Result]:
    found = _flow("exact", arrivals)
    what = f"Long stream, d={DIM}, {arrivals:,} arrivals, {found.labels[-1]:,} labels, exact"
    yield Result(
        what=f"{what}: the last tenth",
        measured=f"{a_round(found.between(0.9 * arrivals, arrivals))} an arrival",
        beside=f"the second tenth {a_round(found.between(arrivals / 10, arrivals / 5))}",
        ratio=f"t^{_growth(found, arrivals // 10):.2f}; {megabytes(found.sizes[-1])}",
        readings=list(_readings("exact", found)),
    )


def _flow(capacity: Capacity, arrivals: int) -> Flow:
    check_memory()
    return afresh(flow, capacity, arrivals, returns=Flow)


def _growth(found: Flow, start: int) -> float:
    pieces = zip(found.ends, found.costs, strict=True)
    x, y = zip(*[(end, cost) for end, cost in pieces if end >= start], strict=True)
    return exponent(x, y)


def _size_after(found: Flow, arrivals: int) -> int:
    return next(size for end, size in zip(found.ends, found.sizes, strict=True) if end >= arrivals)


def _readings(capacity: Capacity, found: Flow) -> Iterator[Reading]:
    """The stream at 5, 10, 20, 50, … thousandths: what an arrival costs since the mark before, and memory."""
    low = 0.0
    marks = [found.ends[0] * step * 10**power for power in range(4) for step in STEPS]
    for mark in (mark for mark in marks if 5 * found.ends[0] <= mark <= found.ends[-1]):
        yield reading("stream", SERIES[capacity], found.between(low, mark), at=mark)
        size = float(_size_after(found, mark))
        yield reading("memory", SERIES[capacity], Timing(size, size, size), at=mark)
        low = mark
