"""The verbs of a stream and of a whole service, each described once for both clients.

A verb says what to send and how to read the answer. `ClientStream` sends it and waits; with `AsyncStream` the
same call is awaited. Ids of arrivals are made here: what is sent again has the same one, and counts once.
"""

import secrets
import time
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from breakeven.client.described_calls import (
    ClientCall,
    ClientPages,
    PagedVerb,
    Verb,
    check_finite,
    reading,
    written,
)
from breakeven.errors import expect
from breakeven.wire.arrivals import (
    Arrival,
    ArrivalAnswer,
    DecisionAnswer,
    PredictionAnswer,
    PredictionsAnswer,
    PredictionsCall,
    Row,
)
from breakeven.wire.log_pages import MOST_ENTRIES, EntryAnswer, EntryPage
from breakeven.wire.requests import (
    CorrectCall,
    HistoryAnswer,
    HistoryLine,
    LabelAnswer,
    LabelCall,
    LabelLine,
    LabelResults,
    LabelValue,
    LeaseCall,
    LeaseFilter,
    NextAnswer,
    NextCall,
    Request,
    RequestOrder,
    RequestPage,
    StandingAnswer,
    WithdrawCall,
)
from breakeven.wire.stream_setup import (
    EraseCall,
    ErasedAnswer,
    Readiness,
    StreamAnswer,
    StreamChange,
    StreamConfig,
    StreamLine,
    StreamList,
    SummaryAnswer,
    TrailAnswer,
    TrailLine,
)

RANDOM_BYTES = 10


def new_id() -> str:
    """An id of 128 bits: the time in milliseconds, then 80 random bits. Later ids sort behind earlier ones.

    >>> len(new_id()), new_id() != new_id()
    (32, True)
    """
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(RANDOM_BYTES)}"


REQUESTS_AT_ONCE = 500
CHANGES_AT_ONCE = 1000  # of the trail

LabelCost = float | dict[str, float] | None


def stream_path(name: str) -> str:
    """The path of a stream.

    >>> stream_path("ward 7")
    '/v1/streams/ward%207'
    """
    return f"/v1/streams/{quote(expect.name_of('stream', name), safe='')}"


