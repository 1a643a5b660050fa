"""Labels out of order and withdrawn cost a fraction of a factorisation, in CPU time, and stay exact."""

from time import process_time

import msgspec
import numpy as np
import pytest
from scipy.linalg.lapack import dpotrf

from breakeven.beliefs.gp import Parameters, SquaredExponential
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.gp.exact import ExactSolver

N = 2000
PARAMETERS = Parameters(SquaredExponential((0.3, 0.3)), noise_std=0.1)
X = np.random.default_rng(0).random((N, 2))
Y = np.sin(4.0 * X.sum(axis=1))


def covariance(points):
    return PARAMETERS.kernel(points, points) + PARAMETERS.noise_variance * np.eye(len(points))


def cpu(work, times=3):
    """The least CPU seconds of some tries."""
    seconds = []
    for _ in range(times):
        begin = process_time()
        work()
        seconds.append(process_time() - begin)
    return min(seconds)


@pytest.fixture(scope="module")
def factorisation():
    K = np.asfortranarray(covariance(X))
    with one_thread():
        return cpu(lambda: dpotrf(K, lower=1))


def awaiting():
    """A solver that awaits 2,000 labels."""
    solver = ExactSolver(2, PARAMETERS)
    solver.load(
        solver.state()
        | {
            "awaited": list(range(N)),
            "awaited_points": X.tobytes(),
            "awaited_noise": [0.0] * N,
            "R": np.linalg.cholesky(covariance(X)).tobytes(),
        },
        PARAMETERS,
    )
    return solver


def test_a_label_told_out_of_order_among_2000_awaited_costs_a_fifth_of_a_factorisation(factorisation):
    solver = awaiting()
    late = iter((1990, 1700, 1400))
    assert cpu(lambda: solver.tell(next(late), 1.0)) <= 0.2 * factorisation
    assert solver.awaited == N - 3
    told, rest = [1990, 1700, 1400], [i for i in range(N) if i not in (1990, 1700, 1400)]
    K, cross = covariance(X[told]), PARAMETERS.kernel(X[told], X[rest])
    left = covariance(X[rest]) - cross.T @ np.linalg.solve(K, cross)
    R = np.frombuffer(solver.state()["R"]).reshape(N - 3, N - 3)
    assert np.abs(R @ R.T - left).max() < 1e-12


def test_a_told_label_withdrawn_at_2000_costs_half_a_factorisation(factorisation):
    solver = ExactSolver(2, PARAMETERS)
    with one_thread():
        for i in range(N):
            solver.ask(i, X[i], solver.solve(X[i]))
            solver.tell(i, Y[i])
    gone = iter((0, 3, 600))
    assert cpu(lambda: solver.withdraw_told(next(gone))) <= 0.5 * factorisation
    rest = [i for i in range(N) if i not in (0, 3, 600)]
    weights = np.linalg.solve(covariance(X[rest]), PARAMETERS.kernel(X[rest], X[:5]))
    means = [solver.solve(x).mean for x in X[:5]]
    assert means == pytest.approx(Y[rest] @ weights, abs=1e-9)


def test_the_same_labels_out_of_order_give_the_same_bits():
    states = []
    for _ in range(2):
        solver = ExactSolver(2, PARAMETERS)
        for i in range(120):
            solver.ask(i, X[i], solver.solve(X[i]))
        for i in (100, 3, 50, 119, 0):
            solver.tell(i, Y[i])
        solver.withdraw_awaited(70)
        solver.withdraw_told(50)
        states.append(msgspec.msgpack.encode(solver.state()))
    assert states[0] == states[1]


def test_other_parameters_at_100_labels_cost_little_more_than_a_factorisation():
    solver, parameters = ExactSolver(2, PARAMETERS), PARAMETERS
    for i in range(100):
        solver.ask(i, X[i], solver.solve(X[i]))
        solver.tell(i, Y[i])

    def adopt():
        for _ in range(20):
            solver.adopt(parameters)

    def dense():
        for _ in range(20):
            dpotrf(covariance(X[:100]), lower=1)

    assert cpu(adopt, times=5) <= 3.0 * cpu(dense, times=5)
