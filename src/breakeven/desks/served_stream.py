"""A stream of the service, as a desk needs it: its open requests, and the three verbs.

Errors are the library's own classes, as the service names them.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from breakeven.desks.interface import DeskRequest, WrongSecret
from breakeven.desks.reaching import Http
from breakeven.errors.serving import NotAllowed, NotIdentified
from breakeven.wire.problems import Problem, error_of
from breakeven.wire.requests import CorrectCall, LabelCall, RequestPage, WithdrawCall

REQUESTS_A_PAGE = 500


class ServedStream:
    """A stream by the address of its service and its name; the token needs the role `label`."""

    def __init__(self, url: str, stream: str, token: str | None = None, *, seconds: float = 30.0) -> None:
        self._http = Http(url, "the service", seconds)
        self._path = f"/v1/streams/{quote(stream, safe='')}"
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def waiting(self) -> Iterator[DeskRequest]:
        """The requests that are open now."""
        after: str | None = None
        while True:
            about = {"order": "age", "limit": REQUESTS_A_PAGE} | ({} if after is None else {"after": after})
            page = self._call("GET", "/requests", RequestPage, params=about)
            for one in page.requests:
                yield DeskRequest(one.id, one.row, one.cost, one.labeller)
            after = page.next
            if after is None:
                return

    def tell(self, id: str, y: float, *, labeller: str | None = None) -> None:
        """The label came."""
        self._change(id, "label", LabelCall(y, labeller))

    def correct(self, id: str, y: float) -> None:
        """It was wrong."""
        self._change(id, "correct", CorrectCall(y))

    def withdraw(self, id: str, *, charged: bool = False) -> None:
        """It will not come, or must go."""
        self._change(id, "withdraw", WithdrawCall(charged))

    def _change(self, id: str, verb: str, body: Any) -> None:
        content = msgspec.json.encode(body)
        self._call("POST", f"/requests/{quote(id, safe='')}/{verb}", None, content=content)

    def _call(self, method: str, path: str, kind: Any, **content: Any) -> Any:
        answer = self._http.call(method, self._path + path, headers=self._headers, **content)
        if answer.is_success:
            return None if kind is None else msgspec.json.decode(answer.content, type=kind)
        try:
            problem = msgspec.json.decode(answer.content, type=Problem)
        except msgspec.DecodeError:
            self._http.check(answer)
            raise
        error = error_of(problem)
        if isinstance(error, NotAllowed | NotIdentified):
            raise WrongSecret(
                f"{self._http.url}: the service refuses ({error}); expected a token with the role label"
            ) from error
        raise error
