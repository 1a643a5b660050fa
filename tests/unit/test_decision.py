"""Decisions and predictions as values: their words, their intervals, their JSON."""

import re
from math import inf, isnan, nan
from statistics import NormalDist

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm

from breakeven import Decision, Learner, Never, Prediction, TypeMeans, algorithm1
from breakeven.errors import InvalidInput
from breakeven.values.decision import WORDING, words

P = Prediction(mean=151.6, std=20.0, noise_std=50.0)


def decision(reason, *, prediction=P, uncertainty=31.25, threshold=28.4, cost=10.0, propensity=0.25, **more):
    return Decision("7", True, prediction, uncertainty, threshold, cost, propensity, reason, **more)


# -- words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", list(WORDING))
def test_every_reason_is_one_whole_sentence(reason):
    why = decision(reason).why
    assert re.fullmatch(r"(Label it: |No label: |The rule decided so, )[^{}]+\.", why)
    for name, text in (
        ("{mean}", "152"),
        ("{uncertainty}", "31.2"),
        ("{threshold}", "28.4"),
        ("{cost}", "10"),
    ):
        assert (name in WORDING[reason]) <= (text in why)


@pytest.mark.parametrize("number", [inf, -inf, nan, 0.0, 1e300, -5e-324])
@pytest.mark.parametrize("reason", list(WORDING))
def test_every_reason_can_be_worded_for_any_numbers(reason, number):
    p = Prediction(number, number, number)
    one = decision(reason, prediction=p, uncertainty=number, threshold=number, cost=number, propensity=nan)
    assert re.fullmatch(r"[^{}]{10,250}\.", one.why)


@pytest.mark.parametrize("reason", [word for word in WORDING if not word.startswith("own")])
def test_a_reason_says_yes_or_no_first(reason):
    asks = reason in {
        "unsure", "first_of_type", "warmup", "person_asked", "drawn", "always", "above_moving",
        "below_moving", "worth_it", "worth_it_late", "nothing_known", "audited", "checked",
        "unsure_in_budget",
    }  # fmt: skip
    assert decision(reason).why.startswith("Label it: " if asks else "No label: ")


def test_a_sentence_of_ones_own_is_filled_in():
    sentence = "{mean} ± {uncertainty} against {threshold} at {cost}, by {chance}."
    assert decision(sentence).why == "152 ± 31.2 against 28.4 at 10, by 25%."


@pytest.mark.parametrize(
    "sentence",
    ["{", "}", "{}", "{0}", "{nobody}", "{mean:d}", "100 {%}", "{mean", "", "{mean.x}", "{mean[0}"],
)
def test_a_sentence_with_braces_of_its_own_is_left_alone(sentence):
    assert decision(sentence).why == sentence


@given(st.text(max_size=30) | st.text("{}[].!:0mean", max_size=30))
def test_any_text_can_be_a_reason(sentence):
    assert isinstance(decision(sentence).why, str)


def test_the_words_of_a_first_arrival():
    why = algorithm1(label_cost=10.0, noise_std=0.1).decide("melanoma").why
    assert why == "Label it: nothing of this type has been labelled yet."


def test_the_words_of_a_threshold():
    learner = algorithm1(label_cost=8.0, noise_std=0.1)
    learner.tell(learner.decide("flu").id, 3.0)
    assert learner.decide("flu").why == (
        "No label: the prediction 3 is uncertain by only 0.272, within the 1.59 "
        "that is worth accepting when a label costs 8."
    )


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (24_512.3, "24,500"),
        (-24_512.3, "-24,500"),
        (1_234_567.0, "1,230,000"),
        (999.9, "1,000"),
        (999.4, "999"),
        (0.012345, "0.0123"),
        (3e12, "3e+12"),
        (inf, "inf"),
    ],
)
def test_numbers_are_written_out_as_long_as_that_is_readable(number, words):
    one = decision("{mean} {uncertainty}", prediction=Prediction(number, 1.0, 1.0), uncertainty=number)
    assert one.why == f"{words} {words}"


def test_what_a_label_is_worth_is_said_and_whom_to_ask():
    one = decision("Ask {labeller}: worth {worth}.", labeller="mri", worth=1234.5)
    assert one.why == "Ask mri: worth 1,230."
    assert decision("worth_it", worth=31.0).why == (
        "Label it: a label would save about 31 in errors to come, more than the 10 it costs."
    )
    assert "about an unknown amount" in decision("worth_it").why


