"""What a stream would have cost: labelling everyone, no one, and only where a label pays for itself.

All money is in the unit of the label cost; `saved` is always against labelling everyone.
"""

from msgspec import Struct

from breakeven.values.exhibit import Section

EVERYONE, NO_ONE = "label everyone", "label no one *"
ABOUT_NO_ONE = "* Label no one, and predict the median of all labels, which is known only afterwards."


class BillRow(Struct, frozen=True, kw_only=True):
    """One way to go about a stream and what it costs; over several trials, the means.

    `total` is the spend and the price of all errors; over trials, `low` and `high` are the ends of the 95%
    interval of its mean. A name that ends in * is of a way that is known only afterwards.

    >>> row = BillRow(name="Value", labels=12, spend=60.0, mean_error=0.2, total=75.0, saved=25.0)
    >>> row.share_saved, row.hindsight
    (0.25, False)
    """

    name: str
    labels: float
    spend: float
    mean_error: float
    total: float
    saved: float
    low: float | None = None
    high: float | None = None

    @property
    def share_saved(self) -> float:
        """The part of labelling everyone's total that is saved."""
        everyone = self.total + self.saved
        return self.saved / everyone if everyone else 0.0

    @property
    def hindsight(self) -> bool:
        """Whether nobody could have gone this way, for it is known only afterwards."""
        return self.name.endswith("*")


class Sweep(Struct, frozen=True, kw_only=True):
    """The bill of one rule at other prices of a label, the lowest first; lists of equal length.

    >>> lists = {"labels": [9, 2], "spend": [9.0, 8.0], "mean_error": [0.1, 0.3], "total": [10.0, 11.0]}
    >>> Sweep(prices=[1.0, 4.0], saved=[2.0, 37.0], **lists).at(3.0)
    1
    """

    prices: list[float]
    labels: list[float]
    spend: list[float]
    mean_error: list[float]
    total: list[float]
    saved: list[float]

    def at(self, price: float) -> int:
        """The place of the price nearest to this one."""
        return min(range(len(self.prices)), key=lambda place: abs(self.prices[place] - price))


class Bill(Struct, frozen=True, kw_only=True):
    """The rows, what there is to see about them, and the configuration that leads to the `chosen` one.

    The first row is labelling everyone; `trials` are the same rows over shuffled orders. `facts` say in a few
    words what the bill is about, `sections` hold charts and words, and `notes` say how to read it all: one
    that begins with a * is about the rows marked so.

    >>> everyone = BillRow(name="label everyone", labels=9, spend=18.0, mean_error=0.0, total=18.0, saved=0.0)
    >>> bill = Bill(title="patients.csv", rows=[everyone], chosen="label everyone")
    >>> bill.chosen_row.labels, bill.price
    (9, 2.0)
    """

    title: str
    rows: list[BillRow]
    chosen: str
    facts: list[str] = []
    trials: list[BillRow] = []
    prices_differ: bool = False
    sections: list[Section] = []
    sweep: Sweep | None = None
    configuration: str = ""
    notes: list[str] = []

    @property
    def everyone(self) -> BillRow:
        """Labelling everyone."""
        return self.rows[0]

    @property
    def chosen_row(self) -> BillRow:
        """The row this bill is about."""
        return next(row for row in self.rows if row.name == self.chosen)

    @property
    def price(self) -> float:
        """What a label costs, on average where prices differ."""
        return self.everyone.spend / self.everyone.labels if self.everyone.labels else 0.0
