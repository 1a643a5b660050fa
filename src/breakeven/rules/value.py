"""Pay for a label only when it pays for itself: its price against the errors that it saves.

Notation: h what the label takes off the expected error of this arrival, g off that of one to come, and l what
it takes off there by teaching the belief's parameters; R arrivals are left. Worth = h + R·(g + l). Where a
belief forgets, later arrivals count less.
"""

from math import inf
from typing import Literal

from breakeven.errors import expect
from breakeven.rules.rule import Rule
from breakeven.values import Decision, Offer, Traits, Verdict, View

EXPECTED_IN_ALL = 600  # arrivals, where nobody says how many: docs/value.md has the argument


class Value(Rule):
    """Label iff the expected error that this label saves, now and later, exceeds its price.

    `horizon` is how many rounds there will be in all. None expects 600, and as many again as seen once half
    of these have passed; a stream that outlives its horizon, as many again as seen. The belief keeps at most
    `reservoir` past arrivals, which stand for those to come. `lessons=False` leaves out what a label teaches
    about the belief's own parameters.

    Errors count against f; with `scored="labels"` against the labels themselves, so a label saves all of the
    error at its own arrival, the noise included. Use it where the label itself is what you want to know.

    >>> Value(horizon=1000)
    Value(horizon=1000, reservoir=256, lessons=True, scored='truth')
    """

    horizon: int | None = None
    reservoir: int = 256
    lessons: bool = True
    scored: Literal["truth", "labels"] = "truth"

    def __post_init__(self) -> None:
        if self.horizon is not None:
            self.horizon = expect.whole("horizon", self.horizon, least=1)
        self.reservoir = expect.whole("reservoir", self.reservoir, least=1)
        expect.truth("lessons", self.lessons)
        expect.one_of("scored", self.scored, ("truth", "labels"))

    def check_start(self, rounds: int, cost: float) -> None:
        """A horizon must lie ahead."""
        if self.horizon is not None and self.horizon <= rounds:
            expect.refuse("horizon", f"more than the {rounds} rounds that have passed", self.horizon)

    def arrivals_left(self, round: int) -> int:
        """How many arrivals are expected after this round."""
        if self.horizon is None:
            return max(round, EXPECTED_IN_ALL - round)
        return round if round > self.horizon else self.horizon - round

    @property
    def scores_labels(self) -> bool:
        """Whether errors count against labels."""
        return self.scored == "labels"

    def decide(self, view: View) -> Verdict:
        """Take the offer that brings most beyond its price, if one does."""
        offers = view.offers or (Offer(view.price, view.traits.noise_std),)
        worths = [self._worth(view, offer) for offer in offers]
        best = max(range(len(offers)), key=lambda i: _gain(worths[i][0], offers[i]))
        (worth, now), offer = worths[best], offers[best]
        wanted, late = worth > offer.price, self.horizon is not None and view.round > self.horizon
        reason = self.reason(wanted, worth == inf, worth == 0.0, late)
        return Verdict(wanted, reason=reason, worth=worth, labeller=offer.labeller, worth_now=now)

    def flips_at(self, decision: Decision, traits: Traits) -> float | None:
        """What the label is worth; less where little of a budget is left."""
        return None if decision.worth is None else decision.worth / decision.scarcity

    def _worth(self, view: View, offer: Offer) -> tuple[float, float]:
        """What this label would save, and how much of it at the arrival itself."""
        saving = view.saves(offer.noise_std)
        labels, left = self.scores_labels, self.arrivals_left(view.round)
        here = saving.now(labels=labels, price=offer.price)
        if here == inf:
            return here, here
        return here + saving.over(left, lessons=self.lessons, labels=labels, price=offer.price), here

    @staticmethod
    def reason(wanted: bool, nothing_known: bool, enough: bool, late: bool) -> str:
        """Why it was decided so.

        `nothing_known`: the worth is infinite; `enough`: it is 0, as the labels that will tell are awaited;
        `late`: the horizon has passed.
        """
        if nothing_known:
            return "nothing_known"
        if enough:
            return "enough_on_their_way"
        return ("worth_it" if wanted else "not_worth_it") + ("_late" if late else "")


def _gain(worth: float, offer: Offer) -> tuple[float, float]:
    """How far the worth exceeds the price; of several that are infinite, the cheapest information wins."""
    return worth - offer.price, -offer.per_information
