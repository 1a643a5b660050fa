"""One word means one thing: within the product no file, class or constant name stands for two."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import breakeven

PRODUCT = Path(breakeven.__file__).parent
FILES = sorted(PRODUCT.rglob("*.py"))


@cache
def parsed(path):
    return ast.parse(path.read_text())


def named(kind):
    """Where each name of this kind is defined."""
    places = defaultdict(set)
    for path in FILES:
        where = str(path.relative_to(PRODUCT))
        if kind == "file":
            if path.stem not in ("__init__", "__main__"):
                places[path.stem].add(where)
            continue
        for node in parsed(path).body:
            if kind == "class" and isinstance(node, ast.ClassDef):
                places[node.name].add(where)
            if kind == "constant" and isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for one in ast.walk(target):
                        if isinstance(one, ast.Name) and one.id.strip("_").isupper():
                            places[one.id.strip("_")].add(where)
    return places


@pytest.mark.parametrize("kind", ["file", "class", "constant"])
def test_a_name_stands_for_one_thing(kind):
    twice = {name: sorted(where) for name, where in named(kind).items() if len(where) > 1}
    assert not twice


def test_the_names_are_found():
    assert named("file")["state"] == {"learner/state.py"}
    assert named("class")["Learner"] == {"learner/learner.py"}
    assert named("constant")["LARGEST"] == {"errors/expect.py"}
