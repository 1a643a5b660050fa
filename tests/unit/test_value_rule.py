"""The value rule: worth against price, horizons, whom to ask, and what it says."""

from math import inf

import pytest

from breakeven import GaussianProcess, Labeller, Learner, Prior, SquaredExponential, TypeMeans, Value
from breakeven.errors import InvalidInput
from breakeven.values import Offer, Prediction, Saving, Traits, View

TRAITS = Traits(noise_std=0.5, exponent=1 / 3, unit=1.0, prior_std=2.0)


class Seen(View):
    """A view whose savings are given."""

    saving: Saving | None = None

    def saves(self, noise_std):
        return Saving(self.saving.here / noise_std, self.saving.later / noise_std, *rest(self.saving))


def rest(saving):
    return saving.lesson, saving.half_life, saving.outright


def view(saving, price=1.0, round=10, offers=()):
    seen = Seen(1.0, Prediction(0.0, 1.0, 0.5), None, 5, TRAITS, round, price, offers=offers)
    seen.saving = saving
    return seen


def test_worth_adds_what_is_saved_here_and_at_all_arrivals_left():
    verdict = Value(horizon=100).decide(view(Saving(0.1, 0.01), price=2.0))
    assert verdict.worth == pytest.approx(0.2 + 90 * 0.02)
    assert not verdict.wants_label
    assert Value(horizon=101).decide(view(Saving(0.1, 0.01), price=2.0)).wants_label


def test_lessons_count_for_arrivals_to_come_unless_left_out():
    saving = Saving(0.0, 0.01, lesson=0.05)
    assert Value(horizon=20).decide(view(saving)).worth == pytest.approx(10 * (0.02 + 0.05))
    assert Value(horizon=20, lessons=False).decide(view(saving)).worth == pytest.approx(10 * 0.02)


def test_without_a_horizon_six_hundred_are_expected_and_then_as_many_again():
    assert Value().decide(view(Saving(0.0, 0.1), round=7)).worth == pytest.approx(593 * 0.2)
    assert Value().decide(view(Saving(0.0, 0.1), round=299)).worth == pytest.approx(301 * 0.2)
    assert Value().decide(view(Saving(0.0, 0.1), round=301)).worth == pytest.approx(301 * 0.2)
    assert Value().decide(view(Saving(0.0, 0.1), round=700)).worth == pytest.approx(700 * 0.2)


def test_a_stream_that_outlives_its_horizon_expects_as_many_again_and_says_so():
    known, unknown = (Value(horizon=h).decide(view(Saving(0.0, 0.1), round=30)) for h in (20, None))
    assert known.worth == pytest.approx(30 * 0.2)  # and not 570: whoever gave a horizon was not far off
    assert unknown.worth == pytest.approx(570 * 0.2)
    known, unknown = (Value(horizon=h).decide(view(Saving(0.0, 0.1), round=330)) for h in (20, None))
    assert known.worth == unknown.worth
    assert known.reason.endswith("_late")
    assert unknown.reason == "worth_it"


def test_a_label_that_is_the_answer_saves_the_whole_error_of_its_arrival():
    saving = Saving(0.1, 0.0, outright=5.0)
    assert Value(horizon=20, scored="labels").decide(view(saving)).worth == 5.0


def test_what_fades_counts_for_few_arrivals():
    saving = Saving(0.0, 1.0, half_life=10.0)
    worth = Value(horizon=10_000).decide(view(saving)).worth
    assert worth == pytest.approx(2.0 * sum(4.0 ** (-i / 10.0) for i in range(1, 10_000)))


def test_the_labeller_that_brings_most_beyond_its_price_is_asked():
    offers = (Offer(1.0, 0.5, "nurse"), Offer(3.0, 0.1, "mri"))
    verdict = Value(horizon=11).decide(view(Saving(0.3, 0.0), offers=offers))
    assert verdict.wants_label is False
    assert verdict.labeller in ("nurse", "mri")
    dear = Value(horizon=11).decide(view(Saving(1.0, 0.0), offers=offers))
    assert (dear.wants_label, dear.labeller) == (True, "mri")


