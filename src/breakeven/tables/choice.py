"""Which columns of a table are needed, what each is for, and the rows of those columns in order of arrival.

Columns are those that were named, or all that hold numbers. Each is read once for every role it has.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np
import polars as pl
from msgspec.structs import replace

from breakeven.errors.expect import shown
from breakeven.rows.reading import Kind, complaint
from breakeven.rows.row import Column, Columns, Feature
from breakeven.tables import kinds
from breakeven.tables.options import Options
from breakeven.tables.sources import TableSource

LABEL_ROLE, TYPE_ROLE, COST_ROLE = "\0label", "\0type", "\0cost"  # no columns of a table are called so
ORDER_ROLE, ID_ROLE, ROW_ROLE = "\0order", "\0id", "\0row"

LABEL_HINT = (
    "labels are numbers, or yes and no; of several classes ask one at a time: is it this one, yes or no?"
)
YES_NO_HINT = (
    "say --labels numbers if they are numbers; of several classes ask one at a time: is it this one, "
    "yes or no?"
)
TYPE_HINT = "types are text, or whole numbers: write any others as text"
FEATURE_HINT = "leave it empty where it is missing, or choose other --features"
DATE_FORMS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f", "%+")

MOST_FEATURES = 100  # features: beyond these a process learns nothing
FIRST_NAMES = 5  # in a list of names
WRITABLE = (pl.Date, pl.Datetime, pl.Time)  # beside numbers and text, what can be an id
SORTABLE = (*WRITABLE, pl.Duration)


def choose(source: TableSource, options: Options) -> tuple[Columns, list[str]]:
    """The columns to read, and notes on how they were chosen; categories are filled in later."""
    _check_roles(source, options)
    named = () if options.type is not None else options.features
    roles = [name for name in (options.label, options.type, options.cost_column) if name is not None]
    found = _kinds(source, source.columns if named is None else [*roles, *named])
    for name in [*roles, *(named or ())]:
        _check_usable(source, name, found[name])
    label = Column(options.label, _kind_of_labels(source, options, found[options.label]))
    cost = None if options.cost_column is None else Column(options.cost_column)
    if options.type is not None:
        type = Column(options.type, _kind_of_types(source, found[options.type]))
        return Columns(label_column=label, cost_column=cost, type_column=type), []
    notes: list[str] = []
    if named is None:
        named, notes = _numeric(source, options, found)
    _check_count(source, named)
    features = tuple(Feature(name, found[name] or "number") for name in named)
    columns = Columns(label_column=label, cost_column=cost, features=features)
    return columns, [f"Features: {_some(named)}.", *notes]


def _kinds(source: TableSource, names: list[str]) -> dict[str, Kind | None]:
    """What each column holds, by name; None where it cannot be used. Text is judged by its first values."""
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


def _kind_of_labels(source: TableSource, options: Options, kind: Kind | None) -> Kind:
    """As declared; else numbers, unless the first of them are words such as true and false, or yes and no."""
    if options.labels == "yes/no":
        return "yes_no"
    if kind == "text" and options.labels is None:
        first = source.sample(kinds.LOOKED_AT)[options.label].cast(pl.String)
        return "yes_no" if kinds.says_yes_no(first) else "number"
    return "truth" if kind == "truth" else "number"


def _kind_of_types(source: TableSource, kind: Kind | None) -> Kind:
    """Types in a text file are text: numbers there may be codes, and one such as V27 may follow."""
    return "text" if source.text or kind is None else "whole" if kind == "number" else kind


def _numeric(
    source: TableSource, options: Options, found: dict[str, Kind | None]
) -> tuple[tuple[str, ...], list[str]]:
    """The columns of numbers without another role, and notes on the columns left out."""
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
    more = f" and {len(names) - FIRST_NAMES:,} more" if len(names) > FIRST_NAMES else ""
    return ", ".join(names[:FIRST_NAMES]) + more


def with_categories(source: TableSource, columns: Columns, frame: pl.DataFrame) -> tuple[Columns, list[str]]:
    """The same columns with the categories found in the table, and a note on them."""
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


def check_name(source: TableSource, name: str) -> None:
    """Refuse a column that is not there, and suggest the nearest."""
    if name in source.columns:
        return
    by_letters = {one.lower(): one for one in source.columns}
    near = get_close_matches(name.lower(), by_letters, n=1)
    some = ", ".join(map(repr, source.columns[:8])) + (", …" if len(source.columns) > 8 else "")
    hint = f"did you mean {by_letters[near[0]]!r}?" if near else f"there are {some}"
    source.refuse(f"a column {name!r}", "none of that name", hint=hint)


def _check_roles(source: TableSource, options: Options) -> None:
    """Refuse columns that are not there, and a label that is something else, too: it is not known before."""
    check_name(source, options.label)
    roles = {
        "a type": options.type,
        "an order": options.order,
        "ids": options.id,
        "costs": options.cost_column,
    }
    named = [*roles.items(), *(("features", name) for name in options.features or ())]
    for role, name in named:
        if name is None:
            continue
        check_name(source, name)
        if name == options.label:
            source.refuse(f"{role} other than the label", "the label itself", column=name)
    for name, also in ((options.order, SORTABLE), (options.id, WRITABLE)):
        if name is not None and source.schema[name] not in also:
            _check_usable(source, name, kinds.of_dtype(source.schema[name]))


def _check_usable(source: TableSource, name: str, kind: Kind | None) -> None:
    if kind is None:
        dtype = source.schema[name]
        came = "only missing values" if source.text or dtype == pl.Null else f"{dtype}"
        source.refuse("numbers or text", came, column=name)


def _check_count(source: TableSource, names: tuple[str, ...]) -> None:
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


# -- reading ------------------------------------------------------------------------------------------


class Role(NamedTuple):
    """What a column is read for, and as which kind; without a kind its values stay as they are."""

    column: str
    kind: Kind | None = None
    hint: str = ""
    feature: bool = False


def roles_of(columns: Columns, options: Options) -> dict[str, Role]:
    """What is to be read, by the name it gets; features keep the names of their columns."""
    label = columns.label_column
    hint = YES_NO_HINT if label.kind == "yes_no" else LABEL_HINT
    roles = {LABEL_ROLE: Role(label.name, label.kind, hint)}
    roles |= {one.name: Role(one.name, one.kind, FEATURE_HINT, True) for one in columns.features}
    if columns.type_column is not None:
        roles[TYPE_ROLE] = Role(columns.type_column.name, columns.type_column.kind, TYPE_HINT)
    if options.cost_column is not None:
        roles[COST_ROLE] = Role(options.cost_column, "number")
    if options.order is not None:
        roles[ORDER_ROLE] = Role(options.order)
    if options.id is not None:
        roles[ID_ROLE] = Role(options.id)
    return roles


def read_rows(source: TableSource, roles: dict[str, Role]) -> pl.DataFrame:
    """What is read for each role, null where it is missing, and which row of the table each row is."""
    names = list(dict.fromkeys(role.column for role in roles.values()))
    batches, rows = [], 0
    for batch in source.batches(names):
        read = {name: _values(source, batch[role.column], role, rows) for name, role in roles.items()}
        index = np.arange(rows + 1, rows + 1 + batch.height, dtype=np.uint32)
        batches.append(pl.DataFrame({**read, ROW_ROLE: index}))
        rows += batch.height
    frame = _without_empty_rows(source, pl.concat(batches, rechunk=True)) if batches else pl.DataFrame()
    if frame.height == 0:
        source.refuse_empty()
    return in_order(source, frame, roles[ORDER_ROLE].column) if ORDER_ROLE in roles else frame


def _values(source: TableSource, column: pl.Series, role: Role, before: int) -> pl.Series:
    if role.kind is None:
        return kinds.without_missing(column)
    values, bad = kinds.read_column(column, role.kind)
    if bad is None:
        return values
    expected, hint = complaint(column[bad], role.kind)
    source.refuse(
        expected, shown(column[bad]), row=before + bad + 1, column=role.column, hint=hint or role.hint
    )


def _without_empty_rows(source: TableSource, frame: pl.DataFrame) -> pl.DataFrame:
    """Without the empty lines of a text file, which polars reads as rows of missing values."""
    nothing = pl.all_horizontal(pl.exclude(ROW_ROLE).is_null())
    if not source.text or frame.filter(nothing).is_empty():
        return frame
    return frame.filter(~pl.col(ROW_ROLE).is_in(source.empty_rows()))


# -- order -----------------------------------------------------------------------------------------------


def in_order(source: TableSource, frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """The rows sorted by number or by time; equal ones as they are."""
    missing = frame[ORDER_ROLE].is_null()
    if missing.any():
        row = frame.filter(missing)[ROW_ROLE][0]
        source.refuse("something to sort by", "a missing value", row=row, column=column)
    key = frame[ORDER_ROLE]
    if kinds.of_dtype(key.dtype) == "text":
        key, bad = _sortable(key.cast(pl.String))
        if bad is not None:
            source.refuse(
                "numbers or dates to sort by",
                shown(frame[ORDER_ROLE][bad]),
                row=frame[ROW_ROLE][bad],
                column=column,
                hint="write dates as 2024-01-31 or 2024-01-31T18:30:00",
            )
    return frame.with_columns(key.alias(ORDER_ROLE)).sort(ORDER_ROLE, maintain_order=True)


def _sortable(text: pl.Series) -> tuple[pl.Series, int | None]:
    """Text as numbers or as dates of one form, and the place of the first value that is neither."""
    key, _ = kinds.read_column(text, "number")
    dates = text.str.strip_chars().str.replace(" ", "T", literal=True)
    for form in DATE_FORMS:
        if key.null_count():
            key = max(key, dates.str.to_datetime(form, time_unit="us", strict=False), key=pl.Series.count)
    return key, key.is_null().arg_max() if key.null_count() else None
