"""What a run cost, beside labelling everyone and labelling no one."""

from math import fsum

import numpy as np
import polars as pl

from breakeven.errors.expect import Array
from breakeven.tables.cases import Cases
from breakeven.tables.options import Options
from breakeven.tables.recipe import says_yes_no
from breakeven.tables.run import TableRun
from breakeven.values import EVEN, BillRow, counted, expected_error
from breakeven.values.bill import EVERYONE, NO_ONE

RULE_NAMES = {
    "value": "breakeven",
    "threshold": "the paper's threshold",
    "random": "random",
    "variable": "variable uncertainty",
    "always": "always",
    "never": "never",
}


def name_of(options: Options) -> str:
    """What the rule is called in a bill."""
    return RULE_NAMES[options.rule]


def row_of(run: TableRun, name: str | None = None, *, factor: float = 1.0) -> BillRow:
    """The bill of a run, every label at `factor` times its cost; a `name` tells it from others."""
    ledger = run.learner.ledger
    error = float(run.decisions.select(pl.col("error").sum()).collect(engine="streaming").item())
    spend = factor * ledger.label_spend
    return _row(name or name_of(run.options), run.cases, run.options, ledger.labels, spend, error, factor)


def first_rows(cases: Cases, options: Options) -> list[BillRow]:
    """Labelling everyone, and no one; neither needs a model.

    Without labels the best answer is the median of all labels, or the quantile that uneven costs ask for,
    which is known only afterwards.
    """
    error = without_labels(cases.labels, options.errors.level)
    return [
        _row(EVERYONE, cases, options, len(cases), cost_of_all(cases, options), 0.0),
        _row(NO_ONE, cases, options, 0, 0.0, error),
    ]


def without_labels(labels: Array, level: float) -> float:
    """The errors of the best single answer, known only afterwards.

    >>> without_labels(np.array([0.0, 0.0, 0.0, 4.0]), EVEN), without_labels(np.array([0.0, 4.0]), 0.75)
    (4.0, 2.0)
    """
    best = np.median(labels) if level == EVEN else np.quantile(labels, level, method="inverted_cdf")
    return float(counted(labels - best, level).sum())


def cost_of_all(cases: Cases, options: Options) -> float:
    """What labelling everyone costs, exactly: a rule that labels every case must save exactly 0."""
    costs = cases.label_costs(options.cost)
    return float(costs[0]) * len(cases) if cases.costs is None else fsum(costs)


def _row(
    name: str, cases: Cases, options: Options, labels: int, spend: float, error: float, factor: float = 1.0
) -> BillRow:
    total = spend + options.errors.unit * error
    return BillRow(
        name=name,
        labels=labels,
        spend=spend,
        mean_error=error / max(len(cases), 1),
        total=total,
        saved=factor * cost_of_all(cases, options) - total,
    )


def noise_share(run: TableRun) -> float | None:
    """The mean error that label noise alone would give the same predictions, were they perfect."""
    noise_std = final_noise(run)
    return None if noise_std is None else noise_alone(run, noise_std) * (1.0 - share_labelled(run))


def noise_alone(run: TableRun, noise_std: float) -> float:
    """The mean error that label noise alone gives a perfect prediction."""
    return expected_error(run.options.errors.level) * noise_std


def share_labelled(run: TableRun) -> float:
    """The part of the cases whose label was bought."""
    return run.learner.ledger.labels / max(len(run.cases), 1)


def final_noise(run: TableRun) -> float | None:
    """The noise of a label, as given or as found last; None where it is not known yet, or no noise.

    Labels that are yes or no, or mostly one value, do not scatter around what is predicted.
    """
    belief = run.learner.belief
    if not belief.traits.noise_known or says_yes_no(run.learner) or "common" in belief.describe():
        return None
    return belief.traits.noise_std
