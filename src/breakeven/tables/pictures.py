"""The charts of a run: which labels were bought, and how good predictions were where none was.

A chart has no more points than a screen can show, and a short table beside it where that helps.
"""

from math import sqrt
from statistics import NormalDist
from typing import Any

import polars as pl

from breakeven.tables.billing import name_of
from breakeven.tables.run import TableRun
from breakeven.values import Chart, Figure, Line, Section, Table

MOST_POINTS = 5_000  # points of a chart
ROWS_TO_READ = 11  # of a table that stands for a long line
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
NEARLY_AS_PROMISED = 0.02  # of a share, beside what chance makes of it
STD_95 = NormalDist().inv_cdf(0.975)

LABELLED, UNLABELLED = pl.col("wants_label"), ~pl.col("wants_label")
MEASURED = pl.col("y").is_finite().fill_null(value=False)
DRAWABLE = MEASURED & (pl.col("y") > 0.0)  # on an axis that goes by factors

WHAT_CROSSES_ARE = {
    "value": "A cross is a label that was bought: one that would save more than it costs.",
    "threshold": "A cross is a label that was bought: its uncertainty lies above the threshold.",
    "variable": "A cross is a label that was bought: its uncertainty lies above a limit that moves with "
    "every answer, and its budget is not used up.",
    "random": "A cross is a label that was bought: drawn at random, whatever its uncertainty.",
    "always": "Everything was labelled, whatever its uncertainty.",
    "never": "Nothing was labelled, whatever its uncertainty.",
}
LIMIT_NAMES = {"threshold": "threshold", "variable": "limit"}


# -- points of charts -----------------------------------------------------------------------------------


def row_count(table: pl.LazyFrame) -> int:
    """How many rows it has."""
    return int(table.select(pl.len()).collect(engine="streaming").item())


def cases_in_words(number: int) -> str:
    """A number of cases in words.

    >>> cases_in_words(1), cases_in_words(1200)
    ('1 case', '1,200 cases')
    """
    return f"{number:,} {'case' if number == 1 else 'cases'}"


