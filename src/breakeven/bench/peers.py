"""The libraries that are measured beside ours: loaded only when their turn comes, and missed politely."""

from importlib import import_module
from typing import Any

from breakeven.bench.measurement import NotMeasured

NOT_BROUGHT = ("torch", "gpytorch")  # too large to be anyone's extra


class MissingPeer(NotMeasured):
    """A library to compare with is not installed; the message says how it would be."""


def peer(module: str) -> Any:
    """A module of a peer.

    >>> peer("no_such_library.parts")
    Traceback (most recent call last):
    breakeven.bench.peers.MissingPeer: not installed (pip install 'breakeven[bench]')
    """
    try:
        return import_module(module)
    except ImportError as error:
        brought = module.partition(".")[0] not in NOT_BROUGHT
        how = "pip install 'breakeven[bench]'" if brought else "no extra brings it"
        raise MissingPeer(f"not installed ({how})") from error
