"""Label some of what a rule declines, at random: the only way to know how wrong its predictions are.

The draw comes from a stream of its own and is made whatever the rule answers, so that every arrival which the
rule declines is audited with the same chance.
"""

from typing import Literal

from msgspec.structs import replace

from breakeven import theory
from breakeven.errors import expect
from breakeven.rules.wrapper import Wrapper
from breakeven.values import Verdict, View

STREAM = 1  # of the view's random numbers; stream 0 is for rules that draw


class Audit(Wrapper):
    """Follow a rule, and label the share `rate` of what it declines.

    The learner's ledger then says how large errors are where nobody asked, with intervals at `level`. These
    need to know how large an error can be: `bound` is on |f − p| ("truth") or on |y − p| ("labels").
    `noise_std` is that of the labels, by default what the belief or the labeller says. `stopped` is the round
    in which the money for audits ran out.

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

    def decide(self, view: View) -> Verdict:
        """Yes to what is drawn, else what the rule says; nothing is drawn that may not be bought."""
        drawn = view.uniform(STREAM) < self.rate
        verdict = self.rule.decide(view)
        if self.stopped is not None:
            return verdict
        forbidden = self.rule.forbids(view)
        if forbidden is not None:
            return self.ended(verdict) if forbidden == "no_money" and not verdict.wants_label else verdict
        chance = self._chance(verdict)
        if drawn and not verdict.wants_label:
            return Verdict(True, verdict.threshold, "audited", chance, verdict.worth)
        return replace(verdict, propensity=chance)

    def _chance(self, verdict: Verdict) -> float:
        """That of a label: the rule asks for it, or else it is drawn."""
        own = verdict.propensity
        if own is None:
            own = 1.0 if verdict.wants_label else 0.0
        return own + self.rate * (1.0 - own)

    def covers(self, verdict: Verdict) -> bool:
        """Whether an answer of this rule is about an arrival that was declined and could be drawn."""
        if verdict.wants_label or self.stopped is not None:
            return verdict.reason == "audited"
        return verdict.propensity is not None and verdict.propensity >= self.rate

    def ended(self, verdict: Verdict) -> Verdict:
        """The answer to an arrival that was declined and cannot be paid for: there are no audits after it."""
        return Verdict(False, verdict.threshold, "no_audit_money", worth=verdict.worth)

    @property
    def audit(self) -> "Audit":
        """The audit itself."""
        return self
