"""A budget: what it allows, what it makes of prices, and what it keeps for audits."""

from math import inf

import numpy as np
import pytest

from breakeven.errors import InvalidInput
from breakeven.rules import Always, Audit, Budget, Never, Queue, RandomSelect, Rule, Threshold, Value
from breakeven.values import Verdict
from tests.unit.views import MRI, NURSE, view


class Thrifty(Rule):
    """Says yes up to a price, keeps what it was shown, and counts what happened to it."""

    worth: float = inf
    labeller: str | None = None
    shown: list[float] = []  # noqa: RUF012
    heard: list[str] = []  # noqa: RUF012

    def decide(self, view):
        self.shown.append(view.price)
        return Verdict(self.worth > view.price, reason="worth_it", worth=self.worth, labeller=self.labeller)

    def check_start(self, rounds, cost):
        self.heard.append(f"start after {rounds} at {cost:g}")

    def observe(self, *, labelled):
        self.heard.append(f"observed {labelled}")

    def bought(self, round, cost, *, audited):
        self.heard.append(f"bought in {round} for {cost:g}{' as an audit' if audited else ''}")

    def returned(self, round, cost, *, audited):
        self.heard.append(f"returned {round} for {cost:g}")


def buy(rule, rounds, cost=1.0, *, audited=False):
    for round in rounds:
        rule.bought(round, cost, audited=audited)


# -- the limit ---------------------------------------------------------------------------------------


def test_money_in_all_is_spent_to_the_last_label():
    rule = Budget(Always(), total=1.0)
    for round in range(1, 11):
        assert rule.decide(view(round=round, price=0.1)).wants_label
        buy(rule, [round], 0.1)
    refused = rule.decide(view(round=11, price=0.1))
    assert (refused.wants_label, refused.reason, refused.propensity) == (False, "no_money", None)
    assert rule.forbids(view(round=11, price=0.1)) == "no_money"
    assert rule.left == 0.0


def test_a_label_that_is_too_dear_is_refused_and_a_cheaper_one_is_not():
    rule = Budget(Always(), total=10.0)
    buy(rule, [1], 8.0)
    assert rule.decide(view(price=2.1)).reason == "no_money"
    assert rule.decide(view(price=2.0)).wants_label


def test_money_per_rounds_comes_back_as_they_pass():
    rule = Budget(Always(), per=(2.0, 5))
    buy(rule, [1, 3])
    answers = {round: rule.decide(view(round=round)).wants_label for round in range(4, 9)}
    assert answers == {4: False, 5: False, 6: True, 7: True, 8: True}
    buy(rule, [6])
    assert [rule.decide(view(round=round)).wants_label for round in (7, 8)] == [False, True]
    assert [one.round for one in rule.recent] == [3, 6]


def test_both_limits_hold():
    rule = Budget(Always(), total=3.0, per=(2.0, 4))
    buy(rule, [1, 2])
    assert not rule.decide(view(round=3)).wants_label
    assert rule.decide(view(round=5)).wants_label
    buy(rule, [5])
    assert rule.decide(view(round=100)).reason == "no_money"


def test_what_is_returned_may_be_spent_again():
    rule = Budget(Always(), total=2.0, per=(2.0, 10))
    buy(rule, [1, 2])
    rule.returned(1, 1.0, audited=False)
    assert rule.left == 1.0
    assert rule.decide(view(round=3)).wants_label
    buy(rule, [3])
    assert not rule.decide(view(round=4)).wants_label


def test_the_labeller_that_is_asked_must_be_payable():
    rule = Budget(Thrifty(labeller="mri"), total=60.0)
    seen = view(price=2.0, offers=(NURSE, MRI))
    assert rule.decide(seen).wants_label
    buy(rule, [1], 20.0)
    assert rule.decide(seen).reason == "no_money"
    assert rule.forbids(seen) is None  # the one asked by default can be had
    assert Budget(Thrifty(labeller="nurse"), total=60.0).decide(seen).labeller == "nurse"


# -- what a label seems to cost ----------------------------------------------------------------------


def test_the_price_rises_smoothly_as_money_gets_scarce():
    inner = Thrifty()
    rule = Budget(inner, total=100.0)
    for round in range(1, 101):
        rule.decide(view(round=round, price=1.0))
        buy(rule, [round])
    shown = np.array(inner.shown)
    np.testing.assert_allclose(shown, 100.0 / (100.0 - np.arange(100)))
    rule.decide(view(round=101))
    assert inner.shown[-1] == 1e9


