"""Any other tool: requests go out as signed JSON, answers come back as signed JSON.

Both ways a message has the header `X-Breakeven-Signature: t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256,
under a secret that both sides know, of the seconds, a point and the body. A message that is too old, or that
came before, is refused, so nobody can send it a second time.
"""

import hmac
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from breakeven.desks.interface import AnswerKind, DeskAnswer, DeskRequest, UnreadableAnswer, WrongSecret
from breakeven.desks.journal import Journal
from breakeven.desks.reaching import Http
from breakeven.errors import expect
from breakeven.wire.signing import SIGNATURE_HEADER, signature_of

REPLAY_WINDOW = 300.0  # seconds by which the clocks of both sides may differ
SHORTEST_SECRET = 16
SIGNED = "signed "  # what a signature seen before is kept under
LATEST = "latest "  # and the time of the last message about an answer


class HookAnswer(msgspec.Struct, frozen=True):
    """One answer in a message. `kind` says skipped or deleted where there is no label."""

    id: str
    y: float | None = None
    kind: AnswerKind = "told"
    labeller: str | None = None


class HookMessage(msgspec.Struct, frozen=True):
    """A message to us."""

    answers: list[HookAnswer]


class SignedWebhook:
    """A tool that takes requests at `url` and sends its answers to whoever calls `read_hook`.

    A body to it is `{"ask": [{"id", "fields", "cost", "labeller"}]}` or `{"withdraw": [ids]}`, and any answer
    of 2xx means that it was taken; a message may come twice, so the tool goes by ids. A body from it is
    `{"answers": [{"id", "y", "kind", "labeller"}]}`, where id and y are enough.
    """

    def __init__(
        self,
        url: str,
        secret: str,
        *,
        journal: Journal | None = None,
        seconds: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if len(expect.text("secret", secret)) < SHORTEST_SECRET:
            expect.refuse(
                "secret", f"at least {SHORTEST_SECRET} letters", f"{len(secret)} of them", described=True
            )
        self._http, self._secret, self._clock = Http(url, "the tool", seconds), secret, clock
        self._journal = journal or Journal()

    def ask(self, requests: Sequence[DeskRequest]) -> None:
        """Send the requests that were not sent yet."""
        new = self._journal.unasked(requests)
        if not new:
            return
        asked = [
            {"id": one.id, "fields": one.fields, "cost": one.cost, "labeller": one.labeller} for one in new
        ]
        self._send({"ask": asked})
        with self._journal.writing():
            for one in new:
                self._journal.note_task(one.id, asked=True)

    def withdraw(self, ids: Sequence[str]) -> None:
        """Say that these need no answer any more."""
        pending = self._journal.pending()
        some = [id for id in ids if id in pending]
        if some:
            self._send({"withdraw": some})
        with self._journal.writing():
            for id in ids:
                self._journal.close_task(id)

    def answers(self, since: str | None) -> tuple[list[DeskAnswer], str]:
        """What was read from messages."""
        return self._journal.since(since)

    def read_hook(self, headers: Mapping[str, str], body: bytes) -> list[DeskAnswer]:
        """Answers in a message, if it is signed, new, and not too old."""
        now = self._clock()
        signature = check_signature(self._secret, headers, body, now)
        try:
            message = msgspec.json.decode(body, type=HookMessage)
            for one in message.answers:
                if (one.y is None) != (one.kind in ("skipped", "deleted")):
                    expect.refuse("answers", "a label, or skipped or deleted without one", one)
                if one.y is not None:
                    expect.finite("y", one.y)
        except ValueError as error:
            raise UnreadableAnswer(f"message: expected answers, got something else ({error})") from error
        with self._journal.writing():
            _, before = self._journal.since(None)
            self._see_once(signature, now)
            for one in message.answers:
                self._take_up(one, now, signed=_moment_of(signature))
            return self._journal.since(before)[0]

    def _take_up(self, one: HookAnswer, now: float, *, signed: float) -> None:
        """Note an answer, unless a message that was signed later said another."""
        mark = f"{one.labeller or ''}\0{one.id}"
        if float(self._journal.setting(LATEST + mark) or 0.0) > signed:
            return
        self._journal.keep(LATEST + mark, repr(signed))
        if one.kind != "deleted":
            self._journal.say(mark, one.id, one.labeller, one.y, now)
            return
        self._journal.take_back(mark, now)
        if one.labeller is None:
            self._journal.task_is_gone(one.id, now)

    def _see_once(self, signature: str, now: float) -> None:
        for beginning in (SIGNED, LATEST):
            self._journal.drop_settings(beginning, now - 2 * REPLAY_WINDOW)
        if self._journal.setting(SIGNED + signature) is not None:
            raise WrongSecret(f"message: expected a new {SIGNATURE_HEADER}, got one that came before")
        self._journal.keep(SIGNED + signature, repr(now))

    def _send(self, document: Mapping[str, Any]) -> None:
        body = msgspec.json.encode(document)
        headers = {
            "Content-Type": "application/json",
            SIGNATURE_HEADER: signature_of(self._secret, body, self._clock()),
        }
        self._http.check(self._http.call("POST", "", headers=headers, content=body))


def _moment_of(signature: str) -> float:
    """When a message was signed, in seconds."""
    return float(signature.partition(",")[0].removeprefix("t="))


def check_signature(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> str:
    """The signature of a message; raises `WrongSecret` where it is not ours, or too old."""
    given = {name.lower(): value for name, value in headers.items()}.get(SIGNATURE_HEADER.lower(), "")
    moment = given.partition(",")[0].removeprefix("t=")
    right = signature_of(secret, body, float(moment)) if moment.isdecimal() and len(moment) < 15 else ""
    if not right or not hmac.compare_digest(right.encode(), given.encode("utf-8", "replace")):
        raise WrongSecret(
            f"message: expected {SIGNATURE_HEADER} made with our secret, got none or another one"
        )
    if abs(now - float(moment)) > REPLAY_WINDOW:
        raise WrongSecret(
            f"message: expected one of the last {REPLAY_WINDOW:g} seconds, "
            f"got one {now - float(moment):,.0f} seconds old; check the clocks of both sides"
        )
    return right
