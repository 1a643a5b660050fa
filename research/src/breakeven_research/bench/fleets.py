"""Fleets: many learners in arrays, batch by batch, beside one learner for each key; and the bytes of a key.

Every batch is loaded from bytes, told the labels of the batch before, decided on and dumped again, as a group
of keys in an engine is.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from breakeven import Learner
from breakeven_research.bench.results import Measurement, Result, Sizes, peer, reading
from breakeven_research.bench.timing import Task, a_second, side_by_side
from breakeven_research.bench.type_stream import learner

KEYS_TO_ROWS, TYPES_OF_A_KEY = 100, 10
SEVERAL = 20_000  # rows that are enough to time one by one
LARGEST_ID = 2**62
LEAST, LEAST_OF_ONE = 2e6, 3e6
MOST_BYTES = 700


class KeyedRows(NamedTuple):
    """A batch of arrivals, and their labels."""

    keys: np.ndarray[Any, Any]
    xs: np.ndarray[Any, Any]
    ids: Any
    ys: np.ndarray[Any, Any]


def measurements(sizes: Sizes) -> list[Measurement]:
    """Batches of many keys, with either kind of ids; one key with very many types; bytes."""
    named: dict[str, Callable[[Sizes], Iterator[Result]]] = {
        "Fleet, integer ids": partial(_many_keys, False),
        "Fleet, ids of text": partial(_many_keys, True),
        "Fleet, one key with very many types": _one_key,
        "Fleet, one key, while types are new": _new_types,
        "Fleet, bytes of a key": _bytes_of_a_key,
    }
    return [Measurement(what, partial(measure, sizes)) for what, measure in named.items()]


def keyed_rows(rows: int, keys: int, types: int, seed: int, text: bool = False) -> KeyedRows:
    """Arrivals of these keys, drawn alike; ids count on from batch to batch."""
    random = np.random.default_rng(seed)
    key, x = random.integers(keys, size=rows), random.integers(types, size=rows)
    ids: Any = np.arange(seed * rows, (seed + 1) * rows)
    return KeyedRows(key, x, list(map("case {}".format, ids)) if text else ids, random.normal(size=rows))


def _many_keys(text: bool, sizes: Sizes) -> Iterator[Result]:
    peer("numba")
    from breakeven import Fleet

    keys = max(sizes.batch // KEYS_TO_ROWS, 1)
    first, second = (keyed_rows(sizes.batch, keys, TYPES_OF_A_KEY, seed, text) for seed in (0, 1))
    fleet = Fleet(learner())
    wanted = np.flatnonzero(fleet.decide(first.keys, first.xs, first.ids).wants_label)
    ids = [first.ids[i] for i in wanted] if text else first.ids[wanted]
    labels, blob = (first.keys[wanted], ids, first.ys[wanted]), fleet.dump()

    def batch() -> None:
        again = Fleet.load(blob)
        again.tell(*labels)
        again.decide(second.keys, second.xs, second.ids)
        again.dump()

    few = min(SEVERAL, sizes.batch)
    ours, single = side_by_side(
        Task(batch, sizes.batch), Task(partial(_one_by_one, first, few), few), repeats=sizes.repeats
    )
    what = f"Fleet of {keys:,} keys, {'ids of text' if text else 'integer ids'}, load and dump of every batch"
    yield Result(
        what=what,
        measured=a_second(ours),
        beside=f"a Learner for each key, kept in memory {a_second(single)}",
        ratio=f"{single.median / ours.median:.2g}× its rate",
        target="" if text else f"≥ {LEAST:,.0f} a second",
        reached=None if text else 1 / ours.median >= LEAST,
        readings=[reading("rates", "Fleet, ids of text" if text else "Fleet", ours)],
    )


def _one_by_one(rows: KeyedRows, count: int) -> None:
    learners: dict[int, Learner] = {}
    cases = zip(*(column[:count].tolist() for column in (rows.keys, rows.xs)), rows.ids[:count], strict=True)
    for key, x, id in cases:
        one = learners.get(key)
        if one is None:
            one = learners[key] = learner()
        one.decide(x, id=str(id))


def _one_key(sizes: Sizes) -> Iterator[Result]:
    peer("numba")
    from breakeven import Fleet

    types = sizes.batch
    rows = [keyed_rows(sizes.batch, 1, types, seed) for seed in range(sizes.repeats + 5)]
    fleet, batches = Fleet(learner()), iter(rows)

    def batch() -> None:
        one = next(batches)
        wanted = np.flatnonzero(fleet.decide(one.keys, one.xs, one.ids).wants_label)
        fleet.tell(one.keys[wanted], one.ids[wanted], one.ys[wanted])

    for _ in range(3):
        batch()  # most types are new
    (ours,) = side_by_side(Task(batch, sizes.batch), repeats=sizes.repeats)
    yield Result(
        what=f"Fleet of one key with {types:,} types, decided and told in batches of {sizes.batch:,}",
        measured=a_second(ours),
        target=f"≥ {LEAST_OF_ONE:,.0f} a second",
        reached=1 / ours.median >= LEAST_OF_ONE,
        readings=[reading("rates", "Fleet, one key", ours)],
    )


def _new_types(sizes: Sizes) -> Iterator[Result]:
    """The first batch of a stream, in which every type is new, and the second, in which a third of them are.

    Of the first about five rows in eight are labelled, of the second a quarter.
    """
    peer("numba")
    from breakeven import Fleet

    rows = [keyed_rows(sizes.batch, 1, sizes.batch, seed) for seed in (0, 1)]

    def batch(fleet: Fleet, one: KeyedRows) -> None:
        wanted = np.flatnonzero(fleet.decide(one.keys, one.xs, one.ids).wants_label)
        fleet.tell(one.keys[wanted], one.ids[wanted], one.ys[wanted])

    def begun(batches: int) -> Fleet:
        fleet = Fleet(learner())
        for one in rows[:batches]:
            batch(fleet, one)
        return fleet

    tasks = [Task(partial(batch, one=rows[i]), sizes.batch, partial(begun, i)) for i in (0, 1)]
    for name, ours in zip(("first", "second"), side_by_side(*tasks, repeats=sizes.repeats), strict=True):
        yield Result(
            what=f"Fleet of one key with {sizes.batch:,} types, the {name} batch",
            measured=a_second(ours),
            target=f"≥ {LEAST_OF_ONE:,.0f} a second",
            reached=1 / ours.median >= LEAST_OF_ONE,
            readings=[reading("rates", f"Fleet, one key, the {name} batch", ours)],
        )


def _bytes_of_a_key(sizes: Sizes) -> Iterator[Result]:
    peer("numba")
    size = bytes_of_a_key(max(sizes.batch // KEYS_TO_ROWS, 1))
    yield Result(
        what=f"Bytes of a key with {TYPES_OF_A_KEY} types and as many labels awaited, integer ids",
        measured=f"{size:,.0f}",
        target=f"≤ {MOST_BYTES}",
        reached=size <= MOST_BYTES,
    )


def bytes_of_a_key(keys: int) -> float:
    """The size of a dump, by key, where every type has one label told and one awaited."""
    from breakeven import Fleet, algorithm1

    random = np.random.default_rng(0)
    fleet = Fleet(algorithm1(label_cost=0.1, noise_std=0.3), told_window=0, early_window=0)
    key = np.repeat(np.arange(keys), TYPES_OF_A_KEY)
    xs = np.tile(np.arange(TYPES_OF_A_KEY), keys)
    for told in (True, False):
        ids = random.integers(LARGEST_ID, size=len(key))
        fleet.decide(key, xs, ids)
        if told:
            fleet.tell(key, ids, random.normal(size=len(key)))
    return len(fleet.dump()) / keys
