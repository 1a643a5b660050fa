"""One thing to measure, and what it leads to."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from breakeven.bench.results import Result


class NotMeasured(Exception):
    """Something is missing here that a measurement needs; the message says what."""


class Measurement(NamedTuple):
    """One thing to measure: what it is called where it cannot be, and how."""

    what: str
    measure: Callable[[], Iterable[Result]]

    def results(self) -> list[Result]:
        """What was found, or one line that says why nothing was.

        >>> def fail():
        ...     raise NotMeasured("not installed")
        >>> Measurement("Rounds, beside river", fail).results()[0].beside
        'not installed'
        """
        try:
            return list(self.measure())
        except NotMeasured as reason:
            return [Result(what=self.what, beside=str(reason))]
