"""Problems as RFC 9457 writes them: `type` names the class of the error, `detail` is its own sentence.

`problem_of` makes one of an error, and `error_of` the error again, in the library's own class.
"""

from msgspec import Struct

from breakeven.errors import BreakevenError, ConflictingLabel
from breakeven.errors.statuses import ENDINGS, ending_of

PROBLEM_PREFIX = "urn:breakeven:"
PROBLEM_MEDIA = "application/problem+json"


class Problem(Struct, frozen=True, omit_defaults=True):
    """What was refused, and why; `told_by` and `told` say who told what, where a label was told otherwise."""

    type: str
    title: str
    status: int
    detail: str
    told_by: str | None = None
    told: float | None = None


def problem_of(error: BreakevenError) -> Problem:
    """An error as a problem; a class that is not in the table goes by the nearest that is.

    >>> from breakeven.errors import ConflictingLabel
    >>> problem_of(ConflictingLabel("id 'a': expected 1.0, got 2.0")).type
    'urn:breakeven:ConflictingLabel'
    """
    kind = next(one for one in type(error).__mro__ if one in ENDINGS)
    ending = ending_of(kind)
    told_by, told = getattr(error, "told_by", None), getattr(error, "told", None)
    return Problem(PROBLEM_PREFIX + kind.__name__, ending.title, ending.status, str(error), told_by, told)


def error_of(problem: Problem) -> BreakevenError:
    """The error that a problem speaks of.

    >>> error_of(Problem("urn:breakeven:NotReady", "Not ready", 503, "later"))
    NotReady('later')
    """
    kinds = {one.__name__: one for one in ENDINGS}
    kind = kinds.get(problem.type.removeprefix(PROBLEM_PREFIX), BreakevenError)
    error = kind(problem.detail)
    if isinstance(error, ConflictingLabel):
        error.told_by, error.told = problem.told_by, problem.told
    return error
