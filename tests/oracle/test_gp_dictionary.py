"""The dictionary against the exact posterior: equal where nothing is lost, and stable."""

from copy import deepcopy
from math import sqrt

import msgspec
import numpy as np
import pytest

from breakeven import Matern, SquaredExponential
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.dictionary import LEAST_TOLERANCE, DictionarySolver
from breakeven.beliefs.gp.exact import ExactSolver
from breakeven.errors import InvalidInput

NOISE_STD = 0.2
CASES = {
    "se-1d": (1, SquaredExponential(0.3, 2.0)),
    "se-2d": (2, SquaredExponential((0.5, 0.8))),
    "se-9d": (9, SquaredExponential(3.0, 2.0)),
    "matern-0.5": (2, Matern(0.5, 0.7, 2.0)),
    "matern-1.5": (3, Matern(1.5, (0.5, 1.0, 2.0))),
    "matern-2.5": (1, Matern(2.5, 1.5, 2.0)),
    "matern-1.1": (2, Matern(1.1, 0.8)),
}
cases = pytest.mark.parametrize(("dim", "kernel"), CASES.values(), ids=CASES)
PARAMETERS = Parameters(SquaredExponential(0.5), NOISE_STD, 1.0)


def data(n, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, dim))
    return X, 3.0 + np.sin(3.0 * X.sum(axis=1)) + NOISE_STD * rng.normal(size=n)


def ask(solver, id, x, noise=0.0):
    solver.ask(str(id), x, solver.solve(x), noise)


def learn(solver, id, x, y, noise=0.0):
    ask(solver, id, x, noise)
    return solver.tell(str(id), y)


def own_noise(i):
    """Every third label has a noise of its own; 0 stands for that of the process."""
    return 0.0 if i % 3 else 4.0 * NOISE_STD**2


def taught(solver, X, y):
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        learn(solver, i, x, label, own_noise(i))
    return solver


def answers(solver, probes):
    """Means, stds and narrowed stds."""
    solved = [solver.solve(x) for x in probes]
    return np.array([(one.mean, sqrt(one.variance), sqrt(one.narrowed)) for one in solved])


def close(value, rel=1e-6):
    return pytest.approx(value, rel=rel)


class Both:
    """A dictionary and the exact posterior, told the same."""

    def __init__(self, dim, parameters, tolerance=LEAST_TOLERANCE):
        self.solvers = [DictionarySolver(dim, parameters, tolerance), ExactSolver(dim, parameters)]

    def agree(self, probes):
        ours, theirs = self.solvers
        assert answers(ours, probes) == close(answers(theirs, probes))
        assert ours.log_likelihood() == close(theirs.log_likelihood())
        means, variances = ours.solve_many(probes)
        assert np.array([means, np.sqrt(variances)]) == close(answers(ours, probes)[:, :2].T, 1e-9)
        assert (ours.labels, ours.awaited) == (theirs.labels, theirs.awaited)
        assert sorted(map(str, ours.keys.all)) == sorted(map(str, theirs.keys.all))
        assert sorted(ours.y) == sorted(theirs.y)
        assert np.sort(ours.X, axis=0) == close(np.sort(theirs.X, axis=0))

    def ask(self, id, x):
        for solver in self.solvers:
            ask(solver, id, x, own_noise(id))

    def tell(self, id, y):
        ours, theirs = (solver.tell(str(id), y) for solver in self.solvers)
        assert ours == close(theirs)

    def __getattr__(self, verb):
        return lambda *given: [getattr(solver, verb)(*given) for solver in self.solvers]


@cases
def test_where_nothing_is_lost_it_says_what_the_exact_posterior_says(dim, kernel):
    X, y = data(70, dim)
    both = Both(dim, Parameters(kernel, NOISE_STD, 3.0))
    probes = np.vstack([data(20, dim, seed=1)[0], X[:3]])
    both.agree(probes)
    for i, x in enumerate(X):
        both.ask(i, x)
        both.tell(i, y[i])
    both.agree(probes)
    ours, theirs = (solver.block(probes) for solver in both.solvers)
    assert (ours.means, ours.variances) == (close(theirs.means), close(theirs.variances, 2e-6))


