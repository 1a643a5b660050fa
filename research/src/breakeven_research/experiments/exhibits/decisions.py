"""The table that keeps us honest: what the default costs beside every simple way, on streams of all kinds.

A loss is what an arrival costs, in standard deviations of the stream's labels. The best rival is the cheapest
in hindsight, for each stream at each price anew: label all, no one, explore-then-commit at the best number of
labels, and on the default's belief random labels at the best probability and the paper's rule at its best
λ. A simple way is one of these that has nothing of ours. As in the paper's panels, one choice holds for all
seeds of a stream; a choice for each seed apart stands beside. A cell is a stream at a price, its ratio the
geometric mean over its seeds; intervals are Student's t over the streams of a group, whose ratios are paired.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from breakeven.values import Cell, Section, Table
from breakeven_research.experiments.runs.decision_jobs import (
    COMMIT,
    DEFAULT,
    ENSEMBLE,
    EQUAL_MONEY,
    FITTED,
    LEARNERS,
    OWN,
    PAPER,
    PUBLISHED,
    RANDOM,
    SCALELESS,
    SIZELESS,
    SPREAD,
    STOPPING,
    UNSIZED,
    BeliefJob,
    DecisionJob,
    EnsembleJob,
    RivalsJob,
    StoppingJob,
)
from breakeven_research.experiments.runs.decision_streams import (
    GROUPS,
    IN_TIME,
    LOANS,
    MOVING,
    RARE,
    REAL,
    SETTINGS_GROUP,
    SMOOTH,
    STREAMS,
    TAILS,
)
from breakeven_research.experiments.runs.rivals import ALL, COMMITTED, LEVELS, MARK, NONE, PARTS, kind_of
from breakeven_research.experiments.runs.trials import Curve, Results, geometric_mean

TITLE = "Decisions, measured"
LEAD = (
    "What the default learner (the one that `from_table` builds) costs on streams of all kinds, beside every "
    "simple way to decide on labels, at prices from 0.1 to 100 standard deviations of the label. Written by "
    "`make decisions`, which runs everything; `decisions.csv` in its folder has every number."
)
SHORT = (
    "**A quick look, not the table**: only the first {rounds} arrivals of {seeds} stream of each kind, and "
    "not of every kind."
)
RATIOS = (
    "Every ratio is one loss divided by another on the same seed of a stream, in the geometric mean over the "
    "seeds; where several streams stand together, in the geometric mean over these. Losses, labels and "
    "shares are plain means over seeds, so dividing two losses of a table need not give the ratio that is "
    "shown."
)

LOSING = 1.1  # times the best rival, from which on a cell is listed as lost
ENOUGH_STREAMS = 3  # for an interval: that of two would go from nothing to everything
FEW = 100  # unlabelled arrivals that a coverage is counted over at least
WELL_COVERED = 0.8  # of intervals of 95%; less is far too little
NUMERIC = (REAL, SMOOTH, TAILS)
UNKNOWING = "÷ unknowing", "worst of it"  # columns


# -- what was measured ---------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """A learner on one stream at one price: its curve, and the losses of everyone there.

    `rivals` have one choice for all seeds, the cheapest over them first; `lucky` is the least loss of any
    rival under any choice on this seed alone. `beside` are no rivals: the mark, optimal stopping, random
    labels at equal money, and rules published since.
    """

    stream: str
    seed: int
    price: float
    learner: str
    curve: Curve
    loss: float
    rivals: dict[str, float]
    beside: dict[str, float]
    lucky: float

    @property
    def group(self) -> str:
        """What the stream is an example of."""
        return STREAMS[self.stream].group

    @property
    def best(self) -> str:
        """The cheapest rival."""
        return next(iter(self.rivals))

    @property
    def ratio(self) -> float:
        """To the cheapest rival."""
        return self.loss / self.rivals[self.best]

    @property
    def ratio_to_simple(self) -> float:
        """To the cheapest rival that uses no belief of ours."""
        return self.loss / min(self.rivals[kind] for kind in SIMPLE if kind in self.rivals)

    def to(self, other: str) -> float | None:
        """The ratio to another, where it is there."""
        loss = (self.rivals | self.beside).get(other)
        return None if loss is None else self.loss / loss

    @property
    def unlabelled(self) -> int:
        """Arrivals that were answered without a label."""
        return self.curve.rounds[-1] - self.curve.labels[-1]

    def record(self) -> dict[str, Any]:
        """All of it as one row, for machines."""
        return {
            "stream": self.stream,
            "group": self.group,
            "seed": self.seed,
            "price": self.price,
            "price_unit": "sd" if STREAMS[self.stream].in_sds else "error",
            "learner": self.learner,
            "rounds": self.curve.rounds[-1],
            "labels": self.curve.labels[-1],
            "loss": self.loss,
            **{f"cover{level}": self.curve.marks.get(f"cover{level}") for level in LEVELS},
            "best_rival": self.best,
            "ratio": self.ratio,
            "ratio_to_simple": self.ratio_to_simple,
            "ratio_to_best_of_seed": self.loss / self.lucky,
            **{name: (self.rivals | self.beside).get(name) for name in OTHERS},
        }


SIMPLE = (ALL, NONE, *COMMITTED)
NO_RIVALS = (MARK, *PUBLISHED)
OTHERS = (
    *SIMPLE, COMMIT, RANDOM, PAPER, EQUAL_MONEY, MARK, STOPPING, UNSIZED, SIZELESS, SCALELESS,
    *PUBLISHED,
)  # fmt: skip


class Run(NamedTuple):
    """One run, and what it is compared with on the same stream."""

    job: DecisionJob
    curves: dict[str, Curve]
    others: dict[str, Curve]
    stopping: dict[str, Curve]

    @property
    def spread(self) -> float:
        """The labels' standard deviation, which losses count in."""
        return self.others[ALL].marks[SPREAD]

    def loss(self, curve: Curve) -> float:
        """The loss of a curve at the price of this run."""
        cost = self.job.price * self.spread if STREAMS[self.job.stream].in_sds else self.job.price
        return float(curve.average_loss(cost)[-1]) / self.spread

    def loss_of(self, name: str) -> float | None:
        """That of another by its name; a value of a rule that was not tried stands for labelling all."""
        curve = self.others.get(name, self.others.get(f"{kind_of(name)}-all"))
        return None if curve is None else self.loss(curve)


