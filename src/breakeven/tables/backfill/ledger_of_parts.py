"""What is done of an archive, on disk: a line for every part, and which snapshot goes with it.

`progress.json` is replaced as a whole, after the decisions of some parts and the learners behind them are on
disk. So after a kill at any moment it names a snapshot that is there, and the parts after it are decided on
again.
"""

from hashlib import sha256
from math import fsum
from pathlib import Path
from typing import Any

import msgspec

from breakeven import files
from breakeven.errors import BreakevenError
from breakeven.tables.backfill.archive import Archive, ArchiveFile, Part
from breakeven.tables.backfill.backfill_options import BackfillOptions
from breakeven.tables.faults import as_flag

PROGRESS_FILE, DECISIONS_FOLDER = "progress.json", "decisions"


class OtherBackfill(BreakevenError, ValueError):
    """A folder that holds something else than the beginning of this backfill.

    >>> issubclass(OtherBackfill, ValueError)
    True
    """


class PartDone(msgspec.Struct, frozen=True):
    """What came of one part."""

    file: str
    number: int
    rows: int
    labels: int
    error: float
    dropped: int = 0
    cpu_seconds: float = 0.0


class ArchiveBill(msgspec.Struct, frozen=True, kw_only=True):
    """One bill for the whole archive; errors are against the labels, whose noise they contain."""

    rows: int
    labels: int
    spend: float
    error: float
    error_cost: float
    total: float
    everyone: float
    dropped: int
    cpu_seconds: float

    @property
    def mean_error(self) -> float:
        """The error of a row."""
        return self.error / self.rows if self.rows else 0.0


class Progress(msgspec.Struct):
    """The whole file."""

    options: dict[str, Any]
    files: list[ArchiveFile]
    parts: list[PartDone] = []
    snapshot: str | None = None
    digest: str | None = None
    finished: bool = False

    def bill(self, label_cost: float, error_cost: float) -> ArchiveBill:
        """What it has cost so far; sums do not depend on how often it was stopped."""
        rows, labels = sum(one.rows for one in self.parts), sum(one.labels for one in self.parts)
        error, spend = fsum(one.error for one in self.parts), labels * label_cost
        return ArchiveBill(
            rows=rows,
            labels=labels,
            spend=spend,
            error=error,
            error_cost=error_cost,
            total=spend + error_cost * error,
            everyone=rows * label_cost,
            dropped=sum(one.dropped for one in self.parts),
            cpu_seconds=fsum(one.cpu_seconds for one in self.parts),
        )


def opened_progress(out: Path, archive: Archive, options: BackfillOptions) -> Progress:
    """What is done already; a folder of other options or another archive is refused and left as it is."""
    path = out / PROGRESS_FILE
    if not path.exists():
        if out.is_dir() and any(out.iterdir()):
            raise OtherBackfill(
                f"{out}: expected an empty folder, or that of a backfill, got other files; choose another"
            )
        return Progress(options.deciding(), archive.files)
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Progress)
    except (OSError, msgspec.DecodeError) as error:
        raise OtherBackfill(
            f"{path}: expected what a backfill wrote, got something else; choose another folder"
        ) from error
    _check_same(out, found, archive, options)
    return msgspec.structs.replace(found, files=archive.files, finished=False)


def _check_same(out: Path, found: Progress, archive: Archive, options: BackfillOptions) -> None:
    for name, value in options.deciding().items():
        before = found.options.get(name)
        if before != value and name != "folder":
            flag = as_flag(name)
            raise OtherBackfill(
                f"{out}: expected the folder of this backfill, got one with {flag} {before}, now {value}; "
                f"choose another {as_flag('out')}"
            )
    done = {one.file for one in found.parts}
    before_files = [one for one in found.files if one.name in done]
    if archive.files[: len(before_files)] != before_files:
        now = archive.files[: len(before_files)]
        changed = next(
            (a.name for a, b in zip(before_files, now, strict=False) if a != b), before_files[-1].name
        )
        raise OtherBackfill(
            f"{out}: expected the files that were decided on before, got others: {changed} is changed or "
            f"gone, or one comes before it; choose another {as_flag('out')}"
        )


def keep_parts(out: Path, progress: Progress, learners: bytes) -> None:
    """Put the learners after the last part on disk, and then the lines of all parts up to it."""
    old, name = progress.snapshot, f"learners-{len(progress.parts):06d}.snapshot"
    files.write(out, name, learners)
    progress.snapshot, progress.digest = name, sha256(learners).hexdigest()
    write_progress(out, progress)
    if old is not None:
        (out / old).unlink(missing_ok=True)


def write_progress(out: Path, progress: Progress) -> None:
    """Replace the file."""
    files.write(out, PROGRESS_FILE, msgspec.json.encode(progress))


def kept_learners(out: Path, progress: Progress) -> bytes | None:
    """The learners after the last part that is done; None before the first."""
    if progress.snapshot is None:
        return None
    try:
        blob = (out / progress.snapshot).read_bytes()
    except OSError as error:
        raise OtherBackfill(
            f"{out / progress.snapshot}: cannot be read ({error.strerror}); begin anew"
        ) from error
    if sha256(blob).hexdigest() != progress.digest:
        raise OtherBackfill(
            f"{out / progress.snapshot}: expected the learners of the last part, got damaged ones"
        )
    return blob


def remaining(progress: Progress, archive: Archive) -> list[Part]:
    """The parts that are still to be decided on."""
    done = {(one.file, one.number) for one in progress.parts}
    return [part for part in archive.parts() if (part.file.name, part.number) not in done]
