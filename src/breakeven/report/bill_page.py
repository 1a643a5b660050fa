"""The report of a bill: one page that holds all it needs, works offline and sends nothing anywhere.

Its policy lets only the two scripts run that are written here, by their hashes, and nothing be loaded.
"""

from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from breakeven.files import write
from breakeven.report.bill_script import SCRIPT
from breakeven.report.bill_sheet import BILL_SHEET
from breakeven.report.bill_table import bill_table, headline, lead
from breakeven.report.figures import picture_name
from breakeven.report.interactive import plotly_script, plotted
from breakeven.report.markup import chart_words, document, joined, paragraphs, table_box
from breakeven.report.prices import NAME, price_line, price_section, slider, worded
from breakeven.report.sheet import STYLE_SHEET
from breakeven.report.styles import styles_of
from breakeven.report.traces import after_dark
from breakeven.report.wording import marked
from breakeven.values.bill import Bill, Sweep
from breakeven.values.exhibit import Chart, Figure, Section, Table

FEW_ROWS = 60  # more of them are no help to a reader


def write_bill(bill: Bill, folder: Path) -> Path:
    """Write `report.html` into the folder."""
    return write(folder, "report.html", html(bill, plotly_script()).encode())


def html(bill: Bill, plotly: str) -> str:
    """The whole page, with plotly's JavaScript as given."""
    body = f"""<header>
<p class="overline">{escape(bill.title)}</p>
<h1>{headline(bill)}</h1>
<p class="lead">{lead(bill)}</p>
</header>
<main>
{bill_table(bill)}
<noscript><p>The charts and the slider need JavaScript; the tables do not.</p></noscript>
{joined(_section(section) for section in bill.sections)}
{_prices(bill, bill.sweep) if bill.sweep else ""}
{_configuration(bill.configuration) if bill.configuration else ""}
{_notes(bill.notes) if bill.notes else ""}
</main>
<script type="application/json" id="data">{_embedded(_data(bill))}</script>
<script>{plotly}</script>
<script>{SCRIPT}</script>"""
    return document(bill.title, body, style=STYLE_SHEET + BILL_SHEET, head=_policy(plotly, SCRIPT))


def _policy(*scripts: str) -> str:
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    rules = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
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
    """A figure alone in its section needs no title of its own, nor does a chart alone in its figure."""
    wide = ' class="wide"' if len(figure.charts) > 1 else ""
    caption = f"<figcaption><p>{marked(figure.caption)}</p></figcaption>" if figure.caption else ""
    return f"""<figure{wide}>
{"" if alone else f"<h3>{escape(figure.title)}</h3>"}
<div class="charts">
{joined(_chart(figure, chart) for chart in figure.charts)}
</div>
{caption}{_numbers(figure.data)}
</figure>"""


def _chart(figure: Figure, chart: Chart) -> str:
    title = f"<h3>{escape(chart.title)}</h3>\n" if len(figure.charts) > 1 else ""
    box = f'<div class="chart" role="group" data-chart="{escape(picture_name(figure, chart))}"'
    return f'<div>\n{title}{box} aria-label="{escape(chart_words(chart))}"></div>\n</div>'


def _numbers(table: Table) -> str:
    if not 0 < len(table.rows) <= FEW_ROWS:
        return ""
    return f"<details><summary>The numbers</summary>\n{table_box(table)}\n</details>"


def _prices(bill: Bill, sweep: Sweep) -> str:
    return _section(price_section(bill, sweep), slider(bill, sweep))


def _configuration(text: str) -> str:
    return f"""<section>
<h2>Configuration to copy</h2>
<p class="copying"><button type="button" id="copy">Copy</button><span id="copied" role="status"></span></p>
<pre tabindex="0" aria-label="Configuration"><code id="configuration">{escape(text)}</code></pre>
</section>"""


def _notes(notes: list[str]) -> str:
    items = joined(f"<li>{marked(note)}</li>" for note in notes)
    return f'<section>\n<h2>How to read this</h2>\n<ul class="notes">\n{items}\n</ul>\n</section>'


def _data(bill: Bill) -> dict[str, Any]:
    """What the script reads: charts by name, the dark colours, and the words for every price."""
    figures = [figure for section in bill.sections for figure in section.figures]
    if bill.sweep:
        figures += price_section(bill, bill.sweep).figures
    names = [bill.chosen, *(row.name for row in bill.rows if row.name != bill.chosen)]
    drawn = {name: plot for figure in figures for name, plot in _plots(figure, names).items()}
    return {"charts": drawn, "dark": after_dark()} | (_moving(bill, bill.sweep, drawn) if bill.sweep else {})


def _plots(figure: Figure, names: list[str]) -> dict[str, dict[str, Any]]:
    """The charts by name; the rows of the bill look the same in all figures."""
    styles = styles_of((line.label for chart in figure.charts for line in chart.lines), names)
    return {picture_name(figure, chart): plotted(chart, styles) for chart in figure.charts}


def _moving(bill: Bill, sweep: Sweep, drawn: dict[str, Any]) -> dict[str, Any]:
    drawn[NAME]["layout"]["shapes"] = [price_line(sweep.prices[sweep.at(bill.price)])]
    return {"prices": {"chart": NAME, "at": sweep.prices, "words": worded(bill, sweep)}}


def _embedded(data: dict[str, Any]) -> str:
    """JSON that cannot end the script it stands in."""
    text = msgspec.json.encode(data).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
