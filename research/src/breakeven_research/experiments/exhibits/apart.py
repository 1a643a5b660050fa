"""What belongs to the rule and what to the belief: `Value` and the paper's rule on the same belief.

A comparison is paired: both ran on the same streams, so the interval is that of the differences by trial.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven.values import Cell, Section, Table
from breakeven_research.experiments.exhibits.panels import PANELS, Panel
from breakeven_research.experiments.runs.apart_runs import (
    BELIEFS,
    KNOWN,
    NEVER,
    OURS,
    PAPERS,
    UNKNOWN,
    ApartJob,
    scales_of,
)
from breakeven_research.experiments.runs.problems import Problem
from breakeven_research.experiments.runs.trials import Job, Results, average, geometric_mean, trials_of

Array = NDArray[np.float64]

BELIEF_WORDS = {PAPERS: "the paper's belief", OURS: "Value's belief"}
COLUMN_WORDS = {PAPERS: "paper belief", OURS: "Value belief"}
HORIZONS = {KNOWN: "horizon known", UNKNOWN: "horizon unknown"}


def jobs(trials: list[tuple[Problem, int]]) -> list[Job]:
    """Every trial of every problem."""
    return [ApartJob(problem.name, trial) for problem, trial in trials]


class Paired(NamedTuple):
    """How many times as much one rule loses as another on the same streams, and a 95% interval of that."""

    ratio: float
    wide: float | None  # to either side; one trial has none

    @property
    def within_noise(self) -> bool:
        """Whether the interval holds 1, or there is none."""
        return self.wide is None or abs(self.ratio - 1.0) <= self.wide

    def __str__(self) -> str:
        """For a table.

        >>> str(Paired(0.845, 0.12))
        '0.84 ± 0.12'
        """
        return f"{self.ratio:.2f}" if self.wide is None else f"{self.ratio:.2f} ± {self.wide:.2f}"


def paired(ours: Array, others: Array) -> Paired:
    """The mean difference by trial, in units of what the other rule loses on average.

    >>> paired(np.array([1.0, 3.0]), np.array([2.0, 4.0]))
    Paired(ratio=0.6666666666666667, wide=0.0)
    """
    difference, unit = average(ours - others), float(others.mean())
    wide = difference.half_width
    return Paired(1.0 + float(difference.mean) / unit, None if wide is None else float(wide) / unit)


class Apart(NamedTuple):
    """A panel: the loss of each trial under `Value`, under the paper's rule at its best λ, and under none."""

    value: dict[tuple[str, str], Array]  # by belief and horizon
    best: dict[str, Array]  # by belief
    scales: dict[str, float]  # the best λ in hindsight, by belief
    never: Array

    def against_rule(self, belief: str, horizon: str) -> Paired:
        """`Value` over the paper's rule, on the same belief."""
        return paired(self.value[belief, horizon], self.best[belief])


def measured(panel: Panel, results: Results) -> Apart | None:
    """What was run for this panel; None when nothing was."""
    trials = [curves for _, curves in trials_of(results, ApartJob, problem=panel.problem.name)]
    if not trials:
        return None
    cost, tag = panel.price.label_cost, panel.price.tag

    def losses(run: str) -> Array:
        return np.array([curves[run].average_loss(cost)[-1] for curves in trials])

    scales = {
        belief: min(scales_of(panel.price), key=lambda s: float(losses(f"{belief}-{s:g}-{tag}").mean()))
        for belief in BELIEFS
    }
    return Apart(
        {(belief, one): losses(f"{belief}-{one}-{tag}") for belief in BELIEFS for one in HORIZONS},
        {belief: losses(f"{belief}-{scale:g}-{tag}") for belief, scale in scales.items()},
        scales,
        losses(NEVER),
    )


# -- what is shown -----------------------------------------------------------------------------------


