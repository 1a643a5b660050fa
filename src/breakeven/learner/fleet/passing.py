"""Compiled loops over the keys of a fleet: rows in the order of their keys go through the loops of `bulk`.

A row is an arrival. Its cell is what is known of its type under its key; the cells of all keys lie in one set
of columns. Nothing here stops for a table: all are long enough before the rows pass.
"""

from math import inf, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.errors.expect import Array
from breakeven.learner.bulk import loops, worth_loop
from breakeven.learner.bulk.arrays import (
    Answers,
    Before,
    Counts,
    LimitTable,
    MovingLimit,
    PriorTerms,
    Truths,
    TypeArrays,
    ValueTerms,
)
from breakeven.learner.bulk.loops import compiled
from breakeven.learner.bulk.worth_loop import ASKED, OVERLOOKED, TOLD
from breakeven.learner.fleet.indexed_columns import FREE, REMOVED, Rows, place_of

Flags = NDArray[np.int8]

NOT_WITHDRAWN, CHARGED, PAID = -1, 1, 2  # of a label; withdrawn, it is a sum of the last two, or 0
NO_CELL = -1  # of a label that is ahead of its arrival
AUTOMATIC = 10**18  # integers below this may be automatic ids
WAS_TOLD, WAS_AGAIN, WAS_CONFLICTING, WAS_EARLY, WAS_FORGOTTEN = range(5)  # places of `counts`
DONE, PARTS_MISSING, FIT_MISSING = range(3)  # why telling stopped


# -- rows by key -------------------------------------------------------------------------------------


@compiled
def by_key(keys: Counts, count: int) -> tuple[Counts, Counts, Counts]:
    """The rows in the order of their keys, the keys that have any, and where the rows of each begin."""
    ends = np.zeros(count + 1, dtype=np.int64)
    for key in keys:
        ends[key + 1] += 1
    found = 0
    for key in range(count):
        found += ends[key + 1] > 0
    touched, starts = np.empty(found, dtype=np.int64), np.empty(found + 1, dtype=np.int64)
    found = 0
    for key in range(count):
        if ends[key + 1] > 0:
            touched[found], starts[found] = key, ends[key]
            found += 1
        ends[key + 1] += ends[key]
    starts[found] = len(keys)
    order = np.empty(len(keys), dtype=np.int64)
    for i in range(len(keys)):
        order[ends[keys[i]]] = i
        ends[keys[i]] += 1
    return order, touched, starts


@compiled
def repeated(order: Counts, starts: Counts, ids: Counts, first: Counts) -> int:
    """For every row, the first row of the same key and id, if that is another one, else −1; how many."""
    longest, found = 1, 0
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    size = 2
    while size < 2 * longest:
        size *= 2
    space = np.empty(size, dtype=np.int64)
    for s in range(len(starts) - 1):
        size = 2
        while size < 2 * (starts[s + 1] - starts[s]):
            size *= 2
        space[:size] = -1
        for j in range(starts[s], starts[s + 1]):
            row = order[j]
            place = (ids[row] ^ (ids[row] >> 17) ^ (ids[row] >> 40)) & (size - 1)
            while space[place] >= 0 and ids[space[place]] != ids[row]:
                place = (place + 1) & (size - 1)
            first[row] = space[place]
            if space[place] < 0:
                space[place] = row
            else:
                found += 1
    return found


@compiled
def note_arrivals(
    touched: Counts, starts: Counts, ids: Counts, passed: Counts, following: Counts, rounds: Counts
) -> None:
    """Number the rounds of each key, and keep automatic ids clear of these, as `Book.note_id` does.

    `ids` are in the order of the keys: −1 for one that is no number, and −2 − n for a number n that is
    written in another way than automatic ids are, so that it is not its round's own.
    """
    for s in range(len(touched)):
        key = touched[s]
        round, next_number = passed[key], following[key]
        for j in range(starts[s], starts[s + 1]):
            round += 1
            rounds[j] = round
            id = ids[j]
            if id < -1:
                next_number = max(next_number, -1 - id)
            elif id >= next_number and id != round and (id < AUTOMATIC or id == next_number):
                next_number = id + 1
        passed[key], following[key] = round, next_number


# -- decisions ---------------------------------------------------------------------------------------


class Passing(NamedTuple):
    """Keys that have arrivals, where these begin, their cells, and what is known of cells and keys.

    The others are as in `Given` of one stream.
    """

    touched: Counts
    starts: Counts
    cells: Counts
    types: TypeArrays
    labels: Counts
    noise_std: float
    spreads: Array
    first: int | None
    space: Array