@cases
def test_labels_late_out_of_order_corrected_and_withdrawn_lead_to_the_same_as_exactly(dim, kernel):
    X, y = data(60, dim)
    both, rng = Both(dim, Parameters(kernel, NOISE_STD, 3.0)), np.random.default_rng(2)
    probes = np.vstack([data(10, dim, seed=1)[0], X[:3]])
    waiting, told = [], []
    for i, x in enumerate(X):
        both.ask(i, x)
        waiting.append(i)
        while len(waiting) > 9:
            told.append(waiting.pop(int(rng.integers(len(waiting)))))
            both.tell(told[-1], y[told[-1]])
        match i % 12:
            case 5:
                both.withdraw_awaited(str(waiting.pop(int(rng.integers(len(waiting))))))
            case 8 if told:
                both.correct(str(told[int(rng.integers(len(told)))]), float(rng.normal()))
            case 11 if told:
                both.withdraw_told(str(told.pop(int(rng.integers(len(told))))))
        if i % 6 == 5:
            both.agree(probes)
    both.adopt(Parameters(Matern(2.5, 0.9, 3.0), 0.5, 2.0))
    both.agree(probes)
    for i in waiting:
        both.tell(i, y[i])
    both.agree(probes)


@pytest.mark.parametrize("tolerance", [1e-6, 0.1])
def test_a_label_late_in_coming_changes_no_uncertainty(tolerance):
    X, y = data(120)
    prompt, late = (DictionarySolver(2, PARAMETERS, tolerance) for _ in range(2))
    probes, waiting = data(5, seed=1)[0], []
    for i, x in enumerate(X):
        learn(prompt, i, x, y[i])
        ask(late, i, x)
        waiting.append(i)
        if len(waiting) == 15:
            for j in np.random.default_rng(i).permutation(waiting):
                late.tell(str(j), y[j])
            waiting.clear()
        assert late.rank == prompt.rank
        assert late.certificate.kappa == close(prompt.certificate.kappa, 1e-12)
        assert answers(late, probes)[:, 2] == close(answers(prompt, probes)[:, 2], 1e-10)
    assert prompt.rank < 120
    assert answers(late, probes) == close(answers(prompt, probes), 1e-9)


@pytest.mark.parametrize("tolerance", [1e-8, 0.05, 0.5])
@pytest.mark.parametrize("awaited", [0, 7])
def test_a_block_narrows_as_the_loop_does(tolerance, awaited):
    X, y = data(124)
    dictionary = taught(DictionarySolver(2, PARAMETERS, tolerance), X[:50], y[:50])
    for i in range(50, 50 + awaited):
        ask(dictionary, i, X[i])
    arrivals = X[60:]
    block = dictionary.block(arrivals)
    for i, x in enumerate(arrivals):
        solved = dictionary.solve(x)
        assert block.means[i] == close(solved.mean, 1e-9)
        assert block.variances[i] == close(solved.variance, 1e-9)
        assert block.narrowed[i] == close(solved.narrowed, 1e-9)
        if i % 3 == 0:
            block.ask(i)
            dictionary.ask(f"asked {i}", x, solved)


def test_a_told_label_that_goes_leaves_no_trace():
    X, y = data(80)
    dictionary = taught(DictionarySolver(2, PARAMETERS, 1e-3), X, y)
    rest = [i for i in range(80) if i != 17]
    dictionary.withdraw_told("17")
    without = DictionarySolver(2, PARAMETERS, 1e-3)
    for i in rest:
        learn(without, i, X[i], y[i], own_noise(i))
    assert dictionary.state() == without.state()


