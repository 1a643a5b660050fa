"""`breakeven token` and `breakeven person`: who may use a service, also while it runs.

A token is shown once, when it is made. People are those whom a proxy has logged in. Every change is in a
trail: who made it, and when.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from breakeven.cli.output import AsJson, as_line, login_name, print_json, table
from breakeven.cli.store_command import DEFAULT_STORE, StoreAddress, opened_store

if TYPE_CHECKING:
    from breakeven.store import StoredPerson, StoredToken

SECONDS_A_DAY = 86_400.0

Roles = Annotated[
    list[str],
    typer.Option("--role", help="send, label, watch or administer; may be repeated.", show_default=False),
]
ForStreams = Annotated[
    list[str] | None,
    typer.Option(
        "--stream", metavar="NAME", help="For this stream alone; may be repeated.", show_default=False
    ),
]
Changer = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="NAME", help="Who does this; your login name unless given.", show_default=False
    ),
]

token = typer.Typer(help="Who may use a service: add, list and revoke tokens.", rich_markup_mode=None)
person = typer.Typer(
    help="What people may do whom a proxy has logged in: add, list and remove them.", rich_markup_mode=None
)


# -- tokens ----------------------------------------------------------------------------------------------


@token.command("add")
def add_token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who it is for.", show_default=False)],
    role: Roles,
    stream: ForStreams = None,
    days: Annotated[
        float | None, typer.Option(help="How long it is good; for ever unless given.", show_default=False)
    ] = None,
    by: Changer = None,
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Make a token and show it, once: the store keeps a digest alone. A store that is not there is made."""
    from breakeven.errors import expect
    from breakeven.service.access import new_token
    from breakeven.store import MissingStore

    now, by = time.time(), by or login_name("--by")
    expires = None if days is None else now + SECONDS_A_DAY * expect.positive("--days", days)
    word, kept = new_token(name, role, stream, now, expires)
    try:
        with opened_store(store, "tokens") as opened:
            opened.add_token(kept, by=by)
    except MissingStore:
        with opened_store(store, "create") as opened:
            opened.add_token(kept, by=by)
    if as_json:
        print_json({"id": kept.id, "name": name, "roles": role, "token": word})
    else:
        print(f"{word}\nThis is the token of {as_line(name)} ({', '.join(role)}). It is shown only here.")


@token.command("list")
def list_tokens(store: StoreAddress = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show all tokens: whose they are and what they are good for; never the tokens themselves."""
    with opened_store(store, "read") as opened:
        tokens = opened.tokens()
    plain = [
        {"id": one.id}
        | _rights(one)
        | {"created": _told(one.created), "expires": _told(one.expires)}
        | {"used": _told(one.used), "revoked": _told(one.revoked)}
        for one in tokens
    ]
    cells = [
        (
            one.id,
            _told(one.expires) or "never",
            _told(one.used) or "never",
            "revoked" if one.revoked is not None else "",
        )
        for one in tokens
    ]
    _show("tokens", plain, tokens, ("id", "expires", "used", ""), cells, as_json)


@token.command("revoke")
def revoke_token(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id, as `list` shows it.", show_default=False)],
    by: Changer = None,
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Say that a token is good no more; a service that runs refuses it within a second."""
    from breakeven.errors import UnknownId, expect

    by = by or login_name("--by")
    with opened_store(store, "tokens") as opened:
        if not opened.revoke_token(id, time.time(), by=by):
            raise UnknownId(
                f"token: expected an id that `breakeven token list` shows, got {expect.shown(id)}"
            )
    if as_json:
        print_json({"revoked": id})
    else:
        print(f"{as_line(id)} is revoked")


@token.command()
def trail(store: StoreAddress = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show who added and revoked tokens, said what people may do, and ended streams."""
    with opened_store(store, "read") as opened:
        changes = opened.trail()
    if as_json:
        lines = [
            {"at": _told(one.at), "by": one.by, "verb": one.verb, "about": one.about, "detail": one.detail}
            for one in changes
        ]
        print_json({"trail": lines})
    elif not changes:
        print("no changes")
    else:
        rows = [("", "by", "did", "for", "")]
        rows += [
            (_told(one.at) or "", as_line(one.by), one.verb, as_line(one.about), as_line(one.detail))
            for one in changes
        ]
        print("\n".join(table(rows)))


# -- people ----------------------------------------------------------------------------------------------


@person.command("add")
def add_person(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name, as the proxy says it.", show_default=False)
    ],
    role: Roles,
    stream: ForStreams = None,
    by: Changer = None,
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Say what somebody may do; what was said before is replaced."""
    from breakeven.service.access.tokens import check_rights
    from breakeven.store import StoredPerson

    check_rights(name, role, stream)
    kept, by = (
        StoredPerson(name, " ".join(role), " ".join(stream) if stream else None),
        by or login_name("--by"),
    )
    with opened_store(store, "tokens") as opened:
        opened.keep_person(kept, time.time(), by=by)
    if as_json:
        print_json({"name": name, "roles": role, "streams": stream})
    else:
        print(f"{as_line(name)} may {', '.join(role)}")


@person.command("list")
def list_people(store: StoreAddress = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show everybody, and what they may do."""
    with opened_store(store, "read") as opened:
        people = opened.people()
    _show("people", [_rights(one) for one in people], people, (), [()] * len(people), as_json)


@person.command("remove")
def remove_person(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name, as `list` shows it.", show_default=False)
    ],
    by: Changer = None,
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Say that somebody may do nothing any more; a service that runs refuses them within a second."""
    from breakeven.errors import UnknownId, expect

    by = by or login_name("--by")
    with opened_store(store, "tokens") as opened:
        if not opened.drop_person(name, time.time(), by=by):
            shown = expect.shown(name)
            raise UnknownId(f"person: expected a name that `breakeven person list` shows, got {shown}")
    if as_json:
        print_json({"removed": name})
    else:
        print(f"{as_line(name)} may do nothing")


# -- lists -----------------------------------------------------------------------------------------------


def _rights(one: "StoredToken | StoredPerson") -> dict[str, object]:
    streams = None if one.streams is None else one.streams.split()
    return {"name": one.name, "roles": one.roles.split(), "streams": streams}


def _show(
    what: str,
    plain: list[dict[str, object]],
    known: "Sequence[StoredToken | StoredPerson]",
    heads: tuple[str, ...],
    cells: Sequence[tuple[str, ...]],
    as_json: bool,
) -> None:
    """A list of those who may do something: as JSON, or as a table with further cells for each."""
    if as_json:
        print_json({what: plain})
    elif not known:
        print(f"no {what}")
    else:
        rows = [("", "roles", "streams", *heads)]
        for one, more in zip(known, cells, strict=True):
            rows.append((as_line(one.name), one.roles, one.streams or "all", *more))
        print("\n".join(table(rows)))


def _told(at: float | None) -> str | None:
    from breakeven.store.export import time_of

    return None if at is None else time_of(at)
