"""Where a learner stands, for people and as plain data."""

from typing import Any

import msgspec

from breakeven.ledger import Ledger
from breakeven.rules import Rule
from breakeven.values import EVEN, ErrorCosts, Labeller


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The bill, the belief and the rule of a learner at one moment."""

    ledger: Ledger
    belief: dict[str, Any]
    rule: dict[str, Any]
    label_cost: float
    labels_known: int
    warmup_left: int
    fits: int
    ambiguous: int = 0  # decisions that might differ without the approximation
    error_cost: float = 1.0
    level: float = EVEN  # the quantile of the label that is answered
    yes_no: bool = False  # whether answers are, so that errors are misses and false alarms
    labellers: dict[str, Labeller] = {}
    horizon_passed: int | None = None  # the rule's horizon, once there are more rounds

    def __str__(self) -> str:
        """A few lines to read."""
        lines = [
            f"belief            {_words(self.belief)}",
            f"rule              {_words(self.rule)}",
            *self._prices(),
            str(self.ledger),
            f"labels known      {self.labels_known:>12,}",
        ]
        if self.warmup_left:
            lines.append(f"warm-up           {self.warmup_left:>12,} labels to go")
        if self.ambiguous:
            lines.append(f"ambiguous         {self.ambiguous:>12,} decisions")
        if self.horizon_passed is not None:
            passed = f"{self.horizon_passed:>12,} rounds have passed: as many again as seen are expected"
            lines.append(f"horizon           {passed}")
        return "\n".join(lines)

    def _prices(self) -> list[str]:
        lines = [
            f"{'cost of a label ':<18}{one.cost:>12,.2f}   ({name}, noise {one.noise_std:.4g})"
            for name, one in self.labellers.items()
        ] or [f"cost of a label   {self.label_cost:>12,.2f}"]
        errors = ErrorCosts(self.error_cost, self.level)
        if not errors.even:
            wrong = ("cost of 1 too low", "cost of 1 too high")
            if self.yes_no:
                wrong = ("cost of a miss", "of a false alarm")
            both = zip(wrong, (errors.under, errors.over), strict=True)
            lines += [f"{name:<18}{cost:>12,.2f}" for name, cost in both]
        elif self.error_cost != 1.0:
            lines.append(f"cost of an error  {self.error_cost:>12,.2f}")
        return lines


def horizon_passed(rule: Rule, rounds: int) -> int | None:
    """The horizon that a rule was given, if there were more rounds."""
    return rule.horizon if rule.horizon is not None and rule.horizon < rounds else None


def _words(part: dict[str, Any]) -> str:
    details = ", ".join(f"{name} {_short(value)}" for name, value in part.items() if name != "kind")
    return str(part["kind"]) + (f" ({details})" if details else "")


def _short(value: Any) -> str:
    if isinstance(value, dict) and "kind" in value:
        return _words(value)
    if isinstance(value, dict):
        named = [f"{name}={_short(one)}" for name, one in value.items() if name != "type"]
        return " ".join([value["type"], *named] if "type" in value else named)
    if isinstance(value, (tuple, list)):
        return "[" + " ".join(_short(one) for one in value) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
