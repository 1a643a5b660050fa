"""The default belief for rows beside one fitted process: a decision, a label told, memory and snapshots.

Both look at the same n labels of a smooth function of eight inputs, and both follow `Value`; the default
belief also checks itself, as it does by default. Members and kernels are fitted to the labels before
anything is timed; a label told may bring a fit, as it does in a stream.
"""

from collections.abc import Iterator
from functools import partial
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs import Averaged, Belief, GaussianProcess, SquaredExponential
from breakeven.learner import Learner
from breakeven.rules import Check, Rule, Value
from breakeven_research.bench.footprint import A_PAIR, afresh, check_memory, peak
from breakeven_research.bench.results import Measurement, Result, Sizes
from breakeven_research.bench.timing import Task, a_round, megabytes, side_by_side, timing

DIM = 8
AFFORDABLE = {30: 4.0, 100: 4.0, 300: 4.0, 1000: 2.0}  # decisions of one process that one of an average costs
HELD_AT = 3000  # labels at which memory has a target
MEMORY_TIMES = 10.0  # of half a square of numbers
TOO_DEAR = 1e9  # a price that no label is worth, so that none changes the belief

Array = NDArray[np.float64]


def measurements(sizes: Sizes) -> list[Measurement]:
    """Decisions at each number of labels, then labels told and what is kept of them."""
    few = (30, 100, 300, 1000) if sizes.full else (10, 20)
    many = (30, 100, 300, 1000, HELD_AT) if sizes.full else (20,)
    return [
        *[Measurement(_words(n), partial(_decisions, n, sizes)) for n in few],
        *[Measurement(f"{n:,} labels of an average", partial(_labels, n)) for n in many],
    ]


def _words(labels: int) -> str:
    return f"A decision of an average, n={labels:,}, d={DIM}"


def _decisions(labels: int, sizes: Sizes) -> Iterator[Result]:
    average = _deciding(Averaged(DIM), Check(_value()), labels)
    process = _deciding(_process(), _value(), labels)
    new = _stream(32)[0]
    tasks = [Task(partial(_decide_all, one, new), len(new)) for one in (average, process)]
    ours, plain = side_by_side(*tasks, repeats=sizes.repeats)
    ratio, most = ours.median / plain.median, AFFORDABLE.get(labels)
    yield Result(
        what=_words(labels),
        measured=a_round(ours),
        beside=f"one process {a_round(plain)}",
        ratio=f"{ratio:.2f}× of it",
        target=f"≤ {most:g}×" if most else "",
        reached=ratio <= most if most else None,
    )


def _process() -> Belief:
    """A process of the same inputs, whose kernel is given: fits are not what is timed."""
    return GaussianProcess(DIM, 0.3, SquaredExponential((1.5,) * DIM))


def _stream(count: int, seed: int = 1) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, DIM))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * random.normal(size=count)


def _value() -> Value:
    return Value(horizon=10**9, scored="labels")


def _deciding(belief: Belief, rule: Rule, labels: int) -> Learner:
    """A learner that has these labels and a full sample of past arrivals, and buys nothing more."""
    learner = Learner(belief, rule, label_cost=TOO_DEAR)
    _learn_all(learner, labels)
    _decide_all(learner, _stream(600, seed=2)[0])
    return learner


def _learn_all(learner: Learner, labels: int) -> list[float]:
    """CPU seconds of each label that was learnt."""
    seconds = []
    for x, y in zip(*_stream(labels, seed=3), strict=True):
        start = thread_time()
        learner.learn(x, float(y))
        seconds.append(thread_time() - start)
    return seconds


def _decide_all(learner: Learner, points: Array) -> None:
    for x in points:
        learner.decide(x)


def _labels(labels: int) -> Iterator[Result]:
    """Labels told one by one: the CPU of the last hundred, the most memory, and the size of a snapshot."""
    check_memory()
    *seconds, memory, snapshot, restored = afresh(labels_of_an_average, labels, returns=list[float])
    needed = A_PAIR * labels**2
    yield Result(
        what=f"{labels:,} labels of an average, d={DIM}: one more told",
        measured=a_round(timing(seconds)),
        beside=f"{np.mean(seconds) * 1e3:.1f} ms in the mean, with fits",
    )
    yield Result(
        what=f"{labels:,} labels of an average, d={DIM}: memory at most",
        measured=megabytes(memory),
        beside=f"half a square of numbers {megabytes(needed)}",
        ratio=f"{memory / needed:.2f}×",
        target=f"≤ {MEMORY_TIMES:g}×" if labels == HELD_AT else "",
        reached=memory <= MEMORY_TIMES * needed if labels == HELD_AT else None,
    )
    yield Result(
        what=f"{labels:,} labels of an average, d={DIM}: a snapshot",
        measured=megabytes(snapshot),
        beside=f"restored in {restored * 1e3:.1f} ms",
    )


def labels_of_an_average(labels: int) -> list[float]:
    """CPU seconds of the last hundred labels, the most memory, the size of a snapshot, and its restore."""
    learner = Learner(Averaged(DIM), Check(_value()), label_cost=TOO_DEAR)
    learner.learn(*_first())
    before = peak()
    seconds = _learn_all(learner, labels)
    memory, snapshot = float(peak() - before), learner.snapshot()
    return [*seconds[-100:], memory, float(len(snapshot)), min(_restored(snapshot) for _ in range(5))]


def _restored(snapshot: bytes) -> float:
    """CPU seconds of a restore."""
    start = thread_time()
    Learner.restore(snapshot)
    return thread_time() - start


def _first() -> tuple[Array, float]:
    X, y = _stream(1, seed=4)
    return X[0], float(y[0])
