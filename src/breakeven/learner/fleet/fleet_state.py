"""The state of a fleet: columns of keys, types of keys and labels, and the texts behind their numbers.

What a key learns across its types is what a learner of its own would, from the same numbers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.beliefs.belief import ENOUGH_TO_FIT, REFIT_GROWTH
from breakeven.beliefs.types.across_types import AcrossTypes
from breakeven.beliefs.types.weighing import noise_weight
from breakeven.errors import TornLearner, UnknownId, expect
from breakeven.learner.bulk.arrays import Counts, TypeArrays
from breakeven.learner.bulk.judges import Met
from breakeven.learner.bulk.worth_loop import ARRIVALS, ASKED, OVERLOOKED, TOLD, TYPES
from breakeven.learner.fleet.indexed_columns import GrowingColumns, IndexedColumns, Kind
from breakeven.learner.fleet.labels_by_id import ExactSums, LabelsById
from breakeven.learner.fleet.passing import TypeSums
from breakeven.learner.fleet.vocabulary import Vocabulary
from breakeven.learner.learner import Learner

MEMBER_KINDS = {
    "zero": Kind("i8"),
    "code": Kind("i8"),
    "rounds": Kind("i8"),
    "number": Kind("i8", 1),
    "next_number": Kind("i8", 1),
    "asked": Kind("i8"),
    "bought": Kind("i8"),
    "fits": Kind("i8"),
    "fitted_at": Kind("i8"),
    "fitted_rounds": Kind("i8"),
    "spend": Kind("f8", 0.0, 2),
    "memory": Kind("f8", 0.0, 2),
    "census": Kind("i8", 0, 5),
    "prior_mean": Kind("f8"),
    "prior_std": Kind("f8"),
    "prior_worth": Kind("f8"),
    "due_at": Kind("f8"),
}
CELL_KINDS = {
    "key": Kind("i8"),
    "type": Kind("i8"),
    "arrivals": Kind("i8"),
    "asked": Kind("f8"),
    "told": Kind("f8"),
    "mean": Kind("f8"),
    "parts": Kind("f8", 0.0, 2),
}


class FleetState:
    """One row for every key (`members`), every type of a key (`cells`) and every label that is kept."""

    def __init__(self, template: Learner, told_window: int, early_window: int) -> None:
        self.template, self.learner = template, template.state
        belief = self.learner.belief
        assert isinstance(belief, TypeMeans)  # as was checked
        self.keys, self.types, self.ids = Vocabulary("keys"), Vocabulary("xs", named=False), Vocabulary("ids")
        self.members, self.cells = IndexedColumns(MEMBER_KINDS), IndexedColumns(CELL_KINDS)
        self.labels = LabelsById(told_window, early_window)
        self.spend, self.sums = ExactSums(self.members, "spend"), ExactSums(self.cells, "parts")
        self.priors = LearntPriors(belief, self.members, self.cells)
        self.torn = False

    @contextmanager
    def changing(self) -> Iterator[None]:
        """A change of the columns; one that is cut off leaves the fleet torn."""
        self.check_whole()
        self.torn = True
        yield
        self.torn = False

    def check_whole(self) -> None:
        """Raise if a change was cut off."""
        if self.torn:
            raise TornLearner(
                "fleet: expected a whole one, got a torn one: a call was cut off in the middle of a change; "
                "load it from its last dump, and repeat the calls after that"
            )

    def name_of(self, key: Any) -> str:
        """The name of a key's stream: the key as text."""
        return str(key)

    def row_of(self, key: Any) -> int:
        """Where a key that had arrivals stands in the columns."""
        if (row := self.find(key)) is None:
            raise UnknownId(f"key: expected one that had an arrival, got {expect.shown(key)}")
        return row

    def find(self, key: Any) -> int | None:
        """The same; None for a key that had none."""
        code = self.keys.known_code(key)
        if code is None or not len(self.members):
            return None
        row = int(self.members.find(np.zeros(1, dtype=np.int64), np.array([code]))[0])
        return row if row >= 0 and self.members["rounds"][row] else None

    def members_of(self, codes: Counts) -> Counts:
        """The rows of these keys; new ones begin as the configuration says."""
        known = len(self.members)
        rows = self.members.meet(np.zeros(len(codes), dtype=np.int64), codes)
        if len(self.members) > known:
            self.priors.begin(known)
            rule = self.learner.rule
            self.members["memory"][known:] = getattr(rule, "theta", 0.0), getattr(rule, "lately", 0.0)
        return rows

    def cells_of(self, key: Counts, types: Counts) -> Counts:
        """The cells of these types; new ones are predicted as their key predicts without labels."""
        known = len(self.cells)
        rows = self.cells.meet(key, types)
        self.cells["mean"][known:] = self.members["prior_mean"][self.cells["key"][known:]]
        return rows

    def type_arrays(self) -> TypeArrays:
        """What is known of every cell, as the loops read and write it."""
        return TypeArrays(*(self.cells[name] for name in TypeArrays._fields))

    def type_sums(self) -> TypeSums:
        """What telling changes."""
        names = ("asked", "number", "census", "prior_mean", "prior_worth", "due_at")
        return TypeSums(self.type_arrays(), *(self.members[name] for name in names))

    def recount(self) -> None:
        """Work out again what the counts and sums of the cells say: by key, and the predictions."""
        members, cells, count = self.members, self.cells, len(self.members)

        def total(values: Any) -> Any:
            return np.bincount(cells["key"], weights=values, minlength=count).astype(np.int64)

        arrivals, asked, told = cells["arrivals"], cells["asked"], cells["told"]
        members["asked"][:] = total(asked)
        census = members["census"]
        census[:, ARRIVALS], census[:, TYPES] = total(arrivals), total(arrivals > 0)
        census[:, ASKED], census[:, TOLD] = total(asked > 0), total(told > 0)
        census[:, OVERLOOKED] = total(np.where(asked > 0, 0, arrivals))
        self.priors.predict()