@pytest.mark.parametrize(("chance", "words"), [(0.25, "25%"), (0.005, "0.5%"), (1 / 3, "33.3%")])
def test_a_small_chance_is_not_rounded_away(chance, words):
    assert decision("audited", propensity=chance).why.endswith(f"at a chance of {words}.")


def test_a_price_is_written_out_in_full():
    assert decision("It costs {cost}.", cost=24_512.35).why == "It costs 24,512.35."


# -- frozen values -------------------------------------------------------------------------------------


def test_a_decision_cannot_be_changed():
    one = decision("always")
    with pytest.raises(AttributeError, match="immutable"):
        one.wants_label = False
    with pytest.raises(AttributeError, match="immutable"):
        one.prediction.mean = 3.0


def test_equal_decisions_are_equal_and_hash_alike():
    assert decision("always") == decision("always")
    assert len({decision("always"), decision("always"), decision("never")}) == 2


# -- JSON ----------------------------------------------------------------------------------------------


def test_a_decision_is_json_with_null_for_what_is_not_a_number():
    learner = Learner(TypeMeans(noise_std=0.5), Never(), label_cost=2.0)
    assert msgspec.json.decode(msgspec.json.encode(learner.decide("flu"))) == {
        "id": "1",
        "wants_label": False,
        "prediction": {"mean": 0.0, "std": None, "noise_std": 0.5},
        "uncertainty": None,
        "threshold": None,
        "cost": 2.0,
        "propensity": 0.0,
        "reason": "never",
        "exact": True,
        "ambiguous": False,
        "stretch": 1.0,
        "doubt": None,
        "labeller": None,
        "worth": None,
        "worth_now": None,
        "scarcity": 1.0,
        "by": "rule",
        "round": 1,
        "offers": [],
    }


def test_a_prediction_is_json_with_null_for_infinity():
    assert msgspec.json.encode(Prediction(1.5, inf, nan)) == b'{"mean":1.5,"std":null,"noise_std":null}'


def test_a_finite_decision_comes_back_from_json_and_msgpack():
    one = decision("unsure")
    for module in (msgspec.json, msgspec.msgpack):
        assert module.decode(module.encode(one), type=Decision) == one


# -- intervals -----------------------------------------------------------------------------------------


@given(
    mean=st.floats(-1e6, 1e6),
    std=st.floats(0.0, 1e6),
    noise_std=st.floats(1e-6, 1e6),
    level=st.floats(0.0, 1.0, exclude_min=True, exclude_max=True),
)
def test_intervals_are_those_of_the_normal_distribution(mean, std, noise_std, level):
    p = Prediction(mean, std, noise_std)
    width = max(std, noise_std) + abs(mean)
    tail = norm.isf((1.0 - level) / 2.0)  # norm.interval itself is inexact near 1
    for of, spread in (("f", std), ("label", (std**2 + noise_std**2) ** 0.5)):
        expected = (mean - tail * spread, mean + tail * spread)
        assert p.interval(level, of=of) == pytest.approx(expected, rel=1e-9, abs=1e-9 * width)


def test_an_interval_holds_95_in_100_unless_told_otherwise():
    assert P.interval() == P.interval(0.95, of="f")
    assert P.interval()[1] - P.mean == pytest.approx(1.959963984540054 * 20.0)


def test_nothing_known_is_an_endless_interval():
    p = Prediction(0.0, inf, 0.5)
    assert p.interval() == p.interval(0.5, of="label") == (-inf, inf)


def test_nothing_unknown_is_an_empty_interval():
    assert Prediction(3.0, 0.0, 0.5).interval(0.99) == (3.0, 3.0)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 95, nan, "0.95", None, True])
def test_a_level_lies_between_zero_and_one(level):
    with pytest.raises(InvalidInput, match=r"^level: expected a number in \(0, 1\), got "):
        P.interval(level)


def test_an_interval_is_of_f_or_of_a_label():
    with pytest.raises(InvalidInput, match=r"^of: expected one of 'f', 'label', got 'y'"):
        P.interval(0.5, of="y")


