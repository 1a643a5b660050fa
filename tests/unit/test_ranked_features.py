"""Features some of whose values lie far out are looked at by their ranks as well as by their size."""

from math import inf

import numpy as np
import pytest

from breakeven import Averaged, Learner, Value
from breakeven.beliefs.averaged.frame import ALIKE, FARTHEST, RANKED, Frame, Moments, Ranks, kurtosis
from breakeven.beliefs.averaged.members import Kernels, all_members
from breakeven.errors import InvalidInput

RANDOM = np.random.default_rng(3)
COUNT = 120
FAR = np.exp(1.5 * RANDOM.standard_normal(COUNT))
POINTS = np.column_stack([FAR, RANDOM.standard_normal(COUNT)])
LABELS = np.log(FAR) + 0.3 * POINTS[:, 1] + 0.1 * RANDOM.standard_normal(COUNT)


def frame_of(points: np.ndarray) -> Frame:
    moments = Moments(points.shape[1])
    for point in points:
        moments.add(point)
    return moments.frame(len(points), points)


def lived(points: np.ndarray = POINTS, labels: np.ndarray = LABELS) -> Learner:
    learner = Learner(Averaged(points.shape[1]), Value(horizon=COUNT, scored="labels"), label_cost=0.3)
    for x, y in zip(points, labels, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y)
    return learner


def mean_error(learner: Learner) -> float:
    answers = [learner.predict(x).mean for x in POINTS]
    return float(np.abs(answers - LABELS).mean())


def test_only_features_that_lie_further_out_than_a_normal_have_ranks():
    truths = (RANDOM.random(COUNT) < 0.02).astype(float)  # rare, but all of its values are 0 and 1
    even, usual = RANDOM.random(COUNT), RANDOM.standard_normal(COUNT)
    points = np.column_stack([even, FAR, usual, truths, np.ones(COUNT)])
    assert [one.column for one in frame_of(points).ranks] == [1]


def test_a_few_arrivals_show_no_tails():
    assert kurtosis(np.append(np.zeros(5), 1.0)) > 4.0
    assert not frame_of(np.append(np.zeros(5), 1.5)[:, None] + 0.1 * RANDOM.random((6, 1))).ranks


def test_a_feature_that_never_varied_has_no_ranks():
    rounding = 1.0 + 1e-15 * np.round(RANDOM.standard_cauchy(COUNT))
    underflow = 1e-200 * RANDOM.standard_cauchy(COUNT)
    frame = frame_of(np.column_stack([rounding, underflow, FAR]))
    assert np.isinf(frame.scale[:2]).all()
    assert [one.column for one in frame.ranks] == [2]


def test_nothing_lies_further_out_than_the_farthest():
    frame = frame_of(POINTS)
    placed = frame.place(np.array([[1e99, -1e99, 1e7], [-1e99, 0.0, 0.0]]))
    assert placed[:, [0, 2]].tolist() == [[FARTHEST, FARTHEST], [-FARTHEST, -FARTHEST]]
    assert placed[0, 1] == -FARTHEST
    assert placed[0, -1] > FARTHEST  # time has no end


@pytest.mark.parametrize(("far", "seed"), [(1e9, 3), (1e15, 1)])
@pytest.mark.filterwarnings("error")
def test_an_arrival_far_beyond_those_ranked_ruins_no_answer(far, seed):
    random = np.random.default_rng(seed)
    money = np.exp(random.standard_normal(200))
    beyond = random.random(200) < 0.03
    beyond[:50] = False
    money[beyond] = far * np.exp(0.5 * random.standard_normal(beyond.sum()))
    points = np.column_stack([money, random.standard_normal(200)])
    labels = np.log(np.minimum(money, 100.0)) + points[:, 1] + 0.1 * random.standard_normal(200)
    learner = lived(points, labels)
    assert learner.belief._frame.ranks
    assert np.abs([learner.predict(x).mean for x in points]).max() < 20.0


@pytest.mark.filterwarnings("error")
def test_a_feature_in_other_units_from_now_on_ruins_no_answer():
    random = np.random.default_rng(0)
    points = random.standard_normal((60, 2))
    labels = points.sum(axis=1) + 0.1 * random.standard_normal(60)
    points[40:, 0] = 1e9 * np.abs(points[40:, 0])
    learner = Learner(Averaged(2), Value(scored="labels"), label_cost=0.2)
    for arrival, (x, y) in enumerate(zip(points, labels, strict=True)):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y)
        assert np.abs([learner.predict(seen).mean for seen in points[:arrival:9]] or [0.0]).max() < 20.0


