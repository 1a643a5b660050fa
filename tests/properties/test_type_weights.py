"""Labels with a noise of their own, and labels that are forgotten, against sums over all of them."""

from math import inf, isclose, isnan, log, sqrt

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import Learner, Never, Threshold, TypeMeans, Value
from breakeven.learner import bulk
from breakeven.learner.bulk import stream

NOISE_STD, DELTA = 0.7, 0.02
KINDS = ["a", "b", ("c", 1)]
NOISES = st.sampled_from([None, 0.7, 0.1, 2.0, 30.0])
LABELS = st.floats(-5.0, 5.0)
SEEDS = st.integers(0, 10**6)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.sampled_from(KINDS), st.integers(1, 3)),
        st.tuples(st.just("arrive"), st.just("others"), st.integers(50, 100)),
        st.tuples(st.just("ask"), st.sampled_from(KINDS), NOISES),
        st.tuples(st.just("learn"), st.sampled_from(KINDS), LABELS, NOISES),
        st.tuples(st.just("tell"), SEEDS, LABELS, NOISES),
        st.tuples(st.just("correct"), SEEDS, LABELS),
        st.tuples(st.just("withdraw"), SEEDS),
        st.tuples(st.just("reopen"), SEEDS),
        st.tuples(st.just("release"), SEEDS),
        st.tuples(st.just("erase"), st.integers(1, 5)),
        st.tuples(st.just("detach")),
    ),
    max_size=40,
)
HALF_LIVES = st.sampled_from([None, 0.3, 4.0, 60.0, 1e4])


class Asked(msgspec.Struct):
    """One label as it is remembered by whoever adds up all of them."""

    kind: object
    noise: float
    round: int
    y: float | None = None


class History:
    """What happened to a belief, and every label that is left."""

    def __init__(self, forgetting=None, **prior):
        self.belief = TypeMeans(NOISE_STD, DELTA, forgetting=forgetting, **prior)
        self.half_life = inf if forgetting is None else forgetting
        self.round, self.number, self.labels, self.nameless = 0, 0, {}, []

    def play(self, events):
        for verb, *rest in events:
            getattr(self, verb)(*rest)
        return self

    def arrive(self, kind, times):
        for _ in range(times):
            self.belief.arrive(kind)
        self.round += times

    def ask(self, kind, noise):
        self.number += 1
        self.belief.ask(self.number, kind, None, noise)
        self.labels[self.number] = Asked(kind, noise or NOISE_STD, self.round)

    def learn(self, kind, y, noise):
        self.number += 1
        assert self.belief.learn(kind, y, self.number, noise) == self.belief.predict(kind)
        self.labels[self.number] = Asked(kind, noise or NOISE_STD, self.round, y)

    def tell(self, seed, y, noise):
        awaited = [id for id, label in self.labels.items() if label.y is None]
        if awaited:
            id = awaited[seed % len(awaited)]
            label = self.labels[id]
            label.y, label.noise = y, noise or label.noise
            assert self.belief.tell(id, label.kind, y, noise) == self.belief.predict(label.kind)

    def correct(self, seed, y):
        told = [id for id, label in self.labels.items() if label.y is not None]
        if told:
            label = self.labels[told[seed % len(told)]]
            self.belief.correct(told[seed % len(told)], label.kind, label.y, y)
            label.y = y

    def withdraw(self, seed):
        if self.labels:
            id = list(self.labels)[seed % len(self.labels)]
            label = self.labels.pop(id)
            self.belief.withdraw(id, label.kind, label.y)

    def reopen(self, seed):
        told = [id for id, label in self.labels.items() if label.y is not None]
        if told:
            label = self.labels[told[seed % len(told)]]
            self.belief.reopen(told[seed % len(told)], label.kind, label.y)
            label.y = None

    def release(self, seed):
        told = [id for id, label in self.labels.items() if label.y is not None]
        if told:
            key = told[seed % len(told)]
            self.belief.release(key)
            self.nameless.append(self.labels.pop(key))

    def erase(self, times):
        for _ in range(times):
            self.belief.arrive(None)
        self.round += times

    def detach(self):
        self.belief.detach()
        self.nameless += [label for label in self.labels.values() if label.y is not None]
        self.labels = {}
        assert self.belief.state()["grades"] == []

    @property
    def everything(self):
        return [*self.labels.values(), *self.nameless]

    def left(self, label):
        return 2.0 ** ((label.round - self.round) / self.half_life)

    def weight(self, label):
        return (NOISE_STD / label.noise) ** 2 * self.left(label)

    def check(self, kind):
        mine = [label for label in self.everything if label.kind == kind]
        told = [label for label in mine if label.y is not None]
        view, predicted = self.belief.look(kind), self.belief.predict(kind)
        assert view.prediction == predicted
        assert view.labels == len(mine)
        assert self.belief.labels == sum(label.y is not None for label in self.everything)
        asked, known = sum(map(self.weight, mine)), sum(map(self.weight, told))
        labels = max(sum(map(self.left, self.everything)), 1.0)
        if asked > 1e-200:
            assert near(view.uncertainty, sqrt(2 * NOISE_STD**2 * log(2 * labels**3 / DELTA) / asked))
        else:
            assert view.uncertainty > 1e90
        if known > 1e-200:
            assert near(predicted.std, NOISE_STD / sqrt(known))
            mean = sum(self.weight(label) * label.y for label in told) / known
            assert isclose(predicted.mean, mean, rel_tol=1e-9, abs_tol=1e-9)
        else:
            assert predicted.std > 1e90
            assert not isnan(predicted.mean)


