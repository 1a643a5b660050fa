"""A learner whose belief is checked: which labels test it, how it stands, and what an alarm does."""

import numpy as np
import pytest
from scipy.stats import norm

from breakeven import (
    Always,
    AveragedShares,
    Check,
    GaussianProcess,
    Labeller,
    Learner,
    Never,
    SquaredExponential,
    Threshold,
    TypeMeans,
    TypeShares,
)
from breakeven.errors import WrongEvent
from breakeven.learner import notices
from breakeven.testing.stream_runs import recorded
from breakeven.values import Arrived, Erased, Refuted, Told

RULE = Check(Threshold(0.01), share=0.0)  # buys every label


def tell(learner, y, x="flu"):
    decision = learner.decide(x)
    assert decision.wants_label
    learner.tell(decision.id, y)
    return decision.id


def consistent(learner, labels=12):
    """Told labels that are as expected."""
    rng = np.random.default_rng(0)
    for _ in range(labels):
        tell(learner, rng.normal(1.0, 0.1))
    return learner


@pytest.fixture
def learner():
    return Learner(TypeMeans(0.1), RULE, label_cost=1.0, seed=4)


def standing(learner):
    return learner.ledger.standing


def test_the_fifth_label_is_the_first_test(learner):
    consistent(learner, 4)
    assert standing(learner).tests == 0
    consistent(learner, 2)
    assert (standing(learner).tests, standing(learner).state) == (2, "consistent")


def test_labels_chosen_by_people_test_nothing(learner):
    consistent(learner, 6)
    tests, log = standing(learner).tests, recorded(learner)
    learner.learn("flu", 99.0)
    learner.tell(learner.decide("flu", force=True).id, 99.0)
    unasked = learner.decide("flu", force=False)
    learner.tell(unasked.id, 99.0)
    withdrawn = learner.decide("flu").id
    learner.withdraw(withdrawn)
    learner.tell(withdrawn, 99.0)
    assert standing(learner).tests == tests
    assert all(event.rank is None for event in log if isinstance(event, Told))


def test_a_label_tests_once(learner):
    consistent(learner, 6)
    id = tell(learner, 1.0)
    tests = standing(learner).tests
    learner.reopen(id)
    learner.tell(id, 1.05)
    learner.correct(id, 1.1)
    assert standing(learner).tests == tests


def test_labels_of_types_without_a_spread_test_nothing(learner):
    consistent(learner, 6)
    tests = standing(learner).tests
    tell(learner, 50.0, "cold")
    assert standing(learner).tests == tests


def test_the_rank_is_in_the_event_and_an_old_log_has_none(learner):
    log = recorded(learner)
    consistent(learner, 8)
    ranks = [event.rank for event in log if isinstance(event, Told)]
    assert ranks[:4] == [None] * 4
    assert all(0.0 < rank < 1.0 for rank in ranks[4:])
    old = [Told(e.number, e.stream, e.id, e.y) if isinstance(e, Told) else e for e in log]
    assert standing(Learner.fold(old)).tests == 0


class Lumpy(TypeMeans):
    """A belief that thinks half of all labels are equal."""

    def rank(self, point, y, noise_std=None, age=0):
        return 0.2, 0.5


def test_among_equal_labels_a_coin_places_a_label():
    ranks = []
    for _ in range(2):
        learner = Learner(Lumpy(0.1), RULE, label_cost=1.0, seed=4)
        log = recorded(learner)
        consistent(learner, 60)
        ranks.append([event.rank for event in log if isinstance(event, Told) and event.rank is not None])
    assert ranks[0] == ranks[1]  # seeded
    assert min(ranks[0]) == pytest.approx(0.2, abs=0.05)
    assert max(ranks[0]) == pytest.approx(0.7, abs=0.05)


def test_a_late_label_tests_the_belief_as_it_is_when_told(learner):
    late = learner.decide("flu").id
    consistent(learner, 10)
    prediction, log = learner.predict("flu"), recorded(learner)
    learner.tell(late, 1.1)
    spread = np.hypot(prediction.std, prediction.noise_std)
    assert log[-1].rank == pytest.approx(norm.cdf((1.1 - prediction.mean) / spread), rel=1e-9)