# -- what keys learn ---------------------------------------------------------------------------------


class LearntPriors:
    """The priors of all keys, in the columns of the fleet."""

    def __init__(self, belief: TypeMeans, members: GrowingColumns, cells: GrowingColumns) -> None:
        self._belief, self._members, self._cells = belief, members, cells
        self.learns = belief.prior_std == "learn"

    def begin(self, first: int) -> None:
        """Keys from this one on are new."""
        members, prior = self._members, self._belief.across.prior
        members["prior_mean"][first:] = prior.mean
        members["prior_std"][first:] = prior.std
        members["prior_worth"][first:] = prior.worth
        members["due_at"][first:] = self._belief.across.due_at

    def by_key(self) -> "CellsByKey":
        """The cells of every key."""
        return CellsByKey(self._cells["key"])

    def guess(self, keys: Counts, cells: "CellsByKey") -> None:
        """Labels of these keys changed: those that have learnt nothing yet take the mean of their types."""
        unknown = np.unique(keys[self._members["fitted_at"][keys] == 0])
        for key in unknown.tolist():
            self._believe(key, cells.of(key), self._across(key, cells.of(key)))

    def fit(self, key: int, cells: "CellsByKey") -> None:
        """Enough types of this key have labels: learn what they have in common."""
        rows = cells.of(key)
        across = self._across(key, rows)
        across.adopt(across.fit())
        self._believe(key, rows, across)
        self._members["number"][key] += 1
        self._members["fits"][key] += 1

    def predict(self) -> None:
        """Work out priors and predictions anew, from counts, sums and what was learnt."""
        members, cells, belief = self._members, self._cells, self._belief
        fitted = np.flatnonzero(members["fitted_at"])
        stds = members["prior_std"][fitted].tolist()
        members["prior_worth"][fitted] = [noise_weight(belief.noise_std, std) for std in stds]
        members["due_at"][fitted] = np.maximum(ENOUGH_TO_FIT, REFIT_GROWTH * members["fitted_at"][fitted])
        key, told = cells["key"], cells["told"]
        worth, prior = members["prior_worth"][key], members["prior_mean"][key]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = cells["parts"][:, 0] / told
            weighed = np.where(worth > 0, (worth * prior + told * means) / (worth + told), means)
        cells["mean"][:] = np.where(told > 0, weighed, prior)
        if self.learns:
            self.guess(np.unique(key[told > 0]), self.by_key())

    def state(self, key: int) -> dict[str, float] | None:
        """What a key has learnt, as its belief would keep it."""
        members = self._members
        if not members["fitted_at"][key]:
            return None
        return {
            "prior_mean": float(members["prior_mean"][key]),
            "prior_std": float(members["prior_std"][key]),
            "types": int(members["fitted_at"][key]),
            "changes": 0,
            "rounds": int(members["fitted_rounds"][key]),
        }

    def _across(self, key: int, rows: Counts) -> AcrossTypes:
        belief, types = self._belief, TypeArrays(*(self._cells[name][rows] for name in TypeArrays._fields))
        met = Met(range(len(rows)), dict, self._members["census"][key], types)
        across = AcrossTypes(met, belief.noise_std, belief.prior_mean, belief.prior_std)
        across.load(self.state(key))
        self._met = met
        return across

    def _believe(self, key: int, rows: Counts, across: AcrossTypes) -> None:
        """Take up the prior and the predictions under it."""
        members, state = self._members, across.state()
        self._cells["mean"][rows] = self._met.types.mean
        prior = across.prior
        members["prior_mean"][key], members["prior_std"][key] = prior.mean, prior.std
        members["prior_worth"][key], members["due_at"][key] = prior.worth, across.due_at
        if state is not None:
            members["fitted_at"][key], members["fitted_rounds"][key] = state["types"], state["rounds"]


class CellsByKey:
    """Which cells belong to a key."""

    def __init__(self, keys: Counts) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def of(self, key: int) -> Counts:
        """The cells of this key, in the order in which their types were met."""
        low, high = np.searchsorted(self._keys, (key, key + 1))
        return self._order[low:high]
