"""What labels and errors are to be expected, by simulation, and what the paper proves.

Errors are those of the bill of a table: against labels, and a label that is bought counts as right. Where
labellers err, they are against f, and a labelled arrival is answered by the prediction that knows its label.
The paper's errors are against f, at every arrival; so its rule has a second row, to set beside its bounds.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs import Averaged, AveragedShares, Belief, GaussianProcess, TypeMeans, TypeShares
from breakeven.errors.expect import Array
from breakeven.learner import Learner
from breakeven.planning.prospect import Prospect, Proven, proven, stream_of
from breakeven.planning.streams import Stream
from breakeven.rules import Audit, Budget, Draws, Never, RandomSelect, Rule, Threshold, Value, checked
from breakeven.trace import simulate
from breakeven.values import EVEN, BillRow, Sweep, counted, expected_error
from breakeven.values.bill import (
    AT_RANDOM,
    EVERYONE,
    NO_ONE,
    CostPoint,
    can_cost,
    mean_row,
    sweep_of,
)

RunsDone = Callable[[int, int], None]  # runs done, runs in all

OUR_RULE, PAPERS_RULE = "breakeven", "the paper's threshold"
COST_FACTORS = (1.0, 0.25, 0.0625, 4.0, 16.0, 64.0)  # of the cost of a label
LARGEST_ANSWER = 1.0  # how far off an answer to a type can be, or yes or no: both lie within [0, 1]
FAR_OFF = 6.0  # how far off an answer to a row of numbers is taken to be at most: f has variance 1
LABELLER_SERIES = 7  # of the random numbers that labellers err by


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The bills of all ways to label such streams, of our rule at other costs, and what the paper proves.

    `against_f` is the paper's rule again, with errors as its theorems count them.
    """

    prospect: Prospect
    rows: list[BillRow]
    sweep: Sweep
    against_f: BillRow
    proven: Proven | None


class _Trial(NamedTuple):
    """The bills of one stream; those at several costs of a label by their factor."""

    rows: list[BillRow]
    points: dict[float, CostPoint]
    against_f: BillRow


def plan(prospect: Prospect, progress: RunsDone | None = None) -> Plan:
    """Simulate what is expected."""
    prospect.check_money()
    factors = [one for one in COST_FACTORS if can_cost(np.array([prospect.cost]), one)]
    whole = prospect.trials * (2 * len(factors) + 1)
    done = iter(range(1, whole + 1))

    def passed() -> None:
        if progress is not None:
            progress(next(done), whole)

    trials = [_trial(prospect, factors, stream_of(prospect, one), passed) for one in range(prospect.trials)]
    ways = zip(*(trial.rows for trial in trials), strict=True)
    points = [_mean_point([trial.points[factor] for trial in trials]) for factor in factors]
    sweep = sweep_of(points, prospect.rounds, prospect.rounds)
    assert sweep is not None  # one cost can always be divided, or multiplied
    return Plan(
        prospect=prospect,
        rows=[mean_row(rows[0].name, rows) for rows in ways],
        sweep=sweep,
        against_f=mean_row(PAPERS_RULE, [trial.against_f for trial in trials]),
        proven=proven(prospect),
    )


def _mean_point(points: list[CostPoint]) -> CostPoint:
    randoms = [one.at_random for one in points if one.at_random is not None]
    return CostPoint(
        label_cost=points[0].label_cost,
        own=mean_row(OUR_RULE, [one.own for one in points]),
        everyone=float(np.mean([one.everyone for one in points])),
        no_one=float(np.mean([one.no_one for one in points])),
        at_random=float(np.mean(randoms)) if randoms else None,
    )


# -- one stream ----------------------------------------------------------------------------------------------


class _Played(NamedTuple):
    """A stream that was run: what was labelled, at which cost, and what was answered."""

    wanted: NDArray[np.bool_]
    spend: float
    answers: Array


