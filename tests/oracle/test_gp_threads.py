"""Learners in several threads have one BLAS thread between them, and the bits they have alone."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from breakeven import GaussianProcess, Learner, SquaredExponential, Threshold, Value
from breakeven.beliefs import untuned
from breakeven.beliefs.gp.blas import LIMIT, limited, one_thread

CONTROLLER = ThreadpoolController()


def threads():
    """Of every BLAS, NumPy's and SciPy's."""
    return [one["num_threads"] for one in CONTROLLER.select(user_api="blas").info()]


@pytest.fixture
def two():
    """Two threads, unless somebody limits them."""
    with one_thread():
        libraries = [limit for _, limit in LIMIT.libraries]
    before = threads()
    for limit in libraries:
        limit(2)
    if threads() != [2] * len(before):
        pytest.skip("this BLAS cannot have two threads")
    yield 2
    for limit, count in zip(libraries, before, strict=True):
        limit(count)


def test_there_is_one_thread_inside_and_the_number_of_before_outside(two):
    with one_thread():
        assert set(threads()) == {1}
        with one_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert set(threads()) == {two}


def test_an_error_inside_puts_the_threads_back(two):
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert set(threads()) == {two}


def test_the_last_of_several_threads_to_leave_puts_them_back(two):
    entered, leave, left = Event(), Event(), Event()

    def stay():
        with one_thread():
            entered.set()
            leave.wait(10.0)
        left.set()

    Thread(target=stay).start()
    assert entered.wait(10.0)
    with one_thread():
        assert set(threads()) == {1}
    assert set(threads()) == {1}  # the other is still at work
    leave.set()
    assert left.wait(10.0)
    assert set(threads()) == {two}


def test_small_work_is_not_limited():
    assert not isinstance(limited(100), one_thread)
    assert isinstance(limited(10_000), one_thread)


def stream(n, dim, seed):
    X = np.random.default_rng(seed).uniform(size=(n, dim))
    return X, np.sin(4.0 * X.sum(axis=1))


def exact(seed):
    belief = GaussianProcess(2, 0.1, SquaredExponential(0.05))
    learner = Learner(belief, Threshold(1e-6), label_cost=1.0)
    X, y = stream(700, 2, seed)
    for x, label in zip(X[:600], y, strict=False):
        learner.learn(x, label)
    decisions = learner.decide_many(X[600:650])
    for decision, label in zip(decisions[::-1], y, strict=False):
        learner.tell(decision.id, label)
    learner.withdraw(decisions[0].id)
    return learner.snapshot(), learner.predict_many(X[650:])


def dictionary(seed):
    belief = GaussianProcess(2, 0.1, SquaredExponential(0.08), capacity="auto")
    learner = Learner(belief, Threshold(0.2), label_cost=1.0)
    X, y = stream(900, 2, seed)
    for x, label in zip(X, y, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, label)
    return learner.snapshot(), learner.predict_many(X[:50])


def worth(seed):
    learner = Learner(untuned(3), Value(), label_cost=0.3)
    X, y = stream(200, 3, seed)
    for x, label in zip(X, y, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, label)
    return learner.snapshot(), learner.predict_many(X[:50])


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(exact, id="exact"),
        pytest.param(dictionary, id="dictionary"),
        pytest.param(worth, id="value and fits", marks=pytest.mark.slow),
    ],
)
def test_learners_in_several_threads_have_the_bits_they_have_alone(work, two):
    with one_thread():
        alone = [work(seed) for seed in range(2)]
    assert [work(seed) for seed in range(2)] == alone  # two threads allowed, nobody else at work
    together, barrier = 4, Barrier(4)

    def run(i):
        barrier.wait(30.0)
        return work(i % 2)

    with ThreadPoolExecutor(together) as pool:
        assert list(pool.map(run, range(together))) == [alone[i % 2] for i in range(together)]
    assert set(threads()) == {two}
