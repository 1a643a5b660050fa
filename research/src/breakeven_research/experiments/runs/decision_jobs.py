"""Jobs behind the table of decisions: learners under test, other rules on the default's belief, other rivals.

`default` is what `from_table` builds, taken from the one function that builds it. `fitted process` is what it
built at first, kept as the comparison: a process whose mean, kernel and noise are fitted, under the rule as
it was then. Rules that do not look at the price but for one free factor run once for each factor, and are
priced afterwards.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec.structs import replace

from breakeven.beliefs import Belief, untuned
from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.learner import Learner
from breakeven.rules import Always, RandomSelect, Rule, Threshold
from breakeven.values import Verdict, View
from breakeven_research.experiments.runs.blind_stopping import scaleless_run, sizeless_run
from breakeven_research.experiments.runs.decision_streams import STREAMS, arrivals, label_cost
from breakeven_research.experiments.runs.published_rules import Market, Selective, ensemble_run
from breakeven_research.experiments.runs.rivals import ALL, decided, extremes, first_labels, numbers, score
from breakeven_research.experiments.runs.stopping import stopping_run, unsized_run
from breakeven_research.experiments.runs.trials import Curve, Job

if TYPE_CHECKING:
    from breakeven.tables.cases import Cases

LearnerName = Literal["default", "fitted process"]
DEFAULT: LearnerName = "default"
FITTED: LearnerName = "fitted process"
LEARNERS: tuple[LearnerName, ...] = (DEFAULT, FITTED)

OWN, EQUAL_MONEY = "own", "random, equal money"
COMMIT, RANDOM, PAPER, MARKET, SELECTIVE = "same belief", "random", "paper's rule", "market", "selective"
ENSEMBLE, SPREAD = "ensemble", "sd"
STOPPING, UNSIZED = "optimal stopping", "optimal stopping, size unknown until the first"
SIZELESS, SCALELESS = "optimal stopping, size unknown", "optimal stopping, scale unknown"
DEAR = 30.0  # standard deviations: from there on the first labels decide

FIRST_OF_PAPER = 5  # labels for each input, before the paper's rule begins
MOST_COMMITTED = 320  # labels after which the same belief commits, at most: fits to more take too long
CHANCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SCALES = tuple(4.0**power for power in range(3, -5, -1))  # λ at a price of one standard deviation
MARKET_PRICES = (3.0, 1.0, 0.3, 0.1, 0.03)
SELECTIVE_PRICES = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
NEARLY_ALL = 0.8  # of the arrivals: beyond that no value is tried but the one that labels all
DIVERGENCES = (0.003, 0.01, 0.03, 0.1, 0.3)

STREAM_CODE = (  # how streams are made and read, and how anything is scored
    "breakeven/tables/cases.py",
    "breakeven/tables/choice.py",
    "breakeven/tables/kinds.py",
    "breakeven/tables/sources.py",
    "breakeven_research/datasets/",
    "breakeven_research/experiments/runs/decision_jobs.py",
    "breakeven_research/experiments/runs/decision_streams.py",
    "breakeven_research/experiments/runs/problems.py",
    "breakeven_research/experiments/runs/rivals.py",
    "breakeven_research/experiments/runs/trials.py",
)
FITTED_CODE = (
    *STREAM_CODE,
    "breakeven/beliefs/belief.py",
    "breakeven/beliefs/gp/",
    "breakeven/learner/",
    "breakeven/rules/baselines.py",
    "breakeven/rules/draws.py",
    "breakeven/rules/rule.py",
    "breakeven/rules/threshold.py",
    "breakeven/theory/",
    "breakeven/values/",
)


# -- learners under test -------------------------------------------------------------------------------------


class FirstValue(Rule):
    """`Value(scored="labels")` as it was when the fitted process was the default.

    A label is worth the expected error at its own arrival, noise included, and at each arrival left what it
    takes off the error against f and what it teaches about the parameters.

    >>> FirstValue(horizon=100).reservoir
    256
    """

    horizon: int
    reservoir: int = 256

    def decide(self, view: View) -> Verdict:
        """Compare the worth with the price."""
        saving = view.saves(view.traits.noise_std)
        later = (self.horizon - view.round) * (saving.later + saving.lesson)
        worth = saving.outright if saving.outright == np.inf else saving.outright + later
        return Verdict(worth > view.price, worth=worth)


def make_learner(
    name: LearnerName, cases: "Cases", cost: float, noise_std: float | None = None, *, yes_no: bool = False
) -> Learner:
    """A learner under test before the first of these cases."""
    if name == FITTED:
        rule = FirstValue(len(cases))
        return Learner(untuned(cases.columns.dim, noise_std), rule, label_cost=cost)
    from breakeven.tables.options import Labels, Options
    from breakeven.tables.recipe import start

    labels: Labels | None = "yes/no" if yes_no else None
    label = cases.columns.label_column.name
    return start(cases, Options(label=label, cost=cost, noise_std=noise_std, labels=labels)).learner


class Listed(Rule):
    """Label the rounds of a list.

    >>> Listed([3, 5]).rounds
    [3, 5]
    """

    rounds: list[int]

    def decide(self, view: View) -> Verdict:
        """Whether this round is on it."""
        return Verdict(view.round in self.rounds)


def equal_money(rounds: int, labels: int, seed: int) -> list[int]:
    """As many rounds at random, from 1; the first few are among them, for a belief to begin with.

    >>> equal_money(10, 4, seed=0)[:3], len(equal_money(10, 4, seed=0))
    ([1, 2, 3], 4)
    """
    first = min(labels, ENOUGH_TO_FIT)
    others = np.random.default_rng([3000, seed]).choice(rounds - first, labels - first, replace=False)
    return [*range(1, first + 1), *sorted((others + first + 1).tolist())]


# -- jobs ----------------------------------------------------------------------------------------------------


class StreamJob(Job, frozen=True):
    """A job on one stream, or on the beginning of it; it runs in kinds of its own."""

    stream: str
    seed: int
    rounds: int | None

    @property
    def cases(self) -> "Cases":
        """What arrives."""
        return arrivals(self.stream, self.seed, self.rounds)

    @property
    def group(self) -> str:
        """What the stream is an example of."""
        return STREAMS[self.stream].group

    def make(self, learner: LearnerName, cost: float) -> Learner:
        """A learner under test, new."""
        stream = STREAMS[self.stream]
        return make_learner(learner, self.cases, cost, stream.noise_std, yes_no=stream.yes_no)


class RivalsJob(StreamJob, frozen=True):
    """The extremes, the mark, and explore-then-commit with the median and with scikit-learn's regressors.

    >>> RivalsJob("friedman1", 0, None).title
    'Rivals: smooth functions'
    """

    @property
    def title(self) -> str:
        """The group."""
        return f"Rivals: {self.group}"

    @property
    def code(self) -> tuple[str, ...]:
        """No belief and no rule of ours."""
        return STREAM_CODE

    def run(self) -> dict[str, Curve]:
        """A curve for each rival and number of labels; the first one says how widely labels spread."""
        cases = self.cases
        rivals = {} if STREAMS[self.stream].alone else first_labels(cases.points, cases.labels)
        everyone = extremes(cases.labels)
        everyone[ALL] = replace(everyone[ALL], marks={SPREAD: float(cases.labels.std())})
        return everyone | rivals


class StoppingJob(StreamJob, frozen=True):
    """The optimal stopping rule without inputs, at one price, where most labels are zero or labels are dear.

    >>> StoppingJob("yes-0.1", 0, None, price=1.0).title
    'Optimal stopping'
    """

    price: float

    @property
    def title(self) -> str:
        """All groups together: they take little time."""
        return "Optimal stopping"

    @property
    def code(self) -> tuple[str, ...]:
        """The rules themselves, and the sizes that are taken to be possible."""
        sizes, runs = "breakeven/beliefs/averaged/common_label.py", "breakeven_research/experiments/runs"
        return (*STREAM_CODE, sizes, f"{runs}/stopping.py", f"{runs}/blind_stopping.py")

    def run(self) -> dict[str, Curve]:
        """Its curve and, where labels are numbers, those of rules which do not know how large these are."""
        cases, stream = self.cases, STREAMS[self.stream]
        at = cases.labels, label_cost(self.stream, self.price, cases)
        if stream.exceptions is None:
            return {SCALELESS: scaleless_run(*at)}
        known = *at, stream.exceptions
        told = {STOPPING: stopping_run(*known)}
        return told if stream.yes_no else told | {UNSIZED: unsized_run(*known), SIZELESS: sizeless_run(*at)}


class DecisionJob(StreamJob, frozen=True):
    """A learner under test at one price, and its belief with as many labels at random.

    >>> DecisionJob("friedman1", 0, None, "default", price=1.0).title
    'Default: smooth functions'
    """

    learner: LearnerName
    price: float

    @property
    def title(self) -> str:
        """The learner and the group."""
        return f"{self.learner.capitalize()}: {self.group}"

    @property
    def code(self) -> tuple[str, ...] | None:
        """The default is whatever the code is now; the other one depends on its own parts alone."""
        return FITTED_CODE if self.learner == FITTED else None

    @property
    def effort(self) -> float:
        """Cheap labels are bought by the hundred."""
        return 20.0 / (1.0 + self.price)

    def run(self) -> dict[str, Curve]:
        """Both curves; the first with the coverage of its intervals."""
        cases = self.cases
        cost, rounds = label_cost(self.stream, self.price, cases), len(cases)
        own = score(self.make(self.learner, cost), cases.points, cases.labels)
        if own.labels[-1] == rounds:  # whoever labels all has no choice
            return {OWN: own, EQUAL_MONEY: replace(own, marks={})}
        listed = Listed(equal_money(rounds, own.labels[-1], self.seed))
        random = Learner(self.make(self.learner, cost).belief, listed, label_cost=cost)
        return {OWN: own, EQUAL_MONEY: score(random, cases.points, cases.labels, levels=())}


class BeliefJob(StreamJob, frozen=True):
    """The default's belief under one other rule, at all values of that rule's free factor.

    >>> BeliefJob("friedman1", 0, None, kind="random").title
    'Other rules on the same belief: smooth functions'
    """

    kind: str

    @property
    def title(self) -> str:
        """The group."""
        return f"Other rules on the same belief: {self.group}"

    @property
    def effort(self) -> float:
        """Many runs."""
        return 30.0

    def run(self) -> dict[str, Curve]:
        """A curve for each value, from the fewest labels on until nearly all are labelled, then for all.

        Every such rule labels all at the end of its range, such as λ = 0 or a probability of 1.
        """
        points, labels = self.cases.points, self.cases.labels
        if self.kind == COMMIT:
            return {f"{COMMIT}-{n}": curve for n, curve in _committed(self.belief(), points, labels)}
        first = {PAPER: FIRST_OF_PAPER * points.shape[1], RANDOM: ENOUGH_TO_FIT}.get(self.kind, 0)
        found: dict[str, Curve] = {}
        for value, rule, cost in FAMILIES[self.kind](float(labels.std())):
            learner = Learner(self.belief(), rule, label_cost=cost, warmup=min(first, len(labels)))
            curve = found[f"{self.kind}-{value:g}"] = score(learner, points, labels, levels=())
            if curve.labels[-1] > NEARLY_ALL * len(labels):
                break
        return found | {f"{self.kind}-all": extremes(labels)[ALL]}

    def belief(self) -> Belief:
        """What the default believes at first."""
        return self.make(DEFAULT, 1.0).belief


Family = Callable[[float], Iterator[tuple[float, Rule, float]]]  # from the labels' spread: value, rule, cost

FAMILIES: dict[str, Family] = {
    RANDOM: lambda sd: ((chance, RandomSelect(chance), sd) for chance in CHANCES),
    PAPER: lambda sd: ((scale, Threshold(scale), sd) for scale in SCALES),
    MARKET: lambda sd: ((price, Market(sd), price * sd) for price in MARKET_PRICES),
    SELECTIVE: lambda sd: ((price, Selective(), price * sd) for price in SELECTIVE_PRICES),
}
KINDS = (COMMIT, *FAMILIES)
PUBLISHED = (MARKET, SELECTIVE, ENSEMBLE)  # beside, and not among the rivals


def _committed(belief: Belief, points: np.ndarray, labels: np.ndarray) -> Iterator[tuple[int, Curve]]:
    """The belief after each number of first labels, answering the rest."""
    learner, rounds = Learner(belief, Always(), label_cost=1.0), len(labels)
    tried = [n for n in numbers(rounds) if ENOUGH_TO_FIT <= n <= MOST_COMMITTED]
    for n, (point, label) in enumerate(zip(points, labels.tolist(), strict=True), start=1):
        learner.tell(learner.decide(point).id, label)
        if n in tried:
            answers = np.concatenate((labels[:n], [one.mean for one in learner.predict_many(points[n:])]))
            yield n, decided(np.arange(rounds) < n, answers, labels)
        if n == tried[-1]:
            return


class EnsembleJob(StreamJob, frozen=True):
    """An ensemble of processes that labels where its members differ, at all limits.

    >>> EnsembleJob("friedman1", 0, None).title
    'Ensemble: smooth functions'
    """

    @property
    def title(self) -> str:
        """The group."""
        return f"Ensemble: {self.group}"

    @property
    def code(self) -> tuple[str, ...]:
        """It has a belief of its own."""
        return (*STREAM_CODE, "breakeven_research/experiments/runs/published_rules.py")

    def run(self) -> dict[str, Curve]:
        """A curve for each limit, and for one below zero."""
        points, labels = self.cases.points, self.cases.labels
        runs = {f"{ENSEMBLE}-{limit:g}": ensemble_run(points, labels, limit) for limit in DIVERGENCES}
        return runs | {f"{ENSEMBLE}-all": extremes(labels)[ALL]}


# -- all of them ---------------------------------------------------------------------------------------------


def decision_jobs(names: list[str], rounds: int | None = None, seeds: int | None = None) -> list[Job]:
    """Everything that is run on these streams, on their first rounds and seeds only where asked for."""
    found: list[Job] = []
    for name in names:
        stream = STREAMS[name]
        for seed in range(stream.seeds if seeds is None else min(seeds, stream.seeds)):
            at = (name, seed, rounds)
            found.append(RivalsJob(*at))
            dear = [price for price in stream.prices if stream.exceptions is not None or price >= DEAR]
            found += [StoppingJob(*at, price) for price in dear]
            learners = (DEFAULT,) if stream.alone else LEARNERS
            found += [DecisionJob(*at, learner, price) for learner in learners for price in stream.prices]
            if not stream.alone:
                found += [BeliefJob(*at, kind) for kind in KINDS]
                found.append(EnsembleJob(*at))
    return found
