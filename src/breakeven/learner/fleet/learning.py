"""What each key of a fleet learns across its types: as a learner of its own would, from the same numbers."""

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.beliefs.belief import ENOUGH_TO_FIT, REFIT_GROWTH
from breakeven.beliefs.types.across_types import AcrossTypes
from breakeven.beliefs.types.weighing import noise_weight
from breakeven.learner.bulk.arrays import Counts, TypeArrays
from breakeven.learner.bulk.judges import Met
from breakeven.learner.fleet.growing import GrowingColumns


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
        met = Met(range(len(rows)), {}, self._members["census"][key], types)
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