def test_the_scarcest_of_both_limits_sets_the_price():
    inner = Thrifty()
    rule = Budget(inner, total=100.0, per=(4.0, 10))
    buy(rule, [1, 2, 3])
    rule.decide(view(round=4))
    rule.decide(view(round=12))
    rule.decide(view(round=13))
    assert inner.shown == [4.0, 4.0 / 3.0, 100.0 / 97.0]


def test_every_offer_gets_dearer_and_the_view_stays_as_it_was():
    class Seer(Rule):
        def decide(self, view):
            assert [offer.price for offer in view.offers] == [4.0, 100.0]
            assert ([offer.cost for offer in view.offers], view.cost) == ([2.0, 50.0], 2.0)
            return Verdict(False)

    rule = Budget(Seer(), total=100.0)
    buy(rule, [1], 50.0)
    seen = view(price=2.0, offers=(NURSE, MRI))
    rule.decide(seen)
    assert (seen.price, seen.offers) == (2.0, (NURSE, MRI))


def test_a_threshold_asks_less_when_money_is_scarce_and_says_so():
    rule = Budget(Threshold(), total=16.0)
    assert rule.decide(view(1.9, price=4.0)).reason == "unsure"
    buy(rule, [1], 8.0)
    tight = rule.decide(view(1.9, price=4.0))
    assert (tight.wants_label, tight.reason) == (False, "sure_in_budget")
    assert tight.threshold == pytest.approx(2.0)
    assert rule.decide(view(2.1, price=4.0)).reason == "unsure_in_budget"


def test_a_label_worth_its_price_but_not_the_scarcity_is_kept_for_later():
    rule = Budget(Thrifty(worth=3.0), total=10.0)
    buy(rule, [1], 6.0)
    assert rule.decide(view(price=2.0)).reason == "kept_for_later"
    assert rule.decide(view(price=1.0)).reason == "worth_it"


# -- audits ------------------------------------------------------------------------------------------


def drawn(round, stream=0):
    return 0.0


def not_drawn(round, stream=0):
    return 0.99


def test_half_the_total_is_kept_for_audits_when_nobody_knows_how_many():
    rule = Budget(Audit(Always(), 0.1, bound=1.0), total=10.0)
    buy(rule, range(1, 6))
    assert rule.decide(view(round=6)).reason == "no_money"
    assert rule.forbids(view(round=6)) == "no_money"


def test_audits_take_what_is_kept_for_them_and_then_what_else_there_is():
    rule = Budget(Audit(Never(), 0.1, bound=1.0), total=4.0)
    for round in range(1, 5):
        assert rule.decide(view(round=round, draw=drawn)).reason == "audited"
        buy(rule, [round], audited=True)
    ended = rule.decide(view(round=5, draw=drawn))
    assert (ended.wants_label, ended.reason, ended.propensity) == (False, "no_audit_money", None)


def test_audits_end_with_the_first_that_could_not_be_paid_for_whether_it_is_drawn_or_not():
    rule = Budget(Audit(Never(), 0.1, bound=1.0), total=1.0)
    buy(rule, [1], audited=True)
    assert rule.decide(view(round=2, draw=not_drawn)).reason == "no_audit_money"
    rule.audit.stopped = 2
    assert rule.decide(view(round=3, draw=drawn)).reason == "never"


@pytest.mark.parametrize(
    ("inner", "limits", "kept"),
    [
        (Always(), {"per": (10.0, 20)}, 2.0),
        (Always(), {"per": (10.0, 1000)}, 5.0),
        (Value(horizon=30), {"total": 10.0}, 3.0),
        (Value(), {"total": 10.0}, 5.0),
    ],
)
def test_what_is_kept_for_audits_is_what_they_need_but_half_at_most(inner, limits, kept):
    rule = Budget(Audit(inner, 0.1, bound=1.0), **limits)
    (cap,) = rule._caps(view())
    assert cap.kept == pytest.approx(kept)
    assert cap.scarcity == 1.0


