"""How a group of keys is made up, and its state as bytes: a mark, a version, a digest, then MessagePack."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

import msgspec

from breakeven.beliefs import Belief
from breakeven.errors import SnapshotError, expect
from breakeven.learner import Learner
from breakeven.rules import Rule

GROUP_MARK = b"breakeven group"
GROUP_VERSION = 1
GROUP_DIGEST = 16  # bytes
TOLD_WINDOW, EARLY_WINDOW = 100_000, 10_000

OrderKind = Literal["i8", "f8"]  # whole numbers, as times are, or numbers


class GroupSetup(NamedTuple):
    """How every learner of a group is made, and how much is remembered; `rules`, `beliefs`: your own."""

    config: dict[str, Any]
    told_window: int = TOLD_WINDOW
    early_window: int = EARLY_WINDOW
    rules: tuple[type[Rule], ...] = ()
    beliefs: tuple[type[Belief], ...] = ()

    @classmethod
    def of(
        cls,
        learner: Learner,
        *,
        told_window: int = TOLD_WINDOW,
        early_window: int = EARLY_WINDOW,
        rules: Iterable[type[Rule]] = (),
        beliefs: Iterable[type[Belief]] = (),
    ) -> "GroupSetup":
        """From a learner without history and without a name: every key gets one like it."""
        if not isinstance(learner, Learner) or learner.number != 1 or learner.belief.labels or learner.name:
            expect.refuse("config", "a learner without history and without a name", learner)
        windows = expect.whole("told_window", told_window), expect.whole("early_window", early_window)
        return cls(learner.config(), *windows, tuple(rules), tuple(beliefs))

    def learner(self, key: Any) -> Learner:
        """A new learner for a key; its name is the key as text."""
        return Learner.of(self.config | {"name": str(key)}, self.rules, self.beliefs)


class GroupContent(msgspec.Struct, forbid_unknown_fields=True):
    """The state of a group: a fleet and the order of each key's last arrival, or snapshots with theirs."""

    config: dict[str, Any]
    fleet: bytes | None = None
    last: bytes = b""
    last_kind: OrderKind = "i8"
    learners: list[tuple[int | str, bytes, float | int | None]] = []
    early: list[tuple[int | str, str, float, str | None]] = []


class CarriedKey(NamedTuple):
    """One key as it is carried to another group: a snapshot, and what a group keeps beside it.

    `blob` is what `Learner.restore` reads, None where only labels came so far; `beside` has the order of the
    last arrival and the labels that are ahead of theirs.
    """

    key: Any
    blob: bytes | None
    beside: bytes


class KeptBeside(msgspec.Struct, forbid_unknown_fields=True):
    """What a group keeps beside a key's learner: its last order, and early labels as id, y, labeller."""

    last: float | int | None = None
    early: list[tuple[int | str, float, str | None]] = []

    def packed(self) -> bytes:
        """As bytes."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def read(cls, beside: bytes | None) -> "KeptBeside":
        """From bytes; nothing where there are none."""
        try:
            return cls() if beside is None else msgspec.msgpack.decode(beside, type=cls)
        except msgspec.DecodeError as error:
            raise SnapshotError(f"beside: expected bytes of an exported key, got others ({error})") from error


def sealed(content: GroupContent) -> bytes:
    """The state of a group as bytes."""
    body = msgspec.msgpack.encode(content)
    head = GROUP_MARK + GROUP_VERSION.to_bytes(2, "big")
    return head + blake2b(head + body, digest_size=GROUP_DIGEST).digest() + body


def unsealed(state: Any, setup: GroupSetup) -> GroupContent:
    """The state of a group that is made up in this way, or what is wrong with it."""
    content = content_in(state)
    if msgspec.json.encode(content.config) == msgspec.json.encode(setup.config):
        return content
    for name in sorted(content.config.keys() | setup.config.keys()):
        was, now = content.config.get(name), setup.config.get(name)
        if msgspec.json.encode(was) != msgspec.json.encode(now):
            raise SnapshotError(
                f"state: expected a group with {name} {was!r}, as it was begun, got {now!r}; "
                "begin anew, or export its learners"
            )
    return content


def content_in(state: Any) -> GroupContent:
    """The state of any group, or what is wrong with it."""
    start = len(GROUP_MARK) + 2
    if not isinstance(state, (bytes, bytearray, memoryview)) or bytes(state[: start - 2]) != GROUP_MARK:
        raise SnapshotError("state: expected that of a group of keys, got something else")
    blob = bytes(state)
    version = int.from_bytes(blob[start - 2 : start], "big")
    if version != GROUP_VERSION:
        raise SnapshotError(f"state: expected version {GROUP_VERSION}, got {version}; upgrade breakeven")
    digest, body = blob[start : start + GROUP_DIGEST], blob[start + GROUP_DIGEST :]
    if blake2b(blob[:start] + body, digest_size=GROUP_DIGEST).digest() != digest:
        raise SnapshotError("state: expected whole bytes, got a digest that differs: damaged or cut short")
    try:
        return msgspec.msgpack.decode(body, type=GroupContent)
    except msgspec.ValidationError as error:
        raise SnapshotError(
            f"state: expected that of a group of keys, got something else ({error})"
        ) from error
