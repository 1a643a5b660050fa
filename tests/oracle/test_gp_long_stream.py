"""A long stream under the paper's rule: what the dictionary decides, the exact process decides too.

The exact one has the same labels. `make proof` takes the first 20,000 arrivals, every other run 2,000.
"""

from functools import cache
from math import sqrt

import numpy as np
from hypothesis import settings

from breakeven import GaussianProcess, Learner, SquaredExponential, Threshold, simulate
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.exact import ExactSolver

ARRIVALS = 20_000 if settings().max_examples >= 1000 else 2_000
NOISE_STD = 0.1
KERNEL = SquaredExponential(lengthscale=0.2)
BLOCK = 64


def arrivals():
    random = np.random.default_rng(0)
    X = random.random((ARRIVALS, 2))
    return X, np.sin(3.0 * X.sum(axis=1)) + NOISE_STD * random.standard_normal(ARRIVALS)


@cache
def replayed():
    belief = GaussianProcess(2, NOISE_STD, KERNEL, capacity="auto")
    learner = Learner(belief, Threshold(), label_cost=1.0)
    return learner, simulate(learner, *arrivals())


@cache
def exact_stds():
    """Of the exact process that is told the labels which the replay bought."""
    (X, y), (_, trace) = arrivals(), replayed()
    posterior, stds = ExactSolver(2, Parameters(KERNEL, NOISE_STD)), []
    for low in range(0, ARRIVALS, BLOCK):
        block = posterior.block(X[low : low + BLOCK])
        for i in range(low, min(low + BLOCK, ARRIVALS)):
            stds.append(sqrt(block.narrowed[i - low]))
            if trace.wants_label[i]:
                posterior.ask(str(i), X[i], posterior.solve(X[i]))
                posterior.tell(str(i), float(y[i]))
                block.tell(i - low, float(y[i]))
    return np.array(stds)


def test_every_decision_is_that_of_the_exact_process_unless_it_is_counted_ambiguous():
    learner, trace = replayed()
    differs = trace.wants_label != (exact_stds() > trace.threshold)
    assert not (differs & ~trace.ambiguous).any()
    assert learner.summary().ambiguous == trace.ambiguous.sum() < 0.2 * ARRIVALS


def test_every_exact_std_lies_within_the_stretch_of_its_round():
    _, trace = replayed()
    ratio = exact_stds() / trace.uncertainty
    assert (np.abs(np.log(ratio)) <= np.log(trace.stretch) + 1e-9).all()
    assert (np.abs(ratio - 1.0)[trace.exact] <= 1e-9).all()


def test_the_dictionary_took_over_and_stayed_small():
    learner, trace = replayed()
    first = trace.exact.tolist().index(False)
    assert first < ARRIVALS
    assert not trace.exact[first:].any()
    assert learner.summary().belief["dictionary"] < 0.4 * trace.wants_label.sum()
    assert trace.stretch[-1] < 1.01
