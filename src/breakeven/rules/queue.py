"""A limit on how many labels are awaited at once, for people who can only label a few at a time."""

from typing import ClassVar

from breakeven.errors import expect
from breakeven.rules.rule import Wrapper
from breakeven.values import Verdict, View

QUEUE_FULL = Verdict(False, reason="queue_full")


class Queue(Wrapper):
    """Follow a rule while fewer than `most` labels are awaited, and ask for nothing else.

    >>> from breakeven.rules import Always
    >>> Queue(Always(), most=2).most
    2
    """

    most: int

    reads_prediction: ClassVar[bool] = True  # a late label keeps its place in the queue

    def __post_init__(self) -> None:
        super().__post_init__()
        self.most = expect.whole("most", self.most, least=1)

    def decide(self, view: View) -> Verdict:
        """No while the queue is full."""
        return QUEUE_FULL if view.awaited >= self.most else self.rule.decide(view)

    def forbids(self, view: View) -> str | None:
        """Nobody may go past a full queue."""
        return QUEUE_FULL.reason if view.awaited >= self.most else self.rule.forbids(view)
