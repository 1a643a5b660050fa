"""The datasets as a package: its names, its words, what it sees and what importing it loads."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from breakeven_research import datasets

NEIGHBOURS = (
    "breakeven.errors",
    "breakeven.files",
    "breakeven.planning.streams",
    "breakeven_research.datasets",
)
MODULES = sorted(Path(datasets.__file__).parent.glob("*.py"))
DESCRIBED = [
    name
    for name in datasets.__all__
    if inspect.isclass(getattr(datasets, name)) or inspect.isfunction(getattr(datasets, name))
]


def test_all_is_sorted_and_is_everything_public():
    submodules = {path.stem for path in MODULES}
    visible = {name for name in vars(datasets) if not name.startswith("_")} - submodules
    assert set(datasets.__all__) == visible
    assert datasets.__all__ == sorted(visible, key=lambda name: (not name.isupper(), name))


@pytest.mark.parametrize("name", DESCRIBED)
def test_every_public_name_has_an_example_that_runs(name):
    assert ">>> " in inspect.getdoc(getattr(datasets, name))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_says_what_it_is_in_two_to_six_lines(path):
    words = ast.get_docstring(ast.parse(path.read_text()))
    assert 2 <= len(words.splitlines()) <= 6


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_sees_only_its_neighbours_streams_files_and_errors(path):
    names = {
        name
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [node.module]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    ours = {name for name in names if name.startswith("breakeven")}
    assert all(name.startswith(NEIGHBOURS) for name in ours)
    assert {name.partition(".")[0] for name in names - ours} <= {*sys.stdlib_module_names, "numpy", "polars"}


def test_importing_loads_neither_network_nor_tables():
    script = "import sys, breakeven_research.datasets; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    slow = {
        "urllib.request",
        "http.client",
        "ssl",
        "pandas",
        "sklearn",
        "typer",
        "scipy.integrate",
        "scipy.stats",
    }
    assert set(done.stdout.split()) & slow == set()
