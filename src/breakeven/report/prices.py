"""The bill at other prices: a slider over bills that were computed beforehand, and a chart of them all.

Every number is worded here; the page's script only puts the words of the chosen price in their place.
"""

from typing import Any

from breakeven.report.bill_table import COLUMNS, money_and_share
from breakeven.report.styles import INK
from breakeven.report.wording import shown
from breakeven.values.bill import Bill, Sweep
from breakeven.values.exhibit import Chart, Figure, Line, Section, Table

NAME = "bill-at-other-prices"


class OtherPrices:
    """All that a page has of a sweep; the slider starts at the price nearest to that of the bill."""

    def __init__(self, bill: Bill, sweep: Sweep) -> None:
        self.section = _section(bill, sweep)
        self._sweep, self._start = sweep, sweep.at(bill.price)
        self._price = _price(bill)
        self._words = [_worded(sweep, place, place == self._start) for place in range(len(sweep.prices))]

    @property
    def slider(self) -> str:
        """The slider and the bill it stands at."""
        now, prices = self._words[self._start], self._sweep.prices
        numbers = "".join(
            f'<div><dt>{name}</dt><dd data-price="{name}">{now[name]}</dd></div>' for name in COLUMNS
        )
        return f"""<div class="prices">
<label for="price">{self._price.capitalize()} \
<output for="price" data-price="price">{now["price"]}</output></label>
<input type="range" id="price" min="0" max="{len(prices) - 1}" step="1" value="{self._start}" \
aria-valuetext="{now["price"]}">
<p class="ends" aria-hidden="true"><span>{shown(prices[0])}</span><span>{shown(prices[-1])}</span></p>
<dl>{numbers}</dl>
<p role="status" aria-live="polite" data-price="sentence">{now["sentence"]}</p>
</div>"""

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads: the chart, and the prices with their words."""
        return {"chart": NAME, "at": self._sweep.prices, "words": self._words}

    @property
    def line(self) -> dict[str, Any]:
        """An upright line through the chart, at the price of the slider."""
        price = self._sweep.prices[self._start]
        return {
            "type": "line", "xref": "x", "yref": "paper", "x0": price, "x1": price, "y0": 0, "y1": 1,
            "line": {"color": INK, "width": 1.5, "dash": "dot"},
        }  # fmt: skip


def _worded(sweep: Sweep, place: int, now: bool) -> dict[str, str]:
    """The bill at a price, as it is read."""
    total, saved = sweep.total[place], sweep.saved[place]
    everyone = total + saved
    price, labels = shown(sweep.prices[place]), shown(sweep.labels[place])
    share = saved / everyone if everyone else 0.0
    numbers = [labels, shown(sweep.spend[place]), shown(sweep.mean_error[place]), shown(total)]
    against = "as much as"
    if saved:
        against = f"{money_and_share(abs(saved), abs(share))} {'less' if saved > 0 else 'more'} than"
    here = ", as in this bill" if now else ""
    sentence = f"At {price} a label{here}: {shown(total)} in all, {against} labelling everyone."
    words = dict(zip(COLUMNS, [*numbers, money_and_share(saved, share)], strict=True))
    return words | {"price": price, "sentence": sentence}


def _price(bill: Bill) -> str:
    return "mean price of a label" if bill.prices_differ else "price of a label"


def _section(bill: Bill, sweep: Sweep) -> Section:
    """What there is to see besides the slider."""
    start = sweep.at(bill.price)
    ways = [("more", start < len(sweep.prices) - 1), ("less", start > 0)]
    had = " or ".join(way for way, there in ways if there)
    return Section(
        title="At other prices",
        text=[f"Had a label cost {had}: the whole stream was run anew at each of these prices."],
        figures=[_figure(bill, sweep)],
    )


def _figure(bill: Bill, sweep: Sweep) -> Figure:
    everyone = [total + saved for total, saved in zip(sweep.total, sweep.saved, strict=True)]
    lines = [
        Line(label=bill.chosen, x=sweep.prices, y=sweep.total, remark="total"),
        Line(label=bill.everyone.name, x=sweep.prices, y=everyone, remark="total"),
        Line(label=bill.chosen, x=sweep.prices, y=sweep.spend, kind="dashed", remark="spent on labels"),
    ]
    title = "The total at every price"
    chart = Chart(
        name="total",
        title=title,
        x_label=_price(bill),
        y_label="money",
        lines=lines,
        log_x=True,
        log_y=True,
    )
    return Figure(name=NAME, title=title, charts=[chart], data=_table(sweep))


def _table(sweep: Sweep) -> Table:
    columns = [sweep.prices, sweep.labels, sweep.spend, sweep.mean_error, sweep.total, sweep.saved]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Table(name=NAME, title="The bill at every price", columns=["price", *COLUMNS], rows=rows)
