"""Words and numbers as they are read: all escaped; `code` and **bold** are the only markup there is."""

import re
from html import escape
from math import floor, isfinite, isnan, log10

from breakeven.values.exhibit import Cell, Line

MARKS = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*")
DIGITS = 4
SMALLEST, LARGEST = 1e-4, 1e12


def marked(text: str) -> str:
    """A sentence as HTML.

    >>> marked("**Twice** as `a < b`")
    '<strong>Twice</strong> as <code>a &lt; b</code>'
    """
    return MARKS.sub(_tagged, escape(text))


def _tagged(found: re.Match[str]) -> str:
    code, bold = found.groups()
    return f"<code>{code}</code>" if code else f"<strong>{MARKS.sub(_tagged, bold)}</strong>"


def line_words(line: Line) -> str:
    """What a line is called in a legend.

    >>> line_words(Line(label="Value", x=[], y=[], remark="20 trials"))
    'Value, 20 trials'
    """
    return f"{line.label}, {line.remark}" if line.remark else line.label


def are_numbers(cells: list[Cell]) -> bool:
    """Whether a column holds numbers, and perhaps gaps, but no truth values.

    >>> are_numbers([1.0, None, 0]), are_numbers([True]), are_numbers([None])
    (True, False, False)
    """
    there = [cell for cell in cells if cell is not None]
    return bool(there) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in there)


def shown(cell: Cell) -> str:
    """A cell, escaped for HTML; a number is rounded for reading, the CSV has it in full.

    >>> shown(0.123456), shown(12345.6), shown(True), shown(None)
    ('0.1235', '12,346', 'yes', '')
    """
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case float():
            return _rounded(cell)
        case int():
            return f"{cell:,}".replace("-", "−")
    return escape(cell)


def _rounded(number: float) -> str:
    if isnan(number):
        return "–"
    if not isfinite(number):
        return "∞" if number > 0 else "−∞"
    if number == 0:
        return "0"
    if not SMALLEST <= abs(number) < LARGEST:
        return f"{number:.{DIGITS}g}".replace("-", "−")
    near = float(f"{number:.{DIGITS}g}")
    decimals = max(0, DIGITS - 1 - floor(log10(abs(near))))
    text = f"{number:,.{decimals}f}".replace("-", "−")
    return text.rstrip("0").rstrip(".") if near == number and decimals else text  # 0.5 is not 0.5000
