"""What a Gaussian process keeps of arrivals to come, noises and ages, against dense matrices."""

from math import pi, sqrt

import numpy as np
import pytest

from breakeven import GaussianProcess, Learner, Matern, Prior, SquaredExponential, Value
from breakeven.beliefs.even_sample import EvenSample
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.reservoir import Reservoir
from breakeven.errors import InvalidInput

KERNEL = SquaredExponential(lengthscale=(0.4, 0.7), amplitude=2.0)
NOISE = 0.3


class Dense:
    """The same process by plain matrices: points, times, noise variances and labels asked for."""

    def __init__(self, belief):
        self.belief = belief
        self.kernel, self.half_life = belief.kernel, belief.forgetting
        self.X, self.times, self.noise = np.empty((0, belief.dim)), np.empty(0), np.empty(0)

    def ask(self, x, time, noise_std=None):
        self.X = np.vstack([self.X, x])
        self.times = np.append(self.times, time)
        self.noise = np.append(self.noise, (NOISE if noise_std is None else noise_std) ** 2)

    def forget(self, i):
        self.X, self.times, self.noise = (np.delete(a, i, axis=0) for a in (self.X, self.times, self.noise))

    def k(self, A, s, B, t):
        K = self.kernel(A, B)
        return K if self.half_life is None else K * 0.5 ** (np.abs(np.subtract.outer(s, t)) / self.half_life)

    def covariance(self, A, s):
        K = self.k(self.X, self.times, self.X, self.times) + np.diag(self.noise)
        across = self.k(self.X, self.times, A, s)
        return self.k(A, s, A, s) - across.T @ np.linalg.solve(K, across)


def run(belief, events, rng, most=16):
    """Arrivals, some labelled with own noises, told late and out of order, some withdrawn."""
    belief.watch(most)
    dense, waiting, told = Dense(belief), [], []
    for i in range(events):
        x = belief.point(rng.random(belief.dim))
        view = belief.look(x) if i % 3 else None  # replay knows no views
        belief.arrive(x, view)
        if rng.random() < 0.6:
            noise_std = [None, 0.1, 0.8][i % 3]
            belief.ask(str(i), x, view, noise_std)
            dense.ask(x, i + 1.0, noise_std)
            waiting.append((str(i), x))
        while waiting and rng.random() < 0.5:
            id, at = waiting.pop(rng.integers(len(waiting)))
            belief.tell(id, at, float(rng.normal()))
            told.append((id, at))
        if waiting and rng.random() < 0.1:
            _withdraw(belief, dense, *waiting.pop(), None)
        if told and rng.random() < 0.1:
            _withdraw(belief, dense, *told.pop(rng.integers(len(told))), 0.0)
    return dense


def _withdraw(belief, dense, id, x, y):
    belief.withdraw(id, x, y)
    dense.forget(int(np.flatnonzero((x == dense.X).all(axis=1))[0]))


SMOOTH = SquaredExponential(lengthscale=(1.0, 2.0))
BELIEFS = {
    "exact": {"kernel": KERNEL},
    "matern": {"kernel": Matern(1.5, lengthscale=(0.5, 0.9))},
    "fading": {"kernel": KERNEL, "forgetting": 12.0},
    "dictionary": {"kernel": SMOOTH, "capacity": "auto", "tolerance": 1e-10},
}


@pytest.fixture(params=BELIEFS)
def belief(request, monkeypatch):
    monkeypatch.setattr("breakeven.beliefs.gp.capacity.FIRST_DICTIONARY", 12)
    return GaussianProcess(2, NOISE, **BELIEFS[request.param])


