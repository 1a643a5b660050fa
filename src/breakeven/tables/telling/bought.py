"""Which labels were bought: every case at what spoke for its label, beside what the rule compares it with."""

import polars as pl

from breakeven.tables.billing.bill import name_of
from breakeven.tables.running.run import Run
from breakeven.tables.telling import points
from breakeven.tables.telling.points import LABELLED, UNLABELLED
from breakeven.values import Chart, Line, Section

KNOWN = pl.col("y").is_finite().fill_null(value=False)
SEEN = KNOWN & (pl.col("y") > 0.0)  # by factors
WHERE = {
    "value": "A cross is a label that was bought: one that would save more than its price.",
    "threshold": "A cross is a label that was bought: its uncertainty lies above the threshold.",
    "variable": "A cross is a label that was bought: its uncertainty lies above a limit that moves with "
    "every answer, and its budget is not used up.",
    "random": "A cross is a label that was bought: drawn at random, whatever its uncertainty.",
    "always": "Everything was labelled, whatever its uncertainty.",
    "never": "Nothing was labelled, whatever its uncertainty.",
}
LIMITS = {"threshold": "threshold", "variable": "limit"}


def prices_differ(run: Run) -> bool:
    """Whether some labels cost more than others."""
    costs = run.cases.costs
    return costs is not None and bool(costs.min() < costs.max())


def bought(run: Run, table: pl.LazyFrame, id: list[str]) -> Section:
    """Every case at what spoke for its label, by factors: what cannot be drawn so is counted."""
    value, words = _measure(run)
    table = table.with_columns(y=value)
    counts, rule = _counts(table), name_of(run.options)
    lines = [
        *_line(table.filter(SEEN & LABELLED), counts["bought"], id, label="label bought", kind="crosses"),
        *_line(
            table.filter(SEEN & UNLABELLED), counts["not"], id, label=rule, remark="no label", kind="dots"
        ),
    ]
    title, text = "Which labels were bought", [WHERE[run.options.rule]]
    if not lines:
        return Section(title=title, text=text)
    chart = Chart(
        name="bought",
        title="Labels bought",
        x_label="case",
        y_label=words,
        lines=[*_limit(run, table), *lines],
        log_y=True,
    )
    return Section(title=title, text=text + _not_drawn(counts), figures=[points.figure(chart)])


def _line(table: pl.LazyFrame, rows: int, id: list[str], **look: str) -> list[Line]:
    some = points.some(table.select("case", "y", *id), rows, lines=3)
    return [points.line(x=some["case"], y=some["y"], names=points.names(some), **look)] if rows else []


def _measure(run: Run) -> tuple[pl.Expr, str]:
    """What the rule goes by, or what a reader would like to see."""
    if run.options.rule != "value":
        return pl.col("uncertainty"), "uncertainty"
    if prices_differ(run):
        return pl.col("worth") / pl.col("cost"), "saving of a label ÷ its price"
    return pl.col("worth"), "what a label would save"


def _limit(run: Run, table: pl.LazyFrame) -> list[Line]:
    """What the rule compares with, where it does."""
    rule, ends = run.options.rule, [1.0, float(len(run.cases))]
    if rule == "value":
        price = 1.0 if prices_differ(run) else float(run.cases.prices(run.options.cost)[0])
        return [points.line("its price", ends, [price, price], kind="reference")]
    if rule not in LIMITS:
        return []
    limits = table.select("case", "threshold").filter(
        pl.col("threshold").is_finite() & (pl.col("threshold") > 0.0)
    )
    some = points.some(limits, points.count(limits), lines=3)
    return (
        [points.line(LIMITS[rule], some["case"], some["threshold"], kind="reference")] if some.height else []
    )


def _counts(table: pl.LazyFrame) -> dict[str, int]:
    """How many cases are drawn, and how many are not and why."""
    counts = table.select(
        (SEEN & LABELLED).sum().alias("bought"),
        (SEEN & UNLABELLED).sum().alias("not"),
        (~KNOWN).sum().alias("unknown"),
        (~KNOWN & LABELLED).sum().alias("bought unknown"),
        (KNOWN & ~SEEN).sum().alias("zero"),
    )
    return counts.collect(engine="streaming").row(0, named=True)


def _not_drawn(counts: dict[str, int]) -> list[str]:
    said = []
    if counts["unknown"]:
        bought = f"({counts['bought unknown']:,} labelled)"
        said.append(f"Not drawn: {points.cases(counts['unknown'])} of which nothing was known yet {bought}.")
    if counts["zero"]:
        said.append(f"Not drawn: {points.cases(counts['zero'])} at 0, which has no place on such an axis.")
    return said
