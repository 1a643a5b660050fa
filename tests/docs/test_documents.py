"""Everything fenced as Python or as shell in the README and the docs runs, block after block."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from breakeven.cli import main
from tests.debian import needed
from tests.docs.reader import ROOT, RUN, brought, commands, examples, page_extras, pages, runs

PAGES = pages()
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
TYPED, SHOWN = "console", "text"
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
FENCE = re.compile(r"^\s*```(.*)$", re.MULTILINE)


def name(page):
    """A page by its path, as the ids of tests have it."""
    return str(page.relative_to(ROOT))


def blocks(page):
    """The Python of a page."""
    return [block for language, block in examples(page) if language == "python"]


with_examples = pytest.mark.parametrize(
    "page",
    [page for page in [*PAGES, *NOTEBOOKS] if runs(page)],
    ids=name,
)
every_page = pytest.mark.parametrize("page", PAGES, ids=name)


def read(page, folder, names):
    """Run a page where only these extras are installed."""
    command = [sys.executable, "-W", "error", "-m", "tests.docs.reader", page, *sorted(names)]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@with_examples
def test_the_examples_of_a_page_run_in_order_with_the_extras_it_names(page, tmp_path):
    if "spark" in page_extras(page):
        needed("default-jre-headless", lambda: shutil.which("java"))
    done = read(page, tmp_path, page_extras(page))
    assert done.returncode == 0, done.stderr


def test_what_extras_do_not_bring_cannot_be_imported(tmp_path):
    (tmp_path / "page.md").write_text("```python\nimport polars\nimport pandas\n```\n")
    done = read(tmp_path / "page.md", tmp_path, ["tables"])
    assert "ModuleNotFoundError: No module named 'pandas'" in done.stderr


def test_extras_bring_what_they_need_and_no_more():
    bare = brought([])
    assert {"breakeven", "numpy", "scipy", "typer", "rich"} <= bare
    assert not bare & {"polars", "scikit-learn", "pandas", "numba"}
    assert {"polars", "scikit-learn", "joblib"} <= brought(["tables", "demo"])
    assert "pandas" not in brought(["tables", "report", "demo"])


@every_page
def test_every_block_of_a_page_says_what_it_is(page):
    languages = FENCE.findall(page.read_text())[::2]
    assert languages == [language for language, _ in examples(page)]
    assert set(languages) <= {*RUN, TYPED, SHOWN}, f"{page.name} has a block in none of these languages"


@every_page
def test_commands_that_take_too_long_to_run_exist(page, capsys):
    for language, block in examples(page):
        for words in commands(block) if language == TYPED else ():
            assert main([*words, "--help"]) == 0, words


@every_page
def test_the_links_of_a_page_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_every_picture_is_shown_and_all_of_them_are_small():
    pictures = {path for path in (ROOT / "docs" / "images").rglob("*") if path.is_file()}
    shown = {(page.parent / target).resolve() for page in PAGES for target in LINK.findall(page.read_text())}
    assert pictures <= shown
    assert sum(path.stat().st_size for path in pictures) < 1_000_000


def test_the_readme_names_every_page():
    readme = (ROOT / "README.md").read_text()
    reference = ROOT / "docs" / "api"  # which its first page leads to
    missing = [name(page) for page in PAGES[1:] if page.parent != reference and name(page) not in readme]
    assert "docs/api/index.md" in readme
    assert not missing, f"the README does not lead to {missing}"
