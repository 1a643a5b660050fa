"""Streams: how one is set up, as plain data, and what is said of it."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType


class WritingSetup(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How numbers and dates are written where they are text."""

    decimal: Literal[".", ","] | None = None
    dates: Literal["ymd", "dmy", "mdy"] | None = None


class ColumnSetup(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A column: its name, kind, unit, range, and what its values become."""

    name: str
    kind: Literal["number", "truth", "whole", "text", "yes_no", "time"] = "number"
    unit: str = ""
    low: float | None = None
    high: float | None = None
    writing: WritingSetup = WritingSetup()


class FeatureSetup(ColumnSetup, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A column that a point is made of: its categories, parts of a date, and what stands for gaps."""

    categories: list[str] = []
    fill: float | None = None
    parts: list[Literal["trend", "season", "weekday", "hour"]] = []
    fills: list[float] = []


class ColumnsSetup(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What the columns of a row mean: the label, the features or the type, and the cost of a label."""

    label_column: ColumnSetup
    features: list[FeatureSetup] = []
    type_column: ColumnSetup | None = None
    cost_column: ColumnSetup | None = None


class DeskSetup(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a desk works: seconds of a lease and for taking back, and when a labeller sees the prediction."""

    lease: float = 600.0
    undo: float = 60.0
    reveal: Literal["after", "before"] = "after"


class AlarmSetup(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """When a stream calls for attention; a limit that is left out is none.

    `error` is of the mean |y − p| that audits prove, `oldest` is how many seconds a request may be open, and
    `spend_a_day` is what was planned to be spent on labels. `refuted` calls where labels refute the belief.
    `coverage` is the least share of audited labels that intervals of 95% are to hold: 0.9, for instance.
    """

    error: float | None = None
    oldest: float | None = None
    spend_a_day: float | None = None
    refuted: bool = True
    coverage: float | None = None


AlarmKind = Literal[
    "audited_error", "belief_refuted", "coverage_low", "log_mismatch", "requests_too_old", "spend_ahead"
]


class AlarmAnswer(Struct, frozen=True):
    """An alarm that stands, in a word and in a sentence."""

    kind: AlarmKind
    words: str


class LabellerSetup(Struct, frozen=True, forbid_unknown_fields=True):
    """Who gives labels: what one costs, and how far they scatter."""

    cost: float
    noise_std: float


class StreamConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """All that a stream is made of. `deadline` is how many seconds a request stays open."""

    belief: dict[str, Any]
    rule: dict[str, Any]
    columns: ColumnsSetup | None = None
    label_cost: float | None = None
    labellers: dict[str, LabellerSetup] | None = None
    error_cost: float | None = None
    under_cost: float | None = None
    over_cost: float | None = None
    miss_cost: float | None = None
    false_alarm_cost: float | None = None
    warmup: int = 0
    seed: int = 0
    keep: int = 10_000
    answers_within: tuple[float, float] | None = None
    unit: str = ""
    currency: str = ""
    deadline: float | None = None
    open_requests: int | None = None
    desk: DeskSetup = DeskSetup()
    alarms: AlarmSetup = AlarmSetup()


class StreamChange(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What to change of a stream; what is left out stays, and null takes a deadline or a limit away."""

    rule: dict[str, Any] | UnsetType = UNSET
    label_cost: float | UnsetType = UNSET
    labellers: dict[str, LabellerSetup] | UnsetType = UNSET
    error_cost: float | UnsetType = UNSET
    under_cost: float | UnsetType = UNSET
    over_cost: float | UnsetType = UNSET
    miss_cost: float | UnsetType = UNSET
    false_alarm_cost: float | UnsetType = UNSET
    unit: str | UnsetType = UNSET
    currency: str | UnsetType = UNSET
    deadline: float | UnsetType | None = UNSET
    open_requests: int | UnsetType | None = UNSET
    desk: DeskSetup | UnsetType = UNSET
    alarms: AlarmSetup | UnsetType = UNSET


class SnapshotCall(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A learner to go on with: its snapshot in base64, and what a snapshot does not say."""

    snapshot: bytes
    columns: ColumnsSetup | None = None
    unit: str = ""
    currency: str = ""
    deadline: float | None = None
    open_requests: int | None = None
    desk: DeskSetup = DeskSetup()
    alarms: AlarmSetup = AlarmSetup()


StreamState = Literal["ready", "reading", "failed", "closed"]


class StreamLine(Struct, frozen=True, omit_defaults=True):
    """A stream in a list of them."""

    name: str
    state: StreamState
    unit: str
    currency: str
    rounds: int | None = None
    labels: int | None = None
    spend: float | None = None
    open_requests: int | None = None
    oldest: str | None = None
    entries: int = 0
    alarms: list[AlarmAnswer] = []


class StreamList(Struct, frozen=True):
    """All streams that the caller may see."""

    streams: list[StreamLine]


class StreamAnswer(Struct, frozen=True):
    """A stream and how it is set up now."""

    name: str
    state: StreamState
    created: str
    config: StreamConfig
    entries: int


class DeleteQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """With `erase` the stream is removed with all that is in it; else it is closed, and stays readable."""

    erase: bool = False


class SummaryAnswer(Struct, frozen=True, kw_only=True):
    """The bill, the belief and the rule of a stream; `everyone` is what labelling everyone would cost."""

    name: str
    unit: str
    currency: str
    ledger: dict[str, Any]
    belief: dict[str, Any]
    rule: dict[str, Any]
    label_cost: float
    error_cost: float
    labels_known: int
    warmup_left: int
    fits: int
    open_requests: int
    oldest: str | None
    spend: float
    everyone: float
    alarms: list[AlarmAnswer]
    words: str
    as_of: int


class EraseCall(Struct, frozen=True, forbid_unknown_fields=True):
    """The ids of whom to erase. Once erased they are never taken again: a call about one is answered 410."""

    ids: list[str]


class ErasedAnswer(Struct, frozen=True):
    """How many entries lost their content; 0 where all of it was erased before."""

    entries: int


class TrailLine(Struct, frozen=True):
    """Who changed what somebody may do, or ended a stream, and when; `detail` is what they may do since."""

    number: int
    at: str
    by: str
    verb: Literal["add token", "revoke token", "add person", "remove person", "close stream", "remove stream"]
    about: str
    detail: str


class TrailAnswer(Struct, frozen=True):
    """Changes, the first one first; `next` is the `after` of the next page, and null at the end."""

    changes: list[TrailLine]
    next: int | None


class TrailQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes behind a number, at most so many."""

    after: int = 0
    limit: int = 100


class Health(Struct, frozen=True):
    """The server is alive."""

    status: Literal["alive"] = "alive"


class Readiness(Struct, frozen=True, omit_defaults=True):
    """Whether every stream has been read from its log: how many have, and how many there are.

    `progress` says how far each is, from 0 to 1, of the streams that the caller may watch; `failed` says why
    those cannot be read that the caller administers.
    """

    ready: bool
    read: int
    streams: int
    progress: dict[str, float]
    failed: dict[str, str] = {}
