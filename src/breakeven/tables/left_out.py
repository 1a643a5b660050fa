"""Sentences on the columns of a table that are no features, each with what can be done about it."""

from collections.abc import Iterable, Sequence

import polars as pl

from breakeven.tables import kinds
from breakeven.tables.faults import OptionWords

FIRST_NAMES = 5  # in a list of names
FEW_CATEGORIES = 20  # values of a text that are offered as categories
OFFERED = 2  # columns that are offered as a type, or as ids


def some_names(names: Iterable[str]) -> str:
    """The first few names, and how many more there are.

    >>> some_names("abcdefgh")
    'a, b, c, d, e and 3 more'
    """
    names = list(names)
    more = f" and {len(names) - FIRST_NAMES:,} more" if len(names) > FIRST_NAMES else ""
    return ", ".join(names[:FIRST_NAMES]) + more


def left_out_ids(names: Sequence[str], option: OptionWords) -> list[str]:
    """What is said of columns that number or name the rows."""
    if not names:
        return []
    how = f"name them with {option('features')} to use them all the same"
    return [f"Left out, being row numbers or ids: {some_names(names)}; {how}."]


def left_out_constants(names: Sequence[str]) -> list[str]:
    """What is said of columns that never change.

    >>> left_out_constants(["country"])
    ['Left out, being the same in every row: country.']
    """
    return [f"Left out, being the same in every row: {some_names(names)}."] if names else []


def left_out_text(names: Sequence[str], sample: pl.DataFrame, option: OptionWords) -> list[str]:
    """What is said of columns of text: some could be categories, some a type, and some are ids."""
    counts = {name: kinds.words_of(sample[name]).n_unique() for name in names}
    ids = [name for name in names if kinds.all_differ(sample[name])]
    many = [name for name in names if counts[name] > FEW_CATEGORIES and name not in ids]
    few = [name for name in names if name not in ids and name not in many]
    notes = []
    if few:
        how = f"name them with {option('features')} to use them as categories"
        notes.append(f"Left out, being text: {some_names(few)}; {how}.")
    if many:
        how = f"to learn of every value by itself say {_offers(many, 'type', option)}"
        notes.append(f"Left out, being text of many values: {some_names(many)}; {how}.")
    if ids:
        how = f"if that is the id of a case, say {_offers(ids, 'id', option)}"
        notes.append(f"Left out, being another text in every row: {some_names(ids)}; {how}.")
    return notes


def _offers(names: Sequence[str], role: str, option: OptionWords) -> str:
    return " or ".join(option(role, name) for name in names[:OFFERED])
