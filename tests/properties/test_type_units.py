"""Noise, mean and scale found in the first labels: in any unit, around any zero, the same decisions."""

from functools import partial
from math import inf, sqrt

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from breakeven import Cells, Learner, Threshold, TypeMeans, Value
from breakeven.errors import InvalidInput
from breakeven.learner.bulk import stream
from breakeven.testing import checks_for
from breakeven.values import Fitted

KINDS = ["a", "b", "c", "d"]
SIZES = st.integers(-10_000, 10_000).map(lambda number: number / 1000)
LABELS = st.lists(st.tuples(st.sampled_from(KINDS), SIZES), min_size=3, max_size=25)
UNITS = st.sampled_from([(1e-3, 0.0), (1e3, 0.0), (1.0, 1000.0), (1e3, 1e6), (-2.0, 5.0), (1e-9, 1.0)])
SEARCHING = {"prior_mean": "fit", "label_scale": "fit"}


def found(belief):
    """Fit as another process would."""
    job = msgspec.msgpack.decode(msgspec.msgpack.encode(belief.fit_job()))
    belief.adopt(TypeMeans.fit(job, np.random.default_rng(0)))
    return belief


def told(labels, belief=None, **arguments):
    belief = belief or TypeMeans(**arguments)
    for i, (kind, y, *noise) in enumerate(labels):
        belief.arrive(kind)
        belief.learn(kind, y, i, *noise)
    return belief


def within(labels):
    """The pooled std of labels within types, or 0 if no two of one type differ."""
    residuals, freedom = [], 0
    for kind in KINDS:
        ys = np.array([y for one, y in labels if one == kind])
        if len(ys):
            residuals += [*(ys - ys.mean())]
            freedom += len(ys) - 1
    return sqrt(np.sum(np.square(residuals)) / freedom) if freedom else 0.0


def repeats_differ(labels):
    return any(len({y for one, y in labels if one == kind}) > 1 for kind in KINDS)


@given(LABELS)
def test_what_is_found_is_what_the_labels_show(labels):
    ys = np.array([y for _, y in labels])
    belief = found(told(labels, **SEARCHING))
    spread = ys.std() if np.ptp(ys) else 1.0
    assert belief.noise_std == pytest.approx(within(labels) if repeats_differ(labels) else spread)
    assert belief.prior_mean == pytest.approx(ys.mean(), abs=1e-12)
    assert belief.label_scale == belief.traits.unit == belief.traits.label_scale == pytest.approx(spread)
    assert belief.traits.noise_std == belief.noise_std
    assert belief.traits.noise_known
    assert not belief.needs_warmup
    source = belief.describe()["noise_from"]
    assert source == ("repeats" if repeats_differ(labels) else "spread" if np.ptp(ys) else "nothing")


@given(LABELS, st.sampled_from([None, 0.5, "learn"]))
def test_once_found_it_is_the_belief_that_was_given_it(labels, prior_std):
    belief = found(told(labels, prior_std=prior_std, **SEARCHING))
    arguments = {name: getattr(belief, name) for name in ("noise_std", "prior_mean", "label_scale")}
    same = told(labels, prior_std=prior_std, **arguments)
    if prior_std == "learn" and belief.across.fitted_at:
        same.adopt(same.fit(same.fit_job(), np.random.default_rng(0)))
    assert belief.traits == same.traits
    for kind in [*KINDS, "never seen"]:
        assert belief.predict(kind) == same.predict(kind)
        assert belief.look(kind).uncertainty == same.look(kind).uncertainty
        assert belief.look(kind).saves(0.3) == same.look(kind).saves(0.3)


OWN = st.lists(
    st.tuples(st.sampled_from(KINDS), SIZES, st.sampled_from([None, 0.1, 1.0, 5.0])), min_size=3, max_size=25
)


@given(OWN, st.sampled_from([None, "learn"]), st.sampled_from([None, 7.0]))
def test_labels_with_a_noise_of_their_own_keep_it(labels, prior_std, forgetting):
    assume(np.ptp([y for _, y, _ in labels]) > 0.0)
    belief = found(told(labels, prior_std=prior_std, forgetting=forgetting))
    same = told(labels, noise_std=belief.noise_std, prior_std=prior_std, forgetting=forgetting)
    if belief.across.fitted_at:
        same.adopt(same.fit(same.fit_job(), np.random.default_rng(0)))
    for kind in KINDS:
        mine, other = belief.predict(kind), same.predict(kind)
        assert mine.mean == pytest.approx(other.mean, rel=1e-6, abs=1e-6)
        assert mine.std == pytest.approx(other.std, rel=1e-6)
        assert belief.look(kind).uncertainty == pytest.approx(same.look(kind).uncertainty)
    kind, y, _ = labels[0]
    for one in (belief, same):  # and they can still be changed
        one.correct(0, kind, y, y + 1.0)
        one.reopen(0, kind, y + 1.0)
        one.withdraw(0, kind, None)
    assert belief.predict(kind).mean == pytest.approx(same.predict(kind).mean, rel=1e-6, abs=1e-6)


