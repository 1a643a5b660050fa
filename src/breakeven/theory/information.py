"""Information gain: how much n labels can tell about the function.

The gain of a set of points is ½ log det(I + σ⁻²K); γ_n is its maximum over n points, repetition allowed.
Here the points come from stated candidates: a bound over these is none over the whole domain.
Notation: K kernel matrix, σ noise_std, n labels, d dim, ν smoothness.
"""

from math import e, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.errors.expect import Array


class GainPath(NamedTuple):
    """Points chosen one after the other, and the gain of the first 1, 2, … of them."""

    chosen: NDArray[np.intp]
    gains: Array


def information_gain(kernel_matrix: Any, *, noise_std: float) -> float:
    """Information that labels at the points of this matrix give.

    >>> round(information_gain([[1.0]], noise_std=1.0), 4)
    0.3466
    """
    K, sigma = _kernel_matrix(kernel_matrix), expect.positive("noise_std", noise_std)
    try:
        factor = np.linalg.cholesky(np.eye(len(K)) + K / sigma**2)
    except np.linalg.LinAlgError:
        expect.refuse("kernel_matrix", "a matrix with no negative eigenvalue", kernel_matrix)
    return float(np.log(np.diag(factor)).sum())  # eq. (mig), summed over i


def greedy_information_gain(kernel_matrix: Any, n: int, *, noise_std: float) -> GainPath:
    """Choose n candidates, each time the most uncertain one.

    >>> path = greedy_information_gain([[1.0, 0.0], [0.0, 1.0]], 3, noise_std=1.0)
    >>> path.chosen.tolist(), path.gains.round(4).tolist()
    ([0, 1, 0], [0.3466, 0.6931, 0.8959])
    """
    K, noise = _kernel_matrix(kernel_matrix), expect.positive("noise_std", noise_std) ** 2
    steps = expect.whole("n", n, least=1)
    variance = np.diag(K).copy()
    columns, chosen, gains = np.empty((steps, len(K))), np.empty(steps, dtype=np.intp), np.empty(steps)
    for i in range(steps):
        best = chosen[i] = int(variance.argmax())
        gains[i] = 0.5 * np.log1p(variance[best] / noise)  # eq. (mig), one term
        rest = K[best] - columns[:i, best] @ columns[:i]
        columns[i] = rest / np.sqrt(variance[best] + noise)
        variance = np.maximum(variance - columns[i] ** 2, 0.0)  # eq. (gp_update_sigma)
    return GainPath(chosen, gains.cumsum())


def information_gain_bound(kernel_matrix: Any, n: int, *, noise_std: float) -> Array:
    """Upper bounds of γ_1 … γ_n over these candidates, from the greedy path.

    The gain is monotone and submodular, so greedy reaches 1 − 1/e of the maximum.

    >>> information_gain_bound([[1.0]], 2, noise_std=1.0).round(4).tolist()
    [0.5483, 0.869]
    """
    return greedy_information_gain(kernel_matrix, n, noise_std=noise_std).gains / (1 - 1 / e)


def information_gain_rate_se(n: int, dim: int) -> float:
    """Growth rate of γ_n, squared exponential kernel, constants left out.

    >>> round(information_gain_rate_se(100, 1), 3)
    21.208
    """
    return log(expect.whole("n", n, least=1)) ** (expect.whole("dim", dim, least=1) + 1)  # eq. (migsematern)


def information_gain_rate_matern(n: int, dim: int, *, smoothness: float) -> float:
    """Growth rate of γ_n, Matérn kernel, constants left out.

    >>> round(information_gain_rate_matern(100, 1, smoothness=1.5), 3)
    29.057
    """
    n, d = expect.whole("n", n, least=1), expect.whole("dim", dim, least=1)
    power = d * (d + 1) / (2 * expect.positive("smoothness", smoothness) + d * (d + 1))
    return float(n**power * log(n))  # eq. (migsematern), Matérn


def _kernel_matrix(value: Any) -> Array:
    expected = "a symmetric matrix of finite numbers, its diagonal not negative"
    K = expect.numbers("kernel_matrix", value, expected)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        expect.refuse("kernel_matrix", "a square matrix", f"an array of shape {K.shape}")
    if not (np.isfinite(K).all() and np.allclose(K, K.T) and (np.diag(K) >= 0).all()):
        expect.refuse("kernel_matrix", expected, value)
    return K
