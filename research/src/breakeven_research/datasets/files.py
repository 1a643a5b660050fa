"""The data files of the paper's experiments: what they are, where they are, and how they come here.

No data file is part of this package. A file is looked for in $BREAKEVEN_DATA, then in the user's cache
folder; its SHA-256 is checked at every use, and is that of the file itself, also where it comes in an
archive. `fetch` downloads one from its origin; neither a wrong file nor half a file ever appears under its
name.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from breakeven.errors import BreakevenError, expect
from breakeven.files import UnwritableFolder, write


@dataclass(frozen=True)
class Source:
    """A data file: its name, its origin and the SHA-256 it must have; `member` names it inside a zip archive.

    Without a `url` it cannot be downloaded as it is.

    >>> SUPERNOVA.filename, SUPERNOVA.size
    ('davis2007_supernova.txt', 4992)
    """

    name: str
    filename: str
    url: str
    sha256: str
    size: int
    citation: str
    licence: str
    member: str | None = None


PARKINSONS = Source(
    name="parkinsons",
    filename="parkinsons_updrs.data",
    url="https://archive.ics.uci.edu/static/public/189/parkinsons+telemonitoring.zip",
    sha256="f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39",
    size=911261,
    citation=(
        "A. Tsanas, M. A. Little, P. E. McSharry, L. O. Ramig, Accurate telemonitoring of Parkinson's "
        "disease progression by non-invasive speech tests, IEEE Trans. Biomedical Engineering 57(4), 2010; "
        "A. Tsanas, M. Little, Parkinsons Telemonitoring, UCI ML Repository, 2009, doi:10.24432/C5ZS3N"
    ),
    licence="CC BY 4.0",
    member="parkinsons_updrs.data",
)

SUPERNOVA = Source(
    name="supernova",
    filename="davis2007_supernova.txt",
    url=(
        "https://raw.githubusercontent.com/dragonfly/dragonfly/"
        "f36520e7cbf942b1cf07a3950842f114bb636590/examples/supernova/davisdata"
    ),
    sha256="18142cc27d9ac3647db95b6c8a4542d65799057aba96caaf000e4a638bd24385",
    size=4992,
    citation=(
        "T. M. Davis et al., Scrutinizing Exotic Cosmological Models Using ESSENCE Supernova Data Combined "
        "with Other Cosmological Probes, Astrophysical Journal 666, 716, 2007; its likelihood: K. Kandasamy, "
        "G. Dasarathy, J. Schneider, B. Poczos, ICML 2017"
    ),
    licence="MIT, of the repository dragonfly/dragonfly; none is known for the measurements themselves",
)


def all_sources() -> tuple[Source, ...]:
    """Every data file that an experiment needs.

    >>> [source.name for source in all_sources()]
    ['parkinsons', 'supernova']
    """
    return (PARKINSONS, SUPERNOVA)


def source_named(name: str) -> Source:
    """The source of this name.

    >>> source_named("parkinsons").licence
    'CC BY 4.0'
    """
    sources = {source.name: source for source in all_sources()}
    return sources[expect.one_of("name", name, sources)]


# -- where they are ------------------------------------------------------------------------------------------


BLOCK_BYTES = 1 << 16
LARGEST_DOWNLOAD = 1 << 26
TIMEOUT_SECONDS = 30.0

Opener = Callable[[str], Any]
Progress = Callable[[int, int | None], None]


class MissingData(BreakevenError, FileNotFoundError):
    """A data file is not here, or could not be brought here; the message says how to get it.

    >>> issubclass(MissingData, FileNotFoundError)
    True
    """


class CorruptData(BreakevenError, ValueError):
    """Bytes that are not those of the data file.

    >>> issubclass(CorruptData, ValueError)
    True
    """


@dataclass(frozen=True)
class Status:
    """Where the file of a source is, or what is wrong.

    >>> verify()[1].source.name
    'supernova'
    """

    source: Source
    path: Path | None
    problem: BreakevenError | None

    @property
    def ok(self) -> bool:
        """Whether the file is there and is the right one."""
        return self.problem is None


def cache_folder() -> Path:
    """Where downloads are kept: `breakeven` in $XDG_CACHE_HOME, or in ~/.cache.

    >>> cache_folder().name
    'breakeven'
    """
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".cache") / "breakeven"


def locate(source: Source) -> Path:
    """The path of a data file that is there and is the right one.

    >>> sample = Source("sample", "no-such-file", "https://example.org", "", 0, "", "")
    >>> locate(sample)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    breakeven_research.datasets.files.MissingData: sample: found no file no-such-file in ...
    """
    return _found(source)[0]


def contents(source: Source) -> bytes:
    """The bytes of a data file: what was checked is what is returned."""
    return _found(source)[1]


def verify() -> tuple[Status, ...]:
    """Look for every data file and check it; what is missing or wrong is told, not raised.

    >>> [status.source.name for status in verify()]
    ['parkinsons', 'supernova']
    """
    return tuple(_status(source) for source in all_sources())


def fetch(source: Source, *, opener: Opener | None = None, progress: Progress | None = None) -> Path:
    """Download a data file into the cache folder, unless the right one is there already.

    `opener` takes a URL and returns a response, as `urllib.request.urlopen` does, which is the default;
    `progress` is told how many bytes came and, where that is known, of how many.

    >>> sample = Source("sample", "no-such-file", "https://example.org", "", 0, "", "")
    >>> def offline(url):
    ...     raise OSError("no network")
    >>> fetch(sample, opener=offline)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    breakeven_research.datasets.files.MissingData: sample: could not download https://example.org (no ...
    """
    path = cache_folder() / source.filename
    try:
        _read(source, path)
    except (MissingData, CorruptData):
        body = _downloaded(source, _urlopen if opener is None else opener, progress)
        content = body if source.member is None else _member(source, body)
        _check(source, content, source.url, f"nothing was kept; try again, or {_own_copy(source)}")
        _write(source, path, content)
    return path


def _found(source: Source) -> tuple[Path, bytes]:
    own = os.environ.get("BREAKEVEN_DATA")
    folders = [*([Path(own).expanduser()] if own else []), cache_folder()]
    for folder in folders:
        path = folder / source.filename
        if path.is_file():
            return path, _read(source, path)
    places = " or ".join(str(folder) for folder in folders)
    raise MissingData(f"{source.name}: found no file {source.filename} in {places}; {_how_to_get(source)}")


def _status(source: Source) -> Status:
    try:
        return Status(source, locate(source), None)
    except BreakevenError as problem:
        return Status(source, None, problem)


def _read(source: Source, path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MissingData(
            f"{source.name}: could not read {path} ({_reason(error)}); {_how_to_get(source)}"
        ) from error
    _check(source, content, str(path), f"remove that file and {_how_to_get(source)}")
    return content


def _check(source: Source, content: bytes, origin: str, advice: str) -> None:
    came = sha256(content).hexdigest()
    if came != source.sha256:
        raise CorruptData(
            f"{source.name}: expected {source.size} bytes with SHA-256 {source.sha256}, "
            f"got {len(content)} bytes with {came} from {origin}; {advice}"
        )


def _urlopen(url: str) -> Any:
    from urllib.request import urlopen

    return urlopen(url, timeout=TIMEOUT_SECONDS)


def _downloaded(source: Source, opener: Opener, progress: Progress | None) -> bytes:
    from http.client import HTTPException

    body = bytearray()
    try:
        with opener(source.url) as response:
            length = getattr(response, "headers", {}).get("Content-Length") or ""
            expected = int(length) if length.isdecimal() else None
            while len(body) <= LARGEST_DOWNLOAD and (block := response.read(BLOCK_BYTES)):
                body += block
                if progress is not None:
                    progress(len(body), expected)
    except (OSError, HTTPException) as error:
        raise MissingData(
            f"{source.name}: could not download {source.url} ({_reason(error)}); {_own_copy(source)}"
        ) from error
    return bytes(body)


def _member(source: Source, archive: bytes) -> bytes:
    from io import BytesIO
    from zipfile import BadZipFile, ZipFile
    from zlib import error as ZlibError  # noqa: N812

    try:
        with ZipFile(BytesIO(archive)) as files, files.open(str(source.member)) as member:
            return member.read(source.size + 1)  # one more would tell that it is too long
    except (BadZipFile, ZlibError, KeyError, EOFError, NotImplementedError, RuntimeError) as error:
        raise CorruptData(
            f"{source.name}: expected a zip archive that holds {source.member}, "
            f"got {len(archive)} bytes from {source.url} ({_reason(error)}); "
            f"nothing was kept; try again, or {_own_copy(source)}"
        ) from error


def _write(source: Source, path: Path, content: bytes) -> None:
    try:
        write(path.parent, path.name, content)
    except UnwritableFolder as error:
        raise MissingData(
            f"{source.name}: {error}; "
            f"set XDG_CACHE_HOME to a folder that can be written to, or {_own_copy(source)}"
        ) from error


def _reason(error: BaseException) -> str:
    """What went wrong, on one line."""
    told = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
    return " ".join(str(told).split()) or type(error).__name__


def _how_to_get(source: Source) -> str:
    if not source.url:
        return _own_copy(source)
    return f"run `breakeven datasets fetch {source.name}`, or {_own_copy(source)}"


def _own_copy(source: Source) -> str:
    return f"set BREAKEVEN_DATA to a folder that holds {source.filename}"
