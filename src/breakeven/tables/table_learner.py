"""A learner behind a table's columns: rows in, decisions out, all in the table's own units."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from breakeven import files
from breakeven.errors import BreakevenError
from breakeven.learner import Cost, Learner, Pending
from breakeven.ledger import Ledger
from breakeven.rows.columns import Columns
from breakeven.rules import Rule
from breakeven.tables.scaling import Scales
from breakeven.values import Decision, Labeller, Prediction

SNAPSHOT_FILE, SUMMARY_FILE = "learner.snapshot", "summary.json"


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

    `learner` is the learner inside, in standardised units: go by the verbs here, whose units are the table's.

    >>> from breakeven import GaussianProcess, Threshold
    >>> from breakeven.rows.columns import Column, Feature
    >>> inside = Learner(GaussianProcess(1, noise_std=0.1), Threshold(), label_cost=1.0)
    >>> columns = Columns(label_column=Column("score"), features=(Feature("age"),))
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
            kept = msgspec.json.decode((Path(folder) / SUMMARY_FILE).read_bytes(), type=_Kept)
            blob = (Path(folder) / SNAPSHOT_FILE).read_bytes()
        except (OSError, msgspec.DecodeError) as error:
            raise UnreadableBill(
                f"{folder}: expected a folder that `breakeven simulate` has finished, "
                f"got one without a whole {SUMMARY_FILE} and {SNAPSHOT_FILE}"
            ) from error
        return cls(Learner.restore(blob), kept.columns, kept.scales)

    def save(self, folder: str | Path) -> None:
        """Keep the learner in the folder it came from, whole or not at all; `open` goes on to the bit."""
        files.write(Path(folder), SNAPSHOT_FILE, self.learner.snapshot())

    # -- verbs ---------------------------------------------------------------------------------------

    def decide(
        self,
        row: Mapping[str, Any],
        *,
        cost: Cost | None = None,
        id: str | None = None,
        force: bool | None = None,
    ) -> Decision:
        """Count an arrival and decide on it; its label costs what the row says, where costs are a column."""
        point = self._point(row)
        if cost is None and not self.learner.labellers:  # who have costs of their own
            cost = self.columns.cost(row)
        return self.scales.decision(self.learner.decide(point, cost=cost, id=id, force=force))

    def tell(self, id: str, y: float, *, labeller: str | None = None) -> Prediction:
        """The label of an arrival came, now or days later; the updated prediction there."""
        return self.scales.prediction(self.learner.tell(id, self._label(y), labeller=labeller))

    def correct(self, id: str, y: float) -> None:
        """That label was wrong; only means change, decisions already made stand."""
        self.learner.correct(id, self._label(y))

    def withdraw(self, id: str, *, charged: bool = False) -> None:
        """The label will never come, or must go; `charged` says whether it was paid for."""
        self.learner.withdraw(id, charged=charged)

    def learn(self, row: Mapping[str, Any], y: float, *, labeller: str | None = None) -> None:
        """A label from elsewhere, a history or a gift: no arrival, no cost."""
        self.learner.learn(self._point(row), self._label(y), labeller=labeller)

    def reprice(
        self,
        *,
        label_cost: float | None = None,
        labellers: Mapping[str, Labeller] | None = None,
        error_cost: float | None = None,
        rule: Rule | None = None,
    ) -> None:
        """Go on with other costs or another rule; noise and bounds of errors are in the table's units."""
        self.learner.reprice(
            label_cost=label_cost,
            labellers=self.scales.labellers(labellers),
            error_cost=None if error_cost is None else self.scales.error_cost(error_cost),
            rule=self.scales.rule(rule),
        )

    def predict(self, row: Mapping[str, Any]) -> Prediction:
        """What is known of such a row. Changes nothing."""
        return self.scales.prediction(self.learner.predict(self._point(row)))

    # -- looking at it -------------------------------------------------------------------------------

    @property
    def pending(self) -> dict[str, Pending]:
        """Labels asked for and not told, by id, oldest first."""
        awaited = self.learner.pending
        return {id: replace(one, x=self.scales.own_point(one.x)) for id, one in awaited.items()}

    @property
    def ledger(self) -> Ledger:
        """The bill so far, and what an audit says of errors."""
        return self.scales.ledger(self.learner.ledger)

    def _point(self, row: Mapping[str, Any]) -> Any:
        return self.scales.point(self.columns.point(row))

    def _label(self, y: Any) -> float:
        return float(self.scales.label(self.columns.label(y)))
