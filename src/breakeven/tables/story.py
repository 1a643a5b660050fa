"""A run as pictures and words: what was spent and missed, what was bought, how good predictions are.

No id and no feature is shown, unless ids are asked for: then every point has the id of its case. Before a
belief was first fitted its uncertainty is a guess; the record leaves it empty, and so do the pictures.
"""

import numpy as np
import polars as pl

from breakeven.beliefs.recognised import YES_NO_VALUES, says_yes_or_no
from breakeven.rows.copies import LABELS_TRIED, copies_among
from breakeven.tables.billing import final_noise
from breakeven.tables.cases import Cases
from breakeven.tables.over_time import over_time
from breakeven.tables.pictures import LABELLED, UNLABELLED, bought, predicted, row_count
from breakeven.tables.run import TableRun
from breakeven.values import AuditReport, BillRow, Section
from breakeven.values.amounts import amount, listed
from breakeven.values.bill import NO_ONE, Comparison
from breakeven.values.bill_words import doing, money


def facts(run: TableRun) -> list[str]:
    """What the bill is about, in a few words each."""
    cases, options = run.cases, run.options
    wrong = f"being wrong by 1 costs {_money(run, options.errors.unit)}"
    under, over = _money(run, options.errors.under), _money(run, options.errors.over)
    if says_yes_or_no(run.learner.belief):
        wrong = f"a miss costs {under}, a false alarm {over}"
    elif not options.errors.even:
        wrong = f"an answer too low by 1 costs {under}, one too high {over}"
    label = f"label `{options.label}`" + (f" in {options.unit}" if options.unit else "")
    return [f"{len(cases):,} cases", label, _cost_words(run), wrong, *_limits(run)]


def _money(run: TableRun, number: float) -> str:
    return money(number, run.options.currency)


def _cost_words(run: TableRun) -> str:
    """What a label costs."""
    cases, options = run.cases, run.options
    if options.labeller is not None:
        some = [
            f"{name} {_money(run, one.cost)} a label with noise {amount(one.noise_std)}"
            for name, one in options.labellers.items()
        ]
        return f"labellers: {listed(some)}"
    costs = f"{_money(run, float(cases.label_costs(options.cost).mean()))} a label"
    if cases.costs is not None:
        costs = f"costs from `{options.cost_column}`, on average {costs}"
    return costs


def _limits(run: TableRun) -> list[str]:
    """What else was asked for, in a few words each."""
    options, said = run.options, []
    if options.budget is not None:
        said.append(f"a budget of {_money(run, options.budget)}")
    if options.per is not None:
        said.append(f"at most {_money(run, options.per[0])} in any {options.per[1]:,} cases")
    if options.audit is not None:
        said.append(f"{100.0 * options.audit:.3g}% of what is declined is audited")
    if options.half_life is not None:
        said.append(f"a label counts half after {amount(options.half_life)} cases")
    elif options.forgetting is not None:
        said.append("labels say how fast they grow old")
    return said


def about_limits(run: TableRun) -> list[str]:
    """What became of a budget, an audit, a half-life left to the labels, and labellers."""
    options, ledger, said = run.options, run.learner.ledger, []
    if options.forgetting == "fit":
        found = run.learner.belief.describe()["half_life"]
        said.append(
            "The labels do not show that they grow old: none is forgotten."
            if found is None
            else f"By what the labels show, one counts half after {amount(found)} cases."
        )
    if options.budget is not None:
        spent = _money(run, ledger.label_spend)
        said.append(f"Of the budget of {_money(run, options.budget)}, {spent} was spent.")
    if options.per is not None:
        most = _money(run, options.per[0])
        said.append(f"In no {options.per[1]:,} cases in a row was more than {most} spent on labels.")
    if (audit := ledger.audit) is not None:
        said.append(
            f"Audit: {audit.audited:,} of {_could_be_drawn(audit):,} cases that the rule declined were "
            f"labelled all the same, drawn at random. By these alone the mean error where nobody asked is "
            f"between {amount(audit.absolute.low)} and {amount(audit.absolute.high)} ({audit.level:.0%}), "
            f"if no answer is further off than {amount(audit.assumption.bound)}.{_not_audited(audit)}"
        )
    if options.labeller is not None:
        counts = run.decisions.filter(LABELLED).group_by("labeller").len().sort("labeller").collect()
        asked = (
            listed([f"{name} for {count:,}" for name, count in counts.iter_rows()])
            if counts.height
            else "no one"
        )
        said.append(
            "The labels of the table stand for the truth: what a labeller says is drawn around it, with the "
            f"noise given. A labelled case is answered by the prediction that knows this. Asked: {asked}."
        )
    return said


