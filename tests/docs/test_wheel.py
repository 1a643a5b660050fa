"""A wheel installed bare, without extras, imports and runs the README's example."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.docs.test_documents import ROOT, blocks


def run(*command, cwd):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    run(python, *pip, "install", *folder.glob("*.whl"), cwd=folder)
    return python


def test_it_runs_the_readme(bare_python, tmp_path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks(ROOT / "README.md")))
    assert "Label it" in run(bare_python, script, cwd=tmp_path)


def test_it_holds_the_product_and_no_experiment(bare_python, tmp_path):
    listing = (
        "import pkgutil, breakeven; print(*(one.name for one in pkgutil.iter_modules(breakeven.__path__)))"
    )
    parts = set(run(bare_python, "-c", listing, cwd=tmp_path).split())
    assert parts == {path.stem for path in (ROOT / "src" / "breakeven").iterdir() if is_module(path)}
    assert not parts & {"experiments", "bench", "datasets"}
    assert "breakeven-research" not in run(bare_python, "-m", "pip", "list", cwd=tmp_path)


def is_module(path):
    """Whether a path is one that can be imported by its stem."""
    return (path / "__init__.py").exists() or (path.suffix == ".py" and path.stem != "__init__")


def test_it_says_how_to_get_the_laboratory(bare_python, tmp_path):
    done = subprocess.run(
        [bare_python, "-m", "breakeven", "bench", "--list"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "pip install ./research" in done.stderr


def test_it_carries_its_types_styles_and_script_and_nothing_else(bare_python, tmp_path):
    listing = "import breakeven, pathlib; print(*pathlib.Path(breakeven.__file__).parent.rglob('*'))"
    files = [Path(name) for name in run(bare_python, "-c", listing, cwd=tmp_path).split()]
    others = {file.name for file in files if file.suffix not in ("", ".py", ".pyc")}
    assert others == {"py.typed", "page.css", "bill.css", "bill.js"}
    assert "sklearn" not in run(bare_python, "-m", "pip", "list", cwd=tmp_path)


def test_it_writes_a_page_in_its_style(bare_python, tmp_path):
    code = """
from pathlib import Path
from breakeven.report import write_page
print(write_page("Report", "", [], Path("out")).read_text())
"""
    assert "--paper: #ffffff" in run(bare_python, "-c", code, cwd=tmp_path)
