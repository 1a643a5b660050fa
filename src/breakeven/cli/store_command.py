"""`breakeven store`: what a person does to a store.

Streams are created, stores checked, upgraded, backed up, restored, exported and compacted, ids erased.
Checking, exporting and backing up only read, and may be done while a server writes.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from breakeven.cli.output import AsJson, as_line, bar, login_name, print_json, table

if TYPE_CHECKING:
    from breakeven.folding import StreamReport
    from breakeven.store import LogEntry, SqliteStore, StoredStream
    from breakeven.store.sql import SqlStore
    from breakeven.store.sqlite import OpenFor

DEFAULT_STORE = "sqlite:///breakeven.db"
SHOWN_OFTEN = 1000  # entries between two looks at a progress bar

StoreAddress = Annotated[
    str,
    typer.Option("--store", metavar="ADDRESS", help="sqlite:///PATH or postgresql://HOST/NAME."),
]
StreamName = Annotated[str | None, typer.Option("--stream", metavar="NAME", help="This stream alone.")]

store = typer.Typer(
    help="Logs and snapshots of streams: create, check, back up, export, erase.", rich_markup_mode=None
)


@store.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the stream.", show_default=False)],
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Its configuration, as TOML or JSON.", show_default=False),
    ] = None,
    bill: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Go on from what `simulate` wrote.", show_default=False),
    ] = None,
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Make a stream, from a configuration or from a bill's folder; the store is made if it is not there."""
    from breakeven.errors import expect
    from breakeven.service.setting_up import create as create_stream
    from breakeven.service.setting_up import create_from_bill, read_config

    if (config is None) == (bill is None):
        came = "neither" if bill is None else "both"
        expect.refuse("create", "either --config or --bill", came, described=True)
    with opened_store(store, "create") as opened:
        if bill is not None:
            create_from_bill(opened, bill, name=name, by=login_name("--by"))
        elif config is not None:
            create_stream(opened, name, read_config(config), by=login_name("--by"))
        address = opened.name
    if as_json:
        print_json({"store": address, "stream": name})
    else:
        print(f"{as_line(address)}: the stream {as_line(name)} is there")


@store.command()
def check(store: StoreAddress = DEFAULT_STORE, stream: StreamName = None, as_json: AsJson = False) -> None:
    """Fold every stream from its first entry on, and compare with its snapshots.

    Exit code 2 where anything is wrong. Nothing is changed.
    """
    from breakeven.folding import Damage, check_stream

    with opened_store(store, "read") as opened:
        wrong = [f"{opened.name}: {one}" for one in opened.damage()]
        reports = []
        for one in _chosen(opened, stream):
            with bar(f"checking {one.name}", hidden=as_json) as progress:
                reports.append(check_stream(opened, one, progress))
        name = opened.name
    wrong += [f"stream {report.name!r}: {one}" for report in reports for one in report.wrong]
    if as_json:
        print_json({"store": name, "streams": reports, "wrong": wrong})
    else:
        print("\n".join(_told(reports)))
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise Damage(f"{wrong[0]}{more}")


def _told(reports: "list[StreamReport]") -> list[str]:
    if not reports:
        return ["no streams"]
    rows = [("", "entries", "rounds", "snapshots", "")]
    for one in reports:
        numbers = (f"{one.entries:,}", f"{one.rounds:,}", f"{one.snapshots:,}")
        rows.append((as_line(one.name), *numbers, "WRONG" if one.wrong else "whole"))
    return table(rows)