def measured(results: Results) -> list[Measured]:
    """Everything that was run, in the order of the streams, seeds, prices and learners."""
    at: dict[tuple[str, int], dict[str, Curve]] = defaultdict(dict)
    stopping: dict[tuple[str, int, float], dict[str, Curve]] = {}
    for job, curves in results:
        match job:
            case RivalsJob() | EnsembleJob() | BeliefJob():
                at[job.stream, job.seed] |= curves
            case StoppingJob():
                stopping[job.stream, job.seed, job.price] = curves
    cells: dict[tuple[str, float, str], list[Run]] = defaultdict(list)
    for job, curves in results:
        if isinstance(job, DecisionJob):
            others = at[job.stream, job.seed]
            run = Run(job, curves, others, stopping.get((job.stream, job.seed, job.price), {}))
            cells[job.stream, job.price, job.learner].append(run)
    found = [one for runs in cells.values() for one in _cell(runs)]
    order = list(STREAMS)
    return sorted(found, key=lambda one: (order.index(one.stream), one.seed, one.price, one.learner))


def _cell(runs: list[Run]) -> list[Measured]:
    """The runs of a learner on all seeds of a stream, at one price."""
    chosen = _chosen(runs)
    return [_measured(run, chosen) for run in runs]


def _chosen(runs: list[Run]) -> dict[str, str]:
    """For each kind of rival the choice that is cheapest over all runs, the cheapest kind first."""
    best: dict[str, tuple[float, str]] = {}
    for name in dict.fromkeys(name for run in runs for name in run.others):
        losses = [loss for run in runs if (loss := run.loss_of(name)) is not None]
        if len(losses) == len(runs):
            one, kind = (_mean(losses), name), kind_of(name)
            best[kind] = min(best.get(kind, one), one)
    return {kind: name for kind, (_, name) in sorted(best.items(), key=lambda one: one[1])}


