"""`breakeven datasets`: the data files of the paper's experiments, listed, fetched and verified."""

import textwrap
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from breakeven.cli.failures import described
from breakeven.cli.output import AsJson, as_line, bar, facts, print_json
from breakeven.errors import expect
from breakeven_research import datasets

WORDS_WIDTH = 66  # beside the names of the facts, in 80 columns

app = typer.Typer(name="datasets", help="The data files of the paper's experiments.")


class Listed(Struct):
    """A data file as `list` shows it."""

    name: str
    file: str
    size: int
    sha256: str
    licence: str
    citation: str
    origin: str
    here: bool
    path: Path | None


class Fetched(Struct):
    """A data file that is here now, and whether it had to be downloaded."""

    name: str
    path: Path
    downloaded: bool


class Verified(Struct):
    """Whether a data file is here and the right one, and if not, why."""

    name: str
    ok: bool
    path: Path | None
    problem: dict[str, str] | None


def _names() -> list[str]:
    return ["all", *(source.name for source in datasets.all_sources())]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the data files, and whether they are here.

    Each with its size, licence and origin.
    """
    statuses = datasets.verify()
    if as_json:
        print_json({"datasets": [_listed(status) for status in statuses]})
    else:
        print("\n\n".join(_facts(status) for status in statuses))


@app.command()
def fetch(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A name that `list` shows, or `all`.", autocompletion=_names),
    ],
    as_json: AsJson = False,
) -> None:
    """Download a data file, unless it is here.

    Its SHA-256 is checked, and nothing is kept where it differs. `all` stops at the first file that fails.
    """
    expect.one_of("name", name, _names())
    fetched = []
    for source in (source for source in datasets.all_sources() if name in ("all", source.name)):
        fetched.append(_fetched(source, quiet=as_json))
        if not as_json:
            print(_news(fetched[-1]))
    if as_json:
        print_json({"datasets": fetched})


@app.command()
def verify(as_json: AsJson = False) -> None:
    """Check every data file.

    The exit code is 0 only where all are here and right.
    """
    verified = [_verified(status) for status in datasets.verify()]
    ok = all(each.ok for each in verified)
    if as_json:
        print_json({"ok": ok, "datasets": verified})
    else:
        print("\n".join(_verdict(each) for each in verified))
    if not ok:
        raise typer.Exit(2)


def _listed(status: datasets.Status) -> Listed:
    source = status.source
    return Listed(
        name=source.name,
        file=source.filename,
        size=source.size,
        sha256=source.sha256,
        licence=source.licence,
        citation=source.citation,
        origin=source.url,
        here=status.ok,
        path=status.path,
    )


def _fetched(source: datasets.Source, quiet: bool) -> Fetched:
    try:
        return Fetched(source.name, datasets.locate(source), downloaded=False)
    except (datasets.MissingData, datasets.CorruptData):
        with bar(source.name, hidden=quiet) as progress:
            datasets.fetch(source, progress=progress)
    # A damaged file of the user's own is still the one that would be used: this says so.
    return Fetched(source.name, datasets.locate(source), downloaded=True)


def _verified(status: datasets.Status) -> Verified:
    problem = None if status.problem is None else described(status.problem)
    return Verified(status.source.name, status.ok, status.path, problem)


def _facts(status: datasets.Status) -> str:
    source = status.source
    return facts(
        source.name,
        {
            "here": _place(status),
            "file": f"{source.filename}, {source.size:,} bytes",
            "licence": textwrap.fill(source.licence, WORDS_WIDTH),
            "origin": source.url,
        },
    )


def _place(status: datasets.Status) -> str:
    if isinstance(status.problem, datasets.CorruptData):
        return "a damaged one; see `breakeven datasets verify`"
    return "no" if status.path is None else as_line(status.path)


def _news(fetched: Fetched) -> str:
    return f"{fetched.name}: {'fetched to' if fetched.downloaded else 'already at'} {as_line(fetched.path)}"


def _verdict(verified: Verified) -> str:
    if verified.problem is not None:
        return verified.problem["message"]
    return f"{verified.name}: right, at {as_line(verified.path)}"