@given(OWN)
def test_the_noise_is_that_of_labels_without_their_own(labels):
    plain = [(kind, y) for kind, y, noise in labels if noise is None]
    assume(repeats_differ(plain))
    assert found(told(labels)).noise_std == pytest.approx(within(plain))


@given(LABELS, UNITS, st.sampled_from([None, "learn"]), st.booleans())
def test_predictions_move_with_the_labels(labels, units, prior_std, fitted):
    scale, shift = units
    assume(repeats_differ(labels))
    moved = [(kind, scale * y + shift) for kind, y in labels]
    one, other = (told(ys, prior_std=prior_std, **SEARCHING) for ys in (labels, moved))
    if fitted:
        found(one), found(other)
    size = abs(shift) + abs(scale)
    for kind in [*KINDS, "never seen"]:
        mine, theirs = one.predict(kind), other.predict(kind)
        assert theirs.mean == pytest.approx(scale * mine.mean + shift, abs=1e-6 * size)
        if fitted and mine.std < inf:
            assert theirs.std == pytest.approx(abs(scale) * mine.std, rel=1e-5, abs=1e-9 * size)


@pytest.mark.parametrize(
    ("scale", "shift"), [(1e-3, 0.0), (1e3, 0.0), (1.0, 1000.0), (1e3, 1e6), (1e-9, 0.0)]
)
@pytest.mark.parametrize(
    "rule", [Threshold(3.0), Threshold(3.0, "stream"), Value(), Value(scored="labels")], ids=repr
)
@pytest.mark.parametrize(
    "more", [{}, {"prior_std": "learn"}, {"prior_std": "learn", "forgetting": 50.0}], ids=repr
)
def test_decisions_are_the_same_in_every_unit_and_around_every_zero(scale, shift, rule, more):
    def asked(scale, shift):
        random = np.random.default_rng(3)
        means, wanted = random.normal(size=6), []
        belief = TypeMeans(**SEARCHING, **more)
        learner = Learner(belief, rule, label_cost=0.5, error_cost=1.0 / scale, warmup=12)
        for k in random.integers(6, size=300).tolist():
            decision, y = learner.decide(k), means[k] + 0.2 * random.normal()
            wanted.append(decision.wants_label)
            if decision.wants_label:
                learner.tell(decision.id, scale * y + shift)
        return wanted

    plain = asked(1.0, 0.0)
    assert 12 < sum(plain) < 300
    assert asked(scale, shift) == plain


def test_until_then_nothing_is_known_of_the_noise():
    belief = TypeMeans(prior_mean="fit")
    assert belief.needs_warmup
    assert not belief.traits.noise_known
    assert belief.predict("a").mean == 0.0
    assert belief.learn("a", 1004.0).std == inf
    belief.learn("a", 1000.0, 7)
    assert (belief.predict("b").mean, belief.predict("a").mean) == (1002.0, 1002.0)
    belief.reopen(7, "a", 1000.0)
    assert belief.predict("b").mean == 1004.0
    assert not belief.fit_due(warm=True)  # too few labels
    belief.tell(7, "a", 1000.0)
    belief.learn("b", 1002.0)
    assert belief.fit_due(warm=True)
    assert not belief.fit_due(warm=False)
    assert found(belief).noise_std == sqrt(8.0)
    assert not belief.fit_due(warm=True)
    assert belief.learn("b", 1010.0).mean == 1006.0
    assert belief.predict("c").mean == 1002.0  # fixed from the fit on


def test_a_given_mean_stays_as_it_is():
    belief = TypeMeans(prior_mean=5.0)
    told([("a", 1.0), ("a", 2.0), ("b", 3.0)], belief)
    assert belief.predict("c").mean == 5.0
    assert found(belief).predict("c").mean == 5.0


def test_one_event_has_all_that_was_found():
    learner, events = (
        Learner(TypeMeans(prior_std="learn", **SEARCHING), Value(), label_cost=1.0, warmup=6),
        [],
    )
    learner.listen(lambda event: events.append(event) if isinstance(event, Fitted) else None)
    for i in range(6):
        learner.tell(learner.decide(i % 3).id, float(i))
    assert len(events) == 1
    parameters = events[0].parameters
    assert parameters["noise_std"] == pytest.approx(sqrt(4.5))
    assert parameters["label_scale"] == pytest.approx(np.std(range(6)))
    assert parameters["prior_mean"] == pytest.approx(2.5)
    assert (parameters["types"], parameters["repeats"], parameters["noise_from"]) == (3, 3, "repeats")
    assert learner.summary().belief["noise_std"] == parameters["noise_std"]


def test_growth_counts_from_the_types_that_a_fit_saw():
    belief = told([(kind, float(kind)) for kind in range(10)], noise_std=0.1, prior_std="learn")
    job = belief.fit_job()
    told([(kind, float(kind)) for kind in range(10, 14)], belief)
    belief.adopt(TypeMeans.fit(job, np.random.default_rng(0)), 10)
    assert belief.fit_due(warm=True)  # 14 types are a fifth more than 10
    belief.adopt(TypeMeans.fit(belief.fit_job(), np.random.default_rng(0)), 14)
    assert not belief.fit_due(warm=True)


