"""Other rules at equal spend, other costs, other orders, and what stays of them when interrupted."""

from math import fsum

import numpy as np
import polars as pl
import pytest

from breakeven.errors import InvalidInput
from breakeven.tables import rivals, workers
from breakeven.tables.rivals import MOST_UNSURE, equal_chance
from breakeven.tables.simulation import carry_out
from breakeven.values.bill import AT_RANDOM
from tests.tables.samples import bill_of, cases_of, smooth, typed

OTHERS = ["the paper's threshold", MOST_UNSURE]


def with_prices(frame, low=0.2, high=2.0):
    prices = np.random.default_rng(1).uniform(low, high, frame.height)
    return frame.with_columns(pl.Series("price", prices))


# -- other rules -----------------------------------------------------------------------------------------

STREAMS = {
    "one price": (smooth(100), {"cost": 0.5}),
    "prices of their own": (with_prices(smooth(100)), {"cost_column": "price", "features": ["a", "b"]}),
    "the paper's rule first": (smooth(100), {"cost": 0.5, "rule": "threshold"}),
    "types": (typed(), {"cost": 3.0, "type": "kind"}),
    "types with prices": (with_prices(typed(), 1.0, 5.0), {"cost_column": "price", "type": "kind"}),
    "everyone": (smooth(60), {"cost": 0.3, "rule": "always"}),
    "no one": (typed(), {"cost": 2.0, "type": "kind", "rule": "never"}),
    "seed labels": (smooth(100), {"cost": 0.7, "seed_labels": smooth(30, seed=1)}),
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
    ours, price = outcome.own_row.spend, outcome.run.cases.label_costs(options.get("cost")).max()
    rows = {row.name: row for row in outcome.rows}
    assert ours - price < rows[AT_RANDOM].spend <= ours
    assert rows[MOST_UNSURE].spend <= ours


def test_random_buys_as_many_where_all_cost_the_same():
    outcome = bill_of(smooth(100), cost=0.3, compare=True)
    rows = {row.name: row for row in outcome.rows}
    assert list(rows) == ["label everyone", "label no one *", AT_RANDOM, "breakeven", *OTHERS]
    assert rows[AT_RANDOM].labels == rows["breakeven"].labels > 0
    assert rows[MOST_UNSURE].labels > 0


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (typed(types=12), {"type": "kind", "noise_std": 0.5, "cost": 5.0}),
        (typed(types=12), {"type": "kind", "cost": 5.0}),
        (smooth(100), {"cost": 5.0}),
        (smooth(100), {"cost": 5.0, "seed_labels": smooth(30, seed=1)}),
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
        assert ours.spend - price < rows[AT_RANDOM] <= ours.spend
        assert rows[MOST_UNSURE] <= ours.spend


def test_the_chance_is_the_largest_that_can_be_paid():
    random = np.random.default_rng(0)
    draws, prices = random.random(300), random.choice([0.1, 0.3, 0.7], 300)
    for money in [0.0, 0.1, *(0.1 * random.integers(0, 1200, 40)), 1e6]:
        chance = equal_chance(draws, prices, money)
        assert fsum(prices[draws < chance]) <= money
        assert chance == 1.0 or fsum(prices[draws <= chance]) > money


def test_a_chance_is_the_part_that_random_labels():
    few, many = (
        bill_of(smooth(200), cost=0.5, rule="random", chance=chance).own_row.labels for chance in (0.1, 0.9)
    )
    assert few == pytest.approx(20, abs=15)
    assert many == pytest.approx(180, abs=15)


# -- other costs ----------------------------------------------------------------------------------------


def test_the_sweep_has_the_bill_itself_in_it(outcome):
    sweep, rows = outcome.sweep, {row.name: row for row in outcome.rows}
    place = sweep.at(0.5)
    assert sweep.label_costs[place] == 0.5
    assert (sweep.labels[place], sweep.total[place]) == (outcome.own_row.labels, outcome.own_row.total)
    assert sweep.everyone[place] == rows["label everyone"].total
    assert sweep.no_one[place] == rows["label no one *"].total
    assert sweep.at_random[place] == rows[AT_RANDOM].total


def test_the_sweep_goes_from_where_everyone_is_labelled_to_where_as_good_as_no_one_is(outcome):
    sweep = outcome.sweep
    assert sweep.labels[0] == 100
    assert sweep.total[0] == sweep.everyone[0]
    assert sweep.labels[-1] <= 5
    assert sweep.total[-1] > sweep.no_one[-1]


def test_the_break_even_costs_lie_between_runs_that_say_so(outcome):
    sweep = outcome.sweep
    bills = {cost: place for place, cost in enumerate(sweep.label_costs)}
    asking, buying = sweep.break_even.worth_asking, sweep.break_even.buy_all
    assert asking.low < asking.cost < asking.high <= 1.5 * asking.low
    assert sweep.total[bills[asking.low]] < sweep.no_one[bills[asking.low]]
    assert all(
        sweep.total[place] >= sweep.no_one[place] for cost, place in bills.items() if cost >= asking.high
    )
    assert buying.low < buying.cost < buying.high <= 1.5 * buying.low
    assert sweep.everyone[bills[buying.low]] <= sweep.total[bills[buying.low]]
    assert sweep.everyone[bills[buying.high]] > sweep.total[bills[buying.high]]


def test_random_labels_everyone_too_where_the_money_is_enough():
    cases, options = cases_of(smooth(40), cost=1e-6)
    found = rivals.OneCost(1.0).done(rivals.Task(cases=cases, sample=cases, options=options), rivals.Runner())
    assert found.own.labels == 40
    assert found.at_random == found.everyone


def test_long_tables_are_swept_on_an_even_part_of_their_cases_and_that_is_said():
    outcome = bill_of(smooth(100), cost=0.5, sweep=True, sweep_rows=50)
    assert (outcome.sweep.cases, outcome.sweep.of_cases) == (50, 100)
    assert max(outcome.sweep.labels) == 50
    assert outcome.sweep.everyone == pytest.approx([50 * cost for cost in outcome.sweep.label_costs])
    assert "on 50 of the 100 cases, evenly spread over the stream" in outcome.rests_on
    assert outcome.sweep.label_costs[outcome.sweep.at(0.5)] == 0.5


def test_types_are_swept_as_they_are():
    outcome = bill_of(typed(200), type="kind", cost=2.0, noise_std=0.5, sweep=True, sweep_rows=60)
    assert outcome.sweep.cases == 200


@pytest.mark.parametrize("dtype", [pl.String, pl.Int64], ids=["words", "numbers"])
def test_very_many_types_are_swept_with_all_cases_of_some_of_them(dtype):
    random = np.random.default_rng(0)
    kinds = pl.Series("kind", random.permutation(np.repeat(np.arange(200), 3))).cast(dtype)
    frame = pl.DataFrame({"kind": kinds, "y": random.normal(size=600)})
    outcome = bill_of(frame, type="kind", cost=2.0, noise_std=0.5, sweep=True, sweep_rows=50)
    assert (outcome.sweep.cases, outcome.sweep.of_cases) == (150, 600)
    assert outcome.sweep.everyone == pytest.approx([150 * cost for cost in outcome.sweep.label_costs])
    assert "on 150 of the 600 cases, evenly spread over the stream" in outcome.rests_on


@pytest.mark.parametrize("rule", ["always", "never", "random", "variable"])
def test_rules_that_ask_no_price_are_run_anew_for_no_other_cost(monkeypatch, rule):
    frame = with_prices(smooth(100))
    options = {"rule": rule, "features": ["a", "b"], "cost_column": "price"}
    dearer = bill_of(frame.with_columns(pl.col("price") * 4), **options).own_row
    asked, run = [], rivals.run
    monkeypatch.setattr(rivals, "run", lambda *words, **named: asked.append(1) or run(*words, **named))
    outcome = bill_of(frame, sweep=True, **options)
    sweep = outcome.sweep
    place = sweep.at(4.0 * outcome.bill_cost)
    assert len(asked) == (rule != "random")
    assert (sweep.labels[place], sweep.spend[place]) == (dearer.labels, pytest.approx(dearer.spend))
    assert sweep.total[place] == pytest.approx(dearer.total)


@pytest.mark.parametrize("cost", [2e99, 1e-50])
def test_prices_beyond_what_can_be_computed_with_are_left_out(cost):
    costs = bill_of(smooth(30), cost=cost, sweep=True).sweep.label_costs
    assert 1e-50 <= min(costs) <= cost <= max(costs) <= 1e100


def test_a_budget_that_cannot_pay_for_a_label_buys_none():
    cases, options = cases_of(smooth(100), cost=5.0, rule="variable", budget=20.0)
    task = rivals.Task(cases=cases, sample=cases, options=options)
    at = {one: rivals.OneCost(one).done(task, rivals.Runner()).own.labels for one in (1.0, 16.0)}
    assert at[1.0] > at[16.0] == 0


# -- on several cores --------------------------------------------------------------------------------------


def everything(cores):
    return bill_of(smooth(50), cost=0.5, sweep=True, trials=2, cores=cores)


def test_several_cores_find_the_same_to_the_bit():
    alone, together = everything(1), everything(2)
    assert together.rows == alone.rows
    assert together.sweep == alone.sweep
    assert together.orders == alone.orders


def test_an_error_over_there_is_one_here():
    cases, options = cases_of(smooth(30), cost=0.5)
    task = rivals.Task(cases=cases, sample=cases, options=options)
    refused = rivals.OneRule("x", options.but(rule="value", budget=0.1))
    with (
        workers.Crew(task, 2, lambda rounds: None, lambda: False) as crew,
        pytest.raises(InvalidInput, match=r"budget: expected at least 0.5, the cost of one label"),
    ):
        list(crew.results([refused, refused]))


def test_a_crew_that_is_stopped_ends_its_workers():
    cases, options = cases_of(smooth(400), cost=0.5)
    task = rivals.Task(cases=cases, sample=cases, options=options)
    with workers.Crew(task, 2, lambda rounds: None, lambda: True) as crew:
        with pytest.raises(rivals.Stopped):
            list(crew.results([rivals.OneOrder(0), rivals.OneOrder(1)]))
        started = [one._process for one in crew._workers]
    assert started
    assert all(process.poll() is not None for process in started)


# -- interrupted -----------------------------------------------------------------------------------------


def interrupted(runs):
    """Everything is asked for, and stopped after so many runs besides the first."""
    begun = []
    run = rivals.run

    def counted(*words, **named):
        begun.append(1)
        return run(*words, **named)

    cases, options = cases_of(typed(100), type="kind", cost=1.0, noise_std=0.5)
    options = options.but(compare=True, sweep=True, trials=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "run", counted)
        outcome = carry_out(cases, options, stop=lambda: len(begun) > runs)
    return outcome, len(begun)


def test_rules_that_are_done_stay():
    outcome, _ = interrupted(2)
    assert [row.name for row in outcome.at_random + outcome.more] == [AT_RANDOM, OTHERS[0]]
    assert (outcome.sweep, outcome.trials) == (None, [])
    assert outcome.summary()["unfinished"] == ["other rules", "other costs", "other orders"]
    assert outcome.notes[-1] == (
        "Interrupted: other rules, other costs and other orders were not run to the end; what was done by "
        "then is shown."
    )


def test_prices_that_are_done_stay():
    outcome, _ = interrupted(8)
    assert [row.name for row in outcome.more] == OTHERS
    assert 2 <= len(outcome.sweep.label_costs) <= 4
    assert outcome.unfinished == ["other costs", "other orders"]


def test_orders_that_are_done_stay_if_there_are_two():
    _, all_runs = interrupted(999)
    outcome, _ = interrupted(all_runs - 2)
    assert len(outcome.orders) == 2
    assert [row.name for row in outcome.trials] == [row.name for row in outcome.rows]
    assert all(row.low <= row.total <= row.high for row in outcome.trials[2:])
    assert interrupted(all_runs - 6)[0].trials == []


def test_what_is_not_interrupted_is_whole():
    outcome, _ = interrupted(999)
    assert (len(outcome.orders), outcome.unfinished, outcome.remarks) == (3, [], [])
