"""What we think f(x) is, and how far off that may be, given the labels told so far."""

from math import hypot, inf, isfinite
from typing import Literal

from msgspec import Struct

from breakeven.errors import expect


class Prediction(Struct, frozen=True, gc=False):
    """A normal belief about f at one point: its mean and its standard deviation.

    `std` is of f itself and rests on labels *told*; a label still awaited teaches nothing yet.

    >>> low, high = Prediction(mean=2.0, std=0.5, noise_std=1.2).interval(0.95)
    >>> round(low, 2), round(high, 2)
    (1.02, 2.98)
    """

    mean: float
    std: float
    noise_std: float

    def interval(self, level: float = 0.95, *, of: Literal["f", "label"] = "f") -> tuple[float, float]:
        """Ends of the central interval that holds f, or a new label, at `level`.

        >>> low, high = Prediction(mean=0.0, std=3.0, noise_std=4.0).interval(0.9, of="label")
        >>> round(high, 3)
        8.224
        """
        from statistics import NormalDist  # slow to import, rarely needed

        level = expect.probability("level", level, open=True)
        expect.one_of("of", of, ("f", "label"))
        spread = self.std if of == "f" else hypot(self.std, self.noise_std)
        half = -NormalDist().inv_cdf((1.0 - level) / 2.0) * spread if isfinite(spread) else inf
        return self.mean - half, self.mean + half
