"""A run as pictures and words: what was spent and missed, what was bought, how good predictions are.

No id and no feature is shown, unless ids are asked for: then every point has the id of its case. Before a
belief was first fitted its uncertainty is a guess; the record leaves it empty, and so do the pictures.
"""

from math import lgamma, log

import numpy as np
import polars as pl

from breakeven.errors.expect import Array
from breakeven.tables.billing import final_noise, name_of, noise_alone, noise_share, share_labelled
from breakeven.tables.cases import Cases
from breakeven.tables.pictures import (
    STD_95,
    UNLABELLED,
    bought,
    cases_in_words,
    figure_of,
    line_through,
    predicted,
    row_count,
    rows_to_draw,
    rows_to_read,
)
from breakeven.tables.recipe import says_yes_no
from breakeven.tables.run import TableRun
from breakeven.values import Chart, Figure, Section, Standing
from breakeven.values.amounts import amount, listed
from breakeven.values.bill import EVERYONE

MOST_MEANS, CASES_A_MEAN = 30, 20  # of errors in turn: at most 30 means, of at least 20 cases each
BY_CHANCE = 1 / 500  # how likely a feature may be that gives all labels and has nothing to do with them
LABELS_TRIED = 1_000  # at most
ON_A_LINE = 1e-9  # of the spread of labels: how far off the line rounding may lead


def facts(run: TableRun) -> list[str]:
    """What the bill is about, in a few words each."""
    cases, options = run.cases, run.options
    costs = f"{amount(float(cases.label_costs(options.cost).mean()))} a label"
    if cases.costs is not None:
        costs = f"costs from `{options.cost_column}`, on average {costs}"
    wrong = f"being wrong by 1 costs {amount(options.errors.unit)}"
    under, over = amount(options.errors.under), amount(options.errors.over)
    if says_yes_no(run.learner):
        wrong = f"a miss costs {under}, a false alarm {over}"
    elif not options.errors.even:
        wrong = f"an answer too low by 1 costs {under}, one too high {over}"
    return [f"{len(cases):,} cases", f"label `{options.label}`", costs, wrong]


def about_errors(run: TableRun) -> str:
    """How errors are counted, and how much of them is noise."""
    said = "Errors are against the labels as they are, noise included: what is labelled counts as right."
    errors = run.options.errors
    if says_yes_no(run.learner):
        return about_answers(run)
    if not errors.even:
        said += (
            f" An answer too low counts {2.0 * errors.level:.3g} times its distance, one too high "
            f"{2.0 * (1.0 - errors.level):.3g} times, so answers are {100.0 * errors.level:.3g}% quantiles."
        )
    noise_std, share = final_noise(run), noise_share(run)
    if noise_std is None or share is None or share_labelled(run) == 1.0 or not _any_known(run):
        return said
    between = run.learner.belief.describe().get("noise_between")
    words = amount(noise_std) if between is None else f"{amount(between[0])} to {amount(between[1])}"
    return (
        f"{said} Label noise alone, of a standard deviation of {words} ({run.noise_from}), would give "
        f"perfect predictions a mean error of about {amount(share)} over all cases, "
        f"{amount(noise_alone(run, noise_std))} over those not labelled."
    )


def about_answers(run: TableRun) -> str:
    """How errors are counted where answers are yes and no, and how many there were."""
    count, errors = pl.col("label") - pl.col("prediction"), run.options.errors
    unlabelled = run.decisions.filter(UNLABELLED).select((count > 0.5).sum(), false=(count < -0.5).sum())
    misses, alarms = unlabelled.collect(engine="streaming").row(0)
    weights = f"{2.0 * errors.level:.3g} errors, a false alarm as {2.0 * (1.0 - errors.level):.3g}"
    said = (
        "Answers are yes or no: what is labelled counts as right, of the others a yes that was answered no "
        f"is a miss, a no that was answered yes a false alarm. There were {misses:,} and {alarms:,}."
    )
    return said if errors.even else f"{said} A miss counts as {weights}."


