"""A desk by its address: `folder:PATH`, `label-studio://HOST/PROJECT`, `webhook:https://HOST/PATH`.

Secrets are no part of an address: they come from the environment.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from breakeven.desks.folder_desk import FolderDesk, FolderForm
from breakeven.desks.interface import LabellingDesk
from breakeven.desks.journal import Journal
from breakeven.desks.label_studio import LabelStudio
from breakeven.desks.signed_webhook import SignedWebhook
from breakeven.errors import expect

LOOKS_APART = 1.0  # seconds between two looks at a file of answers
STUDIO_TOKEN, DESK_SECRET = "LABEL_STUDIO_TOKEN", "BREAKEVEN_DESK_SECRET"
STUDIO_SCHEMES = {"label-studio": "https", "label-studio+http": "http"}
ADDRESS_FORMS = "folder:PATH, folder+jsonl:PATH, label-studio://HOST/PROJECT or webhook:https://HOST/PATH"


def open_desk(address: str, journal: Journal, environment: Mapping[str, str] = os.environ) -> LabellingDesk:
    """The desk at an address, which remembers in a journal.

    A Label Studio without TLS is `label-studio+http://HOST:PORT/PROJECT`; `?control=NAME` names the tag that
    has the label, and `?yes=1&no=0` says what choices count as. Its token is in LABEL_STUDIO_TOKEN, and the
    secret of webhooks in BREAKEVEN_DESK_SECRET.
    """
    scheme, _, rest = address.partition(":")
    if scheme in ("folder", "folder+jsonl") and rest:
        folder = rest.removeprefix("//") if rest.startswith("///") else rest
        form: FolderForm = "jsonl" if scheme == "folder+jsonl" else "csv"
        return FolderDesk(Path(folder), form, journal=journal, looks_apart=LOOKS_APART)
    if scheme in STUDIO_SCHEMES:
        return _studio(address, STUDIO_SCHEMES[scheme], journal, environment)
    if scheme == "webhook" and rest.startswith(("http://", "https://")):
        return SignedWebhook(rest, _secret(DESK_SECRET, environment), journal=journal)
    expect.refuse("desk", ADDRESS_FORMS, address)


def _studio(address: str, scheme: str, journal: Journal, environment: Mapping[str, str]) -> LabelStudio:
    parts = urlsplit(address)
    *path, project = parts.path.strip("/").split("/")
    if not parts.netloc or not project.isdecimal():
        expect.refuse("desk", "label-studio://HOST/PROJECT with the number of a project", address)
    about = dict(parse_qsl(parts.query))
    control = about.pop("control", None)
    try:
        choices = {name: float(value) for name, value in about.items()}
    except ValueError:
        expect.refuse("desk", "a number behind every choice, such as ?yes=1&no=0", address)
    return LabelStudio(
        f"{scheme}://{parts.netloc}{''.join(f'/{one}' for one in path)}",
        int(project),
        _secret(STUDIO_TOKEN, environment),
        journal=journal,
        control=control,
        choices=choices,
        secret=environment.get(DESK_SECRET),
    )


def _secret(name: str, environment: Mapping[str, str]) -> str:
    value = environment.get(name, "")
    if not value:
        expect.refuse(name, "a secret in this variable of the environment", "none", described=True)
    return value
