"""Templates made into HTML. Everything that is put into one is escaped, and a name that is missing fails."""

from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from breakeven.service.pages.page_calls import address
from breakeven.values.amounts import amount, duration

STATIC_MEDIA = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
NO_VALUE = "–"


@cache
def environment() -> Environment:
    """Where templates are found, and what they may use."""
    made = Environment(
        loader=PackageLoader("breakeven.service.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"amount": shown_amount, "value": shown_value, "moment": moment, "since": since}
    made.tests["finite"] = lambda number: number is not None and isfinite(number)
    made.globals |= {"address": address, "static": static_address}
    return made


def rendered(template: str, values: dict[str, Any]) -> bytes:
    """A template with these values, as UTF-8."""
    return environment().get_template(template).render(values).encode()


# -- files ---------------------------------------------------------------------------------------------


@cache
def static_file(name: str) -> bytes:
    """A file that every page uses."""
    return files("breakeven.service.pages").joinpath("static", name).read_bytes()


@cache
def static_address(name: str) -> str:
    """Where that file is; the address changes with the file, so that it may be kept for ever."""
    return address("static", name, v=sha256(static_file(name)).hexdigest()[:12])


# -- words ---------------------------------------------------------------------------------------------


def shown_amount(number: float | None, unit: str = "") -> str:
    """A number for reading, with its unit.

    >>> shown_amount(12345.6, "EUR"), shown_amount(-3.0), shown_amount(None)
    ('12,346 EUR', '−3', '–')
    """
    if number is None:
        return NO_VALUE
    words = amount(number).replace("-", "−")
    return f"{words} {unit}" if unit and words != NO_VALUE else words


def shown_value(value: Any, unit: str = "") -> str:
    """A feature's value for reading.

    >>> shown_value(True), shown_value(61.0, "years"), shown_value("flu"), shown_value([1.0, 2.5])
    ('yes', '61 years', 'flu', '1, 2.5')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return shown_amount(value, unit)
    if isinstance(value, list | tuple):
        return ", ".join(shown_value(one) for one in value)
    return NO_VALUE if value is None else str(value)


def moment(at: float | str | None) -> str:
    """A time for reading, of the world's clock.

    >>> moment(0.0), moment("2026-01-31T18:30:05Z")
    ('1970-01-01 00:00:00', '2026-01-31 18:30:05')
    """
    if at is None:
        return NO_VALUE
    time = datetime.fromisoformat(at) if isinstance(at, str) else datetime.fromtimestamp(at, UTC)
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def since(at: str | None, now: float) -> str:
    """How long ago something was.

    >>> since("1970-01-01T00:00:00Z", 8000.0), since(None, 0.0)
    ('2.2 hours', '–')
    """
    if at is None:
        return NO_VALUE
    seconds = max(now - datetime.fromisoformat(at).timestamp(), 0.0)
    return f"{seconds / 86_400:.1f} days" if seconds >= 2 * 86_400 else duration(seconds)
