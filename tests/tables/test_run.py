"""A run is what a learner would have done, round by round, knowing only the past."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from breakeven import Averaged, Learner, Matern, TypeMeans, Value, simulate
from breakeven.beliefs import untuned
from breakeven.errors import InvalidInput
from breakeven.learner.bulk import stream as compiled
from breakeven.rules import checked
from breakeven.tables import run as running
from breakeven.tables.billing import row_of
from breakeven.tables.outcome import Outcome
from breakeven.tables.recipe import start
from breakeven.values import Decision
from tests.tables.samples import cases_of, run_of, smooth, typed


def wanted(run):
    return run.decisions.collect()["wants_label"].to_list()


# -- what it decides -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, "matern52"])
def test_it_decides_what_the_bare_learner_does(kernel):
    frame = smooth(200)
    belief = Averaged(2) if kernel is None else untuned(2, kernel=Matern(2.5, (1.0, 1.0)))
    rule = checked(Value(horizon=200, scored="labels"), None, averaged=kernel is None)
    bare = Learner(belief, rule, label_cost=1.0)
    trace = simulate(bare, frame.select("a", "b").to_numpy(), frame["y"].to_numpy())
    run = run_of(frame, kernel=kernel)
    assert wanted(run) == trace.wants_label.tolist()
    assert row_of(run).total == pytest.approx(trace.ledger.total_loss, rel=1e-6)


def test_types_too():
    frame = typed()
    bare = Learner(
        TypeMeans(0.5, prior_std="learn"), Value(horizon=len(frame), scored="labels"), label_cost=2.0
    )
    trace = simulate(bare, frame["kind"].to_list(), frame["y"].to_numpy())
    run = run_of(frame, type="kind", noise_std=0.5, cost=2.0)
    assert wanted(run) == trace.wants_label.tolist()


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_inputs_labels_and_money_do_not_matter(unit):
    frame = smooth(150)
    other = frame.with_columns(pl.col("a") * unit + 3.0 * unit, pl.col("y") * unit)
    plain, scaled = run_of(frame, cost=0.5), run_of(other, cost=0.5 * unit)
    assert wanted(plain) == wanted(scaled)
    errors = [run.decisions.collect()["error"].to_numpy() for run in (plain, scaled)]
    np.testing.assert_allclose(errors[1] / unit, errors[0], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("rule", ["value", "threshold", "random", "variable"])
@pytest.mark.parametrize("noise_std", [None, 0.5])
@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_units_do_not_matter_to_types_under_any_rule(rule, noise_std, unit):
    frame = typed(300)
    other = frame.with_columns(pl.col("y") * unit + 7.0 * unit)
    plain = run_of(frame, type="kind", rule=rule, cost=2.0, noise_std=noise_std)
    known = None if noise_std is None else noise_std * unit
    scaled = run_of(other, type="kind", rule=rule, cost=2.0 * unit, noise_std=known)
    assert wanted(plain) == wanted(scaled)


@pytest.mark.parametrize("rule", ["value", "threshold", "variable"])
@pytest.mark.parametrize("noise_std", [None, 0.1])
@pytest.mark.parametrize("unit", [1e-9, 1e3])
def test_units_do_not_matter_to_any_rule(rule, noise_std, unit):
    frame = smooth(100)
    other = frame.with_columns(pl.col("y") * unit)
    known = None if noise_std is None else noise_std * unit
    plain, scaled = (
        run_of(frame, rule=rule, noise_std=noise_std),
        run_of(other, rule=rule, noise_std=known, cost=unit),
    )
    assert wanted(plain) == wanted(scaled)


@pytest.mark.parametrize("rule", ["value", "threshold", "random", "variable"])
@pytest.mark.parametrize("frame", [smooth(100), typed(300)], ids=["features", "types"])
@pytest.mark.parametrize("noise_std", [None, 0.3])
def test_where_zero_lies_does_not_matter_to_any_rule(rule, frame, noise_std):
    asked = {"rule": rule, "noise_std": noise_std} | ({"type": "kind"} if "kind" in frame.columns else {})
    plain, moved = run_of(frame, **asked), run_of(frame.with_columns(pl.col("y") + 1000.0), **asked)
    assert wanted(plain) == wanted(moved)
    errors = [run.decisions.collect()["error"].to_numpy() for run in (plain, moved)]
    np.testing.assert_allclose(errors[1], errors[0], atol=1e-3)


@pytest.mark.parametrize("rule", ["value", "threshold", "random", "variable"])
def test_the_future_changes_nothing_of_the_past(rule):
    frame = smooth(150)
    moved = frame.with_columns(
        pl.when(pl.int_range(pl.len()) < 80).then(pl.col(name)).otherwise(pl.col(name) * 1000.0 + 7.0)
        for name in frame.columns
    )
    before, after = (run_of(one, rule=rule).decisions.head(80).collect() for one in (frame, moved))
    assert_frame_equal(before, after, check_exact=True)


def test_the_future_changes_nothing_of_types_either():
    frame = typed()
    moved = frame.with_columns(
        pl.when(pl.int_range(pl.len()) < 300).then(pl.col("y")).otherwise(pl.col("y") * 1000.0)
    )
    before, after = (run_of(one, type="kind").decisions.head(300).collect() for one in (frame, moved))
    assert_frame_equal(before, after, check_exact=True)


def test_decisions_have_all_that_a_decision_has():
    table = run_of(smooth(60)).decisions.collect()
    own = {"row", "prediction", "probability", "std", "noise_std", "normal_score", "label", "error"}
    own |= {"flips_at", "answer"}
    assert set(table.columns) == set(Decision.__struct_fields__) - {"offers", "doubt", "scarcity"} | own
    assert table["id"].to_list() == list(range(1, 61))
    assert table.filter("wants_label")["error"].to_list() == [0.0] * table["wants_label"].sum()


def test_what_is_shown_is_in_the_tables_own_units():
    run = run_of(smooth(150, unit=1000.0), cost=300.0)
    late = run.decisions.tail(50).collect()
    assert late["std"].min() > 1.0
    assert 10.0 < np.abs(late["prediction"] - late["label"]).mean() < 250.0


def test_labels_that_differ_only_by_rounding_have_no_scale_of_their_own():
    frame = smooth(60).with_columns(y=pl.when(pl.int_range(pl.len()) < 30).then(0.3).otherwise("y"))
    rounded = frame.with_columns(
        y=pl.when(pl.int_range(pl.len()) % 2 == 0).then("y").otherwise(pl.col("y") + 5e-17)
    )
    assert wanted(run_of(rounded)) == wanted(run_of(frame))


@pytest.mark.parametrize("options", [{"kernel": "se"}, {"type": "kind", "noise_std": 0.5}])
def test_the_scale_of_labels_is_found_once_and_stays(options):
    frame = typed(300) if "type" in options else smooth(300)
    early, late = (run_of(one, rule="threshold", cost=0.1, **options) for one in (frame.head(60), frame))
    scales = [run.learner.belief.traits.label_scale for run in (early, late)]
    assert scales[0] == scales[1] != 1.0


# -- what else may come ----------------------------------------------------------------------------------


def test_late_labels_are_still_awaited_at_the_end():
    frame = smooth(100)
    run = run_of(frame, delay=30, rule="random")
    bought = run.decisions.collect()["wants_label"].to_numpy()
    assert len(run.learner.awaited) == bought[-30:].sum()
    assert row_of(run).labels == bought.sum()


def test_a_delay_of_the_whole_stream_predicts_without_any_label():
    run = run_of(smooth(60), delay=60, rule="random", noise_std=0.1)
    assert set(run.decisions.collect()["prediction"]) == {0.0}


def test_how_far_off_predictions_are_is_not_guessed_at():
    table = run_of(smooth(100), delay=20).decisions.collect()
    unknown = table["std"].is_null()
    assert unknown[:20].all()
    assert not unknown[30:].any()
    assert table.filter(unknown)["uncertainty"].null_count() == unknown.sum()
    assert table["error"].null_count() == 0


def test_labels_already_owned_are_free_and_save_labels():
    frame = smooth(200)
    alone, helped = run_of(frame), run_of(frame, seeds=smooth(100, seed=1))
    assert row_of(helped).labels < row_of(alone).labels
    assert helped.learner.belief.labels == 100 + row_of(helped).labels


def test_every_label_may_have_its_own_price():
    frame = smooth(100).with_columns(pl.Series("price", [0.01, 1e6] * 50))
    run = run_of(frame, cost=None, cost_column="price")
    table = run.decisions.collect()
    dear = table.filter(pl.col("wants_label") & (pl.col("cost") == 1e6)).height
    assert dear <= 3  # the first are bought at any price
    assert row_of(run).spend == pytest.approx(table.filter("wants_label")["cost"].sum())


def test_ids_are_those_of_the_table():
    frame = smooth(50).with_columns(pl.Series("who", [f"p{i}" for i in range(50)]))
    run = run_of(frame, id="who", delay=50, rule="random")
    assert run.decisions.collect()["id"].to_list() == frame["who"].to_list()
    assert set(run.learner.awaited) <= set(frame["who"])


def test_a_run_that_is_stopped_has_whole_rounds_only():
    rounds = iter(range(1000))
    run = run_of(smooth(100), stop=lambda: next(rounds) >= 20)
    assert not run.whole
    assert len(run.cases) == run.decisions.collect().height == run.learner.rounds < 100
    run.learner.decide([0.0, 0.0])


def test_a_run_that_is_stopped_at_once_has_one_round():
    run = run_of(smooth(100), stop=lambda: True)
    assert (len(run.cases), row_of(run).labels) == (1, 1)
    assert Outcome(run).bill.chosen_row.spend == 1.0


# -- noise of types --------------------------------------------------------------------------------------


def test_the_noise_of_types_is_pooled_from_the_first_labels_which_are_all_bought():
    run = run_of(typed(), type="kind")
    table = run.decisions.collect()
    assert table["reason"].head(run.learner.warmup).to_list() == ["warmup"] * run.learner.warmup
    assert 20 <= run.learner.warmup <= 30
    assert run.learner.belief.noise_std == pytest.approx(0.5, rel=0.5)


@pytest.mark.parametrize(("rows", "repeats"), [(400, 10), (50_000, 50), (300_000, 100)])
def test_a_longer_stream_goes_by_more_labels_for_its_noise(rows, repeats):
    cases, asked = cases_of(typed(rows, types=30), type="kind")
    needed = start(cases, asked).learner.warmup
    first = cases.part(0, needed)
    assert needed - len(set(first)) == repeats
    assert needed - 1 - len(set(first[:-1])) < repeats


def test_owned_labels_tell_the_noise_for_nothing():
    run = run_of(typed(), seeds=typed(seed=1), type="kind")
    assert run.learner.warmup == 0
    assert run.learner.belief.noise_std == pytest.approx(0.5, rel=0.1)
    assert run.noise_from == "pooled within types from 400 labels already owned"


def test_the_noise_of_types_is_not_known_before_its_labels():
    frame = typed()
    other = frame.with_columns(y=pl.when(pl.int_range(pl.len()) == 15).then(99.0).otherwise("y"))
    first, second = (run_of(one, type="kind").decisions.head(15).collect() for one in (frame, other))
    assert_frame_equal(first, second)
    assert first["std"].null_count() == first["noise_std"].null_count() == 15


def test_a_run_that_is_stopped_in_its_warm_up_does_not_know_the_noise():
    rounds = iter(range(1000))
    run = run_of(typed(), type="kind", stop=lambda: next(rounds) >= 15)
    assert len(run.cases) < 20 <= run.learner.warmup
    assert run.noise_from == "not known"
    assert "standard deviation" not in Outcome(run).notes[1]
    assert Outcome(run).summary()["noise_std"] is None


def test_few_owned_labels_help_to_tell_the_noise():
    few = typed(8, seed=1)
    run = run_of(typed(), seeds=few, type="kind")
    both = pl.concat([few, typed().head(run.learner.warmup)])
    deviations = both["y"] - both.with_columns(pl.col("y").mean().over("kind"))["y"]
    freedom = len(both) - both["kind"].n_unique()
    assert run.learner.belief.noise_std == pytest.approx(np.sqrt((deviations**2).sum() / freedom))


def test_who_never_asks_needs_no_noise():
    assert row_of(run_of(typed(), type="kind", rule="never")).labels == 0


def test_where_no_type_comes_twice_the_spread_of_all_is_taken_and_said():
    frame = pl.DataFrame({"kind": [f"t{i}" for i in range(300)], "y": np.arange(300.0)})
    run = run_of(frame, type="kind", rule="threshold")
    assert run.learner.warmup == 200
    assert "may be too large" in run.noise_from


def test_with_a_delay_the_noise_of_types_must_be_given():
    with pytest.raises(InvalidInput, match="noise_std: expected a number, because with a delay"):
        run_of(typed(), type="kind", delay=5)


# -- long streams ----------------------------------------------------------------------------------------


def both_ways(frame, **options):
    """The run in compiled loops; all that it decided and left is what it is one by one, to the bit.

    The loops wait for the first labels, which show the mean and the scale of all.
    """
    pytest.importorskip("numba")
    replayed = running._Walk._replayed

    def replayed_with_few_labels(walk):
        assert walk._learner.belief._searching, "compiled loops were not used"
        replayed(walk)

    asked = {"type": "kind", "cost": 0.1, "noise_std": 0.5, **options}
    alone = run_of(frame, **asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "SHORTEST", 1)
        patch.setattr(running, "ROUNDS_AT_ONCE", 100)
        patch.setattr(running._Walk, "_replayed", replayed_with_few_labels)
        together = run_of(frame, **asked)
    assert_frame_equal(together.decisions.collect(), alone.decisions.collect(), check_exact=True)
    assert together.learner.snapshot() == alone.learner.snapshot()
    return together


@pytest.mark.parametrize("rule", ["value", "threshold", "random", "always"])
@pytest.mark.parametrize("whole", [True, False])
def test_compiled_loops_decide_as_one_by_one(rule, whole):
    frame = typed(3000).with_columns(pl.col("kind").str.slice(1).cast(pl.Int64) if whole else pl.col("kind"))
    assert both_ways(frame, rule=rule).learner.rounds == 3000


@settings(max_examples=settings().max_examples // 2)
@given(
    rows=st.integers(40, 600), types=st.integers(1, 80), seed=st.integers(0, 99),
    cost=st.sampled_from([1e-9, 0.1, 1.0, 30.0, 1e6]), error_cost=st.sampled_from([0.3, 1.0, 7.0]),
    horizon=st.sampled_from([None, 1, 150, 10**6]), noise_std=st.sampled_from([None, 0.01, 0.5]),
    owned=st.booleans(),
)  # fmt: skip
def test_compiled_loops_weigh_as_one_by_one(rows, types, seed, owned, **options):
    both_ways(typed(rows, types, seed), seeds=typed(30, types, seed + 1) if owned else None, **options)


@pytest.mark.parametrize("start", [1, 3, 700])
def test_compiled_loops_keep_ids_of_ones_own(start):
    frame = typed(600).with_columns(pl.int_range(start, start + 600).alias("case"))
    run = both_ways(frame, id="case")
    bought = run.decisions.filter("wants_label").collect()
    run.learner.correct(bought["id"][-1], 0.0)


def test_compiled_loops_give_every_reason():
    frame = pl.concat([typed(20, types=1), typed(1500, types=200)])
    table = both_ways(frame, horizon=800, cost=1.0).decisions.slice(20).collect()
    words = {"worth_it", "not_worth_it"}
    assert set(table["reason"]) == {"nothing_known", *words, *(f"{word}_late" for word in words)}


def test_long_tables_are_kept_on_disk(monkeypatch):
    frame = smooth(100)
    here = run_of(frame).decisions.collect()
    monkeypatch.setattr("breakeven.tables.record.IN_MEMORY", 10)
    monkeypatch.setattr("breakeven.tables.record.KEPT_AS_OBJECTS", 16)
    run = run_of(frame)
    folder = run.record._folder
    assert len(list(folder.iterdir())) > 3
    assert_frame_equal(run.decisions.collect(), here)
    del run
    assert not folder.exists()