def about_turns(run: TableRun) -> list[str]:
    """That labels were taken for yes and no, or for numbers again, where nobody had said what they are."""
    option = run.cases.option
    return [
        f"After case {round:,} all labels bought were 0 or 1: they count as no and yes from there on. Say "
        f"{option('labels', 'yes/no')} if they are, or {option('labels', 'numbers')}."
        if kind == "yes/no"
        else f"With case {round:,} a label came that is neither 0 nor 1: labels are numbers from there on."
        for round, kind in run.turns
    ]


def about_belief(run: TableRun) -> list[str]:
    """What the belief says of itself, where it is an average."""
    told = run.learner.belief.describe()
    if "constant" not in told:
        return []
    if "common" in told:
        return [
            f"Most labels bought are {amount(told['common'])}: predictions say how likely a label is an "
            "exception, and take it to be one like those so far."
        ]
    models = "1 model" if told["members"] == 1 else f"{told['members']} models"
    return [
        f"Predictions are the average of {models} of how labels depend on features, each weighted by how "
        f"well it explains the labels bought; {told['constant']:.0%} of the weight says that the features "
        "tell nothing."
    ]


def about_copies(run: TableRun, seeds: Cases | None) -> list[str]:
    """A warning of features that say the label itself, judged by no labels but those bought or owned."""
    cases = run.cases
    if cases.columns.type_column is not None:
        return []
    bought = np.flatnonzero(run.decisions.select("wants_label").collect().to_series().to_numpy())
    points, labels = cases.points[bought[:LABELS_TRIED]], cases.labels[bought[:LABELS_TRIED]]
    if seeds is not None:
        points, labels = np.vstack([points, seeds.points]), np.append(labels, seeds.labels)
    points, labels = points[:LABELS_TRIED], labels[:LABELS_TRIED]
    copies = [f"`{cases.columns.names[i]}`" for i in copies_of(labels, points)]
    if not copies:
        return []
    which = f"{listed(copies)} {'gives' if len(copies) == 1 else 'give'}"
    return [
        f"{which} every label exactly, as far as the {len(labels):,} known labels show: a feature that is "
        f"not known before the label must be left out ({cases.option('features')})."
    ]


def copies_of(labels: Array, points: Array) -> list[int]:
    """Which columns of the points lie on a line with the labels, where that can hardly be chance.

    By chance a column has the labels' order in one of all the orders that the labels could have come in.

    >>> labels = np.array([1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 3.0])
    >>> copies_of(labels, np.column_stack([labels**2, 3.0 - 2.0 * labels]))
    [1]
    """
    counts = np.unique(labels, return_counts=True)[1].tolist()
    log_orders = lgamma(len(labels) + 1) - sum(lgamma(count + 1) for count in counts)
    if log_orders < log(points.shape[1] / BY_CHANCE):
        return []
    apart, off = labels - labels.mean(), points - points.mean(axis=0)
    squares = np.maximum((off * off).sum(axis=0), 1e-300)
    left = apart[:, None] - off * ((off.T @ apart) / squares)
    return np.flatnonzero(np.abs(left).max(axis=0) <= ON_A_LINE * np.abs(apart).max()).tolist()


def about_trust(standing: Standing) -> str:
    """What the labels that tested the belief say of it."""
    said = f"The belief is {standing.words}, by {standing.tests:,} labels that tested it."
    times = "once" if standing.alarms == 1 else f"{standing.alarms:,} times"
    return f"{said} It was refuted {times} on the way, and gave way." if standing.alarms else said


def _any_known(run: TableRun) -> bool:
    """Whether any prediction came with a known uncertainty."""
    return run.decisions.filter(pl.col("std").is_finite()).head(1).collect().height > 0


