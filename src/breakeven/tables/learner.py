"""A learner behind a table's columns: rows in, decisions out, all in the table's own units."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from breakeven import files
from breakeven.errors import BreakevenError, expect
from breakeven.learner import Learner
from breakeven.tables.columns import Columns
from breakeven.tables.scaling import Scales
from breakeven.values import Decision, Prediction

SNAPSHOT, SUMMARY = "learner.snapshot", "summary.json"


class UnreadableBill(BreakevenError, ValueError):
    """A folder that holds no finished bill.

    >>> issubclass(UnreadableBill, ValueError)
    True
    """


class _Kept(msgspec.Struct):
    """What the summary says of columns and units."""

    columns: Columns
    scales: Scales


class TableLearner:
    """Decides on rows: mappings from the names of columns to their values.

    `learner` is the learner inside, in standardised units; the money is the same in both.

    >>> from breakeven import GaussianProcess, Threshold
    >>> from breakeven.tables.columns import Feature
    >>> inside = Learner(GaussianProcess(1, noise_std=0.1), Threshold(), label_cost=1.0)
    >>> columns = Columns("score", features=(Feature("age"),))
    >>> patients = TableLearner(inside, columns, Scales((50.0,), (10.0,), 100.0, 20.0))
    >>> anna = patients.decide({"age": 61.0, "name": "Anna"}, id="Anna")
    >>> anna.prediction.mean, round(patients.tell("Anna", 130.0).mean, 1)
    (100.0, 129.7)
    """

    def __init__(self, learner: Learner, columns: Columns, scales: Scales) -> None:
        self.learner, self.columns, self.scales = learner, columns, scales

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Go on from the folder that `breakeven simulate` wrote."""
        try:
            kept = msgspec.json.decode((Path(folder) / SUMMARY).read_bytes(), type=_Kept)
            blob = (Path(folder) / SNAPSHOT).read_bytes()
        except (OSError, msgspec.DecodeError) as error:
            raise UnreadableBill(
                f"{folder}: expected a folder that `breakeven simulate` has finished, "
                f"got one without a whole {SUMMARY} and {SNAPSHOT}"
            ) from error
        return cls(Learner.restore(blob), kept.columns, kept.scales)

    def save(self, folder: str | Path) -> None:
        """Keep the learner in the folder it came from, whole or not at all; `open` goes on to the bit."""
        files.write(Path(folder), SNAPSHOT, self.learner.snapshot())

    def decide(
        self,
        row: Mapping[str, Any],
        *,
        cost: float | None = None,
        id: str | None = None,
        force: bool | None = None,
    ) -> Decision:
        """Count an arrival and decide on it."""
        point = self.scales.point(self.columns.point(row))
        return self.scales.decision(self.learner.decide(point, cost=cost, id=id, force=force))

    def tell(self, id: str, y: float) -> Prediction:
        """The label of an arrival came, now or days later; the updated prediction there."""
        y = self.scales.label(expect.finite("y", y))
        return self.scales.prediction(self.learner.tell(id, y))

    def predict(self, row: Mapping[str, Any]) -> Prediction:
        """What is known of such a row. Changes nothing."""
        return self.scales.prediction(self.learner.predict(self.scales.point(self.columns.point(row))))
