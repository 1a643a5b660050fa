"""Numbers and lists as people read them, on a terminal and on a page alike: only digits that matter."""

from math import floor, isfinite, isnan, log10

DIGITS = 4
SMALLEST_WRITTEN, LARGEST_WRITTEN = 1e-4, 1e16  # beyond them, powers of ten are easier to read than digits
UNITS = ((1e13, 1e12, "tn"), (1e10, 1e9, "bn"), (1e7, 1e6, "M"))  # from which size on, the unit, its sign


def amount(number: float) -> str:
    """Four digits at least, thousands apart; from ten millions on in millions, and so on. Counts stay whole.

    >>> amount(44200.0), amount(12.345), amount(0.3), amount(51.0), amount(1_234_567.8), amount(12_345_678)
    ('44,200', '12.35', '0.3', '51', '1,234,568', '12,345,678')
    >>> amount(21_300_000.0), amount(-3.06e10), amount(1e12), amount(2.5e13), amount(1.5e-7)
    ('21.3M', '-30.6bn', '1,000bn', '25tn', '1.5e-7')
    """
    if isinstance(number, int):
        return f"{number:,}"
    if not isfinite(number):
        return "–" if isnan(number) else "∞" if number > 0 else "-∞"
    if number == 0:
        return "0"
    near = float(f"{number:.{DIGITS}g}")
    if not SMALLEST_WRITTEN <= abs(near) < LARGEST_WRITTEN:
        digits, power = f"{near:e}".split("e")
        return f"{_trimmed(digits)}e{int(power)}"
    unit, sign = unit_of(near)
    return _written(number / unit) + sign


def unit_of(number: float) -> tuple[float, str]:
    """The unit that a number of this size is written in, and its sign.

    >>> unit_of(3e10), unit_of(44_200.0)
    ((1000000000.0, 'bn'), (1.0, ''))
    """
    fitting = ((unit, sign) for start, unit, sign in UNITS if abs(number) >= start)
    return next(fitting, (1.0, ""))


def duration(seconds: float) -> str:
    """A length of time, roughly.

    >>> duration(34.0), duration(95.0), duration(8000.0)
    ('35 seconds', '2 minutes', '2.2 hours')
    """
    if seconds < 60.0:
        return f"{max(5, 5 * round(seconds / 5.0))} seconds"
    if seconds < 3600.0:
        minutes = max(1, round(seconds / 60.0))
        return f"{minutes} minute{'' if minutes == 1 else 's'}"
    return f"{seconds / 3600.0:.1f} hours"


def several(number: int, noun: str) -> str:
    """So many of something.

    >>> several(1, "label"), several(1200, "label")
    ('1 label', '1,200 labels')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(words: list[str]) -> str:
    """Words in one sentence.

    >>> listed(["rules", "prices", "orders"])
    'rules, prices and orders'
    """
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last


def _written(number: float) -> str:
    """All digits before the decimal point, and as many behind it as make four in all."""
    decimals = max(0, DIGITS - 1 - floor(log10(abs(number))))
    return _trimmed(f"{number:,.{decimals}f}")


def _trimmed(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
