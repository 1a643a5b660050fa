"""The scale λ of the paper's threshold: the best of some scales, on streams of the past.

The paper says that λ was tuned on held-out data: report on other streams than those that are tuned on.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from breakeven.errors import expect
from breakeven.learner import Learner
from breakeven.planning.streams import Stream
from breakeven.trace import simulate

SCALES = tuple(2.0**power for power in range(-6, 7))


class Tuning(msgspec.Struct, frozen=True):
    """The mean loss a round at each scale, and the scale where it is least (of equals the largest)."""

    losses: dict[float, float]

    @property
    def best(self) -> float:
        """The scale of least loss; the largest of equals, as it labels least.

        >>> Tuning({0.5: 3.0, 1.0: 2.0, 2.0: 2.0}).best
        2.0
        """
        return min(self.losses, key=lambda scale: (self.losses[scale], -scale))


def tune_threshold_scale(
    learner_for: Callable[[float], Learner], streams: Iterable[Stream], scales: Sequence[float] = SCALES
) -> Tuning:
    """Run every stream at every scale; `learner_for` makes a new learner for a scale.

    Give it streams that you will not report on.

    >>> from breakeven import algorithm1
    >>> points, truth = [0, 1] * 100, [0.2, 0.8] * 100
    >>> labels = [f + 0.1 * (-1) ** (i // 2) for i, f in enumerate(truth)]
    >>> held_out = [Stream(points, labels, truth, noise_std=0.1, name="last year")]
    >>> tuning = tune_threshold_scale(
    ...     lambda scale: algorithm1(label_cost=10.0, noise_std=0.1, threshold_scale=scale), held_out
    ... )
    >>> tuning.best in tuning.losses
    True
    """
    given = expect.rows("streams", streams)
    wanted = [expect.positive(f"scales[{i}]", scale) for i, scale in enumerate(expect.rows("scales", scales))]
    if not given or not wanted:
        expect.refuse(
            "streams and scales", "one of each at least", f"{len(given)} and {len(wanted)}", described=True
        )
    return Tuning({scale: _mean_loss(learner_for, scale, given) for scale in wanted})


def _mean_loss(learner_for: Callable[[float], Learner], scale: float, streams: list[Stream]) -> float:
    """The paper's L_T a round: labels at their cost plus errors against the truth, over all streams."""
    losses = []
    for stream in streams:
        learner = learner_for(scale)
        trace = simulate(learner, stream.points, stream.labels, stream.truth)
        spend = learner.label_cost * int(trace.wants_label.sum())
        losses.append((spend + float(np.cumsum(trace.error)[-1])) / len(stream))
    return float(np.mean(losses))
