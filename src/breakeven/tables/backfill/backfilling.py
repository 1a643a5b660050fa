"""The archive, part after part: read, decided on, written, remembered; then one bill for all.

The decisions of parts are on disk before the learners, and these before the progress that names them.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from breakeven import files
from breakeven.errors import BreakevenError
from breakeven.learner import Learner
from breakeven.rows.bills import SUMMARY_FILE, save_bill
from breakeven.tables.backfill.archive import Archive, Part, PartRows
from breakeven.tables.backfill.backfill_options import BackfillOptions
from breakeven.tables.backfill.ledger_of_parts import (
    DECISIONS_FOLDER,
    ArchiveBill,
    PartDone,
    Progress,
    keep_parts,
    kept_learners,
    opened_progress,
    remaining,
    write_progress,
)
from breakeven.tables.backfill.stream_learners import (
    LOOKED_AT_FIRST,
    DecidedRows,
    LearnersByKey,
    LearnersInProcesses,
    OneLearner,
    StreamLearners,
    beginner,
    columns_of,
    first_learner,
    unpacked,
)
from breakeven.tables.run import RoundsDone, never

KEPT_AFTER_ROWS, KEPT_AFTER_SECONDS = 1_000_000, 5.0  # since learners and progress were last put on disk


class Backfill(msgspec.Struct, frozen=True):
    """How far a backfill is: its bill, how many rows there are in all, and whether everything is done."""

    folder: Path
    bill: ArchiveBill
    rows: int
    resumed: int
    whole: bool

    def learner(self) -> Learner:
        """The learner after the last row, where there are no keys."""
        return Learner.restore(self._blob())

    def learners(self) -> dict[int | str, Learner]:
        """The learners by key."""
        return {key: Learner.restore(blob) for key, blob in unpacked(self._blob())}

    def decisions(self) -> pl.LazyFrame:
        """All decisions, in the order of the archive's names."""
        return pl.scan_parquet(self.folder / DECISIONS_FOLDER / "*.parquet")

    def _blob(self) -> bytes:
        progress = msgspec.json.decode((self.folder / "progress.json").read_bytes(), type=Progress)
        blob = kept_learners(self.folder, progress)
        assert blob is not None
        return blob


def run_backfill(
    options: BackfillOptions,
    *,
    progress: RoundsDone | None = None,
    stop: Callable[[], bool] = never,
) -> Backfill:
    """Decide on all parts that are not done yet; `stop` is asked after each of them.

    Begun again with the same options it goes on, and the decisions, the learners and the bill are the same to
    the bit. Files that were added behind the others are decided on as well.
    """
    archive, out = Archive(options), Path(options.out)
    done = opened_progress(out, archive, options)
    files.check_folder(out)
    with ExitStack() as stack:
        stack.enter_context(files.claimed(out))
        learners = _learners(options, archive, kept_learners(out, done))
        stack.callback(learners.close)
        if not done.parts:
            write_progress(out, done)  # so that whatever is killed from here on is known as ours
        resumed, rows = sum(one.rows for one in done.parts), archive.rows
        todo = remaining(done, archive)
        kept = _Kept(out, done, learners)
        for number, part in enumerate(todo):
            _one_part(options, archive, part, learners, kept)
            if progress is not None:
                bill = _bill(options, done)
                progress(bill.rows + bill.dropped, rows, bill.spend)
            if number + 1 < len(todo) and stop():
                kept.keep()
                return Backfill(out, _bill(options, done), rows, resumed, whole=False)
        kept.keep()
        result = Backfill(out, _bill(options, done), rows, resumed, whole=True)
        _finish(options, archive, done, learners, result)
    return result


class _Kept:
    """What is done, on disk: not after every part where parts are small, as that would take longer."""

    def __init__(self, out: Path, done: Progress, learners: StreamLearners) -> None:
        self._out, self._done, self._learners = out, done, learners
        self._rows, self._since, self._new = 0, time.monotonic(), False

    def add(self, line: PartDone) -> None:
        """One more part is done, and its decisions are on disk."""
        self._done.parts.append(line)
        self._rows, self._new = self._rows + line.rows, True
        if self._rows >= KEPT_AFTER_ROWS or time.monotonic() - self._since >= KEPT_AFTER_SECONDS:
            self.keep()

    def keep(self) -> None:
        """Put the learners and the progress on disk, if there is anything new."""
        if self._new:
            keep_parts(self._out, self._done, self._learners.dump())
        self._rows, self._since, self._new = 0, time.monotonic(), False


def _bill(options: BackfillOptions, done: Progress) -> ArchiveBill:
    return done.bill(options.label_cost, options.table_options.errors.unit)


def _learners(options: BackfillOptions, archive: Archive, kept: bytes | None) -> StreamLearners:
    if options.key is None and kept is not None:
        return OneLearner(Learner.restore(kept), archive.rows)
    first = first_learner(options, archive.first(LOOKED_AT_FIRST), archive.rows)
    if options.key is None:
        return OneLearner(first, archive.rows)
    if options.workers > 1:
        return LearnersInProcesses(first.snapshot(), options.workers, kept)
    return LearnersByKey(beginner(first.snapshot()), kept)


def _one_part(
    options: BackfillOptions, archive: Archive, part: Part, learners: StreamLearners, kept: _Kept
) -> None:
    begun = time.process_time()
    try:
        rows = archive.read(part)
    except BreakevenError:
        kept.keep()
        raise
    decided = learners.decide(rows)
    error = rows.labels - decided.answer
    np.abs(error, out=error)  # in place: a part is long
    frame = _decisions(options, part, rows, decided)
    out = Path(options.out)
    files.write_by(
        out / DECISIONS_FOLDER,
        part.name,
        lambda file: frame.write_parquet(file, compression="lz4", statistics=False),
    )
    line = PartDone(
        file=part.file.name,
        number=part.number,
        rows=len(rows.labels),
        labels=int(decided.wants_label.sum()),
        error=float(error.sum()),
        dropped=rows.dropped,
        cpu_seconds=time.process_time() - begun,
    )
    kept.add(line)


def _decisions(options: BackfillOptions, part: Part, rows: PartRows, decided: DecidedRows) -> pl.DataFrame:
    """One row for every row that was decided on, in the order in which they were."""
    columns: dict[str, object] = {}
    if rows.keys is not None:
        columns["key"] = rows.keys
    if rows.ids is not None:
        columns["id"] = rows.ids
    if rows.rows is not None:
        columns["row"] = rows.rows
    return pl.DataFrame({**columns, **decided._asdict()})


def _finish(
    options: BackfillOptions, archive: Archive, done: Progress, learners: StreamLearners, result: Backfill
) -> None:
    """What one goes on from, and last the summary."""
    if isinstance(learners, OneLearner):
        integers = options.type is not None and archive.schema[options.type].is_integer()
        save_bill(options.out, learners.learner, columns_of(options, integers=integers))
    done.finished = True
    write_progress(Path(options.out), done)
    summary = {"backfill": options.deciding(), "bill": result.bill, "rows": result.rows}
    files.write(Path(options.out), SUMMARY_FILE, msgspec.json.format(msgspec.json.encode(summary)))
