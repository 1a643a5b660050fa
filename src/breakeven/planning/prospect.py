"""What kind of stream is expected: what labels and errors cost in it, draws of it, and what the paper proves.

Streams of types: means even over [0, 1], all types equally likely. Streams of numbers: arrivals even over the
unit cube, and f a draw of the process, of variance 1 everywhere. Yes/no labels say yes as often as numbers
even over [0, 2·share] say: one for each type, or at each place the one that lies as far up as the draw does.

What is proven is in money; errors are against f, at labelled arrivals, too. Theorem 3 is about one f, and
asks for its norm and for noise that never exceeds σ. A draw of the process has no norm, but only its values
at the arrivals matter: the smoothest function through T of them has norm √T on average, which is used here.
Notation: T rounds, B price, σ noise_std, n labels, d dim, γ_n the most information that n labels can give.
"""

from functools import partial
from math import ceil, isnan, nan, sqrt
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import force_setattr, replace
from numpy.typing import NDArray

from breakeven import theory
from breakeven.beliefs.gp import SMOOTHNESS, Kernel, KernelName, Matern, kernel_named
from breakeven.beliefs.types.shares import LABEL_STD
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.planning.streams import Stream
from breakeven.theory.type_bounds import ZETA_3, discrete_setting
from breakeven.values import ErrorCosts, Labeller, Offer, best_offer

BOUND_FAILS = 0.05  # the probability with which a bound does not hold
MOST_NUMBERS, MOST_TYPES, MOST_DIM = 10_000_000, 1_000_000, 100
WAVES = 1_000  # whose sum is a function
POINTS_AT_ONCE = 1_000
GRIDS_TRIED = 200  # for a bound on information


