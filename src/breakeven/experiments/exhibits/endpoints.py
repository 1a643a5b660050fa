"""Our losses at the end of each curve beside the paper's, and a sentence for each that disagrees."""

from collections.abc import Sequence
from typing import NamedTuple

from breakeven.experiments.exhibits.panels import PANELS, Bundle, Measured, Panel, measured
from breakeven.experiments.exhibits.published import ALGORITHM_1, RECIPES_DIFFER, WHY, EndPoint, end_points
from breakeven.experiments.runs.problem import RECIPES, Recipe
from breakeven.experiments.runs.trials import Results
from breakeven.values import Cell, Section, Table

NEAR, NEAR_BY_EYE = 0.03, 0.25  # how far from the paper's value counts as agreement
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
        if self.paper.at_least and self.ratio >= 1.0:
            return True
        return abs(self.ratio - 1.0) <= near or (
            end.half_width is not None and apart <= float(end.half_width)
        )

    def record(self) -> dict[str, Cell]:
        """By the names of the columns; an interval reaches `±` to either side."""
        paper = None if self.paper is None else self.paper.loss
        (figures, wide), (text, wide_text) = (_end(self.ours.get(recipe)) for recipe in RECIPES)
        cells = [self.panel.name, self.method, paper, figures, wide, text, wide_text, self.ratio, self.agrees]
        return dict(zip(COLUMNS, cells, strict=True))


def _end(bundle: Bundle | None) -> list[Cell]:
    if bundle is None:
        return [None, None]
    mean, wide = bundle.end.mean, bundle.end.half_width
    return [float(mean), None if wide is None else float(wide)]


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
    orders = _order_table(table)
    agreed = sum(row.agrees is True for row in known)
    met = [
        f"**{agreed} of {len(known)}** end points of the paper are met by the figures' recipe: those of the "
        "discrete panels, which were computed again from the published settings, within 3%; the others, read "
        "off the figures by eye, within 25%; or the paper's value lies in our 95% interval. ± is 1.96 "
        "standard errors with the true number of trials.",
    ]
    text = [
        *(met if known else []),
        *[disagreement(row) for row in known if not row.agrees],
        *([_order_words(orders)] if orders.rows else []),
    ]
    ends = Table(
        name="end-points",
        title="Average loss at the end of each curve",
        columns=COLUMNS,
        rows=[list(row.record().values()) for row in table],
    )
    tables = [ends, orders, _text_table(table)]
    return Section(title="End points", text=text, tables=[table for table in tables if table.rows])


def disagreement(row: Row) -> str:
    """Why a value is not the paper's, in one sentence."""
    assert row.paper is not None
    why = WHY.get((row.panel.name, row.method), "no setting that we know of explains it")
    ours = float(row.ours["figures"].end.mean)
    return f"{row.panel.title}, {row.method}: {ours:.3g} against {row.paper.loss:g} in the paper; {why}."


def _order_table(table: list[Row]) -> Table:
    """For each panel with known values: the methods from the cheapest on, in the paper and here."""
    found: list[list[Cell]] = []
    for panel in dict.fromkeys(row.panel for row in table):
        known = [row for row in table if row.panel == panel and row.ratio is not None]
        if len(known) > 1:
            paper = [
                row.method for row in sorted(known, key=lambda row: row.paper.loss if row.paper else 0.0)
            ]
            ours = [row.method for row in sorted(known, key=lambda row: float(row.ours["figures"].end.mean))]
            moved = [method for method, other in zip(paper, ours, strict=True) if method != other]
            found.append([panel.name, " < ".join(paper), " < ".join(ours), ", ".join(moved) or "none"])
    columns = ["panel", "paper", "figures", "changed places"]
    return Table(name="orders", title="From the cheapest method on", columns=columns, rows=found)


def _order_words(orders: Table) -> str:
    moved = [row for row in orders.rows if row[3] != "none"]
    kept = len(orders.rows) - len(moved)
    same = f"The methods come in the paper's order in {kept} of {len(orders.rows)} panels"
    if not moved:
        return f"{same}."
    places = "; ".join(f"in {row[0]} {str(row[3]).replace(', ', ' and ')}" for row in moved)
    return f"{same}. These change places: {places}."


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
