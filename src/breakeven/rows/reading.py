"""How one value is read: as a number, as true or false, as a whole number, as a moment, or as text.

`Writing` says how numbers and dates are written where they are text. A whole column of a table is read in the
same way (`breakeven.tables.kinds`); a test holds the two together.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from math import inf, nan
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from breakeven.errors import expect
from breakeven.rows.times import DateOrder, days_of

Kind = Literal["number", "truth", "whole", "text", "yes_no", "time"]
"""What a column holds."""

DecimalSign = Literal[".", ","]
"""The sign before decimals."""

LARGEST_VALUE = 1e30  # the squares of such numbers, and what is computed from them, are finite
MISSING_WORDS = [
    "", "?", "na", "n/a", "#n/a", "#na", "#n/a n/a", "<na>", "nan", "-nan", "+nan", "1.#ind", "-1.#ind",
    "1.#qnan", "-1.#qnan", "null", "none",
]  # fmt: skip
TRUTH_WORDS = {"true": 1, "false": 0, "1": 1, "0": 0, "1.0": 1, "0.0": 0}
YES_NO_WORDS = {
    **TRUTH_WORDS,
    **dict.fromkeys(["yes", "y", "ja", "j", "oui", "si", "sí", "sì", "wahr", "vrai"], 1),
    **dict.fromkeys(["no", "n", "nein", "non", "falsch", "faux"], 0),
}
KIND_WORDS: dict[Kind, str] = {
    "number": "a finite number",
    "truth": "true or false",
    "whole": "a whole number of 64 bits",
    "text": "text or a whole number",
    "yes_no": "yes or no (or y, n, true, false, 1, 0)",
    "time": "a date or a time",
}
MISSING_TYPES = ("NAType", "NaTType")  # of pandas, which is not imported to know them
SPACES = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
DECIMAL_WORD = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE_WORD = re.compile(r"[+-]?[0-9]+")
THOUSANDS_SIGNS: dict[DecimalSign, str] = {".": ",'’ \xa0\u2009\u202f", ",": ".'’ \xa0\u2009\u202f"}


class Writing(Struct, frozen=True):
    """How text is written: the sign before decimals, and whether the day or the month of a date comes first.

    Once the decimal sign is said, thousands may be set apart by the other one, a space or an apostrophe.

    >>> read_value("income", "1.234,5", "number", Writing(decimal=","))
    1234.5
    """

    decimal: DecimalSign | None = None
    dates: DateOrder | None = None


PLAIN_WRITING = Writing()


def number_form(sign: DecimalSign) -> str:
    """The form of numbers with this decimal sign, for `re` and for polars alike.

    >>> bool(re.fullmatch(number_form(","), "1.234,5")), bool(re.fullmatch(number_form(","), "1.5"))
    (True, False)
    """
    point = re.escape(sign)
    grouped = "|".join(f"[0-9]{{1,3}}({re.escape(one)}[0-9]{{3}})+" for one in THOUSANDS_SIGNS[sign])
    return f"[+-]?((({grouped}|[0-9]+)({point}[0-9]*)?)|{point}[0-9]+)([eE][+-]?[0-9]+)?"


NUMBER_FORMS = {sign: number_form(sign) for sign in THOUSANDS_SIGNS}


def read_value(
    name: str, value: Any, kind: Kind, writing: Writing = PLAIN_WRITING, *, required: bool = True
) -> Any:
    """The value of the column `name`; None where it is missing and not `required`.

    >>> read_value("age", " 61", "number"), read_value("ward", 3, "text")
    (61.0, '3')
    >>> read_value("age", "n/a", "number", required=False) is None
    True
    >>> read_value("age", "sixty", "number")
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: age: expected a finite number, got 'sixty'
    """
    known = None if type(value).__name__ in MISSING_TYPES else ONE_VALUE[kind](value, writing)
    if known is None and (required or not is_missing(value, kind)):
        expected, hint = complaint(value, kind, writing)
        expect.refuse(name, f"{expected} ({hint})" if hint else expected, value)
    return known


def is_missing(value: Any, kind: Kind) -> bool:
    """Whether a value stands for a missing one. In text only the empty value does: NA may be Namibia."""
    if isinstance(value, str):
        return value == "" if kind == "text" else _stripped(value).lower() in MISSING_WORDS
    if value is None or type(value).__name__ in MISSING_TYPES:
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def complaint(value: Any, kind: Kind, writing: Writing = PLAIN_WRITING) -> tuple[str, str]:
    """What was expected where this came instead, and a hint, if there is one."""
    if kind == "time" and isinstance(value, str):
        return f"{KIND_WORDS[kind]} {DATE_WORDS[writing.dates]}", ""
    if kind != "number":
        return KIND_WORDS[kind], ""
    if LARGEST_VALUE < abs(_float(value)) < inf:
        return f"a number of size {LARGEST_VALUE:g} at most", "choose a larger unit"
    if not isinstance(value, str):
        return KIND_WORDS[kind], ""
    if writing.decimal is not None and ("." in value or "," in value):
        return f"{KIND_WORDS[kind]} with {writing.decimal!r} before its decimals", ""
    hint = "write decimals with a point, and thousands without a sign" if "," in value else ""
    return KIND_WORDS[kind], hint


DATE_WORDS: dict[DateOrder | None, str] = {
    None: "such as 2024-01-31 or 2024-01-31 18:30",
    "ymd": "such as 2024-01-31 or 2024-01-31 18:30",
    "dmy": "such as 31.01.2024 or 31.01.2024 18:30",
    "mdy": "such as 01/31/2024 or 01/31/2024 18:30",
}


# -- one reader a kind: None where the value is not of that kind --------------------------------------


def _number(value: Any, writing: Writing) -> float | None:
    if isinstance(value, str):
        number = _number_of_text(_stripped(value), writing.decimal)
    else:
        number = _float(value) if expect.is_number(value) or isinstance(value, Decimal) else nan
    return number if abs(number) <= LARGEST_VALUE else None


def _number_of_text(word: str, sign: DecimalSign | None) -> float:
    if sign is None:
        return float(word) if DECIMAL_WORD.fullmatch(word) else nan
    if not re.fullmatch(NUMBER_FORMS[sign], word):
        return nan
    plain = word.translate(dict.fromkeys(map(ord, THOUSANDS_SIGNS[sign])))
    return float(plain.replace(sign, "."))


def _truth(value: Any, writing: Writing, words: dict[str, int] = TRUTH_WORDS) -> int | None:
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, str):
        return words.get(_stripped(value).lower())
    is_one_or_zero = expect.is_number(value) or isinstance(value, Decimal)
    return TRUTH_WORDS.get(str(value)) if is_one_or_zero else None


def _yes_no(value: Any, writing: Writing) -> int | None:
    return _truth(value, writing, YES_NO_WORDS)


def _whole(value: Any, writing: Writing) -> int | None:
    number: int | None = None
    if isinstance(value, str):
        word = _stripped(value)
        number = int(word) if WHOLE_WORD.fullmatch(word) and len(word) <= 4_000 else None
    elif isinstance(value, Decimal) or expect.is_number(value):
        number = int(value) if abs(_float(value)) < inf and value == int(value) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def _time(value: Any, writing: Writing) -> float | None:
    return days_of(value, writing.dates)


def _text(value: Any, writing: Writing) -> str | None:
    if isinstance(value, str):
        return str(value) if value and expect.encodable(value) else None
    return str(int(value)) if isinstance(value, int | np.integer) and not isinstance(value, bool) else None


ONE_VALUE: dict[Kind, Callable[[Any, Writing], Any]] = {
    "number": _number,
    "truth": _truth,
    "whole": _whole,
    "text": _text,
    "yes_no": _yes_no,
    "time": _time,
}


def _stripped(text: str) -> str:
    return text.strip(SPACES)


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return nan
    except OverflowError:
        return inf
