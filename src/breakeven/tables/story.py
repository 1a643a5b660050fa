"""A run as pictures and words: what was spent and missed, what was bought, how good predictions are."""

from statistics import NormalDist
from typing import Any

import polars as pl

from breakeven.tables.options import Options
from breakeven.tables.run import Run
from breakeven.values import Chart, Figure, Line, Section, Table

MOST = 5_000  # points of a chart
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def sections(run: Run) -> list[Section]:
    """What there is to see of a run."""
    table = run.decisions
    parts = [_over_time(run, table), _bought(table)]
    unlabelled = table.filter(~pl.col("wants_label"))
    if _count(unlabelled) > 1:
        parts += [_predicted(unlabelled), _calibration(unlabelled)]
    return parts


def _over_time(run: Run, table: pl.LazyFrame) -> Section:
    """Sums so far, at some of the cases."""
    sums = table.select(
        pl.row_index("case") + 1,
        (pl.col("cost") * pl.col("wants_label")).cum_sum().alias("labels"),
        (run.options.error_cost * pl.col("error")).cum_sum().alias("errors"),
        pl.col("cost").cum_sum().alias("everyone"),
    )
    some = _some(sums, len(run.cases), MOST // 3).with_columns(
        (pl.col("labels") + pl.col("errors")).alias("both"),
        (pl.col("errors") / run.options.error_cost / pl.col("case")).alias("mean"),
    )
    lines = [
        _line("label everyone", some["case"], some["everyone"], kind="dashed"),
        _line("labels and errors", some["case"], some["both"]),
        _line("labels", some["case"], some["labels"]),
    ]
    chart = Chart(name="money", title="Money so far", x_label="case", y_label="money", lines=lines)
    running = [_line("mean error so far", some["case"], some["mean"])]
    second = Chart(name="error", title="Error so far", x_label="case", y_label="mean error", lines=running)
    return Section(
        title="Spend and error over time",
        text=["What was paid for labels, and what wrong predictions cost on top of that, case after case."],
        figures=[_figure("time", "Spend and error", [chart, second])],
    )


def _bought(table: pl.LazyFrame) -> Section:
    """What a label would have saved against its price; else its uncertainty against the threshold."""
    by_worth = _count(table.filter(pl.col("worth").is_not_null())) > 0
    what, limit = ("worth", "cost") if by_worth else ("uncertainty", "threshold")
    words = ("what a label would save", "its price") if by_worth else ("its uncertainty", "the threshold")
    numbered = table.select(pl.row_index("case") + 1, "wants_label", what, limit)
    shown = numbered.filter(pl.col(what).is_finite() & (pl.col(what) > 0.0))
    limits = numbered.filter(pl.col(limit).is_finite() & (pl.col(limit) > 0.0))
    parts = [
        (f"no label: {words[0]}", shown.filter(~pl.col("wants_label")), what, "dots"),
        (f"label bought: {words[0]}", shown.filter("wants_label"), what, "crosses"),
        (words[1], limits, limit, "dashed"),
    ]
    lines = []
    for label, part, column, kind in parts:
        some = _some(part, _count(part), MOST // 3)
        if some.height:
            lines.append(_line(label, some["case"], some[column], kind=kind))
    chart = Chart(
        name="bought", title="Labels bought", x_label="case", y_label=words[0], lines=lines, log_y=True
    )
    text = [f"A point is a case, a cross a label that was bought: where {words[0]} lies above {words[1]}."]
    endless = _count(table.filter(pl.col(what).is_infinite() & pl.col("wants_label")))
    if endless:
        text.append(f"{endless:,} more were bought first, while nothing was known of how large errors are.")
    figure = _figure("bought", "Labels bought", [chart])
    return Section(title="Which labels were bought", text=text, figures=[figure])


def _predicted(unlabelled: pl.LazyFrame) -> Section:
    some = _some(unlabelled, _count(unlabelled), MOST - 2)
    x, y = some["label"], some["prediction"]
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]  # type: ignore[type-var]
    lines = [_line("unlabelled cases", x, y, kind="rings"), _line("as it was", ends, ends, kind="dashed")]
    chart = Chart(
        name="predicted", title="Predicted against true", x_label="label", y_label="prediction", lines=lines
    )
    return Section(
        title="Predictions of what was not labelled",
        text=["Each was made before its label was looked at. Labels are noisy, so no model hits them all."],
        figures=[_figure("predicted", "Predicted against true", [chart])],
    )


