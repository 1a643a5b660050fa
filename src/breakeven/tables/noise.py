"""How far labels of one type scatter, from labels that are owned or bought first; never from later ones."""

from collections import defaultdict
from collections.abc import Iterable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from breakeven.errors import expect
from breakeven.tables.cases import Cases
from breakeven.tables.options import Options

FIRST = 20  # arrivals that are all labelled where the noise is not known
REPEATS = 10  # labels beyond the first of their type that are enough to go by
LONGEST = 200  # arrivals after which we go by what there is


class Noise(NamedTuple):
    """The standard deviation of a label, how many arrivals are labelled for it, and where it comes from."""

    std: float | None
    warmup: int = 0
    words: str = ""


def noise_of(cases: Cases, seeds: Cases | None, options: Options) -> Noise:
    """The noise as given, as owned labels of the same type show it, or as the first arrivals do.

    A Gaussian process fits its own.
    """
    if options.noise_std is not None or cases.columns.type is None:
        return Noise(options.noise_std, words="given" if options.noise_std is not None else "fitted")
    if seeds is not None:
        std, repeats = pooled(zip(seeds.part(0, len(seeds)), seeds.labels.tolist(), strict=True))
        if repeats >= REPEATS and std > 0.0:
            return Noise(std, words=f"pooled within types from {len(seeds):,} labels already owned")
    if options.delay:
        expect.refuse(
            "noise_std",
            "a number: with a delay the first labels, which would tell, come too late",
            None,
        )
    return _from_first(cases)


def _from_first(cases: Cases) -> Noise:
    most = min(LONGEST, len(cases))
    types, labels = list(cases.part(0, most)), cases.labels[:most].tolist()
    count = next((n for n in range(min(FIRST, most), most) if n - len(set(types[:n])) >= REPEATS), most)
    std, repeats = pooled(zip(types[:count], labels[:count], strict=True))
    if repeats and std > 0.0:
        return Noise(std, count, f"pooled within types from the first {count:,} labels, all bought")
    spread = float(np.std(labels[:count]))
    return Noise(
        spread if spread > 0.0 else 1.0,
        count,
        f"the spread of the first {count:,} labels, all bought: no two of one type differ, "
        "so it may be too large; give --noise-std if you know it",
    )


def pooled(labels: Iterable[tuple[Any, float]]) -> tuple[float, int]:
    """The std of labels around the mean of their type, and the degrees of freedom it rests on.

    >>> pooled([("a", 1.0), ("a", 3.0), ("b", 5.0)])
    (1.4142135623730951, 1)
    """
    by_type: dict[Any, list[float]] = defaultdict(list)
    for name, y in labels:
        by_type[name].append(y)
    freedom = sum(len(ys) - 1 for ys in by_type.values())
    squares = sum(float(np.var(ys)) * len(ys) for ys in by_type.values())
    return (sqrt(squares / freedom) if freedom else 0.0), freedom
