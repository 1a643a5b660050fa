"""What a service refuses, besides what a learner and a store refuse.

ServiceError        (RuntimeError)     the root of these
├── Malformed       (ValueError)       a body or a query that is not of the type that was expected
├── NotIdentified   (PermissionError)  no token, or one that is wrong, expired or revoked
├── NotAllowed      (PermissionError)  a token without the role, or for other streams
├── UnknownPlace    (KeyError)         no such path, or no such method there
├── HeldByAnother                      a request that somebody else holds
├── StreamClosed                       a stream that takes no more
├── StreamDamaged                      a log that leads to no stream, until an administrator acts
├── ErasedId        (UnknownId)        an id that was erased, and stays so
├── TooLarge        (ValueError)       a body with too many bytes
│   └── HeadTooLarge                   the address and the headers of a call have too many bytes
├── WrongMedia      (ValueError)       a body, or an answer asked for, of a kind that is not spoken here
├── TooMany                            more than is allowed at once; `retry_after` says when to come back
└── NotReady                           not read from the log yet, or not written; try again
    ├── Overloaded                     more calls than can be answered soon
    └── Unreachable (ConnectionError)  a client gets no answer
"""

from breakeven.errors import BreakevenError, UnknownId


class ServiceError(BreakevenError, RuntimeError):
    """The root of all that a service refuses; `retry_after` is in seconds, where trying again makes sense."""

    retry_after: float | None = None
    why: BaseException | None = None  # said to those alone who administer

    __str__ = Exception.__str__


class Malformed(ServiceError, ValueError):
    """A body or a query that is not of the type that was expected."""


class NotIdentified(ServiceError, PermissionError):
    """No token, or one that is wrong, expired or revoked."""


class NotAllowed(ServiceError, PermissionError):
    """A token without the role that is needed, or one for other streams."""


class UnknownPlace(ServiceError, KeyError):
    """No such path, or no such method there."""


class HeldByAnother(ServiceError):
    """Somebody else holds the request; the message says who, and until when."""


class StreamClosed(ServiceError):
    """The stream was closed and takes no more."""


class StreamDamaged(ServiceError):
    """The log leads to no stream: trying again changes nothing, an administrator must act."""


class ErasedId(ServiceError, UnknownId):
    """All that was about this id was erased; it is never taken again."""


class TooLarge(ServiceError, ValueError):
    """A body with more bytes, or more of anything, than is taken at once."""


class HeadTooLarge(TooLarge):
    """The address and the headers of a call have more bytes than are taken."""


class WrongMedia(ServiceError, ValueError):
    """A body, or an answer asked for, of a kind that is not spoken here."""


class TooMany(ServiceError):
    """More than is allowed at once; `retry_after` says when to come back."""

    retry_after = 1.0


class NotReady(ServiceError):
    """The stream is being read from the log, or something could not be written: try again."""

    retry_after: float | None = 1.0


class Overloaded(NotReady):
    """More calls are under way than can be answered soon; nothing of this one was kept."""


class Unreachable(NotReady, ConnectionError):
    """A client gets no answer; what it sent may have been done all the same, and is safe to send again."""

    retry_after = None
