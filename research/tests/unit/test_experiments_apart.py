"""Rule and belief apart: the best λ of each belief, paired ratios, and what is said of them."""

import numpy as np
import pytest

from breakeven_research.experiments import phases, wish
from breakeven_research.experiments.exhibits import apart
from breakeven_research.experiments.exhibits.panels import PANELS
from breakeven_research.experiments.runs.apart_runs import ApartJob, scales_of
from breakeven_research.experiments.runs.trials import Curve

PANEL = {panel.name: panel for panel in PANELS}
BRANIN = PANEL["branin-b10"]


def flat(loss):
    return Curve([1], [0], [loss])


def trial(number, never=9.0, **losses):
    """A trial of Branin where every run loses 8, but for those given by name (`_` for `-`)."""
    names = {"never": never}
    for price in BRANIN.problem.prices:
        for belief in ("paper", "ours"):
            for rule in (*(f"{scale:g}" for scale in scales_of(price)), "known", "unknown"):
                names[f"{belief}-{rule}-{price.tag}"] = 8.0
    given = {name.replace("_", "-"): loss for name, loss in losses.items()}
    assert set(given) <= set(names)
    return ApartJob("branin", number), {name: flat(loss) for name, loss in (names | given).items()}


def measured():
    return [
        trial(0, ours_2_b10=4.0, ours_known_b10=3.0, ours_unknown_b10=6.0, paper_1_b10=6.0),
        trial(1, ours_2_b10=6.0, ours_known_b10=5.0, ours_unknown_b10=4.0, paper_1_b10=6.0),
    ]


def test_the_best_scale_of_each_belief_is_found_in_hindsight():
    found = apart.measured(BRANIN, measured())
    assert found.scales == {"paper": 1.0, "ours": 2.0}
    assert found.best["ours"].tolist() == [4.0, 6.0]
    assert found.value["ours", "unknown"].tolist() == [6.0, 4.0]


def test_a_comparison_is_paired_by_trial():
    found = apart.measured(BRANIN, measured())
    known, unknown = (found.against_rule("ours", horizon) for horizon in ("known", "unknown"))
    assert (known.ratio, known.wide) == pytest.approx((0.8, 0.0))  # 1 less in both
    assert unknown.ratio == 1.0
    assert unknown.wide == pytest.approx(1.96 * np.std([2.0, -2.0], ddof=1) / np.sqrt(2) / 5.0)
    assert not known.within_noise
    assert unknown.within_noise


def test_one_trial_has_no_interval():
    (one, _) = measured()
    found = apart.measured(BRANIN, [one]).against_rule("ours", "known")
    assert (str(found), found.within_noise) == ("0.75", True)


def test_the_sentences_name_belief_and_horizon():
    text = apart.section(measured(), [BRANIN]).text
    assert "2 trials" in text[0]
    assert text[1].startswith(
        "On Value's belief, horizon known, `Value` costs no more than the paper's rule at its best λ in "
        "1 of 1 panels (0 of them within paired noise), 0.8 times as much"
    )
    assert text[3].startswith("On the paper's belief, horizon known, `Value` costs no more")
    assert "in 0 of 1 panels" in text[3]
    assert "costs 0.833 times as much on `Value`'s belief" in text[5]
    assert text[6].endswith("horizon known, in 0 of 1 panels.")


def test_where_never_labelling_costs_less_is_named():
    (one, _) = measured()
    text = apart.section([trial(0, never=2.0), one], [BRANIN]).text
    assert text[6].endswith("horizon known, in 0 of 1 panels.")
    text = apart.section([trial(0, never=2.0)], [BRANIN]).text
    assert text[6].endswith("in 1 of 1 panels: branin-b10 4×.")


def test_what_was_not_run_is_not_shown():
    assert apart.section([], [BRANIN]) is None


def test_both_rules_run_on_both_beliefs():
    curves = ApartJob("discrete-k10-uniform", 0, rounds=60).run()
    tags = [price.tag for price in PANEL["discrete-k10-uniform-b10"].problem.prices]
    assert {f"{belief}-{rule}-{tag}" for belief in ("paper", "ours") for rule in ("1", "known", "unknown")
            for tag in tags} <= set(curves)  # fmt: skip
    assert curves["ours-1-b10"].labels == curves["paper-1-b10"].labels  # a prior moves answers alone
    smooth = ApartJob("branin", 0, rounds=14).run()
    assert smooth["ours-16-b100"].labels[:5] == [1, 2, 3, 3, 3]
    assert smooth["paper-16-b100"].labels[-1] == 10


def test_it_is_run_by_its_name_alone():
    (jobs,) = phases(wish(["apart"], trials=2)).values()
    assert {type(job) for job in jobs} == {ApartJob}
    assert len(jobs) == 2 * 9
