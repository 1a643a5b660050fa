"""What was decided on every case, as a table: one row each.

A labelled case is answered by its label, however late that comes, and any other by its prediction; where
labellers err, `answer` is the prediction with what they said. `error` is how far the answer is off the label,
as errors count where they cost more one way, and `normal_score` how far out the label lies among those that
were expected. Long tables are kept on disk while the program runs. Long
streams of types are decided on by compiled loops, whose answers become rows here.
"""

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.learner import Learner
from breakeven.learner import bulk as loops
from breakeven.rules import Threshold, Value
from breakeven.tables.cases import Cases
from breakeven.theory import flipping_cost
from breakeven.values import EVEN, Decision

KEPT_AS_OBJECTS = 50_000  # decisions as objects, before they become a table
IN_MEMORY = 1_000_000  # rows

DECIDED: dict[str, Any] = {
    "wants_label": pl.Boolean,
    "prediction": pl.Float64,
    "probability": pl.Float64,
    "std": pl.Float64,
    "noise_std": pl.Float64,
    "normal_score": pl.Float64,
    "uncertainty": pl.Float64,
    "threshold": pl.Float64,
    "cost": pl.Float64,
    "propensity": pl.Float64,
    "reason": pl.String,
    "exact": pl.Boolean,
    "ambiguous": pl.Boolean,
    "stretch": pl.Float64,
    "labeller": pl.String,
    "worth": pl.Float64,
    "worth_now": pl.Float64,
    "flips_at": pl.Float64,
    "by": pl.String,
    "round": pl.UInt32,
    "answer": pl.Float64,
}


class Record:
    """Decisions as they come, one by one or many at once, beside the cases that they are on."""

    def __init__(self, cases: Cases, level: float = EVEN) -> None:
        self._cases, self._level = cases, level
        self._parts: list[pl.LazyFrame] = []
        self._rows = 0
        self._fresh: list[tuple[Decision, bool, float | None, float | None]] = []
        self._folder: Path | None = None

    def add(self, one: Decision, *, known: bool, flips_at: float | None, answer: float | None = None) -> None:
        """One more decision; `known` says whether its spread is more than a guess.

        `flips_at` is the cost of a label at which the rule would have answered otherwise, and `answer` that
        of a labelled case whose label is not to be taken as it is.
        """
        if len(self._fresh) >= KEPT_AS_OBJECTS:
            self._flush()
        self._fresh.append((one, known, flips_at, answer))

    def add_many(self, part: pl.DataFrame) -> None:
        """Many decisions at once."""
        self._flush()
        self._keep(part.select(pl.col(name).cast(kind) for name, kind in DECIDED.items()))

    def _flush(self) -> None:
        if self._fresh:
            labels = self._cases.labels[self._rows : self._rows + len(self._fresh)].tolist()
            made, known, flips, answers = zip(*self._fresh, strict=True)
            self._keep(_columns(made, known, flips, answers, labels))
        self._fresh = []

    def _keep(self, part: pl.DataFrame) -> None:
        rows = slice(self._rows, self._rows + part.height)
        ids = self._cases.ids
        numbers = pl.int_range(rows.start + 1, rows.stop + 1, dtype=pl.UInt32, eager=True)
        name = numbers.alias("id") if ids is None else ids[rows].alias("id")
        row = pl.Series("row", self._cases.rows[rows])
        label = pl.Series("label", self._cases.labels[rows])
        part = part.select(name, row, pl.all(), label)
        labelled = pl.when(pl.col("answer").is_null()).then(0.0).otherwise(self._counted("answer"))
        missed = pl.when("wants_label").then(labelled).otherwise(self._counted("prediction"))
        part = part.with_columns(missed.alias("error"))
        self._rows = rows.stop
        self._parts.append(part.lazy() if self._rows <= IN_MEMORY else self._on_disk(part))

    def _counted(self, answer: str) -> pl.Expr:
        """How much an error counts, as `values.counted` has it."""
        off = pl.col("label") - pl.col(answer)
        if self._level == EVEN:
            return off.abs()
        return pl.when(off > 0.0).then(2.0 * self._level * off).otherwise(-2.0 * (1.0 - self._level) * off)

    def _on_disk(self, part: pl.DataFrame) -> pl.LazyFrame:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="breakeven-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        path = self._folder / f"{len(self._parts)}.parquet"
        part.write_parquet(path, compression="uncompressed", statistics=False)
        return pl.scan_parquet(path, glob=False)

    def table(self) -> pl.LazyFrame:
        """All decisions so far; it can be read as long as this record is there."""
        self._flush()
        if not self._parts:
            own: dict[str, Any] = {"label": pl.Float64, "error": pl.Float64}
            return pl.LazyFrame(schema={"id": pl.UInt32, "row": pl.UInt32, **DECIDED, **own})
        return pl.concat(self._parts)