def _trial(prospect: Prospect, factors: list[float], stream: Stream, passed: Callable[[], None]) -> _Trial:
    points: dict[float, CostPoint] = {}
    rows: list[BillRow] = []
    for factor in factors:
        found = _ways(prospect.at_cost(factor), stream, passed)
        points[factor] = CostPoint(
            label_cost=factor * prospect.cost,
            own=found[-1],
            everyone=min(row.total for row in found if row.name.startswith(EVERYONE)),
            no_one=next(row.total for row in found if row.name == NO_ONE),
            at_random=next(row.total for row in found if row.name == AT_RANDOM),
        )
        rows = rows or found
    papers = simulate(_threshold(prospect), stream.points, stream.labels, stream.truth)
    passed()
    bought = float(papers.wants_label.sum())
    as_played = _Played(papers.wants_label, prospect.cost * bought, papers.prediction)
    against_f = _row(PAPERS_RULE, prospect, bought, prospect.cost * bought, float(papers.error.sum()))
    return _Trial([*rows, _scored(PAPERS_RULE, prospect, stream, as_played)], points, against_f)


def _ways(prospect: Prospect, stream: Stream, passed: Callable[[], None]) -> list[BillRow]:
    """The simple ways, and ours last."""
    own = _played(_value(prospect), prospect, stream)
    passed()
    random = _played(_at_random(prospect, own), prospect, stream)
    passed()
    no_one = _row(NO_ONE, prospect, 0, 0.0, _without_labels(prospect, stream))
    return [
        *_everyone(prospect),
        msgspec.structs.replace(no_one, simple=True, unasked_error=no_one.mean_error),
        msgspec.structs.replace(_scored(AT_RANDOM, prospect, stream, random), simple=True),
        _scored(OUR_RULE, prospect, stream, own),
    ]


def _everyone(prospect: Prospect) -> list[BillRow]:
    """Labelling everyone, by each labeller where there are some."""
    rounds = prospect.rounds
    if not prospect.labellers:
        return [_row(EVERYONE, prospect, rounds, prospect.cost * rounds, 0.0, simple=True)]
    level = prospect.errors.level
    errors = {name: expected_error(level) * one.noise_std for name, one in prospect.labellers.items()}
    return [
        _row(f"{EVERYONE}: {name}", prospect, rounds, one.cost * rounds, errors[name] * rounds, simple=True)
        for name, one in prospect.labellers.items()
    ]


def _played(learner: Learner, prospect: Prospect, stream: Stream) -> _Played:
    """Run a stream; labellers err by their own noise."""
    if not prospect.labellers:
        trace = simulate(learner, stream.points, stream.labels, stream.truth)
        return _Played(trace.wants_label, learner.ledger.label_spend, trace.prediction)
    answers = list(_asking(learner, prospect, stream))
    return _Played(
        np.array([wanted for wanted, _ in answers]),
        learner.ledger.label_spend,
        np.array([answer for _, answer in answers]),
    )


def _asking(learner: Learner, prospect: Prospect, stream: Stream) -> Iterator[tuple[bool, float]]:
    """Whether each arrival was labelled, and the answer to it."""
    errs = np.random.default_rng([prospect.seed, LABELLER_SERIES]).standard_normal(len(stream))
    points: Any = stream.points if stream.dim is not None else stream.points.tolist()
    for x, truth, off in zip(points, stream.truth.tolist(), errs.tolist(), strict=True):
        decision = learner.decide(x)
        answer = decision.prediction.mean
        if decision.wants_label:
            assert decision.labeller is not None
            said = truth + prospect.labellers[decision.labeller].noise_std * off
            answer = learner.tell(decision.id, said).mean
        yield decision.wants_label, answer