def rows_to_draw(table: pl.LazyFrame, rows: int, *, lines: int = 1) -> pl.DataFrame:
    """The rows that are drawn, where `lines` of them share a chart with a reference of two ends.

    >>> rows_to_draw(pl.LazyFrame({"x": range(12)}), 12, lines=MOST_POINTS // 6)["x"].to_list()
    [0, 4, 8, 11]
    """
    return _spread(table, rows, MOST_POINTS // lines - 2).collect(engine="streaming")


def rows_to_read(table: pl.DataFrame) -> pl.DataFrame:
    """As few of the rows as can be read at a glance."""
    return _spread(table.lazy(), table.height, ROWS_TO_READ).collect()


def _spread(table: pl.LazyFrame, rows: int, most: int) -> pl.LazyFrame:
    """At most `most` of its rows, evenly from the first to the last."""
    step, place = max(1, -(-(rows - 1) // (most - 1))), pl.row_index()
    return table.filter((place % step == 0) | (place == rows - 1))


def line_through(label: str, x: Any, y: Any, **rest: Any) -> Line:
    """A line through columns."""
    return Line(label=label, x=[float(one) for one in x], y=[float(one) for one in y], **rest)


def ids_of(table: pl.DataFrame) -> list[str]:
    """The ids of its rows, where they were asked for."""
    return table["id"].cast(pl.String).to_list() if "id" in table.columns else []


def figure_of(chart: Chart, numbers: pl.DataFrame | None = None, caption: str = "") -> Figure:
    """A chart alone; `numbers` are worth reading beside it."""
    numbers = pl.DataFrame() if numbers is None else numbers
    rows = [list(row) for row in numbers.rows()]
    data = Table(name=chart.name, title=chart.title, columns=numbers.columns, rows=rows)
    return Figure(name=chart.name, title=chart.title, charts=[chart], data=data, caption=caption)


# -- which labels were bought --------------------------------------------------------------------------


def costs_differ(run: TableRun) -> bool:
    """Whether some labels cost more than others."""
    costs = run.cases.costs
    if len(run.options.labellers) > 1:
        return True
    return costs is not None and bool(costs.min() < costs.max())


def bought(run: TableRun, table: pl.LazyFrame, id: list[str]) -> Section:
    """Every case by what spoke for its label, on a logarithmic axis; cases without a place are counted."""
    value, words = _measure(run)
    table = table.with_columns(y=value)
    counts, rule = _counts(table), name_of(run.options)
    lines = [
        *_line(table.filter(DRAWABLE & LABELLED), counts["bought"], id, label="label bought", kind="crosses"),
        *_line(
            table.filter(DRAWABLE & UNLABELLED), counts["not"], id, label=rule, remark="no label", kind="dots"
        ),
    ]
    title, text = "Which labels were bought", [WHAT_CROSSES_ARE[run.options.rule]]
    if run.learner.rule.check is not None and run.learner.rule.check.share:
        text.append("A cross below the line was drawn at random, to test the belief.")
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
    return Section(title=title, text=text + _not_drawn(counts), figures=[figure_of(chart)])


def _line(table: pl.LazyFrame, rows: int, id: list[str], **look: str) -> list[Line]:
    some = rows_to_draw(table.select("case", "y", *id), rows, lines=3)
    return [line_through(x=some["case"], y=some["y"], names=ids_of(some), **look)] if rows else []


def _measure(run: TableRun) -> tuple[pl.Expr, str]:
    """What is drawn for each case: what the rule looks at, or else the uncertainty."""
    if run.options.rule != "value":
        return pl.col("uncertainty"), "uncertainty"
    if costs_differ(run):
        return pl.col("worth") / pl.col("cost"), "saving of a label ÷ its cost"
    return pl.col("worth"), "what a label would save"


def _limit(run: TableRun, table: pl.LazyFrame) -> list[Line]:
    """The limit that the rule compares with, if it has one."""
    rule, ends = run.options.rule, [1.0, float(len(run.cases))]
    if rule == "value":
        cost = 1.0 if costs_differ(run) else float(run.cases.label_costs(run.options.base_cost)[0])
        return [line_through("its cost", ends, [cost, cost], kind="reference")]
    if rule not in LIMIT_NAMES:
        return []
    limits = table.select("case", "threshold").filter(
        pl.col("threshold").is_finite() & (pl.col("threshold") > 0.0)
    )
    some = rows_to_draw(limits, row_count(limits), lines=3)
    return (
        [line_through(LIMIT_NAMES[rule], some["case"], some["threshold"], kind="reference")]
        if some.height
        else []
    )


def _counts(table: pl.LazyFrame) -> dict[str, int]:
    """How many cases are drawn, and how many are not and why."""
    counts = table.select(
        (DRAWABLE & LABELLED).sum().alias("bought"),
        (DRAWABLE & UNLABELLED).sum().alias("not"),
        (~MEASURED).sum().alias("unknown"),
        (~MEASURED & LABELLED).sum().alias("bought unknown"),
        (MEASURED & ~DRAWABLE).sum().alias("zero"),
    )
    return counts.collect(engine="streaming").row(0, named=True)


def _not_drawn(counts: dict[str, int]) -> list[str]:
    said = []
    if counts["unknown"]:
        bought = f"({counts['bought unknown']:,} labelled)"
        said.append(
            f"Not drawn: {cases_in_words(counts['unknown'])} of which nothing was known yet {bought}."
        )
    if counts["zero"]:
        said.append(f"Not drawn: {cases_in_words(counts['zero'])} at 0, which has no place on such an axis.")
    return said


# -- predictions ---------------------------------------------------------------------------------------


def predicted(run: TableRun, unlabelled: pl.LazyFrame, count: int, id: list[str]) -> Section:
    """Predictions against labels, and whether their intervals hold; the first ones have no interval."""
    shown = unlabelled.select("label", "prediction", *id)
    figures = [_against_true(run, rows_to_draw(shown, count))]
    text = ["Each was made before its label was looked at. Labels are noisy, so no model hits them all."]
    known = unlabelled.filter(pl.col("std").is_finite() & pl.col("noise_std").is_finite())
    with_interval = row_count(known)
    if with_interval:
        figure, words = _calibration(run, known, with_interval)
        figures.append(figure)
        text.append(words)
    if with_interval < count:
        early = cases_in_words(count - with_interval)
        text.append(f"{early} came before anything was known; intervals of theirs are left out.")
    return Section(title="Predictions of what was not labelled", text=text, figures=figures)


def _against_true(run: TableRun, some: pl.DataFrame) -> Figure:
    x, y = some["label"], some["prediction"]
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]  # type: ignore[type-var]
    lines = [
        line_through("exactly right", ends, ends, kind="reference"),
        line_through(
            name_of(run.options), x, y, kind="dots", remark="cases not labelled", names=ids_of(some)
        ),
    ]
    chart = Chart(
        name="predicted",
        title="Predicted against true",
        x_label="label",
        y_label="prediction",
        lines=lines,
        square=True,
    )
    return figure_of(chart)


def _calibration(run: TableRun, known: pl.LazyFrame, count: int) -> tuple[Figure, str]:
    """How often the interval of a label holds it, at several levels."""
    score = pl.col("normal_score").abs()
    inside = [score <= NormalDist().inv_cdf(0.5 + level / 2) for level in LEVELS]
    shares = known.select(one.mean().alias(f"{level}") for level, one in zip(LEVELS, inside, strict=True))
    held = list(shares.collect(engine="streaming").row(0))
    chance = [STD_95 * sqrt(share * (1.0 - share) / count) for share in held]
    low = [max(0.0, share - half) for share, half in zip(held, chance, strict=True)]
    high = [min(1.0, share + half) for share, half in zip(held, chance, strict=True)]
    lines = [
        line_through(name_of(run.options), LEVELS, held, remark="intervals", low=low, high=high),
        line_through("as promised", [0.0, 1.0], [0.0, 1.0], kind="reference"),
    ]
    chart = Chart(
        name="calibration",
        title="Calibration: do intervals hold?",
        x_label="level of the interval",
        y_label="labels inside",
        lines=lines,
        square=True,
    )
    numbers = pl.DataFrame({"level": LEVELS, "labels inside": held, "at least": low, "at most": high})
    caption = "The band is how far chance alone may lead off, at 95%."
    return figure_of(chart, numbers, caption), _verdict(held[LEVELS.index(0.95)], count)


def _verdict(share: float, count: int) -> str:
    """How well 95% intervals did, and what that says of them.

    >>> _verdict(0.94, 500)
    '95% intervals held 94.0% of the labels, about as many as promised.'
    >>> _verdict(0.5, 500)
    '95% intervals held 50.0% of the labels, fewer than promised: predictions are less sure than they say.'
    """
    words, chance = "about as many as promised", 2.0 * sqrt(0.95 * 0.05 / count)
    if share - 0.95 > NEARLY_AS_PROMISED + chance:
        words = "more than promised: predictions are surer than they say"
    elif 0.95 - share > NEARLY_AS_PROMISED + chance:
        words = "fewer than promised: predictions are less sure than they say"
    return f"95% intervals held {share:.1%} of the labels, {words}."
