"""What the site reads from the code besides docstrings as they are; mkdocs.yml names this file.

Examples become fenced blocks, since Markdown would take `>>>` for quotations of quotations. Classes that are
plain data get the signature that they are made by, which stands in no `__init__`.
"""

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from typing import Any

from griffe import Class, Extension, Function, Module, Object, Parameter, ParameterKind, Parameters
from msgspec import Struct

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)


class Docstrings(Extension):
    """Prepares a package for the site once it is loaded."""

    def on_package(self, *, pkg: Module, **loading: Any) -> None:
        """Fence the examples of every object, and give plain data their signatures."""
        for one in _objects(pkg):
            if one.docstring is not None:
                one.docstring.value = fenced(one.docstring.value)
            if isinstance(one, Class) and "__init__" not in one.members:
                _sign(one)


def fenced(text: str) -> str:
    """The text with its examples fenced, each with what it prints."""
    return EXAMPLE.sub(lambda found: f"```pycon\n{found.group()}\n```", text)


def _objects(parent: Object) -> Iterator[Object]:
    """Everything that is defined inside."""
    for member in parent.members.values():
        if not member.is_alias:
            yield member  # type: ignore[misc]  # an alias is the only other kind
            yield from _objects(member)  # type: ignore[arg-type]


def _sign(one: Class) -> None:
    """Add the `__init__` that Python makes for a struct or a named tuple."""
    kind = getattr(import_module(one.module.path), one.name, None)
    if not isinstance(kind, type) or not issubclass(kind, Struct | tuple):
        return
    made = Function("__init__", parameters=Parameters(Parameter("self"), *_parameters(one, kind)))
    one.set_member("__init__", made)


def _parameters(one: Class, kind: type) -> Iterator[Parameter]:
    fields = {name: field for base in [*reversed(one.mro()), one] for name, field in base.members.items()}
    for name, given in signature(kind).parameters.items():
        yield Parameter(
            name,
            kind=ParameterKind(given.kind.description),
            annotation=getattr(fields.get(name), "annotation", None),
            default=None if given.default is given.empty else repr(given.default),
        )
