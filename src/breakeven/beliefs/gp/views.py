"""What a rule sees of arrivals under a Gaussian process, one at a time or in blocks."""

from typing import TYPE_CHECKING, Any

import numpy as np

from breakeven.beliefs.gp.block import Block
from breakeven.beliefs.gp.capacity import Engine
from breakeven.beliefs.gp.posterior import Solved
from breakeven.values import Prediction, Saving, View

if TYPE_CHECKING:
    from breakeven.beliefs.gp.process import GaussianProcess


def noise_variance(noise_std: float | None) -> float:
    """A label's own noise variance as engines store it: 0 where it has none."""
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


class BlockLooks:
    """The views of a block of arrivals."""

    def __init__(self, belief: "GaussianProcess", engine: Engine, block: Block) -> None:
        self._belief, self._engine, self._block = belief, engine, block
        self._parameters, self._awaited = engine.parameters, engine.awaited
        self._note()

    def _note(self) -> None:
        """Write down what holds until the next label: lists are read faster than arrays."""
        belief, block = self._belief, self._block
        self._traits, self._labels, self._stretch = belief.traits, belief.asked, belief.stretch
        self._means, self._narrowed = block.means.tolist(), np.sqrt(block.narrowed).tolist()
        alike = block.variances is block.narrowed
        self._stds = self._narrowed if alike else np.sqrt(block.variances).tolist()

    def look(self, i: int) -> View:
        """The view of arrival i; what enters the factor is solved again, alone."""
        traits = self._traits
        prediction = Prediction(self._means[i], self._stds[i], traits.noise_std)
        view = SolvedView(self._narrowed[i], prediction, None, self._labels, traits)
        view.stretch = self._stretch
        return view

    def asked(self, i: int, noise_std: float | None = None) -> None:
        """Narrow the arrivals behind i."""
        self._block.ask(i, self._engine.noise_of(noise_variance(noise_std)))
        self._note()

    def told(self, i: int, y: float, noise_std: float | None = None) -> bool:
        """Move the arrivals behind i, unless a fit, another engine or labels awaited make that too little."""
        now = self._belief.engine
        if now is not self._engine or now.parameters is not self._parameters or self._awaited:
            return False
        self._block.tell(i, y, self._engine.noise_of(noise_variance(noise_std)))
        self._note()
        return True
