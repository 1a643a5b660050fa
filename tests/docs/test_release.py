"""What a release carries: one version everywhere, whom to cite, and every page's extras."""

import tomllib

import pytest
import yaml

import breakeven
from tests.dist.install import OURS, pages_by_extras
from tests.docs.reader import ROOT, pages, runs


def project(path):
    return tomllib.loads((ROOT / path / "pyproject.toml").read_text())["project"]


def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text())


@pytest.mark.parametrize(
    "version",
    [project(".")["version"], project("research")["version"], citation()["version"]],
    ids=["package", "laboratory", "citation"],
)
def test_there_is_one_version(version):
    assert version == breakeven.__version__


def test_the_laboratory_asks_for_this_version():
    asked = [one for one in project("research")["dependencies"] if one.startswith("breakeven[")]
    assert [one.split("==")[1] for one in asked] == [breakeven.__version__]


def test_the_paper_is_cited():
    (paper,) = citation()["references"]
    assert paper["title"] == "Active Cost-aware Labeling of Streaming Data"
    assert [author["family-names"] for author in paper["authors"]] == ["Cai", "Kandasamy"]


def test_every_extra_and_every_page_that_runs_is_tried_out():
    found = pages_by_extras()
    assert frozenset().union(*found) == set(project(".")["optional-dependencies"]) - OURS
    assert sorted({page for some in found.values() for page in some}) == sorted(filter(runs, pages()))


def test_the_source_distribution_holds_what_its_tests_read():
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    needed = {"src", "tests", "docs", "research", "Makefile", "mkdocs.yml", "README.md", "CITATION.cff"}
    assert needed <= set(included["sdist"]["include"])
    assert all((ROOT / one).exists() for one in included["sdist"]["include"])
