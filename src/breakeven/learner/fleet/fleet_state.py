"""The state of a fleet: columns of keys, types of keys and labels, and the texts behind their numbers."""

from typing import Any

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.errors import UnknownId, expect
from breakeven.learner.bulk.arrays import Counts, TypeArrays
from breakeven.learner.bulk.worth_loop import ARRIVALS, ASKED, OVERLOOKED, TOLD, TYPES
from breakeven.learner.fleet.growing import Kind
from breakeven.learner.fleet.labels_by_id import ExactSums, LabelsById
from breakeven.learner.fleet.learning import LearntPriors
from breakeven.learner.fleet.pair_index import IndexedColumns
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
        self.template = Learner.of(template.config())
        self.learner = self.template.state
        belief = self.learner.belief
        assert isinstance(belief, TypeMeans)  # as was checked
        self.keys, self.types, self.ids = Vocabulary("keys"), Vocabulary("xs", named=False), Vocabulary("ids")
        self.members, self.cells = IndexedColumns(MEMBER_KINDS), IndexedColumns(CELL_KINDS)
        self.labels = LabelsById(told_window, early_window)
        self.spend, self.sums = ExactSums(self.members, "spend"), ExactSums(self.cells, "parts")
        self.priors = LearntPriors(belief, self.members, self.cells)

    def name_of(self, key: Any) -> str:
        """The name of a key's stream: the key as text."""
        return str(key)

    def row_of(self, key: Any) -> int:
        """Where a key that had arrivals stands in the columns."""
        code = self.keys.known_code(key)
        row = -1
        if code is not None and len(self.members):
            row = int(self.members.find(np.zeros(1, dtype=np.int64), np.array([code]))[0])
        if row < 0 or not self.members["rounds"][row]:
            raise UnknownId(f"key: expected one that had an arrival, got {expect.shown(key)}")
        return row

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
