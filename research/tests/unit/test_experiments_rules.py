"""`Value` beside the paper's rule: what is compared, counted and said, from results made up by hand."""

import pytest

from breakeven_research.experiments import phases, wish
from breakeven_research.experiments.exhibits import ablations, rules
from breakeven_research.experiments.exhibits.panels import PANELS
from breakeven_research.experiments.runs.jobs import (
    NUMBERS,
    VARIATIONS,
    FixedJob,
    ScaleJob,
    ValueJob,
    VariationJob,
    grid_of,
)
from breakeven_research.experiments.runs.problems import HELD_OUT, problem_named
from tests.unit.test_experiments_exhibits import PANEL, flat, table_of, trial

BRANIN, TYPES = PANEL["branin-b100"], PANEL["discrete-k10-uniform-b10"]


def grid(panel, number, **losses):
    """The paper's rule over its scales: 9 a round, but for the scales given."""
    scales = grid_of(panel.price)
    curves = {repr(scale): flat(losses.get(f"at_{scale:g}", 9.0)) for scale in scales}
    return ScaleJob(panel.problem.name, "text", panel.price.label_cost, number, scales), curves


def value(panel, known, unknown, recipe="text", number=0):
    prices = panel.problem.prices
    curves = {f"known-{price.tag}": flat(known) for price in prices}
    curves |= {f"unknown-{price.tag}": flat(unknown) for price in prices}
    return ValueJob(panel.problem.name, recipe, number), curves


def branin(known=3.0, unknown=6.0, there=16.0):
    """λ is 1 as published; 2 is best where it is tuned, and 4 on the streams reported on."""
    return [
        trial("branin", "text", **{"random_0.01": flat(0.7), "all": flat(8.0), "never": flat(5.0)}),
        grid(BRANIN, 0, at_1=6.0, at_2=5.0, at_4=4.0),
        grid(BRANIN, HELD_OUT, at_2=1.0),
        value(BRANIN, known, unknown),
        value(BRANIN, there, there, recipe="figures"),
    ]


def types(known=3.0, unknown=3.0):
    curves = {f"fixed-{most}": flat(2.0 + abs(most - 4)) for most in NUMBERS}
    return [
        trial("discrete-k10-uniform", "text"),
        grid(TYPES, 0),
        grid(TYPES, HELD_OUT),
        value(TYPES, known, unknown),
        (FixedJob("discrete-k10-uniform", "text", 0), curves),
    ]


def row_of(section, name, panel):
    table = table_of(section, name)
    (row,) = [row for row in table.rows if row[0] == panel]
    return dict(zip(table.columns, row, strict=True))


# -- the table ------------------------------------------------------------------------------------------


def test_a_row_holds_every_rule_and_what_is_best_in_hindsight():
    row = row_of(rules.section(branin(), [BRANIN]), "rules", "branin-b100")
    assert row == {
        "panel": "branin-b100",
        "published λ": 6.0,
        "held-out λ": 5.0,
        "best λ": 4.0,
        "Random, best p": 0.7,
        "Label all": 8.0,
        "Never": 5.0,
        "best fixed number": None,
        "Value": 3.0,
        "Value, horizon unknown": 6.0,
    }


def test_types_have_a_best_fixed_number_of_labels():
    assert row_of(rules.section(types(), [TYPES]), "rules", TYPES.name)["best fixed number"] == 2.0


def test_ratios_are_of_the_table():
    row = row_of(rules.section(branin(), [BRANIN]), "rules-ratios", "branin-b100")
    assert list(row.values())[1:] == [0.75, 0.5, 2.0]


@pytest.mark.parametrize(("there", "below"), [(16.0, True), (18.0, False)])
def test_the_papers_end_point_is_compared_on_both_streams(there, below):
    section = rules.section(branin(there=there), [BRANIN])
    row = row_of(section, "rules-end-points", "branin-b100")
    assert list(row.values()) == ["branin-b100", 17.0, 3.0, True, there, below, "its figure, by eye"]
    assert section.text[-1] == (
        "`Value`, horizon known, lies below the published end point in 1 of 1 panels on the text's streams, "
        f"and on the figures' own streams in {below:d} of 1; 1 of these end points are the paper's own, read "
        "off its figures by eye, and 0 are simulated again from its settings."
    )


def test_without_the_figures_streams_only_the_texts_are_compared():
    results = [one for one in branin() if one[0].recipe == "text"]
    section = rules.section(results, [BRANIN])
    assert row_of(section, "rules-end-points", "branin-b100")["below there"] is None
    assert "in 1 of 1 panels on the text's streams; 1 of these" in section.text[-1]


