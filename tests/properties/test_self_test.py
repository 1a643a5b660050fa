"""The evidence against a belief that is right never grows on average, and seldom ever becomes large."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta, norm

from breakeven.theory.self_test import BETA_SHAPES, CLIPPED, FALSE_ALARMS, SelfTest, beta_densities, waiting

PLACES = st.floats(0.0, 1.0)
STREAMS, LABELS = 1000, 400


def after(ranks, test=None):
    return reduce(SelfTest.plus, ranks, SelfTest() if test is None else test)


@given(st.floats(CLIPPED, 1.0 - CLIPPED))
def test_densities_are_those_of_beta_distributions(u):
    np.testing.assert_allclose(beta_densities(u), [beta.pdf(u, a, b) for a, b in BETA_SHAPES], rtol=1e-9)


@given(st.lists(PLACES, max_size=12))
def test_one_more_label_leaves_the_evidence_as_it_is_on_average(ranks):
    """Exactly for the densities; a rank too near to an end is moved inwards, which only lowers it."""
    test, inner = after(ranks), (CLIPPED, 1.0 - CLIPPED)
    between = quad(lambda u: test.plus(u).evidence, *inner, points=(0.01, 0.99), limit=200)[0]
    ends = CLIPPED * sum(test.plus(u).evidence for u in inner)
    cut = sum(beta.cdf(CLIPPED, a, b) + beta.sf(1.0 - CLIPPED, a, b) for a, b in BETA_SHAPES)
    assert between + ends <= test.evidence * (1.0 + 1e-6)
    assert between + ends >= test.evidence * (1.0 - 1e-6 - cut)


@given(st.lists(PLACES, min_size=1, max_size=30))
def test_it_is_the_average_over_all_restarts(ranks):
    """As written down: every restart, with its weight, bets on all labels after it."""
    u = np.clip(ranks, CLIPPED, 1.0 - CLIPPED)
    n, b = len(u), np.array([beta.pdf(u, a, b) for a, b in BETA_SHAPES])
    bets = [b[:, r:].prod(axis=1).mean() * ((r + 1) ** -0.5 - (r + 2) ** -0.5) for r in range(n)]
    assert after(ranks).evidence == pytest.approx(sum(bets) + (n + 1) ** -0.5, rel=1e-9)


@given(st.lists(PLACES, min_size=1, max_size=30))
def test_the_suspicion_is_that_of_the_best_moment_to_begin(ranks):
    """Of all moments so far the one from which on a quarter would have become most, for each density."""
    u = np.clip(ranks, CLIPPED, 1.0 - CLIPPED)
    b = np.array([beta.pdf(u, a, a) for a in (0.3, 0.5, 0.7)])
    most = np.max([b[:, r:].prod(axis=1) for r in range(len(u))], axis=0)
    assert after(ranks).suspicion == pytest.approx(most.mean() / 4.0, rel=1e-9)


def test_late_changes_are_found_almost_as_soon_as_early_ones():
    """Thirty labels shifted by one and a half deviations refute a belief, however many suited it before."""
    rng = np.random.default_rng(2)
    good, shifted = rng.random((20, 1000)), norm.cdf(1.5 + rng.standard_normal((20, 30)))
    for before in (20, 300, 1000):
        found = [after(bad, after(fine[:before])) for fine, bad in zip(good, shifted, strict=True)]
        assert np.mean([one.refutes for one in found]) >= 0.9, before
    assert sum(waiting(n) - waiting(n + 1) for n in range(10**5)) < 1.0


def test_a_shift_that_stays_inside_what_was_claimed_is_not_suspect():
    """It costs little, so no coin falls more often for it, though in the end it refutes the belief."""
    test = after([0.35] * 60)
    assert test.refutes
    assert test.suspicion < 1.0
    assert after([0.0005], after([0.5] * 60)).suspicion > 1.0


@given(st.lists(PLACES, max_size=30))
def test_the_spread_is_that_of_the_labels(ranks):
    z = norm.ppf(np.clip(ranks, CLIPPED, 1.0 - CLIPPED))
    assert after(ranks).spread == pytest.approx(np.sqrt(np.mean(z**2)) if ranks else 1.0, rel=1e-9)


def test_all_tests_together_spend_no_more_than_there_is():
    test, spent = SelfTest(), 0.0
    for _ in range(10_000):
        spent += 1.0 / test.limit
        test = test.next()
    assert 0.999 * FALSE_ALARMS < spent < FALSE_ALARMS


def test_evidence_grows_where_the_belief_is_wrong():
    rng = np.random.default_rng(0)
    found = {}
    for name, shift, scale in (("too sure", 0.0, 2.0), ("too low", 1.0, 1.0), ("too high", -1.0, 1.0)):
        ranks = norm.cdf(shift + scale * rng.standard_normal((40, 100)))
        found[name] = np.mean([after(stream).refutes for stream in ranks])
    assert min(found.values()) > 0.9, found


@pytest.mark.slow
def test_few_streams_are_ever_alarmed_where_the_belief_is_right():
    """Ville's inequality, for the first test: α/2 of the streams at most."""
    rng, alarmed = np.random.default_rng(1), 0
    for _ in range(STREAMS):
        test = SelfTest()
        for u in rng.random(LABELS):
            test = test.plus(u)
            if test.refutes:
                alarmed += 1
                break
    allowed = FALSE_ALARMS / 2
    assert alarmed <= STREAMS * allowed + 2 * np.sqrt(STREAMS * allowed)
