"""Theorem 2: what every algorithm must lose, in expectation, on the worst problem over K types.

One measured loss below these numbers is no contradiction.
Never labelling and answering ½ loses at most M_k/2, less than what is printed while M_k < σ²B/8. With the two
means of the proof kept within [0, 1] it gives the lesser of the printed term and 3M_k/16: the corrected form.
Notation: M_k arrivals of type k, T rounds, K types, B label_cost, σ noise_std.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.theory.arrivals import counted, even_split
from breakeven.theory.forms import Form, is_corrected


def lower_bound(
    arrivals: Sequence[float], *, label_cost: float, noise_std: float, form: Form = "corrected"
) -> float:
    """Least expected loss on the worst problem with these arrivals.

    >>> lower_bound([1000, 8, 0], label_cost=1, noise_std=1)
    26.0
    >>> lower_bound([1], label_cost=1000, noise_std=1)  # printed: 2.5
    0.1875
    """
    return float(_least(counted(arrivals), label_cost, noise_std, form).sum())


def worst_case_lower_bound(
    types: int, rounds: int, *, label_cost: float, noise_std: float, form: Form = "corrected"
) -> float:
    """Least expected loss on the worst problem and the worst arrivals.

    Printed, every type has T/K arrivals; corrected, the whole numbers nearest to that.

    >>> worst_case_lower_bound(8, 8000, label_cost=1, noise_std=1)
    200.0
    """
    T, K = expect.whole("rounds", rounds, least=1), expect.whole("types", types, least=1)
    if is_corrected(form):
        return lower_bound(even_split(K, T), label_cost=label_cost, noise_std=noise_std)
    return K * float(_least(np.array(T / K), label_cost, noise_std, form))  # Cor. 2


def _least(
    arrivals: NDArray[np.float64], label_cost: float, noise_std: float, form: Form
) -> NDArray[np.float64]:
    B, sigma = expect.positive("label_cost", label_cost), expect.positive("noise_std", noise_std)
    least: NDArray[np.float64] = np.cbrt(sigma**2 * B) * np.cbrt(arrivals) ** 2 / 4  # Thm 2
    return np.minimum(least, 3 / 16 * arrivals) if is_corrected(form) else least
