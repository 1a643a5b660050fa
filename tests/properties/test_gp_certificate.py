"""The dictionary's certificate on random streams: the exact std always lies in the band."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import cho_factor, cho_solve

from breakeven import Matern, SquaredExponential
from breakeven.beliefs.gp import Parameters
from breakeven.beliefs.gp.dictionary import Certificate, DictionarySolver

ROUNDING = 1e-11  # of the amplitude, in the variance
LENGTHSCALES, AMPLITUDES = st.floats(0.3, 3.0), st.floats(0.2, 4.0)
SMOOTHNESS = st.sampled_from([0.5, 0.8, 1.5, 2.5, 4.0])
KERNELS = st.one_of(
    st.builds(SquaredExponential, LENGTHSCALES, AMPLITUDES),
    st.builds(Matern, SMOOTHNESS, LENGTHSCALES, AMPLITUDES),
)
STREAMS = st.fixed_dictionaries(
    {
        "dim": st.integers(1, 9),
        "parameters": st.builds(Parameters, KERNELS, st.floats(0.03, 1.0), st.floats(-2.0, 2.0)),
        "tolerance": st.sampled_from([1e-10, 1e-6, 1e-3, 0.03, 0.3, 0.9]),
        "seed": st.integers(0, 2**32 - 1),
    }
)

EVENTS = ["tell", "wait", "correct", "withdraw", "forget"]


class Stream:
    """Labels asked for, told, corrected and withdrawn at random, clustered so that some are absorbed."""

    def __init__(self, dim, parameters, tolerance, seed):
        self.dictionary = DictionarySolver(dim, parameters, tolerance)
        self.told, self.awaited = {}, {}
        self._random = np.random.default_rng(seed)
        self._centres = self._random.normal(size=(4, dim))
        self._count = 0

    def point(self):
        centre = self._centres[self._random.integers(4)]
        return centre + self._random.choice([0.0, 0.01, 0.3, 1.0]) * self._random.normal(size=len(centre))

    def probes(self):
        """Points near and far, and some that labels were asked for at."""
        asked = [*self.awaited.values(), *(x for x, _ in self.told.values())]
        return np.array([self.point() for _ in range(4)] + asked[:1] + asked[-2:])

    def step(self):
        self._count += 1
        x, id = self.point(), str(self._count)
        self.dictionary.ask(id, x, self.dictionary.solve(x))
        self.awaited[id] = x
        match self._random.choice(EVENTS, p=[0.6, 0.2, 0.1, 0.06, 0.04]):
            case "tell":
                self._tell()
            case "correct" if self.told:
                id, y = self._any(self.told), self._random.normal()
                self.told[id] = (self.told[id][0], y)
                self.dictionary.correct(id, y)
            case "withdraw":
                id = self._any(self.awaited)
                del self.awaited[id]
                self.dictionary.withdraw_awaited(id)
            case "forget" if self.told:
                id = self._any(self.told)
                del self.told[id]
                self.dictionary.withdraw_told(id)

    def _tell(self):
        id, y = self._any(self.awaited), self._random.normal()
        self.told[id] = (self.awaited.pop(id), y)
        self.dictionary.tell(id, y)

    def _any(self, labels):
        return list(labels)[self._random.integers(len(labels))]


def exact(parameters, points, probes, ys=None):
    """Variances and, given ys, means at the probes by a dense solve; and (y − m)ᵀM⁻¹(y − m)."""
    kernel, n = parameters.kernel, len(points)
    if n == 0:
        return np.full(len(probes), kernel.amplitude), np.full(len(probes), parameters.mean), 0.0
    factor = cho_factor(kernel(points, points) + parameters.noise_variance * np.eye(n))
    k = kernel(points, probes)
    variances = kernel.amplitude - (k * cho_solve(factor, k)).sum(axis=0)
    if ys is None:
        return variances, None, None
    apart = np.array(ys) - parameters.mean
    solved = cho_solve(factor, apart)
    return variances, parameters.mean + k.T @ solved, apart @ solved


def outside(certificate, variance, true_variance, amplitude):
    """Whether the exact variance lies outside the band around an approximate one."""
    low, high = certificate.band(sqrt(variance))
    slack = ROUNDING * amplitude
    return not low**2 - slack <= true_variance <= high**2 + slack


@given(STREAMS)
def test_the_exact_std_lies_in_the_band_at_every_stage(settings):
    stream = Stream(**settings)
    parameters, dictionary = settings["parameters"], stream.dictionary
    amplitude = parameters.kernel.amplitude
    for _ in range(30):
        stream.step()
        probes, certificate = stream.probes(), dictionary.certificate
        told = [x for x, _ in stream.told.values()]
        given_told, _, _ = exact(parameters, told, probes)
        given_asked, _, _ = exact(parameters, told + list(stream.awaited.values()), probes)
        for x, variance, narrowed in zip(probes, given_told, given_asked, strict=True):
            solved = dictionary.solve(x)
            assert not outside(certificate, solved.variance, variance, amplitude)
            assert not outside(certificate, solved.narrowed, narrowed, amplitude)


@given(STREAMS)
def test_the_mean_is_off_by_kappa_stds_at_most_for_labels_a_std_from_the_prior(settings):
    stream = Stream(**settings)
    for _ in range(20):
        stream.step()
    probes, parameters = stream.probes(), settings["parameters"]
    points, ys = [x for x, _ in stream.told.values()], [y for _, y in stream.told.values()]
    _, means, distance = exact(parameters, points, probes, ys)
    kappa = stream.dictionary.certificate.kappa
    for x, mean in zip(probes, means, strict=True):
        solved = stream.dictionary.solve(x)
        assert abs(solved.mean - mean) <= kappa * sqrt(solved.variance * distance) + 1e-8


@given(STREAMS)
def test_a_decision_is_the_exact_one_unless_it_is_ambiguous(settings):
    stream = Stream(**settings)
    parameters, dictionary = settings["parameters"], stream.dictionary
    for _ in range(12):
        stream.step()
        probes = stream.probes()
        points = [x for x, _ in stream.told.values()] + list(stream.awaited.values())
        stds = np.sqrt(np.maximum(exact(parameters, points, probes)[0], 0.0))
        for x, std in zip(probes, stds, strict=True):
            ours = sqrt(dictionary.solve(x).narrowed)
            for threshold in (0.5 * std, 0.98 * std, 1.02 * std, 2.0 * std):
                alike = (ours > threshold) == (std > threshold)
                assert alike or dictionary.certificate.ambiguous(ours, threshold)


@pytest.mark.parametrize("first_is_withdrawn", [False, True])
def test_half_of_kappa_would_be_too_little(first_is_withdrawn):
    parameters, points = Parameters(SquaredExponential(), noise_std=0.03), np.array([[0.0], [0.6]])
    dictionary = DictionarySolver(1, parameters, tolerance=0.5)
    for i, x in enumerate(points):
        dictionary.ask(str(i), x, dictionary.solve(x))
    if first_is_withdrawn:
        dictionary.withdraw_awaited("0")
    probes = np.linspace(-1.0, 2.0, 61)[:, None]
    true, _, _ = exact(parameters, points[int(first_is_withdrawn) :], probes)
    ratios = np.sqrt(true / [dictionary.solve(x).narrowed for x in probes])
    farthest = ratios.max() if first_is_withdrawn else 1.0 / ratios.min()
    kappa = dictionary.certificate.kappa
    assert dictionary.rank == 1
    assert Certificate(0.5 * kappa).stretch < farthest <= Certificate(kappa).stretch
