"""The learner as a small program, to be copied: how to go on from the folder, and how to start afresh."""

from msgspec import Struct
from msgspec.structs import fields, replace

from breakeven.rules import Value
from breakeven.tables.running.run import Run

MOST_NAMES = 6  # of columns, before the rest is counted


def configuration(run: Run, folder: str, *, seeds: bool = False) -> str:
    """Python that runs as it is, where the `folder` is seen from; with `seeds`, labels were owned before."""
    id = run.options.id
    name = "" if id is None else f", id=str(row[{id!r}])"
    asked = [*_asked(run.options), *(["seed_labels=owned"] if seeds else [])]
    return f'''{_imports(run)}

FOLDER = {folder!r}  # what this run wrote
learner = TableLearner.open(FOLDER)
{_reprice(run)}

def decide(row):
    """Whether a new case is worth its label, and what to predict either way."""
    # a row is a mapping: {_row(run)}
    decision = learner.decide(row{name})
    learner.save(FOLDER)
    return decision  # .id, .wants_label, .prediction.mean, .why


def tell(id, label):
    """The label came, now or days later."""
    learner.tell(id, label)
    learner.save(FOLDER)


# the same run again: breakeven.from_table(table, {", ".join(asked)})
'''


def _imports(run: Run) -> str:
    ours = "from breakeven.tables import TableLearner"
    return f"from breakeven import Value\n{ours}" if _reprice(run) else ours


def _reprice(run: Run) -> str:
    """A horizon that has passed says nothing of what is still to come."""
    inside = run.learner.learner
    rule, seen = inside.rule, inside.rounds
    if not isinstance(rule, Value) or rule.horizon is None or rule.horizon > seen:
        return ""
    asked = ", ".join(_asked(replace(rule, horizon=2 * seen)))
    return f"# as many cases again are expected: put in how many are\nlearner.reprice(rule=Value({asked}))\n"


def _row(run: Run) -> str:
    columns, options = run.learner.columns, run.options
    names = [columns.type] if columns.type is not None else [one.name for one in columns.features]
    names += [name for name in (options.cost_column, options.id) if name is not None]
    some = ", ".join(f"{name!r}: …" for name in names[:MOST_NAMES])
    return f"{{{some}}}" + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def _asked(what: Struct) -> list[str]:
    """What differs from the defaults, as arguments."""
    given = [(one.name, getattr(what, one.name), one.default) for one in fields(what)]
    return [f"{name}={value!r}" for name, value, default in given if value != default]
