"""Everything that can be reproduced, by name: which jobs it needs, and what is shown of them.

A name is that of a panel, of another exhibit, or of a group of them.
"""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn

from breakeven.errors import expect
from breakeven.values import Figure, Section, Table
from breakeven_research.datasets import all_sources, locate
from breakeven_research.experiments.exhibits import (
    ablations,
    apart,
    bounds,
    claims,
    covered,
    decisions,
    endpoints,
    illustration,
    panels,
    rates,
    readings,
    rules,
    scales,
    skew,
)
from breakeven_research.experiments.exhibits.ablations import ABLATIONS
from breakeven_research.experiments.exhibits.panels import PANELS, Panel
from breakeven_research.experiments.runs.decision_jobs import BeliefJob, DecisionJob, decision_jobs
from breakeven_research.experiments.runs.decision_streams import STREAMS
from breakeven_research.experiments.runs.jobs import PanelJob, grid_jobs
from breakeven_research.experiments.runs.problems import HELD_OUT, RECIPES, Problem, Recipe
from breakeven_research.experiments.runs.trials import Job, Results

THEORY_TRIALS = 10


class Wish(NamedTuple):
    """What someone wants to see: exhibits by name, recipes, and trials (None: as many as the paper)."""

    names: tuple[str, ...]
    recipes: tuple[Recipe, ...] = RECIPES
    trials: int | None = None

    @property
    def panels(self) -> list[Panel]:
        """The panels among the names."""
        return [panel for panel in PANELS if panel.name in self.names]

    @property
    def judged(self) -> list[Panel]:
        """The panels on which rules are compared: those named, or all."""
        return (self.panels or [*PANELS]) if set(RULES) & set(self.names) else []

    def trials_of(self, published: int) -> int:
        """How many, where the paper has this many."""
        return published if self.trials is None else self.trials


def wish(
    names: Iterable[str] = (), recipe: str = "both", trials: int | None = None, *, rules: bool = False
) -> Wish:
    """Check what someone asks for; no names mean everything of the paper. `rules` adds our own rule to it.

    >>> wish(["branin"], "text").names
    ('branin-b10', 'branin-b100')
    """
    expect.one_of("recipe", recipe, (*RECIPES, "both"))
    recipes = tuple(one for one in RECIPES if recipe in (one, "both"))
    if trials is not None:
        trials = expect.whole("trials", trials, least=1, most=HELD_OUT)
    asked = [one for name in names for one in _resolved(name)] or [*PAPER]
    if rules:
        asked += RULES
    return Wish(tuple(name for name in NAMES if name in asked), recipes, trials)


def _resolved(name: str) -> list[str]:
    """The names that one name stands for: itself, those that it begins, or those of a group."""
    found = [one for one in NAMES if one == name or one.startswith(f"{name}-")] or [*GROUPS.get(name, ())]
    if not found:
        _refuse("panel", name, [*NAMES, *GROUPS], "--list` shows, or the beginning of one such as branin")
    return found


def _refuse(what: str, name: str, names: list[str], shown: str) -> NoReturn:
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    expect.refuse(what, f"a name that `breakeven reproduce {shown}", f"{name!r}{hint}", described=True)


def check_data(asked: Wish) -> None:
    """Raise what `datasets.locate` raises where a data file is needed and not here, before any work."""
    grids = PANELS if "scales" in asked.names else ()
    problems = {panel.problem.name for panel in (*asked.panels, *asked.judged, *grids)}
    for source in all_sources():
        if any(name.startswith(source.name) for name in problems):
            locate(source)


# -- what is run -------------------------------------------------------------------------------------


def phases(asked: Wish) -> dict[str, list[Job]]:
    """The jobs behind a wish: panels and ablations, then the theory, grids over λ, and our own rule."""
    found = {
        "Panels and ablations": _panel_jobs(asked) + _ablation_jobs(asked),
        "Bounds, rates and skew": _theory_jobs(asked),
        "λ on held-out streams": _grid_jobs(asked),
        "Value": _value_jobs(asked),
    }
    return {phase: jobs for phase, jobs in found.items() if jobs}


def _panel_jobs(asked: Wish) -> list[Job]:
    shown = [(panel.problem, recipe) for recipe in asked.recipes for panel in asked.panels]
    beside: list[tuple[Problem, Recipe]] = [(panel.problem, "text") for panel in _beside(asked)]
    return [
        PanelJob(problem.name, recipe, trial)
        for problem, recipe in dict.fromkeys(shown + beside)
        for trial in range(asked.trials_of(problem.trials))
    ]


