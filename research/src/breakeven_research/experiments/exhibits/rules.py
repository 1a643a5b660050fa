"""`Value`, with nothing to tune, beside the paper's rule at any λ and other yardsticks of hindsight."""

from collections.abc import Iterable, Sequence
from typing import Literal

from breakeven.values import Cell, Chart, Figure, Line, Section, Table
from breakeven_research.experiments.exhibits.endpoints import (
    AGAIN_WORDS,
    BY_EYE_WORDS,
    EndPoint,
    end_points,
)
from breakeven_research.experiments.exhibits.panels import (
    KNOWN,
    PANELS,
    UNKNOWN,
    Bundle,
    Panel,
    figure_of,
    measured,
    valued,
)
from breakeven_research.experiments.exhibits.scales import tuning
from breakeven_research.experiments.runs.jobs import NUMBERS, FixedJob, ValueJob
from breakeven_research.experiments.runs.problems import Problem, Recipe
from breakeven_research.experiments.runs.trials import Job, Results, geometric_mean, trials_of

PUBLISHED, HELD_OUT, BEST = "published λ", "held-out λ", "best λ"
RANDOM, ALL, NEVER, FIXED = "Random, best p", "Label all", "Never", "best fixed number"
LOSSES = (PUBLISHED, HELD_OUT, BEST, RANDOM, ALL, NEVER, FIXED, KNOWN, UNKNOWN)
DRAWN: dict[str, Literal["dots", "rings", "crosses"]] = {
    KNOWN: "dots",
    UNKNOWN: "rings",
    PUBLISHED: "rings",
    RANDOM: "crosses",
    NEVER: "crosses",
}

Losses = dict[str, float]


def jobs(trials: list[tuple[Problem, int]], recipes: Iterable[Recipe]) -> list[Job]:
    """`Value` by the text and by these recipes; on streams of types also fixed numbers of labels."""
    judged: dict[Recipe, None] = dict.fromkeys(["text", *recipes])
    return [
        *[ValueJob(problem.name, recipe, trial) for recipe in judged for problem, trial in trials],
        *[FixedJob(problem.name, "text", trial) for problem, trial in trials if not problem.warmup],
    ]


# -- what was measured -------------------------------------------------------------------------------


def losses(panel: Panel, results: Results) -> Losses | None:
    """The average loss of every rule on the text's streams; None when not all was run."""
    reported, held_out = tuning(panel, "text", results), tuning(panel, "text", results, held_out=True)
    found = measured(panel, "text", results)
    if reported is None or held_out is None or found is None or KNOWN not in found.methods:
        return None
    ends = {name: float(bundle.end.mean) for name, bundle in found.methods.items()}
    return {
        PUBLISHED: reported.losses[panel.price.scale],
        HELD_OUT: reported.losses[held_out.best],
        BEST: reported.losses[reported.best],
        **{name: ends[name] for name in (RANDOM, ALL, NEVER)},
        **_fixed(panel, results),
        **{name: ends[name] for name in (KNOWN, UNKNOWN)},
    }


def _fixed(panel: Panel, results: Results) -> Losses:
    """The least loss that the same number of labels for every type gives; empty where there are no types."""
    trials = [curves for _, curves in trials_of(results, FixedJob, problem=panel.problem.name)]
    if not trials:
        return {}
    bundles = [
        Bundle([curves[f"fixed-{most}"] for curves in trials], panel.price.label_cost) for most in NUMBERS
    ]
    return {FIXED: min(float(bundle.end.mean) for bundle in bundles)}


def _published() -> dict[str, EndPoint]:
    """The ends of the published algorithms, by panel."""
    return {point.panel: point for point in end_points() if point.method in ("Algorithm 1", "Algorithm 2")}


# -- what is shown -----------------------------------------------------------------------------------


