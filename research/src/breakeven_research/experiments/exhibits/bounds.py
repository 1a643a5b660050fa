"""The theorems against what was measured: Theorems 1 and 2 around Algorithm 1, Theorem 3 as a table.

Theorem 1 is drawn as printed and as corrected, with a note where the printed one is crossed. Bounds are
evaluated at the arrivals that there really were; a crossing is looked for at the rounds that a curve keeps.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from breakeven import theory
from breakeven.values import Cell, Chart, Note, Section, Table
from breakeven_research.experiments.exhibits import theorem3
from breakeven_research.experiments.exhibits.panels import figure_of, mean_line, plain_line
from breakeven_research.experiments.runs.theory_runs import ALGORITHM_1, CLIPPED, TypesRun
from breakeven_research.experiments.runs.trials import Job, Results, trials_of

Array = NDArray[np.float64]


class Bracket(NamedTuple):
    """Measured losses and the bounds around them: a row for each trial, a column for each kept round."""

    job: TypesRun
    rounds: list[int]
    loss: Array
    clipped: Array
    corrected: Array
    printed: Array
    least: Array


def bracket(results: Results, types: int, label_cost: float) -> Bracket:
    """The trials of one setting, with the bounds at their arrivals."""
    trials = trials_of(results, TypesRun, types=types, label_cost=label_cost, arrivals="uniform")
    first, curves = trials[0]
    rounds = curves[ALGORITHM_1].rounds
    bounds = np.array([_bounds(job, rounds) for job, _ in trials])
    return Bracket(
        first,
        rounds,
        np.array([found[ALGORITHM_1].total_losses(label_cost) for _, found in trials]),
        np.array([found[CLIPPED].total_losses(label_cost) for _, found in trials]),
        bounds[:, 0],
        bounds[:, 1],
        bounds[:, 2],
    )


def _bounds(job: TypesRun, rounds: list[int]) -> Array:
    """Theorem 1 corrected, Theorem 1 printed and Theorem 2, at each of the rounds."""
    cost, noise_std, delta = job.label_cost, job.noise_std, job.delta
    counts = job.arrivals_until(rounds).tolist()
    forms: tuple[theory.Form, ...] = ("corrected", "printed")
    upper = [
        [theory.upper_bound(m, label_cost=cost, noise_std=noise_std, delta=delta, form=form) for m in counts]
        for form in forms
    ]
    return np.array([*upper, [theory.lower_bound(m, label_cost=cost, noise_std=noise_std) for m in counts]])


def crossed(rounds: list[int], loss: Array, bound: Array) -> list[int]:
    """The rounds in which the loss is above the bound.

    >>> crossed([1, 2, 5], np.array([3.0, 3.0, 3.0]), np.array([2.0, 2.5, 4.0]))
    [1, 2]
    """
    return [t for t, above in zip(rounds, loss > bound, strict=True) if above]


# -- the exhibit ---------------------------------------------------------------------------------------------


SETTINGS = ((10, 10.0), (100, 100.0))  # types, label cost
COLUMNS = [
    "K",
    "B",
    "rounds",
    "trials",
    "Theorem 2",
    "measured loss",
    "Theorem 1, corrected",
    "Theorem 1, printed",
    "corrected / measured",
    "fails with probability at most",
    "if arrivals reacted",
]


def jobs(
    trials: int, *, rounds: int = 10_000, theorem3_rounds: tuple[int, ...] = theorem3.ROUNDS
) -> list[Job]:
    """The runs that the theorems are held against."""
    return [
        *(
            TypesRun(types=types, label_cost=cost, rounds=rounds, seed=seed)
            for types, cost in SETTINGS
            for seed in range(trials)
        ),
        *theorem3.jobs(trials, rounds=theorem3_rounds),
    ]


def section(results: Results) -> Section:
    """Charts of Theorems 1 and 2, the table of Theorem 3, and what is seen."""
    brackets = [bracket(results, types, cost) for types, cost in SETTINGS]
    figure = figure_of(
        "bounds",
        "Theorems 1 and 2 around the measured loss",
        [_chart(one) for one in brackets],
        "Total loss. Bounds are means over the trials, each at its own arrivals; the band is 1.96 standard "
        "errors.",
    )
    table = Table(
        name="bounds",
        title="Theorems 1 and 2 after the last round",
        columns=COLUMNS,
        rows=[_row(one) for one in brackets],
    )
    text = [sentence for one in brackets for sentence in _sentences(one)]
    text.append(
        "Theorem 2 is about the expected loss on the worst problem with these arrivals: a measured loss "
        "below it would be no contradiction."
    )
    proved = theorem3.table(results)
    return Section(
        title="Bounds",
        text=[*text, *theorem3.sentences(proved)],
        tables=[table, proved],
        figures=[figure],
    )


def _chart(one: Bracket) -> Chart:
    return Chart(
        name=f"{one.job.types}-types",
        title=f"K = {one.job.types}, B = {one.job.label_cost:g}",
        x_label="round",
        y_label="total loss",
        lines=[
            mean_line(ALGORITHM_1, one.rounds, one.loss),
            plain_line("Theorem 1, corrected", one.rounds, one.corrected.mean(axis=0), "dashed"),
            plain_line("Theorem 1, printed", one.rounds, one.printed.mean(axis=0), "dashed"),
            plain_line("Theorem 2", one.rounds, one.least.mean(axis=0), "dashed"),
        ],
        notes=_notes(one),
        log_x=True,
        log_y=True,
    )


def _notes(one: Bracket) -> list[Note]:
    """Where the mean loss last is above the printed bound."""
    loss = one.loss.mean(axis=0)
    above = crossed(one.rounds, loss, one.printed.mean(axis=0))
    if not above:
        return []
    last = above[-1]
    words = f"above the printed bound between rounds {above[0]:,} and {last:,}"
    return [Note(float(last), float(loss[one.rounds.index(last)]), words)]


def _row(one: Bracket) -> list[Cell]:
    job, loss, corrected = one.job, float(one.loss[:, -1].mean()), float(one.corrected[:, -1].mean())
    return [
        job.types,
        job.label_cost,
        job.rounds,
        len(one.loss),
        float(one.least[:, -1].mean()),
        loss,
        corrected,
        float(one.printed[:, -1].mean()),
        corrected / loss,
        theory.failure_probability(job.types, job.delta, arrivals_react=False),
        theory.failure_probability(job.types, job.delta),
    ]


def _sentences(one: Bracket) -> list[str]:
    setting = f"K = {one.job.types}, B = {one.job.label_cost:g}"
    return [
        f"{setting}: {_printed_words(one)} {_corrected_words(one)}",
        f"{setting}: {_promise_words(one.job)} {_clipping_words(one)}",
    ]


def _printed_words(one: Bracket) -> str:
    trials = [crossed(one.rounds, loss, bound) for loss, bound in zip(one.loss, one.printed, strict=True)]
    above = [rounds for rounds in trials if rounds]
    if not above:
        return "the loss never crosses Theorem 1 as printed."
    first, last = min(rounds[0] for rounds in above), max(rounds[-1] for rounds in above)
    return (
        f"the loss is above Theorem 1 as printed in {len(above)} of {len(trials)} trials, first in round "
        f"{first:,} and last in round {last:,} of those kept: a type's first label costs B, whatever the "
        "formula allows."
    )


def _corrected_words(one: Bracket) -> str:
    failed = int((one.loss > one.corrected).any(axis=1).sum())
    ratio = one.corrected / one.loss
    if failed:
        return f"It is above the corrected bound in {failed} trials."
    return (
        f"It stays below the corrected bound, which is {ratio.min():.3g} to {ratio.max():.3g} times as much."
    )


def _clipping_words(one: Bracket) -> str:
    share = float(1 - one.clipped[:, -1].mean() / one.loss[:, -1].mean())
    return (
        "The corrected bound is about predictions clipped to [0, 1]; these are not, and clipping them would "
        f"take {share:.1%} off the loss after the last round."
    )


def _promise_words(job: TypesRun) -> str:
    alone = theory.failure_probability(job.types, job.delta, arrivals_react=False)
    reacting = theory.failure_probability(job.types, job.delta)
    words = (
        f"{reacting:.3g}" if reacting < 1 else "no promise is left: the chances that a type fails sum to 1"
    )
    return (
        f"the corrected bound fails with probability {alone:.3g} at most, at δ = {job.delta:g}, for all "
        f"rounds together, as these arrivals do not react to labels; where they did, {words}."
    )