@compiled
def decide_by_limits(
    given: Passing, out: Answers, before: Before,
    limits: LimitTable, moving: MovingLimit | None, memory: Array, over: Truths,
) -> None:  # fmt: skip
    """Label what is above its limit; where that is `moving`, every key has a `memory` of its own."""
    touched, starts, cells, types, labels, noise_std, spreads, first, space = given
    for s in range(len(touched)):
        key, a, b = touched[s], starts[s], starts[s + 1]
        answers = Answers(out.wants_label[a:b], out.prediction[a:b], out.uncertainty[a:b], out.threshold[a:b])
        views = Before(before.prediction[a:b], before.std[a:b], before.worth[a:b], before.worth_now[a:b])
        if moving is None:
            mine = LimitTable(
                limits.values if limits.by_type else limits.values[a:b], limits.by_type, limits.shown
            )
            _, labels[key], _ = loops.decide(
                cells[a:b], 0, None, None, types, labels[key], noise_std, spreads, first, space, answers,
                views, mine, None,
            )  # fmt: skip
        else:
            lately = memory[key, 1]
            own = MovingLimit(
                memory[key], moving.confidence, moving.below, moving.after_yes, moving.after_no,
                moving.budget, moving.scale,
            )  # fmt: skip
            _, labels[key], _ = loops.decide(
                cells[a:b], 0, None, None, types, labels[key], noise_std, spreads, first, space, answers,
                views, limits, own,
            )  # fmt: skip
            over[a:b] = loops.over_budget(answers.wants_label, lately, moving.budget)


class Priors(NamedTuple):
    """What every key believes of all its types, and how many labels that counts as; whether it is learnt."""

    mean: Array
    std: Array
    worth: Array
    learns: bool


@compiled
def decide_by_worth(
    given: Passing, out: Answers, before: Before,
    terms: ValueTerms, rounds: Counts, priors: Priors, census: Counts,
) -> None:  # fmt: skip
    """Label what is worth more than its price; labels are awaited, so no prior is learnt meanwhile."""
    touched, starts, cells, types, labels, noise_std, spreads, first, space = given
    for s in range(len(touched)):
        key, a, b = touched[s], starts[s], starts[s + 1]
        answers = Answers(out.wants_label[a:b], out.prediction[a:b], out.uncertainty[a:b], out.threshold[a:b])
        views = Before(before.prediction[a:b], before.std[a:b], before.worth[a:b], before.worth_now[a:b])
        own = ValueTerms(
            rounds[a] - 1, terms.horizon, terms.expected, terms.prices[a:b], terms.lessons, terms.outright
        )
        prior = PriorTerms(priors.mean[key], priors.std[key], priors.worth[key], priors.learns, False, inf)
        _, labels[key], _ = worth_loop.decide(
            cells[a:b], 0, None, None, types, labels[key], noise_std, spreads, first, space, answers, views,
            own, prior, census[key],
        )  # fmt: skip


# -- labels ------------------------------------------------------------------------------------------


class LabelColumns(NamedTuple):
    """Labels by id: awaited (y is NaN), told, withdrawn, or early (without a cell)."""

    key: Counts
    id: Counts
    cell: Counts
    round: Counts
    number: Counts
    given: Array
    y: Array
    withdrawn: Flags


class Windows(NamedTuple):
    """Rows of labels that nothing is awaited of, and of early ones, as rings; free rows, as a stack.

    `ends` has the next place of both rings and the height of the stack.
    """

    settled: Rows
    early: Rows
    free: Rows
    ends: Counts


class BoughtRows(NamedTuple):
    """Arrivals in the order of their keys, and which of them are `wanted`: their labels are bought."""

    wanted: Counts
    keys: Counts
    ids: Counts
    cells: Counts
    rounds: Counts
    numbers: Counts
    found: Counts  # rows of labels that came early, −1 where there is none
    given: Array  # the cost that came with the arrival, NaN if none did
    costs: Array


@compiled
def release(table: Rows, labels: LabelColumns, windows: Windows, row: int) -> None:
    """Forget the label in this row."""
    place = place_of(table, labels.key, labels.id, labels.key[row], labels.id[row])
    table[place] = REMOVED
    windows.free[windows.ends[2]] = row
    windows.ends[2] += 1


@compiled
def settle(table: Rows, labels: LabelColumns, windows: Windows, row: int) -> None:
    """Nothing is awaited of this label: the one settled longest ago is forgotten if there are too many."""
    size = len(windows.settled)
    if size == 0:
        release(table, labels, windows, row)
        return
    place = windows.ends[0] % size
    if windows.settled[place] != FREE:
        release(table, labels, windows, windows.settled[place])
    windows.settled[place] = row
    windows.ends[0] += 1


@compiled
def _free_row(windows: Windows, used: int) -> int:
    """A row that is free, or the next behind those in use."""
    if windows.ends[2] > 0:
        windows.ends[2] -= 1
        return int(windows.free[windows.ends[2]])
    return used


