"""What kind of stream is expected, and what labels and errors cost in it."""

import msgspec

from breakeven.beliefs.gp import SMOOTHNESS, Kernel, KernelName, kernel_named
from breakeven.errors import expect
from breakeven.theory.type_bounds import ZETA_3

FAILS = 0.05  # the probability with which a bound does not hold
MOST_NUMBERS, MOST_TYPES, MOST_DIM = 10_000_000, 1_000_000, 100


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """So many types, or numbers of so many dimensions; rounds, prices and noise.

    >>> Setting(types=10, rounds=1000, cost=10.0, noise_std=0.5).price
    10.0
    """

    rounds: int
    cost: float
    noise_std: float
    types: int | None = None
    dim: int | None = None
    kernel: KernelName = "se"
    lengthscale: float = 0.5
    error_cost: float = 1.0
    trials: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.types is None) == (self.dim is None):
            expect.refuse("types, dim", "one of the two", f"{self.types}, {self.dim}", described=True)
        for name in ("cost", "noise_std", "lengthscale", "error_cost"):
            expect.positive(name, getattr(self, name))
        for name in ("rounds", "trials", "types" if self.dim is None else "dim"):
            expect.whole(name, getattr(self, name), least=1)
        expect.one_of("kernel", self.kernel, SMOOTHNESS)
        expect.whole("seed", self.seed)
        self._check_size()

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
        return FAILS if self.types is None else FAILS / (ZETA_3 * self.types)  # Thm 1, corrected

    @property
    def price(self) -> float:
        """What a label costs in units of error."""
        return self.cost / self.error_cost

    @property
    def function_kernel(self) -> Kernel:
        """The kernel that functions are drawn from."""
        return kernel_named(self.kernel, self.lengthscale)
