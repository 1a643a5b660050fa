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

    def __init__(self, audit: Audit, noises: list[float]) -> None:
        self._audit = audit
        self._trail = Trail(
            audit.rate,
            bound=audit.bound,
            noise_std=max(noises),
            bound_on=audit.bound_on,
            least_noise_std=min(noises),
        )

    @classmethod
    def of(cls, rule: Rule, prices: Prices, belief: Belief) -> "Auditing | None":
        """Begin, if the rule is audited."""
        return None if rule.audit is None else cls(rule.audit, _noises(rule.audit, prices, belief))

    def check_goes_on(self, prices: Prices, belief: Belief) -> None:
        """Prices may change while it goes on, but no label be noisier or less noisy than it assumes."""
        least, most = self._trail.noise_stds
        for noise_std in _noises(self._audit, prices, belief):
            if not least <= noise_std <= most:
                within = f"{most:g}" if least == most else f"{least:g} to {most:g}"
                still = f"audits with noise {within} still; give a rule, too, to begin a new audit"
                expect.refuse("labellers", still, noise_std)

    def check_audit(self, id: str) -> None:
        """Raise unless an arrival of this id can have been drawn."""
        self._trail.check_audit(id)

    def follow(
        self,
        id: str,
        round: int,
        labelled: bool,
        propensity: float,
        reason: str,
        predicted: float | None,
        noise_std: float | None,
    ) -> None:
        """The rule answered: enter what was drawn, and what was not, if it could have been."""
        if predicted is not None:
            self._trail.audit(id, predicted, self._noise(noise_std))
        elif reason == "no_audit_money":
            self._trail.stop(round)
            self._audit.stopped = round
        elif not labelled and (propensity >= self._audit.rate or self._audit.stopped is not None):
            self._trail.decline()
        elif not labelled:
            self._trail.leave_out()

    def tell(self, id: str, y: float, noise_std: float | None) -> None:
        """A label came, of this noise if not of that asked for; only one that was drawn has a place here."""
        if id in self._trail:
            self._trail.tell(id, y, self._noise(noise_std))

    def _noise(self, noise_std: float | None) -> float | None:
        """What the audit was given holds for every label."""
        return noise_std if self._audit.noise_std is None else None

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


def _noises(audit: Audit, prices: Prices, belief: Belief) -> list[float]:
    """As given, or those of the labellers, or the belief's."""
    if audit.noise_std is not None:
        return [audit.noise_std]
    if prices.labellers:
        return [one.noise_std for one in prices.labellers.values()]
    if getattr(belief, "noise_std", 0.0) is None:
        expect.refuse("noise_std", "that of the labels, for the audit, as the belief only estimates it", None)
    return [belief.traits.noise_std]
