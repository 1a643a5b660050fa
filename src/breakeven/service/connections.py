"""One connection of the server: how much is read at once, how long the head of a call may be, whole answers.

A head is the first line of a call with its headers. Anybody can send one, so it is bounded before it is
parsed: a connection is read in small parts, and who sends more than a head may have is hung up on.
"""

import asyncio
import re
from typing import Any

from breakeven.service.edge_limits import MOST_HEAD_BYTES, MOST_HEAD_LINES

READ_BYTES = 1 << 13  # at once, so that one connection holds the others up for a moment at most
END_OF_HEAD = re.compile(rb"\n\r?\n")
HEAD_BEGINS, HEAD_ENDS = b"HTTP/", b"\r\n\r\n"
REFUSAL = (
    "HTTP/1.1 %s\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
    "content-length: %d\r\n\r\n%s"
)
TOO_LARGE = "431 Request Header Fields Too Large"


class WholeAnswers(asyncio.Transport):
    """A connection on which the head of an answer waits for its body, so that both are sent at once.

    It waits until the loop's next turn at most: some answers have no body, or one that comes later.
    """

    def __init__(self, inner: asyncio.Transport) -> None:
        self._inner, self._head = inner, b""
        self._call_soon = asyncio.get_running_loop().call_soon

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send this, behind what waits for it."""
        if self._head:
            self._inner.write(self._head + data)
            self._head = b""
        elif data[:5] == HEAD_BEGINS and data[-4:] == HEAD_ENDS:
            self._head = bytes(data)
            self._call_soon(self._let_go)
        else:
            self._inner.write(data)

    def _let_go(self) -> None:
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """Send what waits, and close."""
        self._let_go()
        self._inner.close()

    def is_closing(self) -> bool:
        """Whether nothing more is sent."""
        return self._inner.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What is known of the connection."""
        return self._inner.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Take no more for now."""
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        """Take more again."""
        self._inner.resume_reading()


def bounded(parser: Any) -> Any:
    """A parser of HTTP whose connections send answers whole, and take heads up to a size."""
    tells_of_bodies = hasattr(parser, "on_body")  # httptools; h11 has a limit for what follows a body

    class Parser(parser, asyncio.BufferedProtocol):  # type: ignore[misc]
        head_bytes = head_lines = 0  # that came since the last call was whole, or a part of its body came
        head_end = b""  # the last two bytes of these
        body_came = False

        def connection_made(self, transport: Any) -> None:
            self._buffer = bytearray(READ_BYTES)
            super().connection_made(WholeAnswers(transport))

        def get_buffer(self, sizehint: int) -> bytearray:
            return self._buffer

        def buffer_updated(self, nbytes: int) -> None:
            self.data_received(bytes(memoryview(self._buffer)[:nbytes]))

        def data_received(self, data: bytes) -> None:
            last, self.body_came = self.cycle, False
            if last is None or not last.more_body:
                self.head_lines += lines_of_head(self.head_end + data) - self.head_end.count(b"\n")
                if self.head_lines > MOST_HEAD_LINES:
                    self._refuse_head()
                    return
            super().data_received(data)
            in_body = self.body_came if tells_of_bodies else last is not None and last.more_body
            if in_body or self.cycle is not last:
                self.head_bytes, self.head_lines, self.head_end = 0, 0, b""
                return
            self.head_bytes += len(data)
            self.head_end = data[-2:]
            if self.head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
                self._refuse_head()

        def on_body(self, body: bytes) -> None:
            self.body_came = True
            super().on_body(body)

        def send_400_response(self, msg: str) -> None:
            self._refuse("400 Bad Request", msg)

        def _refuse_head(self) -> None:
            most = f"{MOST_HEAD_BYTES:,} bytes in at most {MOST_HEAD_LINES} lines"
            self._refuse(TOO_LARGE, f"headers: expected at most {most}, got more; send less")

        def _refuse(self, status: str, words: str) -> None:
            """Answer, unless another answer is being sent, and hang up."""
            if self.cycle is None or self.cycle.response_complete:
                self.transport.write((REFUSAL % (status, len(words), words)).encode())
            self.transport.close()

    return Parser


def lines_of_head(data: bytes) -> int:
    r"""How many lines there are before the first that is empty.

    >>> lines_of_head(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nbody\nbody\n"), lines_of_head(b"Host: a\nA: b")
    (2, 1)
    """
    end = END_OF_HEAD.search(data)
    return data.count(b"\n", 0, len(data) if end is None else end.start() + 1)
