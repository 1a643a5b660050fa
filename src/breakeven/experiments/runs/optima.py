"""Where fits run to: how many there were after the warm-up, and how often their optimum changed.

A lengthscale far beyond the box switches its axis off. A fit has run to another optimum when it sees other
axes than the fit before it.
"""

from typing import Any

import msgspec

from breakeven.datasets import Stream
from breakeven.experiments.runs.curve import Curve, run
from breakeven.learner import Learner
from breakeven.values import Event, Fitted

SEEN = 10.0  # the box of Hartmann, where this matters, is 1 wide


class Watch:
    """Counts the fits after the warm-up, and those that see other axes than the fit before.

    >>> watch = Watch(warmup=1)
    >>> for lengthscale in ([0.5, 0.5], [0.5, 0.4], [0.5, 1e4]):
    ...     watch(Fitted({"kernel": {"lengthscale": lengthscale, "amplitude": 2.0}}))
    >>> watch.marks()
    {'fits': 2.0, 'changes': 1.0, 'axes': 2.0, 'amplitude': 2.0}
    """

    def __init__(self, warmup: int) -> None:
        self._left = warmup
        self._axes: tuple[bool, ...] = ()
        self._first = {"axes": 0.0, "amplitude": 0.0}  # what the last fit of the warm-up saw
        self._fits = self._changes = 0

    def __call__(self, event: Event) -> None:
        """Hear of an event."""
        if isinstance(event, Fitted):
            self._hear(event.parameters["kernel"])

    def _hear(self, kernel: dict[str, Any]) -> None:
        axes = tuple(length < SEEN for length in kernel["lengthscale"])
        if self._left > 0:
            self._left -= 1
            self._first = {"axes": float(sum(axes)), "amplitude": float(kernel["amplitude"])}
        else:
            self._fits += 1
            self._changes += axes != self._axes
        self._axes = axes

    def marks(self) -> dict[str, float]:
        """What was counted, for a curve."""
        return {"fits": float(self._fits), "changes": float(self._changes), **self._first}


def watched_run(learner: Learner, stream: Stream) -> Curve:
    """A run with its fits counted."""
    watch = Watch(learner.warmup)
    learner.listen(watch)
    return msgspec.structs.replace(run(learner, stream), marks=watch.marks())
