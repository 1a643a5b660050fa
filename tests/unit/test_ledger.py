"""The bill: totals, averages, running averages, and how it prints."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import Ledger, algorithm1
from breakeven.ledger import running_chart
from breakeven.values import Standing


def bill(spend, errors, **more):
    return Ledger(
        rounds=len(spend),
        labels=sum(one > 0 for one in spend),
        label_spend=sum(spend),
        prediction_error=sum(errors),
        scored="truth",
        spend_by_round=spend,
        error_by_round=errors,
        **more,
    )


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1, max_size=60))
def test_running_averages_are_those_of_a_loop(rounds):
    ledger = bill([spend for spend, _ in rounds], [error for _, error in rounds])
    spent = missed = 0.0
    for t, (spend, error) in enumerate(rounds, start=1):
        spent, missed = spent + spend, missed + error
        assert ledger.running_average_spend[t - 1] == pytest.approx(spent / t, rel=1e-12)
        assert ledger.running_average_error[t - 1] == pytest.approx(missed / t, rel=1e-12)
        assert ledger.running_average_loss[t - 1] == pytest.approx((spent + missed) / t, rel=1e-12)
    for running in (ledger.running_average_spend, ledger.running_average_error, ledger.running_average_loss):
        assert (type(running), running.shape) == (np.ndarray, (len(rounds),))
    assert ledger.total_loss == pytest.approx(spent + missed, rel=1e-12)
    assert ledger.average_loss == pytest.approx((spent + missed) / len(rounds), rel=1e-12)
    assert ledger.average_error == pytest.approx(missed / len(rounds), rel=1e-12)


def test_an_empty_bill_has_no_averages():
    ledger = Ledger(prediction_error=0.0, scored="truth")
    assert (ledger.total_loss, ledger.average_loss, ledger.average_error) == (0.0, None, None)
    assert "rounds" in str(ledger)


def test_what_is_unknown_is_none():
    ledger = Ledger(rounds=5, labels=2, label_spend=4.0)
    for name in (
        "prediction_error", "total_loss", "average_loss", "average_error", "scored", "noise_floor",
        "running_average_loss", "running_average_error", "running_average_spend",
    ):  # fmt: skip
        assert getattr(ledger, name) is None


def test_a_live_bill_says_that_its_errors_are_unknown():
    learner = algorithm1(label_cost=2.5, noise_std=0.1)
    learner.decide_many(["a", "b", "c"])
    learner.tell("1", 1.0)
    printed = str(learner.ledger)
    assert "prediction error       unknown   (the truth is not known)" in printed
    assert "(2 awaited)" in printed
    assert "7.50" in printed
    assert "total" not in printed


def test_a_bill_against_labels_says_how_much_of_it_is_noise():
    printed = str(Ledger(rounds=10, prediction_error=3.0, scored="labels", noise_floor=1.25))
    assert "(against the labels)" in printed
    assert "label noise alone would give an error of about 1.25" in printed


def test_a_bill_against_the_truth_says_so_and_knows_no_noise():
    printed = str(Ledger(rounds=1200, labels=3, label_spend=1234.5, prediction_error=3.0, scored="truth"))
    assert "(against the truth)" in printed
    assert "noise" not in printed
    assert "1,234.50" in printed
    assert "1,237.50" in printed
    assert "1,200" in printed


def test_a_printed_bill_is_aligned():
    lines = str(
        Ledger(rounds=10, labels=3, label_spend=6.0, prediction_error=3.0, scored="truth")
    ).splitlines()
    assert len({len(line.split("   (")[0]) for line in lines}) == 1


def test_a_live_bill_is_json():
    learner = algorithm1(label_cost=2.5, noise_std=0.1)
    learner.decide("a")
    stored = msgspec.json.decode(msgspec.json.encode(learner.ledger))
    assert (stored["rounds"], stored["labels"], stored["label_spend"], stored["awaited"]) == (1, 1, 2.5, 1)
    assert stored["prediction_error"] is None


def test_a_bill_by_rounds_comes_back_from_json():
    ledger = bill([2.0, 0.0], [0.5, 0.25], noise_floor=0.1)
    stored = msgspec.json.encode(ledger.plain())
    assert b'"spend_by_round":[2.0,0.0],"error_by_round":[0.5,0.25]' in stored
    assert Ledger.of(msgspec.json.decode(stored)) == ledger


def test_a_live_bill_comes_back_from_json():
    ledger = Ledger(rounds=5, labels=2, label_spend=4.0)
    assert Ledger.of(msgspec.json.decode(msgspec.json.encode(ledger))) == ledger == Ledger.of(ledger.plain())


def test_bills_are_equal_if_every_round_is():
    ledger = bill([2.0, 0.0], [0.5, 0.25])
    assert ledger == bill(np.array([2.0, 0.0]), (0.5, 0.25))
    assert ledger != bill([2.0, 0.0], [0.25, 0.5])
    assert ledger != bill([2.0, 0.0], [0.5, 0.25], awaited=1)
    assert ledger != Ledger(rounds=2, labels=1, label_spend=2.0, prediction_error=0.75, scored="truth")
    assert Ledger() == Ledger() != 0


def test_rounds_are_kept_as_arrays_of_floats_and_not_copied():
    spend = np.array([2.0, 0.0])
    ledger = bill(spend, [1, 0])
    assert ledger.spend_by_round is spend
    assert (type(ledger.error_by_round), ledger.error_by_round.dtype) == (np.ndarray, np.float64)


def test_a_bill_cannot_be_changed():
    with pytest.raises(AttributeError, match="immutable"):
        Ledger().rounds = 3


def test_errors_cost_what_a_unit_of_error_does():
    ledger = bill([2.0, 0.0, 4.0], [0.5, 1.0, 0.0], error_cost=3.0)
    assert (ledger.total_loss, ledger.average_loss, ledger.average_error) == (10.5, 3.5, 0.5)
    assert ledger.running_average_loss.tolist() == [3.5, 3.25, 3.5]
    lines = {line.label: line for line in running_chart(ledger).lines}
    assert {tuple(line.x) for line in lines.values()} == {(1.0, 2.0, 3.0)}
    assert lines["labels and errors"].y == [3.5, 3.25, 3.5]
    assert lines["labels"].y == [2.0, 1.0, 2.0]
    assert lines["errors"].y == [1.5, 2.25, 1.5]


@pytest.mark.parametrize(
    "more", [{"error_cost": 2.0}, {"standing": Standing()}], ids=["error cost", "standing"]
)
def test_bills_differ_in_whatever_they_say(more):
    assert bill([2.0, 0.0], [0.5, 0.25], **more) != bill([2.0, 0.0], [0.5, 0.25])
