"""The report of a bill: all of it on one page, escaped, and nothing loaded from anywhere."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest
from msgspec.structs import replace

from breakeven.report import write_bill
from breakeven.report.bill_numbers import facts
from breakeven.report.bill_page import html
from breakeven.values.bill import Bill, BillRow, Comparison, CostPoint, sweep_of
from breakeven.values.bill_words import headline
from breakeven.values.exhibit import Chart, Figure, Line, Section, Table
from tests.report.reading import Reader

EVIL = "</script><script>alert('1 & 2')</script>\"<!--"
SCRIPTS = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)
CASES, COST = 20_000, 5.0


def way(name, labels, mean_error, **ends):
    spend, total = COST * labels, COST * labels + mean_error * CASES
    given = {"labels": labels, "spend": spend, "mean_error": mean_error, "total": total}
    return BillRow(name=name, **given, **ends)


def figure(chart, **rest):
    data = Table(name=chart.name, title=chart.title, columns=["case", "money"], rows=[[1, 5.0]])
    return Figure(name=chart.name, title=chart.title, charts=[chart], data=data, **rest)


def sweep(costs=(0.625, COST, 40.0)):
    labels, errors = {0.625: 12_559, COST: 3_118, 40.0: 774}, {0.625: 1.197, COST: 1.9723, 40.0: 3.751}
    points = []
    for cost in costs:
        spend, error = cost * labels[cost], errors[cost]
        total = spend + error * CASES
        own = BillRow(name="breakeven", labels=labels[cost], spend=spend, mean_error=error, total=total)
        points.append(
            CostPoint(
                label_cost=cost, own=own, everyone=cost * CASES, no_one=6.914 * CASES, at_random=1.1 * total
            )
        )
    return sweep_of(points, CASES, CASES)


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
        warnings=["The labels **refuted** it."],
        headline="You would have saved 44,964 (45%) against the cheapest simple way, labelling everyone",
        lead="**breakeven** would have bought 3,118 of 20,000 labels.",
        break_even=["Up to about 70 a label, it pays.", "Up to about 1 a label, buying all is cheapest."],
        rests_on="These costs rest on runs at 3 costs of a label.",
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
    return html(bill)


def data_of(page):
    return json.loads(SCRIPTS.findall(page)[0][1])


def row(name="Value", total=60.0, **rest):
    given = {"labels": 5, "spend": 40.0, "mean_error": 0.5, "total": total}
    return BillRow(name=name, **given | rest)


def small(*rows, **rest):
    everyone = row("label everyone", 100.0, labels=20, spend=100.0)
    return Bill(title="t", headline="You would have saved nothing", rows=[everyone, *rows], **rest)


def evil_bill():
    lines = [Line(label=EVIL, x=[1.0], y=[1.0], remark=EVIL, names=[EVIL])]
    chart = Chart(name='c"', title=EVIL, x_label=EVIL, y_label=EVIL, lines=lines)
    table = Table(name='t"', title=EVIL, columns=[EVIL], rows=[[EVIL]])
    evil = Figure(name='f"', title="Figure", charts=[chart], data=table, caption=EVIL)
    points = [CostPoint(label_cost=cost, own=row(EVIL), everyone=1.0, no_one=2.0) for cost in (1.0, 2.0)]
    return Bill(
        title=EVIL,
        headline=EVIL,
        warnings=[EVIL],
        lead=EVIL,
        break_even=[EVIL],
        rests_on=EVIL,
        currency=EVIL,
        unit=EVIL,
        rows=[row(EVIL), row(EVIL + "2")],
        chosen=EVIL,
        facts=[EVIL],
        trials=[row(EVIL, low=1.0, high=2.0)],
        sections=[Section(title=EVIL, text=[EVIL], tables=[table], figures=[evil])],
        sweep=sweep_of(points, 1, 1),
        configuration=EVIL,
        notes=[EVIL, "*" + EVIL],
    )


def test_the_report_is_one_small_file(tmp_path, bill):
    path = write_bill(bill, tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name] == ["report.html"]
    assert path.stat().st_size < 60_000


def test_the_same_bill_gives_the_same_page(bill, page):
    assert html(bill) == page


# -- the bill in words -----------------------------------------------------------------------------------


def test_the_page_says_first_what_must_be_known_then_the_answer_and_the_break_even_costs(page):
    words = "".join(Reader(page).words)
    said = ["The labels refuted it.", "You would have saved 44,964 (45%)", "Up to about 70 a label, it pays."]
    said += ["Up to about 1 a label", "breakeven would have bought 3,118 of 20,000 labels.", "label no one *"]
    places = [words.index(one) for one in said]
    assert places == sorted(places)


def test_the_page_says_what_it_is_about_and_what_a_total_is(bill, page):
    said = "20,000 cases · label score · 5 a label · total = spend on labels + cost of errors"
    assert said in "".join(Reader(facts(bill)).words)
    assert f'<p class="facts">{facts(bill)}</p>' in page


@pytest.mark.parametrize(
    ("total", "words"),
    [
        (60.0, "You would have saved 40 (40%) against the cheapest simple way, labelling no one"),
        (99.5, "You would have saved 0.5 (0.5%) against the cheapest simple way, labelling no one"),
        (100.0, "You would have saved nothing: labelling no one costs the same"),
        (130.0, "Labelling no one would have been cheaper: Value costs 30 more (30%)"),
        (4e12, "Labelling no one would have been cheaper: Value costs 4,000bn more (40bn times as much)"),
    ],
)
def test_the_headline_is_honest(total, words):
    found = Comparison(than="label no one", total=100.0, saved=100.0 - total)
    assert headline(row(total=total), found) == words


# -- tables ----------------------------------------------------------------------------------------------


def test_every_way_has_its_row_and_the_chosen_one_is_marked(bill, page):
    table = page[page.index('<table class="bill">') : page.index("</table>")]
    assert re.findall(r'<th scope="row">(.*?)</th>', table) == [row.name for row in bill.rows]
    assert re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table) == [
        "way", "labels", "spend", "mean error", "where not asked", "total",
        '<span class="wide">breakeven </span>saves',
    ]  # fmt: skip
    assert table.count("aria-current") == 1
    assert '<tr class="chosen" aria-current="true"><th scope="row">breakeven</th>' in table
    assert '<td class="number">44,964 (45%)</td></tr>' in table


def test_what_costs_many_times_as_much_is_no_percentage():
    page = html(small(row(total=4e9), chosen="Value"))
    assert "(40,000,000 times as much)" in page or "(40M times as much)" in page


def test_a_phone_shows_labels_total_and_what_is_saved(page):
    table = page[page.index('<table class="bill">') : page.index("</table>")]
    narrow = re.findall(r'<th scope="col" class="number">(.*?)</th>', table)
    assert narrow == ["labels", "total", '<span class="wide">breakeven </span>saves']


def test_a_star_is_explained_right_under_the_table(page):
    assert re.search(r"</table>\s*<p>\* Known only afterwards.</p>", page)
    assert "<li>Errors are against the <strong>labels</strong>.</li>" in page
    assert page.count("Known only afterwards") == 1


def test_means_over_orders_have_the_interval_of_their_total(page):
    section = page[page.index("<h2>Over shuffled orders</h2>") :]
    assert '<td class="number wide">1.991</td>' in section
    assert "<small>53,900 to 56,310</small>" in section


def test_without_trials_there_is_no_section_for_them(bill):
    assert "shuffled" not in html(replace(bill, trials=[]))


# -- charts ----------------------------------------------------------------------------------------------


def test_titles_say_nothing_twice():
    def titles(*figures):
        page = html(small(chosen="label everyone", sections=[Section(title="S", figures=list(figures))]))
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
    assert sorted(box["data-chart"] for box in boxes) == sorted(data_of(page)["charts"]) == sorted(names)
    assert [box["class"] for box in boxes] == ["chart", "chart", "square chart"]
    assert boxes[1]["data-words"] == "Money so far: money against case, for breakeven, label everyone"


def test_a_row_of_the_bill_looks_the_same_in_every_chart(page):
    charts = data_of(page)["charts"]
    looks = {
        line["style"]
        for chart in charts.values()
        for line in chart["lines"]
        if line["name"] in ("breakeven", "breakeven, total")
    }
    assert looks == {"style-0"}


def test_what_is_no_row_looks_like_none():
    lines = [Line(label=str(number), x=[1.0], y=[1.0]) for number in range(4)]
    chart = Chart(name="c", title="", x_label="", y_label="", lines=lines)
    bill = small(row(), chosen="Value", sections=[Section(title="", figures=[figure(chart)])])
    styles = {line["style"] for line in data_of(html(bill))["charts"]["c"]["lines"]}
    assert len(styles) == 4
    assert not styles & {"style-0", "style-1"}


def test_a_reader_can_ask_which_case_a_point_is(page):
    assert data_of(page)["charts"]["predicted"]["lines"][1]["names"] == ["Ann", "<b>"]


def test_numbers_stand_beside_a_chart_where_there_are_some(bill, page):
    assert page.count("<summary>The numbers</summary>") == 3
    none = [replace(section, figures=[]) for section in bill.sections]
    assert html(replace(bill, sections=none)).count("<summary>The numbers</summary>") == 1


# -- other costs -----------------------------------------------------------------------------------------


def test_the_slider_is_set_to_the_label_cost_of_the_bill(page):
    (slider,) = [given for tag, given in Reader(page).tags if tag == "input"]
    assert (slider["min"], slider["value"], slider["max"]) == ("0", "1", "2")
    assert slider["aria-valuetext"] == "5"
    said = "At 5 a label, your cost: 55,036 in all, 5,504 less (9.1%) than the cheapest simple way, "
    assert f"{said}labelling at random for the same money." in page


def test_the_bill_at_every_label_cost_is_in_the_page(bill, page):
    costs = data_of(page)["costs"]
    assert costs["at"] == bill.sweep.label_costs
    assert len(costs["words"]) == len(bill.sweep.label_costs)
    assert costs["words"][0] == {
        "labels": "12,559",
        "breakeven": "31,789",
        "label everyone": "12,500",
        "label no one *": "138,280",
        "at random, same money": "34,968",
        "cost": "0.625",
        "sentence": "At 0.625 a label: 31,789 in all, 19,289 more (154%) than the cheapest simple way, "
        "labelling everyone.",
    }
    marks = data_of(page)["charts"][costs["chart"]]["marks"]
    assert (marks[0]["x"], [mark["text"] for mark in marks]) == (5, ["", "buy all"])


def test_both_break_even_costs_are_drawn(bill):
    at = {"no_one": 30_000.0, "label_cost": 80.0, "everyone": 1e6}
    own = [row(total=total) for total in (20_000.0, 60_000.0)]
    points = [CostPoint(**{**at, "own": own[0], "label_cost": 1.0, "everyone": 10_000.0})]
    points += [
        CostPoint(**{**at, "own": one, "label_cost": cost})
        for one, cost in zip(own, (9.0, 80.0), strict=True)
    ]
    marks = data_of(html(replace(bill, sweep=sweep_of(points, 9, 9))))["charts"]["bill-at-other-costs"][
        "marks"
    ]
    assert [mark["text"] for mark in marks] == ["", "buy all", "break-even"]
    assert 1.0 < marks[1]["x"] < 9.0 < marks[2]["x"] < 80.0


def test_one_cost_needs_no_slider(bill):
    page = html(replace(bill, sweep=sweep([COST])))
    assert "At other costs of a label" not in page
    assert "costs" not in data_of(page)


def test_where_costs_differ_the_slider_moves_their_mean(bill):
    assert "Mean cost of a label" in html(replace(bill, costs_differ=True))
    assert "Mean cost" not in html(bill)


# -- the page --------------------------------------------------------------------------------------------


def test_a_bare_bill_is_a_page_too():
    page = html(small(chosen="label everyone"))
    Reader(page)
    assert "<h1>You would have saved nothing</h1>" in page
    assert "<section>" not in page
    assert "costs" not in data_of(page)


def test_nothing_given_can_become_markup():
    page = html(evil_bill())
    read = Reader(page)
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert('1 & 2')" not in page
    assert [tag for tag, _ in read.tags].count("script") == 2
    assert "".join(read.words).count(EVIL) >= 16
    words = [given["data-words"] for tag, given in read.tags if "data-chart" in given]
    assert len(words) == 2
    assert words[1].startswith(EVIL)


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
