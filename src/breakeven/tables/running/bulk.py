"""Long streams of types: compiled loops decide, and the decisions are put together from what they leave."""

from typing import Any

import polars as pl

from breakeven.errors import expect
from breakeven.learner import Learner
from breakeven.learner import bulk as loops
from breakeven.rules import Always, RandomSelect, Rule, Threshold, Value
from breakeven.tables.running.scaling import Scales

CHUNK = 2_000_000  # rows at a time: enough for the loops, few enough to hear Ctrl-C


def pays(learner: Learner, rounds: int, *, named: bool) -> bool:
    """Whether so many rounds run in compiled loops, and in a way whose decisions we can put together."""
    plain = isinstance(learner.rule, Threshold | RandomSelect | Always | Value)
    return plain and loops.pays(learner, rounds, named=named)


def decide_and_tell(
    learner: Learner, types: pl.Series, labels: Any, ids: list[str] | None, scales: Scales
) -> pl.DataFrame:
    """Run types through a learner, each label told at once; the decisions, in standardised units."""
    y = expect.column("labels", scales.label(labels), len(types))
    points = types.to_numpy() if types.dtype.is_integer() else learner.belief.points(types.to_list())
    before, first = loops.Before.empty(len(types)), learner.rounds + 1
    answers = loops.replay(learner, points, y, true=False, before=before, ids=ids)
    frame = pl.DataFrame(
        {
            "wants_label": answers.wants_label,
            **before._asdict(),
            "uncertainty": answers.uncertainty,
            "threshold": answers.threshold,
        }
    )
    return frame.with_columns(
        pl.lit(learner.belief.traits.noise_std).alias("noise_std"),
        pl.lit(learner.label_cost).alias("cost"),
        _propensity(learner).alias("propensity"),
        _reason(learner, first).alias("reason"),
        pl.lit(True).alias("exact"),
        pl.lit(False).alias("ambiguous"),
        pl.lit(1.0).alias("stretch"),
        pl.lit(None, dtype=pl.String).alias("labeller"),
        pl.col("worth").fill_nan(None) * learner.error_cost,
    )


def _propensity(learner: Learner) -> pl.Expr:
    rule = learner.rule
    return (
        pl.lit(rule.probability) if isinstance(rule, RandomSelect) else pl.col("wants_label").cast(pl.Float64)
    )


def _reason(learner: Learner, first: int) -> pl.Expr:
    """The codes that the rules give one by one; these rounds begin with the `first`."""
    cases = _reasons(learner.rule, pl.col("wants_label"), pl.int_range(first, first + pl.len()))
    return pl.coalesce(pl.when(case).then(pl.lit(code)) for code, case in cases.items())


def _reasons(rule: Rule, wanted: pl.Expr, round: pl.Expr) -> dict[str, pl.Expr]:
    """When each code is given, unless one before it is; every label was told at once, so none is awaited."""
    match rule:
        case Value():
            late = pl.lit(False) if rule.horizon is None else round > rule.horizon
            return {
                "nothing_known": pl.col("worth").is_infinite(),
                "worth_it_late": wanted & late,
                "not_worth_it_late": late,
                "worth_it": wanted,
                "not_worth_it": ~wanted,
            }
        case Threshold():
            first = wanted & pl.col("uncertainty").is_infinite()
            return {"first_of_type": first, "unsure": wanted, "sure": ~wanted}
        case RandomSelect():
            return {"drawn": wanted, "not_drawn": ~wanted}
    return {"always": pl.lit(True)}
