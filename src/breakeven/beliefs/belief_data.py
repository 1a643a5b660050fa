"""Beliefs as plain data, such as JSON and TOML hold, and back.

A belief is its kind and its arguments: {"kind": "TypeMeans", "noise_std": 0.5}. What is None is left out.
"""

from collections.abc import Iterable
from functools import cache
from inspect import signature
from typing import Any

from breakeven.beliefs.averaged import Averaged, AveragedShares
from breakeven.beliefs.belief import Belief
from breakeven.beliefs.cells import Cells
from breakeven.beliefs.gp import GaussianProcess
from breakeven.beliefs.separate import SeparateTypes
from breakeven.beliefs.types import TypeMeans, TypeShares
from breakeven.errors import BreakevenError, expect

BELIEFS: list[type[Any]] = [
    Averaged,
    AveragedShares,
    Cells,
    GaussianProcess,
    SeparateTypes,
    TypeMeans,
    TypeShares,
]
"""The beliefs that plain data and snapshots know by the name of their class."""
OUR_BELIEFS = {one.__name__: one for one in BELIEFS}

OWN_KIND = "own:"  # stands before the kind of a class that is not ours


def enter(kind: type[Any]) -> None:
    """One more belief of ours, which is made of others and so cannot be named above."""
    BELIEFS.append(kind)
    OUR_BELIEFS[kind.__name__] = kind


def belief_data(belief: Belief) -> dict[str, Any]:
    """A belief as plain data, without what it has learnt.

    >>> belief_data(TypeMeans(noise_std=0.5))
    {'kind': 'TypeMeans', 'noise_std': 0.5, 'delta': 0.05, 'prior_mean': 0.0, 'label_scale': 1.0}
    """
    given = {name: as_lists(value) for name, value in belief.config().items() if value is not None}
    return {"kind": kind_name(belief), **given}


def as_lists(data: Any) -> Any:
    """Plain data with lists in place of tuples, as it comes back from JSON, TOML and MessagePack."""
    if isinstance(data, dict):
        return {name: as_lists(value) for name, value in data.items()}
    return list(map(as_lists, data)) if isinstance(data, list | tuple) else data


def kind_name(belief: Belief) -> str:
    """What the kind of a belief is called in plain data."""
    kind = type(belief)
    return kind.__name__ if kind in BELIEFS else OWN_KIND + kind.__name__


def belief_kind(name: Any, own: Iterable[type[Belief]] = ()) -> type[Belief]:
    """The class with this name; `own` names classes that are not ours."""
    kinds = OUR_BELIEFS | {OWN_KIND + one.__name__: one for one in own} if own else OUR_BELIEFS
    kind: type[Belief] = kinds[expect.known("belief: kind", name, kinds)]
    return kind


@cache
def _arguments(kind: type[Any]) -> frozenset[str]:
    return frozenset(signature(kind).parameters)


def belief_of(data: Any, own: Iterable[type[Belief]] = ()) -> Belief:
    """A belief from plain data; `own` names classes that are not ours.

    >>> belief_of({"kind": "TypeMeans", "noise_std": 0.5}).noise_std
    0.5
    >>> belief_of({"kind": "TypeMeans", "noise": 0.5})
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: TypeMeans: expected a known name, perhaps 'noise_std', got 'noise'
    """
    if not isinstance(data, dict) or "kind" not in data:
        expect.refuse("belief", 'plain data such as {"kind": "TypeMeans", "noise_std": 0.5}', data)
    config = dict(data)
    kind = belief_kind(config.pop("kind"), own)
    if kind in BELIEFS:
        arguments = _arguments(kind)  # type: ignore[arg-type]
        for name in config:
            if name not in arguments:
                expect.known(kind.__name__, name, arguments)
    try:
        return kind.of(config)
    except BreakevenError:
        raise
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        expect.refuse(kind.__name__, "its arguments", str(error), described=True)
