"""Rules: the paper's threshold, its baselines in every reading, and rules of one's own."""

from math import inf, isnan, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import (
    Always,
    GaussianProcess,
    Learner,
    Matern,
    Never,
    RandomSelect,
    Rule,
    SquaredExponential,
    Threshold,
    TypeMeans,
    VariableUncertainty,
    Verdict,
)
from breakeven.errors import InvalidInput
from breakeven.values import Prediction, Traits, View

TYPES = Traits(noise_std=0.1, exponent=1 / 3, unit=1.0, prior_std=inf)


def view(uncertainty, *, arrivals=1, labels=1, round=1, price=1.0, traits=TYPES):
    return View(uncertainty, Prediction(0.0, uncertainty, 0.1), arrivals, labels, traits, round, price)


def decisions(rule, xs, belief=None, **options):
    learner = Learner(belief or TypeMeans(noise_std=0.1), rule, label_cost=2.0, **options)
    return learner.decide_many(xs)


# -- the paper's threshold -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clock", "arrivals", "round", "expected"),
    [
        ("type", 1, 1, 2.0 * 8 ** (1 / 3)),
        ("type", 8, 1000, 2.0),
        ("type", 64, 64, 1.0),
        ("stream", 1, 1, 4.0),
        ("stream", 1, 1000, 0.4),
        ("stream", 8, 64, 1.0),
    ],
)
def test_the_threshold_over_types_is_scale_times_the_cube_root_of_price_over_clock(
    clock, arrivals, round, expected
):
    seen = view(1.5, arrivals=arrivals, round=round, price=8.0)
    verdict = Threshold(2.0, clock).decide(seen)
    assert verdict.threshold == pytest.approx(expected, rel=1e-15)
    assert verdict.wants_label == (expected < 1.5)


@pytest.mark.parametrize("clock", ["type", "stream"])
@pytest.mark.parametrize(
    ("kernel", "dim", "exponent"),
    [
        (SquaredExponential(), 1, 1 / 4),
        (SquaredExponential(), 6, 1 / 9),
        (Matern(0.5), 1, 1 / 5),
        (Matern(2.5), 6, 1 / 15),
        (Matern(0.8), 2, 1 / 7),
    ],
)
def test_the_threshold_of_a_process_counts_rounds_and_knows_its_kernel(kernel, dim, exponent, clock):
    learner = Learner(GaussianProcess(dim, 0.5, kernel), Threshold(3.0, clock), label_cost=10.0)
    for t in range(1, 6):
        decision = learner.decide([0.0] * dim)
        expected = 3.0 * sqrt(2 * 0.5**2) * (10.0 / t) ** exponent
        assert decision.threshold == pytest.approx(expected, rel=1e-14)


def test_hand_values_of_algorithm_1():
    learner = Learner(TypeMeans(noise_std=1.0, delta=0.1), Threshold(), label_cost=8.0)
    first, second, third = learner.decide_many(["a", "b", "a"])
    assert (first.uncertainty, first.threshold, first.reason) == (inf, 2.0, "first_of_type")
    assert (second.uncertainty, second.threshold, second.reason) == (inf, 2.0, "first_of_type")
    assert third.uncertainty == pytest.approx(sqrt(2 * log(2 * 2**3 / 0.1)), rel=1e-14)
    assert third.threshold == pytest.approx(4 ** (1 / 3), rel=1e-14)
    assert (third.wants_label, third.reason) == (True, "unsure")


@given(
    st.floats(1e-100, 1e100), st.floats(1e-3, 1e3), st.integers(1, 10**9), st.sampled_from(["type", "stream"])
)
def test_a_type_without_labels_is_always_asked_and_zero_uncertainty_never(price, scale, count, clock):
    rule = Threshold(scale, clock)
    unknown = view(inf, labels=0, arrivals=count, round=count, price=price)
    assert rule.decide(unknown).wants_label
    assert rule.decide(unknown).reason == "first_of_type"
    assert not rule.decide(view(0.0, arrivals=count, round=count, price=price)).wants_label


