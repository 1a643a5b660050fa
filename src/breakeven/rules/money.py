"""Money that is spent on labels, and one limit on it."""

from msgspec import Struct

from breakeven.values import ExactSum

SCARCEST = 1e9  # times a price, when nothing is left: a rule that wants a label even so is told no
NOTHING = ExactSum()


class Bought(Struct, frozen=True, gc=False, array_like=True):
    """A label bought: when, for how much, and whether it was an audit."""

    round: int
    cost: float
    audited: bool


class Spending(Struct, frozen=True, gc=False):
    """What was spent, and how much of it on audits; adding gives a new one."""

    all: ExactSum = NOTHING
    audits: ExactSum = NOTHING

    def plus(self, cost: float, *, audited: bool) -> "Spending":
        """Count one more; a cost below zero is given back."""
        return Spending(self.all.plus(cost), self.audits.plus(cost) if audited else self.audits)


class Cap(Struct, frozen=True, gc=False):
    """One limit at one moment: the money, what is spent of it, and how much of it is reserved for audits."""

    money: float
    spent: Spending
    reserve: float = 0.0

    @property
    def kept(self) -> float:
        """What is still set aside for audits."""
        return max(self.reserve - self.spent.audits.value, 0.0)

    @property
    def scarcity(self) -> float:
        """All that is not for audits, over what is left of it: 1 at first."""
        left, most = self.money - self.spent.all.value - self.kept, self.money - self.reserve
        return most / left if left * SCARCEST > most else SCARCEST

    def allows(self, cost: float, *, audit: bool = False) -> bool:
        """Whether a label may be bought; only an audit may touch what is set aside."""
        return self.spent.all.plus(cost).plus(0.0 if audit else self.kept).value <= self.money