@compiled
def buy(
    table: Rows, labels: LabelColumns, windows: Windows, used: int, arrivals: BoughtRows, bought: Counts,
    spend: Array, space: Array, ahead: Array, start: int,
) -> tuple[int, int]:  # fmt: skip
    """Enter the labels `wanted` as awaited, and what they cost: the next one, and how many rows are in use.

    It stops where a sum of costs needs more parts. A label that came before its arrival stands in the row
    `found`; it is awaited there from now on, and its value is put into `ahead`, to be told next.
    """
    wanted, keys, ids, cells, rounds, numbers, found, given, costs = arrivals
    for j in range(start, len(wanted)):
        i = wanted[j]
        key = keys[i]
        if not loops.add(spend, key, costs[i], space):
            return j, used
        bought[key] += 1
        row, ahead[j] = found[i], nan
        if row >= 0:
            windows.early[labels.number[row]] = FREE
            ahead[j] = labels.y[row]
        else:
            row = _free_row(windows, used)
            used += row == used
            labels.key[row], labels.id[row] = key, ids[i]
            table[-1 - place_of(table, labels.key, labels.id, key, ids[i])] = row
        labels.cell[row], labels.round[row], labels.number[row] = cells[i], rounds[i], numbers[i]
        labels.given[row], labels.y[row], labels.withdrawn[row] = given[i], nan, NOT_WITHDRAWN
    return len(wanted), used


@compiled
def drop(table: Rows, labels: LabelColumns, windows: Windows, rows: Counts) -> None:
    """Early labels are forgotten."""
    for row in rows:
        windows.early[labels.number[row]] = FREE
        release(table, labels, windows, row)


class TypeSums(NamedTuple):
    """What telling changes: the cells, and by key the labels asked for, events, census and priors.

    `due_at` is how many types of a key must have labels told for its prior to be learnt.
    """

    types: TypeArrays
    asked: Counts
    number: Counts
    census: Counts
    prior_mean: Array
    prior_worth: Array
    due_at: Array


@compiled
def tell(
    table: Rows, labels: LabelColumns, windows: Windows, used: int, keys: Counts, ids: Counts, ys: Array,
    sums: TypeSums, space: Array, counts: Counts, start: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Tell labels in their order: the next one, how many rows are in use, and why it stopped.

    An id that is not known is kept for the arrival that may still come.
    """
    types, asked, number, census, prior_mean, prior_worth, due_at = sums
    for i in range(start, len(keys)):
        key, y = keys[i], ys[i]
        place = place_of(table, labels.key, labels.id, key, ids[i])
        if place < 0:
            used = _park(table, labels, windows, used, key, ids[i], y, counts)
            continue
        row = table[place]
        if labels.y[row] == labels.y[row]:
            counts[WAS_AGAIN if labels.y[row] == y else WAS_CONFLICTING] += 1
            continue
        k = labels.cell[row]
        if not loops.add(types.parts, k, y, space):
            return i, used, PARTS_MISSING
        if labels.withdrawn[row] != NOT_WITHDRAWN:
            count_asked(types, census[key], k, 1)
            asked[key] += 1
        types.told[k] += 1.0
        types.mean[k] = worth_loop.posterior_mean(
            types.parts[k, 0] / types.told[k], types.told[k], prior_mean[key], prior_worth[key]
        )
        census[key, TOLD] += types.told[k] == 1.0
        number[key] += 1
        labels.y[row] = y
        if labels.withdrawn[row] == NOT_WITHDRAWN:
            settle(table, labels, windows, row)
        counts[WAS_TOLD] += 1
        if census[key, TOLD] >= due_at[key]:
            return i + 1, used, FIT_MISSING
    return len(keys), used, DONE


@compiled
def _park(
    table: Rows,
    labels: LabelColumns,
    windows: Windows,
    used: int,
    key: int,
    id: int,
    y: float,
    counts: Counts,
) -> int:
    """Keep a label whose arrival is not known; the one kept longest goes where there are too many."""
    size = len(windows.early)
    if size == 0:
        counts[WAS_FORGOTTEN] += 1
        return used
    place = windows.ends[1] % size
    if windows.early[place] != FREE:
        release(table, labels, windows, windows.early[place])
        counts[WAS_FORGOTTEN] += 1
    row = _free_row(windows, used)
    windows.early[place] = row
    windows.ends[1] += 1
    labels.key[row], labels.id[row] = key, id
    table[-1 - place_of(table, labels.key, labels.id, key, id)] = row
    labels.cell[row], labels.round[row], labels.number[row] = NO_CELL, 0, place
    labels.given[row], labels.y[row], labels.withdrawn[row] = nan, y, NOT_WITHDRAWN
    counts[WAS_EARLY] += 1
    return used + (row == used)


@compiled
def count_asked(types: TypeArrays, census: Counts, k: int, more: int) -> None:
    """One label more of this cell is asked for, or one less."""
    if more > 0 and types.asked[k] == 0.0:
        census[ASKED] += 1
        census[OVERLOOKED] -= types.arrivals[k]
    types.asked[k] += more
    if more < 0 and types.asked[k] == 0.0:
        census[ASKED] -= 1
        census[OVERLOOKED] += types.arrivals[k]
