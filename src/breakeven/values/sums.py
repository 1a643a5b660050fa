"""Sums without rounding: what was added can be taken away again, in any order, without a trace.

A sum is kept as the float nearest to it, then the float nearest to what is missing, and so on until nothing
is: usually one or two. Equal sums have equal parts, however they came about.
"""

from math import fsum, isnan

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
        return self.parts[0] if self.parts else 0.0

    def plus(self, number: float) -> "ExactSum":
        """Add a number, exactly."""
        if len(self.parts) == 1:
            (before,) = self.parts
            after = before + number
            if after - before == number and after - number == before and after:
                return ExactSum((after,))  # the larger of two was taken off exactly: nothing is missing
        parts, rest = [], (*self.parts, number)
        while part := fsum(rest):
            if isnan(part):
                return ExactSum((part,))  # what is missing would be NaN again and again
            parts.append(part)
            rest = (*rest, -part)
        return ExactSum(tuple(parts))


NO_SUM = ExactSum()
"""The sum of nothing."""
