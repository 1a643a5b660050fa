"""A group of keys: `fold` takes its state and a batch of rows to the next state and the answers.

It knows no engine. Of one batch, labels are told first: they belong to earlier batches. Then the arrivals of
every key are decided in their order. Types under our rules are a `Fleet`; every other learner is kept as a
snapshot for each key. What comes out does not depend on how rows are shuffled within a batch, nor on which
keys share a group.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal, Protocol

import msgspec

from breakeven.beliefs import Belief
from breakeven.engines.answered import Answered, FoldCounts
from breakeven.engines.feed import ArrivalRows, LabelRows
from breakeven.engines.fleet_group import FleetGroup
from breakeven.engines.group_state import CarriedKey, GroupSetup, unsealed
from breakeven.engines.learner_group import LearnerGroup
from breakeven.learner import Learner
from breakeven.learner.fleet import why_no_fleet
from breakeven.rules import Rule


class Group(Protocol):
    """Learners of some keys, and what a batch of rows makes of them."""

    def fold(self, arrivals: ArrivalRows | None, labels: LabelRows | None) -> tuple[Answered, FoldCounts]:
        """Tell labels, then decide on arrivals."""
        ...

    def dump(self) -> bytes:
        """Everything, as bytes."""
        ...

    def learners(self) -> dict[Any, Learner]:
        """The learners by key."""
        ...

    @property
    def keys_are(self) -> str | None:
        """What keys are, integers or texts, once there are some."""
        ...

    def carry(self) -> list[CarriedKey]:
        """Every key as it goes on elsewhere."""
        ...

    def take(self, carried: Iterable[CarriedKey], ids_are: Literal["integers", "texts"]) -> None:
        """Take up keys that come from elsewhere; one that has arrivals here already is refused."""
        ...


def open_group(setup: GroupSetup, state: bytes | None = None) -> Group:
    """A group that goes on from its state; a new one where there is none."""
    content = None if state is None else unsealed(state, setup)
    return FleetGroup(setup, content) if is_fleet(setup) else LearnerGroup(setup, content)


def is_fleet(setup: GroupSetup) -> bool:
    """Whether the learners of such a group are a fleet."""
    return _is_fleet(msgspec.msgpack.encode(setup.config), setup.rules, setup.beliefs)


@lru_cache(maxsize=32)
def _is_fleet(config: bytes, rules: tuple[type[Rule], ...], beliefs: tuple[type[Belief], ...]) -> bool:
    return why_no_fleet(Learner.of(msgspec.msgpack.decode(config), rules, beliefs)) is None


def fold(
    setup: GroupSetup,
    state: bytes | None,
    arrivals: ArrivalRows | None = None,
    labels: LabelRows | None = None,
) -> tuple[bytes, Answered, FoldCounts]:
    """The next state of a group after a batch, the answers to its arrivals, and what it came to.

    >>> from breakeven import algorithm1
    >>> setup = GroupSetup.of(algorithm1(label_cost=2.0, noise_std=0.5))
    >>> rows = ArrivalRows(keys=["north", "north"], ids=[1, 2], xs=["flu", None], order=[7, 8])
    >>> state, answers, counts = fold(setup, None, rows)
    >>> answers.wants_label.tolist(), answers.fault
    ([True, False], [None, 'x: expected a text of 1 to 250 characters, got None'])
    >>> state, _, counts = fold(setup, state, labels=LabelRows(["north"], [1], [38.9]))
    >>> counts.told
    1
    """
    group = open_group(setup, state)
    answers, counts = group.fold(arrivals, labels)
    return group.dump(), answers, counts
