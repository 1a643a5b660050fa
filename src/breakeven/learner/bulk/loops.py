"""The compiled loops; nothing imports this before the first long stream or the first fleet.

They are compiled where numba is installed; elsewhere they run as they are written, slowly, to the same bits.

Sums, products, quotients and square roots are rounded correctly, here as in Python, so all bits agree.
Labels are summed as `ExactSum` does it: the nearest float, then the nearest to what is missing, and so on.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from math import inf, isnan, log, nan, sqrt
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from breakeven.errors.expect import Array
from breakeven.learner.bulk.arrays import (
    FINISHED,
    NEEDS_LIMITS,
    NEEDS_PARTS,
    NEEDS_SPREADS,
    NEW_TYPE,
    UNSEEN,
    Answers,
    Before,
    Codes,
    Counts,
    LabelArrays,
    LimitTable,
    MovingLimit,
    Truths,
    TypeArrays,
)
from breakeven.rules.baselines import LATELY_ROUNDS, LEAST_THETA, MOST_THETA
from breakeven.theory import DISCRETE_EXPONENT

try:
    import numba
except ImportError:
    numba = None  # type: ignore[assignment]

F = TypeVar("F", bound=Callable[..., Any])
SOURCES = tuple(Path(__file__).parents[2] / name for name in ("beliefs", "learner", "rules", "theory"))


def compiled(function: F) -> F:
    """Compile on the first call, and keep the result on disk where there is a place for it.

    What is kept holds as long as none of the `SOURCES` changes: numba looks at the file of a function alone,
    and would go on with old code of another file that was compiled into it.
    """
    if numba is None:
        return cast(F, np.errstate(all="ignore")(function))  # numbers overflow as compiled ones do
    try:
        made: Any = numba.njit(cache=True, error_model="numpy")(function)
        made._cache._cache_file._source_stamp = source_stamp(*SOURCES)
    except (RuntimeError, AttributeError):  # no directory can be written to, or a numba that keeps otherwise
        made = numba.njit(error_model="numpy")(function)
    return cast(F, made)


@cache
def source_stamp(*folders: Path) -> str:
    """Another one as soon as a source file in these folders has another time or size."""
    files = [(str(path), path.stat()) for one in folders for path in sorted(one.rglob("*.py"))]
    seen = [(path, one.st_mtime_ns, one.st_size) for path, one in files]
    return sha256(repr(seen).encode()).hexdigest()


# -- types and tables --------------------------------------------------------------------------------


@compiled
def number(values: Counts, low: int, lookup: Codes, first: int, fresh: Counts) -> int:
    """Number types not seen before, from `first` on, and list them in `fresh`; how many there are."""
    found = 0
    for value in values:
        if lookup[value - low] == UNSEEN:
            lookup[value - low] = first + found
            fresh[found] = value
            found += 1
    return found


@compiled
def clocks(values: Counts, low: int, lookup: Codes | None, arrivals: Counts) -> Counts:
    """How many of its type there were with each arrival; `arrivals` are counted on."""
    result = np.empty(len(values), dtype=np.int64)
    for i in range(len(values)):
        k = values[i] if lookup is None else lookup[values[i] - low]
        arrivals[k] += 1
        result[i] = arrivals[k]
    return result


@compiled
def code_at(values: Counts, i: int, low: int, lookup: Codes | None) -> int:
    """The code of the type of this round, `UNSEEN` if it was not met; without a `lookup` values are codes."""
    if lookup is None:
        return values[i]  # type: ignore[no-any-return]
    value = np.uintp(values[i] - low)
    return lookup[value] if value < len(lookup) else UNSEEN


@compiled
def thresholds(clocks: Counts, prices: Array, unit: float, scale: float) -> Array:
    """`theory.threshold` at each clock, for a price of its own."""
    result = np.empty(len(clocks))
    for i in range(len(clocks)):
        result[i] = scale * unit * (prices[i] / clocks[i]) ** DISCRETE_EXPONENT
    return result


@compiled
def spreads(first: int, count: int, noise_std: float, delta: float) -> Array:
    """`theory.confidence_spread` for `count` numbers of labels, from `first` on."""
    result = np.empty(count)
    for i in range(count):
        result[i] = 2 * (noise_std * noise_std) * (log(2 / delta) + 3 * log(first + i))
    return result


# -- exact sums --------------------------------------------------------------------------------------


@compiled
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The float nearest to a + b, and what that misses, exactly."""
    total = a + b
    share = total - a
    return total, (a - (total - share)) + (b - share)


@compiled
def add_to_two(high: float, low: float, y: float) -> tuple[float, float, float]:
    """The two parts of a sum with y added, and what two parts cannot hold."""
    high, rest = two_sum(high, y)
    low, lost = two_sum(low, rest)
    high, low = two_sum(high, low)
    return high, low, lost


@compiled
def add(parts: Array, k: int, y: float, space: Array) -> bool:
    """Add to the sum of type k; False, and nothing changed, if it needs more parts than there is room for."""
    high, low, lost = add_to_two(parts[k, 0], parts[k, 1], y)
    if lost != 0.0 or (parts.shape[1] > 2 and parts[k, 2] != 0.0):
        return add_to_many(parts, k, y, space)
    parts[k, 0], parts[k, 1] = high, low
    return True


