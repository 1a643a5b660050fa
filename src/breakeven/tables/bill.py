"""What a run cost, beside labelling everyone and labelling no one."""

import numpy as np
import polars as pl

from breakeven.ledger import EXPECTED_NOISE
from breakeven.tables.cases import Cases
from breakeven.tables.options import Options
from breakeven.tables.run import Run
from breakeven.values import BillRow

EVERYONE, NO_ONE = "label everyone", "label no one *"
NAMES = {
    "value": "breakeven",
    "threshold": "the paper's threshold",
    "random": "random",
    "variable": "variable uncertainty",
    "always": "always",
    "never": "never",
}


def name_of(options: Options) -> str:
    """What the rule is called in a bill."""
    return NAMES[options.rule]


def row_of(run: Run, name: str | None = None) -> BillRow:
    """The bill of a run; a `name` tells it from others of the same rule."""
    sums = run.decisions.select(
        pl.col("wants_label").sum().alias("labels"),
        (pl.col("cost") * pl.col("wants_label")).sum().alias("spend"),
        pl.col("error").sum(),
    )
    labels, spend, error = sums.collect(engine="streaming").row(0)
    return _row(name or name_of(run.options), run.cases, run.options, labels, spend, error)


def first_rows(cases: Cases, options: Options) -> list[BillRow]:
    """Labelling everyone, and no one; neither needs a model.

    Who labels no one can at best predict the average, which is known only afterwards.
    """
    spend = float(cases.prices(options.cost).sum())
    error = float(np.abs(cases.labels - cases.labels.mean()).sum())
    return [
        _row(EVERYONE, cases, options, len(cases), spend, 0.0),
        _row(NO_ONE, cases, options, 0, 0.0, error),
    ]


def _row(name: str, cases: Cases, options: Options, labels: int, spend: float, error: float) -> BillRow:
    total = spend + options.error_cost * error
    return BillRow(
        name=name,
        labels=labels,
        spend=spend,
        mean_error=error / max(len(cases), 1),
        total=total,
        saved=float(cases.prices(options.cost).sum()) - total,
    )


def noise_share(run: Run) -> float:
    """The mean error that label noise alone would give the same predictions, were they perfect."""
    return EXPECTED_NOISE * final_noise(run) * (1.0 - share_labelled(run))


def share_labelled(run: Run) -> float:
    """The part of the cases whose label was bought."""
    return run.learner.learner.ledger.labels / max(len(run.cases), 1)


def final_noise(run: Run) -> float:
    """The noise of a label, as given or as fitted last, in the table's own units."""
    return run.learner.learner.belief.traits.noise_std * run.learner.scales.label_spread
