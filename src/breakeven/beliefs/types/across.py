"""What types have in common: a prior of their means, given, or learnt from those that have labels."""

from math import fsum, inf, sqrt
from typing import Any, Literal, Protocol

from breakeven.beliefs.belief import ENOUGH_TO_FIT, REFIT_GROWTH
from breakeven.beliefs.types.prior import TypePrior, learnt
from breakeven.beliefs.types.tally import Census
from breakeven.errors import expect

FADED = 1e-12  # the least that a type's labels weigh in what is learnt, however old they are

PriorStd = float | Literal["learn"] | None


class Labelled(Protocol):
    """Types and their labels."""

    def count(self) -> Census:
        """The counts over all types."""
        ...

    def known(self) -> dict[Any, tuple[float, float]]:
        """The mean of the labels of each type that has any told, and what they weigh."""
        ...

    def predict(self, prior: TypePrior) -> None:
        """Predict every type under this prior."""
        ...


class AcrossTypes:
    """The prior in use, which every type is predicted by.

    Until one is learnt the prior is flat, around the mean of the types' means.
    """

    def __init__(
        self, labels: Labelled, noise_std: float, mean: float, std: PriorStd, *, fades: bool = False
    ) -> None:
        self._labels, self._noise_std, self._mean = labels, noise_std, mean
        self.learns, self._fades = isinstance(std, str), fades
        self.fitted_at = 0  # types that had labels told
        self._changes = 0  # of the labels told, since, where they fade
        self.believe(mean, std if isinstance(std, float) else inf)

    @property
    def unknown(self) -> bool:
        """Whether it is still to be learnt."""
        return self.learns and not self.fitted_at

    def believe(self, mean: float, std: float) -> None:
        """Go on with this prior."""
        self.prior = TypePrior(self._noise_std, mean, std)
        self.unlabelled = self.prior.prediction
        self._labels.predict(self.prior)

    def guess(self) -> None:
        """The mean of the types' means says nothing of their spread."""
        means = [mean for mean, _ in self._labels.known().values()]
        self.believe(fsum(means) / len(means) if means else self._mean, inf)

    # -- learning --------------------------------------------------------------------------------

    @property
    def due_at(self) -> float:
        """How many types must have labels told for another fit."""
        return max(ENOUGH_TO_FIT, REFIT_GROWTH * self.fitted_at) if self.learns else inf

    def due(self) -> bool:
        """Whether enough types have, or, where labels fade, each has changed once since, on average."""
        if not self.learns:
            return False
        again = self._fades and self._changes >= self.fitted_at > 0
        return again or self._labels.count().told >= self.due_at

    def note_change(self) -> None:
        """A label was told, corrected or withdrawn."""
        self._changes += self._fades

    def fit(self) -> dict[str, Any]:
        """The mean of the types' means, and the upper end of their spread."""
        if not self.learns:
            return {}
        means, weights = zip(*self._labels.known().values(), strict=True)
        mean, std = learnt(means, [self._noise_std / sqrt(max(weight, FADED)) for weight in weights])
        return {"prior_mean": mean, "prior_std": std}

    def adopt(self, parameters: dict[str, Any]) -> None:
        """Go on with what a fit found."""
        if self.learns:
            mean = expect.finite("prior_mean", parameters.get("prior_mean"))
            self.believe(mean, expect.positive("prior_std", parameters.get("prior_std")))
            self.fitted_at, self._changes = self._labels.count().told, 0

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> list[Any] | None:
        """What was learnt, if anything was."""
        return [self.fitted_at, self.prior.mean, self.prior.std, self._changes] if self.fitted_at else None

    def load(self, state: list[Any] | None) -> None:
        """Take up what `state` gave, and predict all types."""
        self.fitted_at, mean, std, self._changes = state or (0, self.prior.mean, self.prior.std, 0)
        self.believe(mean, std)
        if self.unknown:
            self.guess()
