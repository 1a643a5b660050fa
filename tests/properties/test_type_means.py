"""Algorithm 1's belief under any history of events: the mean of the labels that are left, to the bit."""

from math import fsum, inf, sqrt

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import TypeMeans, theory
from breakeven.errors import InvalidInput

NOISE_STD, DELTA = 0.7, 0.02
KINDS = ["a", "b", 1, b"a", ("a", 1)]
LABELS = st.one_of(st.floats(-1e100, 1e100), st.floats(-5.0, 5.0), st.sampled_from([0.1, 1e16, -1e16, -0.0]))
SEEDS = st.integers(0, 10**6)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.sampled_from(KINDS)),
        st.tuples(st.just("ask"), st.sampled_from(KINDS)),
        st.tuples(st.just("learn"), st.sampled_from(KINDS), LABELS),
        st.tuples(st.just("tell"), SEEDS, LABELS),
        st.tuples(st.just("correct"), SEEDS, LABELS),
        st.tuples(st.just("withdraw awaited"), SEEDS),
        st.tuples(st.just("withdraw told"), SEEDS),
        st.tuples(st.just("reopen"), SEEDS),
        st.tuples(st.just("release"), SEEDS),
        st.tuples(st.just("erase")),
    ),
    max_size=60,
)


def means():
    return TypeMeans(NOISE_STD, DELTA, prior_mean=3.0)


class History:
    """What happened to a belief, and which labels are left."""

    def __init__(self, belief):
        self.belief, self.keys = belief, 0
        self.arrived, self.awaited, self.told, self.released = [], [], [], []

    def play(self, event):
        verb, *rest = event
        getattr(self, verb.replace(" ", "_"))(*rest)

    def arrive(self, kind):
        self.belief.arrive(kind)
        self.arrived.append(kind)

    def erase(self):
        self.belief.arrive(None)

    def ask(self, kind):
        self.keys += 1
        self.belief.ask(self.keys, kind)
        self.awaited.append((self.keys, kind))

    def learn(self, kind, y):
        self.keys += 1
        prediction = self.belief.learn(kind, y, self.keys)
        self.told.append((self.keys, kind, y))
        assert prediction == self.belief.predict(kind)

    def tell(self, seed, y):
        if self.awaited:
            key, kind = self.awaited.pop(seed % len(self.awaited))
            prediction = self.belief.tell(key, kind, y)
            self.told.append((key, kind, y))
            assert prediction == self.belief.predict(kind)

    def correct(self, seed, y):
        if self.told:
            i = seed % len(self.told)
            key, kind, old = self.told[i]
            self.belief.correct(key, kind, old, y)
            self.told[i] = (key, kind, y)

    def withdraw_awaited(self, seed):
        if self.awaited:
            self.belief.withdraw(*self.awaited.pop(seed % len(self.awaited)), None)

    def withdraw_told(self, seed):
        if self.told:
            self.belief.withdraw(*self.told.pop(seed % len(self.told)))

    def reopen(self, seed):
        if self.told:
            key, kind, y = self.told.pop(seed % len(self.told))
            self.belief.reopen(key, kind, y)
            self.awaited.append((key, kind))

    def release(self, seed):
        if self.told:
            key, *label = self.told.pop(seed % len(self.told))
            self.belief.release(key)
            self.released.append((key, *label))

    def check(self, kind):
        known = self.told + self.released
        ys = [y for _, one, y in known if one == kind]
        asked = len(ys) + sum(one == kind for _, one in self.awaited)
        everything = len(known) + len(self.awaited)
        view, prediction = self.belief.look(kind), self.belief.predict(kind)
        assert prediction.mean == (fsum(ys) / len(ys) if ys else 3.0)
        assert prediction.std == (NOISE_STD / sqrt(len(ys)) if ys else inf)
        assert view.prediction == prediction
        assert view.uncertainty == theory.radius(NOISE_STD, asked, everything, DELTA)
        assert (view.labels, view.arrivals) == (asked, self.arrived.count(kind) + 1)
        assert self.belief.labels == len(known)


def played(events):
    history = History(means())
    for event in events:
        history.play(event)
    return history


@given(EVENTS)
def test_any_history_leaves_the_mean_of_the_surviving_labels_to_the_bit(events):
    history = History(means())
    for event in events:
        history.play(event)
        for kind in KINDS:
            history.check(kind)
    assert history.belief.predict_many(KINDS) == [history.belief.predict(kind) for kind in KINDS]


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), LABELS), max_size=30).flatmap(
        lambda pairs: st.tuples(st.just(pairs), st.permutations(pairs))
    )
)
def test_the_order_of_labels_does_not_matter(orders):
    one, other = means(), means()
    for belief, pairs in zip((one, other), orders, strict=True):
        for kind, y in pairs:
            belief.learn(kind, y)
    assert one.predict_many(KINDS) == other.predict_many(KINDS)
    assert sorted(one.state()["types"], key=repr) == sorted(other.state()["types"], key=repr)
    assert [one.look(kind).uncertainty for kind in KINDS] == [other.look(kind).uncertainty for kind in KINDS]


@given(EVENTS, EVENTS)
def test_a_belief_that_was_stored_goes_on_with_the_same_bits(before, after):
    history = played(before)
    stored = played(before)
    stored.belief = means()
    stored.belief.load(msgspec.msgpack.decode(msgspec.msgpack.encode(history.belief.state())))
    assert stored.belief.state() == history.belief.state()
    for event in after:
        history.play(event)
        stored.play(event)
    assert stored.belief.state() == history.belief.state()
    for kind in KINDS:
        stored.check(kind)


