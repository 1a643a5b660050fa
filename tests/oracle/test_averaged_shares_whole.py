"""The averaged belief for yes/no labels as a whole against plain formulas, beyond every switch."""

import numpy as np
import pytest

from breakeven import AveragedShares
from breakeven.beliefs.averaged.averaged_shares import even_parts, taken_in
from breakeven.beliefs.averaged.members import all_members
from breakeven.beliefs.averaged.odds import Odds, evidence_of_parts
from breakeven.beliefs.averaged.proposing import checked_members
from tests.oracle.plain_shares import PlainShares, seen_of, thinned

DIM = 2
FIT_WITH = 50  # labels, at most: members found with more of them are slow to find


def stream(count, rare=0.5):
    random = np.random.default_rng(8)
    X = random.normal(size=(count, DIM))
    odds = 2.0 * np.sin(X[:, 0]) + 0.5 * X[:, 1] + np.log(rare / (1.0 - rare))
    return X, (random.random(count) < 1.0 / (1.0 + np.exp(-odds))).astype(float)


def lived(labels, *, rare=0.5, noises=(None,), awaited=3, few=3, **arguments):
    """A belief with so many labels, of which some have noise; and a point elsewhere."""
    X, y = stream(labels + awaited + 1, rare)
    belief = AveragedShares(DIM, **arguments)
    belief.watch(12)
    points = [belief.point(x) for x in X]
    for i, point in enumerate(points[:labels]):
        belief.arrive(point)
        belief.learn(point, y[i], i, noise_std=noises[i % len(noises)])
        if i + 1 == min(labels, FIT_WITH):
            found = belief.fit(belief.fit_job(), np.random.default_rng(0))
        if i + 1 == max(labels - 12, min(labels, FIT_WITH)):
            belief.adopt({**found, "members": found["members"][: few + 1]})
    for i, point in enumerate(points[labels:-1], start=labels):
        belief.arrive(point)
        belief.ask(i, point)
    return belief, points[-1]


def assert_is_plain(belief, point):
    """Everything that the belief says at a point is what plain formulas say; returns these."""
    plain = PlainShares(belief.state(), DIM, belief.level)
    place = plain.place(np.append(point, plain.clock)[None])
    np.testing.assert_allclose(belief._odds.weights, plain.weights, rtol=1e-5, atol=1e-9)
    view = belief.look(point)
    prediction, (mean, variance) = view.prediction, plain.beta(place)
    assert prediction.probability == pytest.approx(mean[0], rel=1e-6)
    assert prediction.std == pytest.approx(np.sqrt(variance[0]), rel=1e-5)
    assert prediction.mean == float(mean[0] > 1.0 - belief.level)
    narrower = np.sqrt(1.0 + len(plain.awaited) / (plain.labels + 1.0))
    assert view.uncertainty == pytest.approx(np.sqrt(variance[0]) / narrower, rel=1e-5)
    for y, below in ((0.0, 0.0), (1.0, 1.0 - mean[0])):
        assert belief.rank(point, y) == pytest.approx((below, mean[0] if y else 1.0 - mean[0]), rel=1e-6)
    saving = view.saves(belief.traits.noise_std)
    miss, alarm = 2.0 * belief.level, 2.0 * (1.0 - belief.level)
    assert (saving.miss, saving.alarm) == (miss, alarm)
    assert saving.here == saving.outright == pytest.approx(min(miss * mean[0], alarm * (1.0 - mean[0])))
    told = plain.correlations(place, plain.kept) ** 2 / len(plain.kept)
    expected = {}
    for known, ahead, part in zip(plain.known(plain.kept), plain.ahead(), told, strict=True):
        expected[known, ahead] = expected.get((known, ahead), 0.0) + part
    assert dict(zip(saving.alike, saving.told, strict=True)) == pytest.approx(expected, rel=1e-4)
    return plain


