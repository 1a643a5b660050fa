"""Hartmann, trial by trial: what the fits of the published recipe ran to."""

from breakeven.experiments.curve import Curve
from breakeven.experiments.optima import OptimaJob
from breakeven.experiments.problems import problem_named
from breakeven.experiments.trials import Results, trials_of
from breakeven.values import Cell, Section, Table

COLUMNS = ["B", "trial", "labels", "loss", "fits after the warm-up", "ran to another optimum"]


def section(results: Results) -> Section | None:
    """Every trial at every price; None when none was run."""
    found = [(job, curves["algorithm"]) for job, curves in trials_of(results, OptimaJob)]
    if not found:
        return None
    rows = [_row(job, curve) for job, curve in found]
    fits = sum(curve.marks["fits"] for _, curve in found)
    changes = sum(curve.marks["changes"] for _, curve in found)
    warmup = problem_named("hartmann").warmup
    beyond = sum(curve.labels[-1] > warmup for _, curve in found)
    return Section(
        title="Hartmann, every trial",
        text=[
            f"Six lengthscales from {warmup} labels have many optima. Of {fits:,.0f} fits after the warm-up "
            f"{changes:,.0f} saw other axes than the fit before, which is what we call another optimum. "
            f"{beyond} of {len(found)} trials bought more than the warm-up; the others saw so small an "
            "amplitude in it that nothing seemed worth a label."
        ],
        tables=[Table(name="hartmann-trials", title="Algorithm 2", columns=COLUMNS, rows=rows)],
    )


def _row(job: OptimaJob, curve: Curve) -> list[Cell]:
    loss = float(curve.average_loss(job.label_cost)[-1])
    counts = [int(curve.marks["fits"]), int(curve.marks["changes"])]
    return [job.label_cost, job.trial + 1, curve.labels[-1], loss, *counts]
