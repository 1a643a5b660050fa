"""The learner under every adapter: the value rule over a Gaussian process.

Other libraries hand a label back with its features, not with an id. So a label answers the oldest open
question about the very same point; where none is open, it is a gift.
"""

import warnings
from typing import Any

from breakeven.beliefs import untuned
from breakeven.beliefs.gp import Kernel
from breakeven.errors import expect
from breakeven.learner import Learner
from breakeven.rules import Value


class UnaskedLabel(UserWarning):
    """A label came whose point nobody asked about, while others are awaited."""


class AdaptedLearner(Learner):
    """A learner that is told labels by their points, fits once for all of them, and pickles as its snapshot.

    >>> learner = learner_for(1, label_cost=1.0)
    >>> [decision.wants_label for decision in learner.decide_many([[0.0], [1.0]])]
    [True, True]
    >>> learner.label_many([[1.0]], [3.5])
    >>> [awaited.x for awaited in learner.awaited.values()], learner.belief.labels
    ([(0.0,)], 1)
    """

    def label_many(self, X: Any, y: Any) -> None:
        """These are the labels of these points; parameters are fitted once at most, after the last.

        Gifts that come while answers are awaited are learnt, with a warning: most are answers whose features
        were changed on the way, such as by a scaler that goes on learning.
        """
        points = self.belief.points(X)
        labels = expect.column("y", y, len(points)).tolist()
        questions, answered = self._questions(), []
        for point in map(self.belief.plain, points):
            ids = questions.get(point)
            answered.append(ids.pop() if ids else None)
        if any(questions.values()) and None in answered:
            _warn_of_gifts(sum(map(len, questions.values())))
        for id, point, label in zip(answered, points, labels, strict=True):
            if id is None:
                self.learn(point, label)
            else:
                self.tell(id, label)
        self.fit()

    def _questions(self) -> dict[Any, list[str]]:
        """The ids of open questions by their points, the oldest last."""
        questions: dict[Any, list[str]] = {}
        for id in reversed([*self.awaited]):
            questions.setdefault(self.awaited[id].x, []).append(id)
        return questions

    def __reduce__(self) -> tuple[Any, ...]:
        # joblib may map pickled arrays from a file, read-only; those of a snapshot can be written to
        return type(self).restore, (self.snapshot(),)


def _warn_of_gifts(awaited: int) -> None:
    warnings.warn(
        "a label of a point that nobody asked about is learnt as a gift, with answers still awaited "
        f"({awaited}): an answer has the very same features as its question",
        UnaskedLabel,
        stacklevel=4,  # who called the adapter
    )


def learner_for(
    dim: int,
    *,
    label_cost: float,
    error_cost: float = 1.0,
    noise_std: float | None = None,
    horizon: int | None = None,
    kernel: Kernel | None = None,
    seed: int = 0,
) -> AdaptedLearner:
    """A learner of rows of `dim` numbers, of any scale."""
    belief = untuned(dim, noise_std, kernel)
    return AdaptedLearner(
        belief, Value(horizon), label_cost=label_cost, error_cost=error_cost, seed=seed, fitting="outside"
    )
