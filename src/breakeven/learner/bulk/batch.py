"""A batch of types in compiled loops, columns in and columns out; decisions become objects only on demand.

Answers, events and state are those of one by one, to the bit.
"""

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.errors.expect import LARGEST, SMALLEST, Array
from breakeven.learner.book import NewIds, PassedBatch
from breakeven.learner.bulk.arrays import Answers, Before, Points
from breakeven.learner.bulk.arrived_rows import ArrivedRows, AwaitedColumns, AwaitedLabelsFound
from breakeven.learner.bulk.stream import RestingArrays, awake
from breakeven.learner.soundness import check_columns
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.rules import Value
from breakeven.values import CompiledDecisions, PredictionsOfTypes, Reasons, Told

FEWEST_IN_COLUMNS = 256  # labels awaited of a batch that stay in columns


def decide_many(
    state: State, points: Points, names: NewIds | None = None, money: Array | None = None
) -> CompiledDecisions:
    """Decide on types with a learner that the loops serve; labels are awaited. Nothing is checked here.

    `names` are ids that are new; `money` is what labels cost, NaN where that is as agreed.
    """
    count = len(points)
    costs = None if money is None else np.where(np.isnan(money), state.quote.cost, money)
    prices = None if costs is None else costs / state.costs.error_cost
    answers, reasons = Answers.empty(count), []
    before = Before.empty(count) if isinstance(state.rule, Value) else Before.without_worth(count)
    state.phase = CHANGING  # the arrays may be the state
    run = awake(state, points, prices)
    for rounds in run.chunks(count):
        part = answers.part(rounds), before.part(rounds)
        run.decide(rounds, part[0], before=part[1])
        reasons.append(run.judge.reasons(*part))
    whole = slice(0, count)
    ids: Sequence[Any] = run.automatic_ids(whole) if names is None else list(names)
    decided = run.decided(ids, whole, answers, before, Reasons.joined(reasons), costs)
    decided.columns.lock()  # the book keeps them
    first = state.earlier + state.number + 1
    batch = ArrivedRows(np.arange(first, first + count), points, ids, decided, money)
    if names is None:
        state.book.note_numbered(state.rounds + 1, count)
    else:
        state.book.note_ids(names, state.rounds + 1)
    run.settle()
    _enter(state, batch, names)
    state.number += count
    state.resting = RestingArrays(run, state.number)
    if state.listeners:
        state.announce(*batch.events(state.number - count + 1, state.name))
    state.phase = WHOLE
    return decided


def tell_many(
    state: State, found: AwaitedLabelsFound, y: Array, fit: Callable[[], bool]
) -> PredictionsOfTypes | None:
    """Tell labels that are awaited, each once, to a learner that the loops serve; `fit` makes fits inside.

    None, and nothing told, where listeners would have to hear of a fit among the labels.
    """
    belief = state.belief
    assert isinstance(belief, TypeMeans)  # as was checked
    if state.listeners and belief.across.learns:
        return None
    state.phase = CHANGING
    run = awake(state, found.points, deciding=False)
    means, stds, told, first = np.empty(len(y)), np.empty(len(y)), 0, state.number + 1
    for done in run.tell(y, means, stds):
        check_columns(means[told:done])
        found.tell(state.book, slice(told, done), y[told:done])
        state.number += done - told
        told = done
        if not state.listeners:  # who would have to hear of the labels before a fit
            state.phase = WHOLE
            fit()
            state.phase = CHANGING
    state.resting = RestingArrays(run, state.number)
    if state.listeners:
        numbers = range(first, state.number + 1)
        state.announce(*map(Told, numbers, repeat(state.name), found.ids, y.tolist()))
    state.phase = WHOLE
    return PredictionsOfTypes(means, stds, belief.traits.noise_std)


def _enter(state: State, batch: ArrivedRows, names: NewIds | None) -> None:
    """The book takes up labels that are awaited, and the last arrivals that were not asked about."""
    book, columns = state.book, batch.decided.columns
    asked = np.flatnonzero(columns.wants_label)
    if len(asked) >= FEWEST_IN_COLUMNS or (len(asked) and book.unwritten):  # in the order of buying
        book.await_rows(AwaitedColumns(batch, asked))
    else:
        book.await_many(batch.entries_at(asked.tolist()))
    costs = columns.cost[asked]
    if len(asked) and (costs == costs[0]).all():
        book.buy_many(len(asked), float(costs[0]))
    else:
        book.buy_each(costs.tolist())
    passed = np.flatnonzero(~columns.wants_label)
    kept = passed[-book.keep or len(passed) :]
    if not len(kept):
        return
    low = 0 if len(kept) == len(passed) else int(kept[0])
    if names is None or low:
        names = dict.fromkeys(map(str, batch.ids[low:]), PassedBatch())
    for place in asked[asked >= low].tolist():
        names.pop(str(batch.ids[place]))
    book.pass_many(names, batch.since(low))


def sound_money(costs: Sequence[Any]) -> Array | None:
    """Costs of single labels as an array; None where one has to be looked at on its own."""
    money = sound_numbers(costs)
    return money if money is not None and bool((money >= SMALLEST).all()) else None


def sound_numbers(values: Sequence[Any]) -> Array | None:
    """Numbers as an array; None where one has to be looked at on its own."""
    if not set(map(type, values)) <= {float, np.float64}:
        return None
    numbers = np.array(values, dtype=float)
    return numbers if bool((np.abs(numbers) <= LARGEST).all()) else None