def _calibration(unlabelled: pl.LazyFrame) -> Section:
    """How often the interval of a label holds it, at several levels."""
    spread = (pl.col("std") ** 2 + pl.col("noise_std") ** 2).sqrt()
    inside = [pl.col("error") <= NormalDist().inv_cdf(0.5 + level / 2) * spread for level in LEVELS]
    shares = unlabelled.select(
        one.mean().alias(f"{level}") for level, one in zip(LEVELS, inside, strict=True)
    )
    held = list(shares.collect(engine="streaming").row(0))
    lines = [
        _line("intervals of predictions", list(LEVELS), held),
        _line("as promised", [0.0, 1.0], [0.0, 1.0], kind="dashed"),
    ]
    chart = Chart(
        name="calibration",
        title="Do intervals hold?",
        x_label="level of the interval",
        y_label="labels inside",
        lines=lines,
    )
    share = held[LEVELS.index(0.95)]
    return Section(
        title="Calibration of the intervals",
        text=[
            f"95% intervals held {share:.1%} of the labels that were not bought. On the diagonal all is well."
        ],
        figures=[_figure("calibration", "Calibration", [chart])],
    )


# -- points ------------------------------------------------------------------------------------------------


def _count(table: pl.LazyFrame) -> int:
    return int(table.select(pl.len()).collect(engine="streaming").item())


def _some(table: pl.LazyFrame, count: int, most: int) -> pl.DataFrame:
    """So many of its rows at most, evenly spread from the first on."""
    return table.gather_every(max(1, -(-count // most))).collect(engine="streaming")


def _line(label: str, x: Any, y: Any, kind: Any = "line") -> Line:
    return Line(label=label, x=[float(one) for one in x], y=[float(one) for one in y], kind=kind)


def _figure(name: str, title: str, charts: list[Chart]) -> Figure:
    rows = [
        [chart.name, line.label, x, y]
        for chart in charts
        for line in chart.lines
        for x, y in zip(line.x, line.y, strict=True)
    ]
    data = Table(name=name, title=title, columns=["chart", "line", "x", "y"], rows=rows)  # type: ignore[arg-type]
    return Figure(name=name, title=title, charts=charts, data=data)


# -- words to copy -----------------------------------------------------------------------------------------


def configuration(run: Run, folder: str) -> str:
    """The learner as Python, to be copied: how to go on from the folder, and how to start afresh."""
    columns, options = run.learner.columns, run.options
    names = [columns.type] if columns.type is not None else [one.name for one in columns.features]
    row = ", ".join(f"{name!r}: …" for name in names[:4]) + (", …" if len(names) > 4 else "")
    asked = [f"label={options.label!r}", *_arguments(options)]
    return "\n".join(
        [
            "from breakeven.tables import TableLearner",
            "",
            f"learner = TableLearner.open({folder!r})   # the folder that this run wrote",
            f'decision = learner.decide({{{row}}}, id="…")',
            "if decision.wants_label:",
            "    learner.tell(decision.id, …)        # now, or days later",
            "",
            f"# the same run again: breakeven.from_table(table, {', '.join(asked)})",
        ]
    )


def _arguments(options: Options) -> list[str]:
    default = Options(label=options.label, cost=1.0)
    names = [name for name in Options.__struct_fields__ if name not in ("label", "chance")]
    changed = [name for name in names if getattr(options, name) != getattr(default, name) or name == "cost"]
    return [f"{name}={getattr(options, name)!r}" for name in changed]
