"""Long streams of types: compiled loops decide, and the decisions are put together from what they leave."""

from math import inf
from typing import Any

import polars as pl

from breakeven.beliefs import TypeMeans
from breakeven.learner import Learner
from breakeven.learner import bulk as loops
from breakeven.rules import Always, RandomSelect, Threshold
from breakeven.simulate import simulate
from breakeven.tables.scaling import Scales

CHUNK = 2_000_000  # rows at a time: enough for the loops, few enough to hear Ctrl-C


def pays(learner: Learner, rounds: int) -> bool:
    """Whether so many rounds run in compiled loops, and in a way whose decisions we can put together."""
    plain = isinstance(learner.rule, Threshold | RandomSelect | Always)
    return plain and loops.pays(learner, rounds)


def decide_and_tell(learner: Learner, types: pl.Series, labels: Any, scales: Scales) -> pl.DataFrame:
    """Run types through a learner, each label told at once; the decisions, in standardised units."""
    y = scales.label(labels)
    belief = learner.belief
    assert isinstance(belief, TypeMeans)
    known = _known(belief, types.unique())
    trace = simulate(learner, types.to_numpy() if types.dtype.is_integer() else types.to_list(), y)
    frame = pl.DataFrame({"type": types, "wants_label": trace.wants_label, "y": y})
    asked, said = pl.col("wants_label").cast(pl.Float64), pl.col("wants_label") * pl.col("y")
    frame = frame.join(known, on="type", how="left", maintain_order="left").select(
        "wants_label",
        (pl.col("told") + asked.cum_sum().over("type") - asked).alias("told"),
        (pl.col("sum") + said.cum_sum().over("type") - said).alias("sum"),
        pl.lit(trace.uncertainty).alias("uncertainty"),
        pl.lit(trace.threshold).alias("threshold"),
    )
    untold = pl.col("told") == 0.0
    return frame.select(
        "wants_label",
        pl.when(untold).then(belief.prior_mean).otherwise(pl.col("sum") / pl.col("told")).alias("prediction"),
        pl.when(untold).then(inf).otherwise(belief.noise_std / pl.col("told").sqrt()).alias("std"),
        pl.lit(belief.noise_std).alias("noise_std"),
        "uncertainty",
        "threshold",
        pl.lit(learner.label_cost).alias("cost"),
        _propensity(learner).alias("propensity"),
        _reason(learner).alias("reason"),
        pl.lit(True).alias("exact"),
        pl.lit(False).alias("ambiguous"),
        pl.lit(1.0).alias("stretch"),
        pl.lit(None, dtype=pl.String).alias("labeller"),
        pl.lit(None, dtype=pl.Float64).alias("worth"),
    )


def _known(belief: TypeMeans, types: pl.Series) -> pl.DataFrame:
    """How many labels each type has before these rounds, and their sum."""
    tallies = belief.tallies(types.to_list())
    told, sums = [float(one.told) for one in tallies], [one.sum.value for one in tallies]
    return pl.DataFrame({"type": types, "told": told, "sum": sums})


def _propensity(learner: Learner) -> pl.Expr:
    rule = learner.rule
    return (
        pl.lit(rule.probability) if isinstance(rule, RandomSelect) else pl.col("wants_label").cast(pl.Float64)
    )


def _reason(learner: Learner) -> pl.Expr:
    """The codes that the rules give one by one; every label was told at once, so none is on its way."""
    yes, no = {RandomSelect: ("drawn", "not_drawn"), Always: ("always", "always")}.get(
        type(learner.rule), ("unsure", "sure")
    )
    reason = pl.when("wants_label").then(pl.lit(yes)).otherwise(pl.lit(no))
    if isinstance(learner.rule, Threshold):
        first = pl.col("wants_label") & pl.col("uncertainty").is_infinite()
        reason = pl.when(first).then(pl.lit("first_of_type")).otherwise(reason)
    return reason
