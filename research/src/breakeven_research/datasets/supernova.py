"""The astronomy streams: how likely 192 supernovae are, given three constants of the universe.

The points are (H0, Ωm, ΩΛ): the Hubble constant in km/s/Mpc, the shares of dark matter and of dark energy.
The published figures have the data rows (z, μ, error) in their place; both readings are here.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.errors import expect
from breakeven.planning.streams import Stream
from breakeven_research.datasets.files import SUPERNOVA, contents
from breakeven_research.datasets.synthetic import generator, legacy

Array = NDArray[np.float64]

LIGHT_SPEED = 299792.48  # km/s, as the simulator has it
LEAST_LOG_LIKELIHOOD = -1000.0
LOW, HIGH = (60.0, 0.0, 0.0), (80.0, 1.0, 1.0)  # of H0, Ωm, ΩΛ
SUPERNOVA_NOISE_STD = 10.0
ROUNDS = 192
NODES = 32  # the integrand has no singularity near: 1e-15 at the redshifts of the data


def read_supernovae() -> Array:
    """The 192 rows (redshift z, distance modulus μ, error of μ); raises what `locate` raises.

    >>> from breakeven_research.datasets import SUPERNOVA, verify
    >>> not verify()[1].ok or read_supernovae().shape == (192, 3)
    True
    """
    lines = contents(SUPERNOVA).decode("ascii").splitlines()
    return np.array([line.split() for line in lines], dtype=np.float64)


def distance_modulus(H0: float, dark_matter: float, dark_energy: float, redshifts: Any) -> Array:
    """The brightness to expect: μ(z) = 5 log₁₀ D + 25, with D(z) = c(1+z)/H0·∫₀^z du/E(u) in Mpc.

    E²(u) = r(1+u)⁴ + Ωm(1+u)³ + ΩΛ, and r = max(0, 1 − Ωm − ΩΛ).

    >>> distance_modulus(70.0, 0.3, 0.7, [0.5]).round(4).tolist()
    [42.2612]
    """
    H0, z = expect.positive("H0", H0), _positive("redshifts", expect.vector("redshifts", redshifts))
    matter, energy = _share("dark_matter", dark_matter), _share("dark_energy", dark_energy)
    radiation = max(0.0, 1 - matter - energy)
    nodes, weights = _quadrature()
    a = 1 + z[:, None] * nodes
    integral = z * ((radiation * a**4 + matter * a**3 + energy) ** -0.5 @ weights)
    modulus: Array = 5 * np.log10(LIGHT_SPEED * (1 + z) / H0 * integral) + 25
    return modulus


def log_likelihood(H0: float, dark_matter: float, dark_energy: float, supernovae: Any) -> float:
    """The mean log-likelihood of the supernovae, each of at least −1000.

    The published simulator takes the logarithm of a density, so a density that is 0 in float64 counts as
    −1000, and just above that digits are lost. Both show in its labels: the order of the divisions matters.

    >>> round(log_likelihood(70.0, 0.3, 0.7, [[0.5, 42.3, 0.2]]), 4)
    0.6717
    """
    z, mu, error = _rows(supernovae).T
    gaps = (mu - distance_modulus(H0, dark_matter, dark_energy, z)) / _positive("errors", error)
    with np.errstate(under="ignore", divide="ignore"):
        densities = np.exp(-(gaps**2) / 2) / np.sqrt(2 * np.pi) / error
        logs = np.maximum(np.log(densities), LEAST_LOG_LIKELIHOOD)
    return float(logs.mean())


def log_likelihoods(points: Any, supernovae: Any) -> Array:
    """`log_likelihood` at rows (H0, Ωm, ΩΛ).

    >>> log_likelihoods([[70.0, 0.3, 0.7], [60.0, 1.0, 0.0]], [[0.5, 42.3, 0.2]]).round(4).tolist()
    [0.6717, 0.5583]
    """
    rows = expect.matrix("points", points, 3)
    return np.array([log_likelihood(H0, matter, energy, supernovae) for H0, matter, energy in rows.tolist()])


def supernova_stream(*, seed: int, points_seed: int = 0, supernovae: Any = None) -> Stream:
    """As the text has it: 192 points spread evenly over H0 in [60, 80], Ωm and ΩΛ in [0, 1].

    `points_seed` draws the points, `seed` the noise, in which trials differ.

    >>> stream = supernova_stream(seed=1, supernovae=[[0.5, 42.3, 0.2]])
    >>> stream.points.shape, stream.noise_std, bool(stream.points[:, 0].min() >= 60)
    ((192, 3), 10.0, True)
    """
    data = read_supernovae() if supernovae is None else supernovae
    points = generator("points", points_seed, "points_seed").uniform(LOW, HIGH, (ROUNDS, 3))
    truth = log_likelihoods(points, data)
    return _stream(points, truth, generator("noise", seed).standard_normal(ROUNDS), "text")


def supernova_figures_trials(*, trials: int = 5, supernovae: Any = None) -> list[Stream]:
    """The published streams: the data rows in file order as if they were (H0, Ωm, ΩΛ).

    One `RandomState(0)` draws the noise of one trial after the other.

    >>> stream = supernova_figures_trials(trials=1, supernovae=[[0.426, 41.98, 0.23]])[0]
    >>> stream.points.tolist(), stream.truth.round(4).tolist()
    ([[0.426, 41.98, 0.23]], [-402.1001])
    """
    data = _rows(read_supernovae() if supernovae is None else supernovae)
    truth, random = log_likelihoods(data, data), legacy("seed", 0)
    noises = [random.normal(size=len(data)) for _ in range(expect.whole("trials", trials))]
    return [_stream(data, truth, noise, "figures") for noise in noises]


@cache
def _quadrature() -> tuple[Array, Array]:
    """Gauss–Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2


def _rows(supernovae: Any) -> Array:
    rows = expect.matrix("supernovae", supernovae, 3)
    if not len(rows):
        expect.refuse("supernovae", "one row at least", "none", described=True)
    return rows


def _share(name: str, value: Any) -> float:
    share = expect.finite(name, value)
    if share < 0:
        expect.refuse(name, "a share that is not negative", value)
    return share


def _positive(name: str, column: Array) -> Array:
    if not (column > 0).all():
        expect.refuse(name, "numbers above zero", float(column.min()))
    return column


def _stream(points: Array, truth: Array, noise: Array, reading: str) -> Stream:
    labels = truth + noise * SUPERNOVA_NOISE_STD
    return Stream(points, labels, truth, SUPERNOVA_NOISE_STD, f"supernova-{reading}")
