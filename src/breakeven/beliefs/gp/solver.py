"""What a Gaussian process needs from linear algebra, and what rules see of the answer.

A `Solver` answers one question, what is known of f at x, and keeps the labels told and awaited. The exact
solver and the dictionary are the two there are. Notation: C is the covariance of f at a block's points given
all labels told and awaited; its diagonal is the narrowed variance.
"""

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs.belief import Key
from breakeven.beliefs.gp.factor import GrowingTable, floats
from breakeven.beliefs.gp.kernels import Parameters
from breakeven.beliefs.gp.reservoir import Reservoir
from breakeven.errors.expect import Array
from breakeven.values import Saving, Traits, View, normal_answer

NOTHING_AWAITED = np.empty(0)
COLUMNS_PER_SOLVE = 256  # predictions made together


class Solved(msgspec.Struct, gc=False):
    """What one triangular solve says of a point; v and u are the solver's own."""

    mean: float
    variance: float  # given the labels told
    narrowed: float  # given also those awaited
    v: Array
    u: Array


class Block:
    """Means and variances at a few points, kept up to date while labels are asked for among them.

    Asking for the label of point j takes c cᵀ/(C_jj + σ²) off C, c being its column; points are taken in
    order, so what lies before j stays as it was. Only decisions come from here: a point that is asked about
    is solved again, alone, before it enters a factor.
    """

    def __init__(self, means: Array, variances: Array, covariance: Array, noise_variance: float) -> None:
        self.means, self.variances = means, variances
        self._covariance = covariance
        self._noise_variance = noise_variance
        self.narrowed = self._narrowed()

    def _narrowed(self) -> Array:
        """The variances, given also what is awaited."""
        return np.maximum(self._covariance.diagonal(), 0.0)

    def ask(self, j: int, noise: float = 0.0) -> Array:
        """A label of point j is awaited. Returns how far the means from j on move if that label is 1 off.

        `noise` is its variance, if not the process's own.
        """
        rest = self._covariance[j:, j:]
        c = rest[0].copy()
        gain: Array = c / (max(float(c[0]), 0.0) + (noise or self._noise_variance))
        rest -= np.multiply.outer(c, gain)
        self.narrowed = self._narrowed()
        return gain

    def tell(self, j: int, y: float, noise: float = 0.0) -> None:
        """The label of point j was asked for and came at once, and no other is awaited."""
        self.means[j:] += self.ask(j, noise) * (y - self.means[j])
        self.variances = self.narrowed


