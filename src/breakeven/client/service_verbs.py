"""The verbs of a whole service, described once for both clients: which streams there are, and new ones."""

from typing import Any

import msgspec

from breakeven.client.carrying import Verb
from breakeven.client.described_calls import ClientCall, check_finite, reading, written
from breakeven.client.stream_verbs import stream_path
from breakeven.wire.stream_setup import Readiness, StreamAnswer, StreamConfig, StreamLine, StreamList


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

    @Verb
    def ready(self) -> ClientCall[Readiness]:
        """That every stream has been read from its log; waits for it as long as patience lasts."""
        return ClientCall("GET", "/readyz", reading(Readiness))
