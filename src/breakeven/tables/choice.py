"""Which columns of a table are needed, what each is for, and the rows of those columns in order of arrival.

Columns are those that were named, or all that hold numbers, dates, or yes and no. Each is read once for every
role it has.
"""

from difflib import get_close_matches
from typing import NamedTuple

import numpy as np
import polars as pl
from msgspec.structs import replace

from breakeven.errors.expect import shown
from breakeven.rows.reading import PLAIN_WRITING, DecimalSign, Kind, Writing, complaint
from breakeven.rows.row import Column, Columns, Feature
from breakeven.rows.times import DateOrder, spelled, telling_parts
from breakeven.tables import kinds
from breakeven.tables.faults import OptionWords
from breakeven.tables.left_out import left_out_ids, left_out_text, some_names
from breakeven.tables.options import Options
from breakeven.tables.sources import TableSource

LABEL_ROLE, TYPE_ROLE, COST_ROLE = "\0label", "\0type", "\0cost"  # no columns of a table are called so
ORDER_ROLE, ID_ROLE, ROW_ROLE = "\0order", "\0id", "\0row"

CLASSES = "of several classes ask one at a time: is it this one, yes or no?"
LABEL_HINT = f"labels are numbers, or yes and no; {CLASSES}"
TYPE_HINT = "types are text, or whole numbers: write any others as text"
DATE_HINT = "write dates as 2024-01-31 or 2024-01-31T18:30:00"

MOST_FEATURES = 100  # features: beyond these a process learns nothing
WRITABLE = (pl.Date, pl.Datetime, pl.Time)  # beside numbers and text, what can be an id
SORTABLE = (*WRITABLE, pl.Duration)


def choose(source: TableSource, options: Options) -> tuple[Columns, list[str]]:
    """The columns to read, and notes on how they were chosen; categories and dates are looked at later."""
    _check_roles(source, options)
    named = () if options.type is not None else options.features
    roles = [name for name in (options.label, options.type, options.cost_column) if name is not None]
    found = _kinds(source, source.columns if named is None else [*roles, *named], options)
    for name in [*roles, *(named or ())]:
        _check_usable(source, name, found[name])
    numbers = Writing(decimal=options.decimal)
    label = Column(options.label, _kind_of_labels(options, found[options.label]), writing=numbers)
    cost = None if options.cost_column is None else Column(options.cost_column, writing=numbers)
    if options.type is not None:
        type = Column(options.type, _kind_of_types(source, options.type, found[options.type]))
        return Columns(label_column=label, cost_column=cost, type_column=type), []
    notes: list[str] = []
    if named is None:
        named, notes = _usable(source, options, found)
    _check_count(source, named, chosen=options.features is not None)
    features = tuple(_feature(source, name, found[name] or "number", options) for name in named)
    columns = Columns(label_column=label, cost_column=cost, features=features)
    return columns, notes


def _kinds(source: TableSource, names: list[str], options: Options) -> dict[str, Kind | None]:
    """What each column holds, by name; None where it cannot be used. Text is judged by its first values."""
    sample = source.sample(kinds.LOOKED_AT)
    if source.text and sample.height == 0:
        source.refuse_empty()
    if any(column.null_count() for column in sample):
        source.check_signs(sample)
    text = {name for name in names if kinds.is_text(source.schema[name])}
    found = {name: _kind(source, sample[name], options) for name in names}
    late = [name for name in found if found[name] is None and name in text]
    for batch in source.batches(late) if late and sample.height == kinds.LOOKED_AT else ():
        found |= {name: _kind(source, batch[name], options) for name in late if found[name] is None}
        if not any(found[name] is None for name in late):
            break
    nothing = all(column.null_count() == sample.height for column in sample)
    if source.text and nothing and sample.height < kinds.LOOKED_AT:
        source.refuse_empty()
    return found


def _kind(source: TableSource, column: pl.Series, options: Options) -> Kind | None:
    """What a column holds. Numbers that are text in a frame are text, unless their decimal sign was said."""
    if not kinds.is_text(column.dtype):
        return kinds.of_dtype(column.dtype)
    kind = kinds.of_text(column)
    if source.text:
        return kind
    return "text" if kind is None or (kind == "number" and options.decimal is None) else kind


def _kind_of_labels(options: Options, kind: Kind | None) -> Kind:
    """As declared; else numbers, unless the first of them are words such as true and false, or yes and no."""
    if options.labels == "yes/no":
        return "yes_no"
    if kind == "yes_no" and options.labels is None:
        return "yes_no"
    return "truth" if kind == "truth" else "number"


def _kind_of_types(source: TableSource, name: str, kind: Kind | None) -> Kind:
    """Types in a text file are text: numbers there may be codes, and one such as V27 may follow."""
    dtype = source.schema[name]
    if kinds.is_text(dtype) or (source.text and dtype.is_integer()) or kind is None:
        return "text"
    if kind == "time":
        source.refuse("numbers or text", f"{dtype}", column=name, hint=TYPE_HINT)
    return "whole" if kind == "number" else kind


