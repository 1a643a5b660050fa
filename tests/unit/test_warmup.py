"""The warm-up: the first labels, all bought, and the fit that follows the last of them."""

import numpy as np
import pytest

from breakeven import (
    GaussianProcess,
    Learner,
    Never,
    SquaredExponential,
    TypeMeans,
    VariableUncertainty,
    algorithm2,
)
from breakeven.learner.book import Warmup


def learner(warmup=3, fit="after_warmup", rule=None):
    belief = GaussianProcess(1, 0.1, SquaredExponential(), fit=fit)
    return Learner(belief, rule or Never(), label_cost=2.0, warmup=warmup)


def state(one):
    return one.summary().warmup_left, one.summary().fits


def reasons(one, count, start=0):
    return [one.decide(float(start + i)).reason for i in range(count)]


# -- the count itself ----------------------------------------------------------------------------------


def test_no_warmup_is_over_from_the_start():
    warmup = Warmup(0)
    assert (warmup.over, warmup.open, warmup.left, warmup.ask()) == (True, False, 0, False)


def test_a_warmup_counts_what_is_asked_and_what_is_told():
    warmup = Warmup(2)
    assert [warmup.ask() for _ in range(3)] == [True, True, False]
    assert (warmup.open, warmup.over, warmup.left) == (False, False, 2)
    warmup.tell()
    assert (warmup.over, warmup.left) == (False, 1)
    warmup.withdraw(told=True)
    assert (warmup.open, warmup.left) == (True, 2)
    warmup.ask()
    warmup.tell()
    warmup.withdraw(told=False)
    assert (warmup.open, warmup.left) == (True, 1)


def test_a_warmup_that_is_over_stays_so():
    warmup = Warmup(1)
    warmup.ask()
    warmup.tell()
    warmup.withdraw(told=True)
    assert (warmup.over, warmup.open, warmup.left, warmup.asked) == (True, False, 0, 1)


# -- inside a learner ----------------------------------------------------------------------------------


def test_the_first_are_all_labelled_and_then_the_rule_decides():
    assert reasons(learner(), 5) == ["warmup"] * 3 + ["never"] * 2


def test_a_warmup_label_is_certain_and_paid_for():
    one = learner()
    decision = one.decide(0.0, cost=7.0)
    assert (decision.wants_label, decision.propensity, decision.cost) == (True, 1.0, 7.0)
    assert "among the first" in decision.why
    assert one.ledger.label_spend == 7.0


def test_the_fit_runs_when_the_last_label_is_told():
    one = learner()
    reasons(one, 3)
    before = one.belief.parameters
    one.tell("1", 0.0)
    one.tell("2", 1.0)
    assert state(one) == (1, 0)
    assert one.belief.parameters == before
    told = one.tell("3", 0.5)
    assert state(one) == (0, 1)
    assert one.belief.parameters != before
    assert told == one.predict(2.0)  # the prediction after the fit


def test_labels_told_out_of_order_end_the_warmup_too():
    one = learner()
    reasons(one, 3)
    for id in ("3", "1"):
        one.tell(id, float(id))
    assert state(one) == (1, 0)
    one.tell("2", 2.0)
    assert state(one) == (0, 1)


def test_nothing_is_forced_while_the_last_labels_are_awaited():
    one = learner()
    assert reasons(one, 6) == ["warmup"] * 3 + ["never"] * 3
    one.tell_many(["1", "2"], [0.0, 1.0])
    assert reasons(one, 2) == ["never"] * 2
    assert state(one) == (1, 0)


@pytest.mark.parametrize("told", [False, True])
def test_a_withdrawn_label_is_replaced_by_the_next_arrival(told):
    one = learner()
    reasons(one, 3)
    if told:
        one.tell("2", 1.0)
    one.withdraw("2")
    assert reasons(one, 2, start=3) == ["warmup", "never"]
    one.tell_many(["1", "3", "4"], [0.0, 1.0, 0.5])
    assert state(one) == (0, 1)


def test_a_charged_withdrawal_is_replaced_as_well():
    one = learner(warmup=1)
    one.decide(0.0)
    one.withdraw("1", charged=True)
    assert one.decide(1.0).reason == "warmup"
    assert one.ledger.label_spend == 4.0


def test_the_warmup_goes_on_until_its_count_stands_whatever_is_withdrawn():
    one = learner(warmup=2)
    for i in range(5):
        id = one.decide(float(i)).id
        one.tell(id, 1.0)
        one.withdraw(id)
        assert state(one) == (2, 0)
    assert reasons(one, 3, start=5) == ["warmup"] * 2 + ["never"]


def test_a_withdrawal_after_the_warmup_forces_nothing():
    one = learner()
    reasons(one, 3)
    one.tell_many(["1", "2", "3"], [0.0, 1.0, 0.5])
    one.withdraw("2")
    assert one.decide(3.0).reason == "never"
    assert state(one) == (0, 1)


def test_a_withdrawal_of_a_label_from_outside_the_warmup_forces_nothing():
    one = learner(warmup=1)
    one.decide(0.0)
    one.decide(1.0, force=True)
    one.withdraw("2")
    assert one.decide(2.0).reason == "never"


def test_a_person_may_decline_a_warmup_label_and_the_next_arrival_takes_its_place():
    one = learner(warmup=2)
    assert one.decide(0.0, force=False).reason == "person_declined"
    assert reasons(one, 3) == ["warmup"] * 2 + ["never"]