class StreamVerbs:
    """What can be done with a stream. Answers are the types of [the HTTP interface](../http.md)."""

    def __init__(self, name: str) -> None:
        self.name, self.path = name, stream_path(name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    # -- arrivals ------------------------------------------------------------------------------------

    @Verb
    def decide(
        self, row: Row, *, id: str | None = None, cost: LabelCost = None, force: bool | None = None
    ) -> ClientCall[DecisionAnswer]:
        """Is the label of this arrival worth its cost? Predicts either way.

        The arrival gets an id unless one is given, and is counted once however often it is sent. `force` is a
        person's override.
        """
        sent = Arrival(_row("row", row), new_id() if id is None else id, cost, force)
        check_finite("cost", cost)
        return _posted(f"{self.path}/arrivals", sent, DecisionAnswer)

    @Verb
    def decide_many(
        self,
        rows: Iterable[Row],
        *,
        ids: Sequence[str] | None = None,
        costs: Sequence[LabelCost] | None = None,
    ) -> ClientCall[list[DecisionAnswer]]:
        """Decide on up to 1000 arrivals, in their order: all of them or none."""
        given = expect.rows("rows", rows)
        names, prices = _each("ids", ids, len(given)), _each("costs", costs, len(given))
        check_finite("costs", prices)
        sent = [
            Arrival(_row(f"rows[{i}]", row), new_id() if id is None else id, cost)
            for i, (row, id, cost) in enumerate(zip(given, names, prices, strict=True))
        ]
        return _posted(f"{self.path}/arrivals", sent, list[DecisionAnswer])

    @Verb
    def predict(self, row: Row) -> ClientCall[PredictionAnswer]:
        """What is believed at a row, with intervals; nothing is counted."""
        many = reading(PredictionsAnswer)
        call = PredictionsCall([_row("row", row)])
        return ClientCall(
            "POST", f"{self.path}/predictions", lambda blob: many(blob).predictions[0], content=written(call)
        )

    @Verb
    def predict_many(self, rows: Iterable[Row]) -> ClientCall[PredictionsAnswer]:
        """The same for up to 1000 rows, in their order."""
        call = PredictionsCall([_row(f"rows[{i}]", row) for i, row in enumerate(expect.rows("rows", rows))])
        return _posted(f"{self.path}/predictions", call, PredictionsAnswer)

    @Verb
    def arrival(self, id: str) -> ClientCall[ArrivalAnswer]:
        """An arrival, its decision, and all that came of it."""
        return _got(f"{self.path}/arrivals/{_part(id)}", ArrivalAnswer)

    # -- labels --------------------------------------------------------------------------------------

    @Verb
    def tell(
        self, id: str, y: LabelValue, *, labeller: str | None = None, sure: bool = False
    ) -> ClientCall[LabelAnswer]:
        """The label came. Told again it is harmless; another value is refused, and says who told what.

        A label outside of the declared range of its column is taken only from who is `sure`.
        """
        check_finite("y", y)
        return self._about(id, "label", LabelCall(y, labeller, sure), LabelAnswer)

    @Verb
    def tell_many(self, labels: Iterable[tuple[str, LabelValue]]) -> ClientCall[LabelResults]:
        """Tell up to 10,000 labels, given as (id, y); the answer says what became of each."""
        lines = [LabelLine(id, y) for id, y in labels]
        check_finite("y", [one.y for one in lines])
        return _posted(f"{self.path}/labels", lines, LabelResults)

    @Verb
    def correct(self, id: str, y: LabelValue) -> ClientCall[LabelAnswer]:
        """The label that was told is wrong; this is the right one."""
        check_finite("y", y)
        return self._about(id, "correct", CorrectCall(y), LabelAnswer)

    @Verb
    def withdraw(self, id: str, *, charged: bool = False) -> ClientCall[StandingAnswer]:
        """The label will not come, or must go; `charged` says whether it is paid for all the same."""
        return self._about(id, "withdraw", WithdrawCall(charged), StandingAnswer)

    @Verb
    def reopen(self, id: str) -> ClientCall[StandingAnswer]:
        """The label was told or withdrawn by mistake: it is awaited again."""
        return self._about(id, "reopen", None, StandingAnswer)

    @Verb
    def learn(
        self, row: Row, y: LabelValue, *, id: str | None = None, labeller: str | None = None
    ) -> ClientCall[HistoryAnswer]:
        """A label from elsewhere: no arrival, and no cost."""
        return self._history([HistoryLine(row, y, new_id() if id is None else id, labeller)])

    @Verb
    def learn_many(self, history: Iterable[tuple[Row, LabelValue]]) -> ClientCall[HistoryAnswer]:
        """Up to 10,000 labels from elsewhere, given as (row, y): all of them or none."""
        return self._history([HistoryLine(row, y, new_id()) for row, y in history])

    # -- the desk ------------------------------------------------------------------------------------

    @PagedVerb
    def requests(
        self,
        *,
        order: RequestOrder = "worth",
        labeller: str | None = None,
        lease: LeaseFilter | None = None,
    ) -> ClientPages[Request]:
        """The open requests, which are the labels that are awaited, by worth, age or deadline.

        Those that a labeller may answer, where one is named; with `lease` those that nobody holds ("free"),
        that somebody holds ("held"), or that I do ("mine").
        """
        asked = {"order": order, "limit": str(REQUESTS_AT_ONCE)}
        asked |= _unless_none(labeller=labeller, lease=lease)
        path, read = f"{self.path}/requests", reading(RequestPage)

        def turn(page: RequestPage) -> tuple[list[Request], ClientCall[Any] | None]:
            more = None if page.next is None else ClientCall("GET", path, read, asked | {"after": page.next})
            return page.requests, more

        return ClientPages(ClientCall("GET", path, read, asked), turn)

    @Verb
    def next(
        self, *, lease: float | None = None, labeller: str | None = None, skipped: bool = False
    ) -> ClientCall[NextAnswer]:
        """The next request for me, held for `lease` seconds; or none, and the reason.

        With `skipped`, also one that I skipped.
        """
        return _posted(f"{self.path}/requests/next", NextCall(lease, labeller, skipped), NextAnswer)

    @Verb
    def lease(self, id: str, *, seconds: float | None = None) -> ClientCall[Request]:
        """Hold a request, or go on holding it."""
        return self._about(id, "lease", LeaseCall(seconds), Request)

    @Verb
    def release(self, id: str) -> ClientCall[StandingAnswer]:
        """Give a request back."""
        return self._about(id, "release", None, StandingAnswer)

    @Verb
    def skip(self, id: str) -> ClientCall[StandingAnswer]:
        """Not this one, for me; it stays open for others."""
        return self._about(id, "skip", None, StandingAnswer)

    # -- the stream ----------------------------------------------------------------------------------

    @Verb
    def summary(self) -> ClientCall[SummaryAnswer]:
        """The bill, the belief and the rule, and what labelling everyone would have cost."""
        return _got(f"{self.path}/summary", SummaryAnswer)

    @Verb
    def snapshot(self) -> ClientCall[bytes]:
        """The learner as bytes that `Learner.restore` reads."""
        return ClientCall("GET", f"{self.path}/snapshot", bytes)

    @PagedVerb
    def entries(
        self, *, after: int = 0, kind: str | None = None, by: str | None = None
    ) -> ClientPages[EntryAnswer]:
        """The entries of the stream's log behind number `after`, of a kind, or by somebody."""
        asked = {"limit": str(MOST_ENTRIES), "format": "json"} | _unless_none(kind=kind, by=by)
        path, read = f"{self.path}/entries", reading(EntryPage)

        def behind(number: int) -> ClientCall[Any]:
            return ClientCall("GET", path, read, asked | {"after": str(number)})

        def turn(page: EntryPage) -> tuple[list[EntryAnswer], ClientCall[Any] | None]:
            return page.entries, None if page.next is None else behind(page.next)

        return ClientPages(behind(after), turn)

    @Verb
    def setup(self) -> ClientCall[StreamAnswer]:
        """How the stream is set up now."""
        return _got(self.path, StreamAnswer)

    @Verb
    def change(self, change: StreamChange) -> ClientCall[StreamAnswer]:
        """Change costs, labellers, the rule, the deadline or the desk; what is left out stays."""
        return ClientCall("PATCH", self.path, reading(StreamAnswer), content=written(change))

    @Verb
    def erase(self, ids: Iterable[str]) -> ClientCall[ErasedAnswer]:
        """Delete all content about some ids, for good."""
        return _posted(f"{self.path}/erase", EraseCall(expect.rows("ids", ids)), ErasedAnswer)

    # -- what they share -----------------------------------------------------------------------------

    def _about(self, id: str, verb: str, body: Any, kind: Any) -> ClientCall[Any]:
        return _posted(f"{self.path}/requests/{_part(id)}/{verb}", {} if body is None else body, kind)

    def _history(self, lines: list[HistoryLine]) -> ClientCall[HistoryAnswer]:
        for i, one in enumerate(lines):
            _row(f"history[{i}]", one.row)
            check_finite(f"history[{i}]: y", one.y)
        return _posted(f"{self.path}/history", lines, HistoryAnswer)


def _posted(path: str, body: Any, kind: Any) -> ClientCall[Any]:
    return ClientCall("POST", path, reading(kind), content=written(body))


def _got(path: str, kind: Any) -> ClientCall[Any]:
    return ClientCall("GET", path, reading(kind))


def _part(id: str) -> str:
    """An id as a part of a path."""
    return quote(expect.name_of("id", id), safe="")


def _row(name: str, row: Row) -> Row:
    check_finite(name, row)
    return row


def _each(name: str, given: Sequence[Any] | None, count: int) -> list[Any]:
    """What was given for each row, or None for each."""
    if given is None:
        return [None] * count
    found = expect.rows(name, given)
    if len(found) != count:
        expect.refuse(name, f"{count}, one for each row", f"{len(found)} of them", described=True)
    return found


def _unless_none(**given: str | None) -> dict[str, str]:
    return {name: value for name, value in given.items() if value is not None}


class ServiceVerbs:
    """What can be done with a service."""

    @Verb
    def streams(self) -> ClientCall[list[StreamLine]]:
        """All streams that the token may see."""
        read = reading(StreamList)
        return ClientCall("GET", "/v1/streams", lambda blob: read(blob).streams)

    @Verb
    def create(self, name: str, config: StreamConfig | dict[str, Any]) -> ClientCall[StreamAnswer]:
        """Make a stream. The same again is harmless; another configuration is refused."""
        check_finite("config", msgspec.to_builtins(config))
        return ClientCall("PUT", stream_path(name), reading(StreamAnswer), content=written(config))

    @Verb
    def close_stream(self, name: str) -> ClientCall[None]:
        """Have a stream take no more; it stays readable."""
        return ClientCall("DELETE", stream_path(name), lambda blob: None)

    @PagedVerb
    def trail(self, *, after: int = 0) -> ClientPages[TrailLine]:
        """Who changed what somebody may do, or ended a stream, behind change number `after`."""
        read = reading(TrailAnswer)

        def behind(number: int) -> ClientCall[Any]:
            asked = {"after": str(number), "limit": str(CHANGES_AT_ONCE)}
            return ClientCall("GET", "/v1/trail", read, asked)

        def turn(page: TrailAnswer) -> tuple[list[TrailLine], ClientCall[Any] | None]:
            return page.changes, None if page.next is None else behind(page.next)

        return ClientPages(behind(after), turn)

    @Verb
    def ready(self) -> ClientCall[Readiness]:
        """That every stream has been read from its log; waits for it as long as patience lasts."""
        return ClientCall("GET", "/readyz", reading(Readiness))
