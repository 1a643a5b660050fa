"""The learner under every adapter: the value rule over an average of Gaussian processes, or over one.

Other libraries hand a label back with its features, not with an id. So a label answers the oldest open
question about exactly the same point. If there is none, nobody asked for the label, and it is learnt.
"""

import warnings
from typing import Any

import numpy as np

from breakeven.beliefs import Averaged, Belief, untuned
from breakeven.beliefs.gp import Kernel, KernelName
from breakeven.errors import expect
from breakeven.learner import Learner
from breakeven.rows.copies import copies_of
from breakeven.rules import Value, checked


class UnaskedLabel(UserWarning):
    """A label came whose point nobody asked about, while others are awaited."""


class LabelAmongFeatures(UserWarning):
    """A feature gives every label of a batch exactly."""


def learner_for(
    dim: int,
    *,
    label_cost: float,
    error_cost: float | None = None,
    noise_std: float | None = None,
    horizon: int | None = None,
    kernel: Kernel | KernelName | None = None,
    seed: int = 0,
    under_cost: float | None = None,
    over_cost: float | None = None,
    check: float | None = None,
) -> Learner:
    """A learner of rows of `dim` numbers, of any scale; it is fitted after every batch of labels.

    It averages over many kernels and noises, and checks itself, unless it is given a kernel to fit.
    """
    belief: Belief = Averaged(dim, noise_std) if kernel is None else untuned(dim, noise_std, kernel)
    return Learner(
        belief,
        checked(Value(horizon), check, averaged=kernel is None),
        label_cost=label_cost,
        error_cost=error_cost,
        under_cost=under_cost,
        over_cost=over_cost,
        seed=seed,
        fitting="outside",
    )


def teach(learner: Learner, X: Any, y: Any) -> None:
    """Learn the labels of these points; parameters are fitted at most once, after the last label.

    Gifts that come while answers are awaited are learnt, with a warning: most are answers whose features
    were changed on the way, such as by a scaler that goes on learning. A feature that gives all of these
    labels is believed, with a warning as well.

    >>> learner = learner_for(1, label_cost=1.0)
    >>> [decision.wants_label for decision in learner.decide_many([[0.0], [1.0]])]
    [True, True]
    >>> teach(learner, [[1.0]], [3.5])
    >>> [label.x for label in learner.awaited.values()], learner.belief.labels
    ([(0.0,)], 1)
    """
    points = learner.belief.points(X)
    labels = expect.column("y", y, len(points)).tolist()
    questions = _questions(learner)
    answered = [_answered(questions, learner.belief.plain(point)) for point in points]
    still_open = sum(map(len, questions.values()))
    if still_open and None in answered:
        _warn_of_gifts(still_open)
    for place in copies_of(np.array(labels), np.asarray(points, dtype=float)):
        _warn_of_copy(place, len(labels))
    for id, point, label in zip(answered, points, labels, strict=True):
        if id is None:
            learner.learn(point, label)
        else:
            learner.tell(id, label)
    learner.fit()


def _warn_of_copy(place: int, labels: int) -> None:
    warnings.warn(
        f"feature {place} gives every label exactly, as far as {labels} labels show: leave it out if it is "
        "not known before the label",
        LabelAmongFeatures,
        stacklevel=4,  # who called the adapter
    )


def _questions(learner: Learner) -> dict[Any, list[str]]:
    """The ids of open questions by their points, the oldest last."""
    questions: dict[Any, list[str]] = {}
    for id, label in reversed(list(learner.awaited.items())):
        questions.setdefault(label.x, []).append(id)
    return questions


def _answered(questions: dict[Any, list[str]], plain: Any) -> str | None:
    """The oldest open question about this point, which is open no more; None where there is none."""
    ids = questions.get(plain)
    return ids.pop() if ids else None


def _warn_of_gifts(awaited: int) -> None:
    warnings.warn(
        "a label of a point that nobody asked about is learnt as a gift, with answers still awaited "
        f"({awaited}): an answer has the very same features as its question",
        UnaskedLabel,
        stacklevel=4,  # who called the adapter
    )