class Solver(Protocol):
    """The posterior of a Gaussian process, given labels told, with others awaited.

    Labels are named by keys. A noise is a label's own noise variance, or 0 for that of the process.
    """

    kind: str  # its name in a snapshot
    parameters: Parameters
    reservoir: Reservoir | None

    @property
    def labels(self) -> int:
        """How many labels are told."""
        ...

    @property
    def awaited(self) -> int:
        """How many labels are awaited."""
        ...

    @property
    def X(self) -> Array:
        """The points of the labels told, a row each."""
        ...

    @property
    def y(self) -> Array:
        """The labels told."""
        ...

    @property
    def noise(self) -> Array:
        """The noise variance of each, 0 for the process's own."""
        ...

    @property
    def rank(self) -> int:
        """How many points an arrival is compared with."""
        ...

    @property
    def stretch(self) -> float:
        """The exact std lies within this factor, both ways; 1 where nothing is approximated."""
        ...

    @property
    def labels_for_a_fit(self) -> int | None:
        """How many labels a fit should look at, at most."""
        ...

    def noise_of(self, noise: float) -> float:
        """The variance that a stored noise stands for."""
        ...

    def knows(self, key: Key) -> bool:
        """Whether a label told has this key."""
        ...

    def told_labels(self) -> list[tuple[Key, Array, float, float]]:
        """Key, point, noise and value of the labels told, in their order."""
        ...

    def awaited_labels(self) -> list[tuple[Key, Array, float]]:
        """Key, point and noise of the labels awaited, oldest first."""
        ...

    def solve(self, x: Array, *, awaited: bool = True) -> Solved:
        """Mean and variance at x, and the variance narrowed by the labels awaited."""
        ...

    def solve_many(self, X: Array) -> tuple[Array, Array]:
        """Means and variances at many points, given the labels told."""
        ...

    def block(self, X: Array) -> Block:
        """A block of arrivals, by one triangular solve."""
        ...

    def log_likelihood(self) -> float:
        """The log marginal likelihood of the labels told."""
        ...

    def ask(self, key: Key, x: Array, solved: Solved, noise: float = 0.0) -> None:
        """A label is awaited at x, where `solved` was just computed."""
        ...

    def tell(self, key: Key, y: float) -> tuple[float, float]:
        """An awaited label came; mean and variance there, after it."""
        ...

    def correct(self, key: Key, y: float) -> None:
        """A told label changes its value: only means move."""
        ...

    def withdraw_awaited(self, key: Key) -> tuple[Array, float]:
        """An awaited label will not come; its point and noise."""
        ...

    def withdraw_told(self, key: Key) -> tuple[Array, float]:
        """A told label goes; its point and noise."""
        ...

    def release(self, key: Key) -> None:
        """Forget a label's key."""
        ...

    def detach(self) -> None:
        """Forget all keys and all labels awaited."""
        ...

    def drop(self, which: NDArray[np.bool_]) -> None:
        """Some of the told labels go, and everything is computed anew."""
        ...

    def adopt(self, parameters: Parameters) -> None:
        """Other parameters: everything is computed anew."""
        ...

    def watch(self, reservoir: Reservoir | None) -> None:
        """Keep a reservoir from now on; what it holds already is surveyed."""
        ...

    def meet(self, x: Array, solved: Solved) -> None:
        """An arrival, at which `solved` was just computed, may stand for those to come."""
        ...

    def age(self, left: float, now: float) -> None:
        """A round passed: what labels say about the reservoir fades, and the factor `left` remains."""
        ...

    def reach(self, x: Array, solved: Solved) -> Array:
        """The covariance of f at x with f at each point of the reservoir, given all labels asked for."""
        ...

    def describe(self) -> dict[str, Any]:
        """What is approximated, for people."""
        ...

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; floats as their bytes."""
        ...

    def load(self, state: dict[str, Any], parameters: Parameters) -> None:
        """Take up a state that `state` gave; raises where its parts do not fit together."""
        ...


class KeyList:
    """The keys of labels in their order, and the place of each.

    >>> keys = KeyList([4, None, 9])
    >>> keys.remove(0)
    >>> keys.place(9), keys.place(None), 4 in keys
    (1, 0, False)
    """

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self.all = list(keys)
        self._places: dict[Key, int] | None = None  # made when first asked for
        self._gone = 0  # keys that left from the front since

    def _index(self) -> dict[Key, int]:
        if self._places is None:
            self._gone = 0
            self._places = {key: i for i, key in enumerate(self.all) if key is not None}
        return self._places

    def __len__(self) -> int:
        return len(self.all)

    def __contains__(self, key: Key) -> bool:
        return key in self._index()

    def place(self, key: Key) -> int:
        """The place of this key; for None, the last place without a key."""
        if key is not None:
            return self._index()[key] - self._gone
        return len(self.all) - 1 - self.all[::-1].index(None)

    def append(self, key: Key) -> None:
        """One more at the end."""
        if self._places is not None and key is not None:
            self._places[key] = self._gone + len(self.all)
        self.all.append(key)

    def remove(self, j: int) -> None:
        """Take one out, and let those behind move up."""
        key = self.all.pop(j)
        if j == 0 and self._places is not None:
            self._gone += 1
            self._places.pop(key, None)
        else:
            self._places = None

    def release(self, key: Key) -> None:
        """Forget a key, but not its place."""
        if key in self:
            self.all[self.place(key)] = None
            del self._index()[key]


class ToldTable(GrowingTable):
    """The labels told, a column each: point, noise, y and one number more; X and `last` are at hand."""

    def _show(self, all: Array) -> None:
        self.all, self.X, self.last = all, all[:-3], all[-1]

    @property
    def y(self) -> Array:
        """The labels."""
        labels: Array = self.all[-2]
        return labels

    def add(self, x: Array, noise: float, y: float, last: float) -> None:
        """One more label."""
        self._grow_wider()
        self.X[:, -1] = x
        self.all[-3, -1], self.all[-2, -1], self.last[-1] = noise, y, last

    @staticmethod
    def of(dim: int, columns: Array | None = None) -> "ToldTable":
        """The table of these labels, or of none."""
        columns = np.empty((dim + 3, 0)) if columns is None else columns
        return ToldTable(columns.shape[1], columns)


class LabelledPoints:
    """What both solvers keep: the labels told, their keys, and the parameters they are seen through."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.keys = KeyList()
        self._told = ToldTable.of(dim)

    def _take(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._kernel = parameters.covariance
        self._weights = self._kernel.weights(self.dim)
        self._mean, self._amplitude = parameters.mean, parameters.kernel.amplitude
        self._noise_variance, self._least_noise = parameters.noise_variance, parameters.least_noise

    @property
    def labels(self) -> int:
        """How many labels are told."""
        return len(self.keys.all)

    @property
    def X(self) -> Array:
        """The points of the labels told, a row each."""
        return self._told.X.T

    @property
    def y(self) -> Array:
        """The labels told."""
        return self._told.y

    @property
    def noise(self) -> Array:
        """The noise variance of each label, 0 for the process's own."""
        noise: Array = self._told.all[-3]
        return noise

    def noise_of(self, noise: float) -> float:
        """The variance that a stored one stands for."""
        return max(noise, self._least_noise) if noise else self._noise_variance

    def knows(self, key: Key) -> bool:
        """Whether a label told has this key."""
        return key in self.keys

    def told_labels(self) -> list[tuple[Key, Array, float, float]]:
        """Key, point, noise and value of the labels told, in their order."""
        return list(zip(self.keys.all, self.X.copy(), self.noise.tolist(), self.y.tolist(), strict=True))


def read_keys(keys: Any) -> KeyList:
    """Keys from a state: whole numbers or None, none twice."""
    named = [key for key in keys if key is not None]
    if type(keys) is not list or len(set(named)) != len(named):
        raise ValueError("expected every key once")
    return KeyList(keys)


def read_reservoir(dim: int, state: dict[str, Any] | None, features: int, awaited: int) -> Reservoir | None:
    """The reservoir of a state, if there is one; raises unless it has this many features and labels."""
    if state is None:
        return None
    reservoir = Reservoir.of(dim, state)
    if (reservoir.V.shape[1], len(reservoir.W)) != (features, awaited):
        raise ValueError("expected a reservoir of the same labels")
    return reservoir


def read_told(dim: int, data: bytes, labels: int) -> ToldTable:
    """The labels told, from their bytes."""
    return ToldTable.of(dim, floats(data, dim + 3, labels))


# -- what a rule sees ----------------------------------------------------------------------------


def own_variance(noise_std: float | None) -> float:
    """A label's own noise variance as solvers store it: 0 where it has none."""
    return 0.0 if noise_std is None else noise_std * noise_std


class SolvedView(View):
    """A rule's view of one arrival, with the solve behind it, and the process that made it."""

    solved: Solved | None = None
    point: Any = None
    process: Any = None

    def saves(self, noise_std: float) -> Saving:
        """What a label of this noise would take off the errors, here and at arrivals to come."""
        saving: Saving = self.process.saving(self.point, self.solved, noise_std)
        return saving


class Solving(Protocol):
    """What the views of a block need to know of their process."""

    solver: Solver
    traits: Traits
    shift: float

    @property
    def asked(self) -> int:
        """Labels told and awaited."""
        ...


class BlockLooks:
    """The views of a block of arrivals."""

    def __init__(self, process: Solving, X: Array) -> None:
        self._process, self._solver = process, process.solver
        self._block = self._solver.block(X)
        self._parameters, self._awaited = self._solver.parameters, self._solver.awaited
        self._note()

    def _note(self) -> None:
        """Write down what holds until the next label: lists are read faster than arrays."""
        process, block = self._process, self._block
        self._traits, self._labels, self._stretch = process.traits, process.asked, process.solver.stretch
        self._means, self._narrowed = block.means.tolist(), np.sqrt(block.narrowed).tolist()
        alike = block.variances is block.narrowed
        self._stds = self._narrowed if alike else np.sqrt(block.variances).tolist()

    def look(self, i: int) -> View:
        """The view of arrival i; what enters a factor is solved again, alone."""
        traits = self._traits
        prediction = normal_answer(self._means[i], self._stds[i], traits.noise_std, self._process.shift)
        view = SolvedView(self._narrowed[i], prediction, None, self._labels, traits)
        view.stretch = self._stretch
        return view

    def asked(self, i: int, noise_std: float | None = None) -> None:
        """Narrow the arrivals behind i."""
        self._block.ask(i, self._solver.noise_of(own_variance(noise_std)))
        self._note()

    def told(self, i: int, y: float, noise_std: float | None = None) -> bool:
        """Move the arrivals behind i, unless a fit, another solver or labels awaited make that too little."""
        now = self._process.solver
        if now is not self._solver or now.parameters is not self._parameters or self._awaited:
            return False
        self._block.tell(i, y, self._solver.noise_of(own_variance(noise_std)))
        self._note()
        return True