def test_the_noise_of_who_answers_counts():
    labellers = {"nurse": Labeller(1.0, 1.0), "mri": Labeller(9.0, 0.01)}
    learner = Learner(GaussianProcess(1, 0.1), Check(Threshold(0.001), share=0.0), labellers=labellers)
    for y in (0.0, 0.1, -0.1, 0.0, 0.1):
        learner.tell(learner.decide(0.5).id, y)
    log, id = recorded(learner), learner.decide(0.5).id
    asked, prediction = learner.decision(id).labeller, learner.predict(0.5)
    other = "nurse" if asked == "mri" else "mri"
    learner.tell(id, 0.3, labeller=other)
    spread = np.hypot(prediction.std, labellers[other].noise_std)
    assert log[-1].rank == pytest.approx(norm.cdf((0.3 - prediction.mean) / spread), rel=1e-6)


def test_in_doubt_then_refuted_then_consistent_again(learner):
    consistent(learner)
    assert learner.decide("flu", force=False).doubt is None
    while standing(learner).evidence < 5.0:
        tell(learner, learner.predict("flu").mean + 0.22)
    doubting = learner.decide("flu", force=False)
    assert (standing(learner).state, doubting.doubt) == ("in doubt", "in doubt")
    assert doubting.why == "No label: a person decided against it; the belief is in doubt."
    while not standing(learner).alarms:
        tell(learner, learner.predict("flu").mean + 0.22)
    since = learner.rounds
    assert standing(learner).words == f"refuted since round {since}"
    assert f"refuted since round {since}" in str(learner.summary())
    assert standing(learner).limit == 120.0
    rng, tests = np.random.default_rng(1), standing(learner).tests
    while standing(learner).state != "consistent":
        prediction = learner.predict("flu")
        tell(learner, prediction.mean + prediction.noise_std * rng.normal())
    assert standing(learner).tests == tests + 20
    assert "refuted since" not in str(learner.summary())


def test_a_change_sets_labels_aside(learner):
    consistent(learner, 30)
    log = recorded(learner)
    shift = 0
    while not standing(learner).outdated:
        tell(learner, 1.35 + 0.1 * (-1) ** shift)
        shift += 1
    alarm = [event for event in log if isinstance(event, Refuted)][-1]
    assert 28 <= alarm.outdated <= 32
    assert learner.belief.labels == 30 + shift - alarm.outdated
    assert learner.predict("flu").mean == pytest.approx(1.35, abs=0.1)


def test_one_wrong_label_is_no_change(learner):
    consistent(learner, 8)
    before = learner.predict("flu")
    id = tell(learner, 9.0)
    assert (standing(learner).outdated, standing(learner).alarms) == (0, 1)
    assert learner.predict("flu").noise_std > 1.5 * before.noise_std
    learner.correct(id, before.mean)
    assert learner.predict("flu").noise_std == before.noise_std
    assert standing(learner).state == "consistent"
    assert standing(learner).limit == 120.0  # spent


def two_alarms(learner):
    """The ids of two labels that refuted a belief, one soon after the other."""
    consistent(learner, 8)
    first = tell(learner, 9.0)
    while standing(learner).alarms < 2:
        second = tell(learner, 1e4)
    return first, second


def test_correcting_one_of_two_labels_that_alarmed_leaves_the_other_alarm_open(learner):
    log = recorded(learner)
    _, second = two_alarms(learner)
    assert standing(learner).words == f"refuted since round {learner.decision(second).round}"
    learner.correct(second, 1.0)
    assert standing(learner).words == "refuted since round 9"
    assert learner.decide("flu", force=False).doubt == "refuted since round 9"
    assert Learner.fold(log).snapshot() == learner.snapshot()
    again = Learner.restore(learner.snapshot())
    assert standing(again) == standing(learner)
    again.correct("9", 1.0)
    assert standing(again).words == "consistent"


def test_correcting_the_earlier_of_two_labels_that_alarmed_leaves_the_later_alarm_open(learner):
    first, second = two_alarms(learner)
    learner.correct(first, 1.0)
    assert standing(learner).words == f"refuted since round {learner.decision(second).round}"
    learner.correct(second, 1.0)
    assert standing(learner).words == "consistent"


