"""What a page is made of: a visit with its form, and a template with values, or the way to another page.

Everything that is put into a template is escaped, and a name that is missing fails. An empty field of a form
is None, and what cannot be read says which field it was.
"""

import re
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from starlette.types import Scope

from breakeven.errors import expect
from breakeven.service.access import Caller
from breakeven.service.access.entrance import CallHeaders
from breakeven.service.calls import Call
from breakeven.service.live_stream import LiveStream
from breakeven.service.service import Service
from breakeven.values.amounts import amount, duration


class Visit(Struct, frozen=True):
    """Somebody asks for a page: who, with which words in the path, in the query and in a form."""

    service: Service
    caller: Caller
    path: dict[str, str]
    query: dict[str, str]
    form: dict[str, str]
    headers: CallHeaders = {}
    scope: Scope = {}

    @property
    def live(self) -> LiveStream:
        """The stream in the path."""
        return self.service.stream(self.path["stream"])

    def call(self, body: Any = None, query: Any = None, **path: str) -> Call:
        """The same visitor calling a route of the service."""
        return Call(self.service, self.caller, self.path | path, query, body, "", self.headers)


class Page(Struct, frozen=True):
    """A template and what goes into it."""

    template: str
    values: dict[str, Any] = {}
    status: int = 200
    headers: dict[str, str] = {}


class Elsewhere(Struct, frozen=True):
    """Go on at another page."""

    to: str
    headers: dict[str, str] = {}


def address(*parts: str, **query: str | int | None) -> str:
    """A path of these parts, each of which may hold any signs.

    >>> address("streams", "a b/c", "history", id="x&y", after=None)
    '/streams/a%20b%2Fc/history?id=x%26y'
    """
    asked = "&".join(f"{name}={quote(str(one), safe='')}" for name, one in query.items() if one is not None)
    return "/" + "/".join(quote(part, safe="") for part in parts) + (f"?{asked}" if asked else "")


# -- the fields of a form ---------------------------------------------------------------------------------


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


# -- templates --------------------------------------------------------------------------------------------

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
