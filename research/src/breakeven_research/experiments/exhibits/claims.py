"""What the paper's sentences say of its plots, its two headlines, and whether they hold here.

Sentences are about the average loss, or in its appendix C about the average error, labels not counted. The
headlines say how far Algorithm 2 stays below the next best baseline.
"""

from collections.abc import Callable, Sequence
from math import isnan, nan
from typing import NamedTuple

from breakeven.values import Cell, Section, Table
from breakeven_research.experiments.exhibits.panels import PANELS, Bundle, Panel, measured
from breakeven_research.experiments.runs.problems import RECIPES, Recipe
from breakeven_research.experiments.runs.trials import Results, average

Ends = dict[str, float]  # by method
Measure = Callable[[Bundle, Panel], float]
BASELINES = ("Random Select", "VAR-UNCERTAINTY", "Naive Algorithm 1")
CLOSE = 0.3  # "performs like" within so much
WHY = {"hartmann": "; the mean is made by the trials whose fit ran to an optimum that buys many labels"}
WHY_ERRORS = "; it labels less than they do, and errors are what it accepts for that"
COLUMNS = ["claim", "panel", "recipe", "algorithm", "best other", "its loss", "holds"]
ERROR_COLUMNS = ["claim", "panel", "recipe", "algorithm", "nearest other", "its own", "holds"]


def end_of_loss(bundle: Bundle, panel: Panel) -> float:
    """The average loss after the last round."""
    return float(bundle.end.mean)


def end_of_error(bundle: Bundle, panel: Panel) -> float:
    """The average error after the last round."""
    return float(bundle.errors[:, -1].mean())


def growth_of_error(bundle: Bundle, panel: Panel) -> float:
    """How many times as large errors are after the first 5d labels as among them; NaN if all are first."""
    first, rounds = panel.problem.warmup, bundle.curves[0].rounds
    if first not in rounds[:-1]:
        return nan
    errors = bundle.errors.mean(axis=0)
    early, all_of_them = first * float(errors[rounds.index(first)]), rounds[-1] * float(errors[-1])
    return (all_of_them - early) / (rounds[-1] - first) / (early / first)


class Claim(NamedTuple):
    """A sentence about some panels, and what it compares the algorithm with."""

    words: str
    panels: tuple[str, ...]
    holds: Callable[[float, Ends], bool]
    measure: Measure = end_of_loss
    others: tuple[str, ...] = BASELINES
    shown: Callable[..., str] = min  # which of the others stands beside the algorithm


def cheapest(loss: float, others: Ends) -> bool:
    """Whether the algorithm is below every other."""
    return loss < min(others.values())


def naive_wins(loss: float, others: Ends) -> bool:
    """Whether the naive algorithm is below the algorithm."""
    return others["Naive Algorithm 1"] < loss


def like_random(loss: float, others: Ends) -> bool:
    """Whether the algorithm and Random are about as dear."""
    return abs(loss / others["Random Select"] - 1.0) <= CLOSE


def naive_worst(value: float, others: Ends) -> bool:
    """Whether the naive algorithm is above all others."""
    rest = [other for name, other in others.items() if name != "Naive Algorithm 1"]
    return others["Naive Algorithm 1"] > max(value, *rest)


def all_grow(value: float, others: Ends) -> bool:
    """Whether the algorithm's and all others' have grown."""
    return min(value, *others.values()) > 1.0


SMOOTH = ("branin", "hartmann", "parkinsons-uniform", "parkinsons-lopsided", "supernova")
CLAIMS = (
    Claim("Algorithm 1 costs least", ("discrete",), cheapest),
    Claim("Algorithm 2 costs least", ("branin", "hartmann"), cheapest),
    Claim("Algorithm 2 costs least", ("parkinsons-uniform", "parkinsons-lopsided-b10"), cheapest),
    Claim("the naive algorithm costs least at a high price", ("parkinsons-lopsided-b100",), naive_wins),
    Claim("Algorithm 2 and Random are about alike at a low price", ("supernova-b1",), like_random),
    Claim("Algorithm 2 costs least at higher prices", ("supernova-b10", "supernova-b100"), cheapest),
)


ERROR_CLAIMS = (
    Claim("Algorithm 1's error is below the baselines'", ("discrete",), cheapest, end_of_error),
    Claim("Algorithm 2's error is below the baselines'", SMOOTH, cheapest, end_of_error),
    Claim("the naive algorithm's error is the largest", SMOOTH, naive_worst, end_of_error, shown=max),
    Claim(
        "errors are low among the first 5d rounds, which are labelled, and grow then",
        ("parkinsons-uniform", "parkinsons-lopsided"),
        all_grow,
        growth_of_error,
        BASELINES[:2],
    ),
)


