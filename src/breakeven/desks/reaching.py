"""HTTP to a desk: what cannot be reached is `DeskDown`, a token that is refused `WrongSecret`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from breakeven.desks.interface import SHOWN_LETTERS, DeskDown, MissingHttpx, WrongSecret
from breakeven.errors import BreakevenError, expect, how_to_install

if TYPE_CHECKING:
    import httpx


class RefusedByDesk(BreakevenError, ValueError):
    """A desk that is there and does not do what it is asked: a wrong project, a field it does not take."""


class Http:
    """Calls to one address; `name` is what the desk is called in messages."""

    def __init__(self, url: str, name: str, seconds: float) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingHttpx(f"{name} is reached with httpx: {how_to_install('desks')}") from error
        if not url.startswith(("http://", "https://")):
            expect.refuse("url", "an address that begins with http:// or https://", url)
        self.url, self._name, self._httpx = url.rstrip("/"), name, httpx
        self._client = httpx.Client(timeout=seconds, limits=httpx.Limits(max_keepalive_connections=0))

    def call(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **content: Any
    ) -> "httpx.Response":
        """One call; whatever keeps it from being answered is `DeskDown`."""
        try:
            answer = self._client.request(method, self.url + path, headers=dict(headers or {}), **content)
        except self._httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise DeskDown(
                f"{self.url}: {self._name} cannot be reached ({reason}); try again later"
            ) from error
        if answer.status_code >= 500 or answer.status_code == 429:
            raise DeskDown(f"{self.url}: {self._name} answers {answer.status_code}; try again later")
        return answer

    def check(self, answer: "httpx.Response") -> None:
        """Raise where the desk refused."""
        if answer.is_success:
            return
        said = " ".join(answer.text.split())[:SHOWN_LETTERS]
        words = f"{self.url}{answer.request.url.path}: {self._name} answers {answer.status_code} ({said})"
        if answer.status_code in (401, 403):
            raise WrongSecret(f"{words}; the token may not do this")
        raise RefusedByDesk(f"{words}; check the address and the project")