def _scored(name: str, prospect: Prospect, stream: Stream, played: _Played) -> BillRow:
    """Errors against the labels that were not bought; against f, where labellers err."""
    answers, level = played.answers, prospect.errors.level
    if prospect.share is not None:
        answers = np.where(answers > 1.0 - level, 1.0, 0.0)
    right = stream.truth if prospect.labellers else stream.labels
    missed = counted(right - answers, level)
    unasked = missed[~played.wanted]
    error = float(missed.sum() if prospect.labellers else unasked.sum())
    row = _row(name, prospect, int(played.wanted.sum()), played.spend, error)
    return msgspec.structs.replace(row, unasked_error=float(unasked.mean()) if unasked.size else None)


def _without_labels(prospect: Prospect, stream: Stream) -> float:
    """The errors of the best single answer, known only afterwards."""
    level, labels = prospect.errors.level, stream.truth if prospect.labellers else stream.labels
    best = np.median(labels) if level == EVEN else np.quantile(labels, level, method="inverted_cdf")
    return float(counted(labels - best, level).sum())


def _row(
    name: str, prospect: Prospect, labels: float, spend: float, error: float, *, simple: bool = False
) -> BillRow:
    return BillRow(
        name=name,
        labels=labels,
        spend=spend,
        mean_error=error / prospect.rounds,
        total=spend + prospect.errors.unit * error,
        simple=simple,
    )


# -- learners ------------------------------------------------------------------------------------------------


def _value(prospect: Prospect) -> Learner:
    """What `breakeven simulate` runs by default, with the noise known."""
    scored: Literal["truth", "labels"] = "truth" if prospect.labellers else "labels"
    value = Value(horizon=prospect.rounds, scored=scored)
    rule = checked(value, None, averaged=prospect.dim is not None)
    if not prospect.can_pay:
        return _learner(_belief(prospect), Never(), prospect)
    if prospect.audit is not None:
        bound = LARGEST_ANSWER if prospect.dim is None or prospect.share is not None else FAR_OFF
        rule = Audit(rule, prospect.audit, bound=bound)
    if prospect.budget is not None or prospect.per is not None:
        rule = Budget(rule, total=prospect.budget, per=prospect.per)
    return _learner(_belief(prospect), rule, prospect)


def _belief(prospect: Prospect) -> Belief:
    level = prospect.errors.level
    if prospect.share is not None and prospect.dim is not None:
        return AveragedShares(prospect.dim, level)
    if prospect.share is not None:
        return TypeShares(prior_strength="learn", level=level, forgetting=prospect.forgetting)
    if prospect.dim is None:
        return TypeMeans(prospect.noise_std, prior_std="learn", level=level, forgetting=prospect.forgetting)
    return Averaged(prospect.dim, prospect.noise_std, level)


def _at_random(prospect: Prospect, own: _Played) -> Learner:
    """The same belief, and labels drawn at random for the money that our rule spent."""
    cost = prospect.asked.cost if prospect.labellers else prospect.cost
    most = min(int(own.spend / cost * (1.0 + 1e-12)), prospect.rounds)
    draws = np.sort(Draws(0).many(1, prospect.rounds))
    chance = 1.0 if most == prospect.rounds else float(draws[most])
    return _learner(_belief(prospect), RandomSelect(chance), prospect)


def _threshold(prospect: Prospect) -> Learner:
    """The paper's algorithms as its theorems have them: the kernel is known, and means are answered."""
    belief: Belief
    if prospect.dim is None:
        belief = TypeMeans(prospect.noise_std, prospect.delta)
    else:
        belief = GaussianProcess(prospect.dim, prospect.noise_std, prospect.function_kernel)
    return Learner(belief, Threshold(), label_cost=prospect.cost, error_cost=prospect.errors.unit)


def _learner(belief: Belief, rule: Rule, prospect: Prospect) -> Learner:
    costs: dict[str, Any] = {"label_cost": prospect.cost}
    if prospect.labellers:
        costs = {"labellers": prospect.labellers}
    return Learner(belief, rule, **costs, error_cost=prospect.errors.unit)
