"""Algorithm 1 on long streams of types: beside a plain compiled loop and river, and what memory it takes."""

from collections.abc import Callable, Iterator
from functools import partial

from breakeven.bench import river_sampler
from breakeven.bench.fresh import afresh
from breakeven.bench.measurement import Measurement
from breakeven.bench.memory import check_memory, forget_peak, peak, resident
from breakeven.bench.peers import peer
from breakeven.bench.results import Result, reading
from breakeven.bench.sizes import Sizes
from breakeven.bench.timing import Task, side_by_side
from breakeven.bench.type_stream import PRICE, learner, type_stream
from breakeven.bench.wording import a_second, megabytes
from breakeven.simulate import simulate

NOTHING_IS_SURE = 1e-9  # a price at which everything is labelled
A_ROUND_OUT = 25  # bytes: three numbers and a truth value
WARM = 100_000
OURS = "Algorithm 1, simulate"
LIMIT = 60e6


def measurements(sizes: Sizes) -> list[Measurement]:
    """Few labels, all labels, river, memory, and batches to decide on."""
    named: dict[str, Callable[[Sizes], Iterator[Result]]] = {
        f"{OURS} {sizes.long_rounds:,} rounds": partial(_beside_compiled, "", PRICE, 3.0),
        f"{OURS}, everything labelled": partial(_beside_compiled, ", all labelled", NOTHING_IS_SURE, 1.0),
        f"{OURS}, beside river": partial(_beside_river, "logistic regression", river_sampler.with_model),
        f"{OURS}, beside river alone": partial(_beside_river, "given probabilities", river_sampler.alone),
        f"{OURS}, memory": _memory,
        f"Algorithm 1, decide_many of {sizes.batch:,}": _decide_many,
    }
    return [Measurement(what, partial(measure, sizes)) for what, measure in named.items()]


def _ours(rounds: int, price: float = PRICE) -> Task:
    peer("numba")  # without it, so long a stream would take minutes
    stream = type_stream(rounds)
    return Task(lambda: simulate(learner(price), stream.xs, stream.ys), rounds)


def _beside_compiled(how: str, price: float, least: float, sizes: Sizes) -> Iterator[Result]:
    ours_task = _ours(sizes.long_rounds, price)
    from breakeven.bench.compiled_loop import plain_compiled

    stream = type_stream(sizes.long_rounds)
    plain_task = Task(partial(plain_compiled, *stream, price), sizes.long_rounds)
    ours, plain = side_by_side(ours_task, plain_task, repeats=sizes.repeats)
    ratio = plain.median / ours.median
    yield Result(
        what=f"{OURS} {sizes.long_rounds:,} rounds{how}",
        measured=a_second(ours),
        beside=f"plain compiled loop {a_second(plain)}",
        ratio=f"{ratio:.2f}× its rate",
        target=f"≥ {least:g}×",
        reached=ratio >= least,
        readings=[
            reading("rates", f"{OURS}{how}", ours),
            reading("rates", f"plain compiled loop{how}", plain),
        ],
    )


def _beside_river(name: str, task: Callable[[int], Task], sizes: Sizes) -> Iterator[Result]:
    ours, theirs = side_by_side(_ours(sizes.long_rounds), task(sizes.peer_rounds), repeats=sizes.repeats)
    ratio = theirs.median / ours.median
    yield Result(
        what=f"{OURS} {sizes.long_rounds:,} rounds",
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