def _columns(
    made: Sequence[Decision],
    known: Sequence[bool],
    flips: Sequence[float | None],
    answers: Sequence[float | None],
    labels: Sequence[float],
) -> pl.DataFrame:
    """Decisions, what was noted beside them, and how far out their labels lie where a spread was known."""
    believed = [one.prediction if yes else None for one, yes in zip(made, known, strict=True)]
    columns = {
        "wants_label": [one.wants_label for one in made],
        "prediction": [one.prediction.mean for one in made],
        "probability": [one.prediction.probability for one in made],
        "std": [None if one is None else one.std for one in believed],
        "noise_std": [None if one is None else one.noise_std for one in believed],
        "normal_score": [
            None if one is None else one.normal_score(y) for one, y in zip(believed, labels, strict=True)
        ],
        "uncertainty": [one.uncertainty if yes else None for one, yes in zip(made, known, strict=True)],
        "flips_at": flips,
        "answer": answers,
    }
    rest = {name: [getattr(one, name) for one in made] for name in DECIDED if name not in columns}
    return pl.DataFrame(columns | rest, schema_overrides=DECIDED).select(*DECIDED)


def flips_at(learner: Learner, decision: Decision) -> float | None:
    """The cost of a label at which the learner's rule would answer otherwise."""
    return learner.rule.flips_at(decision, learner.belief.traits) if decision.by == "rule" else None


# -- compiled loops ------------------------------------------------------------------------------------


def compiles(learner: Learner, rounds: int) -> bool:
    """Whether this many rounds run in compiled loops."""
    return loops.pays(learner.state, rounds)


def decide_and_tell(learner: Learner, types: pl.Series, labels: Array, ids: list[str] | None) -> pl.DataFrame:
    """Run types through a learner, each label told at once; the decisions."""
    y, first = expect.column("labels", labels, len(types)), learner.rounds + 1
    points = types.to_numpy() if types.dtype.is_integer() else learner.belief.points(types.to_list())
    answers, before, reasons, propensity = loops.replay(
        learner.state, points, y, true=False, full=True, ids=ids
    )
    noise_std = learner.belief.traits.noise_std
    assert before is not None
    assert reasons is not None
    frame = pl.DataFrame(
        {
            "wants_label": answers.wants_label,
            **before._asdict(),
            "normal_score": (y - before.prediction) / np.sqrt(before.std**2 + noise_std * noise_std),
            "uncertainty": answers.uncertainty,
            "threshold": answers.threshold,
            "reason": pl.Series(reasons.words, dtype=pl.String).gather(reasons.codes),
        }
    )
    drawn = pl.col("wants_label").cast(pl.Float64) if propensity is None else pl.lit(propensity)
    return frame.with_columns(
        pl.lit(None, dtype=pl.Float64).alias("probability"),
        pl.lit(noise_std).alias("noise_std"),
        pl.lit(learner.label_cost).alias("cost"),
        drawn.alias("propensity"),
        pl.lit(True).alias("exact"),
        pl.lit(False).alias("ambiguous"),
        pl.lit(1.0).alias("stretch"),
        pl.lit(None, dtype=pl.String).alias("labeller"),
        pl.lit(None, dtype=pl.Float64).alias("answer"),
        pl.lit("rule").alias("by"),
        pl.int_range(first, first + pl.len()).alias("round"),
        *(pl.col(name).fill_nan(None) * learner.error_cost for name in ("worth", "worth_now")),
    ).with_columns(_flips(learner).alias("flips_at"))


def _flips(learner: Learner) -> pl.Expr:
    """What `flips_at` of the rule says, for all rounds at once."""
    match learner.rule:
        case Value():
            return pl.col("worth")
        case Threshold():
            over = pl.col("uncertainty") / pl.col("threshold")
            flip: pl.Expr = flipping_cost(pl.col("cost"), over, learner.belief.traits.exponent)
            return flip
    return pl.lit(None, dtype=pl.Float64)