def _beside(asked: Wish) -> list[Panel]:
    """The panels on which the paper's rules stand beside ours."""
    return asked.judged if "rules" in asked.names else []


def _ablation_jobs(asked: Wish) -> list[Job]:
    return [
        job
        for recipe in asked.recipes
        for ablation in ABLATIONS
        if ablation.name in asked.names
        for job in ablation.jobs(recipe, asked.trials_of(ablation.problem.trials))
    ]


def _theory_jobs(asked: Wish) -> list[Job]:
    trials = asked.trials_of(THEORY_TRIALS)
    return [
        *(skew.jobs(trials) if "skew" in asked.names else []),
        *(bounds.jobs(trials) if "bounds" in asked.names else []),
        *(rates.jobs(trials) if "rates" in asked.names else []),
        *(covered.jobs(trials) if "covered" in asked.names else []),
    ]


def _grid_jobs(asked: Wish) -> list[Job]:
    grids = [(panel, recipe) for recipe in asked.recipes for panel in PANELS if "scales" in asked.names]
    beside: list[tuple[Panel, Recipe]] = [(panel, "text") for panel in _beside(asked)]
    return [
        job
        for panel, recipe in dict.fromkeys(grids + beside)
        for job in grid_jobs(panel.problem, panel.price, recipe, asked.trials_of(panel.problem.trials))
    ]


def _value_jobs(asked: Wish) -> list[Job]:
    problems = dict.fromkeys(panel.problem for panel in asked.judged)
    trials = [(problem, trial) for problem in problems for trial in range(asked.trials_of(problem.trials))]
    return [
        *(rules.jobs(trials, asked.recipes) if "rules" in asked.names else []),
        *(ablations.value_jobs(trials) if "value-ablation" in asked.names else []),
        *(apart.jobs(trials) if "apart" in asked.names else []),
    ]


# -- what is shown -----------------------------------------------------------------------------------


def sections(asked: Wish, results: Results) -> list[Section]:
    """The parts of the report, in the order in which they are read."""
    shown = asked.panels
    wanted: list[tuple[bool, Callable[[], Section | None]]] = [
        ("first-figure" in asked.names, illustration.section),
        (bool(shown), lambda: endpoints.section(results, shown)),
        (bool(shown), lambda: claims.section(results, shown)),
        (bool(shown), lambda: claims.headlines(results, shown)),
        *[(bool(family), _family(title, family, results)) for title, family in _families(shown).items()],
        (any(panel.name.startswith("hartmann") for panel in shown), lambda: readings.hartmann(results)),
        (bool(shown), lambda: readings.section(results, shown)),
        (any(one.name in asked.names for one in ABLATIONS), lambda: ablations.section(results)),
        ("scales" in asked.names, lambda: scales.section(results)),
        ("rules" in asked.names, lambda: rules.section(results, asked.judged)),
        ("apart" in asked.names, lambda: apart.section(results, asked.judged)),
        ("value-ablation" in asked.names, lambda: ablations.value_section(results, asked.judged)),
        ("bounds" in asked.names, lambda: bounds.section(results)),
        ("rates" in asked.names, lambda: rates.section(results)),
        ("skew" in asked.names, lambda: skew.section(results)),
        ("covered" in asked.names, lambda: covered.section(results)),
        (bool(shown), endpoints.differences),
    ]
    made = [make() for wanted_one, make in wanted if wanted_one]
    return [section for section in made if section is not None]


def _families(shown: list[Panel]) -> dict[str, list[Panel]]:
    titles = {
        "discrete": "Discrete types",
        "branin": "Branin",
        "hartmann": "Hartmann",
        "parkinsons": "Medicine: Parkinsons",
        "supernova": "Astronomy: supernova",
    }
    return {title: [p for p in shown if p.name.startswith(start)] for start, title in titles.items()}


def _family(title: str, family: list[Panel], results: Results) -> Callable[[], Section]:
    def make() -> Section:
        figures: list[Figure] = [panels.figure(panel, results) for panel in family]
        return Section(title=title, figures=figures)

    return make


def compared(results: Results, shown: list[Panel]) -> list[dict[str, Any]]:
    """The end points as records, for machines."""
    return [row.record() for row in endpoints.rows(results, shown)]


