"""λ as published, as tuned on held-out streams, and as the best in hindsight, side by side."""

import numpy as np

from breakeven.planning import Tuning
from breakeven.values import Cell, Chart, Figure, Note, Section, Table
from breakeven_research.experiments.exhibits.panels import PANELS, Panel, figure_of, plain_line
from breakeven_research.experiments.runs.jobs import ScaleJob, grid_of
from breakeven_research.experiments.runs.problems import HELD_OUT, RECIPES, Recipe
from breakeven_research.experiments.runs.trials import Results, average, trials_of

COLUMNS = ["panel", "recipe", "published λ", "held-out λ", "hindsight λ"]
COLUMNS += ["published loss", "held-out loss", "hindsight loss"]


def section(results: Results) -> Section | None:
    """Every panel whose grid was run; None when none was."""
    rows: list[list[Cell]] = []
    figures: list[Figure] = []
    for panel in PANELS:
        charts = []
        for recipe in RECIPES:
            reported, held_out = tuning(panel, recipe, results), tuning(panel, recipe, results, held_out=True)
            if reported is not None and held_out is not None:
                rows.append(_row(panel, recipe, reported, held_out))
                charts.append(_chart(panel, recipe, reported, held_out))
        if charts:
            figures.append(figure_of(f"scales-{panel.name}", f"λ: {panel.title}", charts))
    if not rows:
        return None
    return Section(
        title="λ: published, held out, in hindsight",
        text=[
            "The paper says that λ was tuned on held-out data; its grids were run on the reported streams. "
            "Here λ is tuned on streams with other seeds and then judged, like the published and the best in "
            "hindsight, on the reported ones. The grid is 2⁻⁶ … 2⁶ and the panel's published λ. Held-out "
            "patients are other recordings of the same people; held-out supernovae are the same in another "
            "order, with other noise.",
            _gain(rows),
        ],
        tables=[
            Table(name="scales", title="Average loss on the reported streams", columns=COLUMNS, rows=rows)
        ],
        figures=figures,
    )


def tuning(panel: Panel, recipe: Recipe, results: Results, *, held_out: bool = False) -> Tuning | None:
    """The mean loss at each scale, on the reported or on the held-out trials."""
    trials = trials_of(
        results,
        ScaleJob,
        problem=panel.problem.name,
        recipe=recipe,
        label_cost=panel.price.label_cost,
        scales=grid_of(panel.price),
    )
    chosen = [curves for job, curves in trials if (job.trial >= HELD_OUT) == held_out]
    if not chosen:
        return None
    cost = panel.price.label_cost
    return Tuning(
        {
            scale: float(average([curves[repr(scale)].average_loss(cost)[-1] for curves in chosen]).mean)
            for scale in grid_of(panel.price)
        }
    )


def _row(panel: Panel, recipe: Recipe, reported: Tuning, held_out: Tuning) -> list[Cell]:
    scales = (panel.price.scale, held_out.best, reported.best)
    return [panel.name, recipe, *scales, *(reported.losses[scale] for scale in scales)]


def _gain(rows: list[list[Cell]]) -> str:
    """How the held-out λ does against the published one; columns as in the table."""
    changes = [float(row[6] or 0.0) / float(row[5] or 1.0) - 1.0 for row in rows]
    cheaper, typical = sum(change < 0 for change in changes), float(np.median(changes))
    words = f"{-typical:.0%} less" if typical <= 0 else f"{typical:.0%} more"
    return (
        f"The held-out λ costs less than the published one in {cheaper} of {len(rows)} cases; "
        f"in the median case it costs {words}."
    )


def _chart(panel: Panel, recipe: Recipe, reported: Tuning, held_out: Tuning) -> Chart:
    scales = list(reported.losses)
    marks = {"published": panel.price.scale, "held out": held_out.best, "hindsight": reported.best}
    return Chart(
        name=recipe,
        title=f"{panel.title} · {recipe}",
        x_label="λ",
        y_label="average loss",
        lines=[plain_line("reported streams", scales, list(reported.losses.values()))],
        notes=[Note(scale, reported.losses[scale], words) for scale, words in _grouped(marks).items()],
        log_x=True,
        log_y=True,
    )


def _grouped(marks: dict[str, float]) -> dict[float, str]:
    """Words at the same scale share a note."""
    grouped: dict[float, str] = {}
    for word, scale in marks.items():
        grouped[scale] = f"{grouped[scale]}, {word}" if scale in grouped else word
    return grouped
