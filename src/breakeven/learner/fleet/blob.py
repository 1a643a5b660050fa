"""A fleet as bytes: a mark, a version, a digest, a head that names every column, then the columns.

Columns are little-endian, each in the smallest of a few dtypes that holds it to the bit. Nothing in there can
run. Whatever this version does not know is refused, as is what cannot be the state of a fleet.
"""

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.errors import SnapshotError, expect
from breakeven.learner.fleet.fleet_state import FleetState
from breakeven.learner.fleet.passing import NO_CELL, NOT_WITHDRAWN
from breakeven.learner.learner import Learner
from breakeven.rules import VariableUncertainty

FLEET_MARK = b"breakeven fleet"
FLEET_VERSION = 1
DIGEST_SIZE = 32
HEAD_SIZE = len(FLEET_MARK) + 2 + DIGEST_SIZE + 8  # mark, version, digest, length of the head
DTYPES = ("u1", "u2", "u4", "i8", "f8")
WHOLE_DTYPES = DTYPES[:-1]
MEMBER_COLUMNS = ("code", "rounds", "number", "next_number", "bought")
LEARNT_COLUMNS = ("fits", "fitted_at", "fitted_rounds")
LEARNT_NUMBERS = ("prior_mean", "prior_std")
CELL_COLUMNS = ("key", "type", "arrivals", "asked", "told")
KEPT_COLUMNS = ("key", "id", "cell", "round", "number", "withdrawn")
KEPT_NUMBERS = ("given", "y")

Fill = Callable[[FleetState], None]


class Head(msgspec.Struct, forbid_unknown_fields=True):
    """What the columns are: [name, dtype, rows, numbers in a row], and all that is no column."""

    config: dict[str, Any]
    windows: tuple[int, int]
    kinds: dict[str, Any]
    texts: dict[str, list[str]]
    labels: tuple[int, int, int]
    columns: list[tuple[str, str, int, int]]


# -- writing -------------------------------------------------------------------------------------------


def dump(state: FleetState) -> bytes:
    """The whole state. Keys without arrivals or labels are left out, and so are ids that are not needed."""
    members, cells, labels = state.members, state.cells, state.labels.columns
    kinds = state.labels.rows_by_kind()
    rows = np.concatenate(kinds)
    used = members["rounds"] > 0
    used[labels["key"][rows]] = True
    number = np.cumsum(used) - 1
    state_ids = state.ids.values(labels["id"][rows]) if state.ids.kind == "texts" else None
    columns: dict[str, NDArray[Any]] = {}
    for name in member_columns(state):
        columns[f"members.{name}"] = members[name][used]
    for name in (*CELL_COLUMNS, "parts"):
        columns[f"cells.{name}"] = cells[name]
    for name in (*KEPT_COLUMNS, *KEPT_NUMBERS):
        columns[f"labels.{name}"] = labels[name][rows]
    columns["cells.key"], columns["labels.key"] = number[cells["key"]], number[labels["key"][rows]]
    columns["labels.cell"] = columns["labels.cell"] - NO_CELL
    columns["labels.withdrawn"] = columns["labels.withdrawn"].astype(np.int64) - NOT_WITHDRAWN
    texts: list[str] = []
    if state_ids is not None:
        texts = list(dict.fromkeys(state_ids))
        places = dict(zip(texts, range(len(texts)), strict=True))
        columns["labels.id"] = np.fromiter(map(places.__getitem__, state_ids), np.int64, len(rows))
    written = {name: one for name, column in columns.items() if (one := _narrowed(name, column)) is not None}
    head = Head(
        config=state.template.config(),
        windows=state.labels.windows,
        kinds={"keys": state.keys.kind, "types": state.types.kind, "ids": state.ids.kind},
        texts={"keys": state.keys.texts, "types": state.types.texts, "ids": texts},
        labels=(len(kinds[0]), len(kinds[1]), len(kinds[2])),
        columns=[
            (name, one.dtype.str[1:], len(one), one.shape[1] if one.ndim > 1 else 0)
            for name, one in written.items()
        ],
    )
    packed = msgspec.msgpack.encode(head)
    start = FLEET_MARK + FLEET_VERSION.to_bytes(2, "big")
    body = [len(packed).to_bytes(8, "big"), packed, *(_bytes(one) for one in written.values())]
    digest = blake2b(start, digest_size=DIGEST_SIZE)
    for piece in body:
        digest.update(piece)
    return b"".join([start, digest.digest(), *body])


