"""What a store refuses, and what goes wrong in one.

    StoreError          (RuntimeError)  the root of these
    ├── StoreHeld                       another process writes to it; the message says which, and since when
    ├── WrongStore                      no store of breakeven, or one of another version
    │   └── MissingStore                nothing is there yet
    ├── SecondWriter                    somebody else wrote that number: read the stream anew
    ├── StoreFailed                     the disk is full, the database is gone, the file cannot be read
    └── UnknownStream   (KeyError)      no stream of that name or number

An id that has arrived before is refused with `breakeven.errors.DuplicateId`, a gap in the numbers of a stream
with `breakeven.errors.WrongEvent`.
"""

from breakeven.errors import BreakevenError


class StoreError(BreakevenError, RuntimeError):
    """The root of all that a store refuses, and of all that goes wrong in one."""


class StoreHeld(StoreError):
    """Another process writes to the store; the message says which, and since when."""


class WrongStore(StoreError):
    """A file or database that is no store of breakeven, or that is one of another version."""


class MissingStore(WrongStore):
    """No store is there yet: no file of that name, or a database without tables."""


class SecondWriter(StoreError):
    """An entry with that number is there: somebody else writes to the stream, which must be read anew."""


class StoreFailed(StoreError):
    """Something could not be written or read: a full disk, a database that is gone, a damaged file."""

    retry_after = 1.0  # seconds


class UnknownStream(StoreError, KeyError):
    """No stream with that name or number."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes
