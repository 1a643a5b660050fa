"""`breakeven person`: what people may do whom a proxy has logged in, also while a service runs."""

from typing import Annotated

import typer

from breakeven.cli.output import AsJson, as_line, print_json, table
from breakeven.cli.store_command import DEFAULT_STORE, StoreAddress, opened_store

person = typer.Typer(
    help="What people may do whom a proxy has logged in: add, list and remove them.", rich_markup_mode=None
)


@person.command()
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name, as the proxy says it.", show_default=False)
    ],
    role: Annotated[
        list[str],
        typer.Option(help="send, label, watch or administer; may be repeated.", show_default=False),
    ],
    stream: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="For this stream alone; may be repeated.", show_default=False),
    ] = None,
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Say what somebody may do; what was said before is replaced."""
    from breakeven.service.access.tokens import check_rights
    from breakeven.store import StoredPerson

    check_rights(name, role, stream)
    with opened_store(store, "tokens") as opened:
        opened.keep_person(StoredPerson(name, " ".join(role), " ".join(stream) if stream else None))
    if as_json:
        print_json({"name": name, "roles": role, "streams": stream})
    else:
        print(f"{as_line(name)} may {', '.join(role)}")


@person.command("list")
def list_(store: StoreAddress = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show everybody, and what they may do."""
    with opened_store(store, "read") as opened:
        people = opened.people()
    if as_json:
        streams = [None if one.streams is None else one.streams.split() for one in people]
        print_json(
            {
                "people": [
                    {"name": one.name, "roles": one.roles.split(), "streams": some}
                    for one, some in zip(people, streams, strict=True)
                ]
            }
        )
    elif not people:
        print("no people")
    else:
        rows = [("", "roles", "streams")]
        rows += [(as_line(one.name), one.roles, one.streams or "all") for one in people]
        print("\n".join(table(rows)))


@person.command()
def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name, as `list` shows it.", show_default=False)
    ],
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Say that somebody may do nothing any more; a service that runs refuses them within a second."""
    from breakeven.errors import UnknownId, expect

    with opened_store(store, "tokens") as opened:
        if not opened.drop_person(name):
            shown = expect.shown(name)
            raise UnknownId(f"person: expected a name that `breakeven person list` shows, got {shown}")
    if as_json:
        print_json({"removed": name})
    else:
        print(f"{as_line(name)} may do nothing")
