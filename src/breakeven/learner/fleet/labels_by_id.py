"""The labels of a fleet by key and id: awaited, told or withdrawn lately, and those ahead of their arrival.

Awaited labels are kept until they come or are withdrawn. Of the others two windows are kept, for all keys
together: the last `told_window` that were told or withdrawn, and the last `early_window` that came early.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.errors.expect import Array
from breakeven.learner.bulk import loops
from breakeven.learner.bulk.arrays import Counts, Truths
from breakeven.learner.fleet import passing
from breakeven.learner.fleet.indexed_columns import FREE, IndexedColumns, Kind, Rows
from breakeven.learner.fleet.passing import (
    NO_CELL,
    NOT_WITHDRAWN,
    WAS_EARLY,
    BoughtRows,
    LabelColumns,
    TypeSums,
    Windows,
)
from breakeven.learner.fleet.vocabulary import Vocabulary

FEWEST_IDS = 1024  # texts that are kept in any case
LEAST_ID, MOST_ID = -(2**63), 2**63 - 1

LABEL_KINDS = {
    "key": Kind("i8"),
    "id": Kind("i8"),
    "cell": Kind("i8"),
    "round": Kind("i8"),
    "number": Kind("i8"),
    "given": Kind("f8", np.nan),
    "y": Kind("f8", np.nan),
    "withdrawn": Kind("i1", NOT_WITHDRAWN),
}


class LabelsById:
    """Rows of labels, found by key and id."""

    def __init__(self, told_window: int, early_window: int) -> None:
        self.columns = IndexedColumns(LABEL_KINDS)
        self._settled: Rows = np.full(told_window, FREE, dtype=np.int32)
        self._early: Rows = np.full(early_window, FREE, dtype=np.int32)
        self._free: Rows = np.empty(0, dtype=np.int32)
        self._ends = np.zeros(3, dtype=np.int64)  # labels settled, come early, and free rows
        self._entered = 0  # since the index was made
        self._largest = LEAST_ID  # no label had a larger id

    def __len__(self) -> int:
        return len(self.columns) - int(self._ends[2])

    @property
    def windows(self) -> tuple[int, int]:
        """How many labels are kept that are settled, and that came early."""
        return len(self._settled), len(self._early)

    def _reserve(self, more: int) -> None:
        """Make room for more labels."""
        self.columns.reserve(len(self.columns) + more)
        if len(self._free) < self.columns.room:
            self._free = np.append(self._free, np.empty(self.columns.room - len(self._free), dtype=np.int32))
        self._entered += more
        if 2 * self._entered > len(self.columns.table):
            rows = self.in_use()
            self.columns.index(rows, room=2 * (len(rows) + more))
            self._entered = len(rows) + more

    def in_use(self) -> Counts:
        """The rows that hold labels."""
        held = np.ones(len(self.columns), dtype=bool)
        held[self._free[: self._ends[2]]] = False
        return np.flatnonzero(held)

    def _parts(self) -> tuple[Rows, LabelColumns, Windows]:
        columns = LabelColumns(*(self.columns.with_room(name) for name in LabelColumns._fields))
        return self.columns.table, columns, Windows(self._settled, self._early, self._free, self._ends)

    # -- finding ---------------------------------------------------------------------------------

    def find(self, keys: Counts, ids: Counts) -> Counts:
        """The rows of these labels, −1 where they are not known."""
        if not len(self) or ids.min(initial=MOST_ID) > self._largest:  # ids that count on are new at a glance
            return np.full(len(keys), -1)
        return self.columns.find(keys, ids)

    def _note(self, ids: Counts) -> None:
        """Labels with these ids may be kept from now on."""
        self._largest = max(self._largest, int(ids.max(initial=LEAST_ID)))

    def early(self, rows: Counts) -> Truths:
        """Which of these rows hold a label that is ahead of its arrival."""
        return (rows >= 0) & (self.columns["cell"][rows] == NO_CELL) if len(self) else rows >= 0

    def counts(self) -> tuple[int, int, int]:
        """How many labels are awaited, settled and early."""
        rows = self.in_use()
        cell, settled = self.columns["cell"][rows], ~np.isnan(self.columns["y"][rows])
        early = cell == NO_CELL
        settled |= self.columns["withdrawn"][rows] != NOT_WITHDRAWN
        return int((~early & ~settled).sum()), int((settled & ~early).sum()), int(early.sum())

    # -- changing --------------------------------------------------------------------------------

    def buy(self, labels: BoughtRows, bought: Counts, spend: "ExactSums") -> Array:
        """Labels are asked for; the values of those that came early, NaN for the others."""
        self._reserve(len(labels.wanted))
        self._note(labels.ids[labels.wanted])
        ahead, done = np.empty(len(labels.wanted)), 0
        while True:
            done, used = passing.buy(
                *self._parts(), len(self.columns), labels, bought, spend.parts, spend.space, ahead, done
            )
            self.columns.use(used)
            if done == len(labels.wanted):
                return ahead
            spend.widen()

    def drop(self, rows: Counts) -> None:
        """These came early, for arrivals that were not asked about; or they were taken back."""
        passing.drop(*self._parts(), rows)

    def tell(
        self, keys: Counts, ids: Counts, ys: Array, sums: TypeSums, counts: Counts, start: int
    ) -> tuple[int, int]:
        """Tell labels from `start` on: the next one, and why it stopped."""
        self._reserve(len(keys) - start)
        self._note(ids[start:])
        early = counts[WAS_EARLY]
        space = np.empty((2, 2 * sums.types.parts.shape[1] + 4))
        done, used, why = passing.tell(
            *self._parts(), len(self.columns), keys, ids, ys, sums, space, counts, start
        )
        self.columns.use(used)
        self._entered -= len(keys) - start - int(counts[WAS_EARLY] - early)  # the others were known
        return done, why

    def settle(self, row: int) -> None:
        """Nothing is awaited of this label any more."""
        passing.settle(*self._parts(), row)

    def admit(self, columns: dict[str, NDArray[Any]], awaited: int) -> None:
        """Labels of a new key join: so many awaited, then settled ones in the order of that."""
        count, first = len(columns["key"]), len(self.columns)
        self._reserve(count)
        self._note(columns["id"])
        self.columns.use(first + count)
        for name, values in columns.items():
            self.columns[name][first:] = values
        self.columns.enter(np.arange(first, first + count))
        for row in range(first + awaited, first + count):
            self.settle(row)

    def forget_ids(self, ids: Vocabulary) -> None:
        """Let go of the texts of ids that no label has any more, once they are most of them."""
        if len(ids.texts) <= max(FEWEST_IDS, 4 * len(self)):
            return
        rows = self.in_use()
        self.columns["id"][rows] = ids.forget_others(self.columns["id"][rows])
        self.columns.index(rows, room=2 * len(rows))
        self._entered = len(rows)

    # -- keeping ---------------------------------------------------------------------------------

    def rows_by_kind(self) -> tuple[Counts, Counts, Counts]:
        """The rows of labels awaited, settled and early, each in the order in which they became that."""
        rows = self.in_use()
        settled, early = self._ring(self._settled, 0), self._ring(self._early, 1)
        others = np.zeros(len(self.columns), dtype=bool)
        others[rows] = True
        others[settled] = others[early] = False
        awaited = np.flatnonzero(others)
        order = np.lexsort((self.columns["number"][awaited], self.columns["key"][awaited]))
        return awaited[order], settled, early

    def _ring(self, ring: Rows, which: int) -> Counts:
        """The rows in a ring, oldest first."""
        if not len(ring):
            return np.empty(0, dtype=np.int64)
        end = int(self._ends[which])
        turned = ring[:end] if end <= len(ring) else np.roll(ring, -(end % len(ring)))
        return np.asarray(turned[turned != FREE], dtype=np.int64)

    def put(self, columns: dict[str, NDArray[Any]], counts: tuple[int, int, int]) -> bool:
        """Take up labels awaited, then settled, then early; whether each is there once."""
        self.columns.put(columns)
        self._note(columns["id"])
        awaited, settled, early = counts
        kept = min(settled, len(self._settled)), min(early, len(self._early))
        self._settled[:], self._early[:] = FREE, FREE
        behind = awaited + settled
        self._settled[: kept[0]] = np.arange(behind - kept[0], behind)
        total = behind + early
        self._early[: kept[1]] = np.arange(total - kept[1], total)
        self.columns["number"][total - kept[1] :] = np.arange(kept[1])
        self._ends[:] = (*kept, 0)
        dropped = np.r_[awaited : behind - kept[0], behind : total - kept[1]]
        held = np.r_[:awaited, behind - kept[0] : behind, total - kept[1] : total]
        self._free = np.empty(self.columns.room, dtype=np.int32)
        self._free[: len(dropped)] = dropped
        self._ends[2] = len(dropped)
        self._entered = len(held)
        return self.columns.index(held, room=2 * len(held)) < 0


class ExactSums:
    """Exact sums, one for each key, that grow by a part where they must."""

    def __init__(self, columns: Any, name: str) -> None:
        self._columns, self._name = columns, name

    @property
    def parts(self) -> Array:
        """A row of parts for each."""
        parts: Array = self._columns[self._name]
        return parts

    @property
    def space(self) -> Array:
        """Where a sum is worked out."""
        return np.empty((2, 2 * self.parts.shape[1] + 4))

    def add(self, row: int, number: float) -> None:
        """Add to one sum."""
        while not loops.add(self.parts, row, number, self.space):
            self.widen()

    def widen(self) -> None:
        """Every sum has twice the parts from now on."""
        self._columns.widen(self._name, 2 * self.parts.shape[1])