def member_columns(state: FleetState) -> list[str]:
    """The columns of keys that a fleet of this configuration has to keep."""
    memory = ["memory"] if isinstance(state.learner.rule, VariableUncertainty) else []
    learnt = [*LEARNT_COLUMNS, *LEARNT_NUMBERS] if state.priors.learns else []
    return [*MEMBER_COLUMNS, "spend", *memory, *learnt]


def _bytes(column: NDArray[Any]) -> Any:
    return np.ascontiguousarray(column).astype(column.dtype.newbyteorder("<"), copy=False).tobytes()


def _narrowed(name: str, column: NDArray[Any]) -> NDArray[Any] | None:
    """A column in the smallest dtype that holds it; None where there is nothing but what it has when new."""
    if name in ("members.spend", "cells.parts"):
        width = int(np.flatnonzero(column.any(axis=0)).max(initial=-1)) + 1
        return column[:, :width] if width else None
    if name == "members.memory" or (column.dtype.kind == "f" and name not in ("cells.asked", "cells.told")):
        return None if name == "labels.given" and np.isnan(column).all() else column
    low, high = int(column.min(initial=0)), int(column.max(initial=0))
    if low < 0:
        return column.astype(np.int64)
    dtype = next(one for one in WHOLE_DTYPES if high <= np.iinfo(one).max)
    return column.astype(dtype)


# -- reading -------------------------------------------------------------------------------------------


def read(blob: Any) -> tuple[Learner, tuple[int, int], Fill]:
    """The configuration and the windows of a fleet, and what fills it with its state."""
    try:
        return _read(blob)
    except SnapshotError:
        raise
    except Exception as error:
        raise _unreadable(str(error)) from error


def _read(blob: Any) -> tuple[Learner, tuple[int, int], Fill]:
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise SnapshotError(f"fleet: expected bytes, got {type(blob).__name__}")
    blob, mark = bytes(blob), len(FLEET_MARK)
    if not blob.startswith(FLEET_MARK) or len(blob) < HEAD_SIZE:
        raise SnapshotError(f"fleet: expected bytes from Fleet.dump, got {expect.shown(blob[:20])}")
    version = int.from_bytes(blob[mark : mark + 2], "big")
    if version != FLEET_VERSION:
        raise SnapshotError(f"fleet: expected version {FLEET_VERSION}, got {version}; upgrade breakeven")
    digest = blake2b(blob[: mark + 2], digest_size=DIGEST_SIZE)
    digest.update(memoryview(blob)[mark + 2 + DIGEST_SIZE :])
    if not compare_digest(digest.digest(), blob[mark + 2 : mark + 2 + DIGEST_SIZE]):
        raise SnapshotError("fleet: expected whole bytes, got a digest that differs: damaged or cut short")
    length = int.from_bytes(blob[HEAD_SIZE - 8 : HEAD_SIZE], "big")
    head = msgspec.msgpack.decode(blob[HEAD_SIZE : HEAD_SIZE + length], type=Head)
    columns = _columns(head, blob, HEAD_SIZE + length)
    return (
        _template(msgspec.msgpack.encode(head.config)),
        head.windows,
        lambda state: _fill(state, head, columns),
    )


@lru_cache(maxsize=32)
def _template(config: bytes) -> Learner:
    """A learner of this configuration; one for all fleets that are read, as none of them changes it."""
    return Learner.of(msgspec.msgpack.decode(config))


def _columns(head: Head, blob: bytes, start: int) -> dict[str, NDArray[Any]]:
    """The columns that the head names; all of them, and nothing behind them."""
    columns: dict[str, NDArray[Any]] = {}
    for name, dtype, rows, width in head.columns:
        if name in columns or dtype not in DTYPES or min(rows, width) < 0:
            raise _unreadable(f"a column {name!r} of {dtype!r} that this version does not know")
        count = rows * max(width, 1)
        column = np.frombuffer(blob, np.dtype(dtype).newbyteorder("<"), count, start)
        start += column.nbytes
        column = column.astype(np.float64 if dtype == "f8" else np.int64)
        columns[name] = column.reshape(rows, width) if width else column
    if start != len(blob):
        raise _unreadable("bytes behind the last column")
    return columns