PAPER_EXHIBITS = {
    **{panel.name: panel.title for panel in PANELS},
    **{one.name: f"λ from {one.scales[0]:g} to {one.scales[-1]:g}: {one.problem.title}" for one in ABLATIONS},
    "first-figure": "Which points were labelled, and two newcomers explained",
    "skew": "The same function under uniform, lopsided and one-type arrivals",
    "bounds": "Theorems 1 and 2 around the measured loss, and Theorem 3 as a table",
    "rates": "How the loss grows in T, K and B",
    "covered": "Other noise, an adversary and loans: what Theorem 1 covers and the experiments leave out",
    "scales": "λ as published, tuned on held-out streams, and the best in hindsight",
}
RULE_EXHIBITS = {
    "rules": "`Value` beside the paper's rule at any λ, and other yardsticks of hindsight",
    "apart": "`Value` and the paper's rule, each on the paper's belief and on that of `Value`",
    "value-ablation": "`Value` with each of its parts left out",
}
EXHIBITS = PAPER_EXHIBITS | RULE_EXHIBITS
PAPER, RULES, NAMES = tuple(PAPER_EXHIBITS), tuple(RULE_EXHIBITS), tuple(EXHIBITS)
GROUPS = {
    "all": NAMES,
    "panels": tuple(panel.name for panel in PANELS),
    "ablations": tuple(ablation.name for ablation in ABLATIONS),
}


# -- decisions on streams ----------------------------------------------------------------------------


QUICK_STREAMS, QUICK_ROUNDS = ("friedman1", "yes-0.1", "step", "rare-000"), 60


class StreamWish(NamedTuple):
    """On which streams decisions are measured, on how many of their rounds and seeds (None: all)."""

    names: tuple[str, ...]
    rounds: int | None = None
    seeds: int | None = None

    @property
    def lead(self) -> str:
        """What the page is about, and whether it is the whole of it."""
        if self.rounds is None:
            return decisions.LEAD
        return f"{decisions.LEAD}\n\n{decisions.SHORT.format(rounds=self.rounds, seeds=self.seeds)}"


def stream_wish(names: Iterable[str] = (), trials: int | None = None, *, quick: bool = False) -> StreamWish:
    """Check which streams someone asks for, by name, by its beginning or by group; none mean all.

    >>> stream_wish(["friedman1", "loans"]).names
    ('friedman1', 'loan-defaults', 'loan-losses')
    """
    seeds = 1 if quick else None
    if trials is not None:
        seeds = expect.whole("trials", trials, least=1, most=HELD_OUT)
    asked = [one for name in names for one in _streams_of(name)] or [*(QUICK_STREAMS if quick else STREAMS)]
    return StreamWish(
        tuple(name for name in STREAMS if name in asked), QUICK_ROUNDS if quick else None, seeds
    )


def _streams_of(name: str) -> list[str]:
    found = [one.name for one in STREAMS.values() if name in (one.name, one.group)]
    found = found or [one for one in STREAMS if one.startswith(f"{name}-")]
    if not found:
        groups = [one.group for one in STREAMS.values()]
        _refuse("stream", name, [*STREAMS, *groups], "--streams --list` shows, or one of their groups")
    return found


def check_stream_data(asked: StreamWish) -> None:
    """Raise what `datasets.locate` raises where a data file is needed and not here, before any work."""
    for source in dict.fromkeys(source for name in asked.names for source in STREAMS[name].sources):
        locate(source)


def stream_phases(asked: StreamWish) -> dict[str, list[Job]]:
    """The jobs behind it: rivals, the learners under test, and other rules on the belief of the default."""
    found: dict[str, list[Job]] = {"Rivals": [], "Decisions": [], "Other rules on the same belief": []}
    for job in decision_jobs([*asked.names], asked.rounds, asked.seeds):
        match job:
            case DecisionJob():
                found["Decisions"].append(job)
            case BeliefJob():
                found["Other rules on the same belief"].append(job)
            case _:
                found["Rivals"].append(job)
    return {phase: jobs for phase, jobs in found.items() if jobs}


def stream_sections(results: Results) -> tuple[list[Section], Table]:
    """The parts of the page, and the table of every number."""
    return decisions.sections(results), decisions.table(results)


STREAM_TITLE = decisions.TITLE
ALL_STREAMS = {one.name: one.group for one in STREAMS.values()}