def section(results: Results, panels: Sequence[Panel] = PANELS) -> Section | None:
    """Losses and paired ratios of these panels; None when none was run."""
    found = {panel: one for panel in panels if (one := measured(panel, results)) is not None}
    if not found:
        return None
    trials = sorted({len(one.never) for one in found.values()})
    return Section(
        title="Measured: rule and belief apart",
        text=[
            f"`Value` and the paper's rule at its best λ in hindsight (of {len(scales_of(PANELS[0].price))} "
            "or 9), each on both beliefs, on the streams of the text's recipe, "
            f"{' or '.join(map(str, trials))} trials; ± is 1.96 standard errors of the differences by trial, "
            "so a ratio that close to 1 is within noise. The paper's belief on numbers begins with 5d "
            "labels, and `Value`'s with 3, under either rule.",
            *[_sentence(found, belief, horizon) for belief in (OURS, PAPERS) for horizon in HORIZONS],
            _belief_sentence(found),
            *[_never_sentence(found, horizon) for horizon in HORIZONS],
        ],
        tables=[_loss_table(found), _ratio_table(found)],
    )


def _loss_table(found: dict[Panel, Apart]) -> Table:
    columns = ["panel"]
    for belief in (PAPERS, OURS):
        columns += [f"{COLUMN_WORDS[belief]}: best λ", "loss there"]
        columns += [f"Value, {word}" for word in HORIZONS.values()]
    rows: list[list[Cell]] = []
    for panel, one in found.items():
        row: list[Cell] = [panel.name]
        for belief in (PAPERS, OURS):
            row += [one.scales[belief], float(one.best[belief].mean())]
            row += [float(one.value[belief, horizon].mean()) for horizon in HORIZONS]
        rows.append([*row, float(one.never.mean())])
    return Table(name="apart", title="Average loss", columns=[*columns, "Never"], rows=rows)


def _ratio_table(found: dict[Panel, Apart]) -> Table:
    columns = ["panel"]
    columns += [f"{COLUMN_WORDS[belief]}, {word}" for belief in (OURS, PAPERS) for word in HORIZONS.values()]
    rows: list[list[Cell]] = [
        [
            panel.name,
            *(str(one.against_rule(belief, horizon)) for belief in (OURS, PAPERS) for horizon in HORIZONS),
            str(paired(one.value[OURS, KNOWN], one.never)),
        ]
        for panel, one in found.items()
    ]
    return Table(
        name="apart-ratios",
        title="Value ÷ the paper's rule at its best λ on the same belief; ÷ never labelling, horizon known",
        columns=[*columns, "÷ never"],
        rows=rows,
    )


# -- in words ----------------------------------------------------------------------------------------


def _sentence(found: dict[Panel, Apart], belief: str, horizon: str) -> str:
    ratios = [one.against_rule(belief, horizon) for one in found.values()]
    below, close = (
        [ratio for ratio in ratios if ratio.ratio <= 1.0],
        [ratio for ratio in ratios if ratio.within_noise],
    )
    return (
        f"On {BELIEF_WORDS[belief]}, {HORIZONS[horizon]}, `Value` costs no more than the paper's rule at its "
        f"best λ in {len(below)} of {len(ratios)} panels ({sum(one.within_noise for one in below)} of them "
        f"within paired noise), {geometric_mean(one.ratio for one in ratios):.3g} times as much in the "
        f"geometric mean and {max(one.ratio for one in ratios):.3g} times at worst; in {len(close)} panels "
        "the two cannot be told apart."
    )


def _belief_sentence(found: dict[Panel, Apart]) -> str:
    ratios = [float(one.best[OURS].mean() / one.best[PAPERS].mean()) for one in found.values()]
    return (
        f"The paper's rule itself, at its best λ on either, costs {geometric_mean(ratios):.3g} times as much "
        f"on `Value`'s belief as on the paper's, in the geometric mean, and less in "
        f"{sum(ratio < 1.0 for ratio in ratios)} of {len(ratios)} panels: so much of the difference between "
        "`Value` and the paper is the belief's."
    )


def _never_sentence(found: dict[Panel, Apart], horizon: str) -> str:
    ratios = {
        panel.name: float(one.value[OURS, horizon].mean() / one.never.mean()) for panel, one in found.items()
    }
    beaten = {name: ratio for name, ratio in ratios.items() if ratio > 1.0}
    named = ", ".join(f"{name} {ratio:.2g}×" for name, ratio in beaten.items())
    return (
        f"Never labelling, and answering 0 (on types ½), costs less than `Value` on its own belief, "
        f"{HORIZONS[horizon]}, in {len(beaten)} of {len(ratios)} panels{f': {named}' if named else ''}."
    )
