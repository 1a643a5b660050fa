"""The paper's first baseline: toss a coin."""

from breakeven.errors import expect
from breakeven.rules.rule import Rule
from breakeven.values import Verdict, View


class RandomSelect(Rule):
    """Label with a fixed probability, whatever is known.

    >>> RandomSelect(probability=0.1)
    RandomSelect(probability=0.1)
    """

    probability: float = 0.5

    def __post_init__(self) -> None:
        self.probability = expect.probability("probability", self.probability)

    def decide(self, view: View) -> Verdict:
        """Compare the round's seeded random number with the probability."""
        drawn = view.uniform() < self.probability
        return Verdict(drawn, reason="drawn" if drawn else "not_drawn", propensity=self.probability)
