"""A rule around a rule: it passes on what happened, and has the last word."""

from typing import TYPE_CHECKING

from breakeven.errors import expect
from breakeven.rules.rule import Rule
from breakeven.values import Offer, View

if TYPE_CHECKING:
    from breakeven.rules.audit import Audit


class Wrapper(Rule):
    """Holds another rule, and hears and says what that one does, unless it knows better.

    >>> from breakeven.rules import Threshold
    >>> [type(one).__name__ for one in Wrapper(Threshold()).layers]
    ['Wrapper', 'Threshold']
    """

    rule: Rule

    def __post_init__(self) -> None:
        if not isinstance(self.rule, Rule):
            expect.refuse("rule", "a rule such as Threshold()", self.rule)

    def observe(self, *, labelled: bool) -> None:
        """Pass it on."""
        self.rule.observe(labelled=labelled)

    def fresh(self) -> None:
        """Pass it on."""
        self.rule.fresh()

    def check_start(self, rounds: int, cost: float) -> None:
        """Pass it on."""
        self.rule.check_start(rounds, cost)

    def forbids(self, view: View) -> str | None:
        """What the rule inside forbids."""
        return self.rule.forbids(view)

    def offers(self, view: View, *, audit: bool = False) -> tuple[Offer, ...]:
        """Those that the rule inside leaves."""
        return self.rule.offers(view, audit=audit)

    def exhausted(self, view: View) -> bool:
        """Whether the rule inside has no money any more."""
        return self.rule.exhausted(view)

    def bought(self, round: int, cost: float, *, audited: bool) -> None:
        """Pass it on."""
        self.rule.bought(round, cost, audited=audited)

    def returned(self, round: int, cost: float, *, audited: bool) -> None:
        """Pass it on."""
        self.rule.returned(round, cost, audited=audited)

    @property
    def layers(self) -> tuple[Rule, ...]:
        """The wrapper itself and what is inside it."""
        return (self, *self.rule.layers)

    @property
    def reservoir(self) -> int:
        """As many as the rule inside needs."""
        return self.rule.reservoir

    @property
    def horizon(self) -> int | None:
        """That of the rule inside."""
        return self.rule.horizon

    @property
    def audit(self) -> "Audit | None":
        """That of the rule inside."""
        return self.rule.audit
