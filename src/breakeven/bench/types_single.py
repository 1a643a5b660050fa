"""Algorithm 1 one arrival at a time: beside plain Python, and beside what other libraries ask with."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from breakeven.bench import river_sampler, scikit_activeml
from breakeven.bench.measurement import Measurement
from breakeven.bench.results import Result, reading
from breakeven.bench.sizes import Sizes
from breakeven.bench.timing import Task, side_by_side
from breakeven.bench.type_stream import one_by_one, plain_python, type_stream
from breakeven.bench.wording import a_second

OURS = "Algorithm 1, decide and tell"


class Sampler(NamedTuple):
    """What another library asks with: its short name, that of its parts, and the task of so many rounds."""

    name: str
    parts: str
    task: Callable[[int], Task]


SAMPLERS = (
    Sampler("river, no model", "EntropySampler, given probabilities", river_sampler.alone),
    Sampler("river, with model", "EntropySampler, logistic regression", river_sampler.with_model),
    Sampler("scikit-activeml, no model", "budget manager of VariableUncertainty", scikit_activeml.alone),
    Sampler("scikit-activeml, with model", "VariableUncertainty, naive Bayes", scikit_activeml.with_model),
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
