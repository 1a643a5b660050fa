"""The report of a bill: all of it on one page, escaped, and nothing loaded from anywhere."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest
from msgspec.structs import replace

from breakeven.report import write_bill
from breakeven.report.bill_numbers import facts, headline, lead, money_and_share
from breakeven.report.bill_page import html
from breakeven.report.line_styles import FIRST_STYLES
from breakeven.values.bill import Bill, BillRow, Sweep
from breakeven.values.exhibit import Chart, Figure, Line, Section, Table
from tests.unit.reading import Reader

EVIL = "</script><script>alert('1 & 2')</script>\"<!--"
SCRIPTS = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)
CASES, COST = 20_000, 5.0


def way(name, labels, mean_error, **ends):
    spend, total = COST * labels, COST * labels + mean_error * CASES
    given = {"labels": labels, "spend": spend, "mean_error": mean_error, "total": total}
    return BillRow(name=name, saved=COST * CASES - total, **given, **ends)


def figure(chart, **rest):
    data = Table(name=chart.name, title=chart.title, columns=["case", "money"], rows=[[1, 5.0]])
    return Figure(name=chart.name, title=chart.title, charts=[chart], data=data, **rest)


def sweep():
    labels, errors = [12_559, 3_118, 774], [1.197, 1.9723, 3.751]
    costs = [0.625, COST, 40.0]
    spend = [cost * count for cost, count in zip(costs, labels, strict=True)]
    total = [paid + error * CASES for paid, error in zip(spend, errors, strict=True)]
    saved = [cost * CASES - whole for cost, whole in zip(costs, total, strict=True)]
    return Sweep(label_costs=costs, labels=labels, spend=spend, mean_error=errors, total=total, saved=saved)


@pytest.fixture(scope="module")
def bill():
    lines = [
        Line(label="breakeven", x=[1.0, 2.0], y=[5.0, 5.0], remark="total"),
        Line(label="label everyone", x=[1.0, 2.0], y=[5.0, 10.0], remark="total"),
    ]
    right = Line(label="exactly right", x=[1.0, 2.0], y=[1.0, 2.0], kind="reference")
    dots = Line(label="breakeven", x=[1.0, 2.0], y=[1.0, 3.0], kind="dots", names=["Ann", "<b>"])
    money = Chart(name="money", title="Money so far", x_label="case", y_label="money", lines=lines)
    predicted = Chart(
        name="predicted",
        title="Predicted",
        x_label="label",
        y_label="prediction",
        lines=[right, dots],
        square=True,
    )
    everyone, no_one = way("label everyone", CASES, 0.0), way("label no one *", 0, 6.914)
    return Bill(
        title="patients.csv",
        rows=[everyone, no_one, way("breakeven", 3118, 1.9723), way("random", 3118, 2.6105)],
        chosen="breakeven",
        facts=["20,000 cases", "label `score`", "5 a label"],
        trials=[everyone, way("breakeven", 3090.5, 1.9911, low=53_900.0, high=56_310.0)],
        sections=[
            Section(title="Over time", text=["Case after case."], figures=[figure(money)]),
            Section(title="Predictions", figures=[figure(predicted)]),
        ],
        sweep=sweep(),
        configuration="learner = open('bill')\n",
        notes=["Errors are against the **labels**.", "* Known only afterwards."],
    )


@pytest.fixture(scope="module")
def page(bill):
    return html(bill, "/* plotly */")


def data_of(page):
    return json.loads(SCRIPTS.findall(page)[0][1])


def row(name="Value", total=60.0, everyone=100.0, **rest):
    given = {"labels": 5, "spend": 40.0, "mean_error": 0.5, "total": total, "saved": everyone - total}
    return BillRow(name=name, **given | rest)


def small(*rows, **rest):
    return Bill(title="t", rows=[row("label everyone", 100.0, labels=20, spend=100.0), *rows], **rest)


def evil_bill():
    lines = [Line(label=EVIL, x=[1.0], y=[1.0], remark=EVIL, names=[EVIL])]
    chart = Chart(name='c"', title=EVIL, x_label=EVIL, y_label=EVIL, lines=lines)
    table = Table(name='t"', title=EVIL, columns=[EVIL], rows=[[EVIL]])
    evil = Figure(name='f"', title="Figure", charts=[chart], data=table, caption=EVIL)
    given = {"labels": [1, 1], "spend": [1.0, 2.0], "mean_error": [1.0, 1.0]}
    return Bill(
        title=EVIL,
        rows=[row(EVIL), row(EVIL + "2")],
        chosen=EVIL,
        facts=[EVIL],
        trials=[row(EVIL, low=1.0, high=2.0)],
        sections=[Section(title=EVIL, text=[EVIL], tables=[table], figures=[evil])],
        sweep=Sweep(label_costs=[1.0, 2.0], total=[1.0, 1.0], saved=[1.0, 3.0], **given),
        configuration=EVIL,
        notes=[EVIL, "*" + EVIL],
    )


def test_the_report_is_one_file_with_plotly_in_it_once(tmp_path, bill):
    path = write_bill(bill, tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name] == ["report.html"]
    assert path.read_text(encoding="utf-8").count("* plotly.js v") == 1


def test_the_same_bill_gives_the_same_page(bill, page):
    assert html(bill, "/* plotly */") == page


# -- the bill in words -----------------------------------------------------------------------------------


def test_the_page_says_first_what_was_saved(page):
    words = "".join(Reader(page).words)
    assert "<h1>You would have saved 44,964 (45%)</h1>" in page
    said = (
        "With breakeven you would have bought 3,118 of 20,000 labels for 15,590, at a mean error of 1.972: "
    )
    assert said + "55,036 in all. Labelling everyone costs 100,000." in words


def test_the_page_says_what_it_is_about_and_what_a_total_is(bill, page):
    said = "20,000 cases · label score · 5 a label · total = spend on labels + cost of errors"
    assert said in "".join(Reader(facts(bill)).words)
    assert f'<p class="facts">{facts(bill)}</p>' in page


@pytest.mark.parametrize(
    ("total", "words"),
    [
        (60.0, "You would have saved 40 (40%)"),
        (99.5, "You would have saved 0.5 (0.5%)"),
        (100.0, "You would have saved nothing"),
        (130.0, "You would have paid 30 (30%) more"),
    ],
)
def test_the_headline_is_honest(total, words):
    assert headline(small(row(total=total), chosen="Value")) == words


def test_a_cheaper_way_is_named():
    assert lead(small(row("random", 50.0), row(), chosen="Value")).endswith(
        " Cheaper still: random, 50 in all."
    )
    assert "Cheaper" not in lead(small(row("random", 70.0), row(), chosen="Value"))
    assert "Cheaper" not in lead(small(row(total=130.0), chosen="Value"))


def test_what_is_known_only_afterwards_is_not_taken_for_a_way():
    said = lead(small(row("label no one *", 20.0), row("random", 50.0), row(), chosen="Value"))
    assert said.endswith(
        " Cheaper still: random, 50 in all."
        " Cheaper, but known only afterwards: label no one&nbsp;*, 20 in all."
    )


def test_a_share_of_nothing_is_none():
    assert money_and_share(0.0, row(total=0.0, everyone=0.0).share_saved) == "0"


# -- tables ----------------------------------------------------------------------------------------------


def test_every_way_has_its_row_and_the_chosen_one_is_marked(bill, page):
    table = page[page.index('<table class="bill">') : page.index("</table>")]
    assert re.findall(r'<th scope="row">(.*?)</th>', table) == [row.name for row in bill.rows]
    assert re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table) == [
        "rule", "labels", "spend", "mean error", "total", "saved",
    ]  # fmt: skip
    assert table.count("aria-current") == 1
    assert '<tr class="chosen" aria-current="true"><th scope="row">breakeven</th>' in table
    assert '<td class="number" data-name="saved">−38,280 (−38%)</td>' in table


def test_a_star_is_explained_right_under_the_table(page):
    assert re.search(r"</table>\s*<p>\* Known only afterwards.</p>", page)
    assert "<li>Errors are against the <strong>labels</strong>.</li>" in page
    assert page.count("Known only afterwards") == 1


def test_means_over_orders_have_the_interval_of_their_total(page):
    section = page[page.index("<h2>Over shuffled orders</h2>") :]
    assert '<td class="number" data-name="mean error">1.991</td>' in section
    assert "<small>53,900 to 56,310</small>" in section


def test_without_trials_there_is_no_section_for_them(bill):
    assert "shuffled" not in html(replace(bill, trials=[]), "")


# -- charts ----------------------------------------------------------------------------------------------


def test_titles_say_nothing_twice():
    def titles(*figures):
        page = html(small(chosen="label everyone", sections=[Section(title="S", figures=list(figures))]), "")
        return re.findall(r"<h[23]>(.*?)</h[23]>", page)

    def drawn(*names):
        charts = [Chart(name=name, title=name, x_label="", y_label="", lines=[]) for name in names]
        data = Table(name="", title="", columns=[], rows=[])
        return Figure(name="".join(names), title="F", charts=charts, data=data)

    assert titles(drawn("a")) == ["S"]
    assert titles(drawn("a", "b")) == ["S", "a", "b"]
    assert titles(drawn("a"), drawn("b", "c")) == ["S", "F", "F", "b", "c"]


def test_every_chart_has_its_box(page):
    boxes = [given for tag, given in Reader(page).tags if tag == "div" and "data-chart" in given]
    names = ["money", "predicted", "bill-at-other-costs"]
    assert [box["data-chart"] for box in boxes] == list(data_of(page)["charts"]) == names
    assert [box["class"] for box in boxes] == ["chart", "square chart", "chart"]
    assert boxes[0]["aria-label"] == "Money so far: money against case, for breakeven, label everyone"


def test_a_row_of_the_bill_looks_the_same_in_every_chart(page):
    charts = data_of(page)["charts"]
    looks = {
        line["marker"]["color"]
        for chart in charts.values()
        for line in chart["data"]
        if line["name"] in ("breakeven", "breakeven, total")
    }
    assert len(looks) == 1


def test_what_is_no_row_looks_like_none():
    lines = [Line(label=str(number), x=[1.0], y=[1.0]) for number in range(4)]
    chart = Chart(name="c", title="", x_label="", y_label="", lines=lines)
    bill = small(row(), chosen="Value", sections=[Section(title="", figures=[figure(chart)])])
    colours = {line["line"]["color"] for line in data_of(html(bill, ""))["charts"]["c"]["data"]}
    assert not colours & {FIRST_STYLES[0].colour, FIRST_STYLES[1].colour}


def test_a_reader_can_ask_which_case_a_point_is(page):
    assert data_of(page)["charts"]["predicted"]["data"][0]["text"] == ["Ann", "&lt;b&gt;"]


def test_numbers_stand_beside_a_chart_where_there_are_some(bill, page):
    assert page.count("<summary>The numbers</summary>") == 3
    none = [replace(section, figures=[]) for section in bill.sections]
    assert html(replace(bill, sections=none), "").count("<summary>The numbers</summary>") == 1


# -- other costs -----------------------------------------------------------------------------------------


def test_the_slider_is_set_to_the_label_cost_of_the_bill(page):
    (slider,) = [given for tag, given in Reader(page).tags if tag == "input"]
    assert (slider["min"], slider["value"], slider["max"]) == ("0", "1", "2")
    assert slider["aria-valuetext"] == "5"
    said = "At 5 a label, as in this bill: 55,036 in all, 44,964 (45%) less than labelling everyone."
    assert said in page


def test_the_bill_at_every_label_cost_is_in_the_page(bill, page):
    costs = data_of(page)["costs"]
    assert costs["at"] == bill.sweep.label_costs
    assert len(costs["words"]) == len(bill.sweep.label_costs)
    assert costs["words"][0] == {
        "labels": "12,559",
        "spend": "7,849",
        "mean error": "1.197",
        "total": "31,789",
        "saved": "−19,289 (−154%)",
        "cost": "0.625",
        "sentence": "At 0.625 a label: 31,789 in all, 19,289 (154%) more than labelling everyone.",
    }
    assert data_of(page)["charts"][costs["chart"]]["layout"]["shapes"][0]["x0"] == 5


def part_of(sweep, *places):
    return Sweep(
        **{name: [getattr(sweep, name)[place] for place in places] for name in sweep.__struct_fields__}
    )


@pytest.mark.parametrize(
    ("places", "words"),
    [((0, 1, 2), "cost more or less?"), ((1, 2), "cost more?"), ((0, 1), "cost less?")],
)
def test_costs_are_said_to_be_what_they_are(bill, places, words):
    assert f"What if a label had {words}" in html(replace(bill, sweep=part_of(bill.sweep, *places)), "")


def test_one_cost_needs_no_slider(bill):
    page = html(replace(bill, sweep=part_of(bill.sweep, 1)), "")
    assert "At other label costs" not in page
    assert "costs" not in data_of(page)


def test_where_costs_differ_the_slider_moves_their_mean(bill):
    assert "Mean cost of a label" in html(replace(bill, costs_differ=True), "")
    assert "Mean cost" not in html(bill, "")


def test_labelling_everyone_costs_as_much_as_labelling_everyone(bill):
    same = replace(part_of(bill.sweep, 0, 1), saved=[0.0, 0.0])
    assert data_of(html(replace(bill, sweep=same), ""))["costs"]["words"][0]["sentence"].endswith(
        "in all, as much as labelling everyone."
    )


# -- the page --------------------------------------------------------------------------------------------


def test_a_bare_bill_is_a_page_too():
    page = html(small(chosen="label everyone"), "")
    Reader(page)
    assert "<h1>You would have saved nothing</h1>" in page
    assert "<section>" not in page
    assert "costs" not in data_of(page)


def test_nothing_given_can_become_markup():
    page = html(evil_bill(), "")
    read = Reader(page)
    assert page.count("<script") == page.count("</script>") == 3
    assert "alert('1 & 2')" not in page
    assert [tag for tag, _ in read.tags].count("script") == 3
    assert "".join(read.words).count(EVIL) >= 16
    assert next(given["aria-label"] for tag, given in read.tags if "data-chart" in given).startswith(EVIL)


def test_nothing_is_loaded(page):
    outside = SCRIPTS.sub("", page)
    assert "://" not in outside
    assert "@import" not in outside
    assert "url(" not in outside
    read = Reader(page)
    assert read.links == ["data:,"]
    assert not {"iframe", "object", "embed", "form"} & {tag for tag, _ in read.tags}


def test_only_the_scripts_of_the_page_may_run(page):
    (policy,) = [given["content"] for tag, given in Reader(page).tags if "http-equiv" in given]
    allowed = re.findall(r"'sha256-(.+?)'", policy)
    scripts = [body for kind, body in SCRIPTS.findall(page) if "json" not in kind]
    assert allowed == [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert policy.startswith("default-src 'none'; ")
    assert "'unsafe-eval'" not in policy
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_the_configuration_is_there_to_copy_as_it_is(bill, page):
    read = Reader(page)
    assert bill.configuration in read.words
    assert {"copy", "copied", "configuration"} <= set(read.ids)


def test_no_id_is_given_twice(page):
    ids = Reader(page).ids
    assert len(ids) == len(set(ids))
