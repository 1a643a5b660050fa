"""What happened to a learner, in numbered events. Its state is a fold of these: same events, same bits.

An event carries outcomes, so replaying it decides nothing and fits nothing again. Events of one stream are
numbered from 1 without gaps; the first is `Created`, which says how the learner was made.
"""

from typing import Any

from msgspec import Struct

from breakeven.values.decision import Decision
from breakeven.values.view import Labeller

Cost = float | dict[str, float]
"""What a label costs: one number, or a number for each labeller by name."""


class Event(Struct, frozen=True):
    """One thing that happened: its number in the log of its stream, and the stream's name."""

    number: int
    stream: str


class Created(Event, frozen=True, tag=True):
    """A learner was made, from this configuration; the number is always 1.

    `state` is a snapshot, where the learner did not start from nothing: from a belief that had learnt, or
    from a learner of another stream.
    """

    config: dict[str, Any]
    state: bytes | None = None


class Arrived(Event, frozen=True, tag=True):
    """A point came and was decided on: the point, the whole answer, and the cost that was given with it.

    `predicted` is what was predicted before the label of an audit.
    """

    x: Any
    decision: Decision
    given: Cost | None = None
    predicted: float | None = None


class Told(Event, frozen=True, tag=True):
    """The label of an arrival came; `labeller` is who gave it, where that was said.

    Where it tested the belief, `rank` is the share of all labels thought possible that lie below it.
    """

    id: str
    y: float
    labeller: str | None = None
    rank: float | None = None


class Corrected(Event, frozen=True, tag=True):
    """A label told earlier was wrong; this is the right one."""

    id: str
    y: float


class Withdrawn(Event, frozen=True, tag=True):
    """A label will not come, or must go; `charged` says whether it is paid for all the same."""

    id: str
    charged: bool


class Reopened(Event, frozen=True, tag=True):
    """A label told or withdrawn by mistake is awaited again; what was given back is paid again."""

    id: str


class Learnt(Event, frozen=True, tag=True):
    """A label from elsewhere: no arrival, no cost. With an `id` it can be corrected and withdrawn."""

    x: Any
    y: float
    labeller: str | None = None
    id: str | None = None


class Fitted(Event, frozen=True, tag=True):
    """The belief's parameters were fitted to this many labels."""

    parameters: dict[str, Any]
    labels: int


class Repriced(Event, frozen=True, tag=True):
    """What labels or errors cost changed, or the rule did; what is None stayed as it was.

    `level` is the share of answers too low in what both ways to be wrong cost: the quantile that is answered.
    """

    label_cost: float | None = None
    labellers: dict[str, Labeller] | None = None
    error_cost: float | None = None
    rule: dict[str, Any] | None = None
    level: float | None = None


class Refuted(Event, frozen=True, tag=True):
    """Labels refuted the belief, which gave way; `round` is how many arrivals there had been.

    `outdated` labels, the first it was told, lie before a change and were set aside; where no change
    explains the labels better, 0, and its claims became wider by the factor `widened`.
    """

    round: int
    outdated: int
    widened: float


class Erased(Event, frozen=True, tag=True):
    """An event whose content was deleted: it counts its number and, if it was an arrival, a round."""

    arrival: bool


AnyEvent = (
    Created
    | Arrived
    | Told
    | Corrected
    | Withdrawn
    | Reopened
    | Learnt
    | Fitted
    | Repriced
    | Refuted
    | Erased
)
"""Any of the events that a log may hold."""