def test_an_awaited_label_that_goes_gives_its_certainty_back():
    X, y = data(80)
    dictionary = taught(DictionarySolver(2, PARAMETERS, 1e-3), X[:40], y[:40])
    ask(dictionary, "kept", X[40])
    before, probes = deepcopy(dictionary), data(9, seed=1)[0]
    for i in range(41, 80):
        ask(dictionary, i, X[i])
    for i in range(41, 80):
        dictionary.withdraw_awaited(str(i))
    assert answers(dictionary, probes) == close(answers(before, probes), 1e-9)
    assert dictionary.certificate.kappa == close(before.certificate.kappa)
    dictionary.withdraw_awaited("kept")
    assert answers(dictionary, probes)[:, 1].tolist() == answers(dictionary, probes)[:, 2].tolist()


def test_a_correction_moves_means_as_if_the_label_had_been_right_at_once():
    X, y = data(100)
    wrong = np.where(np.arange(100) % 7 == 0, 50.0, y)
    dictionary = taught(DictionarySolver(2, PARAMETERS, 1e-2), X, wrong)
    right = taught(DictionarySolver(2, PARAMETERS, 1e-2), X, y)
    probes = data(9, seed=1)[0]
    stds = answers(dictionary, probes)[:, 1:].tolist()
    for i in range(0, 100, 7):
        dictionary.correct(str(i), y[i])
    assert answers(dictionary, probes) == close(answers(right, probes), 1e-9)
    assert answers(dictionary, probes)[:, 1:].tolist() == stds
    assert dictionary.log_likelihood() == close(right.log_likelihood(), 1e-9)


@pytest.mark.parametrize("copied", ["stored", "copied"])
@pytest.mark.parametrize("awaited", [0, 6])
def test_a_stored_dictionary_goes_on_with_the_same_bits(copied, awaited):
    X, y = data(140)
    one = taught(DictionarySolver(2, PARAMETERS, 1e-4), X[:90], y[:90])
    for i in range(90, 90 + awaited):
        ask(one, i, X[i])
    other = deepcopy(one)
    if copied == "stored":
        other = DictionarySolver(2, PARAMETERS, 1e-4)
        other.load(msgspec.msgpack.decode(msgspec.msgpack.encode(one.state())), PARAMETERS)
    assert other.state() == one.state()
    for i in range(100, 140):
        assert answers(one, X[i : i + 1]).tolist() == answers(other, X[i : i + 1]).tolist()
        assert learn(one, i, X[i], y[i]) == learn(other, i, X[i], y[i])
    for solver in (one, other):
        solver.correct("3", 1.5)
        solver.withdraw_told("4")
    assert other.state() == one.state()


@pytest.mark.parametrize(
    "make", [lambda: DictionarySolver(2, PARAMETERS, 1e-4), lambda: ExactSolver(2, PARAMETERS)]
)
@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda solver, probe: solver.solve(probe),
        lambda solver, probe: solver.block(probe[None]),
        lambda solver, probe: solver.correct("3", 9.0),
        lambda solver, probe: solver.state(),
    ],
    ids=["look", "look-at-many", "correct", "store"],
)
@pytest.mark.parametrize("point", [30, 3], ids=["new", "known"])
def test_what_is_done_between_asking_and_telling_leaves_the_bits_of_before_both(make, meanwhile, point):
    X, y = data(32)
    before, between = (taught(make(), X[:30], y[:30]) for _ in range(2))
    meanwhile(before, X[31])
    ask(before, 30, X[point])
    ask(between, 30, X[point])
    meanwhile(between, X[31])
    assert before.tell("30", 2.0) == between.tell("30", 2.0)
    assert before.state() == between.state()


def test_the_dictionary_stops_growing_and_the_labels_do_not():
    rng = np.random.default_rng(0)
    dictionary, ranks = DictionarySolver(1, Parameters(SquaredExponential(0.2), 0.1), 1e-6), []
    for i, x in enumerate(rng.uniform(size=(1500, 1))):
        learn(dictionary, i, x, 0.0)
        ranks.append(dictionary.rank)
    assert ranks[299] > ranks[4] == 5
    assert ranks[-1] - ranks[299] <= 1
    assert ranks[-1] < 20
    assert dictionary.labels == 1500


