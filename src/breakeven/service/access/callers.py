"""Who calls, and what they may do.

Roles: `send` brings arrivals, `label` answers requests, `watch` reads, `administer` does all of it and sets
streams up.
"""

from typing import Literal

from msgspec import Struct

from breakeven.errors.serving import NotAllowed

CallerRole = Literal["send", "label", "watch", "administer"]
ROLES: tuple[CallerRole, ...] = ("send", "label", "watch", "administer")


class Caller(Struct, frozen=True):
    """A name for the log, roles, and the streams they hold for; None is all streams."""

    name: str
    roles: frozenset[str]
    streams: frozenset[str] | None = None

    def may(self, *roles: str) -> bool:
        """Whether they have one of these roles."""
        return "administer" in self.roles or not self.roles.isdisjoint(roles)

    def sees(self, stream: str) -> bool:
        """Whether their roles hold for this stream."""
        return self.streams is None or stream in self.streams

    def check(self, roles: tuple[str, ...], stream: str | None) -> None:
        """Raise unless they have one of these roles, for this stream where there is one.

        What administers the whole service, such as making tokens, is not for who has some streams alone.
        """
        if roles and not self.may(*roles):
            wanted = " or ".join(roles)
            had = ", ".join(sorted(self.roles)) or "none"
            raise NotAllowed(f"token: expected one with the role {wanted}, got {self.name!r} with {had}")
        if stream is not None and not self.sees(stream):
            raise NotAllowed(f"token: expected one for the stream {stream!r}, got one for others")
        if stream is None and roles == ("administer",) and self.streams is not None:
            raise NotAllowed("token: expected one for all streams, got one for some")


ANYBODY = Caller("anybody", frozenset())
LOCAL = Caller("local", frozenset(ROLES))  # on this machine, as long as there is no token
