"""The report of a bill: all of it on one page, escaped, and nothing loaded from anywhere."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from breakeven.report import write_bill
from breakeven.report.bill_page import html
from breakeven.report.bill_table import headline, lead, money_and_share
from breakeven.values.bill import Bill, BillRow, Sweep
from breakeven.values.exhibit import Chart, Figure, Line, Note, Section, Table
from tests.browser.sample import sample_bill
from tests.unit.reading import Reader

EVIL = "</script><script>alert('1 & 2')</script>\"<!--"
SCRIPTS = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)


@pytest.fixture(scope="module")
def bill():
    return sample_bill()


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
    lines = [Line(label=EVIL, x=[1.0], y=[1.0], remark=EVIL)]
    chart = Chart(
        name='c"',
        title=EVIL,
        x_label=EVIL,
        y_label=EVIL,
        lines=lines,
        notes=[Note(1, 1, EVIL)],
        y_names=[EVIL],
    )
    table = Table(name='t"', title=EVIL, columns=[EVIL], rows=[[EVIL]])
    figure = Figure(name='f"', title="Figure", charts=[chart], data=table, caption=EVIL)
    return Bill(
        title=EVIL,
        rows=[row(EVIL), row(EVIL + "2")],
        chosen=EVIL,
        sections=[Section(title=EVIL, text=[EVIL], tables=[table], figures=[figure])],
        sweep=Sweep(prices=[1.0], labels=[1], spend=[1.0], mean_error=[1.0], total=[1.0], saved=[1.0]),
        configuration=EVIL,
        notes=[EVIL],
    )


def test_the_report_is_one_file_with_plotly_in_it_once(tmp_path, bill):
    path = write_bill(bill, tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name] == ["report.html"]
    assert path.read_text(encoding="utf-8").count("* plotly.js v") == 1


def test_the_same_bill_gives_the_same_page(bill, page):
    assert html(bill, "/* plotly */") == page


def test_the_page_says_first_what_was_saved(page):
    words = "".join(Reader(page).words)
    assert "<h1>You would have saved 44,964 (45%)</h1>" in page
    assert (
        "With Value: 3,118 of 20,000 labels bought for 15,590, a mean error of 1.972, 55,036 in all." in words
    )


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
    assert lead(small(row("never", 50.0), row(), chosen="Value")).endswith(" Cheaper still: never, 50.")
    assert "Cheaper" not in lead(small(row("never", 70.0), row(), chosen="Value"))
    assert "Cheaper" not in lead(small(row(total=130.0), chosen="Value"))


def test_titles_say_nothing_twice():
    def titles(*figures):
        page = html(small(chosen="label everyone", sections=[Section(title="S", figures=list(figures))]), "")
        return re.findall(r"<h[23]>(.*?)</h[23]>", page)

    def figure(*names):
        charts = [Chart(name=name, title=name, x_label="", y_label="", lines=[]) for name in names]
        data = Table(name="", title="", columns=[], rows=[])
        return Figure(name="".join(names), title="F", charts=charts, data=data)

    assert titles(figure("a")) == ["S"]
    assert titles(figure("a", "b")) == ["S", "a", "b"]
    assert titles(figure("a"), figure("b", "c")) == ["S", "F", "F", "b", "c"]


def test_a_share_of_nothing_is_none():
    assert money_and_share(0.0, row(total=0.0, everyone=0.0).share_saved) == "0 (0.0%)"


def test_every_way_has_its_row_and_the_chosen_one_is_marked(bill, page):
    table = page[page.index('<table class="bill">') : page.index("</table>")]
    assert re.findall(r'<th scope="row">(.*?)</th>', table) == [row.name for row in bill.rows]
    assert re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table) == [
        "way", "labels", "spend", "mean error", "total", "saved",
    ]  # fmt: skip
    assert table.count("aria-current") == 1
    assert '<tr class="chosen" aria-current="true"><th scope="row">Value</th>' in table
    assert '<td class="number" data-name="total">55,036 <small>53,900 to 56,310</small></td>' in table
    assert '<td class="number" data-name="saved">−38,280 (−38%)</td>' in table


def test_every_chart_has_its_box_and_its_numbers(bill, page):
    boxes = [given for tag, given in Reader(page).tags if tag == "div" and "data-chart" in given]
    names = [
        "over-time-spend",
        "over-time-error",
        "buying",
        "predicted",
        "calibration",
        "bill-at-other-prices",
    ]
    assert [box["data-chart"] for box in boxes] == list(data_of(page)["charts"]) == names
    assert (
        boxes[0]["aria-label"]
        == "Spent on labels: spend so far against arrival, for Value, Threshold, label everyone"
    )
    (drawn,) = [one for one in data_of(page)["charts"]["buying"]["data"] if one["name"] == "threshold"]
    assert drawn["x"] == bill.sections[1].figures[0].charts[0].lines[0].x


def test_a_row_of_the_bill_looks_the_same_in_every_chart(page):
    charts = data_of(page)["charts"]
    looks = {
        json.dumps(line["marker"])
        for name in ("over-time-spend", "over-time-error", "bill-at-other-prices")
        for line in charts[name]["data"]
        if line["name"] in ("Value", "Value, total")
    }
    assert len(looks) == 1


def test_few_numbers_can_be_read_many_cannot(page):
    assert page.count("<summary>The numbers</summary>") == 2


def test_the_slider_stands_at_the_price_of_the_bill(bill, page):
    (slider,) = [given for tag, given in Reader(page).tags if tag == "input"]
    assert (slider["min"], slider["value"], slider["max"]) == ("0", "6", "12")
    assert slider["aria-valuetext"] == "5"
    assert bill.sweep.prices[6] == bill.price == 5
    assert (
        "At 5 a label, the price of this bill: 55,030 in all, 44,970 (45%) less than labelling everyone."
        in page
    )


def test_the_bill_at_every_price_is_in_the_page(bill, page):
    prices = data_of(page)["prices"]
    assert prices["at"] == bill.sweep.prices
    assert len(prices["words"]) == len(bill.sweep.prices)
    assert prices["words"][0] == {
        "labels": "12,559",
        "spend": "7,849",
        "mean error": "1.197",
        "total": "31,793",
        "saved": "−19,293 (−154%)",
        "price": "0.625",
        "sentence": "At 0.625 a label: 31,793 in all, 19,293 (154%) more than labelling everyone.",
    }
    assert data_of(page)["charts"][prices["chart"]]["layout"]["shapes"][0]["x0"] == 5


def test_a_bare_bill_is_a_page_too():
    page = html(small(chosen="label everyone"), "")
    Reader(page)
    assert "<h1>You would have saved nothing</h1>" in page
    assert "<section>" not in page
    assert "prices" not in data_of(page)


def test_nothing_given_can_become_markup():
    page = html(evil_bill(), "")
    read = Reader(page)
    assert page.count("<script") == page.count("</script>") == 3
    assert "alert('1 & 2')" not in page
    assert [tag for tag, _ in read.tags].count("script") == 3
    assert "".join(read.words).count(EVIL) >= 12
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
