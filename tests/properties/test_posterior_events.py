"""The Gaussian process under any history of events, against a dense solve after every step."""

from copy import deepcopy
from math import sqrt

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from threadpoolctl import threadpool_limits

from breakeven import GaussianProcess, Matern, SquaredExponential
from breakeven.beliefs.gp import Parameters

COORDINATES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(-2.0, 2.0))
POINTS = st.tuples(COORDINATES, COORDINATES)
LABELS = st.floats(-5.0, 5.0)
SEEDS = st.integers(0, 10**6)
LENGTHSCALES = st.one_of(st.floats(0.2, 3.0), st.tuples(st.floats(0.2, 3.0), st.floats(0.2, 3.0)))
AMPLITUDES = st.floats(0.1, 5.0)
PARAMETERS = st.builds(
    Parameters,
    kernel=st.one_of(
        st.builds(SquaredExponential, LENGTHSCALES, AMPLITUDES),
        st.builds(Matern, st.sampled_from([0.5, 0.7, 1.5, 2.5, 3.2, 120.0]), LENGTHSCALES, AMPLITUDES),
    ),
    noise_std=st.floats(0.1, 1.0),
    mean=st.floats(-3.0, 3.0),
)
PROBES = np.array([[0.0, 0.0], [0.5, 1.0], [-1.3, 0.7], [9.0, 9.0]])

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), POINTS),
        st.tuples(st.just("learn"), POINTS, LABELS),
        st.tuples(st.just("tell"), SEEDS, LABELS),
        st.tuples(st.just("correct"), SEEDS, LABELS),
        st.tuples(st.just("withdraw awaited"), SEEDS),
        st.tuples(st.just("withdraw told"), SEEDS),
        st.tuples(st.just("reopen"), SEEDS),
        st.tuples(st.just("adopt"), PARAMETERS),
    ),
    max_size=40,
)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    with threadpool_limits(1):  # small matrices: a second thread only waits
        yield


def dense(parameters, points, ys=None):
    """Means (if there are ys) and variances at the probes, given labels at these points."""
    kernel, n = parameters.kernel, len(points)
    if n == 0:
        return np.full(len(PROBES), parameters.mean), np.full(len(PROBES), kernel.amplitude)
    k = kernel(points, PROBES)
    weights = np.linalg.solve(kernel(points, points) + parameters.noise_variance * np.eye(n), k)
    means = None if ys is None else parameters.mean + (np.array(ys) - parameters.mean) @ weights
    return means, kernel.amplitude - (k * weights).sum(axis=0)


class History:
    """What happened to a belief, and what is awaited and told by now."""

    def __init__(self, belief):
        self.belief = belief
        self.awaited, self.told = {}, {}
        self._count = 0

    def _new_id(self):
        self._count += 1
        return str(self._count)

    def ask(self, x):
        id = self._new_id()
        self.belief.ask(id, np.array(x))
        self.awaited[id] = x

    def learn(self, x, y):
        id = self._new_id()
        self.told[id] = (x, y)
        return self.belief.learn(np.array(x), y, id), x

    def tell(self, seed, y):
        if not self.awaited:
            return None
        id = list(self.awaited)[seed % len(self.awaited)]
        x = self.awaited.pop(id)
        self.told[id] = (x, y)
        return self.belief.tell(id, np.array(x), y), x

    def correct(self, seed, y):
        if self.told:
            id = list(self.told)[seed % len(self.told)]
            x, old = self.told[id]
            self.told[id] = (x, y)
            self.belief.correct(id, np.array(x), old, y)

    def withdraw_awaited(self, seed):
        if self.awaited:
            id = list(self.awaited)[seed % len(self.awaited)]
            self.belief.withdraw(id, np.array(self.awaited.pop(id)), None)

    def withdraw_told(self, seed):
        if self.told:
            id = list(self.told)[seed % len(self.told)]
            x, y = self.told.pop(id)
            self.belief.withdraw(id, np.array(x), y)

    def reopen(self, seed):
        if self.told:
            id = list(self.told)[seed % len(self.told)]
            x, y = self.told.pop(id)
            self.awaited[id] = x
            self.belief.reopen(id, np.array(x), y)

    def adopt(self, parameters):
        self.belief.adopt(parameters.plain())

    def play(self, event):
        verb, *rest = event
        return getattr(self, verb.replace(" ", "_"))(*rest)


def close(ours, theirs, within=1e-9):
    return np.abs(np.subtract(ours, theirs)).max() <= within


def process(parameters):
    return GaussianProcess(2, parameters.noise_std, parameters.kernel, parameters.mean)


def same_bits(one, other):
    return msgspec.msgpack.encode(one.state()) == msgspec.msgpack.encode(other.state())


def reloaded(belief):
    """The belief as it comes back from storage."""
    config = belief.config() | {"kernel": belief.kernel}
    copy = GaussianProcess(**config)
    copy.load(msgspec.msgpack.decode(msgspec.msgpack.encode(belief.state())))
    return copy