def _usable(
    source: TableSource, options: Options, found: dict[str, Kind | None]
) -> tuple[tuple[str, ...], list[str]]:
    """The columns without another role of which a belief can make something, and notes on those left out."""
    others = {options.label, options.order, options.id, options.cost_column}
    free = [name for name in source.columns if name not in others]
    known = [name for name in free if name]
    sample = source.sample(kinds.LOOKED_AT)
    text = [name for name in known if found[name] == "text"]
    useless = [name for name in known if found[name] is None]
    usable = [name for name in known if name not in text and name not in useless]
    ids = [name for name in usable if found[name] == "number" and kinds.names_rows(sample[name])]
    ids = [] if len(ids) == len(usable) else ids
    notes = [*left_out_ids(ids, source.option), *left_out_text(text, sample, source.option)]
    if useless:
        notes.append(f"Left out, being neither numbers nor text: {some_names(useless)}.")
    if len(known) < len(free):
        notes.append("Left out, having no name: a column taken for an index.")
    return tuple(name for name in usable if name not in ids), notes


def _feature(source: TableSource, name: str, kind: Kind, options: Options) -> Feature:
    dates = _date_order(source, name, options) if kind == "time" else None
    decimal = options.decimal if kind == "number" else None
    return Feature(name, kind, writing=Writing(decimal, dates))


# -- dates -----------------------------------------------------------------------------------------------


def _date_order(source: TableSource, name: str, options: Options) -> DateOrder | None:
    """In which order the dates of a column have day, month and year; None where they are no text."""
    if not kinds.is_text(source.schema[name]):
        return None
    words = kinds.words_of(source.sample(kinds.LOOKED_AT)[name])
    orders = kinds.date_orders(words)
    if len(orders) > 1 and options.dates is None:
        batches = (kinds.words_of(batch[name], None) for batch in source.batches([name]))
        orders = kinds.date_orders(pl.concat(batches).unique(maintain_order=True))
    return _settled(source, name, words, orders, options.dates)


def _settled(
    source: TableSource, column: str, words: pl.Series, orders: list[DateOrder], said: DateOrder | None
) -> DateOrder:
    """The only order that fits, or that which was said; dates that can be read in two ways are refused."""
    if orders == ["ymd"]:
        return "ymd"
    if said is not None:
        return said
    if len(orders) == 1:
        return orders[0]
    word = next(word for word in words if spelled(word, orders[0]) != spelled(word, orders[1]))
    source.refuse(
        "dates that can be read in one way only",
        f"{shown(word)}, which is {spelled(word, orders[0])} or {spelled(word, orders[1])}",
        column=column,
        hint=f"say {source.option('dates', orders[0])} or {source.option('dates', orders[1])}",
    )


def with_parts(columns: Columns, frame: pl.DataFrame) -> tuple[Columns, list[str]]:
    """The same columns with what of their dates can say something, and a note on it."""
    notes, features = [], []
    for one in columns.features:
        if one.kind == "time":
            days = frame[one.name].to_numpy()
            one = replace(one, parts=telling_parts(np.asarray(days, dtype=np.float64)))
            notes.append(f"Of the dates in {one.name}: {', '.join(one.parts)}.")
        features.append(one)
    return replace(columns, features=tuple(features)), notes


# -- categories ------------------------------------------------------------------------------------------


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
            hint=f"leave it out, or let it be the type: {source.option('type', widest.name)}",
        )
    names = some_names(one.name for one in words)
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


def _check_count(source: TableSource, names: tuple[str, ...], *, chosen: bool) -> None:
    if not names:
        source.refuse(
            "a feature at least",
            "none" if chosen else "no other column of numbers",
            hint=f"name columns with {source.option('features')}, or one with {source.option('type')}",
        )
    if len(names) > MOST_FEATURES:
        source.refuse(
            f"{MOST_FEATURES} features at most",
            f"{len(names):,}, from column {names[0]!r} to {names[-1]!r}",
            hint=f"choose those that matter with {source.option('features')}",
        )


# -- reading ------------------------------------------------------------------------------------------


class Role(NamedTuple):
    """What a column is read for, and as which kind; without a kind its values stay as they are."""

    column: str
    kind: Kind | None = None
    hint: str = ""
    feature: bool = False
    writing: Writing = PLAIN_WRITING


def roles_of(columns: Columns, options: Options, option: OptionWords) -> dict[str, Role]:
    """What is to be read, by the name it gets; features keep the names of their columns."""
    label, numbers = columns.label_column, Writing(options.decimal, options.dates)
    hint = LABEL_HINT
    if label.kind == "yes_no":
        hint = f"say {option('labels', 'numbers')} if they are numbers; {CLASSES}"
    roles = {LABEL_ROLE: Role(label.name, label.kind, hint, writing=label.writing)}
    hint = f"leave it empty where it is missing, or choose other {option('features')}"
    roles |= {one.name: Role(one.name, one.kind, hint, True, one.writing) for one in columns.features}
    if columns.type_column is not None:
        roles[TYPE_ROLE] = Role(columns.type_column.name, columns.type_column.kind, TYPE_HINT)
    if options.cost_column is not None:
        roles[COST_ROLE] = Role(options.cost_column, "number", writing=numbers)
    if options.order is not None:
        roles[ORDER_ROLE] = Role(options.order, writing=numbers)
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
    if any(column.null_count() for column in frame):
        source.check_signs()
    return in_order(source, frame, roles[ORDER_ROLE]) if ORDER_ROLE in roles else frame


