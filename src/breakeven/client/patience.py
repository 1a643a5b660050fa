"""How long a client tries: what is tried again, after which pause, and when it gives up.

A connection that breaks, 429 and 503 pass; everything else is an answer. Pauses grow and are drawn at random,
so that a thousand devices do not come back in the same moment.
"""

import random
import time
from collections.abc import Callable

from msgspec import Struct

from breakeven.errors import BreakevenError, expect
from breakeven.errors.statuses import ending_of

PASSING_STATUSES = (429, 503)  # statuses after which the same may be answered otherwise


class Patience(Struct, frozen=True, kw_only=True):
    """How often and how long to try, in seconds.

    The pause before try n is drawn from 0 to `first` · 2ⁿ⁻², at most `longest`; where the service says how
    long to wait, that comes on top. Whatever would end later than `seconds` after the first try is not tried.

    >>> Patience(tries=1)  # never again
    Patience(tries=1, first=0.1, longest=5.0, seconds=60.0)
    """

    tries: int = 10
    first: float = 0.1
    longest: float = 5.0
    seconds: float = 60.0

    def __post_init__(self) -> None:
        expect.whole("tries", self.tries, least=1)
        for name in ("first", "longest", "seconds"):
            expect.number(name, getattr(self, name), 0.0, 1e9)


class Attempts:
    """The tries of one call."""

    def __init__(
        self,
        patience: Patience,
        draw: Callable[[], float] = random.random,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience, self._draw, self._steady = patience, draw, steady
        self._made, self._began = 0, steady()

    def pause(self, error: BreakevenError) -> float:
        """After a try ended in this error: how many seconds to wait before the next; or the error again."""
        self._made += 1
        patience = self._patience
        if ending_of(error).status not in PASSING_STATUSES or self._made >= patience.tries:
            raise error
        ceiling = min(patience.longest, patience.first * 2.0 ** (self._made - 1))
        pause = (getattr(error, "retry_after", None) or 0.0) + ceiling * self._draw()
        if self._steady() + pause - self._began > patience.seconds:
            raise error
        return pause

    def succeeded(self) -> None:
        """Something came: whatever fails next fails for the first time."""
        self._made, self._began = 0, self._steady()