def test_a_snapshot_that_knew_of_the_last_alarm_alone_is_read(learner):
    _, second = two_alarms(learner)
    then = learner.state.trust.state()
    then["alarm"] = then.pop("open")[then["causes"][-1]]
    earlier = Learner.restore(learner.snapshot())
    earlier.state.trust.load(then)
    assert standing(earlier) == standing(learner)
    earlier.correct(second, 1.0)
    assert standing(earlier).words == "consistent"


def test_an_alarm_whose_tests_were_all_erased_is_kept(learner):
    consistent(learner, 4)
    learner.apply(Refuted(learner.number + 1, "", learner.rounds, 0, 1.5))
    assert standing(Learner.restore(learner.snapshot())) == standing(learner)


@pytest.mark.parametrize(("belief", "x"), [(TypeShares(), "flu"), (AveragedShares(1), 0.5)])
def test_shares_of_yeses_are_not_said_to_become_wider(caplog, belief, x):
    learner = Learner(belief, Check(Always()), label_cost=0.1)
    for y in (0, 1, 0, 1, 1, 0):
        tell(learner, y, x)
    learner.apply(Refuted(learner.number + 1, "", learner.rounds, 0, 1.5))
    notices.refuted(learner.state, 0, 1.5)
    for said in (str(standing(learner)), caplog.text):
        assert "no change explains it, and claims about yes and no cannot be made wider" in said
    assert standing(Learner.restore(learner.snapshot())) == standing(learner)


def test_a_smooth_change_is_found_by_a_process():
    rng = np.random.default_rng(3)
    learner = Learner(GaussianProcess(1, 0.2, SquaredExponential(0.3)), RULE, label_cost=1.0)
    for t in range(90):
        x = rng.random()
        tell(learner, np.sin(4 * x) + (1.0 if t >= 60 else 0.0) + 0.2 * rng.normal(), x)
        if standing(learner).outdated:
            break
    assert 55 <= standing(learner).outdated <= 63
    assert learner.belief.labels == learner.ledger.labels - standing(learner).outdated


def test_an_alarm_that_was_not_answered_is_answered_with_the_next_label(learner):
    log = recorded(learner)
    consistent(learner, 8)
    tell(learner, 9.0)
    torn = Learner.fold([event for event in log if not isinstance(event, Refuted)])
    assert torn.ledger.standing.alarms == 0
    tell(torn, 1.0)
    assert torn.ledger.standing.alarms == 1


def test_giving_way_without_a_check_is_refused():
    learner = consistent(Learner(TypeMeans(0.1), Threshold(0.01), label_cost=1.0))
    with pytest.raises(WrongEvent, match="a Check"):
        learner.apply(Refuted(learner.number + 1, "", learner.rounds, 3, 1.0))


def test_a_log_can_be_folded_after_the_label_that_alarmed_was_erased(learner):
    log = recorded(learner)
    consistent(learner, 8)
    id = tell(learner, 9.0)
    tell(learner, 1.0)
    erased = [Erased(e.number, e.stream, arrival=False) if of(e, id) else e for e in log]
    folded = Learner.fold([Erased(e.number, e.stream, arrival=True) if arrived(e, id) else e for e in erased])
    assert folded.ledger.standing.alarms == 1
    assert folded.belief.labels == learner.belief.labels - 1
    tell(folded, 1.0)


def of(event, id):
    return isinstance(event, Told) and event.id == id


def arrived(event, id):
    return isinstance(event, Arrived) and event.decision.id == id


def test_what_was_tested_is_kept_when_the_rule_changes(learner):
    consistent(learner, 10)
    tests = standing(learner).tests
    learner.reprice(rule=Never())
    assert standing(learner) is None
    learner.reprice(rule=RULE)
    assert standing(learner).tests == tests


def test_without_a_check_nothing_is_tested():
    learner = consistent(Learner(TypeMeans(0.1), Threshold(0.01), label_cost=1.0))
    assert learner.ledger.standing is None
    assert "the belief " not in str(learner.summary())
