"""Small tables of past cases, and what is read and run of them."""

import numpy as np
import polars as pl

from breakeven.tables import from_table
from breakeven.tables.cases import read_cases
from breakeven.tables.options import Options
from breakeven.tables.run import run
from breakeven.tables.sources import framed, open_table


def smooth(rows=120, seed=0, unit=1.0):
    """Two features, labels that depend on them smoothly."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 2))
    y = unit * (np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * random.normal(size=rows))
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


def typed(rows=400, types=5, seed=0):
    """Types with means of their own; they are text."""
    random = np.random.default_rng(seed)
    which = random.integers(0, types, rows)
    y = which + 0.5 * random.normal(size=rows)
    return pl.DataFrame({"kind": [f"t{one}" for one in which], "y": y})


def asked_for(**options):
    cost = {} if "cost_column" in options else {"cost": 1.0}
    return Options(**{"label": "y", **cost, **options})


def cases_of(frame, **options):
    asked = asked_for(**options)
    return read_cases(framed("the frame", frame), asked), asked


def cases_in(path, text, **options):
    """The cases of a text file with these lines."""
    path.write_text(text)
    return read_cases(open_table(path), asked_for(**options))


def run_of(frame, seeds=None, stop=lambda: False, **options):
    cases, asked = cases_of(frame, **options)
    owned = None if seeds is None else read_cases(framed("seeds", seeds), asked, cases.columns)
    return run(cases, asked, seeds=owned, stop=stop)


def bill_of(frame, **options):
    """What comes of a frame whose labels are called y; other costs are run only where they are asked for."""
    return from_table(frame, **{"label": "y", "sweep": False, **options})
