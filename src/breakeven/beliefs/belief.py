"""What a learner needs from a belief. A belief knows nothing of prices.

Points go through `point` first, which checks them; every other method takes what `point` returned.
Labels are named by the arrival's id. A method that raises has changed nothing.
"""

from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np

from breakeven.beliefs.looks import Looks
from breakeven.values import Prediction, Traits, View


class Belief(Protocol):
    """What we think f is, and how unsure we are."""

    @property
    def traits(self) -> Traits:
        """What holds for every point, until the next fit."""
        ...

    def point(self, x: Any) -> Any:
        """Check one x and bring it into the belief's own form."""
        ...

    def points(self, X: Any) -> Sequence[Any]:
        """Check a batch; an error names the row."""
        ...

    def plain(self, point: Any) -> Any:
        """The point as text, numbers, bytes and tuples, for storage."""
        ...

    def recall(self, plain: Any) -> Any:
        """The point that `plain` made so, also after tuples became lists."""
        ...

    def arrive(self, point: Any, view: View | None = None) -> None:
        """Count an arrival; `view` is what `look` returned just before."""
        ...

    def look(self, point: Any) -> View:
        """The uncertainty there, awaited labels counted, and the prediction. Changes nothing."""
        ...

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at a batch, whose labels will be asked for in order. Changes nothing."""
        ...

    def predict(self, point: Any) -> Prediction:
        """The prediction there. Changes nothing."""
        ...

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions at many points, at matrix speed."""
        ...

    def expect(self, id: str, point: Any, view: View | None = None, noise_std: float | None = None) -> None:
        """A label was asked for and is awaited; `view` is what `look` returned before it arrived.

        `noise_std` is that of the label; None says that it is the belief's own.
        """
        ...

    def tell(self, id: str, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """An awaited label came; the prediction there, after it.

        `noise_std` is that of the label, if another one answered than was asked.
        """
        ...

    def correct(self, id: str, point: Any, old: float, new: float) -> None:
        """A label told earlier changes its value."""
        ...

    def withdraw(self, id: str, point: Any, y: float | None) -> None:
        """A label goes: an awaited one where y is None, else a told one."""
        ...

    def learn(
        self, point: Any, y: float, id: str | None = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for; the prediction there, after it.

        `age` is how many arrivals ago it was taken; only a belief that forgets is told.
        """
        ...

    def watch(self, most: int) -> None:
        """Keep so many past arrivals, at most, to say what labels would save; 0 ends that."""
        ...

    @property
    def labels(self) -> int:
        """Labels told or learnt, and not withdrawn."""
        ...

    @property
    def needs_warmup(self) -> bool:
        """Whether nothing would ever be fitted without a warm-up."""
        ...

    def fit_due(self, *, warm: bool) -> bool:
        """Whether the parameters should be fitted now; `warm`: the warm-up's labels are all told."""
        ...

    def fit(self, random: "np.random.Generator") -> dict[str, Any]:
        """The best parameters for the labels told so far. Changes nothing."""
        ...

    def adopt(self, parameters: dict[str, Any]) -> None:
        """Go on with these parameters."""
        ...

    def describe(self) -> dict[str, Any]:
        """What this belief is now, for people."""
        ...

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` gave."""
        ...

    def config(self) -> dict[str, Any]:
        """The arguments it was made with, as plain data."""
        ...

    def state(self) -> dict[str, Any]:
        """Everything it has learnt, as plain data."""
        ...

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        ...
