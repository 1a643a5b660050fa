"""A rule around a rule whose labels test the belief: when its coins fall, and what they may buy."""

from math import inf, pi, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from breakeven import (
    Always,
    Audit,
    Budget,
    Check,
    Learner,
    Never,
    Prediction,
    Queue,
    RandomSelect,
    Threshold,
    TypeMeans,
    TypeShares,
    Value,
    VariableUncertainty,
)
from breakeven.errors import InvalidInput
from breakeven.rules import rule_data, rule_of
from breakeven.rules.check import error_ahead
from breakeven.values import Traits, Verdict, View
from breakeven.values.decision import QUANTILE_LEVELS
from breakeven.values.view import GOLDEN_STEP


def view(suspicion=1.0, price=2.0, std=0.6, draw=0.0, noise_std=0.8):
    traits = Traits(noise_std=noise_std, exponent=0.5, unit=1.0, prior_std=inf)
    one = View(std, Prediction(1.0, std, noise_std), None, 5, traits, round=7, price=price, cost=price)
    first = (draw - 7 * GOLDEN_STEP) % 1.0  # so that `draw` is the seventh number
    one.suspicion, one.draw = suspicion, lambda _, series=0: first if series == 2 else 0.5
    return one


def chance(rule, one):
    return rule.decide(one).propensity or 0.0


class AgainstLabels(Never):
    @property
    def scores_labels(self):
        return True


class Ending(Never):
    left: int

    def arrivals_left(self, round):
        return self.left


def test_the_chance_is_a_share_of_the_expected_error_over_the_price():
    expected = 0.07 * sqrt(2 / pi) * 0.6 / 2.0
    assert chance(Check(Never()), view()) == pytest.approx(expected)
    against_labels = chance(Check(AgainstLabels()), view())
    assert against_labels == pytest.approx(0.07 * sqrt(2 / pi) * 1.0 / 2.0)  # the noise counts as well


@pytest.mark.parametrize(
    ("suspicion", "times"), [(0.01, 1.0), (1.0, 1.0), (4.0, 4.0), (30.0, 30.0), (99.0, 30.0)]
)
def test_it_looks_harder_while_labels_lie_far_out(suspicion, times):
    assert chance(Check(Never()), view(suspicion)) == pytest.approx(times * chance(Check(Never()), view(1.0)))


@pytest.mark.parametrize("price", [0.2, 0.7, 3.0])
def test_coins_fall_at_even_distances(price):
    """Of many rounds as many as the chance says, and none has to wait much longer than that for the next."""
    rule, one = Check(Never()), view(price=price)
    p = chance(rule, one)
    for first in (0.1, 0.6):
        one.draw = lambda _, series=0, first=first: first
        rounds = []
        for one.round in range(1, 2001):
            if rule.decide(one).wants_label:
                rounds.append(one.round)
        assert len(rounds) == pytest.approx(2000 * p, abs=2.0)
        assert max(np.diff([0, *rounds])) < 3.0 / p


def test_a_coin_that_falls_buys_what_the_rule_declines():
    drawn, spared = (Check(Never()).decide(view(draw=draw)) for draw in (0.0, 0.99))
    assert (drawn.wants_label, drawn.reason) == (True, "checked")
    assert (spared.wants_label, spared.reason) == (False, "never")
    assert Check(Always()).decide(view(draw=0.0)).reason == "always"


def test_no_coin_falls_before_the_belief_is_tested_nor_where_it_expects_nothing_yet():
    for one in (view(suspicion=0.0), view(std=inf)):
        assert Check(Never(), share=1.0).decide(one) == Never().decide(one)
    assert Check(Never(), share=0.0).decide(view()) == Never().decide(view())


def test_no_coin_falls_where_too_few_are_to_come():
    few = view(price=2.0)
    usual = chance(Check(Never()), few)
    in_all = int(2.0 / (0.6 * usual)) - few.round  # arrivals to come, of a stream with too few coins in all
    assert chance(Check(Ending(in_all)), few) == 0.0
    assert chance(Check(Ending(in_all + 1)), few) == usual > 0.0
    assert chance(Check(Budget(Ending(0), total=50.0)), few) == 0.0
    few.round, to_come = 1000, int(1.5 / usual)
    assert chance(Check(Ending(to_come)), few) == 0.0
    assert chance(Check(Ending(to_come + 1)), few) == usual
    few.suspicion = 4.0
    assert chance(Check(Ending(to_come)), few) == 4.0 * usual  # labels far out are followed up to the end


def test_a_label_cheaper_than_its_error_is_drawn_for_certain():
    assert chance(Check(Never(), share=1.0), view(price=0.01, draw=0.99)) == 1.0


def test_nothing_is_drawn_beyond_a_limit():
    full = view()
    full.awaited = 3
    assert not Check(Queue(Never(), most=3), share=1.0).decide(full).wants_label
    assert not Queue(Check(Never(), share=1.0), most=3).decide(full).wants_label
    for rule in (Check(Budget(Never(), total=1.0), share=1.0), Budget(Check(Never(), share=1.0), total=1.0)):
        assert not rule.decide(view(price=2.0)).wants_label
    assert Budget(Check(Never(), share=1.0), total=5.0).decide(view(price=0.01)).wants_label