def _could_be_drawn(audit: AuditReport) -> int:
    """How many declined cases an audit speaks of."""
    return audit.declined if audit.stopped_at is None else audit.covers


def _not_audited(audit: AuditReport) -> str:
    """Which declined cases an audit says nothing of, because there was no money for it."""
    said = ""
    if audit.uncovered:
        said += f" It says nothing of {audit.uncovered:,} others, for which an audit could not be paid."
    if audit.stopped_at is not None:
        said += f" From case {audit.stopped_at:,} on no audit could be paid, so it says nothing of the rest."
    return said


def lead(run: TableRun, own: BillRow, found: Comparison) -> str:
    """What our rule would have done and cost, in a sentence or two."""
    unit = f" {run.options.unit}" if run.options.unit else ""
    count = len(run.cases)
    said = (
        f"**{own.name}** would have bought {amount(own.labels)} of {count:,} labels for "
        f"{_money(run, own.spend)}, at a mean error of {amount(own.mean_error)}{unit} over all cases"
    )
    if own.unasked_error is not None and own.labels:
        said += f" and {amount(own.unasked_error)}{unit} where nobody asked"
    said += (
        f": {_money(run, own.total)} in all. {_sentence(doing(found.than))} costs {_money(run, found.total)}."
    )
    if found.saved < 0.0 and found.than == NO_ONE.removesuffix(" *"):
        said += " Its single answer is known only afterwards and counted here as free."
    return said


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def about_errors(run: TableRun) -> str:
    """How errors are counted, and how noisy labels are thought to be."""
    said = "Errors are against the labels as they are, noise included: what is labelled counts as right."
    if run.options.labeller is not None:
        said = "Errors are against the labels of the table."
    errors = run.options.errors
    if says_yes_or_no(run.learner.belief):
        return about_answers(run)
    if not errors.even:
        said += (
            f" An answer too low counts {2.0 * errors.level:.3g} times its distance, one too high "
            f"{2.0 * (1.0 - errors.level):.3g} times, so answers are {100.0 * errors.level:.3g}% quantiles."
        )
    noise_std = final_noise(run)
    if noise_std is None or run.options.labeller is not None or not _any_known(run):
        return said
    if run.options.noise_std is not None:
        return f"{said} The noise of labels was given: a standard deviation of {amount(noise_std)}."
    told = run.learner.belief.describe()
    between = told.get("noise_between")
    if between is None:
        taken = f" It was taken to be {run.noise_from}." if told.get("noise_from") == "spread" else ""
        return f"{said} The noise of labels is not known.{taken}"
    words = f"between {amount(between[0])} and {amount(between[1])}"
    if amount(between[0]) == amount(between[1]):
        words = f"about {amount(noise_std)}"
    return (
        f"{said} The noise of labels is not known: fitted to the labels bought ({run.noise_from}), its "
        f"standard deviation is {words} for an average case; errors may lie below what that suggests where "
        "labels scatter less."
    )


