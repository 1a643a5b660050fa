"""What every solver owes a process: one suite for the exact one and the dictionary, against dense solves."""

from copy import deepcopy
from functools import partial

import msgspec
import numpy as np
import pytest

from breakeven import Matern, SquaredExponential
from breakeven.beliefs.even_sample import EvenSample
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.dictionary import LEAST_TOLERANCE, DictionarySolver
from breakeven.beliefs.gp.exact import ExactSolver
from breakeven.beliefs.gp.reservoir import Reservoir

PARAMETERS = Parameters(SquaredExponential((0.4, 0.6), amplitude=2.0), noise_std=0.3, mean=1.5)
OTHERS = Parameters(Matern(2.5, (0.7, 0.5), amplitude=1.2), noise_std=0.2, mean=0.5)

SOLVERS = {
    "exact": (ExactSolver, 1e-10),
    "dictionary": (partial(DictionarySolver, tolerance=LEAST_TOLERANCE), 2e-5),  # what projecting may take
}


@pytest.fixture(params=SOLVERS)
def kind(request):
    return request.param


@pytest.fixture
def near(kind):
    return lambda expected: pytest.approx(expected, abs=SOLVERS[kind][1])


def data(n, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, 2))
    return X, np.sin(4.0 * X.sum(axis=1)) + 0.3 * random.standard_normal(n)


X, Y = data(60)
PROBES = np.vstack([data(8, seed=1)[0], X[:2], [[5.0, 5.0]]])


class Labels:
    """A solver, and what it was told, for a dense solve."""

    def __init__(self, kind, parameters=PARAMETERS):
        self.solver = SOLVERS[kind][0](2, parameters)
        self.told, self.awaited = {}, {}

    def ask(self, key, noise=0.0):
        self.solver.ask(key, X[key].copy(), self.solver.solve(X[key]), noise)
        self.awaited[key] = noise

    def tell(self, key, y=None):
        self.told[key] = (self.awaited.pop(key), Y[key] if y is None else y)
        return self.solver.tell(key, self.told[key][1])

    def learn(self, *keys):
        for key in keys:
            self.ask(key)
            self.tell(key)
        return self

    def dense(self, probes=PROBES):
        """Means and variances given the labels told, and variances given also those awaited."""
        told = {key: noise for key, (noise, _) in self.told.items()}
        means, variances = self._given(told, probes)
        return means, variances, self._given(told | self.awaited, probes)[1]

    def _given(self, noises, probes):
        parameters, points = self.solver.parameters, X[list(noises)]
        kernel = parameters.kernel
        own = [noise or parameters.noise_variance for noise in noises.values()]
        k = kernel(points, probes)
        weights = np.linalg.solve(kernel(points, points) + np.diag(own), k)
        ys = np.array([self.told[key][1] if key in self.told else 0.0 for key in noises])
        return parameters.mean + (ys - parameters.mean) @ weights, kernel.amplitude - (k * weights).sum(
            axis=0
        )

    def check(self, near):
        means, variances, narrowed = self.dense()
        solved = [self.solver.solve(x) for x in PROBES]
        assert [one.mean for one in solved] == near(means)
        assert [one.variance for one in solved] == near(variances)
        assert [one.narrowed for one in solved] == near(narrowed)
        many = self.solver.solve_many(PROBES)
        assert (many[0], many[1]) == (near(means), near(variances))
        block = self.solver.block(PROBES)
        assert (block.means, block.narrowed) == (near(means), near(narrowed))
        assert (self.solver.labels, self.solver.awaited) == (len(self.told), len(self.awaited))
        assert sorted(key for key, *_ in self.solver.told_labels()) == sorted(self.told)
        assert [key for key, *_ in self.solver.awaited_labels()] == list(self.awaited)


def test_labels_told_in_any_order_give_the_dense_posterior(kind, near):
    labels = Labels(kind)
    for key in range(20):
        labels.ask(key, noise=0.5 if key % 5 == 0 else 0.0)
        labels.check(near) if key % 6 == 0 else None
    for key in (7, 0, 19, 3, 12, 11, 1):
        mean, variance = labels.tell(key)
        at = labels.dense(X[[key]])
        assert (mean, variance) == (near(at[0][0]), near(at[1][0]))
    labels.check(near)