def _measured(run: Run, chosen: dict[str, str]) -> Measured:
    job, own = run.job, run.curves[OWN]
    losses = {kind: loss for kind, name in chosen.items() if (loss := run.loss_of(name)) is not None}
    rivals = {kind: loss for kind, loss in losses.items() if kind not in NO_RIVALS}
    beside = {kind: loss for kind, loss in losses.items() if kind in NO_RIVALS}
    beside[EQUAL_MONEY] = run.loss(run.curves[EQUAL_MONEY])
    beside |= {name: run.loss(curve) for name, curve in run.stopping.items()}
    lucky = min(run.loss(curve) for name, curve in run.others.items() if kind_of(name) not in NO_RIVALS)
    return Measured(job.stream, job.seed, job.price, job.learner, own, run.loss(own), rivals, beside, lucky)


# -- ratios over streams -------------------------------------------------------------------------------------


Ratio = Callable[[Measured], float | None]


class Spread(NamedTuple):
    """Ratios of several streams: their geometric mean, its interval of 95%, and the worst cell."""

    mean: float
    low: float | None
    high: float | None
    worst: float
    where: str


def spread(cells: dict[tuple[str, float], float]) -> Spread:
    """Over cells, each a stream at a price; a stream's cells count as one where there are several prices.

    >>> found = spread({("a", 1.0): 2.0, ("b", 1.0): 0.5})
    >>> found.mean, found.worst, found.where
    (1.0, 2.0, 'a')
    """
    by_stream: dict[str, list[float]] = defaultdict(list)
    for (stream, _), ratio in cells.items():
        by_stream[stream].append(float(np.log(ratio)))
    logs = np.array([np.mean(some) for some in by_stream.values()])
    (where, price), worst = max(cells.items(), key=lambda one: one[1])
    where = where if len({price for _, price in cells}) == 1 else f"{where} at {price:g}"
    if len(logs) < ENOUGH_STREAMS:
        return Spread(float(np.exp(logs.mean())), None, None, worst, where)
    half = float(stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs)))
    low, high = np.exp(logs.mean() + np.array([-half, half]))
    return Spread(float(np.exp(logs.mean())), float(low), float(high), worst, where)


def cells_of(runs: Iterable[Measured], ratio: Ratio) -> dict[tuple[str, float], float]:
    """The geometric mean over seeds for each stream and price; where a ratio is not known it is left out."""
    some: dict[tuple[str, float], list[float]] = defaultdict(list)
    for run in runs:
        one = ratio(run)
        if one is not None:
            some[run.stream, run.price].append(one)
    return {at: geometric_mean(ratios) for at, ratios in some.items()}


def beside_fitted(runs: list[Measured]) -> Ratio:
    """The ratio to the fitted process on the same stream at the same price, where it was run."""
    losses = {(one.stream, one.seed, one.price): one.loss for one in runs if one.learner == FITTED}

    def ratio(run: Measured) -> float | None:
        loss = losses.get((run.stream, run.seed, run.price))
        return None if loss is None else run.loss / loss

    return ratio


def _of(runs: Iterable[Measured], learner: str, *groups: str) -> list[Measured]:
    return [one for one in runs if one.learner == learner and (not groups or one.group in groups)]


# -- the sections --------------------------------------------------------------------------------------------


def sections(results: Results) -> list[Section]:
    """What the page shows of whatever was run."""
    runs = measured(results)
    makers = (_summary, _by_group, _lost, _coverage, _marks, _rare, _quarters, _published, _losses)
    made = [make(runs) for make in makers] if runs else []
    return [section for section in made if section is not None]


def _summary(runs: list[Measured]) -> Section | None:
    own = _of(runs, DEFAULT)
    sentences = [
        "Losses are scored against labels, as `simulate` and `from_table` do: a labelled arrival has no "
        "error, any other costs |label − answer|. The horizon is known to the learner. Of each rival the "
        "best number of labels, probability or λ is known only in hindsight, and is the same for all seeds "
        "of a stream; no one answers 0, as in the paper.",
        RATIOS,
        *_real_words(runs),
        *_extreme_words(own),
    ]
    return Section(title="In short", text=sentences)


