"""Hard limits around a rule: on what is spent, overall and in any stretch of rounds, and on labels awaited.

A label counts at its cost from the moment it is asked for. The less money is left, the higher the price that
the rule inside sees, so that money does not run out all at once. Money for audits is set aside first.
"""

from bisect import insort
from copy import copy
from math import sqrt
from typing import Any, ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from breakeven.errors import expect
from breakeven.rules.audit import Audit, left_out
from breakeven.rules.rule import Rule, Wrapper
from breakeven.values import NO_SUM, Decision, ExactSum, Offer, Traits, Verdict, View, best_offer

IN_BUDGET = {
    "unsure": "unsure_in_budget",
    "sure": "sure_in_budget",
    "sure_from_start": "sure_in_budget",
}
NO_LABEL = ("no_money", "no_audit_money", "queue_full")  # reasons that hold whatever a label is worth
SCARCEST = 1e9  # the factor on prices when nothing is left; a label that is wanted even then is refused


class Bought(Struct, frozen=True, gc=False, array_like=True):
    """A label bought: when, for how much, and whether it was an audit."""

    round: int
    cost: float
    audited: bool


class Spending(Struct, frozen=True, gc=False):
    """What was spent, and how much of it on audits; adding gives a new one."""

    all: ExactSum = NO_SUM
    audits: ExactSum = NO_SUM

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
        """The money that is not for audits, divided by what is left of it: 1 at first."""
        left, most = self.money - self.spent.all.value - self.kept, self.money - self.reserve
        return most / left if left * SCARCEST > most else SCARCEST

    def allows(self, cost: float, *, audit: bool = False) -> bool:
        """Whether a label may be bought; only an audit may touch what is set aside."""
        return self.spent.all.plus(cost).plus(0.0 if audit else self.kept).value <= self.money


