"""What the paper's sentences say of its plots, and whether it holds here."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from breakeven.experiments.exhibits.panels import PANELS, Panel, measured
from breakeven.experiments.runs.problem import RECIPES
from breakeven.experiments.runs.trials import Results
from breakeven.values import Cell, Section, Table

Ends = dict[str, float]  # by method
ALGORITHMS = ("Algorithm 1", "Algorithm 2")
BASELINES = ("Random Select", "VAR-UNCERTAINTY", "Naive Algorithm 1")
CLOSE = 0.3  # "performs like" within so much
WHY = {
    "hartmann": "; the mean is made by the trials whose fit ran to an optimum that buys many labels",
    "parkinsons": "; a kernel fitted once, to the first labels, predicts worse than one fitted at each",
}
COLUMNS = ["claim", "panel", "recipe", "algorithm", "best other", "its loss", "holds"]


class Claim(NamedTuple):
    """A sentence about some panels."""

    words: str
    panels: tuple[str, ...]
    holds: Callable[[float, Ends], bool]


def cheapest(loss: float, others: Ends) -> bool:
    """Whether the algorithm is below every other."""
    return loss < min(others.values())


def naive_wins(loss: float, others: Ends) -> bool:
    """Whether the naive algorithm is below the algorithm."""
    return others["Naive Algorithm 1"] < loss


def like_random(loss: float, others: Ends) -> bool:
    """Whether the algorithm and Random are about as dear."""
    return abs(loss / others["Random Select"] - 1.0) <= CLOSE


CLAIMS = (
    Claim("Algorithm 1 costs least", ("discrete",), cheapest),
    Claim("Algorithm 2 costs least", ("branin", "hartmann"), cheapest),
    Claim("Algorithm 2 costs least", ("parkinsons-uniform", "parkinsons-lopsided-b10"), cheapest),
    Claim("the naive algorithm costs least at a high price", ("parkinsons-lopsided-b100",), naive_wins),
    Claim("Algorithm 2 and Random are about alike at a low price", ("supernova-b1",), like_random),
    Claim("Algorithm 2 costs least at higher prices", ("supernova-b10", "supernova-b100"), cheapest),
)


def section(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """Each claim on each of its panels, in every recipe that was run; None when none was."""
    rows = [row for claim in CLAIMS for panel in panels for row in _rows(claim, panel, results)]
    if not rows:
        return None
    count = {recipe: [row[-1] for row in rows if row[2] == recipe] for recipe in RECIPES}
    held = ", ".join(
        f"{sum(found is True for found in each)} of {len(each)} by the recipe `{recipe}`"
        for recipe, each in count.items()
        if each
    )
    return Section(
        title="The paper's sentences",
        text=[f"What the paper says of its plots holds in {held}.", *_failures(rows)],
        tables=[Table(name="claims", title="Claim by claim", columns=COLUMNS, rows=rows)],
    )


def _failures(rows: list[list[Cell]]) -> list[str]:
    """A sentence for each claim that fails."""
    return [
        f"{row[1]}, recipe `{row[2]}`: not so, {row[3]:.3g} against {row[5]:.3g} for {row[4]}"
        f"{WHY.get(str(row[1]).split('-')[0], '')}."
        for row in rows
        if row[-1] is False
    ]


def _rows(claim: Claim, panel: Panel, results: Results) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for recipe in RECIPES if _is_about(claim, panel) else ():
        found = measured(panel, recipe, results)
        if found is not None:
            ends = {name: float(bundle.end.mean) for name, bundle in found.methods.items()}
            loss = ends[panel.problem.algorithm]
            others = {name: ends[name] for name in BASELINES if name in ends}
            best = min(others, key=others.__getitem__)
            rows.append(
                [claim.words, panel.name, recipe, loss, best, others[best], claim.holds(loss, others)]
            )
    return rows


def _is_about(claim: Claim, panel: Panel) -> bool:
    return any(panel.name == name or panel.name.startswith(f"{name}-") for name in claim.panels)
