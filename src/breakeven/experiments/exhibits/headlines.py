"""The paper's two headlines: how far Algorithm 2 stays below the next best baseline."""

from collections.abc import Sequence

from breakeven.experiments.exhibits.panels import PANELS, Panel, measured
from breakeven.experiments.runs.problem import RECIPES, Recipe
from breakeven.experiments.runs.trials import Results
from breakeven.values import Cell, Section, Table

BASELINES = ("Random Select", "VAR-UNCERTAINTY", "Naive Algorithm 1", "Label all")
FIELDS = {"parkinsons": ("medicine", 0.27), "supernova": ("astronomy", 0.57)}
COLUMNS = ["field", "panel", "recipe", "Algorithm 2", "next best", "its loss", "below it by"]


def section(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """Every panel of the two fields in each recipe; None when none was run."""
    rows = [
        row
        for panel in panels
        if panel.problem.name.startswith(tuple(FIELDS))
        for recipe in RECIPES
        if (row := _row(panel, recipe, results)) is not None
    ]
    if not rows:
        return None
    return Section(
        title="The two headlines",
        text=[
            sentence for field, claimed in FIELDS.values() if (sentence := _sentence(field, claimed, rows))
        ],
        tables=[Table(name="headlines", title="Below the next best baseline", columns=COLUMNS, rows=rows)],
    )


def _row(panel: Panel, recipe: Recipe, results: Results) -> list[Cell] | None:
    found = measured(panel, recipe, results)
    if found is None:
        return None
    ends = {name: float(bundle.end.mean) for name, bundle in found.methods.items()}
    next_best = min(BASELINES, key=ends.__getitem__)
    ours = ends["Algorithm 2"]
    field = FIELDS[panel.problem.name.split("-")[0]][0]
    return [field, panel.title, recipe, ours, next_best, ends[next_best], 1.0 - ours / ends[next_best]]


def _sentence(field: str, claimed: float, rows: list[list[Cell]]) -> str:
    ours = [row for row in rows if row[0] == field and row[2] == "figures"]
    if not ours:
        return ""
    each = ", ".join(f"{_share(row[6])} ({row[1]})" for row in ours)
    return (
        f"In {field} the paper claims to be about {claimed:.0%} below the next best baseline; we are {each}."
    )


def _share(value: Cell) -> str:
    assert isinstance(value, float)
    return f"{value:.0%} below it" if value >= 0 else f"{-value:.0%} above it"
