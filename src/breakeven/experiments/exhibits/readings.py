"""What each reading of VAR-UNCERTAINTY gives on the Gaussian-process panels."""

from collections.abc import Sequence

from breakeven.experiments.exhibits.panels import PANELS, Bundle, Panel
from breakeven.experiments.runs.methods import BUDGET, READINGS
from breakeven.experiments.runs.panel_job import PanelJob
from breakeven.experiments.runs.problem import RECIPES
from breakeven.experiments.runs.trials import Results, trials_of
from breakeven.values import Cell, Section, Table

COLUMNS = ["panel", "recipe", "reading", "share labelled", "loss", "±", "error"]


def section(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """The share of labels, the loss and the error by each reading; None when no such panel was run."""
    rows: list[list[Cell]] = []
    for panel in panels:
        for recipe in RECIPES if panel.problem.warmup else ():
            trials = trials_of(results, PanelJob, problem=panel.problem.name, recipe=recipe)
            for reading in READINGS if trials else ():
                bundle = Bundle([curves[f"var-{reading}"] for _, curves in trials], panel.price.label_cost)
                rows.append([panel.name, recipe, reading, *_numbers(bundle)])
    if not rows:
        return None
    return Section(
        title="VAR-UNCERTAINTY, every reading",
        text=[
            "The published code holds no VAR-UNCERTAINTY for Gaussian processes. The level of the published "
            "lines, about 58% of the points labelled, is that of `figures_gp` but for the warm-up, which all "
            "methods share. No reading looks at the price, so each labels the same share at any. `original` "
            f"is held to a budget of {BUDGET:.0%} after the warm-up."
        ],
        tables=[Table(name="var-readings", title="By reading", columns=COLUMNS, rows=rows)],
    )


def _numbers(bundle: Bundle) -> list[Cell]:
    mean, wide = bundle.end.mean, bundle.end.half_width
    share = float(bundle.labels[:, -1].mean()) / bundle.curves[0].rounds[-1]
    return [share, float(mean), None if wide is None else float(wide), float(bundle.errors[:, -1].mean())]
