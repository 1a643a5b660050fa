"""Two closer looks: every reading of VAR-UNCERTAINTY, and Hartmann trial by trial.

Readings are compared on the Gaussian-process panels; Hartmann's table says what the fits of the published
recipe ran to.
"""

from collections.abc import Sequence

from breakeven.values import Cell, Section, Table
from breakeven_research.experiments.exhibits.panels import PANELS, Bundle, Panel
from breakeven_research.experiments.runs.jobs import PanelJob
from breakeven_research.experiments.runs.methods import BUDGET, READINGS
from breakeven_research.experiments.runs.problems import RECIPES, Price, problem_named
from breakeven_research.experiments.runs.trials import Curve, Results, trials_of

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


# -- Hartmann, trial by trial --------------------------------------------------------------------------------


TRIAL_COLUMNS = [
    "B",
    "trial",
    "axes seen after the warm-up",
    "amplitude then",
    "fits since",
    "to another optimum",
]
TRIAL_COLUMNS += ["labels", "loss"]


def hartmann(results: Results) -> Section | None:
    """Every trial at every price, by the figures' recipe; None when that was not run."""
    problem = problem_named("hartmann")
    trials = trials_of(results, PanelJob, problem="hartmann", recipe="figures")
    if not trials:
        return None
    found = [
        (price, job.trial, curves[f"algorithm-{price.tag}"])
        for price in problem.prices
        for job, curves in trials
    ]
    fits = sum(curve.marks["fits"] for *_, curve in found)
    changes = sum(curve.marks["changes"] for *_, curve in found)
    beyond = sum(curve.labels[-1] > problem.warmup for *_, curve in found)
    return Section(
        title="Hartmann, every trial",
        text=[
            f"Six lengthscales from {problem.warmup} labels have many optima, and which one a fit ends in is "
            f"luck. {beyond} of {len(found)} runs bought more than the warm-up. Of their {fits:,.0f} fits "
            f"since, {changes:,.0f} saw other axes than the fit before: they ran to another optimum. An axis "
            "is seen when its lengthscale is below 10; the box is 1 wide."
        ],
        tables=[
            Table(
                name="hartmann-trials",
                title="Algorithm 2, by the figures' recipe",
                columns=TRIAL_COLUMNS,
                rows=[_trial(price, trial, curve) for price, trial, curve in found],
            )
        ],
    )


def _trial(price: Price, trial: int, curve: Curve) -> list[Cell]:
    marks, loss = curve.marks, float(curve.average_loss(price.label_cost)[-1])
    watched = [int(marks["axes"]), marks["amplitude"], int(marks["fits"]), int(marks["changes"])]
    return [price.label_cost, trial + 1, *watched, curve.labels[-1], loss]
