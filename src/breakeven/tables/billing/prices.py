"""Other prices of a label: which ones to look at, and the bills there as a sweep."""

from collections.abc import Mapping

from msgspec.structs import replace

from breakeven.tables.options import Options
from breakeven.tables.reading.cases import Cases
from breakeven.values import BillRow, Sweep, sweeps
from breakeven.values.amounts import amount

Bills = Mapping[float, BillRow | None]  # by price; None where the price was left out


def factors(cases: Cases, options: Options) -> list[float]:
    """Those at which every price is one that can be computed with."""
    prices = cases.prices(options.cost)
    return sweeps.factors(float(prices.min()), float(prices.max()))


def repriced(cases: Cases, options: Options, factor: float) -> tuple[Cases, Options]:
    """The same, with every label at so many times its price."""
    prices = factor * cases.prices(options.cost)
    if cases.costs is None:
        return cases, options.but(cost=float(prices[0]))
    return replace(cases, costs=prices), options


def sweep_of(bills: Bills) -> Sweep | None:
    """The bills in the order of their prices, if there are two at least."""
    found = {price: row for price, row in bills.items() if row is not None}
    return sweeps.sweep_of(found) if len(found) > 1 else None


def left_out(bills: Bills) -> list[str]:
    """A sentence on the prices that were left out, if there are any.

    >>> left_out({50.0: None, 25.0: None})[0][:35]
    'Prices of 25 and 50 were left out: '
    """
    prices = [amount(price) for price, row in sorted(bills.items()) if row is None]
    if not prices:
        return []
    subject = (
        "Prices of {} were left out: they buy" if len(prices) > 1 else "A price of {} was left out: it buys"
    )
    return [f"{subject.format(listed(prices))} so many labels that a run would take longer than this one."]


def listed(words: list[str]) -> str:
    """Words in one sentence.

    >>> listed(["rules", "prices", "orders"])
    'rules, prices and orders'
    """
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last
