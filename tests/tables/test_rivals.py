"""Other rules at equal spend, other costs, other orders, and what stays of them when interrupted."""

from contextlib import contextmanager
from math import fsum

import numpy as np
import polars as pl
import pytest

from breakeven.tables import rivals
from breakeven.tables.rivals import equal_chance
from breakeven.tables.simulation import carry_out
from breakeven.values.bill import COST_FACTORS
from tests.tables.samples import bill_of, cases_of, smooth, typed

RIVALS = ["the paper's threshold", "random, equal spend", "variable, equal spend"]


def with_prices(frame, low=0.2, high=2.0):
    prices = np.random.default_rng(1).uniform(low, high, frame.height)
    return frame.with_columns(pl.Series("price", prices))


# -- other rules -----------------------------------------------------------------------------------------

STREAMS = {
    "one price": (smooth(150), {"cost": 0.5}),
    "prices of their own": (with_prices(smooth(150)), {"cost_column": "price", "features": ["a", "b"]}),
    "the paper's rule first": (smooth(150), {"cost": 0.5, "rule": "threshold"}),
    "types": (typed(), {"cost": 3.0, "type": "kind"}),
    "types with prices": (with_prices(typed(), 1.0, 5.0), {"cost_column": "price", "type": "kind"}),
    "everyone": (smooth(60), {"cost": 0.3, "rule": "always"}),
    "no one": (typed(), {"cost": 2.0, "type": "kind", "rule": "never"}),
    "seed labels": (smooth(150), {"cost": 0.7, "seed_labels": smooth(30, seed=1)}),
}


SLOW_STREAMS = ("the paper's rule first", "everyone", "seed labels")


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        pytest.param(*stream, id=name, marks=[pytest.mark.slow] if name in SLOW_STREAMS else [])
        for name, stream in STREAMS.items()
    ],
)
def test_equal_spend_is_never_more_and_random_is_within_one_label_of_it(frame, options):
    outcome = bill_of(frame, compare=True, **options)
    ours, price = outcome.rows[2].spend, outcome.run.cases.label_costs(options.get("cost")).max()
    rows = {row.name: row for row in outcome.rows}
    assert ours - price < rows["random, equal spend"].spend <= ours
    assert rows["variable, equal spend"].spend <= ours


def test_random_buys_as_many_where_all_cost_the_same():
    outcome = bill_of(smooth(150), cost=0.3, compare=True)
    rows = {row.name: row for row in outcome.rows}
    assert list(rows) == ["label everyone", "label no one *", "breakeven", *RIVALS]
    assert rows["random, equal spend"].labels == rows["breakeven"].labels > 0
    assert rows["variable, equal spend"].labels > 0


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (typed(types=12), {"type": "kind", "noise_std": 0.5, "cost": 5.0}),
        (typed(types=12), {"type": "kind", "cost": 5.0}),
        (smooth(150), {"cost": 5.0}),
        (smooth(150), {"cost": 5.0, "seed_labels": smooth(30, seed=1)}),
    ],
)
def test_it_does_not_matter_where_zero_lies(frame, options):
    far = dict(options)
    if "seed_labels" in options:
        far["seed_labels"] = options["seed_labels"].with_columns(pl.col("y") + 1000.0)
    plain = bill_of(frame, compare=True, **options)
    moved = bill_of(frame.with_columns(pl.col("y") + 1000.0), compare=True, **far)
    for one, other in zip(plain.rows, moved.rows, strict=True):
        assert (one.name, one.labels) == (other.name, other.labels)
        assert one.total == pytest.approx(other.total, rel=1e-3), one.name


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        pytest.param(*STREAMS[name], id=name, marks=[pytest.mark.slow] if place else [])
        for place, name in enumerate(list(STREAMS)[:5])
    ],
)
def test_spend_is_equal_over_every_order(frame, options):
    outcome = bill_of(frame, compare=True, trials=2, **options)
    price = outcome.run.cases.label_costs(options.get("cost")).max()
    for ours, *rest in outcome.orders:
        rows = {row.name: row.spend for row in rest}
        assert ours.spend - price < rows["random, equal spend"] <= ours.spend
        assert rows["variable, equal spend"] <= ours.spend


def test_the_chance_is_the_largest_that_can_be_paid():
    random = np.random.default_rng(0)
    draws, prices = random.random(300), random.choice([0.1, 0.3, 0.7], 300)
    for money in [0.0, 0.1, *(0.1 * random.integers(0, 1200, 40)), 1e6]:
        chance = equal_chance(draws, prices, money)
        assert fsum(prices[draws < chance]) <= money
        assert chance == 1.0 or fsum(prices[draws <= chance]) > money


def test_a_chance_is_the_part_that_random_labels():
    few, many = (
        bill_of(smooth(200), cost=0.5, rule="random", chance=chance).rows[2].labels for chance in (0.1, 0.9)
    )
    assert few == pytest.approx(20, abs=15)
    assert many == pytest.approx(180, abs=15)


# -- other costs ----------------------------------------------------------------------------------------


