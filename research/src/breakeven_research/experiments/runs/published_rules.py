"""Rules published since 2023, adapted to this loss: they run beside, on the belief of the learner under test.

Each is written from its abstract and from the formula that others cite, so it may differ from what its
authors ran. None counts what a label saves later, so what each compares with the price has a free factor:
the table takes the best factor in hindsight. `Ensemble` brings a belief of its own.
"""

from math import log1p

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from breakeven.errors import expect
from breakeven.rules import Rule
from breakeven.rules.rule import while_noise_is_unknown
from breakeven.values import Verdict, View
from breakeven_research.experiments.runs.rivals import decided
from breakeven_research.experiments.runs.trials import Curve

Array = NDArray[np.float64]


class Market(Rule):
    """OVBAL of QueryMarket (arXiv 2606.17805): buy iff η·½·log(1 + σ²/noise²) exceeds the price.

    That is D-optimality with a price; its forgetting and its rolling budget are left out.

    >>> Market(eta=2.0).eta
    2.0
    """

    eta: float = 1.0

    def __post_init__(self) -> None:
        self.eta = expect.positive("eta", self.eta)

    def decide(self, view: View) -> Verdict:
        """Compare the information of the label with its price."""
        waiting = while_noise_is_unknown(view)
        if waiting is not None:
            return waiting
        ratio = view.uncertainty / view.traits.noise_std
        return Verdict(self.eta * 0.5 * log1p(ratio**2) > view.price)


class Selective(Rule):
    """Selective sampling via online regression (Sekhari et al., NeurIPS 2023): label iff √β·σ exceeds ε.

    ε is what labels have cost an arrival so far, this one included: then spending balances the errors that
    are accepted, as their choice of ε does.

    >>> Selective(root_beta=2.0).asked
    0
    """

    root_beta: float = 1.0
    asked: int = 0

    def __post_init__(self) -> None:
        self.root_beta = expect.positive("root_beta", self.root_beta)

    def decide(self, view: View) -> Verdict:
        """Compare the width of the belief with what is spent an arrival."""
        waiting = while_noise_is_unknown(view)
        if waiting is not None:
            return waiting
        accepted = view.price * (self.asked + 1) / view.round
        return Verdict(self.root_beta * view.uncertainty > accepted)

    def observe(self, *, labelled: bool) -> None:
        """Count the labels."""
        self.asked += labelled

    def fresh(self) -> None:
        """None yet."""
        self.asked = 0


# -- an ensemble of processes --------------------------------------------------------------------------------


FIRST = 5  # arrivals that are labelled in any case
LENGTHS, NOISES = (0.3, 0.6, 1.2, 2.5), (0.01, 0.1, 0.5)  # in √(2d) spreads of the inputs; of the amplitude
MOST = 300  # labels; more are not bought


class Ensemble:
    """EGP-AL (openreview nuUwMrkme2): processes weighted by evidence; label where their densities differ.

    Each has its lengthscale and its noise, with an amplitude of the labels' own variance. Their difference is
    the mean Kullback–Leibler divergence from each member's density of the label to that of the mixture; once
    the labels speak for one member it vanishes, and nothing more is bought.
    """

    def __init__(self, dim: int) -> None:
        self._members = [(length * np.sqrt(2 * dim), noise) for length in LENGTHS for noise in NOISES]

    def learn(self, points: Array, labels: Array) -> None:
        """Take up all labels, anew."""
        self._middle, self._width = points.mean(axis=0), np.maximum(points.std(axis=0), 1e-12)
        self._mean, self._scale = float(labels.mean()), max(float(labels.std()), 1e-12)
        self._points, y = self._units(points), (labels - self._mean) / self._scale
        gaps = _square_gaps(self._points, self._points)
        self._solved, evidence = [], []
        for length, noise in self._members:
            factor = cho_factor(np.exp(-gaps / (2 * length**2)) + noise * np.eye(len(y)), lower=True)
            weights = cho_solve(factor, y)
            self._solved.append((factor[0], weights))
            evidence.append(-0.5 * y @ weights - np.log(np.diag(factor[0])).sum())
        chances = np.exp(np.array(evidence) - max(evidence))
        self._weights = chances / chances.sum()

    def look(self, point: Array) -> tuple[float, float]:
        """The answer at a point, and how much the members' densities differ there."""
        gaps = _square_gaps(self._points, self._units(point[None, :]))[:, 0]
        means, variances = np.empty(len(self._members)), np.empty(len(self._members))
        for i, ((length, noise), (factor, weights)) in enumerate(
            zip(self._members, self._solved, strict=True)
        ):
            k = np.exp(-gaps / (2 * length**2))
            v = solve_triangular(factor, k, lower=True, check_finite=False)
            means[i], variances[i] = k @ weights, max(1.0 - v @ v, 0.0) + noise
        mean = float(self._weights @ means)
        variance = float(self._weights @ (variances + (means - mean) ** 2))
        apart = 0.5 * (np.log(variance / variances) + (variances + (means - mean) ** 2) / variance - 1.0)
        return self._mean + self._scale * mean, float(self._weights @ apart)

    def _units(self, points: Array) -> Array:
        scaled: Array = (points - self._middle) / self._width
        return scaled


def _square_gaps(a: Array, b: Array) -> Array:
    gaps: Array = np.maximum((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T, 0.0)
    return gaps


def ensemble_run(points: Array, labels: Array, limit: float) -> Curve:
    """The stream through an ensemble that labels where its members differ by more than the limit."""
    ensemble, asked, answers = Ensemble(points.shape[1]), np.zeros(len(labels), bool), np.zeros(len(labels))
    for t in range(len(labels)):
        if t >= FIRST:
            answers[t], apart = ensemble.look(points[t])
            asked[t] = apart > limit and asked.sum() < MOST
        asked[t] |= t < FIRST
        if asked[t] and t >= FIRST - 1:
            ensemble.learn(points[asked], labels[asked])
    return decided(asked, answers, labels)
