"""Our losses at the end of each curve beside the paper's, and a sentence for each that disagrees."""

from collections.abc import Sequence
from typing import NamedTuple

from breakeven.experiments.exhibits.panels import PANELS, Bundle, Measured, Panel, measured
from breakeven.experiments.exhibits.published import ALGORITHM_1, RECIPES_DIFFER, WHY, EndPoint, end_points
from breakeven.experiments.problem import RECIPES, Recipe
from breakeven.experiments.trials import SURE, Results
from breakeven.values import Cell, Section, Table

NEAR, NEAR_BY_EYE = 0.03, 0.25  # how far from the paper's value counts as agreement
COMPARED = (
    "Algorithm 1",
    "Algorithm 2",
    "Random Select",
    "VAR-UNCERTAINTY",
    "Naive Algorithm 1",
    "Label all",
)
COLUMNS = ["panel", "method", "paper", "figures", "± figures", "text", "± text", "ratio", "agrees"]


class Row(NamedTuple):
    """One method of one panel: the paper's value if it is known, and ours."""

    panel: Panel
    method: str
    paper: EndPoint | None
    ours: dict[Recipe, Bundle]

    @property
    def ratio(self) -> float | None:
        """Ours, by the figures' recipe, over the paper's."""
        if self.paper is None or "figures" not in self.ours:
            return None
        return float(self.ours["figures"].end.mean) / self.paper.loss

    @property
    def agrees(self) -> bool | None:
        """Whether ours is near the paper's, or the paper's lies within our 95% interval."""
        if self.paper is None or self.ratio is None:
            return None
        near = NEAR_BY_EYE if self.paper.by_eye else NEAR
        end = self.ours["figures"].end
        apart = abs(float(end.mean) - self.paper.loss)
        return abs(self.ratio - 1.0) <= near or (end.error is not None and apart <= SURE * float(end.error))

    def record(self) -> dict[str, Cell]:
        """By the names of the columns; an interval reaches `±` to either side."""
        paper = None if self.paper is None else self.paper.loss
        (figures, wide), (text, wide_text) = (_end(self.ours.get(recipe)) for recipe in RECIPES)
        cells = [self.panel.name, self.method, paper, figures, wide, text, wide_text, self.ratio, self.agrees]
        return dict(zip(COLUMNS, cells, strict=True))


def _end(bundle: Bundle | None) -> list[Cell]:
    if bundle is None:
        return [None, None]
    mean, error = bundle.end
    return [float(mean), None if error is None else SURE * float(error)]


def rows(results: Results, panels: Sequence[Panel] = PANELS) -> list[Row]:
    """Every method of every one of these panels that was run."""
    known = {(point.panel, point.method): point for point in end_points()}
    found = []
    for panel in panels:
        recipes = _measured(panel, results)
        for method in dict.fromkeys(name for one in recipes.values() for name in one.methods):
            ours = {recipe: one.methods[method] for recipe, one in recipes.items() if method in one.methods}
            found.append(Row(panel, method, known.get((panel.name, method)), ours))
    return found


def _measured(panel: Panel, results: Results) -> dict[Recipe, Measured]:
    both = {recipe: measured(panel, recipe, results) for recipe in RECIPES}
    return {recipe: found for recipe, found in both.items() if found is not None}


def section(results: Results, panels: Sequence[Panel] = PANELS) -> Section:
    """The table of end points, what disagrees, and whether the order of the methods is the paper's."""
    table = rows(results, panels)
    known = [row for row in table if row.agrees is not None]
    agreed = sum(row.agrees is True for row in known)
    met = [
        f"**{agreed} of {len(known)}** published end points are met by the figures' recipe: those of the "
        "discrete panels within 3%, those read off the paper by eye within 25%, or the published value lies "
        "in our 95% interval. ± is 1.96 standard errors with the true number of trials.",
    ]
    text = [
        *(met if known else []),
        *[disagreement(row) for row in known if not row.agrees],
        *orders(table),
    ]
    tables = [
        Table(
            name="end-points",
            title="Average loss at the end of each curve",
            columns=COLUMNS,
            rows=[list(row.record().values()) for row in table],
        )
    ]
    written = _text_table(table)
    return Section(title="End points", text=text, tables=[*tables, *([written] if written.rows else [])])


def disagreement(row: Row) -> str:
    """Why a value is not the paper's, in one sentence."""
    assert row.paper is not None
    why = WHY.get((row.panel.name, row.method), "no setting that we know of explains it")
    ours = float(row.ours["figures"].end.mean)
    return f"{row.panel.title}, {row.method}: {ours:.3g} against {row.paper.loss:g} in the paper; {why}."


def orders(table: list[Row]) -> list[str]:
    """For each panel with known values: whether the methods come in the paper's order."""
    sentences = []
    for panel in PANELS:
        known = [row for row in table if row.panel == panel and row.ratio is not None]
        known = [row for row in known if row.method in COMPARED]
        if len(known) > 1:
            sentences.append(_order(panel, known))
    return sentences


def _order(panel: Panel, known: list[Row]) -> str:
    paper = [row.method for row in sorted(known, key=lambda row: row.paper.loss if row.paper else 0.0)]
    ours = [row.method for row in sorted(known, key=lambda row: float(row.ours["figures"].end.mean))]
    if paper == ours:
        return f"{panel.title}: the order of the paper, {' < '.join(ours)}."
    return f"{panel.title}: {' < '.join(ours)}; in the paper {' < '.join(paper)}."


def _text_table(table: list[Row]) -> Table:
    """The text's rule at the published scales, beside what a separate computation of it gave."""
    found: list[list[Cell]] = []
    for row in table:
        bundle = row.ours.get("text")
        if row.method == "Algorithm 1" and bundle is not None:
            expected = ALGORITHM_1[row.panel.name][1]
            mean, error = bundle.end
            apart = float(mean) - expected
            errors = None if error is None or error == 0 else apart / float(error)
            found.append([row.panel.name, expected, float(mean), float(mean) / expected, errors])
    columns = ["panel", "expected", "text", "ratio", "standard errors apart"]
    return Table(name="text-end-points", title="The text's rule at the same λ", columns=columns, rows=found)


def differences() -> Section:
    """Where the paper's text and its figures part, a sentence each."""
    return Section(title="Where the text and the figures differ", text=list(RECIPES_DIFFER))
