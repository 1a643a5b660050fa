"""The fields of a form as values; an empty field is None, and what cannot be read says which field it was."""

import re

from breakeven.errors import expect


def text(form: dict[str, str], name: str) -> str:
    """The words of a field that must not be empty."""
    words = form.get(name, "").strip()
    if not words:
        expect.refuse(_called(name), "some words", "none", described=True)
    return words


def number(form: dict[str, str], name: str) -> float | None:
    """A number, with a point or a comma before its decimals; None where the field is empty.

    >>> number({"low": " 12,5 "}, "low"), number({"low": ""}, "low"), number({}, "low")
    (12.5, None, None)
    """
    words = form.get(name, "").strip()
    if not words:
        return None
    return read_number(_called(name), words)


def read_number(name: str, words: str) -> float:
    """A number as people write it: a lone comma stands before decimals.

    >>> read_number("y", "1,234.5"), read_number("y", "−3"), read_number("y", "1,5")
    (1234.5, -3.0, 1.5)
    """
    plain = words.strip().replace("−", "-").replace(" ", "")
    if re.fullmatch(r"[-+]?\d*,\d+", plain):
        plain = plain.replace(",", ".")
    elif re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?", plain):
        plain = plain.replace(",", "")
    try:
        found = float(plain)
    except ValueError:
        expect.refuse(name, "a number", words)
    return expect.finite(name, found)


def whole(form: dict[str, str], name: str, least: int = 1) -> int | None:
    """A whole number; None where the field is empty."""
    found = number(form, name)
    if found is None:
        return None
    if found != int(found):
        expect.refuse(_called(name), "a whole number", form[name])
    return expect.whole(_called(name), int(found), least=least)


def flag(form: dict[str, str], name: str) -> bool:
    """Whether a box is ticked."""
    return form.get(name, "") not in ("", "0", "no")


def _called(name: str) -> str:
    return name.replace("_", " ")
