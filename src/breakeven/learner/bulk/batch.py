"""A batch of types in compiled loops, columns in and columns out; decisions become objects only on demand.

Answers, events and state are those of one by one, to the bit. What is remembered of arrivals that were not
asked about stays in columns, too, until somebody looks for one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from math import isnan
from typing import Any, Protocol

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.errors.expect import LARGEST, SMALLEST, Array
from breakeven.learner.book import Book, Entry, NewIds, PassedBatch
from breakeven.learner.bulk.arrays import Answers, Before, Counts, Points
from breakeven.learner.bulk.stream import RestingArrays, awake, own_points, types_at, whole_numbers
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.rules import Value
from breakeven.values import Arrived, CompiledDecisions, PredictionsOfTypes, Reasons, Told

FEWEST_IN_COLUMNS = 256  # labels awaited of a batch that stay in columns
POWERS_OF_TEN = 10 ** np.arange(19)


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


class AwaitedLabelsFound(Protocol):
    """Labels that are awaited, in the order in which they are told."""

    points: Points
    ids: Sequence[str]

    def tell(self, book: Book, labels: slice, y: Array) -> None:
        """Some of them came."""
        ...


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
        found.tell(state.book, slice(told, done), y[told:done])
        state.number += done - told
        told, state.phase = done, WHOLE
        fit()
        state.phase = CHANGING
    state.resting = RestingArrays(run, state.number)
    if state.listeners:
        numbers = range(first, state.number + 1)
        state.announce(*map(Told, numbers, repeat(state.name), found.ids, y.tolist()))
    state.phase = WHOLE
    return PredictionsOfTypes(means, stds, belief.traits.noise_std)


def find_awaited(book: Book, ids: list[Any]) -> AwaitedLabelsFound | None:
    """The labels of these ids, if all of them are awaited and each comes once."""
    if not set(map(type, ids)) <= {str}:
        return None
    in_columns: Iterator[FoundRows | None] = (rows.find(ids) for rows in book.unwritten)
    if (found := next(filter(None, in_columns), None)) is not None:
        return found
    entries = book.all_awaited(ids)
    return None if entries is None else FoundEntries(entries, ids)


class FoundEntries:
    """Awaited labels that are entries of the book."""

    def __init__(self, entries: list[Entry], ids: Sequence[str]) -> None:
        self._entries, self.ids = entries, ids
        self.points = whole_numbers([one.x for one in entries])

    def tell(self, book: Book, labels: slice, y: Array) -> None:
        """Some of them came."""
        book.tell_many(self._entries[labels], y.tolist())


class FoundRows:
    """Awaited labels in the columns of one batch."""

    def __init__(self, rows: "AwaitedColumns", places: Counts, ids: Sequence[str]) -> None:
        self._rows, self._places, self.ids = rows, places, ids
        self.points = rows.points_at(places)

    def tell(self, book: Book, labels: slice, y: Array) -> None:
        """Some of them came; as many are kept as the book remembers."""
        places, ids = self._places[labels], self.ids[labels]
        kept = slice(len(ids) - min(len(ids), book.keep), None)
        told = self._rows.chosen(places[kept])
        told.labels = y[kept].copy()
        self._rows.tell(places)
        book.tell_rows(self._rows, ids[kept], told)


class ArrivedRows:
    """Rows of a batch with their keys: points, decisions, and costs that were given.

    `labels` are those told; where a label was bought, it was paid for.
    """

    labels: Array | None = None

    def __init__(
        self,
        keys: Counts,
        points: Points,
        ids: Sequence[Any],
        decided: CompiledDecisions,
        money: Array | None,
    ) -> None:
        self.keys, self.ids, self.decided = keys, ids, decided
        self._points, self._money = points, money

    def since(self, row: int) -> "ArrivedRows":
        """The rows from this one on, to be kept; copied where most of them would be kept for nothing."""
        points = self._points
        if 2 * row >= len(points):
            rows = slice(row, None)
            money = None if self._money is None else self._money[rows].copy()
            return ArrivedRows(
                self.keys[rows].copy(),
                own_points(points[rows]),
                self.ids[rows],
                self.decided.part(rows),
                money,
            )
        return ArrivedRows(self.keys, own_points(points), self.ids, self.decided, self._money)

    def chosen(self, places: Counts) -> "ArrivedRows":
        """Some rows, copied."""
        decided, money = self.decided.chosen(places), None if self._money is None else self._money[places]
        return ArrivedRows(self.keys[places], self.points_at(places), decided.given_ids, decided, money)

    def points_at(self, places: Counts) -> Points:
        """The points of some rows."""
        points = self._points
        if isinstance(points, np.ndarray):
            return points[places]
        return list(map(points.__getitem__, places.tolist()))

    @cached_property
    def _places(self) -> dict[str, int]:
        return dict(zip(map(str, self.ids), range(len(self.ids)), strict=True))

    def entries(self, ids: Sequence[str]) -> list[Entry]:
        """The entries under these ids."""
        return self.entries_at([self._places[id] for id in ids])

    def entries_at(self, places: Sequence[int]) -> list[Entry]:
        """The entries of these rows."""
        chosen = np.asarray(places, dtype=np.intp)
        decisions, given, keys = self.decided.at(places), self._given(places), self.keys[chosen].tolist()
        labels = repeat(None) if self.labels is None else self.labels[chosen].tolist()
        paid = (one.wants_label for one in decisions)
        ids, who = (one.id for one in decisions), repeat(None)
        return list(
            map(Entry, ids, keys, types_at(self._points, places), decisions, given, labels, who, paid)
        )

    def events(self, number: int, stream: str) -> list[Arrived]:
        """The events of all rows, the first with this number."""
        places = range(len(self.decided))
        numbers = range(number, number + len(places))
        cases = types_at(self._points, places), self.decided, self._given(places)
        return list(map(Arrived, numbers, repeat(stream), *cases))

    def _given(self, places: Sequence[int]) -> list[float | None]:
        if self._money is None:
            return [None] * len(places)
        money = self._money[np.asarray(places, dtype=np.intp)].tolist()
        return [None if isnan(one) else one for one in money]


class AwaitedColumns(ArrivedRows):
    """Rows whose labels were bought, and which of these are still awaited."""

    def __init__(self, rows: ArrivedRows, places: Counts) -> None:
        own = rows.chosen(places)
        super().__init__(own.keys, own._points, own.ids, own.decided, own._money)
        self._awaited, self._left = np.ones(len(places), dtype=bool), len(places)

    def __len__(self) -> int:
        return self._left

    def all_entries(self) -> list[Entry]:
        """The entries of those that are still awaited."""
        return self.entries_at(np.flatnonzero(self._awaited).tolist())

    def has_any(self, ids: Iterable[str]) -> bool:
        """Whether one of these ids may be among them: numbers are not looked at one by one."""
        if isinstance(self.ids, np.ndarray):
            return any(map(str.isdecimal, ids))
        return not self._places.keys().isdisjoint(ids)

    def find(self, ids: list[str]) -> FoundRows | None:
        """The labels of these ids, if all of them are awaited here and each comes once."""
        if not isinstance(self.ids, np.ndarray):
            found = list(map(self._places.get, ids))
            places = None if None in found else np.array(found, dtype=np.int64)
        else:
            places = self._find_numbers(ids, self.ids)
        if places is None or not self._awaited[places].all():
            return None
        once = np.zeros(len(self.ids), dtype=bool)
        once[places] = True
        return FoundRows(self, places, ids) if np.count_nonzero(once) == len(ids) else None

    @staticmethod
    def _find_numbers(ids: list[str], numbers: Counts) -> Counts | None:
        """Where these ids stand among the numbers of automatic ones, if all of them do."""
        wanted = plain_numbers(ids)
        if wanted is None:
            return None
        places = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
        return places if np.array_equal(numbers[places], wanted) else None

    def tell(self, places: Counts) -> None:
        """The labels of these rows are not awaited any more."""
        self._awaited[places] = False
        self._left -= len(places)


def plain_numbers(ids: Sequence[str]) -> Counts | None:
    """The numbers that these are, if all of them are written as automatic ids are.

    >>> plain_numbers(["7", "12"]), plain_numbers(["07"]), plain_numbers(["case 7"]), plain_numbers(["7", ""])
    (array([ 7, 12]), None, None, None)
    """
    joined = "".join(ids)
    if not (joined.isascii() and joined.isdecimal()):
        return None
    try:
        numbers = np.fromiter(map(int, ids), dtype=np.int64, count=len(ids))
    except (ValueError, OverflowError):  # one is empty, or too long
        return None
    digits = np.searchsorted(POWERS_OF_TEN, numbers, side="right")
    return numbers if digits.sum() == len(joined) else None  # else one begins with 0


def _enter(state: State, batch: ArrivedRows, names: NewIds | None) -> None:
    """The book takes up labels that are awaited, and the last arrivals that were not asked about."""
    book, columns = state.book, batch.decided.columns
    asked = np.flatnonzero(columns.wants_label)
    if len(asked) >= FEWEST_IN_COLUMNS or book.unwritten:
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
