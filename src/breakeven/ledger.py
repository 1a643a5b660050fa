"""The bill: what labels cost, what predictions missed, and the two together.

The paper's loss counts errors against f, which nobody knows outside a simulation. So a ledger says what its
errors are measured against: the truth, noisy labels (then it names the share that is only noise), or nothing.
"""

from typing import Any, Literal, Self

import msgspec
import numpy as np
from msgspec.structs import astuple, force_setattr

from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.values import AuditReport, Chart, Line, Standing
from breakeven.values.showing import lines_table, plotted

MOST_DRAWN = 400  # rounds of a chart


class Ledger(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Labels bought, their cost and the prediction error of a stream.

    `scored` says what errors are against: "truth", "labels", or None while they are unknown; then
    `prediction_error` and what contains it are None. `noise_floor` is the error that perfect predictions
    would be charged with on average when scored against noisy labels. A unit of error costs `error_cost`, and
    `audit` is what labels drawn at random say of errors, where a rule is audited. `standing` is what labels
    say of the belief, where it is checked.

    >>> Ledger(rounds=4, labels=1, label_spend=10.0, prediction_error=2.0, scored="truth").average_loss
    3.0
    """

    rounds: int = 0
    labels: int = 0
    label_spend: float = 0.0
    awaited: int = 0
    prediction_error: float | None = None
    scored: Literal["truth", "labels"] | None = None
    noise_floor: float | None = None
    spend_by_round: Array | None = None
    error_by_round: Array | None = None
    error_cost: float = 1.0
    audit: AuditReport | None = None
    standing: Standing | None = None

    def __post_init__(self) -> None:
        for name in ("spend_by_round", "error_by_round"):
            if getattr(self, name) is not None:
                force_setattr(self, name, np.asarray(getattr(self, name), dtype=np.float64))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return all(map(np.array_equal, astuple(self), astuple(other)))

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """The bill that `plain` gave."""
        return msgspec.convert(plain, cls, dec_hook=lambda _, rounds: np.array(rounds, dtype=np.float64))

    def plain(self) -> dict[str, Any]:
        """The bill as plain data, such as JSON holds: arrays become lists."""
        plain: dict[str, Any] = msgspec.to_builtins(self, enc_hook=np.ndarray.tolist)
        return plain

    @property
    def total_loss(self) -> float | None:
        """What labels cost plus what predictions missed, in money: the paper's L_T."""
        if self.prediction_error is None:
            return None
        return self.label_spend + self.error_cost * self.prediction_error

    @property
    def average_loss(self) -> float | None:
        """The total loss per round."""
        total = self.total_loss
        return None if total is None or self.rounds == 0 else total / self.rounds

    @property
    def average_error(self) -> float | None:
        """The prediction error per round."""
        return (
            None if self.prediction_error is None or self.rounds == 0 else self.prediction_error / self.rounds
        )

    @property
    def running_average_loss(self) -> Array | None:
        """The average loss after each round."""
        if self.spend_by_round is None or self.error_by_round is None:
            return None
        return _running_average(self.spend_by_round + self.error_cost * self.error_by_round)

    @property
    def running_average_error(self) -> Array | None:
        """The average prediction error after each round."""
        return None if self.error_by_round is None else _running_average(self.error_by_round)

    @property
    def running_average_spend(self) -> Array | None:
        """The average spend on labels after each round."""
        return None if self.spend_by_round is None else _running_average(self.spend_by_round)

    def __repr__(self) -> str:
        """The totals; what was spent and missed in each round is left out."""
        total = "unknown" if self.total_loss is None else f"{self.total_loss:,.10g}"
        spent = f"label_spend={self.label_spend:,.10g}, total_loss={total}"
        return f"Ledger(rounds={self.rounds}, labels={self.labels}, {spent})"

    def _repr_html_(self) -> str:
        return lines_table("the bill", str(self))

    def plot(self) -> Any:
        """The average cost after each round, as a matplotlib figure, where every round is known."""
        return plotted(running_chart(self))

    def __str__(self) -> str:
        """The bill in a few lines."""
        lines = [
            f"rounds            {self.rounds:>12,}",
            f"labels bought     {self.labels:>12,}"
            + (f"   ({self.awaited:,} awaited)" if self.awaited else ""),
            f"spent on labels   {self.label_spend:>12,.2f}",
        ]
        if self.audit is not None:
            lines.append(str(self.audit))
        if self.standing is not None:
            lines.append(str(self.standing))
        if self.prediction_error is None:
            return "\n".join([*lines, "prediction error       unknown   (the truth is not known)"])
        lines += [
            f"prediction error  {self.prediction_error:>12,.2f}   (against the {self.scored})",
            f"total             {self.total_loss:>12,.2f}",
            f"average a round   {self.average_loss or 0.0:>12,.4g}",
        ]
        if self.noise_floor is not None:
            lines.append(f"label noise alone would give an error of about {self.noise_floor:,.2f}")
        return "\n".join(lines)


def running_chart(ledger: Ledger) -> Chart:
    """The averages of a bill after each round."""
    loss, spend, error = (
        ledger.running_average_loss,
        ledger.running_average_spend,
        ledger.running_average_error,
    )
    if loss is None or spend is None or error is None:
        expect.refuse("plot", "a bill of every round, as simulate gives", "totals only", described=True)
    shown = np.unique(np.geomspace(1, max(len(loss), 1), MOST_DRAWN).round().astype(int))[: len(loss)]
    parts = {"labels and errors": loss, "labels": spend, "errors": ledger.error_cost * error}
    return Chart(
        name="averages",
        title="Average cost of a round",
        x_label="rounds so far",
        y_label="money a round",
        lines=[
            Line(label=name, x=shown.astype(float).tolist(), y=values[shown - 1].tolist())
            for name, values in parts.items()
        ],
    )


def _running_average(values: Array) -> Array:
    result: Array = np.cumsum(values) / np.arange(1, len(values) + 1)
    return result
