"""Where finished jobs are kept, so that an interrupted run goes on where it was.

A result is found again only by the same job, the same code and the same libraries; what cannot be read is
worked out again.
"""

import platform
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy
import scipy

from breakeven import files
from breakeven.experiments.runs.curve import Curve
from breakeven.experiments.runs.job import Job

NOT_RUN = ("cli/", "report/", "testing/", "experiments/exhibits/", "experiments/catalogue.py")


class Shelf:
    """Results in a folder, a file for each job.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Shelf(Path(folder)).find(Job()) is None
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, job: Job) -> dict[str, Curve] | None:
        """The curves of a job done before, if they are here and whole."""
        try:
            digest, _, content = self._path(job).read_bytes().partition(b"\n")
            if digest != _digest(content):
                return None
            return msgspec.json.decode(content, type=dict[str, Curve])
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def keep(self, job: Job, curves: dict[str, Curve]) -> None:
        """Keep a result under its digest; half of one, or a damaged one, is never found."""
        path, content = self._path(job), msgspec.json.encode(curves)
        files.write(path.parent, path.name, _digest(content) + b"\n" + content)

    def _path(self, job: Job) -> Path:
        key = sha256(fingerprint() + msgspec.json.encode(job)).hexdigest()
        return self.folder / f"{key[:32]}.json"


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


@cache
def fingerprint() -> bytes:
    """What a result depends on besides its job: our code, Python, NumPy, SciPy, the machine's kind.

    Code that only shows results (`NOT_RUN`) is left out, so that a better word costs no new run.
    """
    versions = (platform.python_version(), numpy.__version__, scipy.__version__, platform.machine())
    content = sha256(repr(versions).encode())
    root = Path(files.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(NOT_RUN):
            content.update(name.encode() + path.read_bytes())
    return content.digest()
