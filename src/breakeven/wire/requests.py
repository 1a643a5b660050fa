"""Requests, which is what a desk calls labels that are awaited: who holds one, and what is answered to it."""

from typing import Any, Literal

from msgspec import Struct

from breakeven.wire.arrivals import PredictionAnswer

RequestOrder = Literal["worth", "age", "deadline"]
LeaseFilter = Literal["free", "held", "mine"]
MOST_LINES = 10_000  # in one call

LabelValue = float | str | bool
"""A label: a number, or what the label's column says (yes, no, 12,5)."""


class LeaseAnswer(Struct, frozen=True):
    """Who holds a request, and until when."""

    by: str
    until: str


class Revealed(Struct, frozen=True, omit_defaults=True):
    """What was thought when the label was asked for. A labeller sees it after the answer."""

    prediction: PredictionAnswer
    reason: str
    why: str
    worth: float | None = None


class Request(Struct, frozen=True, omit_defaults=True):
    """A label that is awaited. `seen` is there only for those who may see it before the answer."""

    id: str
    row: Any
    cost: float
    asked: str
    round: int
    deadline: str | None = None
    labeller: str | None = None
    lease: LeaseAnswer | None = None
    seen: Revealed | None = None


class RequestPage(Struct, frozen=True):
    """Some open requests; `next` is what to ask for to go on, and null at the end. `open` counts all."""

    requests: list[Request]
    next: str | None
    open: int
    as_of: int


class RequestQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which open requests to show; `labeller` keeps those that this labeller may answer.

    `lease` keeps those that nobody holds ("free"), that somebody holds ("held"), or that the caller does.
    """

    order: RequestOrder = "worth"
    after: str | None = None
    limit: int = 100
    labeller: str | None = None
    lease: LeaseFilter | None = None


class NextCall(Struct, frozen=True, forbid_unknown_fields=True):
    """Give me the next request; `lease` is for how many seconds, `skipped` also offers what I skipped."""

    lease: float | None = None
    labeller: str | None = None
    skipped: bool = False


NothingReason = Literal["none_open", "all_held", "all_skipped", "not_for_you"]


class NextAnswer(Struct, frozen=True, omit_defaults=True):
    """The next request, held for the caller; or none, and then the reason, also in words."""

    request: Request | None
    open: int
    reason: NothingReason | None = None
    detail: str = ""
    held: list[LeaseAnswer] = []


class LeaseCall(Struct, frozen=True, forbid_unknown_fields=True):
    """Hold this request for me, or go on holding it, for this many seconds."""

    seconds: float | None = None


class LabelCall(Struct, frozen=True, forbid_unknown_fields=True):
    """The label came; `labeller` is who gave it, where that is not who was asked.

    A label outside the declared range of its column is refused unless the caller is `sure`.
    """

    y: LabelValue
    labeller: str | None = None
    sure: bool = False


class LabelAnswer(Struct, frozen=True, omit_defaults=True):
    """A label was told: what it cost, what was thought before, and what is predicted there now.

    `late` says that the request had been withdrawn: the label was learnt all the same. `entry` is its number
    in the log; it is null where the same had been told before.
    """

    id: str
    y: float
    cost: float
    prediction: PredictionAnswer
    entry: int | None
    seen: Revealed | None = None
    late: bool = False
    repeated: bool = False


class CorrectCall(Struct, frozen=True, forbid_unknown_fields=True):
    """The label that was told is wrong; this is the right one."""

    y: LabelValue


class WithdrawCall(Struct, frozen=True, forbid_unknown_fields=True):
    """The label will not come; `charged` says whether it is paid for all the same."""

    charged: bool = False


class NoBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing is said; an empty body is taken, too."""


class StandingAnswer(Struct, frozen=True, omit_defaults=True):
    """Where a request stands after a change; `y` is the label that was taken back, where one was."""

    id: str
    standing: str
    entry: int | None
    y: float | None = None


class LabelLine(Struct, frozen=True, forbid_unknown_fields=True):
    """One label of many."""

    id: str
    y: LabelValue
    labeller: str | None = None


class LabelsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """With `preview` nothing is told: the answer says what would happen."""

    preview: bool = False


class LabelResult(Struct, frozen=True, omit_defaults=True):
    """What became of one line: told, late, the same as before, or refused and why."""

    line: int
    id: str
    result: Literal["told", "late", "repeated", "refused"]
    detail: str = ""
    y: float | None = None


class LabelResults(Struct, frozen=True):
    """What became of every line. Lines that were refused changed nothing; the others were told."""

    results: list[LabelResult]
    told: int
    refused: int
    preview: bool
    entry: int | None


class HistoryLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A case with its label from elsewhere: no arrival, and no cost."""

    row: Any
    y: LabelValue
    id: str | None = None
    labeller: str | None = None


class HistoryAnswer(Struct, frozen=True):
    """How many labels were learnt, and the last entry of the log."""

    learnt: int
    entry: int | None
