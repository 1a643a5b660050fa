"""The numbers of a bill as its page shows them: the answer, a table, and a slider over other label costs.

The bills at other costs are computed beforehand and worded here; the page's script only puts the words of the
chosen cost in their place.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from breakeven.report.markup import joined, marked, paragraphs, shown
from breakeven.values.bill import AT_RANDOM, EVERYONE, NO_ONE, Bill, BillRow, Sweep
from breakeven.values.bill_words import doing, money, share_in_words, with_share
from breakeven.values.exhibit import Chart, Figure, Line, Mark, Section, Table

ABOUT_TOTAL = "total = spend on labels + cost of errors"
SWEEP_NAME = "bill-at-other-costs"
ALSO_NARROW = ("labels", "total")  # columns that a phone shows, beside what is saved


# -- the bill in words and as a table ------------------------------------------------------------------------


def minus(words: str) -> str:
    """Words with a true minus sign before numbers.

    >>> minus("-8 (-1.2%)")
    '−8 (−1.2%)'
    """
    return re.sub(r"(^|[( ])-(?=\d)", r"\1−", words)


def answer(bill: Bill) -> str:
    """What comes first: what must be known before anything else, the headline and the break-even costs."""
    warnings = joined(f'<p class="warning" role="note">{marked(one)}</p>' for one in bill.warnings)
    costs = joined(f"<li>{marked(one)}</li>" for one in bill.break_even)
    there = (
        f'<ul class="break-even" aria-label="Break-even costs">\n{costs}\n</ul>' if bill.break_even else ""
    )
    return f"""{warnings}
<p class="overline">{escape(bill.title)}</p>
<h1>{escape(bill.headline)}</h1>
{there}"""


def facts(bill: Bill) -> str:
    """What the bill is about, and what its totals add up, in one line of HTML."""
    return " · ".join(f"<span>{marked(fact)}</span>" for fact in [*bill.facts, ABOUT_TOTAL])


def rows_table(bill: Bill, rows: Sequence[BillRow], caption: str) -> str:
    """One row for every way to go about the stream; a phone shows labels, total and what is saved."""
    own = next((row for row in rows if row.name == bill.chosen), bill.chosen_row)
    columns = _columns(bill)
    head = "".join(f'<th scope="col" class="number{_wide(name)}">{escape(name)}</th>' for name in columns)
    saves = f'<th scope="col" class="number"><span class="wide">{escape(own.name)} </span>saves</th>'
    return f"""<table class="bill">
<caption>{escape(caption)}</caption>
<thead><tr><th scope="col">way</th>{head}{saves}</tr></thead>
<tbody>
{joined(_row(row, own, columns) for row in rows)}
</tbody>
</table>"""


def _columns(bill: Bill) -> list[str]:
    spent = f"spend, {bill.currency}" if bill.currency else "spend"
    total = f"total, {bill.currency}" if bill.currency else "total"
    error = f"mean error, {bill.unit}" if bill.unit else "mean error"
    return ["labels", spent, error, "where not asked", total]


def _wide(name: str) -> str:
    """The class of a column that only wide screens have room for."""
    return "" if name.split(",")[0] in ALSO_NARROW else " wide"


def _row(row: BillRow, own: BillRow, columns: list[str]) -> str:
    chosen = row.name == own.name
    saved = "" if chosen else with_share(row.total - own.total, row.total)
    cells = [
        shown(row.labels),
        shown(row.spend),
        shown(row.mean_error),
        shown(row.unasked_error),
        _total(row),
    ]
    numbers = "".join(
        f'<td class="number{_wide(name)}">{cell}</td>' for name, cell in zip(columns, cells, strict=True)
    )
    mark = ' class="chosen" aria-current="true"' if chosen else ""
    name = f'<th scope="row">{escape(row.name)}</th>'
    return f'<tr{mark}>{name}{numbers}<td class="number">{minus(saved)}</td></tr>'


def _total(row: BillRow) -> str:
    if row.low is None or row.high is None:
        return shown(row.total)
    return f"{shown(row.total)} <small>{shown(row.low)} to {shown(row.high)}</small>"


# -- the bill at other label costs ---------------------------------------------------------------------------


class OtherCosts:
    """All that a page shows of a sweep; the slider starts at the label cost of the bill."""

    def __init__(self, bill: Bill, sweep: Sweep) -> None:
        self.section = _section(bill, sweep)
        self._sweep, self._start = sweep, sweep.at(bill.label_cost)
        self._name = _cost_name(bill)
        self._words = [_worded(bill, sweep, place, self._start) for place in range(len(sweep.label_costs))]

    @property
    def slider(self) -> str:
        """The slider, and the bill at the label cost it is set to."""
        now, costs = self._words[self._start], self._sweep.label_costs
        numbers = "".join(
            f'<div><dt>{escape(name)}</dt><dd data-cost="{escape(name)}">{escape(text)}</dd></div>'
            for name, text in now.items()
            if name not in ("cost", "sentence")
        )
        return f"""<div class="costs">
