"""What Algorithm 1 runs with, and the two counts from which its bounds are made.

Notation: B label_cost, σ noise_std, λ threshold_scale, δ delta, M_k arrivals and u_k labels of type k.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.theory.forms import Form, is_corrected
from breakeven.theory.thresholds import confidence_spread


class Setting(NamedTuple):
    """Label cost, noise, threshold scale, and whether label counts are rounded up."""

    label_cost: float
    noise_std: float
    threshold_scale: float
    corrected: bool

    def label_rate(self, labels: float, delta: float) -> float:
        """Give u_k / M_k^⅔, when `labels` are bought of all types."""
        spread = confidence_spread(self.noise_std, labels, delta)
        rate: float = spread * self.threshold_scale**-2 * self.label_cost ** (-2 / 3)  # proof of Thm 1
        return rate

    def loss(self, arrivals: NDArray[np.float64], rounds: float, delta: float) -> float:
        """Bound the loss for these arrivals of the types seen."""
        growth = arrivals ** (2 / 3)
        labels = self.label_rate(rounds, delta) * growth
        return self.bill(float((np.ceil(labels) if self.corrected else labels).sum()), float(growth.sum()))

    def bill(self, labels: float, growth: float) -> float:
        """Charge B + 1 for each label, and the thresholds of the rounds without; growth is Σ M_k^⅔."""
        skipped: float = 1.5 * self.threshold_scale * self.label_cost ** (1 / 3) * growth
        return (self.label_cost + 1) * labels + skipped  # Thm 1


def setting_of(
    label_cost: float, noise_std: float, threshold_scale: float, form: Form = "corrected"
) -> Setting:
    """Check what Algorithm 1 runs with; print covers no scale but 1.

    >>> setting_of(10, 0.1, 1).label_cost
    10.0
    """
    if not is_corrected(form) and threshold_scale != 1:
        expect.refuse("threshold_scale", "1, as the printed theorem covers no other", threshold_scale)
    return Setting(
        expect.positive("label_cost", label_cost),
        expect.positive("noise_std", noise_std),
        expect.positive("threshold_scale", threshold_scale),
        is_corrected(form),
    )
