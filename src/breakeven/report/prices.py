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
WIDE = 10.0  # from such a factor between the prices on, the chart goes by factors


def price_section(bill: Bill, sweep: Sweep) -> Section:
    """What there is to see besides the slider."""
    return Section(
        title="At other prices",
        text=["Had a label cost more or less: the whole stream was run anew at each of these prices."],
        figures=[_figure(bill, sweep)],
    )


def slider(bill: Bill, sweep: Sweep) -> str:
    """The slider and the bill it stands at, which is the one nearest to the price of this bill."""
    start = sweep.at(bill.price)
    now = worded(bill, sweep)[start]
    lowest, highest = shown(sweep.prices[0]), shown(sweep.prices[-1])
    numbers = "".join(
        f'<div><dt>{name}</dt><dd data-price="{name}">{now[name]}</dd></div>' for name in COLUMNS
    )
    return f"""<div class="prices">
<label for="price">Price of a label <output for="price" data-price="price">{now["price"]}</output></label>
<input type="range" id="price" min="0" max="{len(sweep.prices) - 1}" step="1" value="{start}" \
aria-valuetext="{now["price"]}">
<p class="ends" aria-hidden="true"><span>{lowest}</span><span>{highest}</span></p>
<dl>{numbers}</dl>
<p role="status" aria-live="polite" data-price="sentence">{now["sentence"]}</p>
</div>"""


def worded(bill: Bill, sweep: Sweep) -> list[dict[str, str]]:
    """The bill at every price, as it is read."""
    return [_worded(sweep, place, now=place == sweep.at(bill.price)) for place in range(len(sweep.prices))]


def price_line(price: float) -> dict[str, Any]:
    """An upright line through the chart, at the price of the slider."""
    return {
        "type": "line", "xref": "x", "yref": "paper", "x0": price, "x1": price, "y0": 0, "y1": 1,
        "line": {"color": INK, "width": 1.5, "dash": "dot"},
    }  # fmt: skip


def _worded(sweep: Sweep, place: int, *, now: bool) -> dict[str, str]:
    total, saved = sweep.total[place], sweep.saved[place]
    everyone = total + saved
    price, labels = shown(sweep.prices[place]), shown(sweep.labels[place])
    share = saved / everyone if everyone else 0.0
    numbers = [labels, shown(sweep.spend[place]), shown(sweep.mean_error[place]), shown(total)]
    nearest = ", the price of this bill" if now else ""
    against = f"{money_and_share(abs(saved), abs(share))} {'less' if saved >= 0 else 'more'}"
    sentence = f"At {price} a label{nearest}: {shown(total)} in all, {against} than labelling everyone."
    words = dict(zip(COLUMNS, [*numbers, money_and_share(saved, share)], strict=True))
    return words | {"price": price, "sentence": sentence}


def _figure(bill: Bill, sweep: Sweep) -> Figure:
    everyone = [total + saved for total, saved in zip(sweep.total, sweep.saved, strict=True)]
    lines = [
        Line(label=bill.chosen, x=sweep.prices, y=sweep.total, remark="total"),
        Line(label=bill.everyone.name, x=sweep.prices, y=everyone, remark="total"),
        Line(label=bill.chosen, x=sweep.prices, y=sweep.spend, kind="dashed", remark="spent on labels"),
    ]
    title = "The total at every price"
    wide = 0 < WIDE * sweep.prices[0] < sweep.prices[-1]
    chart = Chart(
        name="total",
        title=title,
        x_label="price of a label",
        y_label="money",
        lines=lines,
        log_x=wide,
        log_y=wide,
    )
    return Figure(name=NAME, title=title, charts=[chart], data=_table(sweep))


def _table(sweep: Sweep) -> Table:
    columns = [sweep.prices, sweep.labels, sweep.spend, sweep.mean_error, sweep.total, sweep.saved]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Table(name=NAME, title="The bill at every price", columns=["price", *COLUMNS], rows=rows)
