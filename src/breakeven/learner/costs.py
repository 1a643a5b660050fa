"""What labels cost, who gives them, and what a unit of error costs.

A rule weighs labels against errors, so it sees prices, in units of error: cost / error_cost.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from breakeven.beliefs import Belief, Recognised, says_yes_or_no
from breakeven.errors import expect
from breakeven.values import NUMBERS_BESIDE_LABELLERS, Cost, Labeller, Offer, best_offer

GivenCost = float | Mapping[str, float]
"""What a label costs: one number, or a number for some labellers by name."""


class Quote(Struct, frozen=True, gc=False):
    """What one label costs, in money and in units of error.

    Where there is a choice of labellers, `offers` has them all, and this is one of them. `given` is the cost
    that came with the arrival, if one did.
    """

    cost: float
    price: float
    labeller: str | None = None
    noise_std: float | None = None
    offers: tuple[Offer, ...] = ()
    given: Cost | None = None

    def of(self, labeller: str) -> "Quote":
        """What the same label costs from this labeller."""
        offer = next(one for one in self.offers if one.labeller == labeller)
        return _quote(offer, self.offers, self.given)


class StoredLabellers(dict[str, Labeller]):
    """Labellers that a log was begun with: they stay, also where a new learner may not have any."""


def check_labels_are_numbers(labellers: Any, belief: Belief) -> None:
    """Raise if there are labellers, and labels are yes or no or may turn out to be."""
    if labellers is None or isinstance(labellers, StoredLabellers):
        return
    if says_yes_or_no(belief):
        expect.refuse("labels", NUMBERS_BESIDE_LABELLERS, "yes/no")
    if isinstance(belief, Recognised) and not belief.settled:
        expect.refuse(
            "labels",
            NUMBERS_BESIDE_LABELLERS,
            "labels that may turn out to be yes/no; give the belief for numbers alone",
            described=True,
        )


class Costs(Struct, frozen=True, kw_only=True):
    """One label cost, or labellers by name; and the cost of a unit of error.

    >>> costs = Costs(labellers={"nurse": Labeller(2.0, 3.0), "mri": Labeller(50.0, 0.5)})
    >>> costs.quote().labeller, costs.quote({"mri": 100.0}).labeller
    ('mri', 'nurse')
    """

    label_cost: float | None = None
    labellers: dict[str, Labeller] = {}
    error_cost: float = 1.0

    @staticmethod
    def checked(label_cost: Any, labellers: Any, error_cost: Any) -> "Costs":
        """Exactly one of a label cost and labellers, and what an error costs."""
        if (label_cost is None) == (labellers is None):
            came = "neither" if label_cost is None else "both"
            expect.refuse("label_cost", "either a label cost or labellers", came, described=True)
        return Costs(
            label_cost=None if label_cost is None else expect.positive("label_cost", label_cost),
            labellers={} if labellers is None else _labellers(labellers),
            error_cost=expect.positive("error_cost", error_cost),
        )

    def changed(self, label_cost: Any, labellers: Any, error_cost: Any) -> "Costs":
        """These costs with every argument that is not None; a label cost and labellers replace each other."""
        if label_cost is None and labellers is None:
            label_cost, labellers = self.label_cost, self.labellers or None
        return Costs.checked(label_cost, labellers, self.error_cost if error_cost is None else error_cost)

    def arguments(self) -> dict[str, Any]:
        """The arguments from which `checked` makes the same costs."""
        return {
            "label_cost": self.label_cost,
            "labellers": self.labellers or None,
            "error_cost": self.error_cost,
        }

    @property
    def cheapest(self) -> float:
        """The least that a label costs."""
        quote = self.quote()
        return min((offer.cost for offer in quote.offers), default=quote.cost)

    def noise_of(self, labeller: str | None) -> dict[str, Any]:
        """The noise of this labeller, as an argument for a belief; none where the belief has its own."""
        one = None if labeller is None else self.labellers.get(labeller)
        return {} if one is None else {"noise_std": one.noise_std}

    def check_labeller(self, name: Any, asked: str | None = None) -> str:
        """Check who gave a label: one of the labellers, or who was asked; any name where there are none."""
        text = expect.text("labeller", name)
        if self.labellers and text != asked:
            expect.one_of("labeller", text, self.labellers)
        return text

    def quote(self, cost: Any = None, name: str = "cost") -> Quote:
        """What a label costs now: as agreed, or a `cost` of its own, by labeller where there are any."""
        if not self.labellers:
            money = self._single(cost, name)
            return Quote(money, money / self.error_cost, given=None if cost is None else money)
        named = self._named(cost, name)
        costs = {labeller: one.cost for labeller, one in self.labellers.items()} | named
        offers = tuple(
            Offer(money / self.error_cost, self.labellers[labeller].noise_std, labeller, money)
            for labeller, money in costs.items()
        )
        return _quote(best_offer(offers), offers, None if cost is None else named)

    def _single(self, cost: Any, name: str) -> float:
        if cost is None:
            cost = self.label_cost
        elif isinstance(cost, Mapping):
            expect.refuse(name, "a number, as there are no labellers to name", cost)
        return expect.positive(name, cost)

    def _named(self, cost: Any, name: str) -> dict[str, float]:
        """Costs by labeller that hold for one arrival."""
        if cost is None:
            return {}
        if not isinstance(cost, Mapping):
            expect.refuse(name, f"costs by labeller, such as {{{next(iter(self.labellers))!r}: 2.0}}", cost)
        return {
            expect.one_of(f"{name}: a labeller", labeller, self.labellers): expect.positive(
                f"{name}[{labeller!r}]", money
            )
            for labeller, money in cost.items()
        }


def _labellers(labellers: Any) -> dict[str, Labeller]:
    if not isinstance(labellers, Mapping) or not labellers:
        expect.refuse("labellers", "labellers by name, one at least", labellers)
    for name, one in labellers.items():
        expect.text("labellers: a name", name)
        if not isinstance(one, Labeller):
            expect.refuse(f"labellers[{name!r}]", "a Labeller(cost=…, noise_std=…)", one)
    return {str(name): one for name, one in labellers.items()}


def _quote(offer: Offer, offers: tuple[Offer, ...], given: Cost | None) -> Quote:
    return Quote(offer.cost, offer.price, offer.labeller, offer.noise_std, offers, given)