def _real_words(runs: list[Measured]) -> list[str]:
    judged = [one for one in _of(runs, DEFAULT, REAL) if 1.0 <= one.price <= 30.0]
    if not judged:
        return []
    best, simple, lucky, fitted = (
        spread(cells_of(judged, ratio)) for ratio in (_to_best, _to_simple, _to_lucky, beside_fitted(runs))
    )
    cheap = [one for one in _of(runs, DEFAULT, REAL) if one.price < 1.0]
    sentences = [
        f"On {_count(judged)} at 1 to 30 sd a label, the default costs **{_interval(best)}** of the best "
        f"rival in hindsight, in the geometric mean, and {best.worst:.3g} in the worst cell ({best.where}); "
        f"{_interval(lucky)} where the rival may be chosen for each seed apart. Of the best simple way "
        f"(label all, no one, or the median, ridge, a forest or boosting after the best number of labels) it "
        f"costs **{_interval(simple)}**, and {simple.worst:.3g} at worst ({simple.where}); of the fitted "
        f"process {_interval(fitted)}, and {fitted.worst:.3g} at worst ({fitted.where}). Constants of the "
        "default were chosen on these tables, so they flatter it."
    ]
    if cheap:
        found = spread(cells_of(cheap, lambda run: run.to(ALL)))
        sentences.append(
            f"There, where a label costs less than 1 sd, it costs {_interval(found)} of labelling all, and "
            f"{found.worst:.3g} at worst ({found.where})."
        )
    return sentences


def _extreme_words(own: list[Measured]) -> list[str]:
    cells = cells_of(own, _to_best)
    lost = sum(ratio > LOSING for ratio in cells.values())
    won = sum(ratio <= 1.0 for ratio in cells.values())
    (stream, price), worst = max(cells.items(), key=lambda one: one[1])
    unit = "sd" if STREAMS[stream].in_sds else "units of error"
    return [
        f"Over all {len(cells)} cells of the page it is at or below the best rival in {won}, and more than "
        f"{LOSING:g} times as dear in **{lost}**: at worst {worst:.3g} times, on {stream} at {price:g} "
        f"{unit}."
    ]


def _to_best(run: Measured) -> float:
    return run.ratio


def _to_simple(run: Measured) -> float:
    return run.ratio_to_simple


def _to_lucky(run: Measured) -> float:
    return run.loss / run.lucky


def _count(runs: list[Measured]) -> str:
    streams = {(one.stream, one.seed): one.curve.rounds[-1] for one in runs}
    names = {stream for stream, _ in streams}
    lengths = sorted(set(streams.values()))
    length = f"{lengths[0]}" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
    return f"{len(names)} real tables, {len(streams)} streams of {length} arrivals,"


def _interval(found: Spread, to: str = " to ") -> str:
    if found.low is None or found.high is None:
        return f"{found.mean:.3g}"
    return f"{found.mean:.3g} ({found.low:.3g}{to}{found.high:.3g})"


def _by_group(runs: list[Measured]) -> Section:
    ratios: dict[str, tuple[str, Ratio]] = {
        "default ÷ best rival": (DEFAULT, _to_best),
        "fitted process ÷ best rival": (FITTED, _to_best),
        "default ÷ best simple way": (DEFAULT, _to_simple),
        "default ÷ best rival of each seed apart": (DEFAULT, _to_lucky),
        "fitted process ÷ best rival of each seed apart": (FITTED, _to_lucky),
        "default ÷ fitted process": (DEFAULT, beside_fitted(runs)),
        "default ÷ label all": (DEFAULT, lambda run: run.to(ALL)),
        "default ÷ random at equal money": (DEFAULT, lambda run: run.to(EQUAL_MONEY)),
        "default ÷ the paper's rule at its best λ": (DEFAULT, lambda run: run.to(PAPER)),
    }
    prices = _prices(one for one in runs if STREAMS[one.stream].in_sds)
    columns = ["group", *(f"{price:g} sd" for price in prices), "own price", "worst cell"]
    tables = []
    for number, (title, (learner, ratio)) in enumerate(ratios.items(), start=1):
        groups = {group: _of(runs, learner, group) for group in GROUPS}
        rows = [
            [group, *_at_prices(some, prices, ratio)]
            for group, some in groups.items()
            if cells_of(some, ratio)
        ]
        tables.append(Table(name=f"decisions-ratio-{number}", title=title, columns=columns, rows=rows))
    return Section(
        title="Ratios by group and price",
        text=[
            "Geometric means over the streams of a group, of which each counts once however many seeds it "
            "has, with intervals of 95% over these streams (none of fewer than three); and the worst cell. "
            "The best rival has one choice (which rival, and its number, probability or λ) for all seeds of "
            "a stream; with a choice for each seed apart it is cheaper still, by luck of the draw. A simple "
            "way is a rival without a belief of ours: label all, no one, or the median, ridge, a forest or "
            "boosting after some labels. The paper's rule runs on the same belief after the paper's own "
            "first labels, five an input."
        ],
        tables=tables,
    )


