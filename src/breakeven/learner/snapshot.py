"""Learners as bytes: a mark, a version, a checksum, then MessagePack. No pickle, so nothing can run.

Snapshots are read by this version and newer ones; a newer snapshot is refused by name.
"""

import zlib
from collections.abc import Iterable
from typing import Any

import msgspec

from breakeven.beliefs import Belief, Cells, GaussianProcess, TypeMeans
from breakeven.beliefs.gp import Kernel
from breakeven.errors import SnapshotError, expect
from breakeven.rules import Always, Never, RandomSelect, Rule, Threshold, VariableUncertainty

MARK = b"breakeven"
VERSION = 1
HEAD = len(MARK) + 2 + 4

BELIEFS: dict[str, Any] = {kind.__name__: kind for kind in (Cells, GaussianProcess, TypeMeans)}
RULES: dict[str, type[Rule]] = {
    kind.__name__: kind for kind in (Always, Never, RandomSelect, Threshold, VariableUncertainty)
}


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
    if version > VERSION:
        raise SnapshotError(
            f"snapshot: expected version {VERSION} or older, got version {version}; upgrade breakeven"
        )
    body = blob[HEAD:]
    if zlib.crc32(body).to_bytes(4, "big") != blob[HEAD - 4 : HEAD]:
        raise SnapshotError(
            "snapshot: expected whole bytes, got a checksum that differs: damaged or cut short"
        )
    content: dict[str, Any] = msgspec.msgpack.decode(body)
    return content


def pack_rule(rule: Rule) -> dict[str, Any]:
    """A rule's class name and its fields."""
    return {"kind": type(rule).__name__, "fields": msgspec.to_builtins(rule)}


def unpack_rule(packed: dict[str, Any], own: Iterable[type[Rule]]) -> Rule:
    """Make the rule again, from ours or the user's own classes."""
    kinds = {**RULES, **{kind.__name__: kind for kind in own}}
    if packed["kind"] not in kinds:
        raise SnapshotError(
            f"snapshot: expected a rule among {', '.join(sorted(kinds))}, got {packed['kind']!r}; "
            "name your own with restore(blob, rules=(YourRule,))"
        )
    return msgspec.convert(packed["fields"], kinds[packed["kind"]])


def pack_belief(belief: Belief) -> dict[str, Any]:
    """A belief's class name, its arguments and what it learnt."""
    return {"kind": type(belief).__name__, "config": belief.config(), "state": belief.state()}


def unpack_belief(packed: dict[str, Any]) -> Belief:
    """Make the belief again."""
    config = dict(packed["config"])
    if "kernel" in config:
        config["kernel"] = msgspec.convert(config["kernel"], Kernel)
    belief: Belief = BELIEFS[packed["kind"]](**config)
    belief.load(packed["state"])
    return belief
