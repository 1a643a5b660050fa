"""The site: every page is in its navigation, every public name in its reference, and it builds strictly."""

import os
import pkgutil
import re
import subprocess
import sys
import zlib
from functools import cache
from importlib import import_module

import griffe
import pytest
import yaml

import breakeven
from docs.docstrings import fenced
from tests.docs.reader import ROOT

DOCS = ROOT / "docs"
NOT_PUBLIC = {"__main__", "cli", "files", "starting"}
DIRECTIVE = re.compile(r"^::: ([\w.]+)", re.MULTILINE)
ADAPTERS = ["adapters.classifier", "adapters.river", "adapters.sklearn"]


def settings():
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def pages(entry):
    """The files below an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    below = entry.values() if isinstance(entry, dict) else entry
    return [page for one in below for page in pages(one)]


def public_modules():
    """Everything that is imported by a name directly below the package, but for what is ours alone."""
    parts = {one.name for one in pkgutil.iter_modules(breakeven.__path__)} - NOT_PUBLIC
    return sorted([*(parts - {"adapters"}), *ADAPTERS])


def public_names(module):
    """Those that a module lists, or else those that it defines."""
    if listed := getattr(module, "__all__", None):
        return listed
    return [
        name
        for name, one in vars(module).items()
        if not name.startswith("_") and getattr(one, "__module__", None) == module.__name__
    ]


def shown():
    """What the pages of the reference name."""
    return {name for page in (DOCS / "api").glob("*.md") for name in DIRECTIVE.findall(page.read_text())}


@cache
def package():
    """The package as the site reads it, without running it."""
    return griffe.load("breakeven", search_paths=[ROOT / "src"])


def undocumented(module):
    """Public names that the page of their module would leave out."""
    path = module.__name__
    missing = []
    for name in public_names(module):
        member = package()[path.removeprefix("breakeven.")].members.get(name)
        hidden = member is None or member.is_module  # a file of the same name hides the function in it
        found = f"{path}.{name}.{name}" in shown() if hidden else member.has_docstring
        if not found:
            missing.append(name)
    return missing


def test_every_page_is_in_the_navigation_once():
    there = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    assert sorted(pages(settings()["nav"])) == there


@pytest.mark.parametrize("name", public_modules())
def test_every_public_name_is_in_the_reference(name):
    assert f"breakeven.{name}" in shown(), f"no page in docs/api has `::: breakeven.{name}`"
    assert undocumented(import_module(f"breakeven.{name}")) == []


def test_a_name_without_a_docstring_is_found(monkeypatch):
    rules = import_module("breakeven.rules")
    monkeypatch.setattr(rules, "__all__", [*rules.__all__, "no_such_name"])
    assert undocumented(rules) == ["no_such_name"]


def test_the_first_page_of_the_reference_names_what_the_package_exports():
    listed = re.findall(r"^\| \[`(\w+)`\]", (DOCS / "api" / "index.md").read_text(), re.MULTILINE)
    assert listed == sorted(breakeven.__all__)


def test_nothing_is_loaded_from_elsewhere():
    theme = settings()["theme"]
    assert theme["font"] is False
    assert settings()["extra"]["polyfills"] == ["iframe-worker.js"]  # else the theme takes one from a server
    assert "offline" in settings()["plugins"]


def test_examples_in_docstrings_are_fenced():
    text = "Adds.\n\n>>> 1 + 1\n2\n>>> 3\n3\n\nMore.\n"
    assert fenced(text) == "Adds.\n\n```pycon\n>>> 1 + 1\n2\n>>> 3\n3\n```\n\nMore.\n"
    assert fenced("No example: a > b.") == "No example: a > b."


# -- the whole site ----------------------------------------------------------------------------------------


def build(folder):
    """Build the site as `make docs` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.mark.slow
def test_the_built_reference_has_every_public_name(site):
    names = inventory(site / "objects.inv")
    for part in public_modules():
        module = import_module(f"breakeven.{part}")
        for name in public_names(module):
            path = f"{module.__name__}.{name}"
            assert {path, f"{path}.{name}"} & names, path


def inventory(path):
    """The names in an inventory of Sphinx's kind."""
    lines = zlib.decompress(path.read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    return {line.split(" py:")[0] for line in lines}


@pytest.mark.slow
def test_the_built_site_names_no_other_server(site):
    loaded = re.compile(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?://[^"]+)')
    outside = {url for page in site.rglob("*.html") for url in loaded.findall(page.read_text())}
    assert outside == set()
