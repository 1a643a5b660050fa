"""Everything that can go wrong, as one tree.

    BreakevenError
    ├── InvalidInput      (ValueError)    a value that cannot be right
    ├── UnknownId         (KeyError)      no such arrival, or not in the needed state
    ├── DuplicateId       (ValueError)    the id is taken
    ├── ConflictingLabel  (ValueError)    told twice, with different values
    ├── WrongEvent        (ValueError)    an event that is not the next one of this stream
    ├── SnapshotError     (ValueError)    bytes that cannot be restored
    ├── TornLearner       (RuntimeError)  a call was cut off in the middle: restore the learner
    ├── NotANumber        (FloatingPointError)  a belief answered NaN
    ├── ListenerFailed    (RuntimeError)  a listener raised; the event happened all the same
    └── CalledByListener  (RuntimeError)  a verb was called from inside a listener

`storing` has what a store refuses, `serving` what a service refuses, and `statuses` says how each of them
ends a command or an HTTP request.

A rejected call changes nothing. Each message says what was expected, what came and what to do; for a package
that is missing, `how_to_install` says what to type.
"""

__all__ = [
    "BreakevenError",
    "CalledByListener",
    "ConflictingLabel",
    "DuplicateId",
    "InvalidInput",
    "ListenerFailed",
    "NotANumber",
    "SnapshotError",
    "TornLearner",
    "UnknownId",
    "WrongEvent",
]


class BreakevenError(Exception):
    """The root: catch this to catch all of them."""


class InvalidInput(BreakevenError, ValueError):
    """A value that cannot be right: not finite, of the wrong shape, out of range."""


class UnknownId(BreakevenError, KeyError):
    """No arrival with that id, or none in the state that the verb needs."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


class DuplicateId(BreakevenError, ValueError):
    """The id belongs to another arrival, or to the same one with another cost or decision."""


class ConflictingLabel(BreakevenError, ValueError):
    """An id was told a second time, with another value; a service says who told what."""

    told_by: str | None = None
    told: float | None = None


class SnapshotError(BreakevenError, ValueError):
    """Bytes that are not a snapshot, are damaged, or come from a newer version."""


class WrongEvent(BreakevenError, ValueError):
    """An event that cannot come next: a gap, a repeat, or an event of another stream."""


class TornLearner(BreakevenError, RuntimeError):
    """A call was cut off while it changed the learner: nothing can be said of its state."""


class NotANumber(BreakevenError, FloatingPointError):
    """A belief answered NaN: a prediction, an uncertainty or a worth that is not a number."""


class ListenerFailed(BreakevenError, RuntimeError):
    """A listener raised. The event happened, and every other listener has it."""


class CalledByListener(BreakevenError, RuntimeError):
    """A verb was called from inside a listener, while the event was still being handed out."""


def how_to_install(extra: str) -> str:
    """How to get what an extra of breakeven brings.

    >>> how_to_install("tables")
    "install it with `pip install '.[tables]'` in the folder of breakeven's source"
    """
    return f"install it with `pip install '.[{extra}]'` in the folder of breakeven's source"