def test_prices_rise_by_what_is_left_for_the_rule_itself():
    inner = Thrifty()
    rule = Budget(Audit(inner, 0.1, bound=1.0), total=10.0)
    buy(rule, [1], audited=True)
    rule.decide(view(round=2, draw=not_drawn))
    buy(rule, [2, 3, 4, 5])
    rule.decide(view(round=6, draw=not_drawn))
    assert inner.shown == [1.0, 5.0]


def test_money_kept_for_audits_is_free_once_they_have_ended():
    rule = Budget(Audit(Always(), 0.1, bound=1.0, stopped=3), total=10.0)
    buy(rule, range(1, 10))
    assert rule.decide(view(round=10)).wants_label


# -- in its place ------------------------------------------------------------------------------------


def test_what_happens_is_passed_on():
    inner = Thrifty()
    rule = Budget(Queue(inner, 5), total=10.0)
    rule.check_start(3, 2.0)
    rule.observe(labelled=True)
    buy(rule, [4], 2.0, audited=True)
    rule.returned(4, 2.0, audited=True)
    assert inner.heard == [
        "start after 3 at 2", "observed True", "bought in 4 for 2 as an audit", "returned 4 for 2"
    ]  # fmt: skip


def test_budgets_in_budgets_hold_both_and_multiply_prices():
    inner = Thrifty()
    rule = Budget(Budget(inner, total=10.0), per=(4.0, 100))
    buy(rule, [1, 2])
    rule.decide(view(round=3))
    assert inner.shown == [2.0 * 10.0 / 8.0]
    buy(rule, [3, 4])
    assert rule.decide(view(round=5)).reason == "no_money"
    assert rule.rule.left == 6.0


def test_layers_are_named_from_the_outside_in():
    rule = Queue(Budget(Audit(Value(horizon=9), 0.1, bound=1.0), total=5.0), 3)
    assert [type(one) for one in rule.layers] == [Queue, Budget, Audit, Value]
    assert rule.audit is rule.rule.rule
    assert rule.reservoir == 256
    assert (Budget(Always(), total=1.0).audit, Budget(Always(), total=1.0).reservoir) == (None, 0)


def test_a_budget_describes_itself_and_what_is_inside():
    described = Budget(Threshold(0.5), total=4.0).describe()
    assert described["rule"] == {"kind": "Threshold", "scale": 0.5, "clock": "type"}
    assert (described["kind"], described["total"], described["left"]) == ("Budget", 4.0, 4.0)


# -- refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({}, r"^total: expected a budget in all, or per=\(money, rounds\), got None"),
        ({"total": 0}, "^total: expected a positive, finite number, got 0"),
        ({"total": -1.0}, "^total: expected a positive"),
        ({"total": inf}, "^total: expected a positive, finite number, got inf"),
        ({"total": "lots"}, "^total: expected a positive"),
        ({"per": 5.0}, "^per: expected a pair of money and rounds, got 5.0"),
        ({"per": (5.0,)}, "^per: expected a pair of money and rounds"),
        ({"per": (0.0, 5)}, r"^per\[0\]: expected a positive, finite number, got 0.0"),
        ({"per": (1.0, 0)}, r"^per\[1\]: expected a whole number of at least 1, got 0"),
        ({"per": (1.0, 2.5)}, r"^per\[1\]: expected a whole number"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(arguments, match):
    with pytest.raises(InvalidInput, match=match):
        Budget(Always(), **arguments)


@pytest.mark.parametrize("limits", [{"total": 1.99}, {"per": (1.99, 10)}])
def test_a_budget_smaller_than_one_label_is_refused_at_the_start(limits):
    rule = Budget(Always(), **limits)
    with pytest.raises(InvalidInput, match=r"expected at least 2, the price of one label, got 1\.99"):
        rule.check_start(0, 2.0)
    rule.check_start(0, 1.99)


@pytest.mark.parametrize("inner", [None, Threshold, 3, "always"])
def test_what_is_inside_must_be_a_rule(inner):
    for make in (lambda: Budget(inner, total=1.0), lambda: Queue(inner, 3), lambda: Audit(inner, 0.1, 1.0)):
        with pytest.raises(InvalidInput, match=r"^rule: expected a rule such as Threshold\(\), got "):
            make()


def test_a_draw_inside_keeps_its_chance():
    verdict = Budget(RandomSelect(0.4), total=5.0).decide(view())
    assert verdict.propensity == 0.4