def test_a_number_that_is_not_known_stays_so():
    assert all(isnan(end) for end in Prediction(nan, 1.0, 1.0).interval())


QUANTILES = (-9.0, -5.0, -2.5, -2.0, -1.0, 0.5, 1.0, 3.0, 4.0, 8.0, 20.0)


@pytest.mark.parametrize("level", [0.05, 0.3, 0.5, 0.8, 0.95, 0.99, 0.999])
@pytest.mark.parametrize(
    "prediction",
    [
        Prediction(mean=2.0, std=3.0, noise_std=4.0),
        Prediction(mean=2.0, std=3.0, noise_std=4.0, centre=-1.0),
        Prediction(mean=0.5, std=2.5, noise_std=1.0, f_quantiles=QUANTILES, label_quantiles=QUANTILES),
    ],
    ids=["normal", "another quantile answered", "an average"],
)
def test_an_interval_ends_at_the_normal_score_of_its_level(prediction, level):
    low, high = prediction.interval(level, of="label")
    end = NormalDist().inv_cdf((1.0 + level) / 2.0)
    assert (prediction.normal_score(low), prediction.normal_score(high)) == pytest.approx((-end, end))


def test_a_label_among_equal_quantiles_counts_as_far_in_as_can_be():
    equal = (0.0,) * 8 + (1.0,) * 3
    prediction = Prediction(mean=0.0, std=0.0, noise_std=1.0, f_quantiles=equal, label_quantiles=equal)
    assert prediction.normal_score(0.0) == 0.0
    assert prediction.normal_score(1.0) == pytest.approx(NormalDist().inv_cdf(0.9))
    assert (prediction.normal_score(2.0), prediction.normal_score(-1.0)) == (inf, -inf)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("probability", [0.0, 0.01, 0.08, 0.3, 0.5, 0.7, 0.97, 1.0])
@pytest.mark.parametrize("y", [0.0, 1.0])
def test_a_yes_or_no_lies_in_the_intervals_from_its_normal_score_on(probability, level, y):
    prediction = Prediction(float(probability > 0.5), 0.1, 0.3, probability=probability)
    low, high = prediction.interval(level, of="label")
    end = NormalDist().inv_cdf((1.0 + level) / 2.0)
    assert (low <= y <= high) == (abs(prediction.normal_score(y)) < end)


@pytest.mark.parametrize("yes", [0.5, 1.5, 40.5])
@pytest.mark.parametrize("no", [0.5, 30.5, 3_000.5])
@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_an_interval_of_a_share_is_that_of_its_beta_distribution_whatever_is_answered(yes, no, answer):
    spread = beta(yes, no)
    prediction = Prediction(answer, spread.std(), 0.5, probability=spread.mean())
    for level in (0.5, 0.95):
        assert prediction.interval(level) == pytest.approx(spread.interval(level), rel=1e-6)


@pytest.mark.parametrize("std", [0.0, 1e-300, 1e-9, 0.01, 0.7, inf])
@pytest.mark.parametrize("share", [0.0, 1e-12, 0.3, 1.0])
def test_an_interval_of_a_share_has_two_ends_however_sure_it_is(share, std):
    low, high = Prediction(0.0, std, 0.5, probability=share).interval(0.99)
    assert 0.0 <= low <= high <= 1.0


@given(
    st.sampled_from([*WORDING, "{mean} of {uncertainty}", "5% of {threshold} and {worth}"]),
    st.lists(st.floats(), min_size=4, max_size=4),
    st.none() | st.floats(),
    st.floats(min_value=0.0, allow_nan=False),
)
def test_a_sentence_is_the_same_however_its_numbers_are_filled_in(reason, numbers, worth, cost):
    mean, std, uncertainty, threshold = numbers
    answer = Prediction(mean, std, 1.0)
    one = Decision("a", True, answer, uncertainty, threshold, cost, 0.25, reason, worth=worth)
    filled = {
        "mean": words(mean), "uncertainty": words(uncertainty), "threshold": words(threshold),
        "worth": "an unknown amount" if worth is None else words(worth), "cost": f"{cost:,.10g}",
        "chance": "25%",
    }  # fmt: skip
    assert one.why == WORDING.get(reason, reason).format(**filled)
