"""Small panels as tables: `python -m tests.golden.regenerate` writes them anew, to be reviewed as a diff."""

import os
from pathlib import Path

import numpy.linalg  # noqa: F401  (a BLAS to limit)
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_limits

from breakeven_research.experiments.runs.jobs import PanelJob, ValueJob
from breakeven_research.experiments.runs.problems import RECIPES

TABLES = Path(__file__).parent / "tables"
SHARED = Path(__file__).parents[4] / "shared" / "data"
DATA = os.environ.get("BREAKEVEN_DATA", str(SHARED))
TRIALS = (0, 1)
ROUNDS = {
    "discrete-k10-uniform": 400,
    "discrete-k100-lopsided": 400,
    "branin": 40,
    "hartmann": 38,
    "supernova": 30,
    "parkinsons-uniform": 60,
}
VALUE = "value"
PANELS = [(problem, recipe) for problem in ROUNDS for recipe in (*RECIPES, VALUE)]


def path_of(problem, recipe):
    """Where the table of a panel is stored."""
    return TABLES / f"{problem}-{recipe}.json"


def job(problem, recipe, trial):
    """The paper's methods by a recipe, or ours by the text's."""
    if recipe == VALUE:
        return ValueJob(problem, "text", trial, rounds=ROUNDS[problem])
    return PanelJob(problem, recipe, trial, rounds=ROUNDS[problem])


def measured(problem, recipe):
    """Labels and errors at the end of every method, by trial."""
    with threadpool_limits(1):
        runs = [job(problem, recipe, trial).run() for trial in TRIALS]
    return {
        f"trial {trial}": {
            method: {"labels": curve.labels[-1], "errors": curve.errors[-1]}
            for method, curve in curves.items()
        }
        for trial, curves in zip(TRIALS, runs, strict=True)
    }


def text_of(table):
    """A line for each method, so that a diff is readable; eight digits of an error are enough to compare."""
    trials = [
        f' "{trial}": {{\n'
        + ",\n".join(f'  "{method}": {line_of(**ends)}' for method, ends in methods.items())
        + "\n }"
        for trial, methods in table.items()
    ]
    return "{\n" + ",\n".join(trials) + "\n}\n"


def line_of(labels, errors):
    """The end of one run."""
    return f'{{"labels": {labels}, "errors": {errors:.8g}}}'


if __name__ == "__main__":
    os.environ["BREAKEVEN_DATA"] = DATA
    TABLES.mkdir(exist_ok=True)
    for panel in PANELS:
        path_of(*panel).write_text(text_of(measured(*panel)))
        print(path_of(*panel))