@pytest.mark.filterwarnings("error")
def test_exceptions_are_told_far_outside():
    labels = np.where(np.quantile(LABELS, 0.7) < LABELS, 5.0 * LABELS, 0.0)
    learner = Learner(Averaged(2), Value(scored="labels"), label_cost=0.2)
    for x, y in zip(POINTS[:60], labels[:60], strict=True):
        learner.tell(learner.decide(x, force=True).id, y)
    answers = [learner.predict([far, far]) for far in (-1e99, -1e6, 1e6, 1e99)]
    assert np.isfinite([one.mean for one in answers]).all()


def test_ranks_are_normal_scores_and_go_on_beyond_what_was_seen():
    ranks = Ranks.among(0, FAR)
    scores = ranks.scores_of(np.sort(FAR))
    assert (np.diff(scores) > 0.0).all()
    assert abs(scores.mean()) < 0.05
    assert scores.std() == pytest.approx(1.0, abs=0.05)
    below, first, last, beyond = ranks.scores_of(np.array([-1.0, FAR.min(), FAR.max(), 2.0 * FAR.max()]))
    assert below < first < last < beyond
    in_grams = Ranks.among(0, 1e3 * FAR).scores_of(1e3 * FAR)
    np.testing.assert_allclose(in_grams, ranks.scores_of(FAR), atol=1e-9)


def test_a_row_of_axes_goes_along_ranks_or_never():
    frame = frame_of(POINTS)
    axes = np.array([0.5, 2.0, inf])
    assert frame.along(axes).tolist() == [0.5, 2.0, inf, inf]
    assert frame.along(axes, ranked=True).tolist() == [inf, 2.0, 0.5, inf]
    for ranked in (False, True):
        assert frame.by_feature(frame.along(axes, ranked=ranked)).tolist() == axes.tolist()


def test_members_along_ranks_are_those_of_points_that_have_ranks_instead():
    frame = frame_of(POINTS)
    timed = np.column_stack([POINTS, np.arange(COUNT)])[:9]
    places, alike = frame.place(timed), np.array([1.0, 1.0, inf])
    both = frame._replace(axes=np.array([frame.along(alike)] * 3 + [frame.along(alike, ranked=True)]))
    one = frame._replace(axes=alike[None], variation=np.ones(3), ranks=())
    instead = frame.seen(places, ranked=True)
    assert instead[:, 0] == pytest.approx(frame.ranks[0].scores_of(timed[:, 0]))
    ranked = [member for member in all_members([ALIKE, RANKED]) if member.axes == RANKED]
    plain = [member._replace(axes=ALIKE) for member in ranked]
    found = Kernels(ranked, both)
    np.testing.assert_allclose(
        found.between(places, places), Kernels(plain, one).between(instead, instead), atol=1e-12
    )
    column = found.column(found.features(places), places[4])
    np.testing.assert_allclose(column, found.between(places, places[4:5])[:, :, 0], atol=1e-12)


def test_an_order_of_magnitude_is_learnt_from_fewer_labels(monkeypatch):
    ranked = lived()
    monkeypatch.setattr(Moments, "_ranks", lambda self, *_: ())
    plain = lived()
    assert ranked.ledger.labels < 0.8 * plain.ledger.labels
    assert mean_error(ranked) < mean_error(plain)


def test_a_snapshot_goes_on_to_the_bit():
    one = lived()
    assert one.belief._frame.ranks
    twin = Learner.restore(one.snapshot())
    x = [40.0, 0.1]
    assert twin.decide(x) == one.decide(x)
    assert twin.decide([1e6, 0.0]) == one.decide([1e6, 0.0])


def test_what_is_listened_to_is_told_by_feature():
    hearing = lived().belief.hearing()
    assert len(hearing.shares) == 2
    assert hearing.shares[0] > hearing.shares[1]


@pytest.mark.parametrize(
    "ranks",
    [
        [[2, [0.0, 1.0, 2.0], [-1.0, 0.0, 1.0]]],
        [[0, [0.0, 1.0], [-1.0, 1.0]]],
        [[0, [0.0, 2.0, 1.0], [-1.0, 0.0, 1.0]]],
        [[0, [0.0, 1.0, inf], [-1.0, 0.0, 1.0]]],
        [[0, [0.0, 1.0, 2.0]]],
        [[0, [-1e308, 0.0, 1e308], [-1.0, 0.0, 1.0]]],
        [[0, [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]], [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]]],
    ],
    ids=["of no feature", "of two values", "out of order", "endless", "without scores", "too far", "nested"],
)
def test_ranks_that_no_fit_finds_are_refused(ranks):
    belief = lived().belief
    found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="what a fit of an averaged belief returned"):
        belief.adopt({**found, "ranks": ranks})


def test_a_feature_that_is_ranked_twice_is_refused():
    belief = lived(np.column_stack([FAR, FAR**2])).belief
    found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    first, second = found["ranks"]
    with pytest.raises(InvalidInput, match="what a fit of an averaged belief returned"):
        belief.adopt({**found, "ranks": [first, [0, *second[1:]]]})
