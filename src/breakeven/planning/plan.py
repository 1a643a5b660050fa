"""What labels and errors are to be expected, by simulation, and what the paper proves.

Errors are those of the bill of a table: against labels, and a label that is bought counts as right. The
paper's are against f itself, at every arrival; so its rule has a second row, to set beside its bounds.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec
import numpy as np

from breakeven.beliefs import GaussianProcess, TypeMeans, untuned
from breakeven.learner import Learner
from breakeven.planning.guarantees import Proven, proven
from breakeven.planning.setting import Setting
from breakeven.planning.streams import Stream, stream_of
from breakeven.rules import Threshold, Value
from breakeven.simulate import Trace, simulate
from breakeven.values import BillRow, Sweep
from breakeven.values.bill import EVERYONE, NO_ONE, factors, mean_row, sweep_of

Counts = Callable[[int, int], None]  # runs done, runs in all

OURS, PAPERS = "breakeven", "the paper's threshold"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All ways to go about such streams, the first rule at other prices, and what is proven of the paper's.

    `against_f` is the paper's rule again, with errors as its theorems count them.
    """

    setting: Setting
    rows: list[BillRow]
    sweep: Sweep
    against_f: BillRow
    proven: Proven


class _Trial(NamedTuple):
    """What one stream costs; the first rule by its price."""

    rows: list[BillRow]
    bills: dict[float, BillRow]
    against_f: BillRow


def plan(setting: Setting, progress: Counts | None = None) -> Plan:
    """Simulate what is expected."""
    prices = [factor * setting.cost for factor in factors(setting.cost)]
    whole = setting.trials * (len(prices) + 1)
    done = iter(range(1, whole + 1))

    def run(learner: Learner, stream: Stream) -> Trace:
        trace = simulate(learner, stream.points, stream.labels, stream.truth)
        if progress is not None:
            progress(next(done), whole)
        return trace

    trials = [_trial(setting, prices, stream_of(setting, trial), run) for trial in range(setting.trials)]
    ways = zip(*(trial.rows for trial in trials), strict=True)
    sweep = sweep_of({price: mean_row(OURS, [trial.bills[price] for trial in trials]) for price in prices})
    assert sweep is not None  # one price can always be doubled, or halved
    return Plan(
        setting=setting,
        rows=[mean_row(rows[0].name, rows) for rows in ways],
        sweep=sweep,
        against_f=mean_row(PAPERS, [trial.against_f for trial in trials]),
        proven=proven(setting),
    )


# -- one stream ----------------------------------------------------------------------------------------------


def _trial(
    setting: Setting, prices: list[float], stream: Stream, run: Callable[[Learner, Stream], Trace]
) -> _Trial:
    bills = {}
    for price in prices:
        priced = msgspec.structs.replace(setting, cost=price)
        bills[price] = _scored(OURS, priced, stream, run(_value(priced), stream))
    papers = run(_threshold(setting), stream)
    rows = [
        _row(EVERYONE, setting, setting.rounds, 0.0),
        _row(NO_ONE, setting, 0, float(np.abs(stream.labels - np.median(stream.labels)).sum())),
        bills[setting.cost],
        _scored(PAPERS, setting, stream, papers),
    ]
    return _Trial(
        rows, bills, _row(PAPERS, setting, int(papers.wants_label.sum()), float(papers.error.sum()))
    )


def _scored(name: str, setting: Setting, stream: Stream, trace: Trace) -> BillRow:
    """Errors against the labels that were not bought."""
    missed = np.abs(stream.labels - trace.prediction)[~trace.wants_label]
    return _row(name, setting, int(trace.wants_label.sum()), float(missed.sum()))


def _row(name: str, setting: Setting, labels: int, error: float) -> BillRow:
    total = setting.cost * labels + setting.error_cost * error
    return BillRow(
        name=name,
        labels=labels,
        spend=setting.cost * labels,
        mean_error=error / setting.rounds,
        total=total,
        saved=setting.cost * setting.rounds - total,
    )


# -- learners ------------------------------------------------------------------------------------------------


def _value(setting: Setting) -> Learner:
    """What `breakeven simulate` runs by default, with the noise known."""
    belief: TypeMeans | GaussianProcess
    if setting.dim is None:
        belief = TypeMeans(setting.noise_std, prior_std="learn")
    else:
        lengths = (setting.lengthscale,) * setting.dim
        kernel = msgspec.structs.replace(setting.function_kernel, lengthscale=lengths)
        belief = untuned(setting.dim, setting.noise_std, kernel)
    return _learner(belief, Value(horizon=setting.rounds, scored="labels"), setting)


def _threshold(setting: Setting) -> Learner:
    """The paper's algorithms as its theorems have them: the kernel is known."""
    belief: TypeMeans | GaussianProcess
    if setting.dim is None:
        belief = TypeMeans(setting.noise_std, setting.delta)
    else:
        belief = GaussianProcess(setting.dim, setting.noise_std, setting.function_kernel)
    return _learner(belief, Threshold(), setting)


def _learner(belief: TypeMeans | GaussianProcess, rule: Value | Threshold, setting: Setting) -> Learner:
    return Learner(belief, rule, label_cost=setting.cost, error_cost=setting.error_cost)
