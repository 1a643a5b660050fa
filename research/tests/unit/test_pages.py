"""The documents made of measured results: they show some of the pictures, and these are small."""

import ast
import re
from pathlib import Path

import pytest
from PIL import Image

from breakeven.values import Chart, Figure, Line, Section, Table, decision
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


def test_a_chart_is_stored_under_one_name_with_the_others_and_alone(tmp_path):
    every = figure("rules-figure", "types", "numbers")
    some = figure("bounds", "10-types", "100-types")
    write_pictures([reproduction.some_charts(one) for one in (every, some)], tmp_path)
    names = {path.stem for path in tmp_path.iterdir()}
    assert names == {"rules-figure-types", "rules-figure-numbers", "bounds-10-types"} < reproduction.SHOWN


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


def between_marks(path):
    return " ".join(path.read_text().partition(reproduction.BEGIN)[2].partition(reproduction.END)[0].split())


def numbers(text, pattern):
    return [float(one) for one in re.search(pattern, text).groups()]


COUNT, NUMBER = r"\D*?(\d+)", r"\D*?(\d+(?:\.\d+)?)"


def test_the_readme_says_of_value_what_its_page_does():
    page, readme = (
        between_marks(reproduction.DOCS / "value.md"),
        between_marks(reproduction.ROOT / "README.md"),
    )
    known, unknown, *means = numbers(page, r"\*\*(\d+) of 18\*\*.*?\*\*(\d+) of 18\*\*" + 2 * NUMBER)
    apart = [
        numbers(page, rf"On Value's belief, horizon {horizon},{COUNT} of 18.*?,{2 * NUMBER}{COUNT}")
        for horizon in ("known", "unknown")
    ]
    never = numbers(page, r"Never labelling costs less than `Value` in (\d+) of 18 .*? and in (\d+), horizon")
    said = numbers(readme, f"hindsight{13 * NUMBER} of the panels{NUMBER}")
    expected = [known, means[0], unknown, means[1], *apart[0], *apart[1], *never]
    assert said == [pytest.approx(one, rel=0.05) for one in expected]  # of two digits


# -- who wrote the words -----------------------------------------------------------------------------

PACKAGE = reproduction.ROOT / "research" / "src" / "breakeven_research"
WRITERS = [
    *(PACKAGE / "experiments").rglob("*.py"),
    PACKAGE / "commands" / "reproduce.py",
    Path(reproduction.__file__),
    Path(decision.__file__),  # the words of `why`
]
FEWEST_LETTERS = 6  # in what a program says for certain; fewer would let anything pass


def pattern_of(node):
    """What a piece of code says, as a pattern; what it fills in may be anything."""
    match node:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(map(pattern_of, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return pattern_of(left) + pattern_of(right)
    return ".*"


def written_by_programs():
    nodes = [node for path in WRITERS for node in ast.walk(ast.parse(path.read_text()))]
    found = {pattern_of(node) for node in nodes}
    return [re.compile(one) for one in found if sum(map(str.isalpha, one)) >= FEWEST_LETTERS]


def paragraphs(page):
    no_prose = "|", "#", "![", "**", "<!--"
    return [one for one in page.strip().split("\n\n") if not one.startswith(no_prose)]


def without_setting(sentence):
    """A sentence may begin with the setting that it is about."""
    return sentence.partition(": ")[2]


@pytest.mark.parametrize("name", ["decisions.md", "reproduction.md", "value.md"])
def test_every_sentence_of_a_measured_page_is_written_by_a_program(name):
    page = (reproduction.DOCS / name).read_text()
    if reproduction.BEGIN in page:
        page = page.partition(reproduction.BEGIN)[2].partition(reproduction.END)[0]
    patterns = written_by_programs()

    def known(text):
        return any(one.fullmatch(text) for one in patterns)

    def written(paragraph):
        sentences = re.split(r"(?<=\.) ", paragraph)
        return known(paragraph) or all(known(one) or known(without_setting(one)) for one in sentences)

    assert [one for one in paragraphs(page) if not written(one)] == []