def test_what_it_may_go_around():
    for inside in (Check(Never()), Audit(Never(), rate=0.1, bound=1.0)):
        with pytest.raises(InvalidInput, match="rule: expected one"):
            Check(inside)
    with pytest.raises(InvalidInput, match="share: expected"):
        Check(Never(), share=1.5)
    assert Audit(Check(Never()), rate=0.1, bound=1.0).check is not None


def test_it_is_plain_data():
    rule = Budget(Check(Value(horizon=10), share=0.02), total=9.0)
    data = {"kind": "Check", "rule": {"kind": "Value", "horizon": 10}, "share": 0.02}
    assert rule_data(rule)["rule"] == data
    assert rule_of(rule_data(rule)) == rule


def test_a_label_drawn_counts_as_a_no_of_the_rule():
    """As it does in an audit: a rule with a budget of its own has not spent it."""
    learner = Learner(
        TypeMeans(0.1), Check(VariableUncertainty("original", budget=0.1), share=1.0), label_cost=0.01
    )
    for i in range(60):
        decision = learner.decide("flu")
        if decision.wants_label:
            learner.tell(decision.id, 1.0 + 0.1 * (-1) ** i)
    drawn = sum(learner.decision(str(i + 1)).reason == "checked" for i in range(60))
    inner = learner.rule.rule
    assert drawn > 10
    assert inner.budget == 0.1
    assert learner.decide("flu").reason != "over_budget"


def test_a_belief_that_cannot_be_tested_is_refused():
    kept = {name: value for name, value in vars(TypeMeans).items() if name not in ("rank", "__dict__")}
    blunt = type("Blunt", (), kept)(0.1)
    with pytest.raises(InvalidInput, match="how likely a label is"):
        Learner(blunt, Check(Threshold()), label_cost=1.0)


# -- expected errors -----------------------------------------------------------------------------------------


def test_the_error_of_quantiles_is_their_mean_distance_from_the_answer():
    scores = [NormalDist().inv_cdf(level) for level in QUANTILE_LEVELS]
    normal = Prediction(2.0, 3.0, 0.0, tuple(2.0 + 3.0 * one for one in scores))
    assert error_ahead(normal, "f") == pytest.approx(3.0 * sqrt(2 / pi), rel=0.03)


def test_the_error_of_a_yes_or_no_is_the_chance_that_it_is_wrong():
    no, yes = (Prediction(answer, 0.1, 0.5, probability=0.05) for answer in (0.0, 1.0))
    assert (error_ahead(no, "label"), error_ahead(yes, "label")) == (0.05, 0.95)


@pytest.mark.parametrize("of", ["f", "label"])
def test_where_errors_cost_more_one_way_than_the_other_an_error_counts_so(of):
    no, yes = (Prediction(answer, 0.1, 0.5, probability=0.05) for answer in (0.0, 1.0))
    assert error_ahead(no, of, level=0.9) == pytest.approx(1.8 * 0.05)
    assert error_ahead(yes, of, level=0.9) == pytest.approx(0.2 * 0.95)
    quantile = NormalDist().inv_cdf(0.9)
    scores = [NormalDist().inv_cdf(level) for level in QUANTILE_LEVELS]
    answered = 2.0 + 3.0 * quantile
    said = Prediction(answered, 3.0, 0.0, *2 * [tuple(2.0 + 3.0 * one for one in scores)])
    normal = Prediction(answered, 3.0, 0.0, centre=2.0)
    exact = 3.0 * 2.0 * NormalDist().pdf(quantile)
    assert error_ahead(normal, of, level=0.9) == pytest.approx(exact)
    assert error_ahead(said, of, level=0.9) == pytest.approx(exact, rel=0.05)


def test_coins_count_errors_as_they_cost():
    rule = Check(RandomSelect(0.0), share=0.5)
    even, uneven = (
        Learner(TypeShares(prior_strength=1.0), rule, label_cost=10.0, **costs)
        for costs in ({"error_cost": 1.0}, {"miss_cost": 1.6, "false_alarm_cost": 0.4})
    )
    for one in (even, uneven):
        for y in (0, 0, 0, 0, 0, 0, 0, 0, 0):
            one.learn("loan", y)
    share = 0.05  # of yeses, after nine noes
    assert even.decide("loan").propensity == pytest.approx(0.5 * share / 10.0)
    assert uneven.decide("loan").propensity == pytest.approx(0.5 * 1.6 * share / 10.0)


class Worth(Never):
    """Declines everything, and says what a label is worth."""

    worth: float = 0.0

    def decide(self, view):
        return Verdict(False, worth=self.worth)


@pytest.mark.parametrize(("worth", "part"), [(0.0, 0.6), (0.4, 0.75), (0.8, 1.0), (1.9, 1.0)])
def test_no_more_than_a_part_is_lost_for_good(worth, part):
    assert chance(Check(Worth(worth=worth)), view()) == pytest.approx(part * chance(Check(Never()), view()))
