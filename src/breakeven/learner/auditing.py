"""The audit of a rule while it goes on: what enters its trail, and what noise its labels have."""

from typing import Any

from breakeven.beliefs import Belief
from breakeven.errors import expect
from breakeven.learner.prices import Prices
from breakeven.learner.trail import Trail
from breakeven.rules import Audit, Rule
from breakeven.values import AuditReport


class Auditing:
    """An audit and its trail; a person's decisions and the warm-up's are kept out of it."""

    def __init__(self, audit: Audit, noise_std: float) -> None:
        self._audit, self._noise_std = audit, noise_std
        self._trail = Trail(audit.rate, bound=audit.bound, noise_std=noise_std, bound_on=audit.bound_on)

    @classmethod
    def of(cls, rule: Rule, prices: Prices, belief: Belief) -> "Auditing | None":
        """Begin, if the rule is audited."""
        return None if rule.audit is None else cls(rule.audit, _noise_of(rule.audit, prices, belief))

    def check_goes_on(self, prices: Prices, belief: Belief) -> None:
        """Prices may change while it goes on, but not the noise of its labels."""
        noise_std = _noise_of(self._audit, prices, belief)
        if noise_std != self._noise_std:
            still = f"audits with noise {self._noise_std:g} still; give a rule, too, to begin a new audit"
            expect.refuse("labellers", still, noise_std)

    def follow(
        self, id: str, round: int, labelled: bool, propensity: float, reason: str, predicted: float | None
    ) -> None:
        """The rule answered: enter what was drawn, and what was declined and could have been drawn."""
        if predicted is not None:
            self._trail.audit(id, predicted)
        elif reason == "no_audit_money":
            self._trail.stop(round)
            self._audit.stopped = round
        elif not labelled and (propensity >= self._audit.rate or self._audit.stopped is not None):
            self._trail.decline()

    def tell(self, id: str, y: float) -> None:
        """A label came; only one that was drawn has a place here."""
        if id in self._trail:
            self._trail.tell(id, y)

    def correct(self, id: str, y: float) -> None:
        """A label was wrong."""
        if id in self._trail:
            self._trail.correct(id, y)

    def withdraw(self, id: str) -> None:
        """A label will never come, or must go."""
        if id in self._trail:
            self._trail.withdraw(id)

    def report(self) -> AuditReport:
        """What is known by now about errors where nobody asked."""
        return self._trail.report(level=self._audit.level)

    def state(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return self._trail.state()

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._trail.load(state)


def _noise_of(audit: Audit, prices: Prices, belief: Belief) -> float:
    """As given, or that of the labeller who is asked by default, or the belief's."""
    if audit.noise_std is not None:
        return audit.noise_std
    labeller = prices.quote().noise_std
    if labeller is not None:
        return labeller
    if getattr(belief, "noise_std", 0.0) is None:
        expect.refuse("noise_std", "that of the labels, for the audit, as the belief only estimates it", None)
    return belief.traits.noise_std
