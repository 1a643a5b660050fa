"""`breakeven desk`: people label in a tool of their own, and the service is told.

Tokens and secrets come from the environment, so that no list of processes shows them.
"""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from breakeven.cli.failures import interruptible
from breakeven.cli.output import AsJson, as_line, print_json

if TYPE_CHECKING:
    from breakeven.desks import DeskSync

SERVICE_TOKEN = "BREAKEVEN_TOKEN"
LOOKS_A_SECOND = 10  # at whether Ctrl-C was pressed, while it waits

desk = typer.Typer(
    help="Let people label in Label Studio, in files or in a tool of yours.", rich_markup_mode=None
)


@desk.callback()
def _group() -> None:
    """Let people label in Label Studio, in files or in a tool of yours."""


@desk.command()
def sync(
    stream: Annotated[
        str, typer.Option(metavar="NAME", help="The stream of the service.", show_default=False)
    ],
    desk: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="folder:PATH, folder+jsonl:PATH, label-studio://HOST/PROJECT (token in LABEL_STUDIO_TOKEN) "
            "or webhook:https://HOST/PATH (secret in BREAKEVEN_DESK_SECRET).",
            show_default=False,
        ),
    ],
    service: Annotated[
        str, typer.Option(metavar="URL", help="The service; a token with the role label in BREAKEVEN_TOKEN.")
    ] = "http://127.0.0.1:8765",
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="What it remembers; the folder desk-NAME unless given.", show_default=False
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Carry everything once, and end.")] = False,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="How long to wait in between.")
    ] = 10.0,
    second: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="Where several people answer: first, mean:N, or labellers: those of --labeller alone.",
        ),
    ] = "first",
    labeller: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PERSON=NAME",
            help="With --second labellers: who counts, and as which labeller; may be repeated.",
            show_default=False,
        ),
    ] = None,
    charged: Annotated[
        bool, typer.Option("--charged", help="A label that is skipped or deleted is paid for all the same.")
    ] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Take messages of the tool here, beside polling.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Carry open requests of a stream to a desk, and its answers back.

    Nothing is asked twice and nothing is lost, whatever is killed or down meanwhile: the same command goes
    on.
    """
    from breakeven import files
    from breakeven.client import Client, Patience
    from breakeven.desks import Counting, DeskRequest, DeskSync, Journal, open_desk

    counting = Counting.of(second, _names(labeller or []), charged=charged)
    folder = state or Path(f"desk-{quote(stream, safe='')}")
    place = None if listen is None else _place(listen)
    with ExitStack() as stack:
        stop = stack.enter_context(interruptible())
        files.check_folder(folder)
        stack.enter_context(files.claimed(folder))
        tool = open_desk(desk, Journal(folder / "journal.db"))
        token = os.environ.get(SERVICE_TOKEN) or None
        client = stack.enter_context(Client(service, token, patience=Patience(tries=1)))
        served = client.stream(stream)

        def waiting() -> list[DeskRequest]:
            return [
                DeskRequest(one.id, one.row, one.cost, one.labeller) for one in served.requests(order="age")
            ]

        carrier = DeskSync(
            tool,
            served,
            waiting,
            memory=folder / "sync.db",
            counting=counting,
            name=f"stream {stream} at desk {desk}",
        )
        stack.callback(carrier.close)
        heard = threading.Event()
        if place is not None:
            from breakeven.desks.hook_receiver import hooks_received

            stack.enter_context(hooks_received(tool, *place, heard))
        if once:
            _say(carrier.once(), as_json)
            return
        _again_and_again(carrier, every, heard, stop, as_json)


def _again_and_again(
    carrier: "DeskSync", every: float, heard: threading.Event, stop: Callable[[], bool], as_json: bool
) -> None:
    """Until Ctrl-C; what is down is said once, and tried again."""
    from breakeven.desks.sync import is_down
    from breakeven.errors import BreakevenError

    down = ""
    while not stop():
        try:
            report = carrier.once()
            if down:
                print("up again", file=sys.stderr, flush=True)
            down = ""
            if report.anything:
                _say(report, as_json)
        except BreakevenError as error:
            if not is_down(error):
                raise
            if str(error) != down:
                down = str(error)
                print(f"breakeven: {as_line(down)}", file=sys.stderr, flush=True)
        for _ in range(max(int(every * LOOKS_A_SECOND), 1)):
            if stop() or heard.wait(1 / LOOKS_A_SECOND):
                break
        heard.clear()


def _say(report: object, as_json: bool) -> None:
    if as_json:
        print_json(report)
    else:
        print(report, flush=True)


def _names(given: list[str]) -> dict[str, str]:
    """Labellers by the people they are.

    >>> _names(["ann@clinic.example=nurse"])
    {'ann@clinic.example': 'nurse'}
    """
    from breakeven.errors import expect

    for one in given:
        if not all(one.partition("=")[::2]):
            expect.refuse("labeller", "PERSON=NAME, such as ann@clinic.example=nurse", one)
    return dict(one.partition("=")[::2] for one in given)


def _place(listen: str) -> tuple[str, int]:
    """A host and a port.

    >>> _place("127.0.0.1:9000")
    ('127.0.0.1', 9000)
    """
    from breakeven.errors import expect

    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        expect.refuse("listen", "HOST:PORT, such as 127.0.0.1:9000", listen)
    return host, int(port)
