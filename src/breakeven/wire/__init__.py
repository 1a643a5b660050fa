"""What goes over a wire: events and answers without loss, and the bodies of the HTTP interface.

`lossless` writes decisions, predictions and events as JSON or MessagePack, and reads them back. The other
files are the types that service and client share: arrivals, requests (labels that are awaited, as a desk
sees them), streams and how they are set up, entries of the log, problems.
"""

from breakeven.wire.lossless import (
    decision_from_json,
    decision_from_msgpack,
    event_from_json,
    event_from_msgpack,
    explanation_from_json,
    explanation_from_msgpack,
    prediction_from_json,
    prediction_from_msgpack,
    to_json,
    to_msgpack,
)

__all__ = [
    "decision_from_json",
    "decision_from_msgpack",
    "event_from_json",
    "event_from_msgpack",
    "explanation_from_json",
    "explanation_from_msgpack",
    "prediction_from_json",
    "prediction_from_msgpack",
    "to_json",
    "to_msgpack",
]
