"""Predictions at many points: columns, and each prediction as an object when asked for."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import nan
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from breakeven.values.decision import Prediction
from breakeven.values.decisions import InOrder, Numbers


class PredictionColumns(NamedTuple):
    """Predictions at many points, a column for each number; `probability` is NaN where labels are numbers."""

    mean: Numbers
    std: Numbers
    noise_std: Numbers
    probability: Numbers


class Predictions(InOrder[Prediction]):
    """What is predicted at many points, in their order: a sequence of `Prediction`; `columns` are its arrays.

    >>> from breakeven import Learner, Threshold, TypeMeans
    >>> learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
    >>> asked = learner.decide_many(["flu", "cold"])
    >>> learner.tell_many(asked.ids, [38.9, 37.0]).columns.mean.tolist()
    [38.9, 37.0]
    >>> learner.predict_many(["cold", "flu"])[0].mean
    37.0
    """

    @cached_property
    def columns(self) -> PredictionColumns:
        """The predictions as arrays."""
        made = self._made
        return PredictionColumns(
            np.array([one.mean for one in made], dtype=float),
            np.array([one.std for one in made], dtype=float),
            np.array([one.noise_std for one in made], dtype=float),
            np.array([nan if one.probability is None else one.probability for one in made], dtype=float),
        )


class PredictionsByCode(Predictions):
    """Predictions of which few differ: `made` are these, and a code for every point says which is its."""

    def __init__(self, made: Sequence[Prediction], codes: NDArray[np.intp]) -> None:
        super().__init__(made)
        self._codes = codes

    @overload
    def __getitem__(self, place: int) -> Prediction: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Prediction]: ...
    def __getitem__(self, place: int | slice) -> Prediction | Sequence[Prediction]:
        if isinstance(place, slice):
            return [self._made[code] for code in self._codes[place].tolist()]
        return self._made[int(self._codes[place])]

    def __iter__(self) -> Iterator[Prediction]:
        return map(self._made.__getitem__, self._codes.tolist())

    def __len__(self) -> int:
        return len(self._codes)

    @cached_property
    def columns(self) -> PredictionColumns:
        """The predictions as arrays."""
        return PredictionColumns(*(column[self._codes] for column in Predictions(self._made).columns))


class PredictionsOfTypes(Predictions):
    """Predictions of types after their labels, of which only the columns are kept."""

    def __init__(self, mean: Numbers, std: Numbers, noise_std: float) -> None:
        self.columns = PredictionColumns(mean, std, np.full(len(mean), noise_std), np.full(len(mean), nan))

    @overload
    def __getitem__(self, place: int) -> Prediction: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Prediction]: ...
    def __getitem__(self, place: int | slice) -> Prediction | Sequence[Prediction]:
        chosen = place if isinstance(place, slice) else slice(place, place + 1 or None)
        made = list(map(Prediction, *(column[chosen].tolist() for column in self.columns[:3])))
        return made if isinstance(place, slice) else made[0]

    def __iter__(self) -> Iterator[Prediction]:
        return iter(self[:])

    def __len__(self) -> int:
        return len(self.columns.mean)