class Prospect(msgspec.Struct, frozen=True, kw_only=True):
    """How many types there are, or how many numbers an arrival has; rounds, costs and noise.

    With a `share` labels are yes or no, and that part of them yes.

    >>> Prospect(types=10, rounds=1000, cost=10.0, noise_std=0.5).price
    10.0
    """

    rounds: int
    cost: float
    noise_std: float = nan  # not needed with a share
    types: int | None = None
    dim: int | None = None
    kernel: KernelName = "se"
    lengthscale: float = 0.5
    error_cost: float | None = None
    under_cost: float | None = None
    over_cost: float | None = None
    miss_cost: float | None = None
    false_alarm_cost: float | None = None
    share: float | None = None
    budget: float | None = None
    per: tuple[float, int] | None = None
    audit: float | None = None
    forgetting: float | None = None
    labellers: dict[str, Labeller] = {}
    trials: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.types is None) == (self.dim is None):
            expect.refuse("types, dim", "one of the two", f"{self.types}, {self.dim}", described=True)
        if self.labellers:
            self._check_labellers()
        self._check_limits()
        if self.share is not None:
            self._check_share(self.share)
        for name in ("cost", "noise_std", "lengthscale"):
            expect.positive(name, getattr(self, name))
        self.errors  # noqa: B018  (refuses costs that contradict each other)
        for name in ("rounds", "trials", "types" if self.dim is None else "dim"):
            expect.whole(name, getattr(self, name), least=1)
        expect.one_of("kernel", self.kernel, SMOOTHNESS)
        expect.whole("seed", self.seed)
        self._check_size()

    def _check_share(self, share: float) -> None:
        """Yes/no labels have no noise of their own."""
        if not 0.0 < expect.finite("share", share) <= 0.5:
            expect.refuse("share", "a number above 0, up to 0.5 (of two answers name the rarer yes)", share)
        if not isnan(self.noise_std) and self.noise_std != LABEL_STD:
            came = self.noise_std
            expect.refuse("noise_std", "none beside a share: yes/no labels have no other noise", came)
        force_setattr(self, "noise_std", LABEL_STD)

    def _check_labellers(self) -> None:
        """Labellers have their own noise, and numbers for labels."""
        if self.share is not None:
            expect.refuse(
                "labeller", "none beside a share: yes/no labels have no other noise", list(self.labellers)
            )
        if isnan(self.noise_std):
            force_setattr(self, "noise_std", self.asked.noise_std)

    def _check_limits(self) -> None:
        """A budget, an audit and a half-life, where they are wanted."""
        for name in ("budget", "forgetting"):
            if getattr(self, name) is not None:
                force_setattr(self, name, expect.positive(name, getattr(self, name)))
        if self.audit is not None:
            expect.probability("audit", self.audit, open=True)
        if self.forgetting is not None and self.dim is not None:
            expect.refuse(
                "forgetting", "none beside dim: the average of many models has no half-life", self.forgetting
            )

    @property
    def asked(self) -> Offer:
        """The labeller who gives most information for the money."""
        return best_offer(
            Offer(one.cost, one.noise_std, name, one.cost) for name, one in self.labellers.items()
        )

    @property
    def can_pay(self) -> bool:
        """Whether the budget pays for a label at all."""
        least = min((one.cost for one in self.labellers.values()), default=self.cost)
        limits = (self.budget, None if self.per is None else self.per[0])
        return all(money is None or money >= least for money in limits)

    def check_money(self) -> None:
        """Raise unless the budget pays for at least one label."""
        if not self.can_pay:
            money = self.budget if self.per is None else self.per
            expect.refuse("budget", f"at least {self.cost:g}, the cost of one label", money)

    def at_cost(self, factor: float) -> "Prospect":
        """The same, with every label at `factor` times its cost."""
        dearer = {name: replace(one, cost=factor * one.cost) for name, one in self.labellers.items()}
        return replace(self, cost=factor * self.cost, labellers=dearer)

    def _check_size(self) -> None:
        limits = (
            ("types", MOST_TYPES, "what is known of each is held in memory"),
            ("dim", MOST_DIM, "beyond these a process learns nothing"),
            ("rounds", MOST_NUMBERS // (self.dim or 1), "a stream is held in memory"),
        )
        for name, most, why in limits:
            if (getattr(self, name) or 0) > most:
                expect.refuse(name, f"{most:,} at most: {why}", getattr(self, name))

    @property
    def delta(self) -> float:
        """The δ of the paper at which its bounds hold with 95%."""
        return BOUND_FAILS if self.types is None else BOUND_FAILS / (ZETA_3 * self.types)  # Thm 1, corrected

    @property
    def errors(self) -> ErrorCosts:
        """What errors cost."""
        uneven = self.under_cost, self.over_cost, self.miss_cost, self.false_alarm_cost
        return ErrorCosts.checked(self.error_cost, *uneven)

    @property
    def price(self) -> float:
        """What a label costs in units of error."""
        return self.cost / self.errors.unit

    @property
    def function_kernel(self) -> Kernel:
        """The kernel that functions are drawn from."""
        return kernel_named(self.kernel, self.lengthscale)


# -- streams -------------------------------------------------------------------------------------------


def stream_of(prospect: Prospect, trial: int) -> Stream:
    """The stream of this trial."""
    random = np.random.default_rng([prospect.seed, trial])
    points, truth = _types(prospect, random) if prospect.dim is None else _numbers(prospect, random)
    if prospect.share is not None:
        labels = (random.random(prospect.rounds) < truth).astype(float)
    else:
        labels = truth + prospect.noise_std * random.standard_normal(prospect.rounds)
    return Stream(points, labels, truth, prospect.noise_std, "a plan")


def _types(prospect: Prospect, random: np.random.Generator) -> tuple[NDArray[Any], Array]:
    assert prospect.types is not None
    points = random.integers(prospect.types, size=prospect.rounds)
    widest = 1.0 if prospect.share is None else 2.0 * prospect.share
    return points, widest * random.random(prospect.types)[points]


def _numbers(prospect: Prospect, random: np.random.Generator) -> tuple[NDArray[Any], Array]:
    assert prospect.dim is not None
    points = random.random((prospect.rounds, prospect.dim))
    values = function_values(prospect.function_kernel, points, random)
    if prospect.share is not None:
        from scipy.special import ndtr  # slow to import

        values = 2.0 * prospect.share * ndtr(values)
    return points, values


def function_values(kernel: Kernel, points: Array, random: np.random.Generator) -> Array:
    """A draw of the process at these points: waves of frequencies from its spectrum, heights normal."""
    waves = kernel.frequencies(WAVES, points.shape[1], random).T
    even, odd = np.sqrt(kernel.amplitude / WAVES) * random.standard_normal((2, WAVES))
    values = np.empty(len(points))
    for low in range(0, len(points), POINTS_AT_ONCE):
        phase = points[low : low + POINTS_AT_ONCE] @ waves
        values[low : low + POINTS_AT_ONCE] = np.cos(phase) @ even + np.sin(phase) @ odd
    return values


# -- what is proven ------------------------------------------------------------------------------------


class Proven(msgspec.Struct, frozen=True, kw_only=True):
    """The most labels and the largest total, and the least total that any rule has on the worst problem.

    That last one is None where nothing is proven.
    """

    labels: float
    total: float
    least_total: float | None = None


def proven(prospect: Prospect) -> Proven | None:
    """What holds with a probability of 95%; None of yes/no labels of rows, as shares are no draw."""
    if prospect.share is not None and prospect.types is None:
        return None
    found = _of_types(prospect, prospect.types) if prospect.types is not None else _of_numbers(prospect)
    least, unit = found.least_total, prospect.errors.unit
    return Proven(
        labels=min(found.labels, float(prospect.rounds)),
        total=unit * found.total,
        least_total=None if least is None else unit * least,
    )


def _of_types(prospect: Prospect, types: int) -> Proven:
    """Theorems 1 and 2, however arrivals are split among types."""
    T, K, B, sigma, delta = prospect.rounds, types, prospect.price, prospect.noise_std, prospect.delta
    seen = min(K, T)
    rate = discrete_setting(B, sigma, threshold_scale=1.0).label_rate(T, delta)
    return Proven(
        labels=ceil(rate * seen * (T / seen) ** (2 / 3)) + seen - 1,  # no split has more
        total=theory.worst_case_upper_bound(K, T, label_cost=B, noise_std=sigma, delta=delta),
        least_total=theory.worst_case_lower_bound(K, T, label_cost=B, noise_std=sigma),
    )


def _of_numbers(prospect: Prospect) -> Proven:
    """Theorem 3."""
    T, d, kernel, sigma = prospect.rounds, prospect.dim, prospect.function_kernel, prospect.noise_std
    assert d is not None
    if isinstance(kernel, Matern):
        steep = theory.matern_lipschitz(kernel.smoothness, prospect.lengthscale)
        labels = partial(theory.label_bound_matern, lipschitz=steep)
        total = partial(theory.upper_bound_matern, lipschitz=steep)
    else:
        labels = partial(theory.label_bound_se, lengthscale=prospect.lengthscale)
        total = partial(theory.upper_bound_se, lengthscale=prospect.lengthscale)
    return Proven(
        labels=labels(T, dim=d, label_cost=prospect.price, noise_std=sigma),
        total=total(
            T,
            dim=d,
            label_cost=prospect.price,
            noise_std=sigma,
            rkhs_norm=sqrt(T),
            information_gain=partial(information_gain, kernel=kernel, dim=d, noise_std=sigma),
            delta=prospect.delta,
        ),
    )


def information_gain(n: int, *, kernel: Kernel, dim: int, noise_std: float) -> float:
    """A bound on γ_n over the whole unit cube, for a kernel of amplitude 1.

    By D points of a grid the kernel splits into a part of rank D and a rest, at most r at any point; so γ_n
    ≤ ½ D log(1 + n/(D σ²)) + ½ n r/σ². It holds for every grid: the best of some, or one label a cell, r = 0.
    """
    sides = np.unique(np.geomspace(1.0, n ** (1 / dim), GRIDS_TRIED).astype(int))
    cells = sides.astype(float) ** dim
    apart = dim * (0.5 / sides / np.asarray(kernel.lengthscale)) ** 2  # to the nearest point of the grid
    rest = 1.0 - kernel.shape(apart) ** 2
    known = 0.5 * cells * np.log1p(n / (cells * noise_std**2))
    return float(min((known + 0.5 * n * rest / noise_std**2).min(), 0.5 * n * np.log1p(noise_std**-2)))
