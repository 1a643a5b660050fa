"""Standardised units for a learner, and the way back: what is shown is always in the table's own.

Scales are taken once, from the first arrivals and the labels known by then, never from what is still to come.
A learner's state is a fold of its events, so the one in new units is made of the same events in those units:
the rounds before are not decided again. Money stays money: where labels shrink, a unit of error costs more.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from breakeven.beliefs.gp import Parameters
from breakeven.errors import expect
from breakeven.ledger import Ledger
from breakeven.rules import Audit, Rule, Wrapper
from breakeven.values import Arrived, Corrected, Decision, Event, Fitted, Labeller, Learnt, Prediction, Told

Array = NDArray[np.float64]

ARRIVALS = 20  # after which the scales are frozen, unless there is a warm-up
LEAST = 1e-12  # of its size must a number vary
SMALLEST = 1e-30  # below that squares soon vanish
LABELS = 3  # that must be known by then, to say how far labels spread


class Scales(msgspec.Struct, frozen=True):
    """Where inputs and labels lie, and how widely; None for the inputs where there are types.

    >>> scales = Scales.of(np.array([[0.0], [4.0]]), [10.0, 30.0])
    >>> scales.point(np.array([4.0])).tolist(), scales.label(30.0)
    ([1.0], 1.0)
    >>> scales.prediction(Prediction(0.5, 1.0, 0.1))
    Prediction(mean=25.0, std=10.0, noise_std=1.0)
    """

    centre: tuple[float, ...] | None = None
    spread: tuple[float, ...] | None = None
    label_centre: float = 0.0
    label_spread: float = 1.0

    @classmethod
    def of(cls, points: Array | None, labels: Sequence[float]) -> "Scales":
        """The scales of these arrivals and labels; what does not vary keeps its unit."""
        centre, spread = float(np.mean(labels)), float(np.std(labels))
        if 0.0 < max(abs(centre), spread) < SMALLEST:
            expect.refuse("labels", f"numbers of size {SMALLEST:g} at least, in another unit", centre)
        label_spread = spread if spread > LEAST * abs(centre) else 1.0
        if points is None:
            return cls(None, None, centre, label_spread)
        middle, wide = points.mean(axis=0), points.std(axis=0)
        wide = np.where(wide > np.maximum(LEAST * np.abs(middle), SMALLEST), wide, 1.0)
        return cls(tuple(middle.tolist()), tuple(wide.tolist()), centre, label_spread)

    @classmethod
    def around(cls, y: float, dim: int | None) -> "Scales":
        """Labels counted from this one, in units as they are; a type has no `dim`."""
        centre, spread = (None, None) if dim is None else ((0.0,) * dim, (1.0,) * dim)
        return cls(centre, spread, y)

    def since(self, before: "Scales") -> "Scales":
        """What takes these from ones that only count labels from elsewhere.

        >>> Scales(label_centre=12.0, label_spread=4.0).since(Scales.around(10.0, dim=None)).label(6.0)
        1.0
        """
        return replace(self, label_centre=self.label_centre - before.label_centre)

    @property
    def plain(self) -> bool:
        """Whether nothing changes its unit."""
        return self == Scales()

    # -- into standardised units ---------------------------------------------------------------------

    def point(self, point: Any) -> Any:
        """A point, or many."""
        return point if self.centre is None else (point - np.array(self.centre)) / np.array(self.spread)

    def label(self, y: Any) -> Any:
        """A label, or many."""
        return (y - self.label_centre) / self.label_spread

    def event(self, event: Event) -> Event:
        """What happened in the table's own units."""
        match event:
            case Arrived():
                predicted = None if event.predicted is None else self.label(event.predicted)
                return replace(event, x=self._plain(event.x), predicted=predicted)
            case Told() | Corrected():
                return replace(event, y=self.label(event.y))
            case Learnt():
                return replace(event, x=self._plain(event.x), y=self.label(event.y))
            case Fitted():
                return Fitted(self._parameters(event.parameters))
        return event

    def _plain(self, x: Any) -> Any:
        return x if self.centre is None else tuple(self.point(np.array(x)).tolist())

    def _parameters(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """What a belief fitted: a kernel with its noise and mean, or mean and spread of the types."""
        if self.spread is None:
            mean, std = self.label(fitted["prior_mean"]), fitted["prior_std"] / self.label_spread
            return {"prior_mean": mean, "prior_std": std}
        old, unit = Parameters.of(fitted), self.label_spread
        kernel = old.kernel
        lengths = np.array(kernel.lengthscale) / np.array(self.spread)
        scaled = replace(kernel, lengthscale=tuple(lengths.tolist()), amplitude=kernel.amplitude / unit**2)
        new = replace(old, kernel=scaled, noise_std=old.noise_std / unit, mean=self.label(old.mean))
        return new.plain()

    def error_cost(self, money: float) -> float:
        """What a unit of error costs, where one of the table's own costs so much."""
        return expect.positive("error_cost", money) * self.label_spread

    def labellers(self, given: Mapping[str, Labeller] | None) -> dict[str, Labeller] | None:
        """Who gives labels, whose noise is in the table's own units."""
        if given is None:
            return None
        unit = self.label_spread
        return {name: replace(one, noise_std=one.noise_std / unit) for name, one in given.items()}

    def rule(self, rule: Rule | None) -> Rule | None:
        """A rule whose audits are in the table's own units."""
        if isinstance(rule, Audit):
            noise = None if rule.noise_std is None else rule.noise_std / self.label_spread
            rule = replace(rule, bound=rule.bound / self.label_spread, noise_std=noise)
        return replace(rule, rule=self.rule(rule.rule)) if isinstance(rule, Wrapper) else rule

    # -- and back ------------------------------------------------------------------------------------

    def own_point(self, x: Any) -> Any:
        """A point as the table has it."""
        if self.centre is None:
            return x
        return tuple((np.array(x) * np.array(self.spread) + np.array(self.centre)).tolist())

    def ledger(self, one: Ledger) -> Ledger:
        """A bill whose errors are in the table's own units; its money is money already."""
        unit = self.label_spread
        audit = None if one.audit is None else one.audit.in_units(unit)
        return replace(one, error_cost=one.error_cost / unit, audit=audit)

    def prediction(self, one: Prediction) -> Prediction:
        """A prediction in the table's own units."""
        unit = self.label_spread
        return Prediction(one.mean * unit + self.label_centre, one.std * unit, one.noise_std * unit)

    def decision(self, one: Decision) -> Decision:
        """A decision in the table's own units; its money is money already."""
        unit = self.label_spread
        return replace(
            one,
            prediction=self.prediction(one.prediction),
            uncertainty=one.uncertainty * unit,
            threshold=one.threshold * unit,
        )