def test_a_label_that_a_person_asks_for_early_counts():
    one = learner(warmup=2)
    assert one.decide(0.0, force=True).reason == "person_asked"
    assert reasons(one, 2) == ["warmup", "never"]
    one.tell_many(["1", "2"], [0.0, 1.0])
    assert state(one) == (0, 1)


def test_gifts_and_unasked_labels_do_not_count():
    one = learner(warmup=2)
    one.learn(5.0, 1.0)
    one.decide(0.0, force=False)
    one.tell("1", 1.0)
    assert state(one) == (2, 0)
    assert reasons(one, 3) == ["warmup"] * 2 + ["never"]


def test_the_same_label_twice_counts_once():
    one = learner(warmup=2)
    reasons(one, 2)
    one.tell("1", 1.0)
    one.tell("1", 1.0)
    assert state(one) == (1, 0)


def test_it_fits_once_and_not_at_later_labels():
    one = learner(warmup=2)
    reasons(one, 2)
    one.tell_many(["1", "2"], [0.0, 1.0])
    fitted = one.belief.parameters
    one.tell(one.decide(3.0, force=True).id, 4.0)
    one.learn(4.0, 2.0)
    one.correct("1", 3.0)
    assert one.belief.parameters == fitted
    assert state(one) == (0, 1)


def test_the_rule_hears_nothing_of_the_warmup():
    one = Learner(TypeMeans(noise_std=0.5), VariableUncertainty(), label_cost=2.0, warmup=3)
    for x in "abc":
        one.decide(x)
    assert one.rule.theta == 1.0
    one.decide("d")
    assert one.rule.theta == 2.0


def test_a_belief_with_nothing_to_fit_may_have_a_warmup():
    one = Learner(TypeMeans(noise_std=0.5), Never(), label_cost=2.0, warmup=2)
    assert [one.decide("a").reason for _ in range(3)] == ["warmup", "warmup", "never"]
    one.tell_many(["1", "2"], [1.0, 2.0])
    assert (one.summary().warmup_left, one.summary().fits) == (0, 0)


def test_a_batch_warms_up_as_a_loop_does():
    one = learner()
    assert [d.reason for d in one.decide_many([0.0, 1.0, 2.0, 3.0])] == ["warmup"] * 3 + ["never"]


# -- other schedules -----------------------------------------------------------------------------------


def test_every_label_fits_also_during_the_warmup():
    one = learner(fit="every_label")
    reasons(one, 3)
    for fits, id in enumerate(("2", "1", "3"), start=1):
        one.tell(id, float(id))
        assert one.summary().fits == fits
    one.learn(4.0, 1.0)
    assert one.summary().fits == 4


def test_growing_fits_again_after_each_fifth_more_labels():
    one = learner(fit="growing", warmup=3)
    fitted = []
    for i in range(20):
        id = one.decide(i / 7, force=True).id
        before = one.summary().fits
        one.tell(id, float(i % 3))
        if one.summary().fits > before:
            fitted.append(i + 1)
    assert fitted == [3, 4, 5, 6, 8, 10, 12, 15, 18]


def test_each_fit_has_random_numbers_of_its_own_that_the_seed_decides(monkeypatch):
    drawn = []

    def fit(cls, job, random):
        drawn.append(random.random())
        return found

    found = GaussianProcess(1, 0.1).parameters.plain()
    monkeypatch.setattr(GaussianProcess, "fit", classmethod(fit))
    for seed, name in ((5, ""), (5, ""), (6, ""), (5, "ward")):
        belief = GaussianProcess(1, 0.1, fit="every_label")
        one = Learner(belief, Never(), label_cost=2.0, seed=seed, name=name)
        for x in (0.1, 0.2, 0.3):
            one.learn(x, 1.0)
    assert drawn[:3] == drawn[3:6] == [np.random.default_rng([5, fits]).random() for fits in range(3)]
    assert len(set(drawn)) == 9


def test_without_a_fit_the_warmup_only_buys():
    one = learner(fit=None)
    reasons(one, 3)
    one.tell_many(["1", "2", "3"], [0.0, 1.0, 2.0])
    assert state(one) == (0, 0)


def test_until_the_fit_the_kernel_as_given_decides():
    one = algorithm2(1, label_cost=1.0, noise_std=0.1, warmup=1, kernel=SquaredExponential(amplitude=9.0))
    one.decide(0.0)
    unfitted = one.decide(100.0)
    assert (unfitted.reason, unfitted.uncertainty) == ("unsure", 3.0)


def test_a_label_reopened_after_the_warmup_and_told_again_counts_once():
    one = Learner(TypeMeans(1.0), Never(), label_cost=1.0, warmup=2)
    first, second = one.decide("flu").id, one.decide("flu").id
    one.tell_many([first, second], [1.0, 2.0])
    one.reopen(first)
    one.tell(first, 3.0)
    assert state(one)[0] == 0
    assert one.state.warmup.over
    assert Learner.restore(one.snapshot()).snapshot() == one.snapshot()


def test_a_withdrawal_that_is_undone_takes_its_place_in_the_warmup_again():
    one = Learner(TypeMeans(1.0), Never(), label_cost=1.0, warmup=2)
    first, second = one.decide("flu").id, one.decide("flu").id
    one.withdraw(first)
    assert one.state.warmup.open
    one.reopen(first)
    assert not one.state.warmup.open
    one.tell_many([first, second], [1.0, 2.0])
    assert one.state.warmup.over
    one.withdraw(first)
    one.reopen(first)
    assert one.state.warmup.over  # for good
