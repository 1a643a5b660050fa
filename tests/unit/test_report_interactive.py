"""Interactive charts: valid to plotly, the same look as the pictures, nothing given is markup."""

import math
import sys

import pytest

from breakeven.report import MissingPlotly, check_plotly
from breakeven.report.interactive import PLOTLY_SYMBOLS, after_dark, plotly_script, plotted
from breakeven.report.line_styles import FIRST_STYLES, LINE_STYLES, PAPER_COLOUR, styles_of
from breakeven.values.exhibit import Chart, Line

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
def test_plotly_accepts_every_chart(odd):
    from plotly.graph_objects import Figure

    Figure(drawn(odd))


@pytest.mark.parametrize("style", LINE_STYLES)
def test_every_style_has_its_symbols(style):
    assert {style.marker, style.cross} <= set(PLOTLY_SYMBOLS)


def test_styles_differ_without_their_colours_here_too():
    lines = [line(str(number)) for number in range(len(LINE_STYLES))]
    looks = [(one["line"]["dash"], one["marker"]["symbol"]) for one in drawn(chart(*lines))["data"]]
    assert len(set(looks)) == len(LINE_STYLES)


def test_the_first_line_lies_on_top_and_is_named_first():
    figure = drawn(chart(banded("line"), banded("dashed"), line("last")))
    assert [one.get("name") for one in figure["data"]] == [None, None, "last", "dashed", "line"]
    assert figure["layout"]["legend"]["traceorder"] == "reversed"


def test_a_band_goes_there_and_back_and_skips_gaps():
    gap = line(x=[1.0, 2.0, 3.0], y=[1.0, 2.0, 3.0], low=[0.0, math.nan, 2.0], high=[2.0, 3.0, 4.0])
    band = drawn(chart(gap))["data"][0]
    assert band["x"] == [1, 3, 3, 1]
    assert band["y"] == [2, 4, 2, 0]


@pytest.mark.parametrize("kind", ["dots", "rings", "crosses"])
def test_points_are_smaller_the_more_there_are(kind):
    some = [[float(one) for one in range(count)] for count in (10, 500, 5_000)]
    markers = [drawn(chart(line(kind=kind, x=x, y=x)))["data"][0]["marker"] for x in some]
    sizes = [marker["size"] for marker in markers]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 4
    assert min(marker.get("opacity", 1.0) for marker in markers) >= 0.8


def luminance(colour, opacity, paper):
    mixed = [
        opacity * int(colour[at : at + 2], 16) + (1 - opacity) * int(paper[at : at + 2], 16)
        for at in (1, 3, 5)
    ]
    linear = [(one / 255 + 0.055) ** 2.4 / 1.055**2.4 if one > 10 else one / 255 / 12.92 for one in mixed]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("style", FIRST_STYLES)