@pytest.mark.parametrize("seed", range(6))
def test_savings_are_those_of_dense_matrices(belief, seed):
    rng = np.random.default_rng(seed)
    dense = run(belief, 60, rng)
    reservoir = belief.solver.reservoir
    kept = reservoir.points[:, :2]
    clock = 60.0
    assert 8 <= reservoir.size <= 16
    for _ in range(5):
        x = rng.random(2)
        for noise_std in (0.05, NOISE, 2.0):
            saving = belief.look(x).saves(noise_std)
            A = np.vstack([kept, x])
            times = np.full(len(A), clock + 1.0)  # of the round in which somebody asks
            covariance = dense.covariance(A, times)
            s, c = np.sqrt(np.diag(covariance)), covariance[-1]
            after = np.sqrt(s**2 - c**2 / (s[-1] ** 2 + noise_std**2))
            drop = sqrt(2 / pi) * (s - after)
            assert saving.here == pytest.approx(drop[-1], rel=1e-6)
            assert saving.later == pytest.approx(drop.mean(), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_views_and_predictions_are_those_of_dense_matrices(belief, seed):
    rng = np.random.default_rng(seed)
    dense = run(belief, 50, rng)
    x = rng.random(2)
    expected = sqrt(dense.covariance(x[None], np.array([51.0]))[0, 0])
    assert belief.look(x).uncertainty == pytest.approx(expected, rel=1e-6)


def test_the_reservoir_is_an_even_sample_of_the_arrivals():
    reservoir = Reservoir(1, EvenSample(100))
    for i in range(10_000):
        if reservoir.admits():
            reservoir.add(np.array([float(i)]), np.empty(0), np.empty(0), 1.0)
    times = np.sort(reservoir.points[:, 0])
    assert 50 <= reservoir.size <= 100
    assert np.diff(times).max() < 4 * 10_000 / reservoir.size
    for period in (2, 7, 24, 64):
        share = np.bincount(times.astype(int) % period, minlength=period) / reservoir.size
        assert share.max() < 3.5 / period


def test_a_label_from_another_labeller_counts_with_that_noise():
    asked, other = (GaussianProcess(1, 0.5, SquaredExponential(0.3)) for _ in range(2))
    for belief, expected, real in ((asked, 0.9, 0.05), (other, 0.05, None)):
        for i in range(4):
            belief.ask(str(i), np.array([0.1 * i]), None, expected)
        for i in (2, 0, 3, 1):
            belief.tell(str(i), np.array([0.1 * i]), float(i), real)
    got, wanted = asked.predict(np.array([0.15])), other.predict(np.array([0.15]))
    assert got.mean == pytest.approx(wanted.mean, rel=1e-10)
    assert got.std == pytest.approx(wanted.std, rel=1e-10)


def test_labels_of_known_noise_keep_theirs_in_a_fit():
    rng = np.random.default_rng(0)
    X = rng.random((60, 1))
    f = np.sin(6 * X[:, 0])
    noise = np.where(np.arange(60) % 2, 0.02, 1.0)
    belief = GaussianProcess(1, 0.5, fit="growing", mean="fit")
    for x, y, s in zip(X, f + noise * rng.standard_normal(60), noise, strict=True):
        belief.learn(x, float(y), noise_std=float(s))
    belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(0)))
    errors = [abs(belief.predict(x).mean - np.sin(6 * x[0])) for x in rng.random((50, 1))]
    assert np.mean(errors) < 0.02


def test_old_labels_are_dropped_and_may_still_be_corrected_and_withdrawn():
    learner = Learner(
        GaussianProcess(1, 0.1, SquaredExponential(0.5), forgetting=2.0), Value(horizon=1000), label_cost=0.1
    )
    asked = []
    for i in range(300):
        decision = learner.decide([i % 7 / 7])
        if decision.wants_label:
            learner.tell(decision.id, 1.0)
            asked.append(decision.id)
    assert len(asked) > 100
    assert learner.belief.labels < 90
    before = learner.predict([0.3])
    learner.correct(asked[0], 5.0)
    learner.withdraw(asked[1])
    assert learner.predict([0.3]) == before


def test_a_faded_process_is_as_unsure_as_at_first():
    belief = GaussianProcess(1, 0.1, SquaredExponential(0.5, amplitude=4.0), forgetting=5.0)
    x = belief.point(0.5)
    belief.arrive(x)
    belief.learn(x, 3.0)
    fresh = belief.predict(x).std
    for _ in range(200):
        belief.arrive(x)
    assert fresh < 0.2
    assert belief.predict(x).std == pytest.approx(2.0, rel=1e-6)


