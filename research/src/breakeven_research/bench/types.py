"""Algorithm 1, one arrival at a time and on long streams.

One by one it stands beside plain Python and beside what other libraries ask with; long streams beside a plain
compiled loop and river, with the memory that they take.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from breakeven.learner import Learner
from breakeven.trace import simulate
from breakeven_research.bench.footprint import afresh, check_memory, forget_peak, peak, resident
from breakeven_research.bench.results import Measurement, Result, Sizes, peer, reading
from breakeven_research.bench.timing import Task, a_second, megabytes, side_by_side
from breakeven_research.bench.type_stream import (
    PRICE,
    TYPES,
    activeml_alone,
    activeml_with_model,
    learner,
    one_by_one,
    plain_python,
    river_alone,
    river_with_model,
    type_stream,
)

OURS = "Algorithm 1, decide and tell"


class Sampler(NamedTuple):
    """What another library asks with: its short name, that of its parts, and the task of so many rounds."""

    name: str
    parts: str
    task: Callable[[int], Task]


SAMPLERS = (
    Sampler("river, no model", "EntropySampler, given probabilities", river_alone),
    Sampler("river, with model", "EntropySampler, logistic regression", river_with_model),
    Sampler("scikit-activeml, no model", "budget manager of VariableUncertainty", activeml_alone),
    Sampler("scikit-activeml, with model", "VariableUncertainty, naive Bayes", activeml_with_model),
)


def measurements(sizes: Sizes) -> list[Measurement]:
    """Plain Python first, then each sampler."""
    return [
        Measurement(OURS, partial(_beside_plain_python, sizes)),
        *[
            Measurement(f"{OURS}, beside {sampler.name}", partial(_beside, sampler, sizes))
            for sampler in SAMPLERS
        ],
    ]


def _task(run: Callable[[list[int], list[float]], None], rounds: int) -> Task:
    stream = type_stream(rounds)
    return Task(partial(run, stream.xs.tolist(), stream.ys.tolist()), rounds)


def _beside_plain_python(sizes: Sizes) -> Iterator[Result]:
    tasks = _task(one_by_one, sizes.rounds), _task(plain_python, sizes.rounds)
    ours, plain = side_by_side(*tasks, repeats=sizes.repeats)
    rate, share = 1 / ours.median, plain.median / ours.median
    yield Result(
        what=OURS,
        measured=a_second(ours),
        beside=f"plain Python {a_second(plain)}",
        ratio=f"{share:.2f}× its rate",
        target="≥ 300,000 a second, ≥ 0.25×",
        reached=rate >= 300_000 and share >= 0.25,
        readings=[reading("rates", OURS, ours), reading("rates", "plain Python", plain)],
    )


def _beside(sampler: Sampler, sizes: Sizes) -> Iterator[Result]:
    tasks = sampler.task(sizes.peer_rounds), _task(one_by_one, sizes.rounds)
    theirs, ours = side_by_side(*tasks, repeats=sizes.repeats)
    yield Result(
        what=OURS,
        measured=a_second(ours),
        beside=f"{sampler.name} ({sampler.parts}) {a_second(theirs)}",
        ratio=f"{theirs.median / ours.median:,.3g}× its rate",
        readings=[reading("rates", sampler.name, theirs)],
    )


# -- long streams --------------------------------------------------------------------------------------------


NOTHING_IS_SURE = 1e-9  # a price at which everything is labelled
A_ROUND_OUT = 25  # bytes: three numbers and a truth value
WARM = 100_000
OURS_IN_BULK = "Algorithm 1, simulate"
LIMIT = 60e6
BATCHES = 1_000, 10_000  # rows, with ids
LEAST_BESIDE_ONE = 5.0
LEAST_OF_MANY_TYPES = 3e6


def bulk_measurements(sizes: Sizes) -> list[Measurement]:
    """Few labels, all labels, river, memory, and batches to decide on."""
    named: dict[str, Callable[[Sizes], Iterator[Result]]] = {
        f"{OURS_IN_BULK} {sizes.long_rounds:,} rounds": partial(_beside_compiled, "", PRICE, 3.0),
        f"{OURS_IN_BULK}, everything labelled": partial(
            _beside_compiled, ", all labelled", NOTHING_IS_SURE, 1.0
        ),
        f"{OURS_IN_BULK}, beside river": partial(_beside_river, "logistic regression", river_with_model),
        f"{OURS_IN_BULK}, beside river alone": partial(_beside_river, "given probabilities", river_alone),
        f"{OURS_IN_BULK}, memory": _memory,
        f"Algorithm 1, decide_many of {sizes.batch:,}": _decide_many,
        **{f"Algorithm 1, decide_many of {rows:,} with ids": partial(_with_ids, rows) for rows in BATCHES},
        f"Algorithm 1, {sizes.batch:,} types": _many_types,
    }
    return [Measurement(what, partial(measure, sizes)) for what, measure in named.items()]


def _ours(rounds: int, price: float = PRICE) -> Task:
    peer("numba")  # without it, so long a stream would take minutes
    stream = type_stream(rounds)
    return Task(lambda: simulate(learner(price), stream.xs, stream.ys), rounds)


def _beside_compiled(how: str, price: float, least: float, sizes: Sizes) -> Iterator[Result]:
    ours_task = _ours(sizes.long_rounds, price)
    from breakeven_research.bench.compiled_loop import plain_compiled

    stream = type_stream(sizes.long_rounds)
    plain_task = Task(partial(plain_compiled, *stream, price), sizes.long_rounds)
    ours, plain = side_by_side(ours_task, plain_task, repeats=sizes.repeats)
    ratio = plain.median / ours.median
    yield Result(
        what=f"{OURS_IN_BULK} {sizes.long_rounds:,} rounds{how}",
        measured=a_second(ours),
        beside=f"plain compiled loop {a_second(plain)}",
        ratio=f"{ratio:.2f}× its rate",
        target=f"≥ {least:g}×",
        reached=ratio >= least,
        readings=[
            reading("rates", f"{OURS_IN_BULK}{how}", ours),
            reading("rates", f"plain compiled loop{how}", plain),
        ],
    )


def _beside_river(name: str, task: Callable[[int], Task], sizes: Sizes) -> Iterator[Result]:
    ours, theirs = side_by_side(_ours(sizes.long_rounds), task(sizes.peer_rounds), repeats=sizes.repeats)
    ratio = theirs.median / ours.median
    yield Result(
        what=f"{OURS_IN_BULK} {sizes.long_rounds:,} rounds",
        measured=a_second(ours),
        beside=f"river's EntropySampler, {name} {a_second(theirs)}",
        ratio=f"{ratio:,.0f}× its rate",
        target="≥ 400×",
        reached=ratio >= 400,
    )


def _memory(sizes: Sizes) -> Iterator[Result]:
    check_memory()
    peer("numba")
    beyond = afresh(bytes_beyond, sizes.long_rounds, returns=float)
    out = A_ROUND_OUT * sizes.long_rounds
    yield Result(
        what=f"Memory of {sizes.long_rounds:,} simulated rounds",
        measured=f"{megabytes(beyond)} beyond input and output",
        beside=f"the output {megabytes(out)}",
        ratio=f"{beyond / out:.2f}× of it",
        target=f"< {megabytes(LIMIT)}",
        reached=beyond < LIMIT,
    )


def bytes_beyond(rounds: int) -> float:
    """The most memory that a simulated stream takes beyond its input and its output, loops being loaded."""
    warm = type_stream(WARM)
    simulate(learner(), *warm)
    ours, stream = learner(), type_stream(rounds)
    before = resident()
    forget_peak()
    simulate(ours, *stream)
    return max(0.0, peak() - before - A_ROUND_OUT * rounds)  # below 0 where freed memory was used again


def _decide_many(sizes: Sizes) -> Iterator[Result]:
    xs = type_stream(sizes.batch).xs
    few = xs[: sizes.rounds].tolist()

    def alone() -> None:
        ours = learner()
        for x in few:
            ours.decide(x)

    batch, single = side_by_side(
        Task(lambda: learner().decide_many(xs), len(xs)), Task(alone, len(few)), repeats=sizes.repeats
    )
    yield Result(
        what=f"Algorithm 1, decide_many of {sizes.batch:,}",
        measured=a_second(batch),
        beside=f"decide {a_second(single)}",
        ratio=f"{single.median / batch.median:.2f}× its rate",
        readings=[reading("rates", "Algorithm 1, decide_many", batch)],
    )


def _with_ids(rows: int, sizes: Sizes) -> Iterator[Result]:
    """A stream that goes on, its book full; labels come between the batches, untimed."""
    peer("numba")
    stream, taken = type_stream(sizes.batch), count()
    batched, single = learner(), learner()
    for ours in (batched, single):
        simulate(ours, *(column[: sizes.batch // 2] for column in stream))

    several = max(BATCHES) // rows  # batches in a row

    def prepared(ours: Learner) -> tuple[Learner, list[tuple[Any, list[str]]]]:
        for id, one in list(ours.awaited.items()):
            ours.tell(id, float(one.x) / TYPES)
        places = [[next(taken) for _ in range(rows)] for _ in range(several)]
        return ours, [
            (stream.xs[np.array(part) % sizes.batch], [f"case {place}" for place in part]) for part in places
        ]

    def together(given: tuple[Learner, list[tuple[Any, list[str]]]]) -> None:
        ours, batches = given
        for xs, ids in batches:
            ours.decide_many(xs, ids=ids)

    def alone(given: tuple[Learner, list[tuple[Any, list[str]]]]) -> None:
        ours, batches = given
        for xs, ids in batches:
            for x, id in zip(xs.tolist(), ids, strict=True):
                ours.decide(x, id=id)

    tasks = (
        Task(together, rows * several, partial(prepared, batched)),
        Task(alone, rows * several, partial(prepared, single)),
    )
    side_by_side(*tasks, repeats=-(-single.keep // (rows * several)))  # until the book forgot what was before
    batch, one = side_by_side(*tasks, repeats=sizes.repeats)
    ratio = one.median / batch.median
    yield Result(
        what=f"Algorithm 1, decide_many of {rows:,} with ids",
        measured=a_second(batch),
        beside=f"decide {a_second(one)}",
        ratio=f"{ratio:.2f}× its rate",
        target=f"≥ {LEAST_BESIDE_ONE:g}×",
        reached=ratio >= LEAST_BESIDE_ONE,
        readings=[reading("rates", f"Algorithm 1, decide_many of {rows:,} with ids", batch)],
    )


def _many_types(sizes: Sizes) -> Iterator[Result]:
    """As many types as a batch has rows: the first batch, in which all are new, and one of those that follow.

    Labels are told behind every batch; making their ids is not timed.
    """
    peer("numba")
    random = np.random.default_rng(0)
    batches = [random.integers(sizes.batch, size=sizes.batch) for _ in range(5)]

    def asked(ours: Learner, xs: Any) -> tuple[Learner, list[str], list[float]]:
        places = np.flatnonzero(ours.decide_many(xs).columns.wants_label) + ours.rounds - len(xs) + 1
        return ours, list(map(str, places.tolist())), [0.5] * len(places)

    def tell(given: tuple[Learner, list[str], list[float]]) -> None:
        ours, ids, ys = given
        ours.tell_many(ids, ys)

    def begun(passed: int) -> Learner:
        ours = learner()
        for xs in batches[:passed]:
            tell(asked(ours, xs))
        return ours

    def awaiting(passed: int) -> tuple[Learner, list[str], list[float]]:
        return asked(begun(passed), batches[passed])

    def decide(ours: Learner) -> None:
        ours.decide_many(batches[ours.rounds // sizes.batch])

    for name, passed in (("the first batch", 0), ("the fifth batch", 4)):
        tasks = (
            Task(decide, sizes.batch, partial(begun, passed)),
            Task(tell, sizes.batch, partial(awaiting, passed)),
        )
        deciding, telling = side_by_side(*tasks, repeats=sizes.repeats)
        rate = 1 / (deciding.median + telling.median)
        yield Result(
            what=f"Algorithm 1, {sizes.batch:,} types, {name}",
            measured=f"decided {a_second(deciding)}",
            beside=f"told as well {rate / 1e6:.3g} M a second",
            target=f"≥ {LEAST_OF_MANY_TYPES:,.0f} a second, labels told",
            reached=rate >= LEAST_OF_MANY_TYPES,
            readings=[reading("rates", f"Algorithm 1, very many types, {name}", deciding)],
        )
