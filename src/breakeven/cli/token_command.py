"""`breakeven token`: who may use a service. Tokens may be changed while it runs."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from breakeven.cli.output import AsJson, as_line, print_json, table
from breakeven.cli.store_command import DEFAULT_STORE, StoreAddress, opened_store

if TYPE_CHECKING:
    from breakeven.store import StoredToken

SECONDS_A_DAY = 86_400.0

token = typer.Typer(help="Who may use a service: add, list and revoke tokens.", rich_markup_mode=None)


@token.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who it is for.", show_default=False)],
    role: Annotated[
        list[str],
        typer.Option(help="send, label, watch or administer; may be repeated.", show_default=False),
    ],
    stream: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="For this stream alone; may be repeated.", show_default=False),
    ] = None,
    days: Annotated[
        float | None, typer.Option(help="How long it is good; for ever unless given.", show_default=False)
    ] = None,
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Make a token and show it, once: the store keeps a digest alone. A store that is not there is made."""
    from breakeven.errors import expect
    from breakeven.service.access import new_token
    from breakeven.store import WrongStore

    now = time.time()
    expires = None if days is None else now + SECONDS_A_DAY * expect.positive("--days", days)
    word, kept = new_token(name, role, stream, now, expires)
    try:
        with opened_store(store, "tokens") as opened:
            opened.add_token(kept)
    except WrongStore as error:
        if "no file" not in str(error):
            raise
        with opened_store(store, "create") as opened:
            opened.add_token(kept)
    if as_json:
        print_json({"id": kept.id, "name": name, "roles": role, "token": word})
    else:
        print(f"{word}\nThis is the token of {as_line(name)} ({', '.join(role)}). It is shown only here.")


@token.command("list")
def list_(store: StoreAddress = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show all tokens: whose they are and what they are good for; never the tokens themselves."""
    with opened_store(store, "read") as opened:
        tokens = opened.tokens()
    if as_json:
        print_json({"tokens": [_plain(one) for one in tokens]})
    elif not tokens:
        print("no tokens")
    else:
        rows = [("", "id", "roles", "streams", "expires", "")]
        for one in tokens:
            plain = _plain(one)
            rows.append(
                (
                    as_line(one.name),
                    one.id,
                    one.roles,
                    one.streams or "all",
                    str(plain["expires"] or "never"),
                    "revoked" if one.revoked is not None else "",
                )
            )
        print("\n".join(table(rows)))


def _plain(one: "StoredToken") -> dict[str, object]:
    from breakeven.store.export import time_of

    def told(at: float | None) -> str | None:
        return None if at is None else time_of(at)

    return {
        "id": one.id,
        "name": one.name,
        "roles": one.roles.split(),
        "streams": None if one.streams is None else one.streams.split(),
        "created": told(one.created),
        "expires": told(one.expires),
        "revoked": told(one.revoked),
    }


@token.command()
def revoke(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id, as `list` shows it.", show_default=False)],
    store: StoreAddress = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Say that a token is good no more; a service that runs refuses it within a second."""
    from breakeven.errors import UnknownId, expect

    with opened_store(store, "tokens") as opened:
        if not opened.revoke_token(id, time.time()):
            raise UnknownId(
                f"token: expected an id that `breakeven token list` shows, got {expect.shown(id)}"
            )
    if as_json:
        print_json({"revoked": id})
    else:
        print(f"{as_line(id)} is revoked")
