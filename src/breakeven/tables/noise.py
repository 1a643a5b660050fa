"""How far labels of one type scatter, from labels that are owned or bought first; never from later ones."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from breakeven.errors import expect
from breakeven.tables.cases import Cases
from breakeven.tables.options import Options
from breakeven.tables.recipe import default_warmup

FIRST = 20  # arrivals that are all labelled where the noise is not known
REPEATS, MOST_REPEATS = 10, 100  # labels beyond the first of their type, at least and at most, to go by
LONGEST = 200  # arrivals after which we go by what there is
PART = 1_000  # a label more for so many arrivals of a long stream


class Noise(NamedTuple):
    """The standard deviation of a label and where it comes from; None while labels are bought to tell."""

    std: float | None
    warmup: int = 0
    words: str = ""


def noise_of(cases: Cases, seeds: Cases | None, options: Options) -> Noise:
    """The noise as given, as owned labels of the same type show it, or as the first arrivals will.

    A Gaussian process fits its own, and who never asks needs none.
    """
    if options.noise_std is not None:
        return Noise(options.noise_std, words="given")
    if cases.columns.type_column is None:
        return Noise(None, words="fitted")
    if seeds is not None:
        std, repeats = pooled(labels_of(seeds))
        if repeats >= REPEATS and std > 0.0:
            return Noise(std, words=f"pooled within types from {len(seeds):,} labels already owned")
    if options.rule == "never":
        return Noise(1.0, words="not known")
    if options.delay:
        expect.refuse(
            "noise_std",
            "a number: with a delay the first labels, which would tell, come too late",
            None,
        )
    return Noise(None, _rounds_needed(cases))


def _rounds_needed(cases: Cases) -> int:
    """After how many arrivals there are enough labels beyond the first of their type; all, if never."""
    wanted = min(max(REPEATS, len(cases) // PART), MOST_REPEATS)
    longest = min(max(LONGEST, 10 * wanted), len(cases))
    seen: set[Any] = set()
    for count, one in enumerate(cases.part(0, longest), start=1):
        seen.add(one)
        if count >= FIRST and count - len(seen) >= wanted:
            return count
    return longest


def measured(labels: Sequence[tuple[Any, float]], bought: int) -> Noise:
    """The noise that labels of these types show, the last of which were all bought for it."""
    std, repeats = pooled(labels)
    if repeats and std > 0.0:
        return Noise(std, bought, f"pooled within types from the first {bought:,} labels, all bought")
    spread = float(np.std([y for _, y in labels]))
    return Noise(
        spread if spread > 0.0 else 1.0,
        bought,
        f"the spread of the first {bought:,} labels, all bought: no two of one type differ, "
        "so it may be too large; give --noise-std if you know it",
    )


def warmup_of(noise: Noise, cases: Cases, options: Options, seeds: Cases | None) -> int:
    """Labels bought whatever the rule says, for the noise or for the rule."""
    return noise.warmup or default_warmup(options, cases.columns, owned=0 if seeds is None else len(seeds))


def labels_of(cases: Cases | None) -> list[tuple[Any, float]]:
    """All labels, each with its type or point."""
    return [] if cases is None else list(zip(cases.part(0, len(cases)), cases.labels.tolist(), strict=True))


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
