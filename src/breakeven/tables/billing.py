"""What a run cost, beside labelling everyone and labelling no one.

Where labellers err, labelling everyone has a row for each of them, and their errors count.
"""

from math import fsum

import numpy as np
import polars as pl
from msgspec.structs import replace

from breakeven.beliefs import says_yes_or_no
from breakeven.errors.expect import Array
from breakeven.tables.cases import Cases
from breakeven.tables.options import Options
from breakeven.tables.run import TableRun, labeller_draws
from breakeven.values import EVEN, BillRow, counted
from breakeven.values.bill import EVERYONE, NO_ONE

RULE_NAMES = {
    "value": "breakeven",
    "threshold": "the paper's threshold",
    "random": "at random",
    "variable": "where most unsure",
    "always": "always",
    "never": "never",
}


def name_of(options: Options) -> str:
    """What the rule is called in a bill."""
    return RULE_NAMES[options.rule]


def row_of(run: TableRun, name: str | None = None, *, factor: float = 1.0, simple: bool = False) -> BillRow:
    """The bill of a run, every label at `factor` times its cost; a `name` tells it from others."""
    ledger = run.learner.ledger
    sums = run.decisions.select(
        all=pl.col("error").sum(), unasked=pl.col("error").filter(~pl.col("wants_label")).sum()
    ).collect(engine="streaming")
    error, unasked = map(float, sums.row(0))
    spend, unlabelled = factor * ledger.label_spend, len(run.cases) - ledger.labels
    row = _row(name or name_of(run.options), run.cases, run.options, ledger.labels, spend, error)
    return replace(row, unasked_error=unasked / unlabelled if unlabelled else None, simple=simple)


def first_rows(cases: Cases, options: Options) -> list[BillRow]:
    """Labelling everyone, and no one; neither needs a model.

    Without labels the best answer is the median of all labels, or the quantile that uneven costs ask for,
    which is known only afterwards.
    """
    error = without_labels(cases.labels, options.errors.level)
    no_one = _row(NO_ONE, cases, options, 0, 0.0, error)
    rows = [*_everyone(cases, options), replace(no_one, unasked_error=no_one.mean_error)]
    return [replace(row, simple=True) for row in rows]


def _everyone(cases: Cases, options: Options) -> list[BillRow]:
    draws = labeller_draws(options, len(cases))
    if draws is None:
        return [_row(EVERYONE, cases, options, len(cases), cost_of_all(cases, options), 0.0)]
    rows = []
    for name, one in options.labellers.items():
        error = float(counted(one.noise_std * draws, options.errors.level).sum())
        rows.append(_row(f"{EVERYONE}: {name}", cases, options, len(cases), one.cost * len(cases), error))
    return sorted(rows, key=lambda row: row.total)


def everyone_so_far(cases: Cases, options: Options) -> tuple[str, Array]:
    """The name of labelling everyone, by the cheapest labeller, and what it has cost after every case."""
    name = _everyone(cases, options)[0].name
    draws = labeller_draws(options, len(cases))
    if draws is None:
        return name, np.cumsum(cases.label_costs(options.cost))
    one, errors = options.labellers[name.removeprefix(f"{EVERYONE}: ")], options.errors
    return name, np.cumsum(one.cost + errors.unit * counted(one.noise_std * draws, errors.level))


def without_labels(labels: Array, level: float) -> float:
    """The errors of the best single answer, known only afterwards.

    >>> without_labels(np.array([0.0, 0.0, 0.0, 4.0]), EVEN), without_labels(np.array([0.0, 4.0]), 0.75)
    (4.0, 2.0)
    """
    return float(errors_without_labels(labels, level).sum())


def errors_without_labels(labels: Array, level: float) -> Array:
    """The error of the best single answer at every case."""
    best = np.median(labels) if level == EVEN else np.quantile(labels, level, method="inverted_cdf")
    return counted(labels - best, level)


def cost_of_all(cases: Cases, options: Options) -> float:
    """What labelling everyone costs, exactly: a rule that labels every case must cost exactly as much."""
    costs = cases.label_costs(options.base_cost)
    return float(costs[0]) * len(cases) if cases.costs is None else fsum(costs)


def _row(name: str, cases: Cases, options: Options, labels: int, spend: float, error: float) -> BillRow:
    return BillRow(
        name=name,
        labels=labels,
        spend=spend,
        mean_error=error / max(len(cases), 1),
        total=spend + options.errors.unit * error,
    )


def share_labelled(run: TableRun) -> float:
    """The part of the cases whose label was bought."""
    return run.learner.ledger.labels / max(len(run.cases), 1)


def final_noise(run: TableRun) -> float | None:
    """The noise of a label, as given or as found last; None where it is not known yet, or no noise.

    Labels that are yes or no, or mostly one value, do not scatter around what is predicted.
    """
    belief = run.learner.belief
    if not belief.traits.noise_known or says_yes_or_no(run.learner.belief) or "common" in belief.describe():
        return None
    return belief.traits.noise_std
