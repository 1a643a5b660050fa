"""The rows of one group as an engine hands them over, as pandas frames: learners, labels and arrivals.

This is what runs on an engine's workers: frames in, one frame of answers out, and a row of counts behind
them. Integers must not hold nulls there (pandas would make them floats), so `missing` says by bits where a
value stands for none.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.engines.answered import Answered, FoldCounts
from breakeven.engines.feed import ArrivalRows, LabelRows
from breakeven.engines.group import open_group
from breakeven.engines.group_state import CarriedKey, GroupSetup, KeptBeside, content_in
from breakeven.errors import BreakevenError
from breakeven.learner import Learner

if TYPE_CHECKING:
    from pandas import DataFrame, Series

IdKind = Literal["integers", "texts"]
Guess = tuple[float | None, float | None, str | None]  # prediction, std, fault

A_LEARNER, A_LABEL, AN_ARRIVAL = range(3)  # what a row is: the column `what`
MISSING_BITS = {"key": 1, "id": 2, "x": 4, "order": 8}
ANSWER_COLUMNS = {
    "wants_label": "boolean",
    "prediction": "double",
    "std": "double",
    "uncertainty": "double",
    "threshold": "double",
    "cost": "double",
    "propensity": "double",
    "worth": "double",
    "round": "bigint",
    "reason": "string",
    "labeller": "string",
    "repeated": "boolean",
    "fault": "string",
}


class GroupFold(NamedTuple):
    """What a worker does with the rows of one group."""

    setup: GroupSetup
    ids_are: IdKind

    def __call__(
        self, state: bytes | None, frames: Iterable["DataFrame"]
    ) -> "tuple[bytes | None, DataFrame]":
        """The next state, None where there is nothing to keep, and the answers with counts behind them."""
        frame, group = _one_frame(frames), open_group(self.setup, state)
        learners, labels, arrivals = (RowsOfKind(frame, kind) for kind in range(AN_ARRIVAL + 1))
        if len(learners):
            group.take(carried_in(frame[frame["what"] == A_LEARNER]), self.ids_are)
        answers, counts = group.fold(arrivals_in(arrivals), labels_in(labels))
        changed = len(learners) or counts.decided or counts.early
        kept = group.dump() if state is not None or changed else None
        if not len(answers.fault):  # counts need a row all the same
            answers = Answered.empty(frame["key"].to_numpy()[:1], frame["id"].to_numpy()[:1], [None])
        return kept, answers_out(answers, counts, real=len(arrivals) > 0)


def _one_frame(frames: Iterable["DataFrame"]) -> "DataFrame":
    import pandas as pd

    first, *others = frames
    return pd.concat([first, *others], ignore_index=True) if others else first


class RowsOfKind:
    """The rows of a frame that are of one kind, by column: most columns are of use to one kind only."""

    def __init__(self, frame: "DataFrame", kind: int) -> None:
        these = frame["what"].to_numpy() == kind
        self._frame, self._rows = frame, None if these.all() else np.flatnonzero(these)
        self._missing = self["missing"]
        self._any_missing = bool(self._missing.any())

    def __len__(self) -> int:
        return len(self._missing)

    def get(self, name: str) -> NDArray[Any] | None:
        """A column that may not be there."""
        return self[name] if name in self._frame else None

    def __getitem__(self, name: str) -> NDArray[Any]:
        values: NDArray[Any] = self._frame[name].to_numpy()
        return values if self._rows is None else values[self._rows]

    def with_none(self, name: str) -> NDArray[Any]:
        """A column, with None where a value stands for none."""
        values = self[name]
        if not self._any_missing or not (missing := (self._missing & MISSING_BITS[name]) != 0).any():
            return values
        values = values.astype(object)
        values[missing] = None
        return values


# -- in --------------------------------------------------------------------------------------------------


def arrivals_in(rows: RowsOfKind) -> ArrivalRows:
    """The arrivals among the rows of a frame."""
    keys, ids, xs, order = map(rows.with_none, ("key", "id", "x", "order"))
    return ArrivalRows(keys, ids, xs, order, rows.get("cost"))


def labels_in(rows: RowsOfKind) -> LabelRows | None:
    """The labels among the rows of a frame, if there are any."""
    if not len(rows):
        return None
    keys, ids = rows.with_none("key"), rows.with_none("id")
    return LabelRows(keys, ids, rows["y"], rows["withdrawn"].astype(bool), rows.get("labeller"))


def carried_in(frame: "DataFrame") -> Iterator[CarriedKey]:
    """The keys in a frame that come from elsewhere."""
    for key, blob, beside in zip(frame["key"].tolist(), frame["blob"], frame["beside"], strict=True):
        yield CarriedKey(key, blob, beside)


# -- out -------------------------------------------------------------------------------------------------


def answers_out(answers: Answered, counts: FoldCounts, real: bool = True) -> "DataFrame":
    """Answers as a frame, with counts in the first row; or a row that is no `real` answer, for its counts.

    Texts are no plain objects: where those are None, pandas looks at each of them by itself.
    """
    import pandas as pd

    columns = {name: getattr(answers, name) for name in ANSWER_COLUMNS}
    for name in ("reason", "labeller", "fault"):
        columns[name] = _texts(list(columns[name]))
    told = np.full(len(answers.fault), None, dtype=object)
    told[:1] = [np.array(counts, dtype=np.int64)]
    columns |= {"counts": told, "real": np.full(len(told), real)}
    return pd.DataFrame({"key": answers.keys, "id": answers.ids, **columns}, copy=False)


def _texts(values: list[str | None]) -> Any:
    import pandas as pd

    if values.count(None) < len(values):
        return pd.array(values, dtype="string[python]")
    return pd.array([None], dtype="string[python]").take(np.zeros(len(values), dtype=np.int64))


# -- carrying and predicting -----------------------------------------------------------------------------


def setup_in(state: bytes, setup: GroupSetup) -> GroupSetup:
    """How the group of this state is made up; own rules and beliefs as in `setup`."""
    return setup._replace(config=content_in(state).config)


def carried_out(states: Iterable[bytes], setup: GroupSetup) -> "DataFrame":
    """The keys in these states of groups, as a frame."""
    import pandas as pd

    keys = [one for state in states for one in open_group(setup_in(state, setup), state).carry()]
    return pd.DataFrame(keys, columns=list(CarriedKey._fields))


def faults_of(keys: Iterable[CarriedKey], setup: GroupSetup) -> Iterator[str]:
    """What is wrong with keys that are to be carried, one line for each that cannot be."""
    for key, blob, beside in keys:
        try:
            KeptBeside.read(beside)
            if blob is not None:
                Learner.restore(blob, setup.rules, setup.beliefs)
        except BreakevenError as error:
            yield f"the learner of {key!r}: {error}"


@lru_cache(maxsize=64)
def restored(blob: bytes, rules: tuple[Any, ...], beliefs: tuple[Any, ...]) -> Learner:
    """The learner of a snapshot, once for each worker."""
    return Learner.restore(blob, rules, beliefs)


def predictions_out(learner: Learner, columns: "tuple[Series, ...]") -> "DataFrame":
    """What is predicted of these points: one column of types or rows, or several columns of numbers."""
    import pandas as pd

    points, found = _points(columns), list[Guess]()
    try:
        found = [(one.mean, one.std, None) for one in learner.predict_many(points)]
    except BreakevenError:
        found = [_prediction(learner, point) for point in points]
    return pd.DataFrame(found, columns=["prediction", "std", "fault"])


def _points(columns: "tuple[Series, ...]") -> list[Any]:
    if len(columns) > 1:
        return list(np.column_stack([np.asarray(one, dtype=float) for one in columns]))
    values = list(columns[0])
    if columns[0].dtype.kind == "f":  # integers with nulls among them
        return [int(one) if one == one and one.is_integer() else one for one in values]
    return values


def _prediction(learner: Learner, point: Any) -> Guess:
    try:
        one = learner.predict(point)
    except BreakevenError as error:
        return None, None, str(error)
    return one.mean, one.std, None
