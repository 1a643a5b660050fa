"""A hard limit on what is spent on labels, overall and in any stretch of rounds.

Labels count at their price from the moment they are asked for. The less is left, the dearer a label looks to
the rule inside, so that money does not run out all at once. Money for audits is set aside first.
"""

from copy import copy
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from breakeven.errors import expect
from breakeven.rules.value import Value
from breakeven.rules.wrapper import Wrapper
from breakeven.values import ExactSum, Offer, Verdict, View

SCARCEST = 1e9  # times a price, when nothing is left: a rule that wants a label even so is told no
NOTHING = ExactSum()
IN_BUDGET = {
    "unsure": "unsure_in_budget",
    "sure": "sure_in_budget",
    "sure_from_start": "sure_in_budget",
}


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


class Budget(Wrapper):
    """Follow a rule within a budget: `total` in all, and `per=(money, rounds)` in so many rounds in a row.

    Only labels bought under this rule count, each from the moment it is asked for; one that is withdrawn and
    not charged is given back. No label goes past the limit: also not one of the warm-up or of a person.

    >>> from breakeven.rules import Threshold
    >>> Budget(Threshold(), total=500.0, per=(20.0, 100)).left
    500.0
    """

    total: float | None = None
    per: tuple[float, int] | None = None
    spending: Spending = Spending()
    lately: Spending = Spending()  # on those of `recent`
    recent: list[Bought] = field(default_factory=list)  # in the rounds before the last was bought

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.total is None and self.per is None:
            expect.refuse("total", "a budget in all, or per=(money, rounds)", None)
        if self.total is not None:
            self.total = expect.positive("total", self.total)
        if self.per is not None:
            self.per = _per(self.per)

    @property
    def left(self) -> float | None:
        """What is left of the total."""
        return None if self.total is None else self.total - self.spending.all.value

    def check_start(self, rounds: int, cost: float) -> None:
        """One label at least must be within reach."""
        super().check_start(rounds, cost)
        for name, money in (("total", self.total), ("per", self.per and self.per[0])):
            if money is not None and money < cost:
                expect.refuse(name, f"at least {cost:g}, the price of one label", money)

    def describe(self) -> dict[str, Any]:
        """What it is now: the limits, and what is left."""
        described = super().describe()
        for memory in ("spending", "lately", "recent"):
            del described[memory]
        return {**described, "left": self.left}

    # -- answers ---------------------------------------------------------------------------------

    def decide(self, view: View) -> Verdict:
        """Ask the rule at a price that rises as money gets scarce, and see whether it can be paid."""
        caps = self._caps(view)
        scarcity = max(cap.scarcity for cap in caps)
        verdict = self.rule.decide(_dearer(view, scarcity) if scarcity > 1.0 else view)
        audit = self.audit
        if audit is not None and audit.covers(verdict):
            if not all(cap.allows(view.cost, audit=True) for cap in caps):
                return audit.ended(verdict)
            if verdict.wants_label:
                return verdict
        offer = view.offer(verdict.labeller)
        if verdict.wants_label and not all(cap.allows(offer.cost) for cap in caps):
            return replace(verdict, wants_label=False, reason="no_money", propensity=None)
        return replace(verdict, reason=_reason(verdict, offer)) if scarcity > 1.0 else verdict

    def forbids(self, view: View) -> str | None:
        """Nobody may spend more than there is."""
        payable = all(cap.allows(view.cost) for cap in self._caps(view))
        return self.rule.forbids(view) if payable else "no_money"

    def _caps(self, view: View) -> list[Cap]:
        caps = []
        if self.total is not None:
            caps.append(Cap(self.total, self.spending, self._reserve(view, self.total, self._horizon())))
        if self.per is not None:
            money, rounds = self.per
            caps.append(Cap(money, self._spent_by(view.round), self._reserve(view, money, rounds)))
        return caps

    def _reserve(self, view: View, money: float, rounds: int | None) -> float:
        """What audits will need in so many rounds, but half the money at most."""
        audit = self.audit
        if audit is None or audit.stopped is not None:
            return 0.0
        return money / 2 if rounds is None else min(money / 2, audit.rate * rounds * view.cost)

    def _horizon(self) -> int | None:
        return next((one.horizon for one in self.layers if isinstance(one, Value)), None)

    # -- memory ----------------------------------------------------------------------------------

    def bought(self, round: int, cost: float, *, audited: bool) -> None:
        """Take it from what is left."""
        super().bought(round, cost, audited=audited)
        self.spending = self.spending.plus(cost, audited=audited)
        if self.per is not None:
            self.lately = self._spent_by(round).plus(cost, audited=audited)
            self.recent = [one for one in self.recent if one.round >= self._first(round)]
            self.recent.append(Bought(round, cost, audited))

    def returned(self, round: int, cost: float, *, audited: bool) -> None:
        """Give it back."""
        super().returned(round, cost, audited=audited)
        self.spending = self.spending.plus(-cost, audited=audited)
        if any(one.round == round for one in self.recent):
            self.lately = self.lately.plus(-cost, audited=audited)
            self.recent = [one for one in self.recent if one.round != round]

    def _spent_by(self, round: int) -> Spending:
        """What was spent in the stretch of rounds that ends with this one."""
        spent, first = self.lately, self._first(round)
        for one in self.recent:  # in order, so only those that dropped out since are looked at
            if one.round >= first:
                break
            spent = spent.plus(-one.cost, audited=one.audited)
        return spent

    def _first(self, round: int) -> int:
        return 1 if self.per is None else round - self.per[1] + 1


def _per(per: object) -> tuple[float, int]:
    if not isinstance(per, tuple | list) or len(per) != 2:
        expect.refuse("per", "a pair of money and rounds", per)
    return expect.positive("per[0]", per[0]), expect.whole("per[1]", per[1], least=1)


def _dearer(view: View, factor: float) -> View:
    """The same arrival at higher prices; `cost` stays what must be paid."""
    dearer = copy(view)
    dearer.price = view.price * factor
    dearer.offers = tuple(
        Offer(one.price * factor, one.noise_std, one.labeller, one.cost) for one in view.offers
    )
    return dearer


def _reason(verdict: Verdict, offer: Offer) -> str:
    """The rule spoke of a price that is not the one paid."""
    worth = verdict.worth
    if not verdict.wants_label and worth is not None and worth > offer.price:
        return "kept_for_later"
    return IN_BUDGET.get(verdict.reason, verdict.reason)
