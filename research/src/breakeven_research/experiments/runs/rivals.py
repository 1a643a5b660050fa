"""What a learner on a stream of numbers is measured against, and how: the quick way in for an experiment.

    from breakeven_research.experiments.runs.rivals import best_rivals, decided, real_streams, score

    for name, X, y in real_streams():                       # 15 shuffles, and the turbine in time
        rivals = best_rivals(X, y)                          # price in label-sd → loss of each rival
        for price, losses in rivals.items():
            run = score(make_learner(X.shape[1], price * y.std(), len(y)), X, y)
            loss = run.average_loss(price * y.std())[-1]    # compare with min(losses.values())
            run.marks["cover95"]                            # of label intervals, over unlabelled arrivals

Other streams are `arrivals(name, seed)` of `decision_streams`, with `.points` and `.labels`.
`score` runs a `Learner`; `decided` scores what anything else decided and answered. A loss is what an arrival
costs in units of the label: labels bought at their price, plus |label − answer| where none was bought. A
labelled arrival has no error. Explore-then-commit (label the first n, then never) does not look at the price,
so it is worked out once for every n, kept in the user's cache folder, and priced afterwards; the best n is
known only in hindsight.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from breakeven import files
from breakeven.learner import Learner
from breakeven.learner.replay import replay
from breakeven_research.datasets import cache_folder
from breakeven_research.datasets.real_streams import TABLES, in_time_order, shuffled
from breakeven_research.experiments.runs.trials import Curve

if TYPE_CHECKING:
    import polars as pl

    from breakeven.tables.cases import Cases

Array = NDArray[np.float64]
Answers = Callable[[Array, Array, Array], Array]  # points and labels known, and points to answer

PRICES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # of a label, in standard deviations of the labels
LEVELS = (50, 80, 95)  # of intervals whose coverage is counted, in percent
PARTS = 4  # of a stream: a curve is kept at the end of each
SHUFFLES = 3


# -- streams and scores --------------------------------------------------------------------------------------


def real_streams(
    names: Sequence[str] = tuple(TABLES), shuffles: int = SHUFFLES, *, in_time: bool = True
) -> Iterator[tuple[str, Array, Array]]:
    """Name, points and labels of the real streams; text is one column of 0 and 1 for each category."""
    frames = [(f"{name}-{seed}", shuffled(name, seed)) for name in names for seed in range(shuffles)]
    if in_time and "turbine" in names:
        frames.append(("turbine-in-time", in_time_order()))
    for name, frame in frames:
        cases = cases_of(name, frame)
        yield name, cases.points, cases.labels


def cases_of(name: str, frame: "pl.DataFrame") -> "Cases":
    """The rows of a frame as arrivals, read as a user's table is; its last column is the label."""
    from breakeven.tables.cases import read_cases
    from breakeven.tables.options import Options
    from breakeven.tables.sources import framed

    *inputs, label = frame.columns
    return read_cases(framed(name, frame), Options(label=label, features=tuple(inputs), cost=1.0))


def score(learner: Learner, points: Any, labels: Array, levels: Sequence[int] = LEVELS) -> Curve:
    """Run a stream through a learner, scored against its labels, with the coverage of its intervals."""
    steps = [decision for decision, _ in replay(learner, learner.belief.points(points), labels)]
    asked = np.array([step.wants_label for step in steps])
    answers = np.array([step.prediction.mean for step in steps])
    intervals = {
        level: np.array([step.prediction.interval(level / 100, of="label") for step in steps])
        for level in levels
    }
    return decided(asked, answers, labels, intervals)


