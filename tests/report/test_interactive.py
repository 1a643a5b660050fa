"""Charts as the page draws them: the same look as the pictures, plain data, nothing lost."""

import json
import math
import re

import pytest

from breakeven.report.interactive import class_of, plotted, style_sheet
from breakeven.report.line_styles import (
    FIRST_STYLES,
    LINE_STYLES,
    PAGE_AFTER_DARK,
    PAPER_COLOUR,
    REFERENCE_STYLE,
    styles_of,
)
from breakeven.report.markup import asset
from breakeven.values.exhibit import Chart, Line, Mark

KINDS = ["line", "dashed", "reference", "dots", "rings", "crosses"]
ROUNDS = [float(round) for round in range(1, 101)]
EVIL = "<script>alert('1 & 2')</script>"


def line(label="Value", kind="line", **values):
    return Line(label=label, kind=kind, **{"x": ROUNDS, "y": [100 / x for x in ROUNDS]} | values)


def banded(kind):
    y = [100 / x for x in ROUNDS]
    return line(kind, kind, low=[one - 1 for one in y], high=[one + 1 for one in y])


def chart(*lines, **rest):
    return Chart(name="loss", title="Branin", x_label="round", y_label="loss", lines=list(lines), **rest)


def drawn(one):
    return plotted(one, styles_of(line.label for line in one.lines))


