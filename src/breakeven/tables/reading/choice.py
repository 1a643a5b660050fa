"""Which columns to read of a table: those that were named, or all that hold numbers."""

from collections.abc import Iterable
from difflib import get_close_matches

import polars as pl
from msgspec.structs import replace

from breakeven.tables.options import Options
from breakeven.tables.reading import kinds
from breakeven.tables.reading.columns import Columns, Feature
from breakeven.tables.reading.kinds import Kind
from breakeven.tables.reading.source import Source

MOST_FEATURES = 100  # features: beyond these a process learns nothing
SHOWN = 5  # names in a list of them
WRITTEN = (pl.Date, pl.Datetime, pl.Time)  # beside numbers and text, what can be an id
SORTED = (*WRITTEN, pl.Duration)


def choose(source: Source, options: Options) -> tuple[Columns, list[str]]:
    """The columns to read, by what was asked for, and what to say of them; categories are named later."""
    _check_roles(source, options)
    named = () if options.type is not None else options.features
    roles = [name for name in (options.label, options.type, options.cost_column) if name is not None]
    found = _kinds(source, source.columns if named is None else [*roles, *named])
    for name in [*roles, *(named or ())]:
        _check_usable(source, name, found[name])
    columns = Columns(
        options.label,
        type=options.type,
        cost=options.cost_column,
        label_kind="truth" if found[options.label] == "truth" else "number",
        type_kind="text" if options.type is None else _kind_of_types(source, found[options.type]),
    )
    if options.type is not None:
        return columns, []
    notes: list[str] = []
    if named is None:
        named, notes = _numeric(source, options, found)
    _check_count(source, named)
    features = tuple(Feature(name, found[name] or "number") for name in named)
    return replace(columns, features=features), [f"Features: {_some(named)}.", *notes]


def _kinds(source: Source, names: list[str]) -> dict[str, Kind | None]:
    """By name, what a column holds; None where it is of no use. Text is told by the first of it."""
    if not source.text:
        return {name: kinds.of_dtype(source.schema[name]) for name in names}
    sample = source.sample(kinds.LOOKED_AT)
    if sample.height == 0:
        source.refuse_empty()
    found = {name: kinds.of_text(sample[name]) for name in names}
    late = [name for name, kind in found.items() if kind is None]
    for batch in source.batches(late) if late and sample.height == kinds.LOOKED_AT else ():
        found |= {name: kinds.of_text(batch[name]) for name in late if found[name] is None}
        if None not in found.values():
            break
    if sample.height < kinds.LOOKED_AT and all(column.null_count() == sample.height for column in sample):
        source.refuse_empty()
    return found


def _kind_of_types(source: Source, kind: Kind | None) -> Kind:
    """Numbers in a text file may be codes, and one such as V27 may follow."""
    return "text" if source.text or kind is None else "whole" if kind == "number" else kind


def _numeric(
    source: Source, options: Options, found: dict[str, Kind | None]
) -> tuple[tuple[str, ...], list[str]]:
    """All columns of numbers that are nothing else, and which were left out."""
    others = {options.label, options.order, options.id, options.cost_column}
    free = [name for name in source.columns if name not in others]
    known = [name for name in free if name]
    text = [name for name in known if found[name] == "text"]
    useless = [name for name in known if found[name] is None]
    notes = []
    if text:
        hint = "name them with --features to use them as categories"
        notes.append(f"Left out, being text: {_some(text)}; {hint}.")
    if useless:
        notes.append(f"Left out, being neither numbers nor text: {_some(useless)}.")
    if len(known) < len(free):
        notes.append("Left out, having no name: a column taken for an index.")
    return tuple(name for name in known if name not in text and name not in useless), notes


def _some(names: Iterable[str]) -> str:
    """The first few names, and how many more there are.

    >>> _some("abcdefgh")
    'a, b, c, d, e and 3 more'
    """
    names = list(names)
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def with_categories(source: Source, columns: Columns, frame: pl.DataFrame) -> tuple[Columns, list[str]]:
    """The same columns with the categories that there are, and what to say of them."""
    features = tuple(_with_categories(one, frame) for one in columns.features)
    columns, words = replace(columns, features=features), [one for one in features if one.kind == "text"]
    if not words:
        return columns, []
    for one in words:
        if not one.categories:
            source.refuse("a category at least", "only missing values", column=one.name)
    if columns.dim > MOST_FEATURES:
        widest = max(words, key=lambda one: len(one.categories))
        source.refuse(
            f"{MOST_FEATURES} features at most, a category each",
            f"{len(widest.categories):,} categories",
            column=widest.name,
            hint=f"leave it out, or let it be the type: --type {widest.name}",
        )
    names = _some(one.name for one in words)
    return columns, [f"Categories are those of the whole table, known from the start: {names}."]


def _with_categories(one: Feature, frame: pl.DataFrame) -> Feature:
    if one.kind != "text":
        return one
    return replace(one, categories=tuple(frame[one.name].drop_nulls().unique().sort()))


# -- what cannot be right --------------------------------------------------------------------------------


def check_name(source: Source, name: str) -> None:
    """Refuse a column that is not there, and suggest the nearest."""
    if name in source.columns:
        return
    by_letters = {one.lower(): one for one in source.columns}
    near = get_close_matches(name.lower(), by_letters, n=1)
    some = ", ".join(map(repr, source.columns[:8])) + (", …" if len(source.columns) > 8 else "")
    hint = f"did you mean {by_letters[near[0]]!r}?" if near else f"there are {some}"
    source.refuse(f"a column {name!r}", "none of that name", hint=hint)


def _check_roles(source: Source, options: Options) -> None:
    """Every column is there, and the label, which is not known before, is nothing else."""
    check_name(source, options.label)
    roles = {
        "a type": options.type,
        "an order": options.order,
        "ids": options.id,
        "prices": options.cost_column,
    }
    named = [*roles.items(), *(("features", name) for name in options.features or ())]
    for role, name in named:
        if name is None:
            continue
        check_name(source, name)
        if name == options.label:
            source.refuse(f"{role} other than the label", "the label itself", column=name)
    for name, also in ((options.order, SORTED), (options.id, WRITTEN)):
        if name is not None and source.schema[name] not in also:
            _check_usable(source, name, kinds.of_dtype(source.schema[name]))


def _check_usable(source: Source, name: str, kind: Kind | None) -> None:
    if kind is None:
        dtype = source.schema[name]
        came = "only missing values" if source.text or dtype == pl.Null else f"{dtype}"
        source.refuse("numbers or text", came, column=name)


def _check_count(source: Source, names: tuple[str, ...]) -> None:
    if not names:
        source.refuse(
            "a feature at least",
            "no other column of numbers",
            hint="name columns with --features, or a --type",
        )
    if len(names) > MOST_FEATURES:
        source.refuse(
            f"{MOST_FEATURES} features at most",
            f"{len(names):,}, from column {names[0]!r} to {names[-1]!r}",
            hint="choose those that matter with --features",
        )
