"""Labelling tools: where people answer what a learner asks.

A desk takes requests and gives answers; `DeskSync` carries both ways between a desk and what has the verbs
of a learner, the service among them. A folder of files, Label Studio and a signed webhook are desks.
"""

from typing import TYPE_CHECKING, Any

from breakeven.desks.counting import Counting
from breakeven.desks.folder_desk import FolderDesk
from breakeven.desks.interface import (
    AnswerKind,
    DeskAnswer,
    DeskDown,
    DeskRequest,
    LabellingDesk,
    MissingHttpx,
    UnreadableAnswer,
    Verbs,
    WrongSecret,
)
from breakeven.desks.journal import Journal
from breakeven.desks.sync import DeskSync, SyncReport, requests_of

if TYPE_CHECKING:
    from breakeven.desks.desk_address import open_desk
    from breakeven.desks.label_studio import LabelStudio
    from breakeven.desks.signed_webhook import SignedWebhook

__all__ = [
    "AnswerKind",
    "Counting",
    "DeskAnswer",
    "DeskDown",
    "DeskRequest",
    "DeskSync",
    "FolderDesk",
    "Journal",
    "LabelStudio",
    "LabellingDesk",
    "MissingHttpx",
    "SignedWebhook",
    "SyncReport",
    "UnreadableAnswer",
    "Verbs",
    "WrongSecret",
    "open_desk",
    "requests_of",
]

NEED_HTTPX = {
    "LabelStudio": "breakeven.desks.label_studio",
    "SignedWebhook": "breakeven.desks.signed_webhook",
    "open_desk": "breakeven.desks.desk_address",
}


def __getattr__(name: str) -> Any:
    """What needs httpx is loaded when it is first asked for."""
    if name in NEED_HTTPX:
        from importlib import import_module

        return getattr(import_module(NEED_HTTPX[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
