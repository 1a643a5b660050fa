"""The numbers of a bill as its page shows them: one sentence, a table, and a slider over other label costs.

The bills at other costs are computed beforehand and worded here; the page's script only puts the words of the
chosen cost in their place.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from breakeven.report.line_styles import INK
from breakeven.report.markup import joined, marked, shown
from breakeven.values.bill import Bill, BillRow, Sweep
from breakeven.values.exhibit import Chart, Figure, Line, Section, Table

BILL_COLUMNS = ("labels", "spend", "mean error", "total", "saved")
FEW_PERCENT = 0.1  # a smaller share is written with a decimal
ABOUT_TOTAL = "total = spend on labels + cost of errors"
SWEEP_NAME = "bill-at-other-costs"


# -- the bill in words and as a table ------------------------------------------------------------------------


def headline(bill: Bill) -> str:
    """The bill in one sentence.

    >>> everyone = BillRow(name="label everyone", labels=9, spend=9.0, mean_error=0.0, total=9.0, saved=0.0)
    >>> headline(Bill(title="", rows=[everyone], chosen="label everyone"))
    'You would have saved nothing'
    """
    row = bill.chosen_row
    if row.saved == 0:
        return "You would have saved nothing"
    if row.saved > 0:
        return f"You would have saved {money_and_share(row.saved, row.share_saved)}"
    return f"You would have paid {money_and_share(-row.saved, -row.share_saved)} more"


def lead(bill: Bill) -> str:
    """The sentences under the headline, as HTML."""
    row, everyone = bill.chosen_row, bill.everyone
    bought = f"{shown(row.labels)} of {shown(everyone.labels)} labels for {shown(row.spend)}"
    told = (
        f"With <strong>{escape(row.name)}</strong> you would have bought {bought}, at a mean error of "
        f"{shown(row.mean_error)}: {shown(row.total)} in all. "
        f"Labelling everyone costs {shown(everyone.total)}."
    )
    cheaper = [other for other in bill.rows if other.total < min(row.total, everyone.total)]
    told += _cheapest("Cheaper still", [other for other in cheaper if not other.hindsight])
    return told + _cheapest("Cheaper, but known only afterwards", [one for one in cheaper if one.hindsight])


def _cheapest(words: str, rows: Sequence[BillRow]) -> str:
    if not rows:
        return ""
    row = min(rows, key=lambda one: one.total)
    name = escape(row.name).replace(" *", "&nbsp;*")
    return f" {words}: {name}, {shown(row.total)} in all."


def facts(bill: Bill) -> str:
    """What the bill is about, and what its totals add up, in one line of HTML."""
    return " · ".join(f"<span>{marked(fact)}</span>" for fact in [*bill.facts, ABOUT_TOTAL])


def rows_table(rows: Sequence[BillRow], caption: str, chosen: str) -> str:
    """One row for every way to go about the stream; on a narrow screen each row becomes a card."""
    head = "".join(f'<th scope="col" class="number">{name}</th>' for name in BILL_COLUMNS)
    return f"""<table class="bill">
<caption>{escape(caption)}</caption>
<thead><tr><th scope="col">rule</th>{head}</tr></thead>
<tbody>
{joined(_row(row, chosen=row.name == chosen) for row in rows)}
</tbody>
</table>"""


def money_and_share(money: float, share: float) -> str:
    """An amount, and in brackets its part of the total of labelling everyone.

    >>> money_and_share(4312.3, 0.384), money_and_share(-8.0, -0.012), money_and_share(0.0, 0.0)
    ('4,312 (38%)', '−8 (−1.2%)', '0')
    """
    if money == 0:
        return shown(money)
    decimals = 0 if abs(share) >= FEW_PERCENT else 1
    return f"{shown(money)} ({share:.{decimals}%})".replace("-", "−")


def _row(row: BillRow, *, chosen: bool) -> str:
    saved = money_and_share(row.saved, row.share_saved) if row.saved else "–"
    cells = [shown(row.labels), shown(row.spend), shown(row.mean_error), _total(row), saved]
    numbers = "".join(
        f'<td class="number" data-name="{name}">{cell}</td>'
        for name, cell in zip(BILL_COLUMNS, cells, strict=True)
    )
    mark = ' class="chosen" aria-current="true"' if chosen else ""
    return f'<tr{mark}><th scope="row">{escape(row.name)}</th>{numbers}</tr>'


def _total(row: BillRow) -> str:
    if row.low is None or row.high is None:
        return shown(row.total)
    return f"{shown(row.total)} <small>{shown(row.low)} to {shown(row.high)}</small>"


# -- the bill at other label costs ---------------------------------------------------------------------------


class OtherCosts:
    """All that a page shows of a sweep; the slider starts at the label cost nearest to that of the bill."""

    def __init__(self, bill: Bill, sweep: Sweep) -> None:
        self.section = _section(bill, sweep)
        self._sweep, self._start = sweep, sweep.at(bill.label_cost)
        self._name = _cost_name(bill)
        self._words = [_worded(sweep, place, place == self._start) for place in range(len(sweep.label_costs))]

    @property
    def slider(self) -> str:
        """The slider, and the bill at the label cost it is set to."""
        now, costs = self._words[self._start], self._sweep.label_costs
        numbers = "".join(
            f'<div><dt>{name}</dt><dd data-cost="{name}">{now[name]}</dd></div>' for name in BILL_COLUMNS
        )
        return f"""<div class="costs">
