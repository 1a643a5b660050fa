"""The folder of a bill, to go on from: the learner after the last case, and the columns of its rows.

`breakeven simulate` writes such a folder. Its summary is written last: a folder that has one is whole.
"""

from hashlib import sha256
from pathlib import Path

import msgspec

from breakeven import files
from breakeven.errors import BreakevenError
from breakeven.learner import Learner
from breakeven.rows.row import Columns

SNAPSHOT_FILE, COLUMNS_FILE, SUMMARY_FILE = "learner.snapshot", "columns.json", "summary.json"


class UnreadableBill(BreakevenError, ValueError):
    """A folder that holds no finished bill.

    >>> issubclass(UnreadableBill, ValueError)
    True
    """


def open_bill(folder: str | Path) -> tuple[Columns, Learner]:
    """The columns and the learner in the folder that `breakeven simulate` wrote.

    >>> open_bill("/no/such")
    Traceback (most recent call last):
    breakeven.rows.bills.UnreadableBill: /no/such: expected a folder that `breakeven simulate` has finished, \
got one without a whole learner.snapshot, columns.json and summary.json
    """
    try:
        (Path(folder) / SUMMARY_FILE).read_bytes()
        columns = msgspec.json.decode((Path(folder) / COLUMNS_FILE).read_bytes(), type=Columns)
        blob = (Path(folder) / SNAPSHOT_FILE).read_bytes()
    except (OSError, msgspec.DecodeError) as error:
        raise UnreadableBill(
            f"{folder}: expected a folder that `breakeven simulate` has finished, "
            f"got one without a whole {SNAPSHOT_FILE}, {COLUMNS_FILE} and {SUMMARY_FILE}"
        ) from error
    return columns, Learner.restore(blob)


def save_bill(folder: str | Path, learner: Learner, columns: Columns | None = None) -> None:
    """Keep the learner in its folder, whole or not at all, so that `open_bill` goes on to the bit.

    `columns` are written only where they are given: they seldom change.
    """
    files.write(Path(folder), SNAPSHOT_FILE, learner.snapshot())
    if columns is not None:
        files.write(Path(folder), COLUMNS_FILE, msgspec.json.format(msgspec.json.encode(columns)))


class _WhenWritten(msgspec.Struct):
    """What a summary says of the learner beside it."""

    learner_digest: str | None = None


def digest_of(folder: str | Path) -> str:
    """A digest of the learner in a folder; any change of the learner changes it."""
    return sha256((Path(folder) / SNAPSHOT_FILE).read_bytes()).hexdigest()


def has_gone_on(folder: str | Path) -> bool:
    """Whether the learner in a folder is another than its bill left: it may have labels that nobody else has.

    A learner without a finished bill may have them, too.

    >>> has_gone_on("/no/such")
    False
    """
    snapshot, summary = Path(folder) / SNAPSHOT_FILE, Path(folder) / SUMMARY_FILE
    if not snapshot.exists():
        return False
    try:
        said = msgspec.json.decode(summary.read_bytes(), type=_WhenWritten).learner_digest
    except (OSError, msgspec.DecodeError):
        return True
    if said is None:  # as bills of earlier versions were written
        return snapshot.stat().st_mtime > summary.stat().st_mtime
    return digest_of(folder) != said