def test_the_sentence_counts_panels_and_names_the_worst_and_the_mean():
    section = rules.section(branin() + types(known=9.9, unknown=9.9), [TYPES, BRANIN])
    assert section.text[1] == (
        "`Value` on its own belief costs no more than the paper's rule on the paper's belief at its best λ "
        "in hindsight in **1 of 2** panels where it knows its horizon and in **0 of 2** where it does not; "
        "0.908 and 1.28 times as much in the geometric mean, and 1.1 and 1.5 times at worst. That compares "
        "rule and belief at once; the next section takes them apart, with paired intervals. Against the "
        "published λ, which was chosen for another threshold, the mean is 0.742, horizon known. Not knowing "
        "its horizon, `Value` costs 2 times as much as knowing it at worst, and 1.41 times in the geometric "
        "mean. Never labelling costs less than `Value` in 1 of 2 panels, horizon known, and in 2, horizon "
        "unknown."
    )


def test_as_much_as_in_hindsight_is_no_more():
    assert (
        "**1 of 1** panels where it knows its horizon" in rules.section(branin(known=4.0), [BRANIN]).text[1]
    )


@pytest.mark.parametrize("missing", range(4))
def test_a_panel_of_which_something_was_not_run_is_left_out(missing):
    results = branin()
    del results[missing]
    assert rules.section(results, [BRANIN]) is None


def test_losses_are_drawn_beside_those_in_hindsight():
    figure = rules.section(branin() + types(), [TYPES, BRANIN]).figures[0]
    assert [(chart.name, chart.y_names) for chart in figure.charts] == [
        ("types", ["discrete-k10-uniform-b10"]),
        ("numbers", ["branin-b100"]),
    ]
    drawn = {line.label: line.x for line in figure.charts[1].lines}
    assert drawn["Value"] == [0.75]
    assert drawn["best λ"] == [1.0, 1.0]


# -- the ablation ---------------------------------------------------------------------------------------


def varied(panel, **losses):
    curves = {
        f"{name}-{price.tag}": flat(losses.get(name.replace(" ", "_"), 3.0))
        for name in VARIATIONS
        for price in panel.problem.prices
        if panel.problem.warmup or name in ("not later", "no lessons")
    }
    return VariationJob(panel.problem.name, 0), curves


def test_an_ablation_has_a_column_for_each_variation_and_says_what_each_costs():
    results = [*branin(), *types(), varied(BRANIN, no_lessons=6.0), varied(TYPES, no_lessons=1.5)]
    section = ablations.value_section(results, [TYPES, BRANIN])
    assert row_of(section, "value-ablation", "branin-b100")["no lessons"] == 6.0
    assert row_of(section, "value-ablation", TYPES.name)["no prior"] is None
    assert section.text[1] == (
        "Losses as a multiple of those of `Value` as it is, in the geometric mean: not later 1, "
        "no lessons 1, no optimism 1, flat lengthscales 1, no prior 1, 5d labels first 1."
    )


def test_no_ablation_is_shown_where_none_was_run():
    assert ablations.value_section(branin(), [BRANIN]) is None


# -- what is asked for ----------------------------------------------------------------------------------


def test_the_papers_exhibits_are_all_there_is_unless_rules_are_asked_for():
    ours = {"rules", "apart", "value-ablation"}
    assert not ours & set(wish().names)
    assert {*wish().names} | ours == set(wish(rules=True).names) == set(wish(["all"]).names)


def test_rules_are_compared_on_the_panels_named_or_on_all():
    assert wish(["rules"]).judged == [*PANELS]
    assert wish(["rules"]).panels == []
    named = wish(["branin-b10"], rules=True)
    assert [panel.name for panel in named.judged] == ["branin-b10"]
    assert wish(["branin-b10"]).judged == []


def jobs(*names, **how):
    return [job for found in phases(wish(names, **how)).values() for job in found]


def test_what_the_paper_did_is_run_beside_by_the_text_whatever_the_recipe():
    found = jobs("branin-b10", "rules", recipe="figures", trials=1)
    kinds = {(type(job).__name__, job.recipe) for job in found}
    assert kinds == {
        ("PanelJob", "figures"),
        ("PanelJob", "text"),
        ("ScaleJob", "text"),
        ("ValueJob", "text"),
        ("ValueJob", "figures"),
    }


def test_an_ablation_alone_needs_value_and_its_variations_only():
    found = jobs("value-ablation", trials=1)
    problems = len({panel.problem for panel in PANELS})
    assert {type(job).__name__ for job in found} == {"ValueJob", "VariationJob"}
    assert sum(isinstance(job, VariationJob) for job in found) == problems
    assert {job.recipe for job in found if isinstance(job, ValueJob)} == {"text"}


def test_fixed_numbers_are_for_types():
    found = [job for job in jobs("rules", trials=1) if isinstance(job, FixedJob)]
    assert {problem_named(job.problem).algorithm for job in found} == {"Algorithm 1"}