class Budget(Wrapper):
    """Follow a rule within a budget: `total` in all, and `per=(money, rounds)` in any stretch of rounds.

    Only labels bought under this rule count, each from the moment it is asked for; one that is withdrawn and
    not charged is given back. No label exceeds the limit, not even one of the warm-up or of a person, except
    one whose withdrawal is undone after its money was spent again: then nothing is left.

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
        for name in ("spending", "lately"):
            if not isinstance(getattr(self, name), Spending):
                expect.refuse(name, "a Spending", getattr(self, name))
        if not isinstance(self.recent, list) or not all(isinstance(one, Bought) for one in self.recent):
            expect.refuse("recent", "a list of labels Bought", self.recent)

    def fresh(self) -> None:
        """All money is there again."""
        super().fresh()
        self.spending = self.lately = Spending()
        self.recent = []

    @property
    def left(self) -> float | None:
        """What is left of the total."""
        return None if self.total is None else self.total - self.spending.all.value

    def check_start(self, rounds: int, cost: float) -> None:
        """Raise unless the budget pays for at least one label."""
        super().check_start(rounds, cost)
        for name, money in (("total", self.total), ("per", self.per and self.per[0])):
            if money is not None and money < cost:
                expect.refuse(name, f"at least {cost:g}, the cost of one label", money)

    def describe(self) -> dict[str, Any]:
        """What it is now: the limits, and what is left."""
        described = super().describe()
        for memory in ("spending", "lately", "recent"):
            del described[memory]
        return {**described, "left": self.left}

    # -- answers ---------------------------------------------------------------------------------

    def decide(self, view: View) -> Verdict:
        """Ask the rule, of offers that can be paid, at prices that rise as money gets scarce."""
        own = self.offers(view)
        audits = own or (self.offers(view, audit=True) if self._audits is not None else ())
        scarcity = max(cap.scarcity for cap in self._caps(view))
        seen = _of_these(view, own or audits)
        verdict = self.rule.decide(_dearer(seen, scarcity) if scarcity > 1.0 else seen)
        if scarcity > 1.0:
            reason = _reason(verdict, view.offer(verdict.labeller))
            verdict = replace(verdict, reason=reason, scarcity=verdict.scarcity * scarcity)
        if not own:
            return self._without_money(view, verdict, audits)
        if not verdict.wants_label:
            return verdict
        if verdict.labeller is None:
            return replace(verdict, labeller=best_offer(own).labeller)
        payable = any(one.labeller == verdict.labeller for one in own)
        return verdict if payable else self._without_money(view, verdict, audits)

    def _without_money(self, view: View, verdict: Verdict, audits: tuple[Offer, ...]) -> Verdict:
        """The answer where the rule cannot pay; an audit may be able to, of these offers."""
        audit = self._audits
        if audit is not None and (verdict.wants_label or audit.covers(verdict)):
            if audits:
                return audit.instead(view, verdict, audits)
            return audit.ended(verdict) if self.exhausted(view) else left_out(verdict)
        return left_out(verdict) if verdict.wants_label else verdict

    def forbids(self, view: View) -> str | None:
        """Nobody may spend more than there is."""
        return self.rule.forbids(view) if self.offers(view) else "no_money"

    def offers(self, view: View, *, audit: bool = False) -> tuple[Offer, ...]:
        """Those that can be paid."""
        caps, offers = self._caps(view), self.rule.offers(view, audit=audit)
        return tuple(one for one in offers if all(cap.allows(one.cost, audit=audit) for cap in caps))

    def exhausted(self, view: View) -> bool:
        """Whether the total does not pay for this any more, though it did at first."""
        if self.total is not None:
            least, cap = min(one.cost for one in Rule.offers(self, view)), Cap(self.total, self.spending)
            if least <= self.total and not cap.allows(least, audit=True):
                return True
        return self.rule.exhausted(view)

    @property
    def _audits(self) -> Audit | None:
        """The audit, while it goes on."""
        return None if self.audit is None or self.audit.stopped is not None else self.audit

    def _caps(self, view: View) -> list[Cap]:
        caps = []
        if self.total is not None:
            ahead = None if self.horizon is None else max(self.horizon - view.round + 1, 0)
            before = self.spending.audits.value
            caps.append(Cap(self.total, self.spending, self._reserve(view, self.total, ahead, before)))
        if self.per is not None:
            money, rounds = self.per
            caps.append(Cap(money, self._spent_by(view.round), self._reserve(view, money, rounds)))
        return caps

    def _reserve(self, view: View, money: float, rounds: int | None, before: float = 0.0) -> float:
        """What audits took before and will need in this many rounds, but at most half of the money."""
        if self._audits is None:
            return 0.0
        if rounds is None:
            return money / 2
        return min(money / 2, before + _most_draws(self._audits.rate, rounds) * view.cost)

    def flips_at(self, decision: Decision, traits: Traits) -> float | None:
        """That of the rule inside; 0 once nothing was left."""
        flip = self.rule.flips_at(decision, traits)
        return 0.0 if flip is not None and decision.scarcity >= SCARCEST else flip

    # -- memory ----------------------------------------------------------------------------------

    def bought(self, round: int, cost: float, *, audited: bool) -> None:
        """Take it from what is left."""
        super().bought(round, cost, audited=audited)
        self.spending = self.spending.plus(cost, audited=audited)
        if self.per is not None:
            latest = max(round, self.recent[-1].round) if self.recent else round
            self.lately = self._spent_by(latest)
            self.recent = [one for one in self.recent if one.round >= self._first(latest)]
            if round >= self._first(latest):
                self.lately = self.lately.plus(cost, audited=audited)
                insort(self.recent, Bought(round, cost, audited), key=lambda one: one.round)

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


def _most_draws(rate: float, rounds: int) -> float:
    """How many of `rounds` arrivals are drawn at most; about one time in a thousand there are more."""
    return rate * rounds + 3.0 * sqrt(rounds * rate * (1.0 - rate))


def _of_these(view: View, offers: tuple[Offer, ...]) -> View:
    """The same arrival with only these offers; unchanged if there are none."""
    if not offers or len(offers) >= len(view.offers):
        return view
    narrowed, best = copy(view), best_offer(offers)
    narrowed.offers, narrowed.price, narrowed.cost = offers, best.price, best.cost
    return narrowed


def _dearer(view: View, factor: float) -> View:
    """The same arrival at higher prices; `cost` stays what must be paid."""
    dearer = copy(view)
    dearer.price = view.price * factor
    dearer.offers = tuple(
        Offer(one.price * factor, one.noise_std, one.labeller, one.cost) for one in view.offers
    )
    return dearer


def _reason(verdict: Verdict, offer: Offer) -> str:
    """The reason, worded for a budget: the rule saw a higher price than the one to be paid."""
    worth = verdict.worth
    if verdict.reason in NO_LABEL:
        return verdict.reason
    if not verdict.wants_label and worth is not None and worth > offer.price:
        return "kept_for_later"
    return IN_BUDGET.get(verdict.reason, verdict.reason)


QUEUE_FULL = Verdict(False, reason="queue_full")


class Queue(Wrapper):
    """Follow a rule while fewer than `most` labels are awaited, and ask for nothing else.

    >>> from breakeven.rules import Always
    >>> Queue(Always(), most=2).most
    2
    """

    most: int

    reads_prediction: ClassVar[bool] = True  # a late label keeps its place in the queue

    def __post_init__(self) -> None:
        super().__post_init__()
        self.most = expect.whole("most", self.most, least=1)

    def decide(self, view: View) -> Verdict:
        """No while the queue is full."""
        return QUEUE_FULL if view.awaited >= self.most else self.rule.decide(view)

    def forbids(self, view: View) -> str | None:
        """Nobody may go past a full queue."""
        return QUEUE_FULL.reason if view.awaited >= self.most else self.rule.forbids(view)