@store.command()
def upgrade(store: StoreAddress = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Bring the tables of an older store forward to this version; back it up first."""
    from breakeven.store.schema import SCHEMA_VERSION

    with opened_store(store, "upgrade") as opened:
        before, name = opened.upgrade(), opened.name
    if as_json:
        print_json({"store": name, "before": before, "version": SCHEMA_VERSION})
    elif before == SCHEMA_VERSION:
        print(f"{as_line(name)} is of version {SCHEMA_VERSION} already")
    else:
        print(f"{as_line(name)}: version {before} became version {SCHEMA_VERSION}")


@store.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.", show_default=False)],
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Copy a store as it is now into a new file; it may be written to meanwhile."""
    from breakeven.store.backup import write_backup

    with opened_store(store, "read") as opened, bar("backing up", hidden=as_json) as progress:
        write_backup(_in_a_file(opened), target, progress)
        name = opened.name
    if as_json:
        print_json({"store": name, "backup": target, "bytes": target.stat().st_size})
    else:
        print(f"{as_line(name)} is copied to {as_line(target)}")


@store.command()
def restore(
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.", show_default=False)],
    store: StoreAddress = DEFAULT_STORE,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Keep a store that is there under another name.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup in the place of a store that nobody uses."""
    from breakeven.errors.addresses import SQLITE
    from breakeven.store.backup import restore_backup

    if not store.startswith(SQLITE):
        _refuse_database()
    target = Path(store.removeprefix(SQLITE))
    with bar("restoring", hidden=as_json) as progress:
        kept = restore_backup(backup, target, overwrite=overwrite, progress=progress)
    if as_json:
        print_json({"store": target, "backup": backup, "kept": kept})
    else:
        print(f"{as_line(target)} is what {as_line(backup)} was")
        if kept is not None:
            print(f"what was there before is kept in {as_line(kept)}")


@store.command()
def export(
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write; standard output unless given.")
    ] = None,
    form: Annotated[Literal["jsonl", "csv"], typer.Option("--format", help="JSON lines, or CSV.")] = "jsonl",
    store: StoreAddress = DEFAULT_STORE,
    stream: StreamName = None,
    as_json: AsJson = False,
) -> None:
    """Write every entry as a line; CSV cannot carry formulas into a spreadsheet."""
    import sys

    from breakeven.errors import expect
    from breakeven.files import write_by

    if out is None and as_json:
        expect.refuse("--json", "a file to write the entries to, with --out", "none", described=True)
    with opened_store(store, "read") as opened, bar("exporting", hidden=as_json or out is None) as progress:
        lines = _lines(opened, _chosen(opened, stream), form, progress)
        if out is None:
            for line in lines:
                sys.stdout.write(line.decode())
            return
        written = Counted()
        write_by(out.parent, out.name, lambda file: written.into(file, lines))
    entries = written.lines - (form == "csv")
    if as_json:
        print_json({"out": out, "entries": entries})
    else:
        print(f"{entries:,} entries are in {as_line(out)}")


class Counted:
    """How many lines went into a file."""

    lines = 0

    def into(self, file: Any, lines: Iterator[bytes]) -> None:
        """Write all of them."""
        for line in lines:
            file.write(line)
            self.lines += 1


def _lines(opened: "SqlStore", streams: "list[StoredStream]", form: str, progress: Any) -> Iterator[bytes]:
    from breakeven.store.export import EXPORT_COLUMNS, csv_line, csv_row, json_line

    if form == "csv":
        yield csv_row(EXPORT_COLUMNS)
    line, done = (csv_line if form == "csv" else json_line), 0
    whole = sum(opened.last(one.number) for one in streams)
    for one in streams:
        for entry in opened.entries(one.number):
            yield line(one.name, entry, _as_json)
            done += 1
            if progress is not None and done % SHOWN_OFTEN == 0:
                progress(done, whole)


def _as_json(entry: "LogEntry") -> bytes | None:
    """An entry's event as JSON; None where it is no event of a learner, or has a point of bytes."""
    from breakeven import wire
    from breakeven.errors import InvalidInput
    from breakeven.folding import EVENT_KINDS, event_of

    if entry.kind not in EVENT_KINDS:
        return None
    try:
        return wire.to_json(event_of(entry))
    except InvalidInput:
        return None


@store.command()
def compact(
    keep: Annotated[int, typer.Option(min=0, help="How many snapshots of each stream to keep.")] = 1,
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Drop old snapshots and free space; entries stay, all of them."""
    with opened_store(store, "write") as opened, bar("compacting", hidden=as_json) as progress:
        streams = opened.streams()
        dropped = 0
        for i, one in enumerate(streams):
            dropped += opened.drop_snapshots(one.number, keep=keep)
            if progress is not None:
                progress(i + 1, len(streams))
        opened.compact()
        name = opened.name
    if as_json:
        print_json({"store": name, "snapshots_dropped": dropped})
    else:
        print(f"{as_line(name)}: {dropped:,} old snapshots dropped, free space given back")


@store.command()
def erase(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of the arrival.", show_default=False)],
    store: StoreAddress = DEFAULT_STORE,
    stream: StreamName = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who erases; your login name unless given."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Delete all content about an id, for good, in one stream or in all of them.

    Numbers and rounds stay, and decisions taken stand. Snapshots of the stream are dropped, since they hold
    what was erased. A mark of the id is kept, so that it is not taken again. Backups and exports made before
    are yours to delete.
    """
    from breakeven.folding import erase as erase_id

    by = by or login_name("--by")
    with opened_store(store, "write") as opened, bar("erasing", hidden=as_json) as progress:
        done = erase_id(opened, id, by=by, stream=stream, progress=progress)
    if as_json:
        print_json({"erased": done})
    else:
        if not done:
            print(f"{as_line(id)} was erased before")
        for one in done:
            entries = "1 entry" if one.entries == 1 else f"{one.entries:,} entries"
            print(f"{as_line(one.name)}: {entries} erased")


@contextmanager
def opened_store(address: str, access: "OpenFor") -> "Iterator[SqlStore]":
    """A store that is open meanwhile."""
    from breakeven.store import open_store

    with closing(open_store(address, access)) as store:
        yield store


def _chosen(store: "SqlStore", name: str | None) -> "list[StoredStream]":
    return store.streams() if name is None else [store.stream(name)]


def _in_a_file(store: "SqlStore") -> "SqliteStore":
    from breakeven.store import SqliteStore

    if not isinstance(store, SqliteStore):
        _refuse_database()
    return store


def _refuse_database() -> NoReturn:
    from breakeven.errors import expect

    expect.refuse(
        "store",
        "sqlite:///PATH",
        "a store in PostgreSQL; use pg_dump and pg_restore",
        described=True,
    )