def _fill(state: FleetState, head: Head, columns: dict[str, NDArray[Any]]) -> None:
    try:
        _fill_checked(state, head, columns)
    except SnapshotError:
        raise
    except Exception as error:
        raise _unreadable(str(error)) from error


def _fill_checked(state: FleetState, head: Head, columns: dict[str, NDArray[Any]]) -> None:
    for name, words in (("keys", state.keys), ("types", state.types), ("ids", state.ids)):
        kind, texts = head.kinds[name], head.texts[name]
        if kind not in (None, "integers", "texts") or len(set(texts)) < len(texts):
            raise _unreadable(f"{name} of another kind")
        words.load(kind, texts)
    rooms: dict[str, dict[str, NDArray[Any]]] = {"members": {}, "cells": {}, "labels": {}}
    members, cells, labels = rooms.values()
    for name, column in columns.items():
        room, field = name.split(".")
        rooms[room][field] = column
    known = set(member_columns(state)), {*CELL_COLUMNS, "parts"}, {*KEPT_COLUMNS, *KEPT_NUMBERS}
    for one, names in zip((members, cells, labels), known, strict=True):
        if set(one) - names or names - set(one) - {"spend", "parts", "given"}:
            raise _unreadable(f"the columns {sorted(set(one) ^ names)}")
    counts = len(members["code"]), len(cells["key"]), len(labels["key"])
    for one, count in zip((members, cells, labels), counts, strict=True):
        if any(len(column) != count for column in one.values()):
            raise _unreadable("columns of other lengths")
    labels["cell"], labels["withdrawn"] = labels["cell"] + NO_CELL, labels["withdrawn"] + NOT_WITHDRAWN
    _check_places(state, members, cells, labels, head.labels)
    for table, one, name in ((state.members, members, "spend"), (state.cells, cells, "parts")):
        wide = one.pop(name, np.zeros((len(next(iter(one.values()))), 0)))
        if wide.shape[1] > table.kinds[name].width:
            table.widen(name, wide.shape[1])
        table.put(one)
        table[name][:, : wide.shape[1]] = wide
    one_each = state.members.index(np.arange(counts[0]), 2 * counts[0]) < 0
    one_each &= state.cells.index(np.arange(counts[1]), 2 * counts[1]) < 0
    if not one_each or not state.labels.put(labels, head.labels):
        raise _unreadable("a key, a type or a label twice")
    state.priors.begin(0)
    for name in LEARNT_NUMBERS:
        if name in members:
            state.members[name][:] = members[name]
    state.recount()


def _check_places(
    state: FleetState,
    members: dict[str, NDArray[Any]],
    cells: dict[str, NDArray[Any]],
    labels: dict[str, NDArray[Any]],
    counts: tuple[int, int, int],
) -> None:
    """Every number that is a place is one that exists, and counts are what counts can be."""
    awaited, settled, early = counts
    ranges = [
        (cells["key"], 0, len(members["code"])),
        (labels["key"], 0, len(members["code"])),
        (labels["cell"], NO_CELL, len(cells["key"])),
        (labels["withdrawn"], NOT_WITHDRAWN, 4),
        *((members[name], 0, 2**63) for name in (*MEMBER_COLUMNS[1:], *LEARNT_COLUMNS) if name in members),
        *((cells[name], 0, 2**53) for name in CELL_COLUMNS[2:]),
    ]
    codes = (state.keys, members["code"]), (state.types, cells["type"]), (state.ids, labels["id"])
    ranges += [(column, 0, len(words.texts)) for words, column in codes if words.kind == "texts"]
    for column, least, end in ranges:
        if len(column) and not (least <= int(column.min()) and int(column.max()) < end):
            raise _unreadable("a number out of its range")
    if min(counts) < 0 or awaited + settled + early != len(labels["key"]):
        raise _unreadable("labels that are not counted")
    if (cells["told"] > cells["asked"]).any():
        raise _unreadable("more labels told than asked for")
    ahead = labels["cell"] == NO_CELL
    if ahead[: awaited + settled].any() or not ahead[awaited + settled :].all():
        raise _unreadable("labels in another order")
    named = labels["cell"][~ahead]
    if (cells["key"][named] != labels["key"][~ahead]).any():
        raise _unreadable("a label of another key's type")


def _unreadable(what: str) -> SnapshotError:
    return SnapshotError(f"fleet: expected the state of a fleet, got something else ({what})")