class AnyHistory(RuleBasedStateMachine):
    """Events in any order; the belief must always say what a dense solve says."""

    @initialize(parameters=PARAMETERS)
    def begin(self, parameters):
        self.history = History(process(parameters))

    @rule(x=POINTS)
    def ask(self, x):
        self.history.ask(x)

    @rule(x=POINTS, y=LABELS)
    def learn(self, x, y):
        self.check_answer(*self.history.learn(x, y))

    @precondition(lambda self: self.history.awaited)
    @rule(seed=SEEDS, y=LABELS)
    def tell(self, seed, y):
        self.check_answer(*self.history.tell(seed, y))

    @precondition(lambda self: self.history.told)
    @rule(seed=SEEDS, y=LABELS)
    def correct(self, seed, y):
        self.history.correct(seed, y)

    @precondition(lambda self: self.history.awaited)
    @rule(seed=SEEDS)
    def withdraw_awaited(self, seed):
        self.history.withdraw_awaited(seed)

    @precondition(lambda self: self.history.told)
    @rule(seed=SEEDS)
    def withdraw_told(self, seed):
        self.history.withdraw_told(seed)

    @rule(parameters=PARAMETERS)
    def adopt(self, parameters):
        self.history.adopt(parameters)

    @rule()
    def store_and_load(self):
        self.history.belief = reloaded(self.history.belief)

    @rule()
    def copy(self):
        self.history.belief = deepcopy(self.history.belief)

    def check_answer(self, prediction, x):
        expected = self.history.belief.predict(np.array(x))
        assert prediction.mean == pytest.approx(expected.mean, rel=0, abs=1e-10)
        assert prediction.std == pytest.approx(expected.std, rel=0, abs=1e-10)
        assert prediction.noise_std == expected.noise_std

    @invariant()
    def agrees_with_a_dense_solve(self):
        if not hasattr(self, "history"):
            return
        belief, parameters = self.history.belief, self.history.belief.parameters
        told = [x for x, _ in self.history.told.values()]
        means, variances = dense(parameters, told, [y for _, y in self.history.told.values()])
        _, narrowed = dense(parameters, told + list(self.history.awaited.values()))
        views, singly = list(map(belief.look, PROBES)), list(map(belief.predict, PROBES))
        many = belief.predict_many(PROBES)
        assert belief.labels == len(told)
        assert [view.prediction for view in views] == singly
        assert close([one.mean for one in singly], means)
        assert close([one.std**2 for one in singly], variances)
        assert close([view.uncertainty**2 for view in views], narrowed)
        assert close([one.mean for one in singly], [one.mean for one in many], 1e-10)
        assert close([one.std**2 for one in singly], [one.std**2 for one in many], 1e-10)


TestAnyHistory = AnyHistory.TestCase


@given(PARAMETERS, EVENTS)
def test_the_same_events_give_the_same_bits_whatever_is_asked_in_between(parameters, events):
    silent, asked = History(process(parameters)), History(process(parameters))
    for event in events:
        silent.play(event)
        asked.belief.predict_many(PROBES)
        asked.play(event)
        asked.belief.look(PROBES[1])
        asked.belief.predict(PROBES[2])
        asked.belief.state()
        asked.belief.describe()
    assert same_bits(silent.belief, asked.belief)


@pytest.mark.parametrize("copied", [reloaded, deepcopy])
@given(PARAMETERS, EVENTS, EVENTS)
def test_a_belief_that_was_stored_or_copied_goes_on_with_the_same_bits(copied, parameters, before, after):
    kept = History(process(parameters))
    for event in before:
        kept.play(event)
    stored = deepcopy(kept)
    stored.belief = copied(kept.belief)
    assert same_bits(stored.belief, kept.belief)
    for event in after:
        assert stored.belief.look(PROBES[1]).prediction == kept.belief.look(PROBES[1]).prediction
        assert stored.play(event) == kept.play(event)
    assert same_bits(stored.belief, kept.belief)


@given(PARAMETERS, EVENTS, EVENTS)
def test_a_state_does_not_change_with_what_happens_later(parameters, before, after):
    history = History(process(parameters))
    for event in before:
        history.play(event)
    state = history.belief.state()
    copy = deepcopy(state)
    for event in after:
        history.play(event)
    assert state == copy


@given(PARAMETERS, st.lists(st.tuples(POINTS, LABELS), min_size=1, max_size=12), st.randoms())
def test_uncertainty_is_the_same_whether_labels_are_awaited_or_told_in_any_order(parameters, pairs, random):
    prompt, late = process(parameters), process(parameters)
    for i, (x, y) in enumerate(pairs):
        prompt.learn(np.array(x), y, str(i))
        late.ask(str(i), np.array(x))
        assert late.predict(PROBES[1]).mean == parameters.mean
        assert late.look(PROBES[1]).uncertainty == pytest.approx(prompt.predict(PROBES[1]).std, abs=1e-9)
    order = list(range(len(pairs)))
    random.shuffle(order)
    for i in order:
        late.tell(str(i), np.array(pairs[i][0]), pairs[i][1])
        assert late.look(PROBES[1]).uncertainty == pytest.approx(prompt.predict(PROBES[1]).std, abs=1e-9)
    assert late.predict(PROBES[1]).mean == pytest.approx(prompt.predict(PROBES[1]).mean, abs=1e-9)


@given(PARAMETERS, POINTS, LABELS, EVENTS)
def test_a_label_never_adds_uncertainty(parameters, x, y, events):
    history = History(process(parameters))
    for event in events:
        history.play(event)
    before = [(view.uncertainty, view.prediction.std) for view in map(history.belief.look, PROBES)]
    history.learn(x, y)
    after = [(view.uncertainty, view.prediction.std) for view in map(history.belief.look, PROBES)]
    assert (np.array(after) <= np.array(before) + 1e-9).all()
    limit = min(history.belief.parameters.noise_std, sqrt(history.belief.parameters.kernel.amplitude))
    assert history.belief.predict(np.array(x)).std <= limit + 1e-9
