"""The page of a bill: one file that holds all it needs, works offline and sends nothing anywhere.

It begins with the answer and the break-even costs, then the bill as a table, then other costs, charts and the
configuration. Its security policy lets only the script in it run, known by its hash, and lets nothing be
loaded.
"""

from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from breakeven.files import write
from breakeven.report.bill_numbers import OtherCosts, answer, facts, fold, rows_table, starred
from breakeven.report.interactive import plotted, style_sheet
from breakeven.report.line_styles import styles_of
from breakeven.report.markup import (
    asset,
    chart_words,
    document,
    joined,
    marked,
    paragraphs,
    picture_name,
    table_box,
)
from breakeven.values.bill import Bill
from breakeven.values.exhibit import Chart, Figure, Section, Table


def write_bill(bill: Bill, folder: Path) -> Path:
    """Write `report.html` into the folder."""
    return write(folder, "report.html", html(bill).encode())


def write_bill_as(bill: Bill, path: Path) -> Path:
    """Write the page of a bill to this file."""
    return write(path.parent, path.name, html(bill).encode())


def html(bill: Bill) -> str:
    """The whole page."""
    script, style = asset("bill.js"), asset("page.css") + asset("bill.css") + style_sheet()
    costs = OtherCosts(bill, bill.sweep) if bill.sweep and len(bill.sweep.label_costs) > 1 else None
    body = f"""<header>
{answer(bill)}
<p class="lead">{marked(bill.lead)}</p>
</header>
<main>
{rows_table(bill, bill.rows, "The bill")}
{starred(bill.notes)}
<p class="facts">{facts(bill)}</p>
<noscript><p>The charts and the slider need JavaScript; the tables do not.</p></noscript>
{_section(costs.section, costs.slider) if costs else ""}
{_trials(bill) if bill.trials else ""}
{joined(_section(section) for section in bill.sections)}
{_notes([note for note in bill.notes if not note.startswith("*")])}
{_configuration(bill.configuration) if bill.configuration else ""}
</main>
<script type="application/json" id="data">{_embedded(_data(bill, costs))}</script>
<script>{script}</script>"""
    return document(bill.title, body, style=style, head=_policy(script))


def _policy(*scripts: str) -> str:
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    rules = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"
    rules += "; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n<link rel="icon" href="data:,">\n'


def _section(section: Section, before_figures: str = "") -> str:
    figures = joined(_figure(figure, alone=len(section.figures) == 1) for figure in section.figures)
    return f"""<section>
<h2>{escape(section.title)}</h2>
{paragraphs(section.text)}
{before_figures}
{joined(map(_table, section.tables))}
{f'<div class="figures">{figures}</div>' if figures else ""}
</section>"""


def _table(table: Table) -> str:
    return f'<div class="table">\n<h3>{escape(table.title)}</h3>\n{table_box(table)}\n</div>'


def _figure(figure: Figure, *, alone: bool) -> str:
    """The only figure of a section needs no title of its own, nor does the only chart of a figure."""
    wide = ' class="wide"' if len(figure.charts) > 1 else ""
    caption = f"<figcaption><p>{marked(figure.caption)}</p></figcaption>" if figure.caption else ""
    return f"""<figure{wide}>
{"" if alone else f"<h3>{escape(figure.title)}</h3>"}
<div class="charts">
{joined(_chart(figure, chart) for chart in figure.charts)}
</div>
{caption}<p class="below"><button type="button" class="save" \
aria-label="Save the picture: {escape(figure.title)}">Save the picture</button></p>
{fold("The numbers", table_box(figure.data)) if figure.data.rows else ""}
</figure>"""


def _chart(figure: Figure, chart: Chart) -> str:
    title = f"<h3>{escape(chart.title)}</h3>\n" if len(figure.charts) > 1 else ""
    kind = "square chart" if chart.square else "chart"
    box = f'<div class="{kind}" data-chart="{escape(picture_name(figure, chart))}"'
    return f'<div>\n{title}{box} data-words="{escape(chart_words(chart))}"></div>\n</div>'


def _trials(bill: Bill) -> str:
    return f"""<section>
<h2>Over shuffled orders</h2>
<p>The same cases were run again in shuffled orders, to see how much of the bill is luck. All numbers are
means over these orders; below a total is the 95% interval of its mean.</p>
{rows_table(bill, bill.trials, "Means over shuffled orders")}
</section>"""


def _configuration(text: str) -> str:
    inside = f"""<p class="copying"><button type="button" id="copy">Copy</button>\
<span id="copied" role="status"></span></p>
<pre tabindex="0" aria-label="Configuration" role="region">\
<code id="configuration">{escape(text)}</code></pre>"""
    return f"<section>\n<h2>To go on from here</h2>\n{fold('Configuration to copy', inside)}\n</section>"


def _notes(notes: list[str]) -> str:
    if not notes:
        return ""
    items = joined(f"<li>{marked(note)}</li>" for note in notes)
    return f'<section>\n<h2>How to read this</h2>\n<ul class="notes">\n{items}\n</ul>\n</section>'


def _data(bill: Bill, costs: OtherCosts | None) -> dict[str, Any]:
    """What the script reads: charts by name, and the words for every label cost."""
    sections = [*bill.sections, *([costs.section] if costs else [])]
    figures = [figure for section in sections for figure in section.figures]
    names = [bill.chosen, *(row.name for row in bill.rows if row.name != bill.chosen)]
    charts = {name: plot for figure in figures for name, plot in _plots(figure, names).items()}
    return {"charts": charts} | ({"costs": costs.data} if costs else {})


def _plots(figure: Figure, names: list[str]) -> dict[str, dict[str, Any]]:
    """The charts by name; a row of the bill has the same style in all figures, and nothing else has it."""
    labels = [line.label for chart in figure.charts for line in chart.lines]
    styles = styles_of([*names, *labels], names)
    return {picture_name(figure, chart): plotted(chart, styles) for chart in figure.charts}


def _embedded(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element around it, whatever words are in it."""
    text = msgspec.json.encode(data).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
