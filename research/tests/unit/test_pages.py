"""The documents made of measured results: they show some of the pictures, and these are small."""

from PIL import Image

from breakeven.values import Chart, Figure, Line, Section, Table
from pages import reproduction
from pages.pictures import WIDTH, write_pictures

LINE = Line(label="Algorithm 2", x=[1.0, 2.0, 3.0], y=[9.0, 5.0, 4.0])
DATA = Table(name="branin-b10", title="", columns=[], rows=[])


def chart(name):
    return Chart(name=name, title="Branin", x_label="round", y_label="loss", lines=[LINE])


def figure(name, *charts):
    return Figure(name=name, title="Branin", charts=[chart(one) for one in charts], data=DATA)


def test_a_document_shows_some_charts_and_no_figure_without_any():
    few = figure("branin-b10", "figures-loss", "text-loss", "figures-error")
    none = figure("scales-branin-b10", "figures", "text")
    shown = reproduction.shown(Section(title="Branin", figures=[few, none]))
    assert [[one.name for one in kept.charts] for kept in shown.figures] == [["figures-loss"]]


def test_pictures_are_small_and_older_ones_go(tmp_path):
    (tmp_path / "old.svg").write_text("another run's")
    write_pictures([figure("branin-b10", "loss", "error")], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"branin-b10-loss.png", "branin-b10-error.png"}
    for path in tmp_path.iterdir():
        with Image.open(path) as image:
            assert (image.width, image.mode) == (WIDTH, "P")
        assert path.stat().st_size < 80_000


def test_what_was_measured_goes_between_its_marks():
    page = f"before {reproduction.BEGIN} old {reproduction.END} after"
    assert reproduction.inserted(page, "new") == (
        f"before {reproduction.BEGIN}\n\nnew\n\n{reproduction.END} after"
    )


def test_the_pictures_in_the_documents_are_those_to_be_shown():
    assert {path.name for path in reproduction.IMAGES.iterdir()} == {
        f"{name}.png" for name in reproduction.SHOWN
    }