def _values(source: TableSource, column: pl.Series, role: Role, before: int) -> pl.Series:
    if role.kind is None:
        return kinds.without_missing(column)
    values, bad = kinds.read_column(column, role.kind, role.writing)
    if bad is None:
        return values
    _, other = kinds.read_column(column, "yes_no", role.writing)
    if role.hint == LABEL_HINT and other is not None and other > bad:  # yes or no up to it, and it is neither
        expected = "yes or no as before, or numbers throughout"
        source.refuse(
            expected, shown(column[other]), row=before + other + 1, column=role.column, hint=CLASSES
        )
    expected, hint = complaint(column[bad], role.kind, role.writing)
    if role.kind == "number" and kinds.is_text(column.dtype) and ("," in column[bad] or "." in column[bad]):
        expected, hint = _about_decimals(source, column, column[bad], role.writing, (expected, hint))
    source.refuse(
        expected, shown(column[bad]), row=before + bad + 1, column=role.column, hint=hint or role.hint
    )


def _about_decimals(
    source: TableSource, column: pl.Series, came: str, writing: Writing, else_: tuple[str, str]
) -> tuple[str, str]:
    """What was expected of a number with a point or a comma in it, and the decimal sign that may be meant."""
    expected, hint = else_
    signs = [sign for sign in kinds.decimal_signs(column) if sign != writing.decimal]
    if not signs and not kinds.decimal_signs(column):
        return (
            f"{expected}, with one decimal sign in the whole column",
            "write all decimals with the same sign",
        )
    ways = " or ".join(source.option("decimal", sign) for sign in signs)
    if writing.decimal is None and signs == [","]:
        return expected, f"write decimals with a point, or say {ways}"
    if writing.decimal is None and signs == ["."]:
        return expected, f"write thousands without a sign, or say {ways}"
    if len(signs) == 1:
        return expected, f"if {signs[0]!r} can be the decimal sign, say {ways}"
    if signs:
        return f"{expected} that can be read in one way only", f"it is {_readings(came, signs)}; say {ways}"
    return expected, hint


def _readings(came: str, signs: list[DecimalSign]) -> str:
    """What a number such as 1,234 is, with each of these signs before its decimals.

    >>> _readings("1,234", [".", ","])
    '1234 or 1.234'
    """
    found = (kinds.read_column(pl.Series([came]), "number", Writing(decimal=sign))[0] for sign in signs)
    return " or ".join(f"{one[0]:.15g}" for one in found)


def _without_empty_rows(source: TableSource, frame: pl.DataFrame) -> pl.DataFrame:
    """Without the empty lines of a text file, which polars reads as rows of missing values."""
    nothing = pl.all_horizontal(pl.exclude(ROW_ROLE).is_null())
    if not source.text or frame.filter(nothing).is_empty():
        return frame
    return frame.filter(~pl.col(ROW_ROLE).is_in(source.empty_rows()))


# -- order -----------------------------------------------------------------------------------------------


def in_order(source: TableSource, frame: pl.DataFrame, role: Role) -> pl.DataFrame:
    """The rows sorted by number or by time; equal ones as they are."""
    missing = frame[ORDER_ROLE].is_null()
    if missing.any():
        row = frame.filter(missing)[ROW_ROLE][0]
        source.refuse("something to sort by", "a missing value", row=row, column=role.column)
    key = frame[ORDER_ROLE]
    if kinds.is_text(key.dtype):
        key, bad = _sortable(source, key.cast(pl.String), role)
        if bad is not None:
            source.refuse(
                "numbers or dates to sort by",
                shown(frame[ORDER_ROLE][bad]),
                row=frame[ROW_ROLE][bad],
                column=role.column,
                hint=DATE_HINT,
            )
    return frame.with_columns(key.alias(ORDER_ROLE)).sort(ORDER_ROLE, maintain_order=True)


def _sortable(source: TableSource, text: pl.Series, role: Role) -> tuple[pl.Series, int | None]:
    """Text as numbers or as dates of one order, and the place of the first value that is neither."""
    key, _ = kinds.read_column(text, "number", role.writing)
    if key.null_count():
        words = text.unique(maintain_order=True)
        orders = kinds.date_orders(words)
        if kinds.read_column(words, "time", Writing(dates=orders[0]))[0].count():
            order = _settled(source, role.column, words, orders, role.writing.dates)
            dates, _ = kinds.read_column(text, "time", Writing(dates=order))
            key = max(key, dates, key=pl.Series.count)
    return key, key.is_null().arg_max() if key.null_count() else None
