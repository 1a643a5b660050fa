"""What happened to a learner. Its state is a fold of these: same events, same order, same bits.

An event carries outcomes, so that replaying it decides nothing and fits nothing again.
"""

from typing import Any, Literal

from msgspec import Struct

from breakeven.values.labeller import Labeller


class Arrived(Struct, frozen=True, tag=True):
    """A point came and was decided on, `by` the rule, the warm-up or a person.

    `ambiguous`: the rule's answer rested on an approximation that could have turned it. `labeller` is who was
    asked, where there is a choice, and `predicted` what was predicted before the label of an audit.
    """

    id: str
    x: Any
    wants_label: bool
    cost: float
    propensity: float
    reason: str
    by: Literal["rule", "warmup", "person"]
    ambiguous: bool = False
    labeller: str | None = None
    predicted: float | None = None


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
    """A label from elsewhere: no arrival, no cost; `labeller` is who gave it, where that was said."""

    x: Any
    y: float
    labeller: str | None = None


class Fitted(Struct, frozen=True, tag=True):
    """The belief's parameters were fitted to the labels told so far."""

    parameters: dict[str, Any]


class Repriced(Struct, frozen=True, tag=True):
    """What labels or errors cost changed, or the rule did; what is None stayed as it was."""

    label_cost: float | None = None
    labellers: dict[str, Labeller] | None = None
    error_cost: float | None = None
    rule: dict[str, Any] | None = None


Event = Arrived | Told | Corrected | Withdrawn | Learnt | Fitted | Repriced