@pytest.mark.parametrize("labels", [6, 48, 60, 250, 1_050])
def test_shares_are_those_of_plain_formulas(labels):
    """All labels up to 50, then steps of 3%; at most 160 of them; the rarer kind is thinned less."""
    plain = assert_is_plain(*lived(labels, rare=0.2))
    assert len(plain.y) == min(labels, 160)


@pytest.mark.parametrize("level", [0.1, 0.8])
def test_shares_where_a_miss_and_a_false_alarm_cost_differently(level):
    assert_is_plain(*lived(20, level=level))


def test_shares_of_labels_of_several_noises():
    """A label of twice the noise counts as a quarter of one; no label as more than one."""
    plain = assert_is_plain(*lived(24, noises=(0.5, 1.0, 0.1)))
    assert set(plain.seen) == {1.0, 0.25}


def test_shares_after_labels_changed():
    belief, point = lived(60)
    for key, y in ((3, 1.0 - belief._labels[3]), (4, 1.0)):
        belief.correct(key, None, belief._labels[key], y)
    belief.withdraw(5, None, 0.0)
    belief.reopen(6, None, 0.0)
    belief.tell(61, None, 1.0)
    assert_is_plain(belief, point)


def test_of_many_labels_awaited_the_last_are_counted():
    belief, point = lived(12, awaited=70)
    plain = assert_is_plain(belief, point)
    assert plain.ahead().max() > 0


def test_which_labels_members_see():
    assert [taken_in(n) for n in range(1, 400)] == [seen_of(n) for n in range(1, 400)]
    for yes, no in ((0, 300), (5, 300), (90, 300), (300, 100), (200, 200), (3, 4)):
        y = np.random.default_rng(1).permutation(np.append(np.ones(yes), np.zeros(no)))
        places, counts = even_parts(y, 160)
        assert (places, counts.tolist()) == (thinned(y)[0], thinned(y)[1].tolist())


@pytest.mark.parametrize("labels", [20, 100])
def test_a_fit_goes_on_with_the_heaviest_members(labels):
    """Weighed on at most 64 labels; as many as 1,000 over the labels, 2 to 16, and the constant."""
    belief, _ = lived(labels, rare=0.3, awaited=0)
    found = belief.fit(belief.fit_job(), np.random.default_rng(0))
    state = belief.state()
    members = all_members(range(1 + len(found["axes"])))
    y = np.frombuffer(state["labels"])
    some = even_parts(y, 64)[0]
    frame = checked_members(found, DIM, None)[0]
    places = frame.place(np.frombuffer(state["rows"]).reshape(-1, DIM + 1)[some])
    weights = Odds(members, frame, places, y[some], np.ones(len(some))).weights
    most = min(16, max(2, 1_000 // labels))
    heavy = sorted(i for i in np.argsort(-weights[1:], kind="stable")[:most] + 1 if weights[i] > 1e-3)
    assert found["members"] == [list(members[0]), *(list(members[i]) for i in heavy)]


def test_evidence_of_parts_is_that_of_each_part():
    """Of sixteen places at most; nowhere else may there be a change."""
    belief, _ = lived(40, awaited=0)
    state = belief.state()
    rows, y = np.frombuffer(state["rows"]).reshape(-1, DIM + 1), np.frombuffer(state["labels"])
    places = belief._frame.place(rows)
    before, after = evidence_of_parts(belief._members, belief._frame, places, y, np.ones(40))

    def plain(part):
        some = {**state, "labels": y[part].tobytes(), "rows": rows[part].tobytes(), "noises": [None] * 40}
        return PlainShares(some, DIM).evidence

    tried = np.flatnonzero(np.isfinite(after[0]))
    assert 12 <= len(tried) <= 16
    for k in tried[[0, 5, -1]]:
        assert before[:, k] == pytest.approx(plain(slice(k)), rel=1e-6)
        assert after[:, k] == pytest.approx(plain(slice(k, None)), rel=1e-6)
    for k in (39, 40):
        assert before[:, k] == pytest.approx(plain(slice(k)), rel=1e-6)