@compiled
def add_to_many(parts: Array, k: int, y: float, space: Array) -> bool:
    """The same where two parts are not enough. A sum that is no number stays NaN, which no parts can mend."""
    rest, found = space[0], space[1]
    size = _grow(rest, 0, y)
    for part in parts[k]:
        size = _grow(rest, size, part)
    count = 0
    part = _nearest(rest, size)
    while part != 0.0:
        if isnan(part):
            found[0], count = part, 1
            break
        if count == parts.shape[1]:
            return False
        found[count] = part
        count += 1
        size = _grow(rest, size, -part)
        part = _nearest(rest, size)
    parts[k, :count] = found[:count]
    parts[k, count:] = 0.0
    return True


@compiled
def _grow(rest: Array, size: int, x: float) -> int:
    """Add x to a sum of floats that do not overlap, smallest first (Shewchuk 1997); its new length."""
    kept = 0
    for j in range(size):
        x, lost = two_sum(x, rest[j])
        if lost != 0.0:
            rest[kept] = lost
            kept += 1
    if x != 0.0:
        rest[kept] = x
        kept += 1
    return kept


@compiled
def _nearest(rest: Array, size: int) -> float:
    """The float nearest to such a sum, ties to even, as `math.fsum` finds it."""
    if size == 0:
        return 0.0
    left = size - 1
    total, lost = float(rest[left]), 0.0
    while left > 0 and lost == 0.0:
        left -= 1
        total, lost = two_sum(total, rest[left])
    if left > 0 and (lost > 0.0) == (rest[left - 1] > 0.0):  # what else is missing decides a tie
        further = total + 2.0 * lost
        if further - total == 2.0 * lost:
            total = further
    return total


# -- rounds ------------------------------------------------------------------------------------------
# The loop stops before a round for which something is missing, and says what. It is compiled anew for what is
# None, so nothing is asked twice in a round. No array is handed on in the common case, where `add` is written
# out, and none stays in its tuple: their references would be counted.


@compiled
def decide(
    values: Counts, low: int, lookup: Codes | None, told: LabelArrays | None, types: TypeArrays, labels: int,
    noise_std: float, spreads: Array, first: int | None, space: Array, out: Answers, before: Before | None,
    limits: LimitTable, moving: MovingLimit | None,
) -> tuple[int, int, int]:  # fmt: skip
    """Label what is above its limit: rounds done, labels there are now, and why it stopped.

    Labels that are not `told` are awaited. Where a limit is `moving`, `limits` has no values. Spreads are by
    labels of all types from `first` on, or by those of the type where that is None. Without a `lookup` the
    values are codes of types.
    """
    arrivals, asked, known, mean, parts = types
    wants_label, prediction, uncertainty, threshold = out
    table, by_type, shown = limits
    few = parts.shape[1] == 2
    if first is not None:
        spread = spreads[max(labels - first, 0)]
    if told is not None:
        y, true = told
    if before is not None:
        prediction_before, std_before, _, _ = before
    if moving is not None:
        memory, confidence, below, after_yes, after_no, budget, scale = moving
    for i in range(len(values)):
        k = code_at(values, i, low, lookup)
        if k == UNSEEN:
            return i, labels, NEW_TYPE
        clock = arrivals[k] + 1
        if first is None:
            if asked[k] >= len(spreads):
                return i, labels, NEEDS_SPREADS
            spread = spreads[int(asked[k])]
        radius, answer = sqrt(spread / asked[k]), mean[k]  # ∞ without labels
        if moving is None:
            place = np.uintp(clock if by_type else i)
            if place >= len(table):
                return i, labels, NEEDS_LIMITS
            limit = table[place]
            wanted = radius > limit
        else:
            theta, over = memory[0], memory[1] / LATELY_ROUNDS >= budget
            limit = (max(1.0 / theta - 1.0, 0.0) if confidence else theta) * scale
            wanted = not over and (radius < limit if below else radius > limit)
            if radius == inf:
                wanted, limit = True, nan
        if before is not None:
            prediction_before[i], std_before[i] = answer, noise_std / sqrt(known[k])
        if wanted:
            if first is not None and labels + 1 - first >= len(spreads):
                return i, labels, NEEDS_SPREADS
            if told is not None:
                total, rest, lost = add_to_two(parts[k, 0], parts[k, 1], y[i])
                if lost == 0.0 and (few or parts[k, 2] == 0.0):
                    parts[k, 0], parts[k, 1] = total, rest
                elif not add_to_many(parts, k, y[i], space):
                    return i, labels, NEEDS_PARTS
                known[k] += 1
                mean[k] = parts[k, 0] / known[k]
                answer = mean[k] if true else y[i]
            labels += 1
            if first is not None:
                spread = spreads[labels - first]
            asked[k] += 1
        if moving is not None:
            memory[1] = fade(memory[1], wanted)
            if wanted or not over:
                memory[0] = min(max(theta * (after_yes if wanted else after_no), LEAST_THETA), MOST_THETA)
        arrivals[k] = clock
        wants_label[i] = wanted
        prediction[i] = answer
        uncertainty[i] = radius
        threshold[i] = limit if shown else nan
    return len(values), labels, FINISHED


@compiled
def fade(lately: float, wanted: bool) -> float:
    """The labels of late, one round later."""
    return lately * (LATELY_ROUNDS - 1) / LATELY_ROUNDS + wanted


@compiled
def over_budget(wanted: Truths, lately: float, budget: float) -> Truths:
    """In which of these rounds the budget of `VariableUncertainty` was used up."""
    result = np.empty(len(wanted), dtype=np.bool_)
    for i in range(len(wanted)):
        result[i] = lately / LATELY_ROUNDS >= budget
        lately = fade(lately, wanted[i])
    return result