def decided(asked: Any, answers: Any, labels: Array, intervals: dict[int, Array] | None = None) -> Curve:
    """What decisions and answers cost, at the end of each quarter of the stream.

    `intervals` are rows (low, high) by their level in percent; marks say which part of the unlabelled
    arrivals they hold, over the whole stream ("cover95") and in each quarter ("cover95-1" to "cover95-4").

    >>> curve = decided([True, False], [9.0, 2.5], np.array([1.0, 2.0]))
    >>> curve.labels, curve.errors, curve.average_loss(label_cost=3.0).tolist()
    ([1, 1], [0.0, 0.5], [3.0, 1.75])
    """
    asked = np.asarray(asked, dtype=bool)
    errors = np.where(asked, 0.0, np.abs(labels - np.asarray(answers)))
    ends = sorted({len(labels) * part // PARTS for part in range(1, PARTS + 1)} - {0})
    at, marks = np.array(ends) - 1, dict[str, float]()
    for level, rows in (intervals or {}).items():
        inside = (rows[:, 0] <= labels) & (labels <= rows[:, 1])
        marks |= _shares(f"cover{level}", inside, ~asked, ends)
    return Curve(ends, np.cumsum(asked)[at].tolist(), np.cumsum(errors)[at].tolist(), marks)


def _shares(name: str, inside: Any, counted: Any, ends: list[int]) -> dict[str, float]:
    """The share of those counted that lie inside, in all and in each part; none where nothing counts."""
    parts = {name: slice(None)}
    parts |= {f"{name}-{n}": slice(*part) for n, part in enumerate(pairwise([0, *ends]), start=1)}
    return {one: float(inside[at][counted[at]].mean()) for one, at in parts.items() if counted[at].any()}


# -- label the first, then never -----------------------------------------------------------------------------


def numbers(rounds: int) -> list[int]:
    """The numbers of first labels that are tried: every one to 6, then by factors of about 1.26.

    >>> numbers(20)
    [1, 2, 3, 4, 5, 6, 8, 10, 13, 16]
    """
    spaced = {round(10 ** (power / 10)) for power in range(9, 60)}
    return sorted(n for n in {1, 2, 3, 4, 5, 6, *spaced} if n < rounds)


def committed(answers: Answers, points: Array, labels: Array, least: int = 1) -> dict[str, Curve]:
    """A curve for each number of first labels.

    Where the labels known so far have one or two values, an answer is the nearer of these: that suits
    absolute errors, and no rival is to lose for answering half of a yes.
    """
    found = {}
    for n in numbers(len(labels)):
        if n >= least:
            known = labels[:n]
            given = np.concatenate((known, _snapped(answers(points[:n], known, points[n:]), known)))
            found[str(n)] = decided(np.arange(len(labels)) < n, given, labels)
    return found


def _snapped(answers: Array, known: Array) -> Array:
    values = np.unique(known)
    if len(values) > 2:
        return answers
    middle: Array = np.where(answers > values.mean(), values[-1], values[0])
    return middle


def _median(points: Array, labels: Array, rest: Array) -> Array:
    return np.full(len(rest), np.median(labels))


def _fitted(kind: str) -> Answers:
    """A regressor of scikit-learn as it comes, over standardised features."""

    def answers(points: Array, labels: Array, rest: Array) -> Array:
        from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
        from sklearn.linear_model import RidgeCV

        made = {
            "ridge": lambda: RidgeCV(alphas=np.logspace(-2, 4, 13)),
            "forest": lambda: RandomForestRegressor(random_state=0),
            "boosting": lambda: GradientBoostingRegressor(random_state=0),
        }
        middle, width = points.mean(axis=0), points.std(axis=0)
        width = np.where(width > 0.0, width, 1.0)
        found: Array = made[kind]().fit((points - middle) / width, labels).predict((rest - middle) / width)
        return found

    return answers


COMMITTED: dict[str, tuple[Answers, int]] = {  # and the least number of labels that it can be fitted to
    "median": (_median, 1),
    "ridge": (_fitted("ridge"), 2),
    "forest": (_fitted("forest"), 2),
    "boosting": (_fitted("boosting"), 2),
}


def first_labels(points: Array, labels: Array, kinds: Sequence[str] = tuple(COMMITTED)) -> dict[str, Curve]:
    """Explore-then-commit with each of these, by its name and number, such as "ridge-20"."""
    return {
        f"{kind}-{n}": curve
        for kind in kinds
        for n, curve in committed(COMMITTED[kind][0], points, labels, COMMITTED[kind][1]).items()
    }


# -- rivals of one stream ------------------------------------------------------------------------------------


ALL, NONE, MARK = "label all", "no one", "best constant"


def extremes(labels: Array) -> dict[str, Curve]:
    """Label all; label none and answer 0, as in the paper; and a mark that nobody can reach.

    The mark answers the median of all labels, which it was given for nothing. It is no rival.
    """
    nobody = np.zeros(len(labels), dtype=bool)
    return {
        ALL: decided(~nobody, labels, labels),
        NONE: decided(nobody, np.zeros(len(labels)), labels),
        MARK: decided(nobody, np.full(len(labels), np.median(labels)), labels),
    }


def best_rivals(
    points: Array, labels: Array, prices: Sequence[float] = PRICES, *, mark: bool = False
) -> dict[float, dict[str, float]]:
    """The loss of each rival at each price (in standard deviations of the labels), the least first.

    Of each kind the best number in hindsight. `mark` adds what nobody can reach.
    """
    curves = _kept(points, labels) | extremes(labels)
    if not mark:
        del curves[MARK]
    return {price: least_losses(curves, price * float(labels.std())) for price in prices}


def least_losses(curves: dict[str, Curve], label_cost: float) -> dict[str, float]:
    """The least loss of each kind, the least of all first."""
    best: dict[str, float] = {}
    for name, curve in curves.items():
        kind = kind_of(name)
        best[kind] = min(best.get(kind, np.inf), float(curve.average_loss(label_cost)[-1]))
    return dict(sorted(best.items(), key=lambda one: one[1]))


def kind_of(name: str) -> str:
    """The rival without its setting.

    >>> kind_of("ridge-20"), kind_of("label all")
    ('ridge', 'label all')
    """
    return name.rpartition("-")[0] or name


def _kept(points: Array, labels: Array) -> dict[str, Curve]:
    """The curves of `first_labels`, from the user's cache folder where they are."""
    import sklearn

    key = sha256(repr((sklearn.__version__, points.shape)).encode() + Path(__file__).read_bytes())
    key.update(np.ascontiguousarray(points).tobytes() + np.ascontiguousarray(labels).tobytes())
    folder, name = cache_folder() / "rivals", f"{key.hexdigest()[:32]}.json"
    try:
        return msgspec.json.decode((folder / name).read_bytes(), type=dict[str, Curve])
    except (OSError, msgspec.MsgspecError):
        found = first_labels(points, labels)
        files.write(folder, name, msgspec.json.encode(found))
        return found
