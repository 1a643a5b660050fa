"""What labels and errors are to be expected, by simulation, and what the paper proves.

Errors are those of the bill of a table: against labels, and a label that is bought counts as right. The
paper's are against f itself, at every arrival; so its rule has a second row, to set beside its bounds.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec
import numpy as np

from breakeven.beliefs import Averaged, Belief, GaussianProcess, TypeMeans, TypeShares
from breakeven.learner import Learner
from breakeven.planning.prospect import Prospect, Proven, proven, stream_of
from breakeven.planning.streams import Stream
from breakeven.rules import Rule, Threshold, Value, checked
from breakeven.simulate import Trace, simulate
from breakeven.values import EVEN, BillRow, Sweep, counted
from breakeven.values.bill import EVERYONE, NO_ONE, factors, mean_row, sweep_of

RunsDone = Callable[[int, int], None]  # runs done, runs in all

OUR_RULE, PAPERS_RULE = "breakeven", "the paper's threshold"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The bills of all ways to label such streams, of our rule at other costs, and what the paper proves.

    `against_f` is the paper's rule again, with errors as its theorems count them.
    """

    prospect: Prospect
    rows: list[BillRow]
    sweep: Sweep
    against_f: BillRow
    proven: Proven


class _Trial(NamedTuple):
    """The bills of one stream; those of our rule by the cost of a label."""

    rows: list[BillRow]
    bills: dict[float, BillRow]
    against_f: BillRow


def plan(prospect: Prospect, progress: RunsDone | None = None) -> Plan:
    """Simulate what is expected."""
    costs = [factor * prospect.cost for factor in factors(prospect.cost)]
    whole = prospect.trials * (len(costs) + 1)
    done = iter(range(1, whole + 1))

    def run(learner: Learner, stream: Stream) -> Trace:
        trace = simulate(learner, stream.points, stream.labels, stream.truth)
        if progress is not None:
            progress(next(done), whole)
        return trace

    trials = [_trial(prospect, costs, stream_of(prospect, trial), run) for trial in range(prospect.trials)]
    ways = zip(*(trial.rows for trial in trials), strict=True)
    sweep = sweep_of({cost: mean_row(OUR_RULE, [trial.bills[cost] for trial in trials]) for cost in costs})
    assert sweep is not None  # one cost can always be doubled, or halved
    return Plan(
        prospect=prospect,
        rows=[mean_row(rows[0].name, rows) for rows in ways],
        sweep=sweep,
        against_f=mean_row(PAPERS_RULE, [trial.against_f for trial in trials]),
        proven=proven(prospect),
    )


# -- one stream ----------------------------------------------------------------------------------------------


def _trial(
    prospect: Prospect, costs: list[float], stream: Stream, run: Callable[[Learner, Stream], Trace]
) -> _Trial:
    bills = {}
    for cost in costs:
        dearer = msgspec.structs.replace(prospect, cost=cost)
        bills[cost] = _scored(OUR_RULE, dearer, stream, run(_value(dearer), stream))
    papers = run(_threshold(prospect), stream)
    rows = [
        _row(EVERYONE, prospect, prospect.rounds, 0.0),
        _row(NO_ONE, prospect, 0, _without_labels(prospect, stream)),
        bills[prospect.cost],
        _scored(PAPERS_RULE, prospect, stream, papers),
    ]
    return _Trial(
        rows, bills, _row(PAPERS_RULE, prospect, int(papers.wants_label.sum()), float(papers.error.sum()))
    )


def _scored(name: str, prospect: Prospect, stream: Stream, trace: Trace) -> BillRow:
    """Errors against the labels that were not bought."""
    answers = trace.prediction
    if prospect.share is not None:
        answers = np.where(answers > 1.0 - prospect.errors.level, 1.0, 0.0)
    missed = counted(stream.labels - answers, prospect.errors.level)[~trace.wants_label]
    return _row(name, prospect, int(trace.wants_label.sum()), float(missed.sum()))


def _without_labels(prospect: Prospect, stream: Stream) -> float:
    """The errors of the best single answer, known only afterwards."""
    level, labels = prospect.errors.level, stream.labels
    best = np.median(labels) if level == EVEN else np.quantile(labels, level, method="inverted_cdf")
    return float(counted(labels - best, level).sum())


def _row(name: str, prospect: Prospect, labels: int, error: float) -> BillRow:
    total = prospect.cost * labels + prospect.errors.unit * error
    return BillRow(
        name=name,
        labels=labels,
        spend=prospect.cost * labels,
        mean_error=error / prospect.rounds,
        total=total,
        saved=prospect.cost * prospect.rounds - total,
    )


# -- learners ------------------------------------------------------------------------------------------------


def _value(prospect: Prospect) -> Learner:
    """What `breakeven simulate` runs by default, with the noise known."""
    belief: Belief
    if prospect.share is not None:
        belief = TypeShares(prior_strength="learn", level=prospect.errors.level)
    elif prospect.dim is None:
        belief = TypeMeans(prospect.noise_std, prior_std="learn", level=prospect.errors.level)
    else:
        belief = Averaged(prospect.dim, prospect.noise_std, prospect.errors.level)
    rule = Value(horizon=prospect.rounds, scored="labels")
    return _learner(belief, checked(rule, None, averaged=prospect.dim is not None), prospect)


def _threshold(prospect: Prospect) -> Learner:
    """The paper's algorithms as its theorems have them: the kernel is known, and means are answered."""
    belief: Belief
    if prospect.dim is None:
        belief = TypeMeans(prospect.noise_std, prospect.delta)
    else:
        belief = GaussianProcess(prospect.dim, prospect.noise_std, prospect.function_kernel)
    return _learner(belief, Threshold(), prospect)


def _learner(belief: Belief, rule: Rule, prospect: Prospect) -> Learner:
    return Learner(belief, rule, label_cost=prospect.cost, error_cost=prospect.errors.unit)
