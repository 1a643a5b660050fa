"""What happened to a learner. Its state is a fold of these: same events, same order, same bits.

An event carries outcomes, so that replaying it decides nothing and fits nothing again.
"""

from typing import Any, Literal

from msgspec import Struct


class Arrived(Struct, frozen=True, tag=True):
    """A point came and was decided on, `by` the rule, the warm-up or a person.

    `ambiguous`: the rule's answer rested on an approximation that could have turned it.
    """

    id: str
    x: Any
    wants_label: bool
    cost: float
    propensity: float
    reason: str
    by: Literal["rule", "warmup", "person"]
    ambiguous: bool = False


class Told(Struct, frozen=True, tag=True):
    """The label of an arrival came; `labeller` is who gave it, where that was said."""

    id: str
    y: float
    labeller: str | None = None


class Corrected(Struct, frozen=True, tag=True):
    """A label told earlier was wrong; this is the right one."""

    id: str
    y: float


class Withdrawn(Struct, frozen=True, tag=True):
    """A label will never come, or must go; `charged` says whether it was paid for."""

    id: str
    charged: bool


class Learnt(Struct, frozen=True, tag=True):
    """A label from elsewhere: no arrival, no cost."""

    x: Any
    y: float


class Fitted(Struct, frozen=True, tag=True):
    """The belief's parameters were fitted to the labels told so far."""

    parameters: dict[str, Any]


Event = Arrived | Told | Corrected | Withdrawn | Learnt | Fitted
