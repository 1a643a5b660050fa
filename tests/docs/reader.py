"""Runs the examples of one page, block after block, where only some extras are installed.

`python -m tests.docs.reader PAGE EXTRA …`: whatever the extras do not bring cannot be imported, as for a
reader who installed what the page says. In a process of its own, since what was imported once stays.
"""

import importlib.metadata
import re
import shlex
import sys
import tomllib
from importlib.machinery import PathFinder
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?")
INSTALL = re.compile(r"pip install '\.\[([\w,]+)\]'")
RUN = {"python", "sh"}


def pages():
    """The README and every page of the docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def page_extras(page):
    """Those that a page says to install."""
    return {extra for some in INSTALL.findall(page.read_text()) for extra in some.split(",")}


def runs(page):
    """Whether a page has anything to run."""
    return bool(RUN & {language for language, _ in examples(page)})


def examples(page):
    """Every block with its language."""
    text = page.read_text()
    for found in BLOCK.finditer(text):
        line = text[: found.start(2)].count("\n")
        yield found.group(1), "\n" * line + found.group(2)  # so that a traceback names the page's own line


def commands(block):
    """The words of each line that calls our program; others, such as an installation, are not ours."""
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["breakeven"]:
            yield words[1:]


# -- what is installed -------------------------------------------------------------------------------------


def brought(extras):
    """The distributions that an installation with these extras brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found, wanted = {"breakeven"}, list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    while wanted:
        name, some = REQUIREMENT.match(wanted.pop()).groups()
        if name == "breakeven":
            wanted += [one for extra in some.split(",") for one in project["optional-dependencies"][extra]]
        elif _plain(name) not in found:
            found.add(_plain(name))
            wanted += _needs(name)
    return found


def _needs(name):
    """What a distribution cannot do without."""
    try:
        requires = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:  # for another system, or another Python
        return []
    return [one for one in requires if "extra ==" not in one]


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class Installed(PathFinder):
    """Finds what is brought, and nothing else that happens to be there."""

    hidden: frozenset[str] = frozenset()

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname.partition(".")[0] in cls.hidden:
            return None
        return super().find_spec(fullname, path, target)


def hide_all_but(distributions):
    owners = importlib.metadata.packages_distributions()
    Installed.hidden = frozenset(
        module for module, names in owners.items() if not distributions & {_plain(name) for name in names}
    )
    sys.meta_path[:] = [Installed if finder is PathFinder else finder for finder in sys.meta_path]


def run(page):
    from breakeven.cli import main

    names = {"__name__": "documents"}
    for language, block in examples(page):
        if language == "python":
            exec(compile(block, str(page), "exec"), names)
        elif language == "sh":
            for words in commands(block):
                assert main(words) == 0, words


if __name__ == "__main__":
    hide_all_but(brought(sys.argv[2:]))
    run(Path(sys.argv[1]))
