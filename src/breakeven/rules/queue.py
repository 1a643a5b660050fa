"""At most so many labels awaited at once: people who label have only so many hands."""

from typing import ClassVar

from breakeven.errors import expect
from breakeven.rules.wrapper import Wrapper
from breakeven.values import Verdict, View

FULL = Verdict(False, reason="queue_full")


class Queue(Wrapper):
    """Follow a rule while fewer than `most` labels are awaited, and ask for nothing else.

    >>> from breakeven.rules import Always
    >>> Queue(Always(), most=2).most
    2
    """

    most: int

    reads_prediction: ClassVar[bool] = True  # a label that comes late holds its place

    def __post_init__(self) -> None:
        super().__post_init__()
        self.most = expect.whole("most", self.most, least=1)

    def decide(self, view: View) -> Verdict:
        """No while the queue is full."""
        return FULL if view.awaited >= self.most else self.rule.decide(view)

    def forbids(self, view: View) -> str | None:
        """Nobody may go past a full queue."""
        return FULL.reason if view.awaited >= self.most else self.rule.forbids(view)
