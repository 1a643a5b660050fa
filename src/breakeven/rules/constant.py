"""The two extremes that every rule is measured against."""

from breakeven.rules.rule import Rule
from breakeven.values import Verdict, View

YES = Verdict(True, reason="always")
NO = Verdict(False, reason="never")


class Always(Rule):
    """Label everything."""

    def decide(self, view: View) -> Verdict:
        """Yes."""
        return YES


class Never(Rule):
    """Label nothing."""

    def decide(self, view: View) -> Verdict:
        """No."""
        return NO
