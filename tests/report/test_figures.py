"""Pictures: one look a label, every kind of line, the same bytes for the same numbers."""

import math
import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from breakeven.errors import BreakevenError
from breakeven.report import MissingMatplotlib, write_figure
from breakeven.report.axes import along, y_range
from breakeven.report.drawing import WordBox, best_box, inked
from breakeven.report.line_styles import (
    AFTER_DARK,
    FIRST_STYLES,
    KNOWN_LABELS,
    LINE_STYLES,
    style_of,
    styles_of,
)
from breakeven.values.exhibit import Chart, Figure, Line, Mark, Note, Table

KINDS = ["line", "dashed", "reference", "dots", "rings", "crosses"]
ROUNDS = [float(round) for round in range(1, 101)]


def line(label="Algorithm 1", kind="line", **values):
    given = {"x": ROUNDS, "y": [100 / x for x in ROUNDS]} | values
    return Line(label=label, kind=kind, **given)


def chart(*lines, name="loss", **rest):
    return Chart(name=name, title="Branin", x_label="round", y_label="loss", lines=list(lines), **rest)


def figure(*charts):
    data = Table(name="unused", title="", columns=["round"], rows=[[1]])
    return Figure(name="branin", title="Branin", charts=list(charts), data=data)


def banded(kind):
    y = [100 / x for x in ROUNDS]
    return line(kind, kind, low=[one - 1 for one in y], high=[one + 1 for one in y])


def test_a_figure_writes_every_chart_twice_and_its_numbers_once(tmp_path):
    paths = write_figure(figure(chart(line()), chart(line(), name="cost")), tmp_path)
    names = ["branin-loss.png", "branin-loss.svg", "branin-cost.png", "branin-cost.svg", "branin.csv"]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_an_only_chart_is_called_after_its_figure(tmp_path):
    names = [path.name for path in write_figure(figure(chart(line())), tmp_path)]
    assert names == ["branin.png", "branin.svg", "branin.csv"]


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    drawn = figure(chart(*map(banded, KINDS), notes=[Note(50.0, 2.0, "here")]))
    first = [path.read_bytes() for path in write_figure(drawn, tmp_path / "first")]
    assert first == [path.read_bytes() for path in write_figure(drawn, tmp_path / "second")]
    assert b"atplotlib v" not in b"".join(first)


