"""The theorems against what was measured: Theorems 1 and 2 around Algorithm 1, Theorem 3 as a table.

Theorem 1 is drawn as printed and as corrected, with a note where the printed one is crossed.
"""

from breakeven import theory
from breakeven.experiments.exhibits import theorem3
from breakeven.experiments.exhibits.bracket import Bracket, bracket, crossed
from breakeven.experiments.exhibits.lines import figure_of, mean_line, plain_line
from breakeven.experiments.runs.job import Job
from breakeven.experiments.runs.trials import Results
from breakeven.experiments.runs.types_run import ALGORITHM_1, TypesRun
from breakeven.values.exhibit import Cell, Chart, Note, Section, Table

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
    failure = theory.failure_probability(job.types, job.delta)
    if failure < 1:
        return (
            f"the corrected bound fails with probability {failure:.3g} at most, at "
            f"δ = {job.delta:g}, for all rounds together."
        )
    return (
        f"at δ = {job.delta:g} the corrected bound comes with no promise, as the chances that a type fails "
        "sum to 1 or more."
    )