def test_the_sweep_has_the_bill_itself_in_it():
    outcome = bill_of(smooth(150), cost=0.5, sweep=True)
    sweep, ours = outcome.sweep, outcome.rows[2]
    place = sweep.at(0.5)
    assert sweep.label_costs == [0.5 * factor for factor in sorted(COST_FACTORS)]
    assert sweep.labels[place] == ours.labels
    assert (sweep.total[place], sweep.saved[place]) == (ours.total, ours.saved)
    assert sweep.labels[0] >= sweep.labels[-1]


def test_prices_at_which_a_run_would_take_longer_are_left_out_and_said(monkeypatch):
    monkeypatch.setattr(rivals, "AFFORDED", 10)
    outcome = bill_of(smooth(150), cost=0.2, sweep=True)
    assert outcome.sweep.label_costs == [0.2 * factor for factor in sorted(COST_FACTORS) if factor >= 1.0]
    assert outcome.notes[-1] == (
        "Costs of 0.05 and 0.1 were left out: with that many labels to buy, a run would take longer than the "
        "first one."
    )


def test_below_a_price_that_is_left_out_nothing_is_run(monkeypatch):
    monkeypatch.setattr(rivals, "AFFORDED", 10)
    asked, run = [], rivals.run
    monkeypatch.setattr(
        rivals, "run", lambda *words, **named: asked.append(words[1].cost) or run(*words, **named)
    )
    bill_of(smooth(150), cost=0.2, sweep=True)
    assert asked == [0.1, 0.4, 0.8, 1.6, 3.2]


@pytest.mark.parametrize("rule", ["always", "never", "random", "variable"])
def test_rules_that_ask_no_price_are_not_run_anew(monkeypatch, rule):
    frame = with_prices(smooth(100))
    options = {"rule": rule, "features": ["a", "b"], "cost_column": "price"}
    dearer = bill_of(frame.with_columns(pl.col("price") * 4), **options).rows[2]
    monkeypatch.setattr(rivals, "run", None)
    sweep = bill_of(frame, sweep=True, **options).sweep
    place = sorted(COST_FACTORS).index(4.0)
    assert (sweep.labels[place], sweep.spend[place]) == (dearer.labels, pytest.approx(dearer.spend))
    assert (sweep.total[place], sweep.saved[place]) == pytest.approx((dearer.total, dearer.saved))


@pytest.mark.parametrize(("cost", "count"), [(2e99, 5), (1e-50, 5)])
def test_prices_beyond_what_can_be_computed_with_are_left_out(cost, count):
    assert len(bill_of(smooth(30), cost=cost, sweep=True).sweep.label_costs) == count


# -- interrupted -----------------------------------------------------------------------------------------


def interrupted(part, runs):
    """Everything is asked for, and stopped in this part after so many runs."""
    now, begun = [""], []

    @contextmanager
    def progress(title):
        now[0] = title
        yield None

    def stop():
        return now[0] == part and len(begun) > runs

    run, count = rivals.run, begun.append

    def counted(*words, **named):
        if now[0] == part:
            count(part)
        return run(*words, **named)

    cases, options = cases_of(typed(100), type="kind", cost=1.0, noise_std=0.5)
    options = options.but(compare=True, sweep=True, trials=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "run", counted)
        return carry_out(cases, options, progress=progress, stop=stop)


def test_rules_that_are_done_stay():
    outcome = interrupted("other rules", 2)
    assert [row.name for row in outcome.more] == RIVALS[:2]
    assert (outcome.sweep, outcome.trials) == (None, [])
    assert outcome.summary()["unfinished"] == ["other rules", "other costs", "other orders"]
    assert outcome.notes[-1] == (
        "Interrupted: other rules, other costs and other orders were not run to the end; what was done by "
        "then is shown."
    )


def test_prices_that_are_done_stay():
    outcome = interrupted("other costs", 3)
    assert [row.name for row in outcome.more] == RIVALS
    assert outcome.sweep.label_costs == [0.25, 0.5, 1.0, 2.0]
    assert outcome.unfinished == ["other costs", "other orders"]


def test_orders_that_are_done_stay_if_there_are_two():
    outcome = interrupted("other orders", 9)
    assert len(outcome.orders) == 2
    assert [row.name for row in outcome.trials] == [row.name for row in outcome.rows]
    assert all(row.low <= row.total <= row.high for row in outcome.trials[2:])
    assert interrupted("other orders", 7).trials == []


def test_what_is_not_interrupted_is_whole():
    outcome = interrupted("other orders", 99)
    assert (len(outcome.orders), outcome.unfinished, outcome.remarks) == (3, [], [])


def test_a_budget_that_cannot_pay_for_a_label_buys_none():
    outcome = bill_of(smooth(100), cost=5.0, rule="variable", budget=20.0, sweep=True)
    bought = dict(zip(outcome.sweep.label_costs, outcome.sweep.labels, strict=True))
    assert bought[5.0] > 0
    assert bought[40.0] == bought[80.0] == 0
