"""Streams that Theorem 1 covers and the paper's experiments leave out: other noise, an adversary, loans."""

from typing import NamedTuple

import numpy as np

from breakeven import theory
from breakeven.values import Cell, Section, Table
from breakeven_research.experiments.runs.covered_runs import ALGORITHM_1, DELTA, SEPARATE, STREAMS, CoveredRun
from breakeven_research.experiments.runs.trials import Curve, Job, Results, average, trials_of

COLUMNS = [
    "stream",
    "method",
    "K",
    "trials",
    "labels",
    "average loss",
    "±",
    "average error",
    "Theorem 1 a round",
    "loss ÷ Theorem 1, at most",
    "fails with probability at most",
]
BOUNDED = (ALGORITHM_1, SEPARATE)  # what Theorem 1 is about


def jobs(trials: int, *, rounds: int = 10_000) -> list[Job]:
    """Every kind of stream."""
    return [CoveredRun(arrivals=kind, seed=seed, rounds=rounds) for kind in STREAMS for seed in range(trials)]


class Group(NamedTuple):
    """The trials of one method on one kind of stream."""

    kind: str
    method: str
    label_cost: float
    curves: list[Curve]

    @property
    def ratios(self) -> list[float]:
        """The loss over what Theorem 1 allows, after the last round of each trial."""
        return [one.total_loss(self.label_cost) / one.marks["bound"] for one in self.curves]

    @property
    def failure(self) -> float:
        """The probability with which the bound may fail: the paper's radius needs no union over types."""
        react = self.kind == "reacting" or self.method == SEPARATE
        types = int(self.curves[0].marks["types"])
        return theory.failure_probability(types, DELTA, arrivals_react=react)

    def row(self) -> list[Cell]:
        """As the table has it."""
        rounds, bounded = self.curves[0].rounds[-1], self.method in BOUNDED
        loss = average([one.average_loss(self.label_cost)[-1] for one in self.curves])
        wide = loss.half_width
        return [
            self.kind,
            self.method,
            int(self.curves[0].marks["types"]),
            len(self.curves),
            float(np.mean([one.labels[-1] for one in self.curves])),
            float(loss.mean),
            None if wide is None else float(wide),
            float(np.mean([one.average_error()[-1] for one in self.curves])),
            float(np.mean([one.marks["bound"] for one in self.curves])) / rounds if bounded else None,
            max(self.ratios) if bounded else None,
            self.failure if bounded else None,
        ]


def section(results: Results) -> Section | None:
    """Every kind of stream that was run; None when none was."""
    groups = [
        Group(kind, method, trials[0][0].label_cost, [curves[method] for _, curves in trials])
        for kind in STREAMS
        if (trials := trials_of(results, CoveredRun, arrivals=kind))
        for method in trials[0][1]
    ]
    if not groups:
        return None
    cost, rounds = groups[0].label_cost, groups[0].curves[0].rounds[-1]
    table = Table(
        name="covered",
        title=f"After {rounds:,} rounds at a price of {cost:g}",
        columns=COLUMNS,
        rows=[group.row() for group in groups],
    )
    return Section(
        title="Streams that the theorems cover and the experiments leave out",
        text=[
            "Theorem 1 asks of noise that it is sub-Gaussian, and of arrivals nothing. Noise is normal, "
            "uniform or ±σ, always of the same variance; types come evenly, one after the other (in turn), "
            "or by an adversary who sees all and sends the type whose answer is most wrong (reacting). A "
            "loan is of one of 40 kinds, and its label says whether it defaults: 8% do. Answers are clipped "
            "to [0, 1]; never labelling answers ½.",
            _sentence([group for group in groups if group.method in BOUNDED]),
        ],
        tables=[table],
    )


def _sentence(groups: list[Group]) -> str:
    above = sum(ratio > 1.0 for group in groups for ratio in group.ratios)
    runs, most = sum(len(group.curves) for group in groups), max(max(group.ratios) for group in groups)
    return (
        f"The loss ends above the corrected Theorem 1 in {above} of {runs} runs of Algorithm 1 and of types "
        f"that count their own labels; at most it is {most:.3g} times what the theorem allows."
    )