<label for="cost">{self._name.capitalize()} \
<output for="cost" data-cost="cost">{escape(now["cost"])}</output></label>
<input type="range" id="cost" min="0" max="{len(costs) - 1}" step="1" value="{self._start}" \
aria-valuetext="{escape(now["cost"])}">
<p class="ends" aria-hidden="true"><span>{shown(costs[0])}</span><span>{shown(costs[-1])}</span></p>
<p role="status" aria-live="polite" data-cost="sentence">{escape(now["sentence"])}</p>
<dl>{numbers}</dl>
</div>"""

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script reads: the name of the chart, and the label costs with their words."""
        return {"chart": SWEEP_NAME, "at": self._sweep.label_costs, "words": self._words}


def _worded(bill: Bill, sweep: Sweep, place: int, start: int) -> dict[str, str]:
    """The bill at one label cost, as the page shows it."""
    total, cost = sweep.total[place], money(sweep.label_costs[place], bill.currency)
    way, least = sweep.cheapest(place)
    saved = least - total
    than = f"as much as the cheapest simple way, {doing(way)}"
    if abs(saved) > 1e-9 * abs(least):
        share = share_in_words(saved, least).removeprefix("-")
        how = f"{money(abs(saved), bill.currency)} {'less' if saved > 0 else 'more'}"
        than = f"{how}{f' ({share})' if share else ''} than the cheapest simple way, {doing(way)}"
    here = ", your cost" if place == start else ""
    if sweep.cases < sweep.of_cases:
        here += f", on {sweep.cases:,} of the cases"
    random = sweep.at_random[place]
    return {
        "labels": shown(sweep.labels[place]),
        bill.chosen: shown(total),
        EVERYONE: shown(sweep.everyone[place]),
        NO_ONE: shown(sweep.no_one[place]),
        AT_RANDOM: "–" if random is None else shown(random),
        "cost": cost,
        "sentence": f"At {cost} a label{here}: {money(total, bill.currency)} in all, {than}.",
    }


def _cost_name(bill: Bill) -> str:
    return "mean cost of a label" if bill.costs_differ else "cost of a label"


def _section(bill: Bill, sweep: Sweep) -> Section:
    """What the page shows besides the slider."""
    return Section(
        title="At other costs of a label",
        text=[
            "What if a label had cost more or less? Every way was run again at each of these costs.",
            *([bill.rests_on] if bill.rests_on else []),
        ],
        figures=[_figure(bill, sweep)],
    )


def _figure(bill: Bill, sweep: Sweep) -> Figure:
    costs = sweep.label_costs
    random = [(cost, one) for cost, one in zip(costs, sweep.at_random, strict=True) if one is not None]
    lines = [
        Line(label=bill.chosen, x=costs, y=sweep.total),
        Line(label=EVERYONE, x=costs, y=sweep.everyone),
        Line(label=NO_ONE, x=costs, y=sweep.no_one),
        *([Line(label=AT_RANDOM, x=[x for x, _ in random], y=[y for _, y in random])] if random else []),
    ]
    title = "The total at every cost of a label"
    unit = f" ({bill.currency})" if bill.currency else ""
    chart = Chart(
        name="total",
        title=title,
        x_label=_cost_name(bill) + unit,
        y_label=f"total{unit}",
        lines=lines,
        marks=_marks(bill, sweep),
        log_x=True,
        log_y=True,
    )
    return Figure(name=SWEEP_NAME, title=title, charts=[chart], data=_table(bill, sweep))


def _marks(bill: Bill, sweep: Sweep) -> list[Mark]:
    """Where the slider stands, first, and the two break-even costs."""
    marks = [Mark(sweep.label_costs[sweep.at(bill.label_cost)], "")]
    if sweep.break_even is not None:
        found = sweep.break_even
        marks += [
            Mark(at.cost, words)
            for at, words in ((found.buy_all, "buy all"), (found.worth_asking, "break-even"))
            if at.cost is not None
        ]
    return marks


def _table(bill: Bill, sweep: Sweep) -> Table:
    columns = [
        sweep.label_costs,
        sweep.labels,
        sweep.spend,
        sweep.mean_error,
        sweep.total,
        sweep.everyone,
        sweep.no_one,
        sweep.at_random,
    ]
    names = ["label cost", "labels", "spend", "mean error", f"total, {bill.chosen}"]
    names += [f"total, {name}" for name in (EVERYONE, NO_ONE, AT_RANDOM)]
    return Table(
        name=SWEEP_NAME,
        title="The bill at every cost of a label",
        columns=names,
        rows=[list(row) for row in zip(*columns, strict=True)],
    )


def fold(title: str, inside: str, *, id: str = "") -> str:
    """Something that a reader opens to see it; all folds are open in print."""
    name = f' id="{id}"' if id else ""
    return f"<details{name}><summary>{escape(title)}</summary>\n{inside}\n</details>"


def starred(notes: Sequence[str]) -> str:
    """The notes on rows whose name ends in *."""
    return paragraphs(note for note in notes if note.startswith("*"))
