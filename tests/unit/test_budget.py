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


@pytest.mark.parametrize(
    ("rounds", "again", "now"), [([5, 8], 5, 15), ([1, 30], 1, 31)], ids=["within the stretch", "before it"]
)
def test_a_label_that_is_bought_again_counts_in_its_own_round(rounds, again, now):
    rule = Budget(Always(), per=(2.0, 10))
    buy(rule, rounds)
    rule.returned(again, 1.0, audited=False)
    buy(rule, [again])
    assert rule.decide(view(round=now, price=1.0)).wants_label
    buy(rule, [now])
    assert not rule.decide(view(round=now, price=1.0)).wants_label


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


class Dearest(Rule):
    """Asks the dearest of those that it sees."""

    def decide(self, view):
        return Verdict(True, labeller=max(view.offers, key=lambda one: one.cost).labeller)


def test_a_rule_sees_the_offers_that_can_be_paid_and_the_default_is_among_them():
    seen = view(price=50.0, offers=(NURSE, MRI))
    for inner in (Dearest(), Always(), Audit(Never(), 0.1, bound=1.0)):
        rule = Budget(inner, total=200.0)
        assert rule.decide(seen).labeller in ("mri", None)
        buy(rule, [1], 190.0, audited=True)
        asked = rule.decide(view(round=2, price=50.0, offers=(NURSE, MRI), draw=drawn))
        assert (asked.wants_label, asked.labeller) == (True, "nurse")
        buy(rule, [2], 9.0, audited=True)
        last = rule.decide(view(round=3, price=50.0, offers=(NURSE, MRI), draw=drawn))
        assert not last.wants_label
        assert rule.forbids(view(round=3, offers=(NURSE, MRI))) == "no_money"


def test_an_audit_around_a_budget_asks_one_that_can_be_paid():
    rule = Audit(Budget(Never(), total=60.0), 0.1, bound=1.0)
    buy(rule, [1], 20.0)
    audited = rule.decide(view(round=2, price=50.0, offers=(NURSE, MRI), draw=drawn))
    assert (audited.reason, audited.labeller) == ("audited", "nurse")


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


def test_a_label_not_worth_the_price_of_who_would_be_asked_is_not_kept_for_later():
    rule = Budget(Thrifty(worth=3.0, labeller="mri"), total=100.0)
    buy(rule, [1], 50.0)
    verdict = rule.decide(view(price=2.0, offers=(NURSE, MRI)))  # the nurse is not asked
    assert (verdict.wants_label, verdict.reason) == (False, "worth_it")


# -- audits ------------------------------------------------------------------------------------------


def drawn(round, stream=0):
    return 0.0


def not_drawn(round, stream=0):
    return 0.99


def both(own, audits):
    """The rule's own number, and that of audits."""
    return lambda _, stream=0: audits if stream else own


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
        (Always(), {"per": (20.0, 100)}, 10.0),
        (Always(), {"per": (50.0, 100)}, 10.0 + 3 * 3.0),  # the mean of the draws, and three deviations
        (Value(horizon=100), {"total": 50.0}, 10.0 + 3 * 3.0),
        (Value(horizon=100), {"total": 30.0}, 15.0),
        (Value(), {"total": 10.0}, 5.0),
    ],
)
def test_what_is_kept_for_audits_is_what_they_need_but_half_at_most(inner, limits, kept):
    rule = Budget(Audit(inner, 0.1, bound=1.0), **limits)
    (cap,) = rule._caps(view())
    assert cap.kept == pytest.approx(kept)
    assert cap.scarcity == 1.0


def test_what_is_kept_of_a_total_is_for_the_rounds_ahead():
    rule = Budget(Audit(Value(horizon=400), 0.1, bound=1.0), total=500.0)
    buy(rule, range(1, 31), audited=True)
    kept = {round: rule._caps(view(round=round))[0].kept for round in (1, 301, 400, 401, 900)}
    assert kept == pytest.approx({1: 58.0, 301: 19.0, 400: 1.0, 401: 0.0, 900: 0.0})


def test_a_yes_that_cannot_be_paid_is_declined_and_may_be_drawn():
    rule = Budget(Audit(RandomSelect(0.6), 0.1, bound=1.0), total=10.0)
    buy(rule, range(1, 6))
    for wanted in (0.0, 0.99):
        no = rule.decide(view(round=6, draw=both(wanted, 0.99)))
        yes = rule.decide(view(round=6, draw=both(wanted, 0.0)))
        assert (no.wants_label, no.propensity) == (False, 0.1)
        assert (yes.wants_label, yes.reason, yes.propensity) == (True, "audited", 0.1)
        assert no.reason == ("no_money" if wanted == 0.0 else "not_drawn")


def test_audits_rest_while_a_window_has_no_room_and_go_on_after_it():
    rule = Budget(Audit(Never(), 0.1, bound=1.0), total=100.0, per=(2.0, 5))
    buy(rule, [1, 2], audited=True)
    for draw in (drawn, not_drawn):
        resting = rule.decide(view(round=3, draw=draw))
        assert (resting.wants_label, resting.propensity) == (False, None)
    assert rule.decide(view(round=6, draw=drawn)).reason == "audited"


@pytest.mark.parametrize("limits", [{"total": 5.0}, {"per": (5.0, 10)}, {"total": 5.0, "per": (9.0, 3)}])
def test_what_costs_more_than_a_whole_budget_ends_no_audit(limits):
    rule = Budget(Audit(Never(), 0.1, bound=1.0), **limits)
    for draw in (drawn, not_drawn):
        dear = rule.decide(view(price=10.0, draw=draw))
        assert (dear.wants_label, dear.propensity) == (False, None)
        assert dear.reason in ("no_money", "never")
    assert rule.decide(view(round=2, draw=drawn)).reason == "audited"


def test_audits_around_a_budget_rest_while_its_window_has_no_room():
    rule = Audit(Budget(RandomSelect(0.5), per=(1.0, 5)), 0.1, bound=1.0)
    buy(rule, [1])
    for own in (0.0, 0.99):
        left_out = rule.decide(view(round=3, draw=both(own, 0.0)))
        assert (left_out.wants_label, left_out.propensity) == (False, None)
    assert rule.decide(view(round=6, draw=both(0.99, 0.0))).reason == "audited"


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
    assert (rule.reservoir, rule.horizon, Queue(Always(), 3).horizon) == (256, 9, None)
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
    with pytest.raises(InvalidInput, match=r"expected at least 2, the cost of one label, got 1\.99"):
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


@pytest.mark.parametrize(
    ("memory", "match"),
    [
        ({"recent": "x"}, "^recent: expected a list of labels Bought, got 'x'"),
        ({"recent": [1]}, "^recent: expected a list of labels Bought"),
        ({"spending": 3}, "^spending: expected a Spending, got 3"),
        ({"lately": None}, "^lately: expected a Spending, got None"),
    ],
)
def test_memory_that_cannot_be_is_refused(memory, match):
    with pytest.raises(InvalidInput, match=match):
        Budget(Always(), total=1.0, **memory)


def test_a_fresh_budget_has_all_its_money_and_its_audit_goes_on():
    rule = Queue(Budget(Audit(Always(), 0.1, bound=1.0, stopped=3), total=10.0, per=(5.0, 9)), 3)
    buy(rule, [1, 2])
    rule.fresh()
    assert rule == Queue(Budget(Audit(Always(), 0.1, bound=1.0), total=10.0, per=(5.0, 9)), 3)
