"""Times, rates and sizes as people read them."""

from breakeven.bench.timing import Timing

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def a_round(timing: Timing) -> str:
    """Seconds a round, in the unit that suits the median.

    >>> a_round(Timing(136e-6, 133e-6, 1.41e-4))
    '136 µs (133–141)'
    """
    unit, name = next((pair for pair in UNITS if timing.median >= pair[0]), UNITS[-1])
    median, low, high = (_short(time / unit) for time in (timing.median, timing.low, timing.high))
    return f"{median} {name} ({low}–{high})"


def a_second(timing: Timing) -> str:
    """Rounds a second.

    >>> a_second(Timing(2.5e-6, 2.5e-6, 4e-6)), a_second(Timing(2e-8, 2e-8, 2.5e-8))
    ('400,000 a second (250,000–400,000)', '50 M a second (40–50)')
    """
    rates = [1 / time for time in (timing.median, timing.high, timing.low)]
    millions = rates[0] >= 1e6
    median, low, high = (_short(rate / 1e6 if millions else rate) for rate in rates)
    return f"{median}{' M' if millions else ''} a second ({low}–{high})"


def megabytes(size: float) -> str:
    """Bytes.

    >>> megabytes(64_400_000)
    '64.4 MB'
    """
    return f"{_short(size / 1e6)} MB"


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
