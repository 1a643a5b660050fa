"""Every path of the service, as one table.

The app, the OpenAPI document, docs/http.md and the test that walks every route are made from it.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from breakeven.service.access.callers import CallerRole
from breakeven.service.calls import (
    BYTES_MEDIA,
    CSV_MEDIA,
    FEED_MEDIA,
    JSON_MEDIA,
    LINES_MEDIA,
    TEXT_MEDIA,
    Call,
    Raw,
)
from breakeven.service.edge_limits import MEGABYTE
from breakeven.service.handlers import (
    arrival_handlers,
    desk_handlers,
    label_handlers,
    log_handlers,
    stream_handlers,
)
from breakeven.wire.arrivals import Arrival, ArrivalAnswer, DecisionAnswer, PredictionsAnswer, PredictionsCall
from breakeven.wire.log_pages import EntryPage, EntryQuery
from breakeven.wire.requests import (
    CorrectCall,
    HistoryAnswer,
    HistoryLine,
    LabelAnswer,
    LabelCall,
    LabelLine,
    LabelResults,
    LabelsQuery,
    LeaseCall,
    NextAnswer,
    NextCall,
    NoBody,
    Request,
    RequestPage,
    RequestQuery,
    StandingAnswer,
    WithdrawCall,
)
from breakeven.wire.stream_setup import (
    DeleteQuery,
    EraseCall,
    ErasedAnswer,
    Health,
    Readiness,
    SnapshotCall,
    StreamAnswer,
    StreamChange,
    StreamConfig,
    StreamList,
    SummaryAnswer,
    TrailAnswer,
    TrailQuery,
)

STREAM, REQUEST = "/v1/streams/{stream}", "/v1/streams/{stream}/requests/{id}"
MANY_MEDIA = (JSON_MEDIA, LINES_MEDIA, CSV_MEDIA)

Handler = Callable[[Call], Awaitable[Any]]


class ServiceRoute(Struct, frozen=True, kw_only=True):
    """One method of one path: who may call it, what goes in and comes out, and which refusals to expect.

    Without `roles` anybody may call. A `body` that is `Raw` is read by the handler, from one of `takes`, and
    `lines` says of what type each of its lines is. `statuses` are those beside 400, 401, 403, 429 and 503.
    """

    method: str
    path: str
    summary: str
    handler: Handler
    roles: tuple[CallerRole, ...] = ()
    query: Any = None
    body: Any = None
    lines: Any = None
    takes: tuple[str, ...] = (JSON_MEDIA,)
    answer: Any = None
    gives: tuple[str, ...] = (JSON_MEDIA,)
    success: int = 200
    statuses: tuple[int, ...] = ()
    most_bytes: int = MEGABYTE
    empty_body: bool = False

    @property
    def stream_scoped(self) -> bool:
        """Whether it is about one stream."""
        return "{stream}" in self.path


SERVICE_ROUTES: tuple[ServiceRoute, ...] = (
    ServiceRoute(
        method="POST",
        path=f"{STREAM}/arrivals",
        summary="Decide on one arrival, or on a list of up to 1000: all of them or none.",
        handler=arrival_handlers.arrive,
        roles=("send",),
        body=Arrival | list[Arrival],
        answer=DecisionAnswer | list[DecisionAnswer],
        statuses=(404, 409, 410, 413, 415, 422, 429),
        most_bytes=8 * MEGABYTE,
    ),
    ServiceRoute(
        method="GET",
        path=f"{STREAM}/arrivals/{{id}}",
        summary="An arrival, its decision, and all that came of it.",
        handler=arrival_handlers.arrival,
        roles=("watch",),
        answer=ArrivalAnswer,
        statuses=(404, 410),
    ),
    ServiceRoute(
        method="POST",
        path=f"{STREAM}/predictions",
        summary="Predict at rows, with intervals; nothing is counted.",
        handler=arrival_handlers.predict,
        roles=("send", "watch"),
        body=PredictionsCall,
        answer=PredictionsAnswer,
        statuses=(404, 413, 415, 422),
        most_bytes=8 * MEGABYTE,
    ),
    ServiceRoute(
        method="GET",
        path=f"{STREAM}/requests",
        summary="Open requests by worth, age or deadline, in pages.",
        handler=desk_handlers.requests,
        roles=("label", "watch"),
        query=RequestQuery,
        answer=RequestPage,
        statuses=(404, 422),
    ),
    ServiceRoute(
        method="POST",
        path=f"{STREAM}/requests/next",
        summary="The next request for the caller, held for them; or the reason why there is none.",
        handler=desk_handlers.next_request,
        roles=("label",),
        body=NextCall,
        answer=NextAnswer,
        statuses=(404, 415, 422),
        empty_body=True,
    ),
    ServiceRoute(
        method="POST",
        path=f"{REQUEST}/label",
        summary="Tell the label. The same again is harmless; another is refused, and says who told what.",
        handler=desk_handlers.label,
        roles=("label",),
        body=LabelCall,
        answer=LabelAnswer,
        statuses=(404, 409, 410, 415, 422),
    ),
    ServiceRoute(
        method="POST",
        path=f"{REQUEST}/correct",
        summary="Correct a label that was told, a labeller their own; decisions already made stand.",
        handler=desk_handlers.correct,
        roles=("label",),
        body=CorrectCall,
        answer=LabelAnswer,
        statuses=(404, 410, 415, 422),
    ),
    ServiceRoute(
        method="POST",
        path=f"{REQUEST}/reopen",
        summary="Take a label or a withdrawal back: the label is awaited again. A labeller may take back "
        "their own label for a while, and their own withdrawal.",
        handler=desk_handlers.reopen,
        roles=("label",),
        body=NoBody,
        answer=StandingAnswer,
        statuses=(404, 410, 415),
        empty_body=True,
    ),
    ServiceRoute(
        method="POST",
        path=f"{REQUEST}/withdraw",
        summary="Say that the label will not come, charged or not.",
        handler=desk_handlers.withdraw,
        roles=("label",),
        body=WithdrawCall,
        answer=StandingAnswer,
        statuses=(404, 409, 410, 415, 422),
        empty_body=True,
    ),
    ServiceRoute(
        method="POST",
        path=f"{REQUEST}/skip",
        summary="Not this one, for the caller; it stays open for others.",
        handler=desk_handlers.skip,
        roles=("label",),
        body=NoBody,
        answer=StandingAnswer,
        statuses=(404, 410, 415),
        empty_body=True,
    ),
    ServiceRoute(
        method="POST",
        path=f"{REQUEST}/lease",
        summary="Hold a request, or go on holding it.",
        handler=desk_handlers.lease,
        roles=("label",),
        body=LeaseCall,
        answer=Request,
        statuses=(404, 409, 410, 415, 422),
        empty_body=True,
    ),
    ServiceRoute(
        method="POST",
        path=f"{REQUEST}/release",
        summary="Give a request back.",
        handler=desk_handlers.release,
        roles=("label",),
        body=NoBody,
        answer=StandingAnswer,
        statuses=(404, 410, 415),
        empty_body=True,
    ),
    ServiceRoute(
        method="POST",
        path=f"{STREAM}/labels",
        summary="Tell many labels, as JSON, JSON lines or CSV (id, y); with preview, say what would happen.",
        handler=label_handlers.labels,
        roles=("label",),
        query=LabelsQuery,
        body=Raw,
        lines=LabelLine,
        takes=MANY_MEDIA,
        answer=LabelResults,
        statuses=(404, 410, 413, 415, 422),
        most_bytes=8 * MEGABYTE,
    ),
    ServiceRoute(
        method="POST",
        path=f"{STREAM}/history",
        summary="Learn labels from elsewhere, all of them or none: no arrivals, and no cost.",
        handler=label_handlers.history,
        roles=("administer",),
        body=Raw,
        lines=HistoryLine,
        takes=MANY_MEDIA,
        answer=HistoryAnswer,
        statuses=(404, 409, 410, 413, 415, 422),
        most_bytes=64 * MEGABYTE,
    ),
    ServiceRoute(
        method="GET",
        path=f"{STREAM}/summary",
        summary="The bill, the belief and the rule, and what labelling everyone would have cost.",
        handler=stream_handlers.summary,
        roles=("watch",),
        answer=SummaryAnswer,
        statuses=(404,),
    ),
    ServiceRoute(
        method="GET",
        path=f"{STREAM}/entries",
        summary="Entries of the log: JSON in pages, or JSON lines or CSV whole.",
        handler=log_handlers.entries,
        roles=("watch",),
        query=EntryQuery,
        answer=EntryPage,
        gives=MANY_MEDIA,
        statuses=(404, 415, 422),
    ),
    ServiceRoute(
        method="GET",
        path=f"{STREAM}/feed",
        summary="Server-sent events: that the log goes on, and up to which entry, at most twice a second.",
        handler=log_handlers.feed,
        roles=("watch", "label"),
        gives=(FEED_MEDIA,),
        statuses=(404, 429),
    ),
    ServiceRoute(
        method="GET",
        path=f"{STREAM}/snapshot",
        summary="The learner as bytes that `Learner.restore` reads.",
        handler=stream_handlers.get_snapshot,
        roles=("administer",),
        gives=(BYTES_MEDIA,),
        statuses=(404,),
    ),
    ServiceRoute(
        method="PUT",
        path=f"{STREAM}/snapshot",
        summary="Make a stream that goes on with the learner of a snapshot, such as that of a bill's folder.",
        handler=stream_handlers.put_snapshot,
        roles=("administer",),
        body=SnapshotCall,
        answer=StreamAnswer,
        success=201,
        statuses=(409, 413, 415, 422),
        most_bytes=256 * MEGABYTE,
    ),
    ServiceRoute(
        method="POST",
        path=f"{STREAM}/erase",
        summary="Delete all content about some ids, for good: all of them, or none where one is unknown.",
        handler=stream_handlers.erase,
        roles=("administer",),
        body=EraseCall,
        answer=ErasedAnswer,
        statuses=(404, 415, 422),
    ),
    ServiceRoute(
        method="GET",
        path="/v1/streams",
        summary="All streams that the caller may see.",
        handler=stream_handlers.streams,
        roles=("watch", "label", "send"),
        answer=StreamList,
    ),
    ServiceRoute(
        method="GET",
        path=STREAM,
        summary="A stream and how it is set up.",
        handler=stream_handlers.stream,
        roles=("watch",),
        answer=StreamAnswer,
        statuses=(404,),
    ),
    ServiceRoute(
        method="PUT",
        path=STREAM,
        summary="Make a stream. The same again is harmless; another configuration is refused.",
        handler=stream_handlers.put_stream,
        roles=("administer",),
        body=StreamConfig,
        answer=StreamAnswer,
        success=201,
        statuses=(200, 409, 415, 422),
    ),
    ServiceRoute(
        method="PATCH",
        path=STREAM,
        summary="Change costs, labellers, the rule, the deadline or the desk.",
        handler=stream_handlers.patch_stream,
        roles=("administer",),
        body=StreamChange,
        answer=StreamAnswer,
        statuses=(404, 410, 415, 422),
    ),
    ServiceRoute(
        method="DELETE",
        path=STREAM,
        summary="Close a stream, which stays readable; or erase it with all that is in it.",
        handler=stream_handlers.delete_stream,
        roles=("administer",),
        query=DeleteQuery,
        success=204,
        statuses=(404,),
    ),
    ServiceRoute(
        method="GET",
        path="/v1/trail",
        summary="Who added and revoked tokens, said what people may do, and ended streams.",
        handler=stream_handlers.trail,
        roles=("administer",),
        query=TrailQuery,
        answer=TrailAnswer,
        statuses=(422,),
    ),
    ServiceRoute(
        method="GET",
        path="/healthz",
        summary="The server is alive.",
        handler=stream_handlers.healthz,
        answer=Health,
    ),
    ServiceRoute(
        method="GET",
        path="/metrics",
        summary="Numbers for Prometheus: decisions, labels, spend, open requests, times, alarms.",
        handler=stream_handlers.metrics,
        roles=("watch",),
        gives=(TEXT_MEDIA,),
    ),
    ServiceRoute(
        method="GET",
        path="/readyz",
        summary="Whether every stream has been read from its log; 503 and how many were, if not.",
        handler=stream_handlers.readyz,
        answer=Readiness,
    ),
)
