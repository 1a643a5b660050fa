"""Labels that nobody declared: taken for yes/no while all told are 0 or 1, and for numbers again for good."""

import numpy as np
import pytest

from breakeven import (
    Averaged,
    AveragedShares,
    GaussianProcess,
    Learner,
    Threshold,
    TypeMeans,
    TypeShares,
    Value,
)
from breakeven.beliefs import Recognised
from breakeven.errors import InvalidInput
from breakeven.testing import check_learner
from breakeven.values import Fitted
from breakeven.wire import event_from_json, to_json


def learner(rule=None, **arguments):
    belief = Recognised(TypeMeans(0.5, prior_std="learn"), TypeShares(prior_strength="learn"))
    return Learner(belief, Value(horizon=200) if rule is None else rule, label_cost=0.1, **arguments)


def buy(one, labels, x="a"):
    for y in labels:
        one.tell(one.decide(x, force=True).id, y)


def test_five_labels_that_are_zero_or_one_are_enough():
    one = learner()
    buy(one, [0.0, 1.0, 0.0, 0.0])
    assert one.predict("a").probability is None
    buy(one, [0.0])
    assert one.predict("a").probability == pytest.approx(1.5 / 6.0)
    assert one.belief.describe()["labels"] == "yes/no"


@pytest.mark.parametrize("equal", [0.0, 1.0])
def test_all_equal_zeros_or_ones_are_yes_no_and_never_certain(equal):
    one = learner()
    buy(one, [equal] * 5)
    assert abs(one.predict("a").probability - equal) == pytest.approx(0.5 / 6.0)


def test_other_equal_labels_are_numbers():
    one = learner()
    buy(one, [3.0] * 6)
    assert type(one.belief) is TypeMeans


def test_a_third_value_switches_back_for_good_and_is_recorded():
    one = learner()
    log = [one.created]
    one.listen(lambda event: log.append(event_from_json(to_json(event))))
    buy(one, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    buy(one, [7.0, 0.0, 1.0])
    said = [event.parameters["labels"] for event in log if isinstance(event, Fitted)]
    assert said[0] == "yes/no"
    assert "numbers" in said
    assert type(one.belief) is TypeMeans
    assert one.predict("a").mean == pytest.approx(10.0 / 9.0)
    assert Learner.fold(log).snapshot() == one.snapshot()
    assert Learner.restore(one.snapshot()).decide("a") == one.decide("a")


def test_the_numbers_are_as_if_nothing_else_had_been_thought_of():
    one, plain = learner(), Learner(TypeMeans(0.5, prior_std="learn"), Value(horizon=200), label_cost=0.1)
    for some in (one, plain):
        buy(some, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
        buy(some, [2.0, 3.0], x="b")
        buy(some, [1.0, 3.0], x="c")
    assert [one.predict(x) for x in "abcd"] == [plain.predict(x) for x in "abcd"]


def test_a_correction_may_be_the_third_value():
    one = learner()
    buy(one, [0.0, 1.0, 0.0, 0.0, 0.0])
    one.correct("2", 1.5)
    assert one.fit_due
    assert one.fit()
    assert type(one.belief) is TypeMeans


def test_a_snapshot_in_between_goes_on_to_the_bit():
    one = learner()
    buy(one, [0.0, 1.0, 0.0, 0.0, 0.0])
    other = Learner.restore(one.snapshot())
    for some in (one, other):
        buy(some, [1.0, 4.0], x="b")
    assert other.snapshot() == one.snapshot()


def test_a_restored_learner_has_the_same_job_of_a_fit():
    belief = Recognised(GaussianProcess(1, 0.2, fit="after_warmup"), GaussianProcess(1, 0.5))
    one = Learner(belief, Threshold(), label_cost=0.1, warmup=3, fitting="outside")
    buy(one, [0.0, 1.0, 0.0], x=[0.3])
    blob, job = one.snapshot(), one.fit_job()
    assert "numbers" in job.data["parts"]
    assert Learner.restore(blob).fit_job() == job


def test_it_answers_at_the_level_of_its_costs_in_both_kinds():
    one = learner(under_cost=9.0, over_cost=1.0)
    buy(one, [0.0, 1.0, 0.0, 0.0, 0.0])
    assert one.predict("a").mean == 1.0  # a quarter is more than one in ten
    assert one.belief.numbers.level == one.belief.yes_no.level == 0.9


def test_parameters_that_no_fit_finds_are_refused():
    one = learner()
    for parameters in ({"labels": "words"}, {"labels": "numbers", "numbers": 3}):
        with pytest.raises(InvalidInput, match=r"^(labels|numbers): expected "):
            one.apply(Fitted(one.number + 1, "", parameters, 0))


@pytest.mark.parametrize("rule", [Threshold(), Value(horizon=80)], ids=["threshold", "value"])
def test_every_check_of_a_learner_holds(rule):
    assert "a_log_alone_rebuilds_the_learner" in check_learner(lambda: learner(rule, keep=50))


def test_rows_of_numbers_are_recognised_in_the_same_way():
    numbers = GaussianProcess(1, 0.3)
    one = Learner(Recognised(numbers, GaussianProcess(1, 0.5)), Threshold(), label_cost=0.1)
    for x in np.linspace(0.0, 1.0, 6):
        one.tell(one.decide([x], force=True).id, 1.0)
    assert one.predict([0.5]).noise_std == 0.5
    one.tell(one.decide([0.3], force=True).id, 0.7)
    assert type(one.belief) is GaussianProcess
    assert one.predict([0.5]).noise_std == 0.3


def test_zeros_alone_may_be_the_first_of_any_numbers():
    belief = Recognised(Averaged(1), AveragedShares(1), both=True)
    one = Learner(belief, Value(horizon=200, scored="labels"), label_cost=200.0)
    bought = 0
    for x in np.random.default_rng(0).normal(size=(40, 1)):
        decision = one.decide(x)
        if decision.wants_label:
            one.tell(decision.id, 0.0)
            bought += 1
    assert bought > 10  # an exception may be as large as labels are dear
    assert one.belief.kind == "numbers"
    again = Learner.restore(one.snapshot())
    for which in (one, again):
        which.tell(which.decide([0.0], force=True).id, 1.0)
    assert (one.belief.kind, again.belief.kind) == ("yes/no", "yes/no")


def test_labels_owned_before_count_among_those_that_came():
    numbers, yes_no = Averaged(1), AveragedShares(1)
    for belief in (numbers, yes_no):
        for x, y in enumerate([0.0, 1.0, 0.0, 0.0, 1.0]):
            belief.learn(belief.point([float(x)]), y)
    assert Recognised(numbers, yes_no, both=True, owned=[0.0, 1.0]).kind == "yes/no"
    assert Recognised(numbers, yes_no, both=True).kind == "numbers"
