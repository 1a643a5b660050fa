"""Words and numbers as they are read: all escaped; `code` and **bold** are the only markup there is."""

import re
from html import escape

from breakeven.values.amounts import amount
from breakeven.values.exhibit import Cell, Line

MARKS = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*")


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
        case int() | float():
            return amount(cell).replace("-", "−")
    return escape(cell)