def test_an_uncertainty_equal_to_the_threshold_is_not_above_it():
    limit = Threshold().decide(view(1.0, price=8.0)).threshold
    assert not Threshold().decide(view(limit, price=8.0)).wants_label
    assert Threshold().decide(view(np.nextafter(limit, inf), price=8.0)).wants_label


def test_the_first_arrival_of_a_process_is_asked_about_when_its_prior_is_wide():
    decision = Learner(GaussianProcess(1, 0.1), Threshold(), label_cost=1.0).decide(0.0)
    assert (decision.wants_label, decision.reason, decision.uncertainty) == (True, "unsure", 1.0)


def test_a_dearer_label_is_wanted_less():
    limits = [Threshold().decide(view(1.0, price=price)).threshold for price in (0.1, 1.0, 10.0)]
    assert limits == sorted(limits)
    scales = [Threshold(scale).decide(view(1.0)).threshold for scale in (0.1, 1.0, 10.0)]
    assert scales == sorted(scales)


# -- the extremes --------------------------------------------------------------------------------------


def test_always_and_never_do_as_they_say():
    everything, nothing = decisions(Always(), ["a"] * 20), decisions(Never(), ["a", "b"] * 10)
    assert all(d.wants_label and d.reason == "always" and d.propensity == 1.0 for d in everything)
    assert not any(d.wants_label or d.propensity for d in nothing)
    assert all(isnan(d.threshold) for d in everything + nothing)


# -- a coin --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("probability", [0.05, 0.5, 0.9])
def test_a_coin_asks_as_often_as_it_says(probability):
    rounds = 20_000
    asked = sum(d.wants_label for d in decisions(RandomSelect(probability), ["a"] * rounds, seed=1))
    assert abs(asked / rounds - probability) < 4 * sqrt(probability * (1 - probability) / rounds)


@pytest.mark.parametrize(("probability", "asked"), [(0, 0), (1, 300), (0.0, 0), (1.0, 300)])
def test_a_coin_of_chance_zero_or_one_is_certain(probability, asked):
    result = decisions(RandomSelect(probability), ["a"] * 300)
    assert sum(d.wants_label for d in result) == asked
    assert {d.propensity for d in result} == {float(probability)}


def test_a_coin_falls_the_same_way_for_the_same_seed_only():
    one, same, other = (
        [d.wants_label for d in decisions(RandomSelect(), ["a"] * 300, seed=seed)] for seed in (3, 3, 4)
    )
    assert one == same
    assert 100 < sum(a != b for a, b in zip(one, other, strict=True)) < 200


def test_a_coin_knows_the_round_and_nothing_else():
    plain = [d.wants_label for d in decisions(RandomSelect(), ["a"] * 100, seed=3)]
    learner = Learner(GaussianProcess(1, 0.1), RandomSelect(), label_cost=9.0, seed=3)
    mixed = []
    for i in range(100):
        if i % 10 == 3:
            learner.decide(0.5, force=True)
            mixed.append(plain[i])
        elif i % 10 == 5:
            learner = Learner.restore(learner.snapshot())
            mixed += [d.wants_label for d in learner.decide_many([[0.1]])]
        else:
            mixed.append(learner.decide(float(i)).wants_label)
    assert mixed == plain


def test_a_coin_says_its_chance():
    for decision in decisions(RandomSelect(0.25), ["a"] * 20):
        assert decision.propensity == 0.25
        assert "25%" in decision.why


# -- variable uncertainty, in every reading ------------------------------------------------------------


class Printed:
    """The paper's text: label if the uncertainty is below θ; halve θ on a label, else double it."""

    def __init__(self):
        self.theta = 1.0

    def says(self, u):
        return u == inf or u < self.theta

    def moves(self, yes):
        self.theta = self.theta / 2 if yes else self.theta * 2