def _at_prices(runs: list[Measured], prices: list[float], ratio: Ratio) -> list[Cell]:
    """The ratios at each price, at prices of the streams' own, and the worst of all."""
    own = [one for one in runs if not STREAMS[one.stream].in_sds]
    others = [one for one in runs if STREAMS[one.stream].in_sds]
    columns = [*([one for one in others if one.price == price] for price in prices), own]
    cells = [cells_of(some, ratio) for some in columns]
    shown: list[Cell] = [_interval(spread(one), "–") if one else None for one in cells]
    worst = spread({at: value for one in cells for at, value in one.items()})
    return [*shown, f"{worst.worst:.3g}: {worst.where}"]


def _prices(runs: Iterable[Measured]) -> list[float]:
    return sorted({one.price for one in runs})


def _lost(runs: list[Measured]) -> Section | None:
    own = _of(runs, DEFAULT, *(group for group in GROUPS if group != SETTINGS_GROUP))
    lost = {at: ratio for at, ratio in cells_of(own, _to_best).items() if ratio > LOSING}
    rows: list[list[Cell]] = []
    for (stream, price), ratio in sorted(lost.items(), key=lambda one: -one[1]):
        at = [one for one in own if (one.stream, one.price) == (stream, price)]
        bests = list(dict.fromkeys(one.best for one in at))
        stopping = cells_of(at, lambda run: run.to(STOPPING)).get((stream, price))
        rows.append(
            [stream, price, ratio, ", ".join(bests), _mean(one.curve.labels[-1] for one in at), stopping]
        )
    if not rows:
        return None
    columns = ["stream", "price", "÷ best rival", "which", "labels bought", "÷ optimal stopping"]
    return Section(
        title="What loses",
        text=[
            f"Cells in which the default costs more than {LOSING:g} times the best rival in hindsight, the "
            'worst first. Where most labels are zero, the rival "no one", which always answers 0, is best, '
            "and nobody who is not told that they are zero can be as good: the last column compares with "
            "the best that can be done without inputs by one who knows how large exceptions are. The "
            "default does not before it has seen one, and looks for one whatever a label costs: labels "
            "that are mostly zero and dear cost it most."
        ],
        tables=[Table(name="decisions-lost", title="Lost cells", columns=columns, rows=rows)],
    )


def _mean(numbers: Iterable[float]) -> float:
    return float(np.mean(list(numbers)))


def _coverage(runs: list[Measured]) -> Section | None:
    judged = [one for one in runs if one.group in NUMERIC and one.unlabelled >= FEW]
    rows: list[list[Cell]] = []
    for learner in LEARNERS:
        for price in _prices(judged):
            at = [one.curve.marks for one in _of(judged, learner) if one.price == price]
            if at:
                few = sum(marks["cover95"] < WELL_COVERED for marks in at)
                shares: list[Cell] = [_mean(marks[f"cover{level}"] for marks in at) for level in LEVELS]
                rows.append([learner, price, len(at), *shares, few])
    if not rows:
        return None
    columns = ["learner", "price", "runs", *(f"{level}%" for level in LEVELS), "runs with 95% below .80"]
    return Section(
        title="Do intervals hold what they promise?",
        text=[
            "Shares of unlabelled arrivals whose label lies in its interval, as it was when the arrival was "
            f"decided on, over runs on real, smooth and heavy-tailed streams that leave {FEW} arrivals "
            "unlabelled at least. At few labels even exact intervals fall below .80 now and then: a Student "
            "t does in 8.6% of runs with three labels, and in 3.3% with ten."
        ],
        tables=[Table(name="decisions-coverage", title="Coverage of labels", columns=columns, rows=rows)],
    )


