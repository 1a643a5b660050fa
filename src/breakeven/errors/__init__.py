"""Everything that can go wrong, as one tree.

    BreakevenError
    ├── InvalidInput      (ValueError)    a value that cannot be right
    ├── UnknownId         (KeyError)      no such arrival, or not in the needed state
    ├── DuplicateId       (ValueError)    the id is taken
    ├── ConflictingLabel  (ValueError)    told twice, with different values
    └── SnapshotError     (ValueError)    bytes that cannot be restored

A rejected call changes nothing. Each message says what was expected, what came and what to do.
"""

__all__ = [
    "BreakevenError",
    "ConflictingLabel",
    "DuplicateId",
    "InvalidInput",
    "SnapshotError",
    "UnknownId",
]


class BreakevenError(Exception):
    """The root: catch this to catch all of them."""


class InvalidInput(BreakevenError, ValueError):
    """A value that cannot be right: not finite, of the wrong shape, out of range."""


class UnknownId(BreakevenError, KeyError):
    """No arrival with that id, or none in the state that the verb needs."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


class DuplicateId(BreakevenError, ValueError):
    """The id belongs to another arrival whose label is awaited or told."""


class ConflictingLabel(BreakevenError, ValueError):
    """An id was told a second time, with another value."""


class SnapshotError(BreakevenError, ValueError):
    """Bytes that are not a snapshot, are damaged, or come from a newer version."""
