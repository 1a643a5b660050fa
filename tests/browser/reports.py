"""Reports as the program writes them: small tables of every kind, run for real."""

import numpy as np
import polars as pl

import breakeven
from breakeven.report import write_bill
from tests.tables.samples import smooth, typed

EVERYTHING = {"compare": True, "sweep": True, "trials": 2}


def compared():
    """Other rules, costs and orders beside it."""
    return breakeven.from_table(typed(300), label="y", cost=2.0, type="kind", **EVERYTHING)


def billions():
    """Labels in rupiah."""
    frame = typed(300).with_columns(y=3e10 * pl.col("y"))
    return breakeven.from_table(frame, label="y", cost=6e10, type="kind", **EVERYTHING)


def own_costs():
    """A cost for every label."""
    costs = np.random.default_rng(1).lognormal(-1.0, 0.8, 60)
    frame = smooth(60).with_columns(exam=pl.Series(costs))
    return breakeven.from_table(frame, label="y", cost_column="exam", features=["a", "b"], sweep=False)


def late():
    """Labels that come late, and a process that knows nothing until then."""
    return breakeven.from_table(smooth(60), label="y", cost=0.3, delay=10, sweep=False)


def always():
    """Nothing is left to predict."""
    return breakeven.from_table(typed(60), label="y", cost=2.0, type="kind", rule="always", sweep=True)


def never():
    """Nothing is ever known."""
    return breakeven.from_table(smooth(60), label="y", cost=0.3, rule="never", sweep=True)


def alike():
    """Labels that are all the same, and ids that may be shown."""
    outcome = breakeven.from_table(smooth(60).with_columns(y=pl.lit(5.0)), label="y", cost=0.3, sweep=False)
    outcome.ids = True
    return outcome


def many():
    """More cases than a chart has points."""
    return breakeven.from_table(typed(20_000), label="y", cost=2.0, type="kind", sweep=False)


REPORTS = {one.__name__: one for one in (compared, billions, own_costs, late, always, never, alike, many)}


def written(name, folder):
    """The page of one of them."""
    REPORTS[name]().write(folder, write_bill)
    return folder / "report.html"
