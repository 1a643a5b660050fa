"""What a desk is: a place where people answer requests for labels; and the four verbs that follow.

All four calls of a desk may be repeated: a request that was asked before is one task still, and answers since
the same cursor come again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from breakeven.errors import BreakevenError

SHOWN_LETTERS = 200  # of what could not be read

AnswerKind = Literal["told", "changed", "skipped", "deleted"]
"""What a person did: gave a label, gave another, said that they give none, or took theirs back."""


class DeskDown(BreakevenError, ConnectionError):
    """The desk cannot be reached, or cannot answer now; nothing was lost, and the call may be repeated.

    >>> issubclass(DeskDown, ConnectionError)
    True
    """


class WrongSecret(BreakevenError, PermissionError):
    """A token that a desk refuses, or a message whose secret, signature or time is wrong.

    >>> issubclass(WrongSecret, PermissionError)
    True
    """


class UnreadableAnswer(BreakevenError, ValueError):
    """An answer that is no number, or a message that is no answer; it says where.

    >>> issubclass(UnreadableAnswer, ValueError)
    True
    """


class MissingHttpx(BreakevenError, ImportError):
    """A desk that is reached over HTTP needs httpx; the message says how to get it.

    >>> issubclass(MissingHttpx, ImportError)
    True
    """


class DeskRequest(msgspec.Struct, frozen=True):
    """A label that somebody should give: its id, what arrived, and what the label costs.

    `x` is plain data: values by column, a type, or numbers. `labeller` is who was chosen, where there is a
    choice. The prediction is not among it: who sees it labels towards it.

    >>> DeskRequest("7", {"age": 61}).fields, DeskRequest("8", "flu").fields
    ({'age': 61}, {'x': 'flu'})
    """

    id: str
    x: Any = None
    cost: float | None = None
    labeller: str | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """What arrived as values by name; a single value is called x."""
        return dict(self.x) if isinstance(self.x, Mapping) else {"x": self.x}


class DeskAnswer(msgspec.Struct, frozen=True):
    """What a person did with a request. `y` is the label where there is one, `at` the time in seconds.

    An answer that is deleted without a labeller is the whole task: nobody will answer it.

    >>> DeskAnswer("7", 38.9, "told", "ann@clinic", 1.7e9).y
    38.9
    """

    id: str
    y: float | None
    kind: AnswerKind
    labeller: str | None = None
    at: float = 0.0


class LabellingDesk(Protocol):
    """A labelling tool."""

    def ask(self, requests: Sequence[DeskRequest]) -> None:
        """Make a task of every request that has none yet."""

    def answers(self, since: str | None) -> tuple[list[DeskAnswer], str]:
        """All that people did since this cursor, in order, and the cursor after it; None is the beginning."""

    def withdraw(self, ids: Sequence[str]) -> None:
        """Take back requests that need no answer any more; one that has an answer already keeps it."""

    def read_hook(self, headers: Mapping[str, str], body: bytes) -> list[DeskAnswer]:
        """What is new in a message that the tool sent by itself; `answers` will give it, too."""


class Verbs(Protocol):
    """What answers are made into: the verbs of a learner, or of a client of the service."""

    def tell(self, id: str, y: float, *, labeller: str | None = None) -> object:
        """The label came."""

    def correct(self, id: str, y: float) -> object:
        """It was wrong."""

    def withdraw(self, id: str, *, charged: bool = False) -> object:
        """It will not come, or must go."""

    def reopen(self, id: str) -> object:
        """It was withdrawn, and comes all the same."""
