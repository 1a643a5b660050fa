"""Label some of what a rule declines, at random: the only way to know how wrong its predictions are.

The draw comes from a series of its own and is made whatever the rule answers, so that every arrival which the
rule declines is audited with the same chance.
"""

from typing import Literal

from msgspec.structs import replace

from breakeven import theory
from breakeven.errors import expect
from breakeven.rules.rule import Wrapper
from breakeven.values import Offer, Verdict, View, best_offer

AUDIT_REASONS = ("audited", "no_audit_money")  # which only an audit gives
AUDIT_DRAWS = 1  # which of the round's random numbers audits use; 0 is for rules that draw


class Audit(Wrapper):
    """Follow a rule, and label the share `rate` of what it declines.

    The learner's ledger then says how large errors are where nobody asked, with intervals at `level`. These
    need to know how large an error can be: `bound` is on |f − p| ("truth") or on |y − p| ("labels").
    `noise_std` is that of the labels, by default the belief's, or that of the labeller who answers. `stopped`
    is the round in which the money for audits ran out.

    >>> from breakeven.rules import Threshold
    >>> Audit(Threshold(), rate=0.02, bound=5.0).rate
    0.02
    """

    rate: float
    bound: float
    noise_std: float | None = None
    level: float = 0.95
    bound_on: Literal["truth", "labels"] = "truth"
    stopped: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rule.audit is not None:
            expect.refuse("rule", "one that is not audited already", self.rule)
        self.rate = expect.probability("rate", self.rate, open=True)
        self.level = expect.probability("level", self.level, open=True)
        checked = theory.error_bound(self.bound, noise_std=self.noise_std or 0.0, on=self.bound_on)
        self.bound = checked.bound
        if self.noise_std is not None:
            self.noise_std = checked.noise_std
        if self.stopped is not None:
            self.stopped = expect.whole("stopped", self.stopped, least=1)

    def fresh(self) -> None:
        """Audit again."""
        super().fresh()
        self.stopped = None

    def decide(self, view: View) -> Verdict:
        """Yes if the arrival is drawn, else the rule's answer; nothing is drawn that may not be bought."""
        drawn = view.uniform(AUDIT_DRAWS) < self.rate
        verdict = self.rule.decide(view)
        if verdict.reason in AUDIT_REASONS:
            name = f"{type(self.rule).__name__}.decide reason"
            expect.refuse(name, "one that is not reserved for audits", verdict.reason)
        if self.stopped is not None:
            return verdict
        if self.rule.forbids(view) is not None:
            return self._without(view, verdict)
        chance = self._chance(verdict)
        if drawn and not verdict.wants_label:
            return _audited(verdict, chance, self.rule.offers(view))
        return replace(verdict, propensity=chance)

    def _without(self, view: View, verdict: Verdict) -> Verdict:
        """The rule's answer where nothing may be drawn: what it declines is left out, or ends the audit."""
        if verdict.wants_label:
            return verdict
        return self.ended(verdict) if self.rule.exhausted(view) else left_out(verdict)

    def instead(self, view: View, verdict: Verdict, offers: tuple[Offer, ...]) -> Verdict:
        """The answer where there is money for audits only: what the rule wants is declined as well."""
        if view.uniform(AUDIT_DRAWS) < self.rate:
            return _audited(verdict, self.rate, offers)
        return replace(left_out(verdict), propensity=self.rate)

    def _chance(self, verdict: Verdict) -> float:
        """The chance of a label: the rule asks for it, or it is drawn."""
        own = verdict.propensity
        if own is None:
            own = 1.0 if verdict.wants_label else 0.0
        return own + self.rate * (1.0 - own)

    def covers(self, verdict: Verdict) -> bool:
        """Whether an answer of this rule is about an arrival that was declined and could be drawn."""
        if verdict.wants_label or self.stopped is not None:
            return verdict.reason == "audited"
        return (verdict.propensity or 0.0) >= self.rate

    def ended(self, verdict: Verdict) -> Verdict:
        """The answer to an arrival that was declined and cannot be paid for: there are no audits after it."""
        return replace(verdict, wants_label=False, reason="no_audit_money", propensity=None, labeller=None)

    @property
    def audit(self) -> "Audit":
        """The audit itself."""
        return self


def left_out(verdict: Verdict) -> Verdict:
    """The answer to an arrival whose label cannot be bought, whatever the rule says, nor drawn."""
    reason = "no_money" if verdict.wants_label else verdict.reason
    return replace(verdict, wants_label=False, reason=reason, propensity=None)


def _audited(verdict: Verdict, chance: float, offers: tuple[Offer, ...]) -> Verdict:
    labeller = best_offer(offers).labeller
    return replace(verdict, wants_label=True, reason="audited", propensity=chance, labeller=labeller)
