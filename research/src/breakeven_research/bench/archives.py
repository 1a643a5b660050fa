"""An archive of Parquet files through a learner: rows a second of CPU time, and whether memory stays flat.

All of it counts, reading, deciding, writing and the start of the compiled loops, in a process of its own. The
rate stands beside that of polars reading the same columns and writing as many.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

import numpy as np

from breakeven_research.bench.footprint import afresh, check_memory, forget_peak, peak
from breakeven_research.bench.results import Measurement, Result, Sizes, peer
from breakeven_research.bench.timing import megabytes

TYPES_IN_ARCHIVE = 100
FILES_IN_ARCHIVE = 25
LEAST_RATE = 8e6
MOST_GROWTH = 1.1
ARCHIVE_RULES = ("value", "threshold")


def measurements(sizes: Sizes) -> list[Measurement]:
    """Both rules on an archive ten times as long as a long stream."""
    return [Measurement(_what(rule, sizes), partial(_measured, rule, sizes)) for rule in ARCHIVE_RULES]


def _what(rule: str, sizes: Sizes) -> str:
    return f"Backfill of {10 * sizes.long_rounds:,} rows, {TYPES_IN_ARCHIVE} types, {rule}"


class ArchiveRun(NamedTuple):
    """CPU seconds in all, and the most memory in the first tenth and in each that follows."""

    seconds: float
    peaks: list[int]


def _measured(rule: str, sizes: Sizes) -> Iterator[Result]:
    peer("numba")
    peer("polars")
    check_memory()
    rows = 10 * sizes.long_rounds
    with TemporaryDirectory(prefix="breakeven-") as folder:
        make_archive(folder, rows)
        run = afresh(backfilled, folder, rule, returns=ArchiveRun)
        beside = afresh(passed_through, folder, returns=float)
    rate, growth = rows / run.seconds, max(run.peaks[1:]) / run.peaks[0]
    yield Result(
        what=_what(rule, sizes),
        measured=f"{rate / 1e6:.1f} M rows a second, start included",
        beside=f"polars reading and writing alone {rows / beside / 1e6:.1f} M",
        ratio=f"{beside / run.seconds:.2f}× its rate",
        target=f"≥ {LEAST_RATE / 1e6:g} M rows a second",
        reached=rate >= LEAST_RATE,
    )
    yield Result(
        what=f"{_what(rule, sizes)}: memory",
        measured=f"at most {megabytes(max(run.peaks))}",
        beside=f"in the first tenth {megabytes(run.peaks[0])}",
        ratio=f"{growth:.2f}× of it",
        target=f"≤ {MOST_GROWTH:g}×",
        reached=growth <= MOST_GROWTH,
    )


def make_archive(folder: str, rows: int) -> None:
    """Files of types and labels."""
    import polars as pl

    means = np.random.default_rng(7).uniform(size=TYPES_IN_ARCHIVE)
    Path(folder, "archive").mkdir()
    for number in range(FILES_IN_ARCHIVE):
        random = np.random.default_rng([1, number])
        types = random.integers(TYPES_IN_ARCHIVE, size=rows // FILES_IN_ARCHIVE)
        labels = means[types] + 0.1 * random.standard_normal(len(types))
        frame = pl.DataFrame({"type": types, "y": labels})
        frame.write_parquet(Path(folder, "archive", f"part-{number:04d}.parquet"))


def backfilled(folder: str, rule: str) -> ArchiveRun:
    """Run the archive, and note the most memory of every tenth of it."""
    from breakeven.tables.backfill import BackfillOptions, run_backfill

    begun, peaks, tenths = process_time(), list[int](), [0]
    options = BackfillOptions(
        folder=str(Path(folder, "archive")),
        out=str(Path(folder, f"out-{rule}")),
        label="y",
        type="type",
        label_cost=10.0,
        noise_std=0.1,
        rule=rule,  # type: ignore[arg-type]
    )

    def progress(done: int, whole: int, spend: float) -> None:
        if done * 10 >= whole * (tenths[0] + 1):
            tenths[0] = done * 10 // whole
            peaks.append(peak())
            forget_peak()

    run_backfill(options, progress=progress)
    return ArchiveRun(process_time() - begun, peaks)


def passed_through(folder: str) -> float:
    """CPU seconds of reading the archive, and of writing as many columns as decisions have."""
    import polars as pl

    begun, out = process_time(), Path(folder, "passed")
    out.mkdir()
    for path in sorted(Path(folder, "archive").iterdir()):
        frame = pl.read_parquet(path)
        y = pl.col("y")
        columns = (
            (y > 0.5).alias("wants_label"),
            y.alias("answer"),
            y.alias("uncertainty"),
            y.alias("threshold"),
        )
        frame.select(columns).write_parquet(out / path.name, compression="lz4", statistics=False)
    return process_time() - begun
