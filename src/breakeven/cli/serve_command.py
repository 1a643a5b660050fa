"""`breakeven serve`: the service in the foreground, until Ctrl-C or a signal to terminate."""

from pathlib import Path
from typing import Annotated

import typer

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
    as_json: AsJson = False,
) -> None:
    """Decide over HTTP, and let people label from a desk.

    A store that is not there is made. Ctrl-C stops: what was answered is on disk.
    """
    from msgspec.structs import replace

    from breakeven.service.server import ServeSettings, read_settings
    from breakeven.service.server import serve as serve_until_stopped

    settings = ServeSettings() if config is None else read_settings(config)
    given = {"store": store, "host": host, "port": port}
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})

    def begun(address: str) -> None:
        if as_json:
            print_json({"address": address, "store": settings.store})
        else:
            print(f"serving {as_line(settings.store)} at {address} (Ctrl-C stops)", flush=True)

    serve_until_stopped(settings, stream or [], login_name("breakeven serve"), begun)
