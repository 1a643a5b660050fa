"""Where a learner stands, for people and as plain data."""

from typing import Any

import msgspec

from breakeven.ledger import Ledger


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The bill, the belief and the rule of a learner at one moment."""

    ledger: Ledger
    belief: dict[str, Any]
    rule: dict[str, Any]
    label_cost: float
    labels_known: int
    warmup_left: int
    fits: int
    ambiguous: int = 0  # decisions that an approximation could have turned

    def __str__(self) -> str:
        """A few lines to read."""
        lines = [
            f"belief            {_words(self.belief)}",
            f"rule              {_words(self.rule)}",
            f"price of a label  {self.label_cost:>12,.2f}",
            str(self.ledger),
            f"labels known      {self.labels_known:>12,}",
        ]
        if self.warmup_left:
            lines.append(f"warm-up           {self.warmup_left:>12,} labels to go")
        if self.ambiguous:
            lines.append(f"ambiguous         {self.ambiguous:>12,} decisions")
        return "\n".join(lines)


def _words(part: dict[str, Any]) -> str:
    details = ", ".join(f"{name} {_short(value)}" for name, value in part.items() if name != "kind")
    return str(part["kind"]) + (f" ({details})" if details else "")


def _short(value: Any) -> str:
    if isinstance(value, dict) and "type" in value:
        return f"{value['type']} " + " ".join(f"{k}={_short(v)}" for k, v in value.items() if k != "type")
    if isinstance(value, (tuple, list)):
        return "[" + " ".join(_short(one) for one in value) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