@given(EVENTS)
def test_a_detached_belief_keeps_labels_told_and_arrivals_and_nothing_awaited(events):
    history = played(events)
    predictions, labels = history.belief.predict_many(KINDS), history.belief.labels
    arrivals = [history.belief.look(kind).arrivals for kind in KINDS]
    history.belief.detach()
    history.awaited.clear()
    for kind in KINDS:
        history.check(kind)
    assert (history.belief.predict_many(KINDS), history.belief.labels) == (predictions, labels)
    assert [history.belief.look(kind).arrivals for kind in KINDS] == arrivals
    assert history.belief.state()["grades"] == []


@given(EVENTS, SEEDS, LABELS)
def test_a_label_reopened_and_told_again_leaves_no_trace(events, seed, other):
    history = played(events)
    if history.told:
        before = history.belief.state()
        key, kind, y = history.told[seed % len(history.told)]
        history.belief.reopen(key, kind, y)
        history.belief.tell(key, kind, other)
        history.belief.reopen(key, kind, other)
        history.belief.tell(key, kind, y)
        assert history.belief.state() == before


@given(EVENTS)
def test_questions_leave_no_trace(events):
    silent, asked = History(means()), History(means())
    for event in events:
        silent.play(event)
        asked.play(event)
        asked.belief.look("never seen")
        asked.belief.predict(("nor", "this"))
        asked.belief.predict_many(KINDS)
    assert silent.belief.state() == asked.belief.state()


def test_a_view_counts_the_arrival_on_the_type_it_was_taken_of():
    belief = means()
    for _ in range(3):
        belief.arrive("a", belief.look("a"))
    assert belief.look("a").arrivals == 4
    assert belief.look("b").arrivals == 1


def test_two_hundred_thousand_types_are_no_burden():
    belief = means()
    for kind in range(200_000):
        belief.arrive(kind)
        belief.learn(kind, float(kind))
    assert belief.labels == 200_000
    assert belief.predict(123_456).mean == 123_456.0
    assert belief.look(7).uncertainty == theory.radius(NOISE_STD, 1, 200_000, DELTA)
    assert belief.describe()["types"] == 200_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"noise_std": 0}, "noise_std: expected a positive, finite number, got 0"),
        ({"noise_std": "fit"}, "noise_std: expected a positive, finite number, got 'fit'"),
        ({"delta": 0.0}, r"delta: expected a number in \(0, 1\), got 0.0"),
        ({"delta": 1.0}, r"delta: expected a number in \(0, 1\), got 1.0"),
        ({"delta": "5%"}, r"delta: expected a number in \(0, 1\), got '5%'"),
        ({"prior_mean": inf}, "prior_mean: expected a finite number, got inf"),
        ({"prior_mean": "0"}, "prior_mean: expected a finite number, got '0'"),
        ({"label_scale": 0.0}, "label_scale: expected a positive, finite number, got 0.0"),
        ({"label_scale": None}, "label_scale: expected a positive, finite number, got None"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        TypeMeans(**({"noise_std": 1.0} | arguments))


def test_a_batch_of_types_may_be_any_iterable_or_a_flat_array():
    belief = means()
    assert belief.points(["a", 1]) == ["a", 1]
    assert belief.points(iter([("a", 2)])) == [("a", 2)]
    assert belief.points(np.array([3, 4])) == [3, 4]
    assert belief.points(np.array(["x", "y"])) == ["x", "y"]
    assert belief.points([]) == []
    assert all(type(point) is int for point in belief.points(np.array([3, 4])))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("abc", "X: expected a list, got 'abc'"),
        (b"abc", "X: expected a list, got b'abc'"),
        (5, "X: expected a list, got 5"),
        (["a", 1.5], r"X\[1\]: expected a type: .*, got 1.5"),
        ([("a", None)], r"X\[0\]\[1\]: expected a type: .*, got None"),
        (np.array([1.0, 2.0]), r"X\[0\]: expected a type: .*, got 1.0"),
        (np.array([True]), r"X\[0\]: expected a type: .*, got True"),
        (np.zeros((2, 2), dtype=int), r"X\[0\]: expected a type: .*, got array\(\[0, 0\]\)"),
    ],
)
def test_bad_batches_are_refused_by_row(X, message):
    with pytest.raises(InvalidInput, match=message):
        means().points(X)


@pytest.mark.parametrize("impostor", [True, 1.0, np.float64(1.0), np.True_])
def test_one_is_not_confused_with_what_equals_it(impostor):
    belief = means()
    belief.learn(belief.point(1), 5.0)
    with pytest.raises(InvalidInput, match="x: expected a type: a str, an int"):
        belief.point(impostor)


def test_numpy_scalars_share_the_tally_of_what_they_hold():
    belief = means()
    for kind in (3, np.int64(3), np.uint8(3)):
        belief.learn(belief.point(kind), 1.0)
    for kind in ("x", np.str_("x")):
        belief.learn(belief.point(kind), 1.0)
    assert belief.describe()["types"] == 2
    assert (belief.look(3).labels, belief.look("x").labels) == (3, 2)


def test_there_is_nothing_to_fit():
    belief = means()
    belief.learn("a", 1.0)
    before = belief.state()
    assert not belief.needs_warmup
    assert not belief.fit_due(warm=True)
    belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(0)))
    assert belief.state() == before


def test_traits_and_configuration_are_as_given():
    belief = means()
    assert belief.config() == {
        "noise_std": NOISE_STD,
        "delta": DELTA,
        "prior_mean": 3.0,
        "prior_std": None,
        "forgetting": None,
        "label_scale": 1.0,
    }
    assert TypeMeans(**belief.config()).config() == belief.config()
    assert (belief.traits.noise_std, belief.traits.exponent, belief.traits.unit) == (NOISE_STD, 1 / 3, 1.0)
    assert (belief.traits.prior_std, belief.traits.dim) == (inf, None)
