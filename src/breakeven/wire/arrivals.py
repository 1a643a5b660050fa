"""Arrivals and what is answered to them: decisions and predictions.

A number that may be infinite is null in JSON, and so is one that does not exist.
"""

from typing import Any

from msgspec import Struct

Row = dict[str, Any] | str | int | float | list[Any]
"""Values by the names of columns; in a stream without columns the point itself: a type, or numbers."""

MOST_ARRIVALS = 1000  # in one call


class Arrival(Struct, frozen=True, forbid_unknown_fields=True):
    """A point that comes: its row, the sender's id for it, and what its label costs if that differs.

    With an `id` it is safe to send it again. `force` is a person's override.
    """

    row: Row
    id: str | None = None
    cost: float | dict[str, float] | None = None
    force: bool | None = None


class PredictionAnswer(Struct, frozen=True, gc=False, omit_defaults=True):
    """What is believed of f at a point; the intervals hold f, and a label, 95 times of 100."""

    mean: float
    std: float | None
    noise_std: float
    probability: float | None = None
    interval: tuple[float | None, float | None] | None = None
    label_interval: tuple[float | None, float | None] | None = None


class DecisionAnswer(Struct, frozen=True, gc=False, omit_defaults=True):
    """The answer to an arrival: whether its label is wanted, what is predicted either way, and why.

    `entry` is the number of its entry in the log; `repeated` says that it was answered before. Then `entry`
    is null, unless the answer had to be read from the log.
    """

    id: str
    wants_label: bool
    prediction: PredictionAnswer
    uncertainty: float | None
    threshold: float | None
    worth: float | None
    cost: float
    propensity: float
    reason: str
    why: str
    round: int
    by: str
    entry: int | None
    labeller: str | None = None
    exact: bool = True
    ambiguous: bool = False
    repeated: bool = False


class PredictionsCall(Struct, frozen=True, forbid_unknown_fields=True):
    """Rows to predict at; nothing is counted or decided."""

    rows: list[Row]


class PredictionsAnswer(Struct, frozen=True):
    """A prediction for each row, in their order; `as_of` is the entry of the log they rest on."""

    predictions: list[PredictionAnswer]
    as_of: int


class PastEntry(Struct, frozen=True, omit_defaults=True):
    """One thing that happened to an arrival: when, by whom, and the label where there was one."""

    entry: int
    at: str
    by: str
    kind: str
    y: float | None = None
    labeller: str | None = None
    charged: bool | None = None


class ArrivalAnswer(Struct, frozen=True):
    """An arrival, its decision, where its label stands, and all that came of it."""

    row: Any
    at: str
    sender: str
    decision: DecisionAnswer
    standing: str
    came: list[PastEntry]
    as_of: int
