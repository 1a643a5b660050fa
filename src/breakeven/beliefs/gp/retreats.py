"""What a process gives up when a label refutes it: labels from before a change, and its parameters.

Labels set aside can still be corrected, withdrawn and reopened; all of it comes back if the label that
refuted the process was wrong.
"""

from typing import Any, Literal

import msgspec
import numpy as np

from breakeven.beliefs.belief import Key
from breakeven.beliefs.change import CHANGE_SEARCHED, best_split
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.gp.capacity import Label
from breakeven.beliefs.gp.evidence import evidence
from breakeven.beliefs.gp.kernels import Parameters, checked_parameters
from breakeven.beliefs.gp.solver import Solver
from breakeven.errors import expect

NOISES_TRIED = (1.0, 4.0, 16.0, 64.0, 256.0)  # times the noise variance, where a change is looked for


def labels_before_change(solver: Solver) -> int:
    """How many labels, the first told, lie before the change that explains them best; 0 if none does.

    It is looked for among the last labels told, by their marginal likelihood with the parameters as they
    are, and with more noise: that the noise was fitted too small is no change.
    """
    parameters, kernel = solver.parameters, solver.parameters.covariance
    older = max(solver.labels - CHANGE_SEARCHED, 0)
    X, y = np.ascontiguousarray(solver.X[older:].T), solver.y[older:] - parameters.mean
    noise = np.diag([solver.noise_of(one) for one in solver.noise[older:].tolist()])
    with one_thread:
        covariance = kernel.matrix(X, X, kernel.weights(len(X)))
        parts = [evidence(covariance + factor * noise, y) for factor in NOISES_TRIED]
    split = best_split([before for before, _ in parts], [after for _, after in parts], y)
    return older + split if split else 0


class Retreat(msgspec.Struct):
    """What a process gave up when a label, named by its key, refuted it: labels told, and parameters."""

    key: int
    labels: list[tuple[Key, list[float], float, float]]
    parameters: dict[str, Any]


class Retreats:
    """All that a process has given up so far.

    >>> from breakeven.beliefs.gp import SquaredExponential
    >>> retreats = Retreats()
    >>> retreats.begin(7, [(1, np.array([0.5]), 0.0, 2.0)], Parameters(SquaredExponential(), 0.1))
    >>> retreats.correct(1, 3.0), retreats.correct(2, 3.0)
    (True, False)
    >>> retreats.end(7)[0]
    [(1, array([0.5]), 0.0, 3.0)]
    """

    def __init__(self, all: list[Retreat] | None = None) -> None:
        self._all = all or []

    def begin(self, key: int, labels: list[Label], parameters: Parameters) -> None:
        """The label with this key refuted the process, which gives up these labels and its parameters."""
        aside = [(one, x.tolist(), noise, y) for one, x, noise, y in labels]
        self._all.append(Retreat(key, aside, parameters.plain()))

    def end(self, key: Key) -> tuple[list[Label], dict[str, Any]]:
        """That label was wrong: the labels and the parameters that were given up because of it."""
        (retreat,) = (one for one in self._all if one.key == key)
        self._all.remove(retreat)
        return [(one, np.array(x), noise, y) for one, x, noise, y in retreat.labels], retreat.parameters

    def correct(self, key: Key, y: float) -> bool:
        """A label changes its value, if it is one of those set aside; whether it is."""
        if (found := self._find(key)) is None:
            return False
        labels, i = found
        labels[i] = (*labels[i][:3], y)
        return True

    def take(self, key: Key) -> Label | None:
        """A label goes, if it is one of those set aside."""
        if (found := self._find(key)) is None:
            return None
        labels, i = found
        _, x, noise, y = labels.pop(i)
        return key, np.array(x), noise, y

    def release(self, key: Key) -> bool:
        """Nobody will name this label any more; whether it is set aside. What it refuted stays given up."""
        if (found := self._find(key)) is not None:
            labels, i = found
            labels[i] = (None, *labels[i][1:])
        if self._all:
            self._all = [one for one in self._all if one.key != key]
        return found is not None

    def _find(self, key: Key) -> tuple[list[Any], int] | None:
        """Where the label with this key is: among which labels, and its place; None if nowhere."""
        if key is not None:
            for one in self._all:
                for i, label in enumerate(one.labels):
                    if label[0] == key:
                        return one.labels, i
        return None

    def plain(self) -> list[dict[str, Any]]:
        """As plain data."""
        plain: list[dict[str, Any]] = msgspec.to_builtins(self._all)
        return plain

    @staticmethod
    def of(plain: list[Any], dim: int, half_life: float | Literal["fit"] | None) -> "Retreats":
        """What `plain` wrote; raises where it is none of a process of this dimension and half-life."""
        return Retreats([_checked_retreat(one, dim, half_life) for one in plain])


def _checked_retreat(plain: Any, dim: int, half_life: float | Literal["fit"] | None) -> Retreat:
    retreat = msgspec.convert(plain, Retreat)
    checked_parameters(retreat.parameters, dim, half_life)
    for _, x, noise, y in retreat.labels:
        expect.vector("x", x, dim + (half_life is not None))
        expect.finite("y", y)
        expect.number("noise", noise, 0.0, expect.LARGEST)
    return retreat
