"""The averaged belief: units, few labels, odd labels, many labels, and what a snapshot leaves out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import Always, Averaged, Labeller, Learner, RandomSelect, Value
from breakeven.beliefs.averaged import averaged as room
from breakeven.errors import InvalidInput
from breakeven.values.decision import QUANTILE_LEVELS

RANDOM = np.random.default_rng(11)
POINTS = RANDOM.standard_normal((60, 2))
LABELS = np.sin(POINTS[:, 0]) + 0.3 * POINTS[:, 1] + 0.1 * RANDOM.standard_normal(60)


def learner(label_cost=0.5, dim=2, horizon=60, **arguments):
    rule = Value(horizon=horizon, scored="labels", lessons=False)
    return Learner(Averaged(dim), rule, label_cost=label_cost, **arguments)


def lived(points=POINTS, labels=LABELS, label_cost=0.5, horizon=60):
    one, decisions = learner(label_cost, dim=points.shape[1], horizon=horizon), []
    for x, y in zip(points, labels, strict=True):
        decision = one.decide(x)
        decisions.append(decision)
        if decision.wants_label:
            one.tell(decision.id, y)
    return one, decisions


def test_three_labels_are_asked_for_and_then_awaited():
    one = learner()
    answers = [one.decide(x) for x in POINTS[:5]]
    assert [d.wants_label for d in answers] == [True, True, True, False, False]
    assert answers[2].reason == "nothing_known"
    assert answers[3].reason == "enough_on_their_way"
    assert answers[3].uncertainty == np.inf


@pytest.mark.parametrize(
    ("shift", "unit"), [(1000.0, 1.0), (0.0, 1e6), (-5.0, 1e-6)], ids=["shifted", "large", "small"]
)
def test_other_units_change_nothing_but_units(shift, unit):
    _, plain = lived()
    _, other = lived(POINTS * [1e3, 1e-3] + [7.0, 1e5], shift + unit * LABELS, label_cost=0.5 * unit)
    assert [d.wants_label for d in plain] == [d.wants_label for d in other]
    for one, two in zip(plain[3:], other[3:], strict=True):
        assert two.prediction.mean == pytest.approx(
            shift + unit * one.prediction.mean, rel=1e-4, abs=unit * 1e-4
        )
        assert two.prediction.std == pytest.approx(unit * one.prediction.std, rel=1e-3)


def test_where_the_noise_is_known_every_axis_is_still_to_be_learnt():
    """Axes that labels say nothing of take no part in normal claims, and are a lesson all the more."""
    random = np.random.default_rng(1)
    X, taught = random.standard_normal((16, 4)), []
    y = 3.0 * np.sin(X[:, 0]) + random.standard_normal(16)
    for noise_std in (1.0, None):
        one = Learner(Averaged(4, noise_std=noise_std), Always(), label_cost=1.0)
        for x, label in zip(X, y, strict=True):
            one.tell(one.decide(x).id, label)
        belief = one.belief
        fitted = [member.axes > 0 for member in belief._members]
        weights = belief._posterior.weights.sum(axis=0)
        share = float(weights @ fitted)
        taught.append((belief._axes_learnt, share))
    (known, share), (unknown, other) = taught
    assert known == pytest.approx(4.0 * share, rel=0.2)  # light members take turns to speak
    assert 0.0 < unknown < 3.0 * other


def test_a_prediction_carries_the_quantiles_of_the_average():
    one, _ = lived()
    prediction = one.predict(POINTS[0])
    assert list(prediction.f_quantiles) == sorted(prediction.f_quantiles)
    assert prediction.mean == prediction.label_quantiles[QUANTILE_LEVELS.index(0.5)]
    assert prediction.interval(0.95, of="label") == pytest.approx(
        (prediction.label_quantiles[1], prediction.label_quantiles[-2])
    )
    low, high = prediction.f_quantiles[3], prediction.f_quantiles[7]
    assert prediction.std == (high - low) / 2
    wide, narrow = prediction.interval(0.9), prediction.interval(0.6)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@given(st.floats(0.01, 0.99), st.integers(0, 59))
def test_a_rank_is_the_level_of_the_quantile_there(level, i):
    one, _ = lived_once()
    prediction = one.predict(POINTS[i])
    share = abs(2 * level - 1) or 0.02
    low, high = prediction.interval(share, of="label")
    y = low if level < 0.5 else high
    below, equal = one.belief.rank(POINTS[i], y)
    assert below == pytest.approx((1 - share) / 2 if level < 0.5 else (1 + share) / 2, abs=0.03)
    assert equal == 0.0


_ONCE = []


def lived_once():
    if not _ONCE:
        _ONCE.append(lived())
    return _ONCE[0]


@pytest.mark.parametrize(
    "labels",
    [
        np.full(60, 4.0),
        np.where(np.arange(60) == 30, 1.0, 0.0),
        np.exp(3 * RANDOM.standard_normal(60)),
        LABELS * 1e90,
    ],
    ids=["all equal", "one exception", "heavy tails", "huge"],
)
def test_odd_labels_break_nothing(labels):
    one, decisions = lived(labels=labels, label_cost=float(np.abs(labels).max()) or 1.0)
    assert all(np.isfinite(d.prediction.mean) for d in decisions)
    assert one.belief.labels >= 3


def test_equal_labels_are_looked_at_for_a_while_whatever_they_cost():
    asked = []
    for cost in (1.0, 1e3):
        one = Learner(Averaged(2), Value(horizon=500, scored="labels"), label_cost=cost)
        for x in np.random.default_rng(1).standard_normal((200, 2)):
            decision = one.decide(x)
            assert decision.prediction.mean in (0.0, 4.0)  # 0 before the first label
            if decision.wants_label:
                one.tell(decision.id, 4.0)
        asked.append(one.belief.labels)
    assert 60 < asked[0] < 120
    assert asked[0] == asked[1]


@pytest.mark.parametrize(("value", "size"), [(0.0, 1.0), (4.0, 4.0), (-2e-9, 2e-9)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_nothing_is_certain_because_it_was_equal_so_far(value, size, level):
    one = Learner(Averaged(2, level=level), Value(horizon=500, scored="labels"), label_cost=1.0)
    spreads = []
    for count, x in enumerate(POINTS[:30], start=1):
        one.tell(one.decide(x, force=True).id, value)
        if count in (3, 10, 30):
            answer = one.predict(POINTS[40])
            spreads.append((answer.std, np.ptp(answer.interval(0.95, of="label"))))
            assert answer.mean == value
    assert [std > 0.0 for std, _ in spreads] == [True] * 3
    assert [width > size for _, width in spreads] == [True, False, False]
    assert sorted(spreads, reverse=True) == spreads


def test_three_labels_that_happen_to_be_equal_wait_for_two_more():
    """Where labels come late, nobody buys on and on before the next ones tell that it was chance."""
    one = learner(label_cost=300.0, horizon=600)
    for decision in [one.decide(x) for x in POINTS[:3]]:
        one.tell(decision.id, 10.0)
    answers = [one.decide(x) for x in POINTS[3:40]]
    assert [d.wants_label for d in answers[:3]] == [True, True, False]
    assert not any(d.wants_label for d in answers[2:])
    assert answers[2].reason == "enough_on_their_way"
    for decision in answers[:2]:
        one.tell(decision.id, 10.0)
    assert one.decide(POINTS[40]).wants_label  # five equal labels are no chance: exceptions are looked for


def test_labels_that_are_mostly_zero_are_not_believed_to_be_zero():
    """Rare and costly exceptions: labels go on being bought, as each saves more than it costs."""
    random = np.random.default_rng(5)
    X, large = random.standard_normal((250, 2)), random.random(250) < 0.15
    y = np.where(large, random.exponential(100.0, 250), 0.0)
    one, decisions = lived(X, y, label_cost=4.0, horizon=250)
    assert sum(d.wants_label for d in decisions) > 180
    prediction = one.predict(X[0])
    assert prediction.mean == 0.0
    assert prediction.interval(0.5, of="label") == (0.0, 0.0)
    assert prediction.interval(0.99, of="label")[1] > 50.0
    below, equal = one.belief.rank(one.belief.point(X[0]), 0.0)
    assert below == pytest.approx(0.0, abs=0.01)
    assert 0.7 < equal < 0.95
    assert Learner.restore(one.snapshot()).decide(X[1]) == one.decide(X[1])


@pytest.mark.parametrize(
    "points",
    [np.ones((60, 2)), np.column_stack([POINTS[:, 0]] * 2), RANDOM.standard_normal((60, 40)), POINTS.round()],
    ids=["constant", "twice the same", "more features than labels", "duplicates"],
)
def test_odd_features_break_nothing(points):
    _, decisions = lived(points)
    assert all(np.isfinite(d.prediction.mean) for d in decisions)


def test_beyond_the_most_labels_an_even_part_is_looked_at(monkeypatch):
    monkeypatch.setattr(room, "MOST_LABELS", 20)
    one = learner()
    for x, y in zip(POINTS, LABELS, strict=True):
        one.learn(x, y)
    belief = one.belief
    assert belief.labels == 60
    assert len(belief._used) <= 1.2 * 20 + 1
    assert Learner.restore(one.snapshot()).predict(POINTS[3]) == one.predict(POINTS[3])


def test_a_snapshot_holds_labels_and_not_what_follows_from_them():
    one, _ = lived(label_cost=0.01)
    assert one.belief.labels == 60
    assert len(one.snapshot()) < 60_000
    twin = Learner.restore(one.snapshot())
    assert twin.decide(POINTS[7] + 0.1) == one.decide(POINTS[7] + 0.1)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"members": []},
        {"members": [[99, 0, 0]]},
        {"axes": [[1.0]]},
        {"scale": [0.0, 1.0]},
        {"centre": [1.0]},
    ],
)
def test_parameters_that_no_fit_finds_are_refused(parameters):
    belief = lived_once()[0].belief
    found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="what a fit of an averaged belief returned"):
        belief.adopt({**found, **parameters} if parameters else {})


def test_an_uneven_level_is_answered_with_that_quantile():
    one, two = learner(), Learner(Averaged(2, level=0.9), Value(horizon=60, scored="labels"), label_cost=0.5)
    for x, y in zip(POINTS, LABELS, strict=True):
        one.learn(x, y)
        two.learn(x, y)
    even, high = one.predict(POINTS[0]), two.predict(POINTS[0])
    assert even.label_quantiles == high.label_quantiles
    assert high.mean == high.label_quantiles[QUANTILE_LEVELS.index(0.9)]


# -- worlds that move ----------------------------------------------------------------------------------------


def turning(t, x, rounds):
    """A slope that turns by half a circle over the stream."""
    angle = np.pi * t / rounds
    return np.cos(angle) * x[0] + np.sin(angle) * x[1] + 2.0 * t / rounds


def lived_through(label, rounds=300):
    """A learner that labels every third arrival, and its mean error over the last half."""
    learner = Learner(Averaged(2), RandomSelect(0.34), label_cost=1.0)
    rng, errors = np.random.default_rng(0), []
    for t in range(rounds):
        x = rng.normal(size=2)
        y = label(t, x) + 0.1 * rng.normal()
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y)
        elif t > rounds / 2:
            errors.append(abs(decision.prediction.mean - y))
    return learner, np.mean(errors)


def test_a_world_that_moves_is_followed():
    learner, error = lived_through(lambda t, x: turning(t, x, 300))
    assert learner.belief.describe()["moving"] > 0.9
    assert error < 0.3
    again = Learner.restore(learner.snapshot())
    x = [0.3, -0.2]
    assert again.predict(x) == learner.predict(x)


def test_a_world_that_stands_still_is_not_taken_to_move():
    learner, error = lived_through(lambda t, x: turning(0.0, x, 300))
    assert learner.belief.describe()["moving"] < 0.5
    assert error < 0.2


def test_where_it_moves_what_is_known_grows_old():
    learner, _ = lived_through(lambda t, x: turning(t, x, 300))
    before = learner.predict([0.3, -0.2]).std
    for x in np.random.default_rng(1).normal(size=(200, 2)):
        learner.decide(x, force=False)
    assert learner.predict([0.3, -0.2]).std > 1.5 * before


@pytest.mark.parametrize("seed", range(4))
def test_a_restored_average_values_labels_to_the_bit(seed):
    random = np.random.default_rng(seed)
    live = Learner(Averaged(3), Value(horizon=200, scored="labels"), label_cost=0.05)
    for x in random.random((40, 3)):
        if (decision := live.decide(x)).wants_label:
            live.tell(decision.id, float(x @ [1.0, 2.0, 0.0] + 0.1 * random.normal()))
    restored = Learner.restore(live.snapshot())
    for x in random.random((20, 3)):
        assert restored.decide(x) == live.decide(x)


def test_a_restored_average_goes_on_with_arrivals_kept_as_time_passes():
    live, rng = (
        Learner(Averaged(2), Value(horizon=400, scored="labels"), label_cost=0.3),
        np.random.default_rng(3),
    )
    label = lambda t, x: float(turning(t, x, 200) + 0.1 * rng.normal())  # noqa: E731
    for t, x in enumerate(rng.normal(size=(150, 2))):
        if (decision := live.decide(x)).wants_label:
            live.tell(decision.id, label(t, x))
    assert live.belief.describe()["moving"] > 0.0
    restored = Learner.restore(live.snapshot())
    for t, x in enumerate(rng.normal(size=(50, 2))):
        decision = live.decide(x)
        assert restored.decide(x) == decision
        if decision.wants_label:
            y = label(150 + t, x)
            assert restored.tell(decision.id, y) == live.tell(decision.id, y)


@pytest.mark.parametrize("part", [1e-3, 1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("dim", [1, 3])
def test_a_known_noise_next_to_nothing_breaks_nothing(part, dim):
    points = np.random.default_rng(3).standard_normal((60, dim))
    points[40:50] = points[:10]  # the same points again
    labels = np.sin(points[:, 0])
    belief = Averaged(dim, noise_std=part * float(labels.std()))
    one = Learner(belief, Value(horizon=60, scored="labels"), label_cost=1e-4)
    for x, y in zip(points, labels, strict=True):
        decision = one.decide(x)
        assert np.isfinite(decision.prediction.mean)
        if decision.wants_label:
            one.tell(decision.id, y)
    answers = np.array([answer.mean for answer in one.predict_many(points[:10])])
    assert np.abs(answers - labels[:10]).max() < 0.05
    low, high = one.predict(points[0]).interval()
    assert low < high


@pytest.mark.parametrize("noise_std", [None, 1.0])
def test_a_labeller_may_be_as_good_as_exact(noise_std):
    """Noise that rounding hides in an inverse is taken to be what rounding leaves."""
    labellers = {"nurse": Labeller(1.0, 1.0), "lab": Labeller(1.0, 1e-9)}
    one = Learner(Averaged(1, noise_std), Always(), labellers=labellers)
    points = np.repeat(np.random.default_rng(0).uniform(-2.0, 2.0, (20, 1)), 2, axis=0)
    one.learn([0.0], 0.0, labeller="nurse")  # the noise that others are relative to
    for x in points:
        one.tell(one.decide(x).id, 1000.0 * float(np.sin(x[0])), labeller="lab")
    for x in points[:10]:
        found = one.predict(x)
        assert found.mean == pytest.approx(1000.0 * np.sin(x[0]), abs=30.0)
        assert 0.0 < found.std < 30.0


def test_what_is_known_of_f_stays_open_where_labels_are_a_thousand_times_their_noise():
    one = Learner(Averaged(1, noise_std=1.0), Always(), label_cost=1.0)
    points = np.random.default_rng(0).uniform(-2.0, 2.0, (120, 1))
    for x in points:
        one.tell(one.decide(x).id, 1000.0 * float(np.sin(x[0])))
    found = [one.predict(x) for x in points[:20]]
    assert all(0.05 < each.std < 1.0 for each in found)
    for x, each in zip(points, found, strict=False):
        assert abs(each.mean - 1000.0 * np.sin(x[0])) < 4.0 * each.std


def test_many_labels_told_one_by_one_are_those_taken_in_at_once_and_a_state_goes_on_to_the_bit():
    """From 200 labels on only half of an inverse is kept; there is room for sixteen labels at a time."""
    random = np.random.default_rng(5)
    X = random.normal(size=(230, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.01 * np.arange(230) * X[:, 1] + 0.2 * random.normal(size=230)
    belief = Averaged(2)
    belief.watch(24)
    for x, label in zip(X[:190], y[:190], strict=True):
        belief.learn(x, float(label))
    belief.adopt(Averaged.fit(belief.fit_job(), random))
    for x, label in zip(X[190:], y[190:], strict=True):
        belief.arrive(x)  # some of them are kept, and the time of those is renewed
        belief.learn(x, float(label))
    other = Averaged(2)
    other.load(belief.state())
    views = [(one.look(x), one.traits.noise_std) for one in (belief, other) for x in X[:8]]
    told = [(view.prediction, view.saves(noise_std)) for view, noise_std in views]
    assert told[:8] == told[8:]
    belief.adopt(belief.state()["fitted"])
    for x, (prediction, _) in zip(X[:8], told, strict=False):
        again = belief.predict(x)
        assert (again.mean, again.std) == pytest.approx((prediction.mean, prediction.std), rel=1e-6)