class Figures(Printed):
    """The discrete figures: halve on a label, else half as much again."""

    def moves(self, yes):
        self.theta = self.theta * 0.5 if yes else self.theta * 1.5


class FiguresGP(Printed):
    """The level of the published line: halve on a label, and half as much again every round."""

    def moves(self, yes):
        if yes:
            self.theta *= 0.5
        self.theta *= 1.5


class Uncertain(Printed):
    """The sensible way round: label if the uncertainty is above θ; double on a label, else halve."""

    def says(self, u):
        return u > self.theta

    def moves(self, yes):
        self.theta = self.theta * 2 if yes else self.theta / 2


class Original(Printed):
    """Žliobaitė et al.: label if the confidence is below θ, within a budget; a step of 1%."""

    def __init__(self, budget):
        super().__init__()
        self.budget, self.labelled = budget, 0.0

    def within(self):
        return self.labelled / 100 < self.budget

    def says(self, u):
        return u == inf or (self.within() and u > 0 and 1 / (1 + u) < self.theta)

    def moves(self, yes):
        if yes or self.within():
            self.theta *= 0.99 if yes else 1.01
        self.labelled = self.labelled * 0.99 + yes


READINGS = {
    "printed": (VariableUncertainty("printed"), Printed),
    "figures": (VariableUncertainty("figures"), Figures),
    "figures_gp": (VariableUncertainty("figures_gp"), FiguresGP),
    "uncertain": (VariableUncertainty("uncertain"), Uncertain),
    "original": (VariableUncertainty("original", budget=0.2), lambda: Original(0.2)),
}


@pytest.mark.parametrize("reading", list(READINGS))
@given(us=st.lists(st.floats(1e-3, 1e3) | st.just(inf), max_size=60))
def test_a_reading_decides_as_it_is_written(reading, us):
    prototype, written = READINGS[reading]
    rule, plain = VariableUncertainty(prototype.reading, prototype.budget), written()
    for u in us:
        verdict = rule.decide(view(u))
        limit = 1 / plain.theta - 1 if reading == "original" else plain.theta
        if u != inf and abs(u - limit) <= 1e-9 * abs(limit):
            return  # too close to call
        assert verdict.wants_label == plain.says(u)
        if u != inf:
            assert verdict.threshold == pytest.approx(max(limit, 0.0), rel=1e-9, abs=1e-12)
        rule.observe(labelled=verdict.wants_label)
        plain.moves(verdict.wants_label)
        assert rule.theta == pytest.approx(plain.theta, rel=1e-9)


@pytest.mark.parametrize("reading", list(READINGS))
@pytest.mark.parametrize("kind", ["types", "process"])
def test_a_reading_decides_as_it_is_written_inside_a_learner(reading, kind):
    prototype, written = READINGS[reading]
    random = np.random.default_rng(6)
    belief = TypeMeans(0.3) if kind == "types" else GaussianProcess(1, 0.3, SquaredExponential(0.2))
    xs = [str(k) for k in random.integers(6, size=200)] if kind == "types" else random.random(200)
    learner, plain = Learner(belief, prototype, label_cost=5.0), written()
    asked = 0
    for x in xs:
        decision = learner.decide(x)
        assert decision.wants_label == plain.says(decision.uncertainty)
        assert decision.wants_label or decision.uncertainty < inf
        plain.moves(decision.wants_label)
        asked += decision.wants_label
    assert learner.rule.theta == pytest.approx(plain.theta, rel=1e-9)
    assert asked >= (6 if kind == "types" else 1)


