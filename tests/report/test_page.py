"""The page: everything on it is escaped, linked and there."""

import subprocess
import sys
from urllib.parse import unquote

import pytest

from breakeven.report import markdown, write_figure, write_page, write_table
from breakeven.report.line_styles import PAGE_AFTER_DARK
from breakeven.report.markup import asset, marked, shown
from breakeven.values.exhibit import Chart, Figure, Line, Section, Table
from tests.report.reading import Reader

EVIL = "<script>alert('1 & 2')</script>\""


def sample_table(name="bill", title="The bill"):
    rows = [["Never", 0.123456789, None, True], ["Algorithm 1", 12345.678, 3, False]]
    return Table(name=name, title=title, columns=["method", "loss", "labels", "best"], rows=rows)


def sample_figure(name="branin", charts=("loss", "cost")):
    drawn = [
        Chart(
            name=one,
            title=EVIL,
            x_label="round",
            y_label="loss",
            lines=[Line(label="Never", x=[1, 2], y=[1, 2])],
        )
        for one in charts
    ]
    return Figure(name=name, title="Branin", charts=drawn, data=sample_table(), caption="It **falls**.")


def page(tmp_path, *sections, title="Report", lead="What came out."):
    return write_page(title, lead, list(sections), tmp_path).read_text(encoding="utf-8")


def test_every_link_of_the_page_leads_somewhere(tmp_path):
    figures = [sample_figure("a #1?"), sample_figure("alone", ["only"])]
    section = Section(title="All", tables=[sample_table("50 %")], figures=figures)
    for figure in figures:
        write_figure(figure, tmp_path)
    write_table(section.tables[0], tmp_path)
    read = Reader(page(tmp_path, section))
    for link in read.links:
        target = unquote(link)
        assert target[1:] in read.ids if target.startswith("#") else (tmp_path / target).is_file()
    linked = {unquote(link) for link in read.links}
    assert {path.name for path in tmp_path.iterdir()} - linked == {"index.html"}


def test_nothing_given_can_become_markup(tmp_path):
    section = Section(
        title=EVIL,
        text=[EVIL],
        tables=[Table(name='t"', title=EVIL, columns=[EVIL], rows=[[EVIL]])],
        figures=[sample_figure('f"')],
    )
    text = page(tmp_path, section, title=EVIL, lead=EVIL)
    read = Reader(text)
    assert "<script" not in text
    assert "".join(read.words).count(EVIL) >= 8
    assert next(given["alt"] for tag, given in read.tags if tag == "img").startswith(EVIL)


def test_a_page_needs_neither_network_nor_script(tmp_path):
    text = page(tmp_path, Section(title="One", tables=[sample_table()], figures=[sample_figure()]))
    assert "://" not in text
    assert "@import" not in text
    assert "url(" not in text
    assert not {"script", "link", "iframe"} & {tag for tag, _ in Reader(text).tags}


def test_the_same_sections_give_the_same_page(tmp_path):
    section = Section(title="One", text=["Words."], figures=[sample_figure()])
    assert page(tmp_path / "a", section) == page(tmp_path / "b", section)


def test_a_page_without_sections_is_a_page(tmp_path):
    assert "<h1>Report</h1>" in page(tmp_path)


def test_pictures_wait_until_they_are_seen_and_keep_their_place(tmp_path):
    read = Reader(page(tmp_path, Section(title="One", figures=[sample_figure()])))
    images = [given for tag, given in read.tags if tag == "img"]
    assert [image["src"] for image in images] == ["branin-loss.svg", "branin-cost.svg"]
    assert {image["loading"] for image in images} == {"lazy"}
    assert {(image["width"], image["height"]) for image in images} == {("520", "340")}
    assert images[0]["alt"].endswith(": loss against round, for Never")


def test_a_page_has_the_colours_of_its_pictures():
    light, _, dark = asset("page.css").partition("prefers-color-scheme: dark")
    assert all(colour in light for colour in PAGE_AFTER_DARK)
    assert all(colour in dark for colour in PAGE_AFTER_DARK.values())


def test_numbers_are_rounded_and_stand_to_the_right(tmp_path):
    text = page(tmp_path, Section(title="One", tables=[sample_table()]))
    assert '<td>Never</td><td class="number">0.1235</td><td class="number"></td><td>yes</td>' in text
    assert '<td class="number">12,346</td><td class="number">3</td><td>no</td>' in text
    assert '<th scope="col" class="number">loss</th>' in text


def test_a_column_of_sentences_is_given_room(tmp_path):
    table = Table(name="t", title="T", columns=["says"], rows=[["Words and words. " * 5], [None]])
    assert '<td class="sentence">' in page(tmp_path, Section(title="One", tables=[table]))


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.5, "0.5"),
        (10.0, "10"),
        (0.12300001, "0.123"),
        (-2.34567, "−2.346"),
        (999.96, "1,000"),
        (99.996, "100"),
        (1.5e-7, "1.5e−7"),
        (1.23456e15, "1,235tn"),
        (0.0, "0"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (float("nan"), "–"),
        (-1234567, "−1,234,567"),
        (None, ""),
        (True, "yes"),
        ("a < b", "a &lt; b"),
    ],
)
def test_a_cell_is_shown_for_reading(cell, text):
    assert shown(cell) == text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain *stars* and _lines_", "plain *stars* and _lines_"),
        ("`<b>` and **<i>**", "<code>&lt;b&gt;</code> and <strong>&lt;i&gt;</strong>"),
        ("**run `it` now**", "<strong>run <code>it</code> now</strong>"),
        ("`2**3**4`", "<code>2**3**4</code>"),
        ("one ` alone, two ** alone", "one ` alone, two ** alone"),
        ("[a](b) # not a heading", "[a](b) # not a heading"),
    ],
)
def test_code_and_bold_are_all_the_markup(text, html):
    assert marked(text) == html


def test_a_page_and_a_table_need_no_matplotlib(tmp_path):
    code = """
import sys
from pathlib import Path
sys.modules["matplotlib"] = None
from breakeven.report import write_page, write_table
from breakeven.values.exhibit import Section, Table
write_table(Table(name="t", title="", columns=[], rows=[]), Path(sys.argv[1]))
write_page("Report", "", [Section(title="One")], Path(sys.argv[1]))
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(tmp_path)], check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "t.csv"]


def test_a_document_has_the_sections_tables_and_pictures_of_the_page():
    table = Table(
        name="t", title="Numbers", columns=["a|b", "c", "d"], rows=[["x|y", 1.0, True], ["z", None, None]]
    )
    chart = Chart(name="loss", title="Loss", x_label="round", y_label="loss", lines=[])
    figure = Figure(name="f", title="A figure", charts=[chart], data=table, caption="As seen.")
    text = markdown(
        "Title", "Lead.", [Section(title="One", text=["Words."], tables=[table], figures=[figure])], "img"
    )
    assert text.startswith("# Title\n\nLead.\n\n## One\n\nWords.\n\n**Numbers**\n\n")
    assert "| a\\|b | c | d |\n| --- | ---: | --- |\n| x\\|y | 1 | yes |\n| z |  |  |\n" in text
    assert text.endswith("### A figure\n\n![Loss](img/f.png)\n\nAs seen.\n")
