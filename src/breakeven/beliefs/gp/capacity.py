"""Which engine a process runs on: exact while that is cheaper, then a dictionary, and exact again if need be.

The choice rests on the measured rank of the dictionary against the labels, not on the dimension, and is made
when a label has been told; so the same events always lead to the same engine.
"""

from breakeven.beliefs.gp.dictionary import Dictionary
from breakeven.beliefs.gp.posterior import Posterior

Engine = Posterior | Dictionary

FIRST = 256  # labels below which exact is always cheaper
AGAIN = 1.5  # try a dictionary again at so many times the labels of the last try
PAYS, NO_LONGER = 0.4, 0.6  # rank over labels, to go over to a dictionary and to go back


class Capacity:
    """Chooses the engine; `tried_at` is the number of labels at the last try of a dictionary.

    >>> Capacity(tolerance=1e-8).tried_at
    0
    """

    def __init__(self, tolerance: float, tried_at: int = 0) -> None:
        self.tolerance, self.tried_at = tolerance, tried_at

    def choose(self, engine: Engine) -> Engine:
        """The engine to go on with: the same, or another that knows as much."""
        labels = len(engine.ids)
        if isinstance(engine, Dictionary):
            return engine if engine.rank <= NO_LONGER * labels else self._exact(engine)
        if labels < max(FIRST, AGAIN * self.tried_at):
            return engine
        self.tried_at = labels
        return self._dictionary(engine) or engine

    def _exact(self, engine: Dictionary) -> Posterior:
        self.tried_at = len(engine.ids)
        exact = Posterior(engine.dim, engine.parameters)
        _hand_over(engine, exact)
        return exact

    def _dictionary(self, engine: Posterior) -> Dictionary | None:
        """The dictionary of these labels, unless it grows too large to pay."""
        small = Dictionary(engine.dim, engine.parameters, self.tolerance)
        return small if _hand_over(engine, small, most=PAYS * len(engine.ids)) else None


def _hand_over(old: Engine, new: Engine, most: float | None = None) -> bool:
    """Tell the new engine all that the old one knows; False where its rank would exceed `most`."""
    for id, x, y, noise in zip(old.ids, old.X, old.y, old.noise.tolist(), strict=True):
        new.ask(id, x.copy(), new.solve(x), noise)
        new.tell(id, float(y))
        if most is not None and isinstance(new, Dictionary) and new.rank > most:
            return False
    for id, x, noise in old.waiting():
        new.ask(id, x.copy(), new.solve(x), noise)
    new.watch(old.reservoir)
    return True
