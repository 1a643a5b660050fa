"""Everything fenced as Python or as shell in the README and the docs runs, block after block."""

import re
import shlex
from pathlib import Path

import pytest

from breakeven.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def examples(page):
    """Every block with its language."""
    text = page.read_text()
    for found in BLOCK.finditer(text):
        line = text[: found.start(2)].count("\n")
        yield found.group(1), "\n" * line + found.group(2)  # so that a traceback names the page's own line


def blocks(page):
    """The Python of a page."""
    return [block for language, block in examples(page) if language == "python"]


def run_shell(block):
    """Each line that calls our program; others, such as an installation, are not ours to test."""
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["breakeven"]:
            assert main(words[1:]) == 0, line


@pytest.mark.parametrize("page", [p for p in PAGES if any(examples(p))], ids=lambda p: p.name)
def test_the_examples_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "documents"}
    for language, block in examples(page):
        if language == "sh":
            run_shell(block)
        else:
            exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_the_readme_names_every_page():
    readme = (ROOT / "README.md").read_text()
    missing = [page.name for page in PAGES[1:] if f"docs/{page.name}" not in readme]
    assert not missing, f"the README does not lead to {missing}"