def test_a_corrected_label_moves_only_means(kind, near):
    labels = Labels(kind).learn(*range(15))
    labels.ask(20)
    stds = [labels.solver.solve(x).narrowed for x in PROBES]
    labels.solver.correct(4, 9.0)
    labels.told[4] = (0.0, 9.0)
    labels.check(near)
    assert [labels.solver.solve(x).narrowed for x in PROBES] == stds


@pytest.mark.parametrize("key", [0, 7, 14])
def test_a_withdrawn_label_leaves_the_others_and_gives_back_its_point_and_noise(kind, near, key):
    labels = Labels(kind).learn(*range(15))
    for awaited in range(20, 26):
        labels.ask(awaited, noise=0.7 if awaited == 22 else 0.0)
    x, noise = labels.solver.withdraw_told(key)
    assert (x.tolist(), noise) == (X[key].tolist(), 0.0)
    del labels.told[key]
    labels.check(near)
    x, noise = labels.solver.withdraw_awaited(22)
    assert (x.tolist(), noise) == (X[22].tolist(), 0.7)
    del labels.awaited[22]
    labels.check(near)
    assert not labels.solver.knows(key)


def test_labels_dropped_and_other_parameters_leave_what_was_awaited(kind, near):
    labels = Labels(kind).learn(*range(20))
    labels.ask(30)
    labels.ask(31, noise=0.5)
    keys = [key for key, *_ in labels.solver.told_labels()]
    labels.solver.drop(np.array([key < 8 for key in keys]))
    labels.told = {key: told for key, told in labels.told.items() if key >= 8}
    labels.check(near)
    labels.solver.adopt(OTHERS)
    labels.check(near)


def test_a_released_key_is_forgotten_and_its_label_is_not(kind):
    labels = Labels(kind).learn(*range(5))
    labels.ask(10)
    labels.ask(11)
    before = [labels.solver.solve(x) for x in PROBES]
    for key in (2, 10, 99):
        labels.solver.release(key)
    assert not labels.solver.knows(2)
    assert [labels.solver.solve(x).narrowed for x in PROBES] == [one.narrowed for one in before]
    with pytest.raises(KeyError):
        labels.solver.correct(2, 1.0)
    labels.solver.tell(11, 0.0)
    assert [key for key, *_ in labels.solver.awaited_labels()] == [None]


def test_detached_labels_have_no_keys_and_none_is_awaited(kind, near):
    labels = Labels(kind).learn(*range(8))
    labels.solver.watch(Reservoir(2, EvenSample(64)))
    for x in PROBES:
        labels.solver.meet(x, labels.solver.solve(x))
    labels.ask(10)
    labels.ask(11)
    labels.solver.detach()
    labels.awaited = {}
    assert (labels.solver.awaited, [key for key, *_ in labels.solver.told_labels()]) == (0, [None] * 8)
    assert [labels.solver.solve(x).narrowed for x in PROBES] == near(labels.dense()[1])
    assert labels.solver.reservoir.variances == near(labels.dense()[1])


def test_labels_without_a_key_are_learnt_beside_others_awaited(kind, near):
    labels = Labels(kind).learn(0, 1)
    labels.ask(2)
    for key in (3, 4):
        labels.solver.ask(None, X[key], labels.solver.solve(X[key]))
        labels.solver.tell(None, Y[key])
        labels.told[key] = (0.0, Y[key])
    means, _, narrowed = labels.dense()
    assert [labels.solver.solve(x).mean for x in PROBES] == near(means)
    assert [labels.solver.solve(x).narrowed for x in PROBES] == near(narrowed)
    assert [key for key, *_ in labels.solver.awaited_labels()] == [2]


