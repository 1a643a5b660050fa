"""What a rule is: a pure answer to a view, and a memory of its own answers.

`decide` changes nothing; `observe` is called once for every arrival that the rule itself decided, so that
replaying outcomes leaves the rule as it was. All fields are kept in snapshots.
"""

from typing import ClassVar

import msgspec

from breakeven.values import Verdict, View


class Rule(msgspec.Struct):
    """When a label is worth its price. Subclass it to write your own.

    >>> class EveryTenth(Rule):
    ...     def decide(self, view):
    ...         return Verdict(view.round % 10 == 0, reason="Every tenth arrival is labelled.")
    """

    reads_prediction: ClassVar[bool] = False
    """Whether answers depend on predictions; only then can a late label change a decision."""

    def decide(self, view: View) -> Verdict:
        """Whether this arrival's label is worth its price."""
        raise NotImplementedError

    def observe(self, *, labelled: bool) -> None:
        """Remember an answer; most rules need not."""
