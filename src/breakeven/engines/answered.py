"""The answers to a batch of arrivals, as columns, and what the batch came to, as counts."""

from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Answered(NamedTuple):
    """Answers to a batch of arrivals, in the order of its rows; a faulty row has only its `fault`."""

    keys: Any
    ids: Any
    wants_label: NDArray[np.bool_]
    prediction: NDArray[np.float64]
    std: NDArray[np.float64]
    uncertainty: NDArray[np.float64]
    threshold: NDArray[np.float64]
    cost: NDArray[np.float64]
    propensity: NDArray[np.float64]
    worth: NDArray[np.float64]
    round: NDArray[np.int64]
    reason: NDArray[np.object_]
    labeller: NDArray[np.object_]
    repeated: NDArray[np.bool_]
    fault: list[str | None]

    @classmethod
    def empty(cls, keys: Any, ids: Any, fault: list[str | None]) -> "Answered":
        """Room for as many rows."""
        count = len(fault)
        unknown = [np.full(count, nan) for _ in range(7)]
        return cls(
            keys=keys,
            ids=ids,
            wants_label=np.zeros(count, dtype=bool),
            prediction=unknown[0],
            std=unknown[1],
            uncertainty=unknown[2],
            threshold=unknown[3],
            cost=unknown[4],
            propensity=unknown[5],
            worth=unknown[6],
            round=np.zeros(count, dtype=np.int64),
            reason=np.full(count, None, dtype=object),
            labeller=np.full(count, None, dtype=object),
            repeated=np.zeros(count, dtype=bool),
            fault=fault,
        )


class FoldCounts(NamedTuple):
    """What a batch came to, for a dashboard.

    `out_of_order` arrivals were older than one of their key that was decided before; they were decided all
    the same. `early` labels wait for their arrival, `forgotten` ones waited too long. `conflicting` labels
    said something else than before, `unasked` ones belong to arrivals that were not asked about; a fleet does
    not remember those, and counts such labels as early.
    """

    decided: int = 0
    repeated: int = 0
    faults: int = 0
    out_of_order: int = 0
    told: int = 0
    again: int = 0
    conflicting: int = 0
    early: int = 0
    forgotten: int = 0
    unasked: int = 0
    withdrawn: int = 0
    label_faults: int = 0
