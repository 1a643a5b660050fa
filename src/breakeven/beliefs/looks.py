"""Looking at a batch of arrivals: in their order, each label asked for narrowing those behind it."""

from collections.abc import Sequence
from typing import Any, Protocol

from breakeven.values import View


class Looks(Protocol):
    """The views of a batch, to be taken in order."""

    def look(self, i: int) -> View:
        """The view of arrival i, given what was asked for before it."""
        ...

    def asked(self, i: int, noise_std: float | None = None) -> None:
        """A label of arrival i was asked for, and is awaited; without a noise it has the belief's."""
        ...

    def told(self, i: int, y: float, noise_std: float | None = None) -> bool:
        """A label of arrival i was asked for and came at once; whether these looks still hold."""
        ...


class OneByOne:
    """Looks of a belief that gains nothing from batches."""

    def __init__(self, belief: Any, points: Sequence[Any]) -> None:
        self._belief, self._points = belief, points

    def look(self, i: int) -> View:
        """Ask the belief, which already knows what was asked for."""
        view: View = self._belief.look(self._points[i])
        return view

    def asked(self, i: int, noise_std: float | None = None) -> None:
        """Nothing to note."""

    def told(self, i: int, y: float, noise_std: float | None = None) -> bool:
        """Nothing to note: the belief is asked anew each time."""
        return True