def sections(run: TableRun, *, ids: bool = False) -> list[Section]:
    """What there is to see of a run; `ids` let a reader ask which case a point is."""
    table = run.decisions.with_columns(pl.row_index("case") + 1)
    unlabelled = table.filter(UNLABELLED)
    count, id = row_count(unlabelled), ["id"] if ids else []
    parts = [_over_time(run, table, count), bought(run, table, id)]
    return [*parts, predicted(run, unlabelled, count, id)] if count > 1 else parts


def _over_time(run: TableRun, table: pl.LazyFrame, unlabelled: int) -> Section:
    text = ["What was paid for labels, and what wrong predictions cost on top of that, case after case."]
    figures = [_money(run, table)]
    if unlabelled:
        text.append(_mean_errors(table, len(run.cases), unlabelled))
        figures.append(_errors(run, table.filter(UNLABELLED), unlabelled))
    else:
        text.append("Every case was labelled, so there are no errors.")
    return Section(title="Spend and error over time", text=text, figures=figures)


def _mean_errors(table: pl.LazyFrame, count: int, unlabelled: int) -> str:
    error = float(table.select(pl.col("error").sum()).collect(engine="streaming").item())
    said = f"The mean error is {amount(error / count)} a case"
    if unlabelled == count:
        return f"{said}."
    return (
        f"{said}, where labelled ones count as right, and {amount(error / unlabelled)} a case that was not "
        "labelled."
    )


def _money(run: TableRun, table: pl.LazyFrame) -> Figure:
    """Sums so far, at some of the cases."""
    spend = (pl.col("cost") * pl.col("wants_label")).cum_sum()
    sums = table.select(
        "case",
        spend.alias("spent on labels"),
        (spend + run.options.errors.unit * pl.col("error").cum_sum()).alias("total"),
        pl.col("cost").cum_sum().alias(EVERYONE),
    )
    some, name = rows_to_draw(sums, len(run.cases), lines=3), name_of(run.options)
    lines = [
        line_through(name, some["case"], some["total"], remark="total"),
        line_through(EVERYONE, some["case"], some[EVERYONE], remark="total"),
        line_through(name, some["case"], some["spent on labels"], kind="dashed", remark="spent on labels"),
    ]
    chart = Chart(name="money", title="Money so far", x_label="case", y_label="money", lines=lines)
    return figure_of(chart, rows_to_read(some))


def _errors(run: TableRun, unlabelled: pl.LazyFrame, count: int) -> Figure:
    """Mean errors of the cases in turn, with their 95% intervals, beside what noise alone would make."""
    means = min(MOST_MEANS, max(1, count // CASES_A_MEAN))
    found = (
        unlabelled.select("case", "error", place=pl.row_index().cast(pl.Int64) * means // count)
        .group_by("place")
        .agg(
            pl.col("case").min().alias("from case"),
            pl.col("case").max().alias("to case"),
            pl.len().alias("not labelled"),
            pl.col("error").mean().alias("mean error"),
            (STD_95 * pl.col("error").std() / pl.len().sqrt()).fill_null(0.0).alias("half"),
        )
        .sort("place")
        .collect(engine="streaming")
    )
    middle, mean, half = (found["from case"] + found["to case"]) / 2, found["mean error"], found["half"]
    low, high = (mean - half).clip(0.0).to_list(), (mean + half).to_list()
    lines = [line_through(name_of(run.options), middle, mean, remark="mean error", low=low, high=high)]
    noise_std = final_noise(run)
    if noise_std is not None and _any_known(run):
        noise = noise_alone(run, noise_std)
        lines.append(
            line_through("label noise alone", [1.0, float(len(run.cases))], [noise, noise], kind="reference")
        )
    chart = Chart(
        name="error",
        title="Error where no label was bought",
        x_label="case",
        y_label="mean error",
        lines=lines,
    )
    caption = f"A point is the mean of {cases_in_words(count // means)} in turn, the band its 95% interval."
    return figure_of(chart, found.drop("place", "half"), caption)
