"""Hartmann, trial by trial: what the fits of the published recipe ran to."""

from breakeven.experiments.runs.curve import Curve
from breakeven.experiments.runs.panel_job import PanelJob
from breakeven.experiments.runs.problem import Price
from breakeven.experiments.runs.problems import problem_named
from breakeven.experiments.runs.trials import Results, trials_of
from breakeven.values import Cell, Section, Table

COLUMNS = ["B", "trial", "axes seen after the warm-up", "amplitude then", "fits since", "to another optimum"]
COLUMNS += ["labels", "loss"]


def section(results: Results) -> Section | None:
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
                columns=COLUMNS,
                rows=[_row(price, trial, curve) for price, trial, curve in found],
            )
        ],
    )


def _row(price: Price, trial: int, curve: Curve) -> list[Cell]:
    marks, loss = curve.marks, float(curve.average_loss(price.label_cost)[-1])
    watched = [int(marks["axes"]), marks["amplitude"], int(marks["fits"]), int(marks["changes"])]
    return [price.label_cost, trial + 1, *watched, curve.labels[-1], loss]
