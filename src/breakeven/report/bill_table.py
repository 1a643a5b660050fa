"""The bill in words and as a table: what would have been saved, and what every rule would have cost."""

from collections.abc import Sequence
from html import escape

from breakeven.report.markup import joined
from breakeven.report.wording import marked, shown
from breakeven.values.bill import Bill, BillRow

COLUMNS = ("labels", "spend", "mean error", "total", "saved")
FEW_PERCENT = 0.1  # below that a percentage has a decimal
TOTAL = "total = spend + errors × their cost"


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
    bought = f"{shown(row.labels)} of {shown(everyone.labels)} labels bought for {shown(row.spend)}"
    told = (
        f"With <strong>{escape(row.name)}</strong>: {bought}, a mean error of {shown(row.mean_error)}, "
        f"{shown(row.total)} in all. Labelling everyone costs {shown(everyone.total)}."
    )
    cheaper = [other for other in bill.rows if other.total < min(row.total, everyone.total)]
    told += _cheapest("Cheaper still", [other for other in cheaper if not other.hindsight])
    return told + _cheapest("Cheaper, but known only afterwards", [one for one in cheaper if one.hindsight])


def _cheapest(words: str, rows: Sequence[BillRow]) -> str:
    if not rows:
        return ""
    row = min(rows, key=lambda one: one.total)
    name = escape(row.name).replace(" *", "&nbsp;*")
    return f" {words}: {name}, {shown(row.total)}."


def facts(bill: Bill) -> str:
    """What the bill is about, and what its totals are, in one line of HTML."""
    return " · ".join(f"<span>{marked(fact)}</span>" for fact in [*bill.facts, TOTAL])


def rows_table(rows: Sequence[BillRow], caption: str, chosen: str) -> str:
    """One row for every way to go about the stream; on a narrow screen each row becomes a card."""
    head = "".join(f'<th scope="col" class="number">{name}</th>' for name in COLUMNS)
    return f"""<table class="bill">
<caption>{escape(caption)}</caption>
<thead><tr><th scope="col">rule</th>{head}</tr></thead>
<tbody>
{joined(_row(row, chosen=row.name == chosen) for row in rows)}
</tbody>
</table>"""


def money_and_share(money: float, share: float) -> str:
    """An amount, and what part of labelling everyone's total it is.

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
        for name, cell in zip(COLUMNS, cells, strict=True)
    )
    mark = ' class="chosen" aria-current="true"' if chosen else ""
    return f'<tr{mark}><th scope="row">{escape(row.name)}</th>{numbers}</tr>'


def _total(row: BillRow) -> str:
    if row.low is None or row.high is None:
        return shown(row.total)
    return f"{shown(row.total)} <small>{shown(row.low)} to {shown(row.high)}</small>"