def section(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """Each claim on each of its panels, in every recipe that was run; None when none was."""
    losses, errors = (
        [row for claim in claims for panel in panels for row in _rows(claim, panel, results)]
        for claims in (CLAIMS, ERROR_CLAIMS)
    )
    if not losses:
        return None
    types = [row for panel in panels for row in _errors_on_types(panel, results)]
    return Section(
        title="The paper's sentences",
        text=[
            f"What the paper says of its plots of average loss holds in {_held(losses)}.",
            *_failures(losses),
            f"What its appendix C says of its plots of average error, in which labels cost nothing, holds in "
            f"{_held(errors)}.",
            *_error_failures(errors),
            *_words_on_types(types),
        ],
        tables=[
            Table(name="claims", title="Average loss, claim by claim", columns=COLUMNS, rows=losses),
            Table(
                name="error-claims",
                title="Average error, claim by claim; of the last claim, errors after 5d rounds ÷ among them",
                columns=ERROR_COLUMNS,
                rows=errors,
            ),
            *(
                [Table(name="type-errors", title=TYPES_TITLE, columns=TYPE_COLUMNS, rows=types)]
                if types
                else []
            ),
        ],
    )


def _held(rows: list[list[Cell]]) -> str:
    count = {recipe: [row[-1] for row in rows if row[2] == recipe] for recipe in RECIPES}
    return ", ".join(
        f"{sum(found is True for found in each)} of {len(each)} by the recipe `{recipe}`"
        for recipe, each in count.items()
        if each
    )


def _failures(rows: list[list[Cell]]) -> list[str]:
    """A sentence for each claim that fails."""
    return [
        f"{row[1]}, recipe `{row[2]}`: not so, {row[3]:.3g} against {row[5]:.3g} for {row[4]}"
        f"{WHY.get(str(row[1]).split('-')[0], '')}."
        for row in rows
        if row[-1] is False
    ]


def _error_failures(rows: list[list[Cell]]) -> list[str]:
    """A sentence for each claim and recipe where it fails somewhere; the table has the numbers."""
    found: dict[tuple[Cell, Cell], list[list[Cell]]] = {}
    for row in rows:
        found.setdefault((row[0], row[2]), []).append(row)
    return [
        f"“{claim}”, recipe `{recipe}`: not so in {len(failed)} of {len(each)} panels"
        f"{WHY_ERRORS if str(claim).startswith('Algorithm') else ''}."
        for (claim, recipe), each in found.items()
        if (failed := [row for row in each if row[-1] is False])
    ]


def _rows(claim: Claim, panel: Panel, results: Results) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for recipe in RECIPES if _is_about(claim, panel) else ():
        found = measured(panel, recipe, results)
        if found is not None:
            ends = {name: claim.measure(bundle, panel) for name, bundle in found.methods.items()}
            ours = ends[panel.problem.algorithm]
            if isnan(ours):
                continue
            others = {name: ends[name] for name in claim.others if name in ends}
            best = claim.shown(others, key=others.__getitem__)
            rows.append(
                [claim.words, panel.name, recipe, ours, best, others[best], claim.holds(ours, others)]
            )
    return rows


def _is_about(claim: Claim, panel: Panel) -> bool:
    return any(panel.name == name or panel.name.startswith(f"{name}-") for name in claim.panels)


# -- errors on types (App. C) --------------------------------------------------------------------------------


TYPES_TITLE = "Average error on types after the last round, and labels bought (App. C)"
COMPARED = ("Algorithm 1", "Random Select", "VAR-UNCERTAINTY")
TYPE_COLUMNS = ["panel", "recipe", *(f"{name}{what}" for name in COMPARED for what in ("", " ±", ", labels"))]
TYPE_COLUMNS += [f"÷ {name}" for name in COMPARED[1:]]


def _errors_on_types(panel: Panel, results: Results) -> list[list[Cell]]:
    """Errors and labels of the three methods that the paper compares on types, in each recipe."""
    rows: list[list[Cell]] = []
    for recipe in RECIPES if panel.problem.algorithm == COMPARED[0] else ():
        found = measured(panel, recipe, results)
        if found is None:
            continue
        row: list[Cell] = [panel.name, recipe]
        errors = [average(found.methods[name].errors[:, -1]) for name in COMPARED]
        for name, error in zip(COMPARED, errors, strict=True):
            width = None if error.half_width is None else float(error.half_width)
            row += [float(error.mean), width, float(found.methods[name].labels[:, -1].mean())]
        rows.append([*row, *(float(errors[0].mean / other.mean) for other in errors[1:])])
    return rows


def _words_on_types(rows: list[list[Cell]]) -> list[str]:
    """In how many panels Algorithm 1's error is larger than each baseline's, and by which factors."""
    said = []
    for recipe in dict.fromkeys(row[1] for row in rows):
        for name, place in zip(COMPARED[1:], (-2, -1), strict=True):
            ratios = [float(row[place] or 0.0) for row in rows if row[1] == recipe]
            said.append(
                f"On types, recipe `{recipe}`: Algorithm 1's error is larger than that of {name} in "
                f"{sum(one > 1.0 for one in ratios)} of {len(ratios)} panels; it is {min(ratios):.2g} to "
                f"{max(ratios):.2g} times as large."
            )
    return said


# -- headlines -----------------------------------------------------------------------------------------------


NEXT_BEST = ("Random Select", "VAR-UNCERTAINTY", "Naive Algorithm 1", "Label all")
FIELDS = {"parkinsons": ("medicine", 0.27), "supernova": ("astronomy", 0.57)}
HEADLINE_COLUMNS = ["field", "panel", "recipe", "Algorithm 2", "next best", "its loss", "below it by"]


def headlines(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """Every panel of the two fields in each recipe; None when none was run."""
    rows = [
        row
        for panel in panels
        if panel.problem.name.startswith(tuple(FIELDS))
        for recipe in RECIPES
        if (row := _headline(panel, recipe, results)) is not None
    ]
    if not rows:
        return None
    return Section(
        title="The two headlines",
        text=[
            sentence for field, claimed in FIELDS.values() if (sentence := _sentence(field, claimed, rows))
        ],
        tables=[
            Table(name="headlines", title="Below the next best baseline", columns=HEADLINE_COLUMNS, rows=rows)
        ],
    )


def _headline(panel: Panel, recipe: Recipe, results: Results) -> list[Cell] | None:
    found = measured(panel, recipe, results)
    if found is None:
        return None
    ends = {name: float(bundle.end.mean) for name, bundle in found.methods.items()}
    next_best = min(NEXT_BEST, key=ends.__getitem__)
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
