"""Who gives labels, at what price, and how far off they may be."""

from msgspec import Struct
from msgspec.structs import force_setattr

from breakeven.errors import expect


class Labeller(Struct, frozen=True, gc=False):
    """One source of labels: the price of each, and the standard deviation of its noise.

    >>> Labeller(price=50, noise_std=0.5)
    Labeller(price=50.0, noise_std=0.5)
    """

    price: float
    noise_std: float

    def __post_init__(self) -> None:
        force_setattr(self, "price", expect.positive("price", self.price))
        force_setattr(self, "noise_std", expect.positive("noise_std", self.noise_std))