ODD = {
    "nothing": chart(),
    "no points": chart(line(x=[], y=[])),
    "one point": chart(line(x=[3.0], y=[4.0]), log_x=True, log_y=True),
    "level": chart(line(x=[1.0, 2.0], y=[5.0, 5.0])),
    "gaps": chart(line(x=[1.0, 2.0, 3.0], y=[math.nan, math.inf, 1.0])),
    "below zero by factors": chart(line(x=[0.0, 1.0], y=[0.0, -1.0]), log_x=True, log_y=True),
    "square": chart(line(kind="dots", x=[9.0, 1.0], y=[0.0, 1.0], names=["Ann", EVIL]), square=True),
    "billions": chart(line(x=[1e10, 3e12], y=[-4e10, 1e9])),
    "every kind": chart(*map(banded, KINDS)),
    "every kind by factors": chart(*map(banded, KINDS), log_x=True, log_y=True),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_every_chart_is_plain_data_with_ranges_that_can_be_drawn(odd):
    found = json.loads(json.dumps(drawn(odd), allow_nan=False))
    for axis in (found["x"], found["y"]):
        low, high = axis.get("range", (0.0, 1.0))
        assert low < high
        assert not axis.get("log") or low > 0.0
    for one in found["lines"]:
        assert len(one["x"]) == len(one["y"])


def test_styles_differ_without_their_colours_here_too():
    lines = [line(str(number)) for number in range(len(LINE_STYLES))]
    looks = [(tuple(one["dashes"]), one["sign"]) for one in drawn(chart(*lines))["lines"]]
    assert len(set(looks)) == len(LINE_STYLES)


def test_lines_keep_their_order_and_the_script_draws_the_first_on_top():
    figure = drawn(chart(banded("line"), banded("dashed"), line("last")))
    assert [one["name"] for one in figure["lines"]] == ["line", "dashed", "last"]
    assert "for (const line of [...chart.lines].reverse()) drawLine" in asset("bill.js")


def test_a_band_has_gaps_where_its_ends_have():
    gap = line(x=[1.0, 2.0, 3.0], y=[1.0, 2.0, 3.0], low=[0.0, math.nan, 2.0], high=[2.0, 3.0, 4.0])
    assert drawn(chart(gap))["lines"][0]["low"] == [0, None, 2]


@pytest.mark.parametrize("kind", ["dots", "rings", "crosses"])
def test_points_are_smaller_the_more_there_are(kind):
    some = [[float(one) for one in range(count)] for count in (10, 500, 5_000)]
    sizes = [drawn(chart(line(kind=kind, x=x, y=x)))["lines"][0]["size"] for x in some]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 3


def test_marks_are_drawn_where_they_are_and_within_the_axis():
    found = drawn(chart(line(x=[1.0, 2.0], y=[1.0, 1.0]), marks=[Mark(9.0, "changed")]))
    assert found["marks"] == [{"x": 9.0, "text": "changed"}]
    assert found["x"]["range"][1] > 9.0


def luminance(colour, opacity, paper):
    mixed = [
        opacity * int(colour[at : at + 2], 16) + (1 - opacity) * int(paper[at : at + 2], 16)
        for at in (1, 3, 5)
    ]
    linear = [(one / 255 + 0.055) ** 2.4 / 1.055**2.4 if one > 10 else one / 255 / 12.92 for one in mixed]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("style", FIRST_STYLES)
def test_a_faint_dot_can_be_seen_on_either_paper(style):
    opacity = float(re.search(r"\.dots \.sign { opacity: ([.\d]+)", asset("bill.css"))[1])
    for colour, paper in ((style.colour, PAPER_COLOUR), (style.dark, PAGE_AFTER_DARK[PAPER_COLOUR])):
        light, dark = sorted((luminance(colour, opacity, paper), luminance(paper, 1.0, paper)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3.0


def test_references_all_look_the_same():
    lines = [drawn(chart(line(name, "reference")))["lines"][0] for name in ("its cost", "exactly right")]
    assert {one["style"] for one in lines} == {"style-reference"}
    assert lines[0]["dashes"] == lines[1]["dashes"] != []


def test_what_cannot_be_drawn_is_a_gap():
    found = drawn(chart(line(x=[1.0, 2.0, 3.0], y=[math.nan, math.inf, 1 / 3])))["lines"][0]["y"]
    assert found == [None, None, 0.333333]


def test_axes_by_factors_have_round_ticks_within_them():
    axis = drawn(chart(line(x=[0.6, 40.0], y=[1.0, 1.0]), log_x=True))["x"]
    assert [text for _, text in axis["ticks"]] == ["0.5", "1", "2", "5", "10", "20", "50"]
    wide = drawn(chart(line(x=[1.0, 1e12], y=[1.0, 1.0]), log_x=True))["x"]
    assert [text for _, text in wide["ticks"]][-3:] == ["10bn", "100bn", "1,000bn"]
    narrow = drawn(chart(line(x=[1.0, 2.0], y=[210.0, 260.0]), log_y=True))["y"]
    assert [text for _, text in narrow["ticks"]] == ["200", "300"]


def test_an_axis_of_billions_counts_billions():
    figure = drawn(chart(line(x=[1.0, 2.0], y=[0.0, 3e10], low=[0.0, 1e10], high=[1e9, 4e10])))
    (found,) = figure["lines"]
    assert (found["y"], found["low"], found["high"]) == ([0, 30], [0, 10], [1, 40])
    assert (figure["y"]["sign"], figure["x"]["sign"]) == ("bn", "")


def test_a_square_has_one_scale_and_one_unit():
    figure = drawn(chart(line(x=[1e6, 2e6], y=[3e6, 5e7]), square=True))
    x, y = figure["x"], figure["y"]
    assert figure["square"]
    assert x["range"] == y["range"]
    assert x["range"][0] <= 1 < 50 <= x["range"][1]
    assert x["sign"] == y["sign"] == "M"


def test_the_first_of_a_line_stays_in_the_picture():
    low, high = drawn(chart(line()))["y"]["range"]
    assert low <= 1 < 100 <= high


def test_labels_all_alike_have_an_axis_around_them():
    alike = line(x=[1.0, 2.0, 3.0], y=[5.0, 4.999999999999999, 5.000000000000001])
    low, high = drawn(chart(alike))["y"]["range"]
    assert (round(low, 3), round(high, 3)) == (4.4, 5.6)


def test_the_script_makes_text_of_words_and_never_markup():
    script = asset("bill.js")
    assert "innerHTML" not in script
    assert "insertAdjacentHTML" not in script
    assert "</script" not in script.lower()


def test_every_style_has_a_light_and_a_dark_colour():
    sheet = style_sheet()
    for style in (*LINE_STYLES, REFERENCE_STYLE):
        rules = re.findall(
            rf"\.{class_of(style)} {{{{ --line: (#\w+); }}}}".replace("{{", "{").replace("}}", "}"), sheet
        )
        assert rules == [style.colour, style.dark]


def test_well_known_labels_of_a_page_keep_their_place():
    known = ["Value", "never"]
    assert (
        styles_of(["never", "a", "b"], known)["never"]
        == styles_of(["never"], known)["never"]
        == LINE_STYLES[1]
    )
