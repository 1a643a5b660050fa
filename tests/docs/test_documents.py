"""Everything fenced as Python in the README and the docs runs, block after block."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def blocks(page):
    text = page.read_text()
    for found in BLOCK.finditer(text):
        line = text[: found.start(1)].count("\n")
        yield "\n" * line + found.group(1)  # so that a traceback names the page's own line


@pytest.mark.parametrize("page", [p for p in PAGES if "```python" in p.read_text()], ids=lambda p: p.name)
def test_the_examples_of_a_page_run_in_order(page):
    names = {"__name__": "documents"}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_the_readme_names_every_page():
    readme = (ROOT / "README.md").read_text()
    missing = [page.name for page in PAGES[1:] if f"docs/{page.name}" not in readme]
    assert not missing, f"the README does not lead to {missing}"