def test_the_readings_as_short_sequences():
    def sequence(reading, us, budget=None):
        rule, said = VariableUncertainty(reading, budget), []
        for u in us:
            verdict = rule.decide(view(u))
            rule.observe(labelled=verdict.wants_label)
            said.append((verdict.wants_label, rule.theta))
        return said

    assert sequence("printed", [0.9, 0.9, 0.9]) == [(True, 0.5), (False, 1.0), (True, 0.5)]
    assert sequence("figures", [0.9, 0.9, 0.7]) == [(True, 0.5), (False, 0.75), (True, 0.375)]
    assert sequence("figures_gp", [0.9, 0.9, 0.9]) == [(True, 0.75), (False, 1.125), (True, 0.84375)]
    assert sequence("uncertain", [1.5, 1.5, 1.5]) == [(True, 2.0), (False, 1.0), (True, 2.0)]
    assert sequence("original", [0.5, 0.005, 0.5], 1.0) == [(True, 0.99), (False, 0.9999), (True, 0.989901)]


@pytest.mark.parametrize(
    ("reading", "labelled", "end"),
    [
        ("printed", True, 1e-300),
        ("printed", False, 1e300),
        ("figures", True, 1e-300),
        ("figures_gp", True, 1e-300),
        ("figures_gp", False, 1e300),
        ("uncertain", True, 1e300),
        ("uncertain", False, 1e-300),
        ("original", True, 1e-300),
        ("original", False, 1e300),
    ],
)
def test_theta_stays_within_its_limits(reading, labelled, end):
    rule = VariableUncertainty(reading, budget=1.0)
    for _ in range(80_000 if reading == "original" else 6000):
        rule.observe(labelled=labelled)
        assert 1e-300 <= rule.theta <= 1e300
    assert rule.theta == end
    assert rule.decide(view(1.0)).wants_label in (True, False)


@pytest.mark.parametrize("reading", ["uncertain", "original"])
def test_nothing_is_bought_when_nothing_is_uncertain(reading):
    rule = VariableUncertainty(reading, budget=1.0)
    for _ in range(3000):
        verdict = rule.decide(view(0.0))
        assert not verdict.wants_label
        rule.observe(labelled=False)


@pytest.mark.parametrize("reading", list(READINGS))
def test_a_type_without_labels_is_asked_about_even_beyond_the_budget(reading):
    rule = VariableUncertainty(reading, budget=0.0)
    assert rule.decide(view(inf, labels=0)).wants_label
    assert rule.decide(view(inf, labels=0)).reason == "first_of_type"
    assert rule.decide(view(1.0)).reason == "over_budget"


@pytest.mark.parametrize("reading", list(READINGS))
def test_theta_rests_while_the_budget_is_used_up(reading):
    rule = VariableUncertainty(reading, budget=0.1, theta=0.5, lately=50.0)
    rule.observe(labelled=False)
    assert (rule.theta, rule.lately) == (0.5, 49.5)


@pytest.mark.parametrize("budget", [0.05, 0.2])
@pytest.mark.parametrize("reading", list(READINGS))
def test_the_share_labelled_stays_within_the_budget(reading, budget):
    random = np.random.default_rng(3)
    rule, labels = VariableUncertainty(reading, budget), []
    for u in random.lognormal(0.0, 2.0, size=5000):
        labels.append(rule.decide(view(float(u))).wants_label)
        rule.observe(labelled=labels[-1])
    assert np.mean(labels) <= budget + 0.01
    assert max(np.convolve(labels, np.ones(500) / 500, "valid")[1000:]) <= budget + 0.05


@pytest.mark.parametrize("budget", [0.05, 0.2])
def test_the_original_reading_uses_its_budget_up(budget):
    random = np.random.default_rng(3)
    rule, labels = VariableUncertainty("original", budget), []
    for u in random.lognormal(0.0, 1.0, size=5000):
        labels.append(rule.decide(view(float(u))).wants_label)
        rule.observe(labelled=labels[-1])
    assert np.mean(labels) == pytest.approx(budget, abs=0.02)


def test_no_reading_looks_at_the_price():
    for prototype, _ in READINGS.values():
        cheap, dear = (prototype.decide(view(0.5, price=price)) for price in (1e-3, 1e3))
        assert cheap == dear


