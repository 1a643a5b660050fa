"""Audits: who is drawn, with what chance, and what forbids it."""

import numpy as np
import pytest

from breakeven.errors import InvalidInput
from breakeven.rules import Always, Audit, Budget, Never, Queue, RandomSelect, Rule
from breakeven.values import Verdict
from tests.unit.views import view


def answers(rule, rounds=4000, **more):
    return [rule.decide(view(round=round, **more)) for round in range(1, rounds + 1)]


def test_what_a_rule_declines_is_audited_as_often_as_the_rate_says():
    verdicts = answers(Audit(Never(), 0.1, bound=1.0))
    assert {v.reason for v in verdicts} == {"audited", "never"}
    assert {v.propensity for v in verdicts} == {0.1}
    assert np.mean([v.wants_label for v in verdicts]) == pytest.approx(0.1, abs=0.02)


def test_what_a_rule_asks_for_is_certain_and_no_audit():
    verdicts = answers(Audit(Always(), 0.3, bound=1.0), 500)
    assert {(v.wants_label, v.reason, v.propensity) for v in verdicts} == {(True, "always", 1.0)}


def test_the_chance_of_a_draw_and_that_of_an_audit_add_up():
    verdicts = answers(Audit(RandomSelect(0.4), 0.2, bound=1.0))
    assert {v.propensity for v in verdicts} == {0.4 + 0.2 * 0.6}
    assert np.mean([v.wants_label for v in verdicts]) == pytest.approx(0.52, abs=0.03)
    declined = [v for v in verdicts if v.reason != "drawn"]
    assert np.mean([v.wants_label for v in declined]) == pytest.approx(0.2, abs=0.03)


def test_draws_for_audits_are_not_those_of_the_rule():
    rule = Audit(RandomSelect(0.5), 0.5, bound=1.0)
    own = {round for round in range(1, 2001) if view(round=round).uniform() < 0.5}
    audits = {round for round in range(1, 2001) if view(round=round).uniform(1) < 0.5}
    assert abs(len(own & audits) - 500) < 60
    assert [rule.decide(view(round=t)).wants_label for t in range(1, 2001)] == [
        t in own or t in audits for t in range(1, 2001)
    ]


def test_an_audit_keeps_what_the_rule_compared():
    class Mine(Rule):
        def decide(self, view):
            return Verdict(False, 1.5, "Too dear.", worth=0.5, labeller="mri")

    drawn = Audit(Mine(), 0.999, bound=1.0).decide(view())
    assert drawn == Verdict(True, 1.5, "audited", 0.999, 0.5)


def test_nothing_is_audited_while_the_queue_is_full():
    for rule in (
        Audit(Queue(Never(), 2), 0.999, bound=1.0),
        Queue(Audit(Never(), 0.999, bound=1.0), 2),
        Audit(Queue(RandomSelect(0.9), 2), 0.999, bound=1.0),
    ):
        full = rule.decide(view(awaited=2))
        assert (full.wants_label, full.reason, full.propensity) == (False, "queue_full", None)
        assert rule.decide(view(awaited=1)).wants_label


def test_audits_around_a_budget_end_when_it_is_spent():
    rule = Audit(Budget(Never(), total=1.0), 0.999, bound=1.0)
    assert rule.decide(view()).reason == "audited"
    rule.bought(1, 1.0, audited=True)
    assert rule.decide(view(round=2)).reason == "no_audit_money"


def test_an_audit_that_has_ended_is_the_rule_alone():
    rule = Audit(RandomSelect(0.3), 0.9, bound=1.0, stopped=7)
    assert answers(rule, 50) == answers(RandomSelect(0.3), 50)


def test_an_audited_arrival_can_be_told_from_those_left_out():
    audit = Audit(Never(), 0.1, bound=1.0)
    assert audit.covers(Verdict(True, reason="audited", propensity=0.1))
    assert audit.covers(Verdict(False, reason="never", propensity=0.1))
    assert not audit.covers(Verdict(True, reason="unsure", propensity=1.0))
    assert not audit.covers(Verdict(False, reason="queue_full"))
    assert not Audit(Never(), 0.1, bound=1.0, stopped=3).covers(Verdict(False, propensity=0.1))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"rate": 0.0}, r"^rate: expected a number in \(0, 1\), got 0.0"),
        ({"rate": 1.0}, r"^rate: expected a number in \(0, 1\), got 1.0"),
        ({"rate": 5}, r"^rate: expected a number in \(0, 1\), got 5"),
        ({"rate": "often"}, r"^rate: expected a number in \(0, 1\)"),
        ({"bound": 0.0}, "^bound: expected a positive, finite number, got 0.0"),
        ({"bound": float("nan")}, "^bound: expected a positive, finite number, got nan"),
        ({"noise_std": -1.0}, "^noise_std: expected a positive, finite number, got -1.0"),
        ({"level": 1.0}, r"^level: expected a number in \(0, 1\), got 1.0"),
        ({"stopped": "x"}, "^stopped: expected a whole number of at least 1, got 'x'"),
        ({"bound_on": "rumours"}, "^bound_on: expected one of 'labels', 'truth', got 'rumours'"),
    ],
)
def test_an_audit_that_cannot_be_is_refused(arguments, match):
    with pytest.raises(InvalidInput, match=match):
        Audit(Never(), **{"rate": 0.1, "bound": 1.0, **arguments})


def test_what_is_audited_is_not_audited_again():
    with pytest.raises(InvalidInput, match=r"^rule: expected one that is not audited already, got "):
        Audit(Queue(Audit(Never(), 0.1, bound=1.0), 3), 0.1, bound=1.0)


@pytest.mark.parametrize("reason", ["audited", "no_audit_money"])
def test_only_an_audit_says_that_it_audited(reason):
    class Pretender(Rule):
        def decide(self, view):
            return Verdict(True, reason=reason)

    with pytest.raises(
        InvalidInput, match=r"^Pretender\.decide reason: expected one that is not reserved for"
    ):
        Audit(Pretender(), 0.1, bound=1.0).decide(view())
