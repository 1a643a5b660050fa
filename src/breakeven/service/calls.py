"""What a handler gets and gives: a call with its caller, its stream, its query and its body; an answer."""

from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from msgspec import Struct

from breakeven.service.access import Caller
from breakeven.service.access.entrance import CallHeaders
from breakeven.service.live_stream import LiveStream
from breakeven.service.service import Service

JSON_WRITER = msgspec.json.Encoder()
JSON_MEDIA = "application/json"
LINES_MEDIA = "application/x-ndjson"
CSV_MEDIA = "text/csv"
FEED_MEDIA = "text/event-stream"
BYTES_MEDIA = "application/octet-stream"
TEXT_MEDIA = "text/plain"


class Call(Struct):
    """One request to a route."""

    service: Service
    caller: Caller
    path: dict[str, str]
    query: Any
    body: Any
    accepts: str = ""
    headers: CallHeaders = {}

    @property
    def stream_name(self) -> str:
        """The name of the stream in the path."""
        return self.path["stream"]

    @property
    def live(self) -> LiveStream:
        """The stream in the path."""
        return self.service.stream(self.path["stream"])

    @property
    def id(self) -> str:
        """The id in the path; raises `ErasedId` where it was erased."""
        id = self.path["id"]
        self.live.check_not_erased(id)
        return id

    def refuse_erased(self) -> None:
        """Raise where the id in the path was erased, also before the stream is read."""
        if "id" in self.path and "stream" in self.path:
            self.live.refuse_erased(self.path["id"])

    @property
    def by(self) -> str:
        """Who calls, as the log says it."""
        return self.caller.name


class Raw(Struct, frozen=True):
    """A body that is not JSON: its bytes and their media type."""

    media: str
    content: bytes


class Answer(Struct, frozen=True):
    """An answer that is not simply 200 and JSON."""

    body: Any = None
    status: int = 200
    media: str = JSON_MEDIA
    headers: dict[str, str] = {}


class Streamed(Struct, frozen=True):
    """An answer that comes in parts."""

    parts: AsyncGenerator[bytes, None]
    media: str
    headers: dict[str, str] = {}