@pytest.mark.parametrize("noise_std", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("tolerance", [LEAST_TOLERANCE, 1e-6, 0.5])
def test_one_point_labelled_a_thousand_times_stays_stable(tolerance, noise_std):
    dictionary, n = DictionarySolver(1, Parameters(SquaredExponential(), noise_std), tolerance), 1000
    x, variance = np.full(1, 0.3), noise_std**2
    for i in range(n):
        mean, _ = learn(dictionary, i, x, 2.0)
    solved = dictionary.solve(x)
    assert dictionary.rank == 1
    assert mean == close(2.0 * n / (n + variance))
    assert solved.variance == pytest.approx(variance / (n + variance), rel=1e-3)
    low, high = dictionary.certificate.band(sqrt(solved.variance))
    assert low <= sqrt(variance / (n + variance)) <= high


def test_with_hardly_any_noise_the_certificate_says_that_nothing_is_certain():
    parameters = Parameters(SquaredExponential(), noise_std=1e-9)
    dictionary, posterior = DictionarySolver(1, parameters), ExactSolver(1, parameters)
    points = np.linspace(0.0, 1.0, 60)[:, None]
    for solver in (dictionary, posterior):
        taught(solver, points, np.ones(60))
    ours, theirs = answers(dictionary, points), answers(posterior, points)
    assert ours[:, 0] == pytest.approx(1.0, abs=1e-3)
    assert dictionary.certificate.kappa > 100
    assert (theirs[:, 1] <= ours[:, 1] * dictionary.certificate.stretch).all()


@pytest.mark.parametrize("tolerance", [LEAST_TOLERANCE, 1e-9, 1e-8])
def test_points_hardly_apart_keep_their_certificate(tolerance):
    parameters = Parameters(SquaredExponential(), 0.1)
    dictionary, posterior = DictionarySolver(1, parameters, tolerance), ExactSolver(1, parameters)
    points = 0.3 + np.geomspace(1e-12, 1e-1, 200)[:, None]
    for solver in (dictionary, posterior):
        taught(solver, points, np.cos(points[:, 0]))
    probes = np.array([[0.3], [0.35], [0.5], [1.0], [3.0]])
    ours, theirs = answers(dictionary, probes), answers(posterior, probes)
    stretch = dictionary.certificate.stretch
    assert stretch < 1.0 + 2e-3
    assert (np.abs(np.log(ours[:, 1] / theirs[:, 1])) <= np.log(stretch)).all()
    assert ours[:, 0] == pytest.approx(theirs[:, 0], abs=1e-3)


@pytest.mark.parametrize("tolerance", [0.0, 1e-11, 1.5, -1.0, float("nan"), "small"])
def test_a_tolerance_that_rounding_would_drown_is_refused(tolerance):
    with pytest.raises(InvalidInput, match="tolerance: expected a number from 1e-10 to 1, got"):
        DictionarySolver(1, PARAMETERS, tolerance)


def test_under_the_model_means_differ_by_kappa_stds_at_most():
    X, _ = data(14)
    probes, kernel = data(6, seed=1)[0], PARAMETERS.kernel
    parameters = Parameters(kernel, NOISE_STD)
    M = kernel(X, X) + parameters.noise_variance * np.eye(14)
    exact = np.linalg.solve(M, kernel(X, probes))
    dictionaries = [taught(DictionarySolver(2, parameters, 0.1), X, unit) for unit in np.eye(14)]
    ours = np.array([[one.solve(x).mean for x in probes] for one in dictionaries])
    spread = np.sqrt(np.einsum("ij,ik,kj->j", ours - exact, M, ours - exact))
    stds = answers(dictionaries[0], probes)[:, 1]
    assert (spread <= dictionaries[0].certificate.kappa * stds).all()
    assert spread.max() > 0.01
