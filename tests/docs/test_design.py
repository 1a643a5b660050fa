"""docs/design.md says what is there: its layers are the contract's, and every file and name in it exists."""

import re
import tomllib
from importlib import import_module
from operator import attrgetter

import pytest

from tests.docs.reader import ROOT

PAGE = (ROOT / "docs" / "design.md").read_text()
PRODUCT = ROOT / "src" / "breakeven"
FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")
NAMED = re.compile(r"`((?:\w+/)*\w+\.py)`\s+`([A-Za-z][\w.]*)`")


def part(title):
    """The text under one heading."""
    return PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def layers(pyproject):
    """The names in the first contract of a package."""
    contracts = tomllib.loads(pyproject.read_text())["tool"]["importlinter"]["contracts"]
    return {name for line in contracts[0]["layers"] for name in re.findall(r"\w+", line)} - {"__main__"}


@pytest.mark.parametrize("pyproject", ["pyproject.toml", "research/pyproject.toml"])
def test_the_page_shows_every_layer(pyproject):
    shown = set(re.findall(r"\w+", part("Layers")))
    assert layers(ROOT / pyproject) <= shown


@pytest.mark.parametrize("file", sorted(set(FILE.findall(PAGE))))
def test_every_file_on_the_page_exists(file):
    assert (PRODUCT / file).exists() or (ROOT / file).exists()


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED.findall(PAGE))))
def test_every_name_behind_a_file_is_in_it(file, name):
    module = import_module("breakeven." + file.removesuffix(".py").replace("/", "."))
    attrgetter(name)(module)


def test_the_page_has_three_walks_that_name_files_and_functions():
    walks = part("Three walks").split("\n**")[1:]
    assert len(walks) == 3
    for walk in walks:
        assert 4 <= len(re.findall(r"^\d\. ", walk, re.MULTILINE)) <= 7
        assert len(NAMED.findall(walk)) >= 3


def test_every_word_of_the_glossary_is_explained_once():
    words = re.findall(r"^\| ([a-z][\w -]*) \|", part("Glossary"), re.MULTILINE)[1:]  # without the heading
    assert len(words) > 40
    assert words == sorted(set(words))
