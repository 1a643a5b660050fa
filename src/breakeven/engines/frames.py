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
        import pandas as pd

        frame = pd.concat(frames, ignore_index=True)
        group, what = open_group(self.setup, state), frame["what"].to_numpy()
        came = [_of_kind(frame, what == kind) for kind in range(AN_ARRIVAL + 1)]
        if len(came[A_LEARNER]):
            group.take(carried_in(came[A_LEARNER]), self.ids_are)
        answers, counts = group.fold(arrivals_in(came[AN_ARRIVAL]), labels_in(came[A_LABEL]))
        changed = len(came[A_LEARNER]) or counts.decided or counts.early
        kept = group.dump() if state is not None or changed else None
        if not len(answers.fault):  # counts need a row all the same
            answers = Answered.empty(frame["key"].to_numpy()[:1], frame["id"].to_numpy()[:1], [None])
        return kept, answers_out(answers, counts, real=len(came[AN_ARRIVAL]) > 0)


def _of_kind(frame: "DataFrame", these: NDArray[np.bool_]) -> "DataFrame":
    """Some rows of a frame; all and none are cheap."""
    return frame if these.all() else frame[these] if these.any() else frame[:0]


# -- in --------------------------------------------------------------------------------------------------


def arrivals_in(frame: "DataFrame") -> ArrivalRows:
    """The arrivals in a frame."""
    keys, ids, xs, order = (_column(frame, name) for name in ("key", "id", "x", "order"))
    return ArrivalRows(keys, ids, xs, order, frame["cost"].to_numpy() if "cost" in frame else None)


def labels_in(frame: "DataFrame") -> LabelRows | None:
    """The labels in a frame, if there are any."""
    if not len(frame):
        return None
    labellers = frame["labeller"].tolist() if "labeller" in frame else None
    gone = frame["withdrawn"].to_numpy().astype(bool)
    return LabelRows(_column(frame, "key"), _column(frame, "id"), frame["y"].to_numpy(), gone, labellers)


def carried_in(frame: "DataFrame") -> Iterator[CarriedKey]:
    """The keys in a frame that come from elsewhere."""
    for key, blob, beside in zip(frame["key"].tolist(), frame["blob"], frame["beside"], strict=True):
        yield CarriedKey(key, blob, beside)


def _column(frame: "DataFrame", name: str) -> NDArray[Any]:
    """A column, with None where a value stands for none."""
    values: NDArray[Any] = frame[name].to_numpy()
    missing = (frame["missing"].to_numpy() & MISSING_BITS[name]) != 0
    if missing.any():
        values = values.astype(object)
        values[missing] = None
    return values


# -- out -------------------------------------------------------------------------------------------------


def answers_out(answers: Answered, counts: FoldCounts, real: bool = True) -> "DataFrame":
    """Answers as a frame, with counts in the first row; or a row that is no `real` answer, for its counts.

    Texts are no plain objects: where those are None, pandas looks at each of them by itself.
    """
    import pandas as pd

    columns = {name: getattr(answers, name) for name in ANSWER_COLUMNS}
    for name in ("reason", "labeller", "fault"):
        columns[name] = pd.array(columns[name], dtype="string[python]")
    told = np.full(len(answers.fault), None, dtype=object)
    told[:1] = [np.array(counts, dtype=np.int64)]
    columns |= {"counts": told, "real": np.full(len(told), real)}
    return pd.DataFrame({"key": answers.keys, "id": answers.ids, **columns}, copy=False)


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
