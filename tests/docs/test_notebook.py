"""The example notebook runs from top to bottom, what its cells show can be shown, and no output is stored."""

import ast
import json

import pytest

from tests.docs.reader import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
SHOWN_AS = ("_repr_html_", "_repr_png_")


def cells(path):
    return json.loads(path.read_text())["cells"]


def run_cell(source, names):
    """Run a cell as a notebook does; what its last line is worth, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def shown(value):
    """What a notebook shows: the richest that the value offers, else its repr."""
    for name in SHOWN_AS:
        if hasattr(value, name) and (picture := getattr(value, name)()) is not None:
            return name, picture
    return "repr", repr(value)


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.name)
def shows(request, tmp_path_factory):
    names, found = {"__name__": "notebook"}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("notebook"))
        for cell in cells(request.param):
            if cell["cell_type"] == "code":
                value = run_cell("".join(cell["source"]), names)
                if value is not None:
                    found.append((type(value).__name__, *shown(value)))
    return found


def test_every_kind_of_thing_shows_itself(shows):
    kinds = {kind: how for kind, how, _ in shows}
    html = {kind for kind, how in kinds.items() if how == "_repr_html_"}
    assert html == {"Outcome", "Explanation", "Decision", "Learner", "Trace"}
    assert kinds["ShownFigure"] == "_repr_png_"


def test_what_is_shown_is_a_table_or_a_picture(shows):
    for kind, how, what in shows:
        if how == "_repr_html_":
            assert what.startswith("<table>"), kind
            assert what.endswith("</table>"), kind
        if how == "_repr_png_":
            assert what.startswith(b"\x89PNG"), kind


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_stored_without_outputs(path):
    document = json.loads(path.read_text())
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_there_is_a_notebook():
    assert [path.name for path in NOTEBOOKS] == ["clinic.ipynb"]
