"""The wheel imports and runs the README's example where nothing is beside it but what it asks for.

`make dist` installs it for real; here it lies beside the distributions that an installation without extras
brings, and Python looks nowhere else.
"""

import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.docs.reader import brought
from tests.docs.test_documents import ROOT, blocks


def run(*command, cwd, **variables):
    words = [str(part) for part in command]
    return subprocess.run(words, cwd=cwd, env=os.environ | variables, capture_output=True, text=True)


def link_distribution(name, folder):
    """Everything that a distribution has, by links."""
    found = distribution(name)
    for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
        (folder / top).symlink_to(found.locate_file(top))


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A folder with the wheel unpacked, and all that it brings."""
    folder = tmp_path_factory.mktemp("bare")
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps")
    made = run(sys.executable, *pip, "--no-build-isolation", "--wheel-dir", folder, ROOT, cwd=folder)
    assert made.returncode == 0, made.stdout + made.stderr
    (wheel,) = folder.glob("*.whl")
    ZipFile(wheel).extractall(folder / "site")
    for name in brought([]) - {"breakeven"}:
        link_distribution(name, folder / "site")
    return folder / "site"


def python(bare, *words, cwd):
    """Run Python where it sees nothing else."""
    return run(sys.executable, "-S", "-W", "error", *words, cwd=cwd, PYTHONPATH=str(bare))


def said(bare, *words, cwd):
    done = python(bare, *words, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_is_beside_it_but_what_it_brings(bare, tmp_path):
    listing = "import importlib.metadata as m; print(*{one.name.lower() for one in m.distributions()})"
    names = set(said(bare, "-c", listing, cwd=tmp_path).split())
    assert {"breakeven", "numpy", "scipy", "typer"} <= names
    assert not names & {"breakeven-research", "scikit-learn", "polars", "numba", "matplotlib"}


def test_it_runs_the_readme(bare, tmp_path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks(ROOT / "README.md")))
    assert "Label it" in said(bare, script, cwd=tmp_path)


def test_it_holds_the_product_and_no_experiment(bare):
    parts = {path.stem for path in (bare / "breakeven").iterdir() if is_module(path)}
    assert parts == {path.stem for path in (ROOT / "src" / "breakeven").iterdir() if is_module(path)}
    assert not parts & {"experiments", "bench", "datasets"}


def is_module(path):
    """Whether a path is one that can be imported by its stem."""
    return (path / "__init__.py").exists() or (path.suffix == ".py" and path.stem != "__init__")


def test_it_says_how_to_get_the_laboratory(bare, tmp_path):
    done = python(bare, "-m", "breakeven", "bench", "--list", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "pip install ./research" in done.stderr


def test_it_carries_its_types_styles_and_script_and_nothing_else(bare):
    files = [file for file in (bare / "breakeven").rglob("*") if file.suffix not in ("", ".py", ".pyc")]
    templates = {file.parent.relative_to(bare / "breakeven") for file in files if file.suffix == ".html"}
    assert templates == {Path("service/pages/templates")}
    others = {file.name for file in files if file.suffix != ".html"}
    assert others == {"py.typed", "page.css", "bill.css", "bill.js", "page.js", "icon.svg"}


def test_it_writes_a_page_in_its_style(bare, tmp_path):
    code = """
from pathlib import Path
from breakeven.report import write_page
print(write_page("Report", "", [], Path("out")).read_text())
"""
    assert "--paper: #ffffff" in said(bare, "-c", code, cwd=tmp_path)