def test_a_faint_dot_can_be_seen_on_either_paper(style):
    x = [float(one) for one in range(5_000)]
    opacity = drawn(chart(line(kind="dots", x=x, y=x)))["data"][0]["marker"]["opacity"]
    for colour, paper in ((style.colour, PAPER_COLOUR), (style.dark, after_dark()[PAPER_COLOUR])):
        light, dark = sorted((luminance(colour, opacity, paper), luminance(paper, 1.0, paper)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3.0


def test_references_all_look_the_same():
    looks = [
        drawn(chart(line(name, "reference")))["data"][0]["line"] for name in ("its cost", "exactly right")
    ]
    assert looks[0] == looks[1]
    assert looks[0]["color"] not in {style.colour for style in LINE_STYLES}


def test_what_cannot_be_drawn_is_a_gap():
    assert drawn(chart(line(x=[1.0, 2.0, 3.0], y=[math.nan, math.inf, 1 / 3])))["data"][0]["y"] == [
        None,
        None,
        0.3333333,
    ]


def test_axes_by_factors_have_round_ticks_within_them():
    axis = drawn(chart(line(x=[0.6, 40.0], y=[1.0, 1.0]), log_x=True))["layout"]["xaxis"]
    assert axis["ticktext"] == ["0.5", "1", "2", "5", "10", "20", "50"]
    wide = drawn(chart(line(x=[1.0, 1e12], y=[1.0, 1.0]), log_x=True))["layout"]["xaxis"]
    assert wide["ticktext"][-3:] == ["10bn", "100bn", "1,000bn"]
    narrow = drawn(chart(line(x=[1.0, 2.0], y=[210.0, 260.0]), log_y=True))["layout"]["yaxis"]
    assert narrow["ticktext"] == ["200", "300"]


def test_an_axis_of_billions_counts_billions():
    figure = drawn(chart(line(x=[1.0, 2.0], y=[0.0, 3e10], low=[0.0, 1e10], high=[1e9, 4e10])))
    band, drawn_line = figure["data"]
    assert drawn_line["y"] == [0, 30]
    assert band["y"] == [1, 40, 10, 0]
    assert figure["layout"]["yaxis"]["ticksuffix"] == "bn"
    assert figure["layout"]["xaxis"]["ticksuffix"] == ""


def test_a_square_has_one_scale_and_one_unit():
    figure = drawn(chart(line(x=[1e6, 2e6], y=[3e6, 5e7]), square=True))
    x, y = figure["layout"]["xaxis"], figure["layout"]["yaxis"]
    assert x["range"] == y["range"]
    assert x["range"][0] <= 1 < 50 <= x["range"][1]
    assert x["ticksuffix"] == y["ticksuffix"] == "M"
    assert y["scaleanchor"] == "x"


def test_the_first_of_a_line_stays_in_the_picture():
    low, high = drawn(chart(line()))["layout"]["yaxis"]["range"]
    assert low <= 1 < 100 <= high


def test_labels_all_alike_have_an_axis_around_them():
    alike = line(x=[1.0, 2.0, 3.0], y=[5.0, 4.999999999999999, 5.000000000000001])
    low, high = drawn(chart(alike))["layout"]["yaxis"]["range"]
    assert (round(low, 3), round(high, 3)) == (4.4, 5.6)


def test_no_words_are_markup_to_plotly():
    evil = Chart(name="n", title=EVIL, x_label=EVIL, y_label=EVIL, lines=[line(EVIL, names=[EVIL])])
    figure = drawn(evil)
    layout, (drawn_line,) = figure["layout"], figure["data"]
    words = [drawn_line["name"], *drawn_line["text"], layout["xaxis"]["title"]["text"]]
    words += [note["text"] for note in layout["annotations"]]
    assert len(words) == 4
    for word in words:
        assert "<" not in word.replace("<br>", "")
        assert word.startswith("&lt;script&gt;alert('1 &amp;")


def test_every_colour_has_a_dark_one_bands_too():
    def colours(part, key=""):
        if isinstance(part, dict):
            return {one for name, value in part.items() for one in colours(value, name)}
        if isinstance(part, list):
            return {one for value in part for one in colours(value)}
        return {part} if key.endswith("color") else set()

    assert colours(drawn(ODD["every kind"])) <= set(after_dark())
    assert after_dark()[FIRST_STYLES[0].colour] == FIRST_STYLES[0].dark


def test_well_known_labels_of_a_page_keep_their_place():
    known = ["Value", "never"]
    assert (
        styles_of(["never", "a", "b"], known)["never"]
        == styles_of(["never"], known)["never"]
        == LINE_STYLES[1]
    )


def test_the_script_is_plotlys_own_and_fits_into_a_page():
    script = plotly_script()
    assert "plotly.js v" in script[:200]
    assert "</script" not in script.lower()
    assert "\r" not in script


def test_without_plotly_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingPlotly, match=r"install it with `pip install 'breakeven\[report\]'`$"):
        check_plotly()