def test_settings_of_the_user_do_not_change_a_picture(tmp_path):
    import matplotlib

    drawn = figure(chart(line()))
    first = [path.read_bytes() for path in write_figure(drawn, tmp_path / "first")]
    with matplotlib.rc_context({"font.size": 30.0, "axes.facecolor": "red"}):
        assert first == [path.read_bytes() for path in write_figure(drawn, tmp_path / "second")]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_line_is_drawn(tmp_path, kind, log):
    png, svg, _ = write_figure(figure(chart(banded(kind), log_x=log, log_y=log)), tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    colour = style_of(banded(kind), styles_of([kind])).colour
    assert colour in svg.read_text().split("</style>", 1)[1]
    ElementTree.parse(svg)


@pytest.mark.parametrize(
    "odd",
    [
        chart(),
        chart(notes=[Note(1.0, 1.0, "alone")]),
        chart(line(x=[], y=[])),
        chart(line(x=[3.0], y=[4.0])),
        chart(line(x=[1.0, 2.0], y=[5.0, 5.0])),
        chart(line(x=[1.0, 2.0, 3.0], y=[math.nan, math.inf, 1.0]), notes=[Note(3.0, 1.0, "end")]),
        chart(line(x=[0.0, 1.0], y=[0.0, -1.0]), log_x=True, log_y=True),
        chart(line("costs $5, or $6"), notes=[Note(1.0, 1.0, "$7 <&> $8")]),
        chart(line(), line(kind="dots")),
        chart(*(line(f"a label with very many words in it, number {one}") for one in range(7))),
    ],
)
def test_odd_charts_are_drawn_without_a_warning(tmp_path, odd):
    _, svg, _ = write_figure(figure(odd), tmp_path)
    ElementTree.parse(svg)


def test_names_on_the_y_axis_stand_from_the_top(tmp_path):
    dots = line(kind="dots", x=[1000.0, 10.0], y=[0.0, 1.0])
    write_figure(figure(chart(dots, log_x=True, y_names=["first $1", "second"])), tmp_path)
    words = (tmp_path / "branin.svg").read_text()
    assert words.index("<!-- first") < words.index("<!-- second")
    places = [float(place) for place in re.findall(r'id="ytick_\d">.*?y="([\d.]+)"', words, re.DOTALL)]
    assert places == sorted(places)
    assert len(places) == 2


def test_a_picture_turns_every_colour_dark_and_is_light_without_that(tmp_path):
    _, path, _ = write_figure(figure(chart(line())), tmp_path)
    sheet, _, body = path.read_text().partition("</style>")
    assert "@media (prefers-color-scheme: dark)" in sheet
    for light, dark in AFTER_DARK.items():
        assert f'[style*="stroke: {light}"]{{stroke:{dark}!important}}' in sheet
        assert dark not in body


def contrast(one, other):
    def light(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    low, high = sorted([light(one), light(other)])
    return high / low


@pytest.mark.parametrize("style", FIRST_STYLES)
def test_every_colour_stands_out_from_its_paper(style):
    assert contrast(style.colour, "#ffffff") > 4
    assert contrast(style.dark, "#16181c") > 4


def test_styles_differ_without_their_colours():
    assert len({(style.dashes, style.marker) for style in LINE_STYLES}) == len(LINE_STYLES)


def test_a_well_known_label_always_looks_the_same():
    alone = [styles_of([label])[label] for label in KNOWN_LABELS]
    assert alone == [styles_of(["another", "one more", *KNOWN_LABELS[::-1]])[label] for label in KNOWN_LABELS]
    assert len(set(alone)) == len(KNOWN_LABELS)


def test_labels_of_one_figure_look_different():
    labels = [*KNOWN_LABELS[:3], "d = 1", "d = 2", "d = 3", "published", "fit"]
    assert len({style.colour for style in styles_of(labels).values()}) == len(labels)
    many = styles_of(str(number) for number in range(len(LINE_STYLES)))
    assert len(set(many.values())) == len(LINE_STYLES)
    assert len(styles_of(str(number) for number in range(40))) == 40


def test_a_square_picture_has_room_for_its_x_too(tmp_path):
    square = chart(line(kind="dots", x=[-50.0, 1.0], y=[1.0, 2.0]), square=True)
    low, high = y_range(square)
    assert low < -50 < 2 < high
    assert write_figure(figure(square), tmp_path)[0].read_bytes().startswith(b"\x89PNG")


def test_the_first_tenth_of_a_long_line_may_leave_the_picture():
    low, high = y_range(chart(line()), settled=True)
    assert low == 0
    assert 9 < high < 12
    assert y_range(chart(line()))[1] > 100


def test_points_a_band_and_short_lines_stay_in_the_picture():
    assert y_range(chart(line(kind="dots")), settled=True)[1] > 100
    assert y_range(chart(line(x=ROUNDS[:5], y=[100.0, 5.0, 4.0, 3.0, 2.0])), settled=True)[1] > 100
    assert y_range(chart(line(high=[100 / x + 30 for x in ROUNDS])), settled=True)[1] > 39


def test_a_picture_by_factors_shows_the_whole_line():
    low, high = y_range(chart(line(), log_y=True), settled=True)
    assert low < 1 < 100 < high


def test_a_picture_begins_at_zero_unless_that_wastes_half_of_it():
    assert y_range(chart(line(x=[1.0, 2.0], y=[1.0, 5.0])))[0] == 0
    assert 3 < y_range(chart(line(x=[1.0, 2.0], y=[4.0, 5.0])))[0] < 4
    assert y_range(chart(line(x=[1.0, 2.0], y=[-4.0, 5.0])))[0] < -4


def test_places_along_an_axis_go_from_its_left_to_its_right():
    assert along([2.0, 4.0, 6.0], log=False).tolist() == [0, 0.5, 1]
    assert along([0.0, 1.0, 10.0], log=True).tolist() == [-math.inf, 0, 1]
    assert along([5.0], log=False).tolist() == [1]


def test_words_go_where_nothing_is_drawn():
    frame = WordBox(0, 0, 300, 200)
    above = inked(np.array([[0.0, 118.0], [300.0, 118.0]]), joined=True)
    first = best_box("crossed here", (150, 100), above, [], frame)
    assert first.top < 100
    assert first.covers(above) == 0
    second = best_box("crossed here", (150, 100), above, [first], frame)
    assert not second.meets(first)
    assert second.inside(frame)


def test_without_matplotlib_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    how = r"install it with `pip install '\.\[report\]'` in the folder of breakeven's source$"
    with pytest.raises(MissingMatplotlib, match=how) as caught:
        write_figure(figure(chart(line())), tmp_path)
    assert isinstance(caught.value, BreakevenError)
    assert list(tmp_path.iterdir()) == []


def test_a_mark_is_a_line_with_its_words(tmp_path):
    plain = write_figure(figure(chart(line())), tmp_path / "plain", endings=["svg"])
    marked = write_figure(
        figure(chart(line(), marks=[Mark(40.0, "changed")])), tmp_path / "marked", endings=["svg"]
    )
    (before,), (after,) = ([path.read_text() for path in paths] for paths in (plain, marked))
    assert "changed" in after
    assert "changed" not in before
