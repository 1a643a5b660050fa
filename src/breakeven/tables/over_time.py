"""The stream in stretches: labels bought, error and 95% coverage in each, and what the self-check said.

A label that refuted the belief is marked where that was found.
"""

import polars as pl

from breakeven.beliefs import says_yes_or_no
from breakeven.tables.billing import errors_without_labels, everyone_so_far, name_of
from breakeven.tables.pictures import (
    STD_95,
    UNLABELLED,
    cases_in_words,
    figure_of,
    line_through,
    rows_to_draw,
    rows_to_read,
)
from breakeven.tables.run import TableRun
from breakeven.values import Chart, Figure, Mark, Refuted, Section, Standing
from breakeven.values.bill import NO_ONE

STRETCHES, CASES_A_STRETCH = 10, 20  # the most stretches, and the least cases in one
LABELLED_SHARE, UNASKED_ERROR, HELD = "labels bought", "error where nobody asked", "95% intervals held"


def over_time(run: TableRun) -> Section:
    """Labels, error and coverage by stretch, and what labels said of the belief."""
    found = stretches(run)
    marks = [Mark(float(one.round), "belief refuted") for one in run.refuted]
    figures: list[Figure | None] = [_money(run, marks)]
    figures += [_chart(run, found, name, marks) for name in (LABELLED_SHARE, UNASKED_ERROR, HELD)]
    count = cases_in_words(found["cases"][0])
    text = [f"The stream in {found.height} stretches of about {count}, one after the other."]
    if found.height == 1:
        text = [f"The stream is too short to be cut into stretches: all {count} are one."]
    if found[HELD].null_count() < found.height:
        text.append(
            "The 95% interval of every case was made before its label was looked at; 95 in 100 should hold "
            "their label."
        )
    standing = run.learner.ledger.standing
    if standing is not None:
        text.append(about_trust(standing))
    text += [refuted_in_words(one, yes_no=says_yes_or_no(run.learner.belief)) for one in run.refuted]
    return Section(title="Over time", text=text, figures=[one for one in figures if one is not None])


def _money(run: TableRun, marks: list[Mark]) -> Figure:
    """Sums so far, at some of the cases."""
    table = run.decisions.with_columns(case=pl.row_index() + 1)
    spend = (pl.col("cost") * pl.col("wants_label")).cum_sum()
    errors = run.options.errors
    everyone, so_far = everyone_so_far(run.cases, run.options)
    without = pl.lit(pl.Series(errors_without_labels(run.cases.labels, errors.level)))
    sums = table.select(
        "case",
        spend.alias("spent on labels"),
        (spend + errors.unit * pl.col("error").cum_sum()).alias("total"),
        pl.lit(pl.Series(so_far)).alias(everyone),
        (errors.unit * without.cum_sum()).alias(NO_ONE),
    )
    some, name = rows_to_draw(sums, len(run.cases), lines=4), name_of(run.options)
    lines = [
        line_through(name, some["case"], some["total"], remark="total"),
        line_through(everyone, some["case"], some[everyone], remark="total"),
        line_through(NO_ONE, some["case"], some[NO_ONE], remark="total"),
        line_through(name, some["case"], some["spent on labels"], kind="dashed", remark="spent on labels"),
    ]
    unit = f" ({run.options.currency})" if run.options.currency else ""
    chart = Chart(
        name="money", title="Money so far", x_label="case", y_label=f"money{unit}", lines=lines, marks=marks
    )
    return figure_of(chart, rows_to_read(some))


