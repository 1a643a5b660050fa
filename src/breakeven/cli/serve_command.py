"""`breakeven serve`: the service in the foreground, until Ctrl-C or a signal to terminate."""

from contextlib import nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from breakeven.cli.log_messages import LogLevel, written
from breakeven.cli.output import AsJson, as_line, login_name, print_json


def serve(
    store: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="sqlite:///PATH or postgresql://HOST/NAME; sqlite:///breakeven.db unless given.",
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="The address to listen at; 127.0.0.1 unless given.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="The port to listen at; 8765 unless given.", show_default=False),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings as TOML; options win.", show_default=False)
    ] = None,
    stream: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Also serve what `breakeven simulate` wrote to this folder; may be repeated.",
            show_default=False,
        ),
    ] = None,
    person_header: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The header in which a proxy says who has logged in; see `breakeven person`.",
            show_default=False,
        ),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="The address of that proxy; from anybody else the header is refused. May be repeated.",
            show_default=False,
        ),
    ] = None,
    call_log: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a line of JSON for each call behind those of this file; - is standard error.",
            show_default=False,
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo", help="Also serve simulated parcels and a labeller to take over from; kept nowhere."
        ),
    ] = False,
    as_json: AsJson = False,
    log_level: LogLevel = None,
) -> None:
    """Decide over HTTP, and let people label from a desk.

    A store that is not there is made. Ctrl-C stops: what was answered is on disk.
    """
    from msgspec.structs import replace

    from breakeven.errors.addresses import without_password
    from breakeven.service.server import ServeSettings, read_settings
    from breakeven.service.server import serve as serve_until_stopped

    settings = ServeSettings() if config is None else read_settings(config)
    folder = TemporaryDirectory(prefix="breakeven-") if demo and store is None else nullcontext()

    def begun(address: str) -> None:
        shown = without_password(settings.store)
        if as_json:
            print_json({"address": address, "store": shown})
        else:
            print(f"serving {as_line(shown)} at {address} (Ctrl-C stops)", flush=True)
            if demo:
                print(f"label parcels at {address}/streams/parcels/desk", flush=True)
                print(f"watch the bill at {address}/streams/parcels/board", flush=True)

    with folder as scratch:
        store = store if scratch is None else f"sqlite:///{scratch}/demo.db"
        given = {
            "store": store,
            "host": host,
            "port": port,
            "call_log": call_log,
            "log_level": log_level,
            "person_header": person_header,
            "trusted_proxy": trusted_proxy or None,
        }
        settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
        with written(settings.log_level), suppress(KeyboardInterrupt):  # which is how it is stopped
            serve_until_stopped(settings, stream or [], login_name("breakeven serve"), begun, demo=demo)
    if not as_json:
        print("stopped")
