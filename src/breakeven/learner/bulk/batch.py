"""A batch of types in compiled loops, columns in and columns out; decisions become objects only on demand.

Answers, events and state are those of one by one, to the bit. What is remembered of arrivals that were not
asked about stays in columns, too, until somebody looks for one.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import repeat
from math import isnan
from typing import Any

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.errors.expect import LARGEST, SMALLEST, Array
from breakeven.learner.book import Entry, NewIds, PassedBatch
from breakeven.learner.bulk.arrays import Answers, Before, Points
from breakeven.learner.bulk.stream import RestingArrays, awake, whole_numbers
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.rules import Value
from breakeven.values import Arrived, CompiledDecisions, PredictionsOfTypes, Reasons, Told


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
    batch = ArrivedRows(state.earlier + state.number + 1, points, ids, decided, money)
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
    state: State, entries: Sequence[Entry], y: Array, fit: Callable[[], bool]
) -> PredictionsOfTypes | None:
    """Tell labels that are awaited, each once, to a learner that the loops serve; `fit` makes fits inside.

    None, and nothing told, where listeners would have to hear of a fit among the labels.
    """
    belief = state.belief
    assert isinstance(belief, TypeMeans)  # as was checked
    if state.listeners and belief.across.learns:
        return None
    state.phase = CHANGING
    run, values = awake(state, whole_numbers([one.x for one in entries]), deciding=False), y.tolist()
    means, stds, told, first = np.empty(len(y)), np.empty(len(y)), 0, state.number + 1
    for done in run.tell(y, means, stds):
        state.book.tell_many(entries[told:done], values[told:done])
        state.number += done - told
        told, state.phase = done, WHOLE
        fit()
        state.phase = CHANGING
    state.resting = RestingArrays(run, state.number)
    if state.listeners:
        ids = [one.id for one in entries]
        state.announce(*map(Told, range(first, state.number + 1), repeat(state.name), ids, values))
    state.phase = WHOLE
    return PredictionsOfTypes(means, stds, belief.traits.noise_std)


class ArrivedRows:
    """The rows of a batch, with keys from `first` on: points, decisions, and costs that were given."""

    def __init__(
        self, first: int, points: Points, ids: Sequence[Any], decided: CompiledDecisions, money: Array | None
    ) -> None:
        self.first, self.ids, self.decided = first, ids, decided
        self._points, self._money = points, money

    def since(self, row: int) -> "ArrivedRows":
        """The rows from this one on, to be kept; copied where most of them would be kept for nothing."""
        points = self._points
        if 2 * row >= len(points):
            rows = slice(row, None)
            money = None if self._money is None else self._money[rows].copy()
            return ArrivedRows(
                self.first + row, _own(points[rows]), self.ids[rows], self.decided.part(rows), money
            )
        return ArrivedRows(self.first, _own(points), self.ids, self.decided, self._money)

    @cached_property
    def _places(self) -> dict[str, int]:
        return dict(zip(map(str, self.ids), range(len(self.ids)), strict=True))

    def entries(self, ids: Sequence[str]) -> list[Entry]:
        """The entries under these ids."""
        return self.entries_at([self._places[id] for id in ids])

    def entries_at(self, places: Sequence[int]) -> list[Entry]:
        """The entries of these rows."""
        decisions, given = self.decided.at(places), self._given(places)
        ids, keys = [one.id for one in decisions], [self.first + place for place in places]
        return list(map(Entry, ids, keys, self._types(places), decisions, given))

    def events(self, number: int, stream: str) -> list[Arrived]:
        """The events of all rows, the first with this number."""
        places = range(len(self.decided))
        numbers = range(number, number + len(places))
        cases = self._types(places), self.decided, self._given(places)
        return list(map(Arrived, numbers, repeat(stream), *cases))

    def _types(self, places: Sequence[int]) -> list[Any]:
        points = self._points
        if isinstance(points, np.ndarray):
            return list(points[np.asarray(places, dtype=np.intp)].tolist())
        return [points[place] for place in places]

    def _given(self, places: Sequence[int]) -> list[float | None]:
        if self._money is None:
            return [None] * len(places)
        money = self._money[np.asarray(places, dtype=np.intp)].tolist()
        return [None if isnan(one) else one for one in money]


def _own(points: Points) -> Points:
    """Points that nobody else can change: an array may be the caller's."""
    return points.copy() if isinstance(points, np.ndarray) else points


def _enter(state: State, batch: ArrivedRows, names: NewIds | None) -> None:
    """The book takes up labels that are awaited, and the last arrivals that were not asked about."""
    book, columns = state.book, batch.decided.columns
    asked = np.flatnonzero(columns.wants_label)
    entries = batch.entries_at(asked.tolist())
    book.await_many(entries)
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
        del names[str(batch.ids[place])]
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
