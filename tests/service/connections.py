"""A connection to a service without a network: what is written to it is parsed as the server parses it."""

import asyncio

from breakeven.service.server import StoppingServer


class Connection:
    """One connection; `served` is the service, `http` the parser, and `app` what it speaks to."""

    def __init__(self, served, http="httptools", app=None):
        self.served, self.sent, self.closed = served, b"", False
        server = StoppingServer(app or served.app, served.service, http)
        asyncio.set_event_loop(served.loop)
        self.protocol = server.config.http_protocol_class(
            config=server.config, server_state=server.server_state, app_state={}, _loop=served.loop
        )
        served.run(self._begin())

    async def _begin(self):
        self.protocol.connection_made(self)

    def send(self, content, *, part=False):
        """Give the server some bytes, as much at once as it reads; returns what it answered.

        With `part` more will come, and nothing is waited for.
        """
        return self.served.run(self._feed(content, part))

    async def _feed(self, content, part):
        before, place = len(self.sent), 0
        while place < len(content) and not self.closed:
            buffer = self.protocol.get_buffer(-1)
            some = content[place : place + len(buffer)]
            buffer[: len(some)] = some
            self.protocol.buffer_updated(len(some))
            place += len(some)
            await asyncio.sleep(0)
        while self.protocol.tasks and not part:
            await asyncio.wait(set(self.protocol.tasks))
        await asyncio.sleep(0)
        return self.sent[before:]

    # -- what the parser asks of a transport ----------------------------------------------------------

    def get_extra_info(self, name, default=None):
        return ("127.0.0.1", 50_000) if name in ("peername", "sockname") else default

    def write(self, data):
        self.sent += bytes(data)

    def is_closing(self):
        return self.closed

    def close(self):
        self.closed = True

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass
