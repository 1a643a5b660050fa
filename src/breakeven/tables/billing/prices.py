"""The same cases at another price of a label, and what is said of prices that were left out."""

from collections.abc import Mapping

from msgspec.structs import replace

from breakeven.tables.options import Options
from breakeven.tables.reading.cases import Cases
from breakeven.values import BillRow
from breakeven.values.amounts import amount, listed


def repriced(cases: Cases, options: Options, factor: float) -> tuple[Cases, Options]:
    """The same, with every label at so many times its price."""
    prices = factor * cases.prices(options.cost)
    if cases.costs is None:
        return cases, options.but(cost=float(prices[0]))
    return replace(cases, costs=prices), options


def prices_left_out(bills: Mapping[float, BillRow | None]) -> list[str]:
    """A sentence on the prices that have no bill, if there are any.

    >>> prices_left_out({50.0: None, 25.0: None})[0][:35]
    'Prices of 25 and 50 were left out: '
    """
    prices = [amount(price) for price, row in sorted(bills.items()) if row is None]
    if not prices:
        return []
    subject = (
        "Prices of {} were left out: they buy" if len(prices) > 1 else "A price of {} was left out: it buys"
    )
    return [f"{subject.format(listed(prices))} so many labels that a run would take longer than this one."]
