"""How to go on from the folder of a bill: a small program, to be copied from its page."""

from msgspec import Struct
from msgspec.structs import fields, replace

from breakeven.rules import Value
from breakeven.tables.run import TableRun

NAMES_IN_A_ROW = 6  # of columns, before the rest is counted


def configuration(run: TableRun, folder: str, *, seeds: bool = False) -> str:
    """A program that goes on from the `folder`; `seeds` says that labels were owned before."""
    id = run.options.id
    name = "" if id is None else f", id=str(row[{id!r}])"
    asked = [*_asked(run.options), *(["seed_labels=owned"] if seeds else [])]
    return f'''{_imports(run)}

FOLDER = {folder!r}  # what this run wrote
columns, learner = open_bill(FOLDER)
{_reprice(run)}

def decide(row):
    """Whether a new case is worth its label, and what to predict either way."""
    # a row is a mapping: {_row(run)}
    decision = learner.decide(columns.point(row){_cost(run)}{name})
    save_bill(FOLDER, learner)
    return decision  # .id, .wants_label, .prediction.mean, .why


def tell(id, label):
    """The label came, now or days later."""
    learner.tell(id, columns.label(label))
    save_bill(FOLDER, learner)


# the same run again: breakeven.from_table(table, {", ".join(asked)})
'''


def _cost(run: TableRun) -> str:
    return ", cost=columns.cost(row)" if run.cases.columns.cost_column is not None else ""


def _imports(run: TableRun) -> str:
    ours = "from breakeven.rows import open_bill, save_bill"
    rules = "Value" if run.learner.rule.check is None else "Check, Value"
    return f"from breakeven import {rules}\n{ours}" if _reprice(run) else ours


def _reprice(run: TableRun) -> str:
    """A horizon that has passed says nothing of what is still to come."""
    rule, check, seen = run.learner.rule.layers[-1], run.learner.rule.check, run.learner.rounds
    if not isinstance(rule, Value) or rule.horizon is None or rule.horizon > seen:
        return ""
    again = f"Value({', '.join(_asked(replace(rule, horizon=2 * seen)))})"
    if check is not None:
        again = f"Check({again}, share={check.share!r})"
    return f"# as many cases again are expected: put in how many are\nlearner.reprice(rule={again})\n"


def _row(run: TableRun) -> str:
    columns, options = run.cases.columns, run.options
    names = (
        [columns.type_column.name]
        if columns.type_column is not None
        else [one.name for one in columns.features]
    )
    names += [name for name in (options.cost_column, options.id) if name is not None]
    some = ", ".join(f"{name!r}: …" for name in names[:NAMES_IN_A_ROW])
    return f"{{{some}}}" + (f" and {len(names) - NAMES_IN_A_ROW} more" if len(names) > NAMES_IN_A_ROW else "")


def _asked(what: Struct) -> list[str]:
    """What differs from the defaults, as arguments."""
    given = [(one.name, getattr(what, one.name), one.default) for one in fields(what)]
    return [f"{name}={value!r}" for name, value, default in given if value != default]
