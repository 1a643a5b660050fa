"""λ as published, as tuned on held-out streams, and as the best in hindsight, side by side."""

from breakeven.experiments.drawing import figure_of, plain_line
from breakeven.experiments.exhibits.panels import PANELS, Panel
from breakeven.experiments.problem import HELD_OUT, RECIPES, Recipe
from breakeven.experiments.scales import ScaleJob, Tuning, grid_of
from breakeven.experiments.trials import Results, average, trials_of
from breakeven.values import Cell, Chart, Figure, Note, Section, Table

COLUMNS = [
    "panel",
    "recipe",
    "published λ",
    "its loss",
    "held-out λ",
    "its loss ",
    "hindsight λ",
    "its loss  ",
]


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
            "hindsight, on the reported ones. The grid is 2⁻⁶ … 2⁶ and the published values.",
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
    cells: list[Cell] = [panel.name, recipe]
    for scale in (panel.price.scale, held_out.best, reported.best):
        cells += [scale, reported.losses[scale]]
    return cells


def _gain(rows: list[list[Cell]]) -> str:
    shares = [float(row[5] or 0.0) / float(row[3] or 1.0) for row in rows]
    better = sum(share < 1.0 for share in shares)
    return (
        f"The held-out λ costs less than the published one in {better} of {len(rows)} cases; "
        f"on average {1 - sum(shares) / len(shares):.0%} less."
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
