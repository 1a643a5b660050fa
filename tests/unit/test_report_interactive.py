"""Interactive charts: valid to plotly, the same look as the pictures, nothing given is markup."""

import math
import sys

import pytest

from breakeven.report import MissingPlotly, check_plotly
from breakeven.report.interactive import plotly_script, plotted
from breakeven.report.styles import FIRST, STYLES, styles_of
from breakeven.report.traces import SYMBOLS, after_dark
from breakeven.values.exhibit import Chart, Line, Note

KINDS = ["line", "dashed", "dots", "rings", "crosses"]
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
    "a note alone": chart(notes=[Note(1.0, 1.0, "alone")]),
    "no points": chart(line(x=[], y=[])),
    "one point": chart(line(x=[3.0], y=[4.0]), log_x=True, log_y=True),
    "level": chart(line(x=[1.0, 2.0], y=[5.0, 5.0])),
    "gaps": chart(line(x=[1.0, 2.0, 3.0], y=[math.nan, math.inf, 1.0]), notes=[Note(3.0, 1.0, "end")]),
    "below zero by factors": chart(line(x=[0.0, 1.0], y=[0.0, -1.0]), log_x=True, log_y=True),
    "names": chart(line(kind="dots", x=[9.0, 1.0], y=[0.0, 1.0]), y_names=["first", EVIL]),
    "every kind": chart(*map(banded, KINDS), notes=[Note(50.0, 2.0, "here")]),
    "every kind by factors": chart(
        *map(banded, KINDS), notes=[Note(50.0, 2.0, "here")], log_x=True, log_y=True
    ),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_plotly_accepts_every_chart(odd):
    from plotly.graph_objects import Figure

    Figure(drawn(odd))


@pytest.mark.parametrize("style", STYLES)
def test_every_style_has_its_symbols(style):
    assert {style.marker, style.cross} <= set(SYMBOLS)


def test_styles_differ_without_their_colours_here_too():
    lines = [line(str(number)) for number in range(len(STYLES))]
    looks = [(one["line"]["dash"], one["marker"]["symbol"]) for one in drawn(chart(*lines))["data"]]
    assert len(set(looks)) == len(STYLES)


def test_the_first_line_lies_on_top_and_is_named_first():
    figure = drawn(chart(banded("line"), banded("dashed"), line("last")))
    assert [one.get("name") for one in figure["data"]] == [None, None, "last", "dashed", "line"]
    assert figure["layout"]["legend"]["traceorder"] == "reversed"


def test_a_band_goes_there_and_back_and_skips_gaps():
    gap = line(x=[1.0, 2.0, 3.0], y=[1.0, 2.0, 3.0], low=[0.0, math.nan, 2.0], high=[2.0, 3.0, 4.0])
    band = drawn(chart(gap))["data"][0]
    assert band["x"] == [1, 3, 3, 1]
    assert band["y"] == [2, 4, 2, 0]


def test_points_have_whiskers_for_a_band():
    dots = line(kind="dots", x=[1.0], y=[5.0], low=[4.0], high=[7.0])
    whiskers = drawn(chart(dots))["data"][0]["error_y"]
    assert (whiskers["array"], whiskers["arrayminus"]) == ([2], [1])


def test_what_cannot_be_drawn_is_a_gap():
    assert drawn(chart(line(x=[1.0, 2.0, 3.0], y=[math.nan, math.inf, 1 / 3])))["data"][0]["y"] == [
        None,
        None,
        0.3333333,
    ]


def test_axes_by_factors_have_round_ticks():
    axis = drawn(chart(line(x=[0.6, 40.0], y=[1.0, 1.0]), log_x=True))["layout"]["xaxis"]
    assert axis["ticktext"][:9] == ["0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50"]
    wide = drawn(chart(line(x=[1.0, 1e6], y=[1.0, 1.0]), log_x=True))["layout"]["xaxis"]
    assert wide["ticktext"][-2:] == ["1,000,000", "10,000,000"]


def test_a_note_stays_in_the_picture():
    low, high = Note(1.0, 1.0, "start"), Note(100.0, 90.0, "end")
    _, first, last = drawn(chart(line(kind="dots"), notes=[low, high]))["layout"]["annotations"]
    assert (first["xanchor"], first["ay"]) == ("left", -28)
    assert (last["xanchor"], last["ay"]) == ("right", 28)


def test_no_words_are_markup_to_plotly():
    evil = Chart(
        name="n",
        title=EVIL,
        x_label=EVIL,
        y_label=EVIL,
        lines=[line(EVIL)],
        notes=[Note(1, 1, EVIL)],
        y_names=[EVIL],
    )
    figure = drawn(evil)
    layout = figure["layout"]
    words = [figure["data"][0]["name"], layout["xaxis"]["title"]["text"], *layout["yaxis"]["ticktext"]]
    words += [note["text"] for note in layout["annotations"]]
    assert len(words) == 5
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
    assert after_dark()[FIRST[0].colour] == FIRST[0].dark


def test_well_known_labels_of_a_page_keep_their_place():
    known = ["Value", "never"]
    assert styles_of(["never", "a", "b"], known)["never"] == styles_of(["never"], known)["never"] == STYLES[1]


def test_the_script_is_plotlys_own_and_fits_into_a_page():
    script = plotly_script()
    assert "plotly.js v" in script[:200]
    assert "</script" not in script.lower()
    assert "\r" not in script


def test_without_plotly_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingPlotly, match=r"install it with `pip install 'breakeven\[report\]'`$"):
        check_plotly()