<label for="cost">{self._name.capitalize()} \
<output for="cost" data-cost="cost">{now["cost"]}</output></label>
<input type="range" id="cost" min="0" max="{len(costs) - 1}" step="1" value="{self._start}" \
aria-valuetext="{now["cost"]}">
<p class="ends" aria-hidden="true"><span>{shown(costs[0])}</span><span>{shown(costs[-1])}</span></p>
<dl>{numbers}</dl>
<p role="status" aria-live="polite" data-cost="sentence">{now["sentence"]}</p>
</div>"""

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads: the name of the chart, and the label costs with their words."""
        return {"chart": SWEEP_NAME, "at": self._sweep.label_costs, "words": self._words}

    @property
    def line(self) -> dict[str, Any]:
        """A vertical line through the chart, at the label cost the slider is set to."""
        cost = self._sweep.label_costs[self._start]
        return {
            "type": "line", "xref": "x", "yref": "paper", "x0": cost, "x1": cost, "y0": 0, "y1": 1,
            "line": {"color": INK, "width": 1.5, "dash": "dot"},
        }  # fmt: skip


def _worded(sweep: Sweep, place: int, now: bool) -> dict[str, str]:
    """The bill at one label cost, as the page shows it."""
    total, saved = sweep.total[place], sweep.saved[place]
    everyone = total + saved
    cost, labels = shown(sweep.label_costs[place]), shown(sweep.labels[place])
    share = saved / everyone if everyone else 0.0
    numbers = [labels, shown(sweep.spend[place]), shown(sweep.mean_error[place]), shown(total)]
    against = "as much as"
    if saved:
        against = f"{money_and_share(abs(saved), abs(share))} {'less' if saved > 0 else 'more'} than"
    here = ", as in this bill" if now else ""
    sentence = f"At {cost} a label{here}: {shown(total)} in all, {against} labelling everyone."
    words = dict(zip(BILL_COLUMNS, [*numbers, money_and_share(saved, share)], strict=True))
    return words | {"cost": cost, "sentence": sentence}


def _cost_name(bill: Bill) -> str:
    return "mean cost of a label" if bill.costs_differ else "cost of a label"


def _section(bill: Bill, sweep: Sweep) -> Section:
    """What the page shows besides the slider."""
    start = sweep.at(bill.label_cost)
    sides = [("more", start < len(sweep.label_costs) - 1), ("less", start > 0)]
    had = " or ".join(side for side, there in sides if there)
    return Section(
        title="At other label costs",
        text=[f"What if a label had cost {had}? The whole stream was run again at each of these costs."],
        figures=[_figure(bill, sweep)],
    )


def _figure(bill: Bill, sweep: Sweep) -> Figure:
    everyone = [total + saved for total, saved in zip(sweep.total, sweep.saved, strict=True)]
    lines = [
        Line(label=bill.chosen, x=sweep.label_costs, y=sweep.total, remark="total"),
        Line(label=bill.everyone.name, x=sweep.label_costs, y=everyone, remark="total"),
        Line(label=bill.chosen, x=sweep.label_costs, y=sweep.spend, kind="dashed", remark="spent on labels"),
    ]
    title = "The total at every label cost"
    chart = Chart(
        name="total",
        title=title,
        x_label=_cost_name(bill),
        y_label="money",
        lines=lines,
        log_x=True,
        log_y=True,
    )
    return Figure(name=SWEEP_NAME, title=title, charts=[chart], data=_table(sweep))


def _table(sweep: Sweep) -> Table:
    columns = [sweep.label_costs, sweep.labels, sweep.spend, sweep.mean_error, sweep.total, sweep.saved]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Table(
        name=SWEEP_NAME,
        title="The bill at every label cost",
        columns=["label cost", *BILL_COLUMNS],
        rows=rows,
    )