def stretches(run: TableRun) -> pl.DataFrame:
    """A row for each stretch of the stream."""
    count = len(run.cases)
    parts = min(STRETCHES, max(1, count // CASES_A_STRETCH))
    inside = (pl.col("normal_score").abs() <= STD_95).cast(pl.Float64)
    error = pl.col("error").filter(UNLABELLED)
    return (
        run.decisions.with_columns(
            case=pl.row_index() + 1, place=pl.row_index().cast(pl.Int64) * parts // count
        )
        .group_by("place")
        .agg(
            pl.col("case").min().alias("from case"),
            pl.col("case").max().alias("to case"),
            pl.len().alias("cases"),
            pl.col("wants_label").sum().alias(LABELLED_SHARE),
            error.mean().alias(UNASKED_ERROR),
            (STD_95 * error.std() / error.len().sqrt()).alias("error half"),
            inside.filter(pl.col("normal_score").is_finite()).mean().alias(HELD),
        )
        .sort("place")
        .drop("place")
        .collect(engine="streaming")
    )


def _chart(run: TableRun, found: pl.DataFrame, name: str, marks: list[Mark]) -> Figure | None:
    """One of the three numbers, stretch after stretch."""
    seen = found.filter(pl.col(name).is_not_null())
    if not seen.height or (name == HELD and says_yes_or_no(run.learner.belief)):
        return None
    middle, y, band = (seen["from case"] + seen["to case"]) / 2, seen[name], {}
    if name == UNASKED_ERROR:
        half = seen["error half"].fill_null(0.0)
        band = {"low": (y - half).clip(0.0).to_list(), "high": (y + half).to_list()}
    lines = [line_through(name_of(run.options), middle, y, **band)]
    if name == HELD:
        ends = [1.0, float(len(run.cases))]
        lines.append(line_through("as promised", ends, [0.95, 0.95], kind="reference"))
    unit = f" ({run.options.unit})" if name == UNASKED_ERROR and run.options.unit else ""
    title = name[0].upper() + name[1:]
    chart = Chart(
        name=f"{name.replace(' ', '-').replace('%', '')}-over-time",
        title=title,
        x_label="case",
        y_label={LABELLED_SHARE: "labels a stretch", HELD: "share of labels inside"}.get(name, name + unit),
        lines=lines,
        marks=marks,
    )
    columns = ["from case", "to case", "cases", LABELLED_SHARE, UNASKED_ERROR, HELD]
    numbers = found.select(columns) if name == LABELLED_SHARE else None
    caption = "The band is the 95% interval of the mean." if band else ""
    return figure_of(chart, numbers, caption)


# -- the self-check ------------------------------------------------------------------------------------


def about_trust(standing: Standing) -> str:
    """How the belief stands, and what the labels that tested it say of it.

    >>> about_trust(Standing(tests=68, evidence=0.3))
    'The belief is consistent: 68 labels have tested it, and none refuted it.'
    >>> about_trust(Standing(tests=9, evidence=70.0, alarms=1, refuted_since=8)).partition(";")[0]
    'The belief is refuted since case 8: 9 labels have tested it, and refuted it once'
    >>> about_trust(Standing())
    'No label has tested the belief yet.'
    """
    if not standing.tests:
        return "No label has tested the belief yet."
    labels = "1 label has" if standing.tests == 1 else f"{standing.tests:,} labels have"
    times = "once" if standing.alarms == 1 else f"{standing.alarms:,} times"
    refuted = f"refuted it {times}" if standing.alarms else "none refuted it"
    since = {
        "consistent": "; those since do not contradict it" if standing.alarms else "",
        "in doubt": "; the last of them speak against it",
        "refuted": "; whether what it did about that is enough is not known yet",
    }[standing.state]
    return f"The belief is {_in_cases(standing)}: {labels} tested it, and {refuted}{since}."


def _in_cases(standing: Standing) -> str:
    """Its state in words, as a table counts."""
    return standing.words.replace(" round ", " case ")


def refuted_in_words(one: Refuted, *, yes_no: bool) -> str:
    """When the belief was refuted, and what it did about it.

    >>> refuted_in_words(Refuted(9, "", 1200, 80, 1.0), yes_no=False)
    'At case 1,200 labels refuted the belief: it set aside its first 80 labels, from before a change.'
    """
    did = f"it set aside its first {one.outdated:,} labels, from before a change"
    if not one.outdated:
        did = f"its intervals became {one.widened:.3g} times as wide, as no change explains the labels better"
        if yes_no:
            did = "no change explains the labels better, and claims about yes and no cannot be made wider"
    return f"At case {one.round:,} labels refuted the belief: {did}."


def warnings(run: TableRun) -> list[str]:
    """What must be known before anything else: that labels refuted the belief, and how it stands now."""
    standing = run.learner.ledger.standing
    if standing is None or not run.refuted:
        return []
    last, times = run.refuted[-1], len(run.refuted)
    how_often = "" if times == 1 else f" {times:,} times, last"
    now = {
        "consistent": "Labels since then do not contradict it.",
        "in doubt": "Labels since then speak against it as well: be careful with its predictions.",
        "refuted": "Whether that is enough is not known yet: be careful with its predictions.",
    }[standing.state]
    after = refuted_in_words(last, yes_no=says_yes_or_no(run.learner.belief)).partition(": ")[2]
    return [f"The labels refuted what breakeven believed{how_often} at case {last.round:,}: {after} {now}"]