def test_the_reservoir_knows_covariances_and_variances_given_all_labels_asked_for(kind, near):
    labels = Labels(kind)
    labels.solver.watch(Reservoir(2, EvenSample(64)))
    for key in range(24):
        x = X[30 + key]
        labels.solver.meet(x, labels.solver.solve(x))
        labels.ask(key)
        if key % 3:
            labels.tell(key)
    labels.solver.withdraw_awaited(9)
    del labels.awaited[9]
    kept, solver = X[30:54], labels.solver
    assert solver.reservoir.points.tolist() == kept.tolist()
    assert solver.reservoir.variances == near(labels.dense(kept)[2])
    noises = dict.fromkeys((*labels.told, *labels.awaited), 0.0)
    points, kernel = X[list(noises)], PARAMETERS.kernel
    K = kernel(points, points) + PARAMETERS.noise_variance * np.eye(len(points))
    k, at = kernel(points, kept), kernel(points, PROBES[:1])
    expected = kernel(kept, PROBES[:1])[:, 0] - (k.T @ np.linalg.solve(K, at))[:, 0]
    assert solver.reach(PROBES[0], solver.solve(PROBES[0])) == near(expected)


def test_the_exact_std_lies_within_the_stretch(kind):
    labels = Labels(kind).learn(*range(40))
    stretch = labels.solver.stretch
    assert stretch >= 1.0
    for x, variance in zip(PROBES, labels.dense()[1], strict=True):
        std = np.sqrt(labels.solver.solve(x).variance)
        assert std / stretch * (1 - 1e-9) <= np.sqrt(variance) <= std * stretch * (1 + 1e-9)
    assert labels.solver.rank <= labels.solver.labels
    assert labels.solver.describe().get("stretch", 1.0) == stretch


@pytest.mark.parametrize("awaited", [0, 1, 5])
def test_a_stored_solver_goes_on_with_the_same_bits(kind, awaited):
    labels = Labels(kind).learn(*range(20))
    labels.solver.watch(Reservoir(2, EvenSample(16)))
    for key in range(20, 20 + awaited):
        labels.solver.meet(X[key], labels.solver.solve(X[key]))
        labels.ask(key)
    stored = msgspec.msgpack.encode(labels.solver.state())
    for copy in (SOLVERS[kind][0](2, OTHERS), deepcopy(labels.solver)):
        copy.load(msgspec.msgpack.decode(stored), PARAMETERS)
        assert msgspec.msgpack.encode(copy.state()) == stored
        for key in range(40, 45):
            copy.ask(key, X[key], copy.solve(X[key]))
            copy.tell(key, Y[key])
        again = deepcopy(labels.solver)
        for key in range(40, 45):
            again.ask(key, X[key], again.solve(X[key]))
            again.tell(key, Y[key])
        assert msgspec.msgpack.encode(copy.state()) == msgspec.msgpack.encode(again.state())


def broken(state):
    """States that a solver must refuse: every part too short, too long, missing or of another kind."""
    for name, value in state.items():
        if isinstance(value, bytes) and value:
            for other in (value[:-8], value + bytes(8), b"\xff" * len(value), 3):
                yield name, state | {name: other}
        elif isinstance(value, list) and value:
            for other in (value[:-1], [*value, value[-1]], None, "x"):
                yield name, state | {name: other}
        elif isinstance(value, dict):
            for _, other in broken(value):
                yield name, state | {name: other}
        elif isinstance(value, float):
            yield name, state | {name: "x"}
    for name in state:
        yield name, {key: value for key, value in state.items() if key != name}


def test_a_state_whose_parts_do_not_fit_is_refused_and_changes_nothing(kind):
    labels = Labels(kind).learn(*range(6))
    labels.solver.watch(Reservoir(2, EvenSample(16)))
    labels.solver.meet(X[50], labels.solver.solve(X[50]))
    for key in range(20, 23):
        labels.ask(key)
    state = labels.solver.state()
    other = Labels(kind).learn(7).solver
    before = other.state()
    tried = 0
    for _, crafted in broken(state):
        with pytest.raises((ValueError, TypeError, LookupError, msgspec.ValidationError)):
            other.load(crafted, PARAMETERS)
        tried += 1
    assert tried > 30
    assert other.state() == before
