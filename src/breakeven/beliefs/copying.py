"""Copies of beliefs: a copy, or what a pickle brings back, is what a snapshot restores, to the bit."""

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from breakeven.beliefs.belief import Belief


class CopiedFromState:
    """A belief that is copied and pickled by its `config` and its `state`.

    Copying attribute by attribute would part arrays from the views into them, and lay them out otherwise.
    """

    def __reduce__(self: "Belief") -> tuple[Any, ...]:
        given = {name: value for name, value in self.config().items() if value is not None}
        return copy_from_state, (type(self), msgspec.msgpack.encode((given, self.state())))


def copy_from_state(kind: "type[Belief]", stored: bytes) -> "Belief":
    """A belief of this kind, from its stored arguments and state."""
    config, state = msgspec.msgpack.decode(stored)
    belief = kind.of(config)
    belief.load(state)
    return belief
