"""Dates and times of day: how one is read, and the numbers that a belief gets of it.

A moment counts in days since 1970 began, in UTC where it has a zone. ISO dates and month names can be read in
one way only; of 03/04/2024 somebody must say which comes first (`DateOrder`), the day or the month.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from math import nan
from typing import Any, Literal

import numpy as np

from breakeven.errors.expect import Array

DateOrder = Literal["ymd", "dmy", "mdy"]
TimePart = Literal["trend", "season", "weekday", "hour"]

DATE_ORDERS: tuple[DateOrder, ...] = ("ymd", "dmy", "mdy")
DAYS_A_YEAR, DAYS_A_WEEK = 365.2425, 7
MICROSECONDS_A_DAY = 86_400_000_000.0
FIRST_DAY = date(1970, 1, 1).toordinal()
COS_AND_SIN = ("cos", "sin")
THURSDAY = 3  # the weekday on which 1970 began; Monday is 0
LAST_CENTURY_FROM = 69  # two digits of a year from here on are of the twentieth century, as POSIX has it

_CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(:(?P<second>[0-9]{2})([.,](?P<part>[0-9]{1,9}))?)?"
    r"( ?(?P<half>[AaPp])\.?[Mm]\.?)?( ?(?P<zone>[Zz]|[+-][0-9]{2}:?[0-9]{2}))?"
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    "(?P<month>(?i:jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(t(ember)?)?|"
    r"oct(ober)?|nov(ember)?|dec(ember)?))\.?"
)
_DAY, _YEAR = "(?P<day>[0-9]{1,2})", "(?P<year>[0-9]{4})"
_NUMBER_OF_MONTH = "(?P<month>[0-9]{1,2})"
_SHORT_YEAR = "(?P<year>[0-9]{4}|[0-9]{2})"
_WORDS = [rf"{_DAY}[-. ]{{1,2}}{_MONTH}[-, ]{{1,2}}{_YEAR}", rf"{_MONTH} {_DAY},? {_YEAR}"]
_DATE_FORMS: dict[DateOrder, list[str]] = {
    "ymd": [rf"{_YEAR}(?P<sign>[-/.]){_NUMBER_OF_MONTH}(?P=sign){_DAY}", *_WORDS],
    "dmy": [rf"{_DAY}(?P<sign>[-/.]){_NUMBER_OF_MONTH}(?P=sign){_SHORT_YEAR}", *_WORDS],
    "mdy": [rf"{_NUMBER_OF_MONTH}(?P<sign>[-/]){_DAY}(?P=sign){_SHORT_YEAR}", *_WORDS],
}
_DATES = {
    order: [re.compile(rf"{form}((T|,? ){_CLOCK})?") for form in forms]
    for order, forms in _DATE_FORMS.items()
}
_TIME_OF_DAY = re.compile(_CLOCK)


def days_of(value: Any, order: DateOrder | None = None) -> float | None:
    """A date, a time of day or both in days since 1970 began; None where it is none.

    Text is read in one order, year first unless another is given.

    >>> days_of("1970-01-02T12:00"), days_of(date(1970, 1, 2)), days_of("18:00")
    (1.5, 1.0, 0.75)
    >>> days_of("02/01/1970", "dmy"), days_of("02/01/1970", "mdy"), days_of("02/01/1970")
    (1.0, 31.0, None)
    """
    if isinstance(value, str):
        return _days_of_text(value, order or "ymd")
    if isinstance(value, datetime):
        moment = value.astimezone(UTC) if value.tzinfo is not None else value
        return _days(moment.toordinal() - FIRST_DAY, moment)
    if isinstance(value, date):
        return float(value.toordinal() - FIRST_DAY)
    if isinstance(value, time):
        return _days(0, value)
    if isinstance(value, np.datetime64):
        micros = value.astype("datetime64[us]").astype(np.int64)
        return float(micros) / MICROSECONDS_A_DAY
    return None


def written(days: float) -> str:
    """Days since 1970 began as a date, with the time of day where there is one.

    >>> written(19_813.0), written(0.5)
    ('2024-03-31', '1970-01-01 12:00:00')
    """
    moment = datetime(1970, 1, 1) + timedelta(days=days)
    return str(moment.date()) if days == int(days) else str(moment)


def spelled(text: str, order: DateOrder) -> str:
    """A date of text in words, as one order has it.

    >>> spelled("03/04/2024", "dmy"), spelled("03/04/2024", "mdy")
    ('3 April 2024', '4 March 2024')
    """
    days = days_of(text, order)
    moment = datetime(1970, 1, 1) + timedelta(days=nan if days is None else days)
    return f"{moment.day} {moment:%B %Y}"


def _days_of_text(text: str, order: DateOrder) -> float | None:
    words = " ".join(text.split())
    found = next(filter(None, (form.fullmatch(words) for form in _DATES[order])), None)
    clock = found or _TIME_OF_DAY.fullmatch(words)
    if clock is None:
        return None
    try:
        whole = 0 if found is None else _date(found).toordinal() - FIRST_DAY
        moment = _time(clock)
    except ValueError:  # 31 February, or 25 o'clock
        return None
    return _days(whole, moment, _minutes_ahead(clock["zone"]))


def _date(found: re.Match[str]) -> date:
    year, month = int(found["year"]), found["month"]
    if len(found["year"]) == 2:
        year += 1900 if year >= LAST_CENTURY_FROM else 2000
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    return date(year, number, int(found["day"]))


def _time(clock: re.Match[str]) -> time:
    if clock["hour"] is None:
        return time()
    hour = int(clock["hour"])
    if clock["half"] is not None:
        if not 1 <= hour <= 12:
            raise ValueError("no hour of half a day")
        hour = hour % 12 + (12 if clock["half"] in "pP" else 0)
    micros = int(f"{clock['part'] or '0':0<6}"[:6])
    return time(hour, int(clock["minute"]), int(clock["second"] or 0), micros)


def _minutes_ahead(zone: str | None) -> int:
    """By how much a zone is ahead of UTC."""
    if zone is None or zone in "Zz":
        return 0
    minutes = 60 * int(zone[1:3]) + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes


def _days(whole: int, clock: datetime | time, ahead: int = 0) -> float:
    """Days from whole ones and a time of day in a zone: whole microseconds until the last division."""
    seconds = ((whole * 24 + clock.hour) * 60 + clock.minute - ahead) * 60 + clock.second
    return float(seconds * 1_000_000 + clock.microsecond) / MICROSECONDS_A_DAY


# -- the numbers of a moment -----------------------------------------------------------------------------


def part_names(name: str, parts: tuple[TimePart, ...]) -> list[str]:
    """A name for each number: a trend has one, whatever comes round again has two.

    >>> part_names("seen", ("trend", "hour"))
    ['seen (trend)', 'seen (hour, cos)', 'seen (hour, sin)']
    """
    names = []
    for part in parts:
        names += (
            [f"{name} ({part})"] if part == "trend" else [f"{name} ({part}, {wave})" for wave in COS_AND_SIN]
        )
    return names


def part_numbers(days: Array, parts: tuple[TimePart, ...]) -> Array:
    """The numbers of moments, a row each: days for the trend, places on a circle for what comes round again.

    >>> part_numbers(np.array([0.0, 0.5]), ("trend", "hour")).round(6).tolist()
    [[0.0, 1.0, 0.0], [0.5, -1.0, 0.0]]
    """
    turns = {
        "season": days / DAYS_A_YEAR,
        "weekday": (np.floor(days) + THURSDAY) % DAYS_A_WEEK / DAYS_A_WEEK,
        "hour": days - np.floor(days),
    }
    columns: list[Array] = []
    for part in parts:
        if part == "trend":
            columns.append(days)
        else:
            angle = 2.0 * np.pi * (turns[part] - np.floor(turns[part]))
            columns += [np.cos(angle), np.sin(angle)]
    return np.stack(columns, axis=1)


def moment_of(numbers: list[float], parts: tuple[TimePart, ...]) -> str | None:
    """The moment that these numbers were made of, as ISO writes it; None where no part tells the day.

    >>> moment_of([0.5, -1.0, 0.0], ("trend", "hour")), moment_of([1.0, 0.0], ("hour",))
    ('1970-01-01T12:00:00', None)
    """
    if "trend" not in parts:
        return None
    moment = datetime.fromordinal(FIRST_DAY) + timedelta(microseconds=round(numbers[0] * MICROSECONDS_A_DAY))
    return moment.isoformat()


def telling_parts(days: Array) -> tuple[TimePart, ...]:
    """What of these moments can say something: what varies, and has come round once at least.

    >>> telling_parts(np.arange(0.0, 400.0)), telling_parts(np.array([0.25, 0.5]))
    (('trend', 'season', 'weekday'), ('hour',))
    """
    known = days[~np.isnan(days)]
    whole = np.floor(known)
    span = float(np.ptp(whole)) if known.size else 0.0
    found: dict[TimePart, bool] = {
        "trend": span > 0,
        "season": span >= DAYS_A_YEAR,
        "weekday": span >= DAYS_A_WEEK and np.unique(whole % DAYS_A_WEEK).size > 1,
        "hour": np.unique(known - whole).size > 1,
    }
    return tuple(part for part, some in found.items() if some)