def _marks(runs: list[Measured]) -> Section | None:
    judged = [one for one in runs if one.group in NUMERIC and one.price >= 30.0]
    rows: list[list[Cell]] = []
    for learner in LEARNERS:
        for price in _prices(judged):
            at = [one for one in _of(judged, learner) if one.price == price]
            found = spread(cells_of(at, lambda run: run.to(MARK)))
            blind = cells_of(at, lambda run: run.to(SCALELESS))
            last: list[Cell] = [spread(blind).mean, spread(blind).worst] if blind else [None, None]
            rows.append([learner, price, found.mean, found.low, found.high, found.worst, found.where, *last])
    if not rows:
        return None
    columns = [
        "learner",
        "price",
        "geometric mean",
        "from",
        "to",
        "worst",
        "where",
        "÷ unknowing",
        "worst of it",
    ]
    return Section(
        title="Where labels are dear",
        text=[
            "Beside no one who was given the best constant for nothing: a mark, not a rival, for all others "
            "pay for their labels. The best rule without inputs that knows the labels' standard deviation "
            "costs 1.34 times the mark at 30 sd and 1.62 at 100 sd, where labels are normal and 600 arrive "
            "(1.26 and 1.47 of 1,000); the best that knows neither mean nor standard deviation, a dynamic "
            'programme, 1.36 and 1.78 (1.27 and 1.54), for it must see three labels. "Unknowing" is that '
            "programme on the same arrivals. Of 600 arrivals one label at 100 sd costs a fifth of the mark, "
            "so nobody who must learn where labels lie stays within 1.25 of it."
        ],
        tables=[Table(name="decisions-marks", title="Loss ÷ the mark", columns=columns, rows=rows)],
    )


def _rare(runs: list[Measured]) -> Section | None:
    rows: list[list[Cell]] = []
    for learner in LEARNERS:
        for group in (RARE, TAILS, SETTINGS_GROUP, LOANS):
            cells = cells_of(_of(runs, learner, group), lambda run: run.to(STOPPING))
            if cells:
                found = spread(cells)
                fair = cells_of(_of(runs, learner, group), lambda run: run.to(SIZELESS) or run.to(STOPPING))
                both = [sum(ratio <= LOSING for ratio in those.values()) for those in (cells, fair)]
                rows.append([learner, group, len(cells), *both, found.mean, found.worst, found.where])
    loans = _of(runs, DEFAULT, LOANS)
    if not rows:
        return None
    text = [
        "Labels of which most are zero, beside the optimal stopping rule for a Beta(½, ½) prior, which sees "
        "no inputs, knows the horizon and how large exceptions are, and runs on the same streams. The "
        "settings have shares of 1 to 30%, 500 to 5,000 arrivals and labels at a tenth to ten times the "
        "share; half of them have useless inputs. Where labels are numbers nobody is told how large "
        'exceptions are: "as unknowing" counts beside the best rule that learns their mean from those seen, '
        "and knows how widely they spread. The fitted process does not run in the settings."
    ]
    if loans:
        everyone = cells_of(loans, lambda run: run.to(ALL))
        text.append(
            "2,000 loans, of which 8% default: beside labelling everyone the default costs "
            + " and ".join(f"{ratio:.3g} on {stream}" for (stream, _), ratio in everyone.items())
            + " (a label costs 50 and a default that is missed 3,000; or 200 where a unit of money is a unit "
            "of error)."
        )
    columns = ["learner", "group", "cells", "within 1.1", "as unknowing", "geometric mean", "worst", "where"]
    return Section(
        title="Rare labels",
        text=text,
        tables=[Table(name="decisions-rare", title="Loss ÷ optimal stopping", columns=columns, rows=rows)],
    )


