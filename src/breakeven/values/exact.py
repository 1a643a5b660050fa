"""Sums without rounding: what was added can be taken away again, in any order, without a trace.

Shewchuk's expansion (1997): a sum is a row of floats whose bits do not overlap, usually one or two.
"""

from math import fsum

from msgspec import Struct


class ExactSum(Struct, frozen=True, gc=False):
    """An exact sum of floats; adding gives a new one.

    >>> (ExactSum().plus(1e16).plus(1.0).plus(-1e16)).value
    1.0
    """

    parts: tuple[float, ...] = ()

    @property
    def value(self) -> float:
        """The float nearest to the exact sum."""
        return fsum(self.parts)

    def plus(self, number: float) -> "ExactSum":
        """Add a number, exactly."""
        grown = []
        for part in self.parts:
            total = number + part
            big, small = (number, part) if abs(number) >= abs(part) else (part, number)
            rest = small - (total - big)
            if rest:
                grown.append(rest)
            number = total
        grown.append(number)
        return ExactSum(tuple(grown))