def near(one, other):
    return one == other or abs(one - other) <= 1e-9 * abs(other)


@given(HALF_LIVES, EVENTS)
def test_every_label_counts_as_its_noise_and_its_age_say(forgetting, events):
    history = History(forgetting)
    for event in events:
        history.play([event])
        for kind in KINDS:
            history.check(kind)


@given(st.lists(st.tuples(st.sampled_from(KINDS), LABELS, NOISES), max_size=20).flatmap(
    lambda labels: st.tuples(st.just(labels), st.permutations(labels))
))  # fmt: skip
def test_the_order_of_labels_does_not_matter_whatever_their_noise(orders):
    one, other = TypeMeans(NOISE_STD), TypeMeans(NOISE_STD)
    for belief, labels in zip((one, other), orders, strict=True):
        for kind, y, noise in labels:
            belief.learn(kind, y, None, noise)
    assert one.predict_many(KINDS) == other.predict_many(KINDS)
    assert [one.look(kind).uncertainty for kind in KINDS] == [other.look(kind).uncertainty for kind in KINDS]


@given(st.lists(st.tuples(st.sampled_from(KINDS), LABELS, NOISES), max_size=20), st.randoms())
def test_a_label_that_comes_late_is_as_old_as_its_question(labels, random):
    prompt, late = TypeMeans(NOISE_STD, forgetting=3.0), TypeMeans(NOISE_STD, forgetting=3.0)
    for i, (kind, y, noise) in enumerate(labels):
        for belief in (prompt, late):
            belief.arrive(kind)
            belief.ask(i, kind, None, noise)
        prompt.tell(i, kind, y)
    for i in random.sample(range(len(labels)), len(labels)):
        late.tell(i, *labels[i][:2])
    assert prompt.state()["types"] == late.state()["types"]
    assert prompt.predict_many(KINDS) == late.predict_many(KINDS)


@given(HALF_LIVES, st.sampled_from([None, 0.5, "learn"]), EVENTS, EVENTS)
def test_a_belief_that_was_stored_goes_on_with_the_same_bits(forgetting, prior_std, before, after):
    live, stored = (History(forgetting, prior_std=prior_std).play(before) for _ in range(2))
    stored.belief = TypeMeans.of(live.belief.config())
    stored.belief.watch(1)
    stored.belief.load(msgspec.msgpack.decode(msgspec.msgpack.encode(live.belief.state())))
    live.play(after), stored.play(after)
    assert stored.belief.state() == live.belief.state()
    assert stored.belief.predict_many(KINDS) == live.belief.predict_many(KINDS)
    for kind in KINDS:
        assert stored.belief.look(kind).uncertainty == live.belief.look(kind).uncertainty
        assert stored.belief.look(kind).saves(0.3) == live.belief.look(kind).saves(0.3)


def test_labels_of_the_beliefs_own_noise_are_those_without_one():
    own, plain = TypeMeans(NOISE_STD), TypeMeans(NOISE_STD)
    for i in range(5):
        own.learn("a", 0.1 * i, i, NOISE_STD)
        plain.learn("a", 0.1 * i)
    assert own.state() == plain.state()


def test_a_noise_beyond_all_bounds_neither_overflows_nor_vanishes():
    belief = TypeMeans(1.0)
    belief.learn("a", 1e100, 1, 1e-50)
    belief.learn("a", -1e100, 2, 1e100)
    assert belief.predict("a").mean == 1e100
    belief.withdraw(1, "a", 1e100)
    assert belief.predict("a").mean == -1e100
    assert 0.0 < belief.predict("a").std < inf


@pytest.mark.parametrize(
    ("more", "rule"),
    [({"forgetting": 9.0}, Threshold()), ({"forgetting": 9.0}, Value()), ({"prior_std": 1.0}, Threshold())],
)
def test_long_streams_of_such_types_run_one_by_one(more, rule, monkeypatch):
    monkeypatch.setattr(stream, "SHORTEST", 1)
    assert not bulk.pays(Learner(TypeMeans(0.1, **more), rule, label_cost=1.0).state, 10)


def test_labels_of_another_noise_keep_a_stream_out_of_compiled_loops(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(stream, "SHORTEST", 1)
    belief = TypeMeans(0.1)
    assert bulk.pays(Learner(belief, Never(), label_cost=1.0).state, 10)
    belief.learn("a", 1.0, None, 0.2)
    assert not bulk.pays(Learner(belief, Never(), label_cost=1.0).state, 10)
