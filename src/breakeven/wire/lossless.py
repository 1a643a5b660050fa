"""Decisions, predictions and events as JSON or MessagePack, and back without loss.

JSON has no infinity: a number that may be infinite is null there and comes back infinite; a number that is
not there at all (a threshold, a worth) is left out. JSON has no bytes either: types that are bytes are
refused by it, while MessagePack holds them.
"""

from math import inf, isnan, nan
from typing import Any

import msgspec
from msgspec.structs import replace

from breakeven.errors import InvalidInput, expect
from breakeven.values import AnyEvent, Arrived, Decision, Event, Explanation, Learnt, Prediction

EVENT_WRITER = msgspec.msgpack.Encoder()
EVENT_READER = msgspec.msgpack.Decoder(AnyEvent)
MISSING = {"threshold": nan, "worth": None, "worth_now": None}  # what a field that was left out stands for


def to_json(value: Event | Decision | Prediction | Explanation) -> bytes:
    """One value as JSON.

    >>> to_json(Prediction(mean=0.0, std=inf, noise_std=1.0))
    b'{"mean":0.0,"std":null,"noise_std":1.0}'
    """
    plain = msgspec.to_builtins(value, builtin_types=(bytes,))
    for part in (plain, *plain.get("similar", ())):
        if isinstance(part.get("x"), bytes | list | tuple):
            _check_text("x", part["x"])
    if isinstance(plain.get("state"), bytes):
        plain["state"] = msgspec.to_builtins(plain["state"])
    return msgspec.json.encode(_without_missing(plain))


def event_from_json(blob: bytes | str) -> AnyEvent:
    """The event that `to_json` wrote."""
    event: AnyEvent = _read(AnyEvent, _with_infinities(_decoded(msgspec.json.decode, blob)))
    return event


def decision_from_json(blob: bytes | str) -> Decision:
    """The decision that `to_json` wrote."""
    decision: Decision = _read(Decision, _with_infinities(_decoded(msgspec.json.decode, blob)))
    return decision


def prediction_from_json(blob: bytes | str) -> Prediction:
    """The prediction that `to_json` wrote."""
    prediction: Prediction = _read(Prediction, _with_infinities(_decoded(msgspec.json.decode, blob)))
    return prediction


def explanation_from_json(blob: bytes | str) -> Explanation:
    """The explanation that `to_json` wrote."""
    explanation: Explanation = _read(Explanation, _with_infinities(_decoded(msgspec.json.decode, blob)))
    return explanation


def to_msgpack(value: Event | Decision | Prediction | Explanation) -> bytes:
    """One value as MessagePack."""
    return EVENT_WRITER.encode(value)


def event_from_msgpack(blob: bytes) -> AnyEvent:
    """The event that `to_msgpack` wrote."""
    try:
        event: AnyEvent = EVENT_READER.decode(blob)
    except (msgspec.DecodeError, TypeError, UnicodeDecodeError, RecursionError):
        event = _read(AnyEvent, _decoded(msgspec.msgpack.decode, blob))  # which says what is wrong
    return _as_made(event)


def decision_from_msgpack(blob: bytes) -> Decision:
    """The decision that `to_msgpack` wrote."""
    decision: Decision = _read(Decision, _decoded(msgspec.msgpack.decode, blob))
    return decision


def prediction_from_msgpack(blob: bytes) -> Prediction:
    """The prediction that `to_msgpack` wrote."""
    prediction: Prediction = _read(Prediction, _decoded(msgspec.msgpack.decode, blob))
    return prediction


def explanation_from_msgpack(blob: bytes) -> Explanation:
    """The explanation that `to_msgpack` wrote."""
    explanation: Explanation = _read(Explanation, _decoded(msgspec.msgpack.decode, blob))
    return explanation


def _as_made(event: AnyEvent) -> AnyEvent:
    """An event whose point has tuples again, and whose NaN is ours, so that equal events compare as equal."""
    if isinstance(event, Arrived | Learnt) and type(event.x) is list:
        event = replace(event, x=_tuples(event.x))
    if isinstance(event, Arrived) and isnan(event.decision.threshold):
        event = replace(event, decision=replace(event.decision, threshold=nan))
    return event


def _decoded(decode: Any, blob: Any) -> Any:
    try:
        plain = decode(blob)
    except (msgspec.DecodeError, TypeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"wire: expected a value that was written here, got {error}") from error
    if not isinstance(plain, dict):
        expect.refuse("wire", "an object with named fields", plain)
    return plain


def _read(kind: Any, plain: dict[str, Any]) -> Any:
    """A value from plain data, in which points are tuples again."""
    for part in (plain, *plain.get("similar", ())):
        if isinstance(part.get("x"), list):
            part["x"] = _tuples(part["x"])
    for part in _parts(plain):
        if isinstance(part.get("threshold"), float) and isnan(part["threshold"]):
            part["threshold"] = nan  # the same object as ours, so that equal values compare as equal
    stored = (bytes,) if isinstance(plain.get("state"), bytes) else None
    try:
        return msgspec.convert(plain, kind, builtin_types=stored)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"wire: expected a value that was written here, got {error}") from error


def _with_infinities(plain: dict[str, Any]) -> dict[str, Any]:
    """Put back what JSON cannot hold: null is infinite, and what was left out is missing."""
    for part in _parts(plain):
        for name in ("std", "uncertainty", "threshold", "worth", "worth_now", "flips_at"):
            if part.get(name, 0.0) is None:
                part[name] = inf
        if "uncertainty" in part:
            part.update({name: missing for name, missing in MISSING.items() if name not in part})
    return plain


def _without_missing(plain: dict[str, Any]) -> dict[str, Any]:
    """Leave out fields that are not there, so that null always means infinite."""
    for part in _parts(plain):
        for name in MISSING:
            if name in part and (part[name] is None or isnan(part[name])):
                del part[name]
    return plain


def _parts(plain: dict[str, Any]) -> list[dict[str, Any]]:
    """A value, the decision in it, and the prediction in that."""
    parts = [plain]
    for name in ("decision", "prediction"):
        inner = parts[-1].get(name)
        if isinstance(inner, dict):
            parts.append(inner)
    return parts


def _tuples(x: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(part) if isinstance(part, list) else part for part in x)


def _check_text(name: str, x: Any) -> None:
    if isinstance(x, bytes):
        expect.refuse(name, "a type that JSON can hold, text or a whole number (MessagePack holds bytes)", x)
    if isinstance(x, list | tuple):
        for i, part in enumerate(x):
            _check_text(f"{name}[{i}]", part)