# -- rules of one's own --------------------------------------------------------------------------------


class EveryThird(Rule):
    """Label every third arrival that costs less than a limit."""

    limit: float = 5.0

    def decide(self, view):
        yes = view.round % 3 == 0 and view.price < self.limit
        return Verdict(yes, self.limit, "Label it: {cost} is below {threshold}." if yes else "Not now.")


def test_a_rule_of_ones_own_takes_a_few_lines():
    learner = Learner(TypeMeans(noise_std=0.1), EveryThird(), label_cost=4.0)
    asked = [learner.decide("a", cost=9.0 if i == 5 else None) for i in range(9)]
    assert [d.wants_label for d in asked] == [False, False, True, False, False, False, False, False, True]
    assert asked[2].why == "Label it: 4 is below 5."
    assert asked[0].why == "Not now."
    assert [d.propensity for d in asked[:3]] == [0.0, 0.0, 1.0]


class Told(Rule):
    """Answers whatever it was given."""

    answer: object = None

    def decide(self, view):
        return self.answer


NO_VERDICT = [None, True, False, "yes", (True, 1.0), Verdict]
NO_ANSWER = [Verdict(1), Verdict("yes"), Verdict(None)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        *[(answer, r"^Told\.decide: expected to return a Verdict, got ") for answer in NO_VERDICT],
        *[(answer, r"^Told\.decide wants_label: expected True or False, got ") for answer in NO_ANSWER],
        (Verdict(True, "high"), r"^Told\.decide threshold: expected a number, got 'high'"),
        (Verdict(True, propensity=2.0), r"^Told\.decide propensity: expected a number in \[0, 1\], got 2\.0"),
        (Verdict(True, reason=None), r"^Told\.decide reason: expected text, got None"),
    ],
    ids=repr,
)
def test_a_rule_that_returns_no_sound_verdict_is_named_and_nothing_changes(answer, expected):
    learner = Learner(TypeMeans(noise_std=0.1), Told(), label_cost=4.0)
    learner.decide("a", force=True)
    before = learner.snapshot()
    learner.rule.answer = answer
    for call in (
        lambda: learner.decide("a"),
        lambda: learner.decide("b", id="mine"),
        lambda: learner.decide_many(["b", "c"]),
    ):
        with pytest.raises(InvalidInput, match=expected):
            call()
    learner.rule.answer = None
    assert learner.snapshot() == before
    assert learner.decide("a", force=True).id == "2"


def test_a_rule_must_say_how_it_decides():
    learner = Learner(TypeMeans(noise_std=0.1), Rule(), label_cost=4.0)
    before = learner.snapshot()
    with pytest.raises(NotImplementedError):
        learner.decide("a")
    assert learner.snapshot() == before


class Curious(Rule):
    """Notes what it was shown."""

    seen: list = []  # noqa: RUF012

    def decide(self, view):
        self.seen.append((view.round, view.price, view.arrivals, view.labels, view.uncertainty))
        return Verdict(view.uniform() < 2.0)


def test_a_rule_sees_the_round_the_price_and_the_counts_before_its_answer():
    learner = Learner(TypeMeans(noise_std=0.1), Curious(), label_cost=4.0)
    for x in ("a", "b", "a"):
        learner.decide(x)
    learner.decide("a", cost=7.0)
    shown = [seen[:4] for seen in learner.rule.seen]
    assert shown == [(1, 4.0, 1, 0), (2, 4.0, 1, 0), (3, 4.0, 2, 1), (4, 7.0, 3, 2)]
    assert learner.rule.seen[0][4] == inf


def test_a_rule_without_a_reason_is_still_worded():
    decision = decisions(Told(Verdict(True)), ["a"])[0]
    assert decision.why == "The rule decided so, and gave no reason."
    assert isnan(decision.threshold)