def _quarters(runs: list[Measured]) -> Section | None:
    judged = [one for one in runs if one.group in (IN_TIME, MOVING) and 1.0 <= one.price <= 10.0]
    rows: list[list[Cell]] = []
    for stream in dict.fromkeys(one.stream for one in judged):
        for price in _prices(judged):
            for learner in LEARNERS:
                at = [one for one in _of(judged, learner) if (one.stream, one.price) == (stream, price)]
                quarters = range(PARTS if at else 0)
                rows += [[stream, price, learner, one + 1, *_quarter(at, one)] for one in quarters]
    if not rows:
        return None
    columns = ["stream", "price", "learner", "quarter", "labels", "error an unlabelled arrival", "95% cover"]
    return Section(
        title="When the world moves",
        text=["By quarters of the stream, means over its seeds; errors are in the label's own units."],
        tables=[Table(name="decisions-quarters", title="By quarter", columns=columns, rows=rows)],
    )


def _quarter(runs: list[Measured], quarter: int) -> list[Cell]:
    """Labels, error an unlabelled arrival, and coverage."""
    labels, errors, covers = [], [], []
    for one in runs:
        ends, bought, missed = (
            np.diff([0, *some]) for some in (one.curve.rounds, one.curve.labels, one.curve.errors)
        )
        labels.append(float(bought[quarter]))
        errors.append(float(missed[quarter]) / max(float(ends[quarter] - bought[quarter]), 1.0))
        covers += [share] if (share := one.curve.marks.get(f"cover95-{quarter + 1}")) is not None else []
    return [_mean(labels), _mean(errors), _mean(covers) if covers else None]


def _published(runs: list[Measured]) -> Section | None:
    own = [one for one in _of(runs, DEFAULT) if STREAMS[one.stream].in_sds]
    rows: list[list[Cell]] = []
    for price in _prices(own):
        at = [one for one in own if one.price == price]
        found = [cells_of(at, methodcaller("to", name)) for name in PUBLISHED]
        rows.append([price, *(geometric_mean(cells.values()) if cells else None for cells in found)])
    if not any(cell is not None for row in rows for cell in row[1:]):
        return None
    return Section(
        title="Rules published since 2023",
        text=[
            "The default's loss divided by that of each rule at its best free factor in hindsight, in the "
            "geometric mean over all streams with prices in standard deviations: below 1 the default is "
            "cheaper. `market` is OVBAL of QueryMarket (arXiv 2606.17805) without forgetting, `selective` "
            "the selective sampling of Sekhari et al. (NeurIPS 2023), both on the default's belief; "
            f"`{ENSEMBLE}` is EGP-AL (openreview nuUwMrkme2) on its own. All three are adapted to this loss, "
            "and written from abstracts and formulas as cited: their authors may do better."
        ],
        tables=[Table(name="decisions-published", title="Ratios", columns=["price", *PUBLISHED], rows=rows)],
    )


def _losses(runs: list[Measured]) -> Section:
    rows: list[list[Cell]] = []
    shown = [one for one in runs if one.group != SETTINGS_GROUP]
    for stream in dict.fromkeys(one.stream for one in shown):
        for price in _prices(one for one in shown if one.stream == stream):
            at = {
                learner: [one for one in _of(shown, learner) if (one.stream, one.price) == (stream, price)]
                for learner in LEARNERS
            }
            row: list[Cell] = [stream, price]
            for some in at.values():
                row += [_mean(one.loss for one in some), _mean(one.curve.labels[-1] for one in some)]
            own = at[DEFAULT]
            row += [
                _mean(one.rivals[one.best] for one in own),
                ", ".join(dict.fromkeys(one.best for one in own)),
                _mean(one.beside[EQUAL_MONEY] for one in own),
                _mean(one.beside[MARK] for one in own),
            ]
            rows.append(row)
    columns = ["stream", "price", "default", "labels", "fitted process", "its labels", "best rival", "which"]
    columns += ["random, equal money", "mark"]
    return Section(
        title="Losses, stream by stream",
        text=[
            "Means over the seeds of each stream, in standard deviations of the label; rivals on the "
            "default's belief. The loans have prices in units of error."
        ],
        tables=[Table(name="decisions-losses", title="Average loss", columns=columns, rows=rows)],
    )


def table(results: Results) -> Table:
    """Every number: a row for each learner, stream, seed and price."""
    records = [one.record() for one in measured(results)]
    columns = list(records[0]) if records else []
    rows = [list(one.values()) for one in records]
    return Table(name="decisions", title="Every number", columns=columns, rows=rows)