def about_answers(run: TableRun) -> str:
    """How errors are counted where answers are yes and no, and how many there were."""
    count, errors = pl.col("label") - pl.col("prediction"), run.options.errors
    unlabelled = run.decisions.filter(UNLABELLED).select((count > 0.5).sum(), false=(count < -0.5).sum())
    misses, alarms = unlabelled.collect(engine="streaming").row(0)
    weights = f"{2.0 * errors.level:.3g} errors, a false alarm as {2.0 * (1.0 - errors.level):.3g}"
    said = (
        "Answers are yes or no: what is labelled counts as right, of the others a yes that was answered no "
        f"is a miss, a no that was answered yes a false alarm. Misses: {misses:,}; false alarms: {alarms:,}."
    )
    return said if errors.even else f"{said} A miss counts as {weights}."


def about_turns(run: TableRun) -> list[str]:
    """That labels were taken for yes and no, or for numbers again, where nobody had said what they are."""
    option, spoken = run.cases.option, run.cases.columns.label_column.kind != "number"
    found = (
        f"yes or no: answers are, too, from there on. Say {option('labels', 'yes/no')} to have them so from "
        "the first case on."
        if spoken
        else "0 or 1: they count as no and yes from there on. Say "
        f"{option('labels', 'yes/no')} if they are, or {option('labels', 'numbers')}."
    )
    return [
        f"{_since(round)} were {found}"
        if kind == "yes/no"
        else f"With case {round:,} a label came that is neither 0 nor 1: labels are numbers from there on."
        for round, kind in run.turns
    ]


def _since(round: int) -> str:
    """Since when labels were yes or no."""
    return f"After case {round:,} all labels bought" if round else "All labels owned from the start"


def about_belief(run: TableRun) -> list[str]:
    """What the belief says of itself, where it is an average."""
    told = run.learner.belief.describe()
    if "constant" not in told:
        return []
    if "common" in told:
        spoken = run.cases.columns.label_column.kind != "number" and told["common"] in YES_NO_VALUES
        common = ("no", "yes")[int(told["common"])] if spoken else amount(told["common"])
        return [
            f"Most labels bought are {common}: predictions say how likely a label is an exception, and take "
            "it to be one like those so far."
        ]
    models = "1 model" if told["members"] == 1 else f"{told['members']} models"
    return [
        f"Predictions are the average of {models} of how labels depend on features, each weighted by how "
        f"well it explains the labels bought; {told['constant']:.0%} of the weight says that the features "
        "tell nothing."
    ]


def about_copies(run: TableRun, seeds: Cases | None) -> list[str]:
    """A warning of columns that say the label itself, judged by labels of the table and those owned."""
    cases = run.cases
    places = np.unique(np.linspace(0, len(cases) - 1, min(len(cases), LABELS_TRIED)).astype(np.int64))
    some = cases.taken(places)
    points, labels = some.points, some.labels
    if seeds is not None and len(some) < LABELS_TRIED:
        more = seeds.first(LABELS_TRIED - len(some))
        points, labels = [*points, *more.points], np.append(labels, more.labels)
    copies = [f"`{name}`" for name in copies_among(cases.columns, points, labels)]
    if not copies:
        return []
    what = "feature" if cases.columns.type_column is None else "type"
    which = f"{listed(copies)} {'gives' if len(copies) == 1 else 'give'}"
    option = cases.option("features" if what == "feature" else "type")
    return [
        f"{which} every label exactly, as far as {len(labels):,} labels show: a {what} that is not known "
        f"before the label must be left out ({option})."
    ]


def _any_known(run: TableRun) -> bool:
    """Whether any prediction came with a known uncertainty."""
    return run.decisions.filter(pl.col("std").is_finite()).head(1).collect().height > 0


def sections(run: TableRun, *, ids: bool = False) -> list[Section]:
    """What there is to see of a run; `ids` let a reader ask which case a point is."""
    table = run.decisions.with_columns(pl.row_index("case") + 1)
    unlabelled = table.filter(UNLABELLED)
    count, id = row_count(unlabelled), ["id"] if ids else []
    parts = [over_time(run), bought(run, table, id)]
    return [*parts, predicted(run, unlabelled, count, id)] if count > 1 else parts