def section(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """Losses, ratios and end points of these panels; None when none was run."""
    found = {panel: one for panel in panels if (one := losses(panel, results)) is not None}
    if not found:
        return None
    ends = _ends_table(found, results)
    return Section(
        title="Measured: Value beside the paper's rule",
        text=[
            "Nothing differs between these panels but the price, the noise, the dimension and the number of "
            "rounds. Streams are the text's. The best λ, p and number of labels for each type are known only "
            "in hindsight; a number of 0 answers 0.5, the middle of where means are known to lie.",
            _summary(list(found.values())),
            *([_below(ends)] if ends.rows else []),
        ],
        tables=[_loss_table(found), _ratio_table(found), *([ends] if ends.rows else [])],
        figures=[_figure(found)],
    )


def _loss_table(found: dict[Panel, Losses]) -> Table:
    rows: list[list[Cell]] = [
        [panel.name, *(one.get(rule) for rule in LOSSES)] for panel, one in found.items()
    ]
    return Table(name="rules", title="Average loss", columns=["panel", *LOSSES], rows=rows)


def _ratio_table(found: dict[Panel, Losses]) -> Table:
    columns = ["panel", "Value ÷ best λ", "Value ÷ published λ", "unknown ÷ known horizon"]
    rows: list[list[Cell]] = [
        [panel.name, one[KNOWN] / one[BEST], one[KNOWN] / one[PUBLISHED], one[UNKNOWN] / one[KNOWN]]
        for panel, one in found.items()
    ]
    return Table(name="rules-ratios", title="Ratios of these losses", columns=columns, rows=rows)


def _ends_table(found: dict[Panel, Losses], results: Results) -> Table:
    """`Value` beside the paper's end points: on the text's streams, and on those of the figures."""
    paper, rows = _published(), list[list[Cell]]()
    for panel, one in found.items():
        if panel.name in paper:
            end, by_eye = paper[panel.name].loss, paper[panel.name].by_eye
            there = valued(panel, "figures", results)
            same = float(there[KNOWN].end.mean) if there else None
            below = None if same is None else same < end
            source = BY_EYE_WORDS if by_eye else AGAIN_WORDS
            rows.append([panel.name, end, one[KNOWN], one[KNOWN] < end, same, below, source])
    columns = ["panel", "paper", "Value, text", "below", "Value, figures", "below there", "paper from"]
    return Table(name="rules-end-points", title="The published end points", columns=columns, rows=rows)


# -- in words ----------------------------------------------------------------------------------------


def _summary(rows: list[Losses]) -> str:
    hindsight, unaware, published, blind = (
        [one[above] / one[below] for one in rows]
        for above, below in ((KNOWN, BEST), (UNKNOWN, BEST), (KNOWN, PUBLISHED), (UNKNOWN, KNOWN))
    )
    beaten, beaten_blind = (sum(ratio <= 1.0 for ratio in ratios) for ratios in (hindsight, unaware))
    never = [sum(one[NEVER] < one[horizon] for one in rows) for horizon in (KNOWN, UNKNOWN)]
    return (
        f"`Value` on its own belief costs no more than the paper's rule on the paper's belief at its best λ "
        f"in hindsight in **{beaten} of {len(rows)}** panels where it knows its horizon and in "
        f"**{beaten_blind} of {len(rows)}** where it does not; {geometric_mean(hindsight):.3g} and "
        f"{geometric_mean(unaware):.3g} times as much in the geometric mean, and {max(hindsight):.3g} and "
        f"{max(unaware):.3g} times at worst. That compares rule and belief at once; the next section "
        "takes them apart, with paired intervals. Against the published λ, which was chosen for another "
        f"threshold, the mean is {geometric_mean(published):.3g}, horizon known. Not knowing its horizon, "
        f"`Value` costs {max(blind):.3g} times as much as knowing it at worst, and "
        f"{geometric_mean(blind):.3g} times in the geometric mean. Never labelling costs less than `Value` "
        f"in {never[0]} of {len(rows)} panels, horizon known, and in {never[1]}, horizon unknown."
    )


def _below(ends: Table) -> str:
    text, figures = ([row[place] for row in ends.rows if row[place] is not None] for place in (3, 5))
    again = sum(row[6] == AGAIN_WORDS for row in ends.rows)
    there = (
        f", and on the figures' own streams in {sum(map(bool, figures))} of {len(figures)}" if figures else ""
    )
    return (
        f"`Value`, horizon known, lies below the published end point in {sum(map(bool, text))} of "
        f"{len(text)} panels on the text's streams{there}; {len(text) - again} of these end points are the "
        f"paper's own, read off its figures by eye, and {again} are simulated again from its settings."
    )


# -- drawn -------------------------------------------------------------------------------------------


def _figure(found: dict[Panel, Losses]) -> Figure:
    types = {panel: one for panel, one in found.items() if not panel.problem.warmup}
    numbers = {panel: one for panel, one in found.items() if panel.problem.warmup}
    charts = [
        _chart(name, title, some)
        for name, title, some in (
            ("types", "Points are types", types),
            ("numbers", "Points are numbers", numbers),
        )
        if some
    ]
    return figure_of("rules-figure", "Loss beside that of the best λ in hindsight", charts)


def _chart(name: str, title: str, found: dict[Panel, Losses]) -> Chart:
    places = [float(place) for place in range(len(found))]
    lines = [
        Line(label=rule, x=[one[rule] / one[BEST] for one in found.values()], y=places, kind=kind)
        for rule, kind in DRAWN.items()
    ]
    return Chart(
        name=name,
        title=title,
        x_label="loss ÷ that at the best λ",
        y_label="",
        lines=[*lines, Line(label=BEST, x=[1.0, 1.0], y=[-0.5, len(found) - 0.5], kind="dashed")],
        log_x=True,
        y_names=[panel.name for panel in found],
    )
