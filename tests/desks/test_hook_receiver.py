"""The receiver of messages: whatever comes, it answers, and nothing waits for ever."""

import socket
import threading

import httpx
import pytest

from breakeven.desks import hook_receiver
from breakeven.desks.hook_receiver import hooks_received
from tests.desks.test_sync import Plain


class Broken(Plain):
    """A desk whose messages cannot be read, for a reason of its own."""

    def read_hook(self, headers, body):
        raise RuntimeError("the disk is full")


def test_what_goes_wrong_is_a_line_and_no_traceback(caplog, capfd):
    heard = threading.Event()
    with hooks_received(Broken(), "127.0.0.1", 0, heard) as port:
        assert httpx.post(f"http://127.0.0.1:{port}/", content=b"{}").status_code == 500
    assert "a message could not be read (RuntimeError: the disk is full)" in caplog.text
    assert "Traceback" not in caplog.text + capfd.readouterr().err
    assert not heard.is_set()


@pytest.mark.parametrize("length", ["1000001", "9" * 5000, "-1", "many"])
def test_a_message_that_is_too_long_is_not_read(length, capfd):
    with (
        hooks_received(Plain(), "127.0.0.1", 0, threading.Event()) as port,
        socket.create_connection(("127.0.0.1", port), timeout=10.0) as sender,
    ):
        sender.sendall(f"POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
        assert sender.recv(1000)[9:12] == (b"413" if length.isdecimal() else b"411")
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "sent", [b"", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"], ids=["no", "half"]
)
def test_a_sender_that_says_no_more_is_hung_up_on(sent, monkeypatch, capfd):
    monkeypatch.setattr(hook_receiver.OneHook, "timeout", 0.2)
    with (
        hooks_received(Plain(), "127.0.0.1", 0, threading.Event()) as port,
        socket.create_connection(("127.0.0.1", port), timeout=10.0) as sender,
    ):
        sender.sendall(sent)
        answer = b""
        while piece := sender.recv(1000):
            answer += piece
    assert answer.startswith(b"HTTP/1.0 408") == bool(sent)
    assert "Traceback" not in capfd.readouterr().err