def test_where_nothing_is_known_most_information_for_the_price_is_bought():
    offers = (Offer(1.0, 0.5, "nurse"), Offer(3.0, 0.1, "mri"))
    verdict = Value().decide(view(Saving(inf, inf), offers=offers))
    assert (verdict.wants_label, verdict.labeller, verdict.reason) == (True, "mri", "nothing_known")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0}, "horizon"),
        ({"horizon": 2.5}, "horizon"),
        ({"reservoir": 0}, "reservoir"),
        ({"lessons": 3}, "lessons"),
        ({"scored": "guesses"}, "scored"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        Value(**arguments)


def test_a_horizon_already_passed_is_refused_and_changes_nothing():
    learner = Learner(TypeMeans(0.1), Value(), label_cost=1.0)
    for _ in range(5):
        learner.decide("a")
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match="more than the 5 rounds that have passed, got 5"):
        learner.reprice(rule=Value(horizon=5))
    assert learner.snapshot() == before


def test_the_first_three_labels_are_bought_at_any_price_and_no_more_while_they_are_awaited():
    belief = GaussianProcess(1, 0.1, mean="fit", fit="growing", prior=Prior())
    learner = Learner(belief, Value(horizon=100), label_cost=1e6)
    decisions = [learner.decide(i / 10) for i in range(6)]
    assert [one.wants_label for one in decisions] == [True] * 3 + [False] * 3
    assert [one.reason for one in decisions[2:4]] == ["nothing_known", "enough_on_their_way"]
    for one in decisions[:3]:
        learner.tell(one.id, 1.0)
    assert learner.decide(0.9).reason == "not_worth_it"


def test_a_known_kernel_can_say_never_worth_it_at_once():
    belief = GaussianProcess(1, 0.1, SquaredExponential(0.5, amplitude=1.0))
    assert not Learner(belief, Value(horizon=100), label_cost=81.0).decide(0.5).wants_label
    assert Learner(belief, Value(horizon=100), label_cost=70.0).decide(0.5).wants_label


def test_the_dearer_and_better_labeller_is_asked_where_errors_are_dear():
    labellers = {"nurse": Labeller(cost=1.0, noise_std=2.0), "mri": Labeller(cost=5.0, noise_std=0.01)}
    belief = GaussianProcess(1, 1.0, SquaredExponential(0.5, amplitude=4.0))
    asked = {
        cost: Learner(belief, Value(horizon=10), labellers=labellers, error_cost=cost).decide(0.5)
        for cost in (0.05, 0.25, 100.0)
    }
    assert not asked[0.05].wants_label
    assert [asked[cost].labeller for cost in (0.25, 100.0)] == ["nurse", "mri"]
    assert asked[100.0].cost == 5.0


@pytest.mark.parametrize(
    "belief", [TypeMeans(0.1), GaussianProcess(1, 0.1, mean="fit", fit="growing", prior=Prior())]
)
def test_in_the_last_round_of_a_horizon_nothing_known_is_still_bought(belief):
    point = "a" if isinstance(belief, TypeMeans) else 0.5
    decision = Learner(belief, Value(horizon=1), label_cost=1.0).decide(point)
    assert (decision.wants_label, decision.reason) == (True, "nothing_known")


@pytest.mark.parametrize("half_life", [1e-6, 1e-3, 1.0])
def test_a_short_half_life_leaves_what_is_saved_here(half_life):
    saving = Saving(1.0, 1.0, half_life=half_life)
    worth = Value(horizon=10_000).decide(view(saving)).worth
    assert 2.0 <= worth <= 3.0


def test_a_long_half_life_is_none():
    worths = [
        Value(horizon=1000).decide(view(Saving(0.0, 1.0, half_life=h))).worth for h in (inf, 1e18, 1e30)
    ]
    assert worths[1:] == pytest.approx([worths[0]] * 2, rel=1e-12)