@given(LABELS, LABELS, st.booleans(), st.sampled_from([None, 3.0, "learn"]))
def test_a_belief_that_was_stored_goes_on_with_the_same_bits(before, after, early, prior_std):
    live = told(before, prior_std=prior_std, **SEARCHING)
    if not early:
        found(live)
    stored = TypeMeans.of(msgspec.json.decode(msgspec.json.encode(live.config())))
    stored.load(msgspec.msgpack.decode(msgspec.msgpack.encode(live.state())))
    for belief in (live, stored):
        told(after, belief)
        if early:
            found(belief)
    assert msgspec.msgpack.encode(stored.state()) == msgspec.msgpack.encode(live.state())
    assert stored.predict_many(KINDS) == live.predict_many(KINDS)
    assert stored.traits == live.traits


@given(LABELS, LABELS)
def test_labels_that_went_leave_nothing_in_what_is_found(labels, gone):
    belief, same = told(labels, **SEARCHING), told(labels, **SEARCHING)
    for i, (kind, y) in enumerate(gone, start=len(labels)):
        belief.ask(i, kind)
        belief.tell(i, kind, y)
        belief.correct(i, kind, y, 2.0 * y)
        belief.reopen(i, kind, 2.0 * y)
        belief.withdraw(i, kind, None)
    assert found(belief).describe() == found(same).describe() | {"types": belief.describe()["types"]}


@pytest.mark.parametrize(
    "parameters", [{}, {"noise_std": 0.0, "prior_mean": 0.0}, {"noise_std": 1.0, "prior_mean": inf}]
)
def test_what_was_not_found_is_not_adopted(parameters):
    belief = told([("a", 1.0), ("b", 2.0), ("c", 3.0)], **SEARCHING)
    before = belief.state()
    with pytest.raises(InvalidInput, match=r"(noise_std|prior_mean): expected a .*finite number, got"):
        belief.adopt(parameters)
    assert belief.state() == before
    assert not belief.traits.noise_known


@pytest.mark.parametrize("size", [1e100, 1e-60])
def test_labels_of_any_size_have_a_scale(size):
    labels = [("a", size), ("a", -size), ("b", size), ("b", size), ("c", -size), ("d", size)]
    belief = found(told(labels, prior_std="learn", **SEARCHING))
    assert 1e-50 <= belief.noise_std <= 1e100
    assert 1e-50 <= belief.label_scale <= 1e100
    assert belief.across.fitted_at == 4


def test_equal_labels_are_not_taken_for_noise():
    belief = found(told([("a", 0.1), ("a", 0.1), ("a", 0.1), ("b", 0.3)]))
    assert belief.noise_std == pytest.approx(np.std([0.1, 0.1, 0.1, 0.3]))
    assert belief.describe()["noise_from"] == "spread"


def test_cells_find_theirs_too():
    belief = Cells([0.0], [1.0], **SEARCHING)
    for x, y in ((0.1, 1.0), (0.2, 3.0), (0.8, 8.0), (0.9, 8.0)):
        belief.learn(belief.point([x]), y)
    assert found(belief).noise_std == 1.0
    assert belief.prior_mean == 5.0
    assert Cells.of(belief.config()).config() == belief.config()


def test_the_threshold_counts_in_the_scale_of_labels(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(stream, "SHORTEST", 1)

    def learner():
        made = Learner(TypeMeans(label_scale="fit"), Threshold(0.05), label_cost=30.0, warmup=4)
        assert not stream.pays(made.state, 10)
        for k in (1, 1, 2, 2):
            made.tell(made.decide(k).id, 10.0 * k + made.rounds)
        return made

    points = np.random.default_rng(0).integers(5, size=200)
    bulk, one_by_one = learner(), learner()
    assert stream.pays(bulk.state, 200)
    single = [one_by_one.decide(int(k)) for k in points]
    assert bulk.decide_many(points) == single
    scale = one_by_one.belief.label_scale
    arrivals = 2 + int((points == 2).sum())
    last = next(one for one, k in zip(reversed(single), reversed(points), strict=True) if k == 2)
    assert last.threshold == pytest.approx(0.05 * scale * (30.0 / scale / arrivals) ** (1 / 3))


CONTRACTS = [
    (check, partial(Learner, belief, rule, label_cost=0.05, warmup=4, keep=20))
    for belief in (
        TypeMeans(),
        TypeMeans(prior_std="learn", **SEARCHING),
        Cells([0.0], [1.0], forgetting=9.0),
    )
    for rule in (Threshold(), Value(horizon=80))
    for check in checks_for(partial(Learner, belief, rule, label_cost=0.05, warmup=4))
]


@pytest.mark.parametrize(
    ("check", "make"), CONTRACTS, ids=[f"{i}-{one.name}" for i, (one, _) in enumerate(CONTRACTS)]
)
def test_every_check_holds_for_beliefs_that_find_their_noise(check, make):
    check(make)
