"""Learners as bytes: a mark, a version, a checksum, then MessagePack. No pickle, so nothing can run.

Snapshots are read by this version and newer ones; a newer snapshot is refused by name.
"""

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec.structs import asdict

from breakeven.beliefs import Belief, Cells, GaussianProcess, TypeMeans
from breakeven.errors import SnapshotError, expect
from breakeven.rules import (
    Always,
    Audit,
    Budget,
    Never,
    Queue,
    RandomSelect,
    Rule,
    Threshold,
    Value,
    VariableUncertainty,
)

MARK = b"breakeven"
VERSION = 1
HEAD = len(MARK) + 2 + 4

BELIEFS = (Cells, GaussianProcess, TypeMeans)
RULES = (Always, Audit, Budget, Never, Queue, RandomSelect, Threshold, Value, VariableUncertainty)


def seal(content: dict[str, Any]) -> bytes:
    """Write plain data as a snapshot."""
    body = msgspec.msgpack.encode(content)
    return MARK + VERSION.to_bytes(2, "big") + zlib.crc32(body).to_bytes(4, "big") + body


def unseal(blob: Any) -> dict[str, Any]:
    """Read a snapshot back, or say what is wrong with it."""
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise SnapshotError(f"snapshot: expected bytes, got {type(blob).__name__}")
    blob = bytes(blob)
    if not blob.startswith(MARK) or len(blob) < HEAD:
        raise SnapshotError(f"snapshot: expected bytes from Learner.snapshot, got {expect.shown(blob[:20])}")
    version = int.from_bytes(blob[len(MARK) : len(MARK) + 2], "big")
    if not 1 <= version <= VERSION:
        raise SnapshotError(
            f"snapshot: expected a version from 1 to {VERSION}, got version {version}; upgrade breakeven"
        )
    body = blob[HEAD:]
    if zlib.crc32(body).to_bytes(4, "big") != blob[HEAD - 4 : HEAD]:
        raise SnapshotError(
            "snapshot: expected whole bytes, got a checksum that differs: damaged or cut short"
        )
    with reading():
        content: dict[str, Any] = msgspec.msgpack.decode(body)
    return content


@contextmanager
def reading() -> Iterator[None]:
    """Whatever goes wrong in reading is a fault of the snapshot."""
    try:
        yield
    except SnapshotError:
        raise
    except Exception as error:
        raise SnapshotError(f"snapshot: expected a learner's state, got something else ({error})") from error


def is_ours(part: Rule | Belief) -> bool:
    """Whether a rule or belief is one of this package, and not the user's own."""
    return type(part) in RULES or type(part) in BELIEFS


def pack_rule(rule: Rule) -> dict[str, Any]:
    """A rule's class name, its fields, and the rules inside it."""
    fields = asdict(rule)
    inner = {name: pack_rule(value) for name, value in fields.items() if isinstance(value, Rule)}
    plain = {name: msgspec.to_builtins(value) for name, value in fields.items() if name not in inner}
    return {"kind": type(rule).__name__, "ours": is_ours(rule), "fields": plain, "rules": inner}


def unpack_rule(packed: dict[str, Any], own: Iterable[type[Rule]]) -> Rule:
    """Make the rule again, from ours or the user's own classes."""
    kind, plain = _find("rule", packed, RULES, own), packed["fields"]
    fields = {
        one.name: msgspec.convert(plain[one.name], one.type)
        for one in msgspec.structs.fields(kind)
        if one.name in plain
    }
    rule: Rule = kind(**fields, **{name: unpack_rule(one, own) for name, one in packed["rules"].items()})
    return rule


def read_rule(packed: Any, own: Iterable[type[Rule]]) -> Rule:
    """Make a rule again that an event holds."""
    try:
        return unpack_rule(packed, own)
    except SnapshotError:
        hint = f"a known rule; name your own with apply(event, rules=({packed['kind']},))"
        expect.refuse("rule", hint, packed["kind"])
    except (msgspec.ValidationError, LookupError, TypeError, AttributeError) as error:
        expect.refuse("rule", "the fields of a rule", str(error), described=True)


def pack_belief(belief: Belief) -> dict[str, Any]:
    """A belief's class name, its arguments and what it learnt."""
    return {
        "kind": type(belief).__name__,
        "ours": is_ours(belief),
        "config": belief.config(),
        "state": belief.state(),
    }


def unpack_belief(packed: dict[str, Any], own: Iterable[type[Belief]]) -> Belief:
    """Make the belief again, before it learnt anything."""
    belief: Belief = _find("belief", packed, BELIEFS, own).of(packed["config"])
    return belief


def _find(part: str, packed: dict[str, Any], ours: Iterable[Any], own: Iterable[Any]) -> Any:
    for kind in ours if packed["ours"] else own:
        if kind.__name__ == packed["kind"]:
            return kind
    raise SnapshotError(
        f"snapshot: expected a known {part}, got {packed['kind']!r}; name your own with "
        f"restore(blob, {part}s=({packed['kind']},))"
    )
