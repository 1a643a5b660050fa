"""Which solver a process runs on: the exact one while that is cheaper, then a dictionary, and back again.

The choice rests on the measured rank of the dictionary against the labels, not on the dimension, and is made
when a label has been told; so the same events always lead to the same solver.
"""

from math import inf
from typing import Any

from breakeven.beliefs.belief import Key
from breakeven.beliefs.gp.dictionary import DictionarySolver
from breakeven.beliefs.gp.exact import ExactSolver
from breakeven.beliefs.gp.kernels import Parameters
from breakeven.beliefs.gp.solver import Solver

FIRST_DICTIONARY = 256  # labels below which the exact solver is always cheaper
TRY_AGAIN = 1.5  # try a dictionary again when the labels have grown by this factor since the last try
PAYS, PAYS_NO_LONGER = 0.4, 0.6  # rank over labels, to go over to a dictionary and to go back

Label = tuple[Key, Any, float, float]  # its key, point, noise variance (0 for the process's own) and value


class SolverChoice:
    """Chooses the solver; `tried_at` is the number of labels at the last try of a dictionary.

    >>> SolverChoice(tolerance=1e-8).tried_at
    0
    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance, self.tried_at = tolerance, 0

    def make(self, kind: str, dim: int, parameters: Parameters) -> Solver:
        """A solver of this kind that knows nothing."""
        match kind:
            case ExactSolver.kind:
                return ExactSolver(dim, parameters)
            case DictionarySolver.kind:
                return DictionarySolver(dim, parameters, self.tolerance)
        raise ValueError(f"expected a kind of solver, got {kind!r}")

    def choose(self, solver: Solver, dim: int) -> Solver:
        """The solver to go on with: the same, or another that knows as much."""
        if solver.kind == DictionarySolver.kind:
            if solver.rank <= PAYS_NO_LONGER * solver.labels:
                return solver
            self.tried_at = solver.labels
            return self._moved(solver, ExactSolver.kind, dim, inf) or solver
        if solver.labels < max(FIRST_DICTIONARY, TRY_AGAIN * self.tried_at):
            return solver
        self.tried_at = solver.labels
        return self._moved(solver, DictionarySolver.kind, dim, PAYS * solver.labels) or solver

    def _moved(self, old: Solver, kind: str, dim: int, most: float) -> Solver | None:
        """A solver of this kind that knows all that the old one does; None where its rank exceeds `most`."""
        new = self.make(kind, dim, old.parameters)
        for key, x, noise, y in old.told_labels():
            new.ask(key, x, new.solve(x), noise)
            new.tell(key, y)
            if new.rank > most:
                return None
        _await_as(new, old)
        return new

    def rebuilt(self, old: Solver, dim: int, parameters: Parameters, labels: list[Label]) -> Solver:
        """A solver of the same kind with these parameters and labels told; those awaited stay awaited."""
        new = self.make(old.kind, dim, parameters)
        for key, x, noise, y in labels:
            new.ask(key, x, new.solve(x), noise)
            new.tell(key, y)
        _await_as(new, old)
        return new


def _await_as(new: Solver, old: Solver) -> None:
    """Await the labels that the old solver awaits, and keep its reservoir."""
    for key, x, noise in old.awaited_labels():
        new.ask(key, x, new.solve(x), noise)
    new.watch(old.reservoir)
