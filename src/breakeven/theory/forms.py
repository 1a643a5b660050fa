"""Which form of a theorem is meant: as the paper prints it, or with its slips mended.

Notation: `"printed"` is the paper's formula, `"corrected"` what its proof does establish. Only the latter is
a promise; where the two differ there are runs that cross the printed one.
"""

from typing import Literal

from breakeven.errors import expect

Form = Literal["corrected", "printed"]
FORMS = ("corrected", "printed")


def is_corrected(form: Form) -> bool:
    """Whether the corrected form is meant; any other word is refused.

    >>> is_corrected("corrected"), is_corrected("printed")
    (True, False)
    """
    return bool(expect.one_of("form", form, FORMS) == "corrected")
