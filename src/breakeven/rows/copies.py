"""Columns that say the label itself, such as one that was filled in together with it.

A belief listens to such a column, of course, and then a bill looks far better than what is to come, where the
column is empty as long as the label is not known. A copy is told by being exact: numbers that lie on a line
with the labels, or categories each of which has only one label, where that can hardly be chance.
"""

from collections.abc import Hashable, Sequence
from math import lgamma, log
from typing import Any

import numpy as np

from breakeven.errors.expect import Array
from breakeven.rows.row import Columns

BY_CHANCE = 1 / 500  # how likely a column may be that gives all labels and has nothing to do with them
LABELS_TRIED = 1_000  # at most
ON_A_LINE = 1e-9  # of the spread of labels: how far off the line rounding may lead


def copies_among(columns: Columns, points: Any, labels: Array) -> list[str]:
    """The names of what gives every label of these points: a type, a category or a number of a feature."""
    if columns.type_column is not None:
        return [columns.type_column.name] if sorts(labels, list(points), 1) else []
    rows, place, found = np.asarray(points, dtype=float), 0, []
    exact = set(copies_of(labels, rows))
    for one in columns.features:
        places = range(place, place + len(one.names))
        place = places.stop
        if one.kind != "text":
            found += [name for i, name in zip(places, one.names, strict=True) if i in exact]
        elif sorts(labels, rows[:, places].argmax(axis=1).tolist(), len(columns.features)):
            found.append(one.name)
    return found


def copies_of(labels: Array, points: Array) -> list[int]:
    """Which columns of the points lie on a line with the labels, where that can hardly be chance.

    By chance a column has the labels' order in one of all the orders that the labels could have come in.

    >>> labels = np.array([1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 3.0])
    >>> copies_of(labels, np.column_stack([labels**2, 3.0 - 2.0 * labels]))
    [1]
    """
    if not len(labels) or _log_orders(labels) < log(points.shape[1] / BY_CHANCE):
        return []
    apart, off = labels - labels.mean(), points - points.mean(axis=0)
    squares = np.maximum((off * off).sum(axis=0), 1e-300)
    left = apart[:, None] - off * ((off.T @ apart) / squares)
    return np.flatnonzero(np.abs(left).max(axis=0) <= ON_A_LINE * np.abs(apart).max()).tolist()


def sorts(labels: Array, groups: Sequence[Hashable], tried: int) -> bool:
    """Whether each group has one label only, where that can hardly be chance with so many columns `tried`.

    By chance at most v^k of all the orders have k groups of v values sorted so.

    >>> sorts(np.array([0.0, 1.0] * 8), ["well", "ill"] * 8, tried=3)
    True
    >>> sorts(np.array([0.0, 1.0] * 8), list(range(16)), tried=3)
    False
    """
    label_of: dict[Hashable, float] = {}
    if any(label_of.setdefault(group, y) != y for group, y in zip(groups, labels.tolist(), strict=True)):
        return False
    values = len(set(label_of.values()))
    ways = len(label_of) * log(max(values, 1))
    return _log_orders(labels) - ways >= log(tried / BY_CHANCE)


def _log_orders(labels: Array) -> float:
    """The log of how many orders the labels could have come in."""
    counts = np.unique(labels, return_counts=True)[1].tolist()
    return lgamma(len(labels) + 1) - sum(lgamma(count + 1) for count in counts)
