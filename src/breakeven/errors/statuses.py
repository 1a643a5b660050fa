"""How each error ends: the exit code of a command, and the status of an HTTP request. The one table of this.

A class that is not in it ends as the nearest of its bases that is.
"""

from typing import NamedTuple

from breakeven.errors import (
    BreakevenError,
    ConflictingLabel,
    DuplicateId,
    InvalidInput,
    NotANumber,
    SnapshotError,
    UnknownId,
    WrongEvent,
)
from breakeven.errors.serving import (
    ErasedId,
    HeadTooLarge,
    HeldByAnother,
    Malformed,
    NotAllowed,
    NotIdentified,
    NotReady,
    Overloaded,
    ServiceError,
    StreamClosed,
    StreamDamaged,
    TooLarge,
    TooMany,
    UnknownPlace,
    WrongMedia,
)
from breakeven.errors.storing import (
    SecondWriter,
    StoreError,
    StoreFailed,
    StoreHeld,
    UnknownStream,
    WrongStore,
)


class Ending(NamedTuple):
    """The status of an HTTP request, its title, and the exit code of a command."""

    status: int
    title: str
    exit_code: int = 2


ENDINGS: dict[type[BreakevenError], Ending] = {
    BreakevenError: Ending(500, "Something went wrong"),
    InvalidInput: Ending(422, "A value that cannot be right"),
    SnapshotError: Ending(422, "No snapshot of a learner"),
    UnknownId: Ending(404, "No such arrival"),
    UnknownStream: Ending(404, "No such stream"),
    DuplicateId: Ending(409, "The id is taken"),
    ConflictingLabel: Ending(409, "Told otherwise before"),
    WrongEvent: Ending(409, "Not what comes next"),
    NotANumber: Ending(500, "The belief gave no number"),
    StoreError: Ending(503, "The store cannot be used"),
    StoreFailed: Ending(503, "The store failed"),
    StoreHeld: Ending(503, "Another process writes to the store"),
    SecondWriter: Ending(503, "Another process writes to the stream"),
    WrongStore: Ending(503, "A store of another version"),
    ServiceError: Ending(500, "Something went wrong"),
    Malformed: Ending(400, "Not of the expected type"),
    NotIdentified: Ending(401, "A token is needed"),
    NotAllowed: Ending(403, "Not allowed"),
    UnknownPlace: Ending(404, "No such place"),
    HeldByAnother: Ending(409, "Somebody else holds it"),
    StreamClosed: Ending(410, "The stream is closed"),
    StreamDamaged: Ending(500, "The stream cannot be read"),
    ErasedId: Ending(410, "It was erased"),
    TooLarge: Ending(413, "Too large"),
    HeadTooLarge: Ending(431, "Headers too large"),
    WrongMedia: Ending(415, "Not spoken here"),
    TooMany: Ending(429, "Too many"),
    NotReady: Ending(503, "Not ready"),
    Overloaded: Ending(503, "Too much to do"),
}


def ending_of(error: BreakevenError | type[BreakevenError]) -> Ending:
    """How an error ends.

    >>> ending_of(ConflictingLabel("told 3")).status, ending_of(UnknownStream).status
    (409, 404)
    """
    kind = error if isinstance(error, type) else type(error)
    return next(ENDINGS[one] for one in kind.__mro__ if one in ENDINGS)
