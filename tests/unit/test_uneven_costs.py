"""`under_cost` and `over_cost`, `miss_cost` and `false_alarm_cost`: wherever errors cost money."""

import numpy as np
import pytest

from breakeven import Always, Learner, Never, TypeMeans, TypeShares, Value, simulate
from breakeven.errors import InvalidInput
from breakeven.learner import bulk
from breakeven.values import ErrorCosts
from breakeven.wire import event_from_json, to_json


class Median(TypeMeans):
    """A belief that answers medians only."""

    aim = None


def learner(**costs):
    belief = TypeMeans(noise_std=2.0, prior_mean=10.0, prior_std=1.0)
    return Learner(belief, costs.pop("rule", Never()), label_cost=1.0, **costs)


def test_the_mean_of_both_is_the_cost_of_an_error_and_their_share_the_level():
    one = learner(under_cost=9.0, over_cost=1.0)
    assert (one.error_cost, one.belief.level, one.under_cost, one.over_cost) == pytest.approx(
        (5.0, 0.9, 9.0, 1.0)
    )
    assert one.decide("a").prediction.mean == pytest.approx(10.0 + 1.2815515655 * np.sqrt(5.0))


def test_misses_and_false_alarms_are_other_names():
    assert (
        learner(miss_cost=9.0, false_alarm_cost=1.0).config()
        == learner(under_cost=9.0, over_cost=1.0).config()
    )


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"under_cost": 2.0}, r"^over_cost: expected a cost beside under_cost: give both, .* got None"),
        ({"false_alarm_cost": 2.0}, r"^miss_cost: expected a cost beside false_alarm_cost"),
        ({"under_cost": 0.0, "over_cost": 1.0}, r"^under_cost: expected a positive, finite number, got 0.0"),
        ({"miss_cost": -3.0, "false_alarm_cost": 1.0}, r"^miss_cost: expected a positive, finite number"),
        (
            {"miss_cost": 3.0, "false_alarm_cost": "x"},
            r"^false_alarm_cost: expected a positive, finite number",
        ),
        (
            {"under_cost": 1.0, "over_cost": 1.0, "error_cost": 1.0},
            r"^error_cost: expected none beside under_cost and over_cost, whose mean it is, got 1.0",
        ),
        (
            {"under_cost": 1.0, "over_cost": 1.0, "miss_cost": 1.0, "false_alarm_cost": 1.0},
            r"^miss_cost: expected none beside under_cost and over_cost: they are the same",
        ),
        ({"under_cost": 1e7, "over_cost": 1.0}, r"^under_cost and over_cost: .* a million times apart"),
    ],
)
def test_what_contradicts_itself_is_refused(costs, message):
    with pytest.raises(InvalidInput, match=message):
        learner(**costs)
    one = learner()
    before = one.snapshot()
    with pytest.raises(InvalidInput, match=message):
        one.reprice(**costs)
    assert one.snapshot() == before


def test_a_belief_of_medians_refuses_them():
    with pytest.raises(InvalidInput, match=r"^belief: expected one that can answer the 0.75-quantile"):
        Learner(Median(0.1), Never(), label_cost=1.0, under_cost=3.0, over_cost=1.0)
    one = Learner(Median(0.1), Never(), label_cost=1.0)
    with pytest.raises(InvalidInput, match=r"^belief: expected one that can answer the 0.75-quantile"):
        one.reprice(under_cost=3.0, over_cost=1.0)
    assert one.decide("a").wants_label is False


def test_a_level_is_a_share():
    with pytest.raises(InvalidInput, match=r"^level: expected a number from 5e-07 to 1, got 1"):
        TypeMeans(1.0, level=1)


def test_repricing_is_an_event_and_survives_a_snapshot():
    one = learner(rule=Value(horizon=50))
    log = [one.created]
    one.listen(lambda event: log.append(event_from_json(to_json(event))))
    for x in ("a", "b", "a"):
        decision = one.decide(x)
        if decision.wants_label:
            one.tell(decision.id, 11.0)
    low = one.predict("a").mean
    one.reprice(under_cost=8.0, over_cost=2.0)
    assert log[-1].level == 0.8
    assert log[-1].error_cost == 5.0
    assert one.predict("a").mean > low
    assert Learner.fold(log).snapshot() == one.snapshot()
    assert Learner.restore(one.snapshot()).decide("a") == one.decide("a")
    one.reprice(error_cost=3.0)
    assert (one.under_cost, one.over_cost) == pytest.approx((4.8, 1.2))


def test_a_learner_is_made_from_plain_data_with_them():
    config = {"belief": {"kind": "TypeMeans", "noise_std": 0.5}, "rule": {"kind": "Never"}}
    made = Learner.of({**config, "label_cost": 2.0, "miss_cost": 3.0, "false_alarm_cost": 1.0})
    assert made.config()["belief"]["level"] == 0.75
    assert made.config()["error_cost"] == 2.0
    assert Learner.of(made.config()).config() == made.config()


def test_a_replay_counts_the_errors_that_cost():
    one = learner(under_cost=9.0, over_cost=1.0)
    trace = simulate(one, ["a", "a"], [20.0, 5.0])
    answer = trace.prediction[0]
    assert trace.error.tolist() == pytest.approx([1.8 * (20.0 - answer), 0.2 * (answer - 5.0)])
    assert trace.ledger.total_loss == pytest.approx(9.0 * (20.0 - answer) + 1.0 * (answer - 5.0))
    assert trace.ledger.noise_floor == pytest.approx(2.0 * 2.0 * 2.0 * 0.17549833)


def test_the_summary_says_both_costs():
    text = str(learner(under_cost=9.0, over_cost=1.0).summary())
    assert "cost of 1 too low         9.00" in text
    assert "cost of 1 too high        1.00" in text


def test_the_summary_of_yes_no_labels_names_misses_and_false_alarms():
    costs = {"label_cost": 1.0, "miss_cost": 9.0, "false_alarm_cost": 1_000.0}
    text = str(Learner(TypeShares(), Never(), **costs).summary())
    assert "cost of a miss            9.00" in text
    assert "of a false alarm      1,000.00" in text
    assert "too low" not in text


def test_compiled_loops_leave_uneven_costs_alone():
    one = Learner(TypeMeans(1.0, level=0.9), Always(), label_cost=1.0)
    assert not bulk.pays(one.state, 1_000_000)


def test_one_cost_is_one_unless_given():
    assert ErrorCosts.checked() == ErrorCosts(1.0, 0.5)