def test_fading_parameters_are_kept_and_read_back():
    parameters = Parameters(KERNEL, 0.1, 2.0, half_life=7.0)
    assert Parameters.of(parameters.plain()) == parameters


@pytest.mark.parametrize("noise_std", [0.05, 2.0])
def test_a_label_that_is_the_answer_saves_its_whole_expected_error(belief, noise_std):
    belief.watch(4)
    view = belief.look(np.array([0.2, 0.4]))
    expected = sqrt(2 / pi) * np.hypot(view.uncertainty, noise_std)
    assert view.saves(noise_std).outright == pytest.approx(expected)


def test_a_label_with_hardly_any_noise_is_no_trouble():
    belief = GaussianProcess(1, 1.0, SquaredExponential(1.0, amplitude=1e4))
    for i in range(80):
        belief.learn(np.array([i / 80]), float(np.sin(i / 10)), noise_std=1e-6)
    assert belief.predict(np.array([0.5])).mean == pytest.approx(np.sin(4.0), abs=1e-2)


@pytest.mark.parametrize("feature", [0.1, 1e6 + 0.1])
def test_a_feature_that_does_not_vary_has_an_ordinary_lengthscale(feature):
    arrivals = np.column_stack([np.linspace(0, 1, 7), np.full(7, feature)])
    assert Prior().centre(arrivals)[1] == pytest.approx(2.0)


def test_a_process_that_forgets_is_fitted_again_as_labels_come_and_go():
    belief = GaussianProcess(1, 0.1, mean="fit", fit="growing", prior=Prior(), forgetting=5.0)
    learner, random = Learner(belief, Value(), label_cost=0.05), np.random.default_rng(0)
    fits, events = [], []
    learner.listen(lambda event: events.append(type(event).__name__))
    for i in range(600):
        x = random.random()
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, np.sin(6 * x) + (50.0 if i >= 300 else 0.0))
        fits.append(events.count("Fitted"))
    assert fits[-1] > fits[320] > fits[300]
    assert abs(learner.predict(0.5).mean - 50.0) < 5.0


def test_a_label_told_long_after_its_arrival_is_as_old_as_that():
    late, asked = (GaussianProcess(1, 0.1, SquaredExponential(0.5), forgetting=10.0) for _ in range(2))
    x = np.array([0.5])
    late.arrive(x)
    asked.arrive(x)
    asked.ask("1", x)
    for belief in (late, asked):
        for _ in range(30):
            belief.arrive(x)
    assert late.learn(x, 3.0, "1", age=30).std == pytest.approx(asked.tell("1", x, 3.0).std)


def test_parameters_of_another_half_life_are_refused():
    belief = GaussianProcess(1, 0.1, fit="growing", forgetting=10.0)
    before = belief.state()
    with pytest.raises(InvalidInput, match="half_life"):
        belief.adopt(Parameters(SquaredExponential((1.0,)), 0.1).plain())
    assert belief.state() == before


def test_withdrawn_labels_call_for_another_fit():
    belief = GaussianProcess(1, 0.1, mean="fit", fit="growing", prior=Prior())
    for i in range(40):
        belief.learn(np.array([i / 40]), 1000.0 * i, str(i))
    belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(0)))
    for i in range(39):
        belief.withdraw(str(i), np.array([i / 40]), 1000.0 * i)
    belief.learn(np.array([0.3]), 1.0, "new")
    assert belief.fit_due(warm=True)


@pytest.mark.parametrize("reservoir", [1, 2, 3, 7])
def test_a_restored_learner_values_labels_to_the_bit(reservoir):
    learner = Learner(
        GaussianProcess(2, 0.1, SquaredExponential(0.4)), Value(300, reservoir=reservoir), label_cost=2.0
    )
    random = np.random.default_rng(1)
    for x in random.random((60, 2)):
        learner.decide(x)  # labels are awaited
    twin = Learner.restore(learner.snapshot())
    for x in random.random((40, 2)):
        assert learner.decide(x) == twin.decide(x)
