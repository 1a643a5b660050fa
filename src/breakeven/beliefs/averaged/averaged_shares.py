"""The averaged belief for yes/no labels of rows: the probability of a yes, and what a label would change.

Members are logistic processes, averaged by their evidence; the constant is among them and exact. Towards
rules everything is said by Betas: at an arrival to come the probability of a yes is a Beta of the same mean
and variance, and a label at x says ρ² of what one there would say, with ρ the correlation of the two
probabilities. docs/yes-no.md derives what labels save.
"""

from math import inf, sqrt
from typing import Any

import numpy as np

from breakeven import theory
from breakeven.beliefs.averaged.frame import Frame, Moments
from breakeven.beliefs.averaged.labelled_rows import ROUGHEST, LabelledRows
from breakeven.beliefs.averaged.members import NULL_MEMBER, Member, all_members, axis_hearing
from breakeven.beliefs.averaged.odds import Odds, evidence_of_parts
from breakeven.beliefs.averaged.proposing import (
    axes_show,
    checked_members,
    fitted_axes,
    plain_members,
    spread,
)
from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.retreats import best_split
from breakeven.beliefs.similarity import Hearing
from breakeven.beliefs.types.share_savings import each_of_several
from breakeven.beliefs.types.shares import LABEL_STD
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.values import EVEN, Prediction, Saving, Traits, View, checked_level

MOST_YES_NO = 160  # labels that are looked at
SEEN_AT_ONCE, EVERY = 50, 0.03  # labels that are taken in one by one, then by this growth
COUNTED_AHEAD = 64  # labels awaited that are counted, the latest
MOST_MEMBERS, MEMBERS_TIMES_LABELS = 16, 1_000
LEAST_TOLD = 1e-3  # part of the arrivals to come that is worth a thought
SEEN_FIRST = 64  # labels on which all members are weighed
LEAST_STRENGTH = 1.0  # of a Beta: less is known of nothing


class Betas:
    """The probabilities of a yes at some points, each as a Beta of the same mean and variance."""

    def __init__(self, odds: Odds, places: Array) -> None:
        self.look = odds.look(places)
        self.shares = odds.shares(self.look)
        self.variances = odds.variances(self.look, self.shares)
        self.mean: Array = odds.weights @ self.shares
        self.variance: Array = odds.weights @ (self.variances + (self.shares - self.mean) ** 2)

    def known(self) -> list[tuple[float, float]]:
        """As many yeses and noes as say the same, to two digits."""
        doubt = self.mean * (1.0 - self.mean)
        strength = np.maximum(doubt / np.maximum(self.variance, 1e-300) - 1.0, LEAST_STRENGTH)
        pairs = zip((self.mean * strength).tolist(), ((1.0 - self.mean) * strength).tolist(), strict=True)
        return [(float(f"{yes:.2g}"), float(f"{no:.2g}")) for yes, no in pairs]

    def correlation(self, odds: Odds, here: "Betas") -> Array:
        """Of the probability at one point with that at each of these."""
        slopes = np.sqrt(self.variances / np.maximum(self.look.variance, 1e-300))
        slope = np.sqrt(here.variances / np.maximum(here.look.variance, 1e-300))
        joint = odds.covariances(here.look, self.look) * slope * slopes
        joint[0] = np.sqrt(self.variances[0] * here.variances[0])
        joint += (here.shares - here.mean) * (self.shares - self.mean)
        spread = np.sqrt(np.maximum(here.variance * self.variance, 1e-300))
        return np.clip(odds.weights @ joint / spread, 0.0, 1.0)


class RowStakes(Saving, frozen=True, gc=False):
    """What a yes/no label of a row saves: at once the expected cost of its answer, later what it changes.

    Of arrivals to come, some are alike: the same is `known` of them, as yeses and noes, and as many labels
    awaited are `ahead`. `told` is the part of them to which this label says as much as to itself.
    """

    alike: tuple[tuple[tuple[float, float], int], ...] = ()
    told: tuple[float, ...] = ()
    miss: float = 1.0
    alarm: float = 1.0

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off the cost of all arrivals `left`, where each may be labelled at this price.

        Several labels may pay together where one alone changes no answer: so each has its part of the most
        that any number of them saves.
        """
        costs = self.miss, self.alarm, price, float(left)
        return sum(
            told * each_of_several(yes, no, ahead, *costs)
            for ((yes, no), ahead), told in zip(self.alike, self.told, strict=True)
            if told > LEAST_TOLD
        )


def taken_in(labels: int) -> int:
    """How many of the `labels` the members see: all of a few, and of many all but the last few percent.

    >>> taken_in(30), taken_in(52), taken_in(1000)
    (30, 52, 984)
    """
    seen = min(labels, SEEN_AT_ONCE)
    while (more := seen + max(1, int(EVERY * seen))) <= labels:
        seen = more
    return seen


def even_parts(y: Array, most: int) -> tuple[list[int], Array]:
    """Places of `most` labels or fewer, and how many labels each stands for; the rarer are thinned less.

    >>> used, counts = even_parts(np.array([0.0] * 8 + [1.0] * 2), most=4)
    >>> used, counts.tolist()
    ([0, 7, 8, 9], [4.0, 4.0, 1.0, 1.0])
    """
    kinds = [np.flatnonzero(y == 0.0), np.flatnonzero(y == 1.0)]
    fewer = min(len(kinds[0]), len(kinds[1]), most // 2)
    used: dict[int, float] = {}
    for kind in kinds:
        if len(kind):
            rest = fewer if len(kind) <= fewer else most - fewer
            some = kind[spread(len(kind), rest)]
            used |= dict.fromkeys(some.tolist(), len(kind) / len(some))
    places = sorted(used)
    return places, np.array([used[i] for i in places])


class SharesView(View):
    """A rule's view of one arrival."""

    belief: Any = None
    seen: Any = None  # the Betas there

    def saves(self, noise_std: float) -> Saving:
        """What a label would take off the expected cost of answers."""
        saving: Saving = self.belief.saving(self)
        return saving


class AveragedShares(LabelledRows):
    """A belief over `dim` numbers about labels that are yes (1) or no (0). It needs nothing but labels.

    The answer is yes where its probability exceeds 1 − `level`: ½, unless a miss and a false alarm cost
    differently. A label of twice the noise of others counts as a quarter of one.

    >>> belief = AveragedShares(dim=1)
    >>> for x in range(8):
    ...     answer = belief.learn(belief.point([float(x)]), float(x > 3))
    ...     if belief.fit_due(warm=True):
    ...         belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(0)))
    >>> belief.predict(belief.point([0.0])).mean, belief.predict(belief.point([7.0])).mean
    (0.0, 1.0)
    """

    savings_rest_on_labels = True  # a late label may change a decision
    searched = MOST_YES_NO

    def __init__(self, dim: int, level: float = EVEN) -> None:
        super().__init__(dim)
        self.level = checked_level(level)
        exponent = ROUGHEST.exponent(self.dim)
        self.traits = Traits(LABEL_STD, exponent, theory.gp_unit(LABEL_STD), LABEL_STD, self.dim)
        self._seen = 0  # labels that the members have seen
        self._odds: Odds | None = None
        self._coming: tuple[Betas, Array] | None = None  # at arrivals to come, and labels ahead there

    def seeing(self, rows: LabelledRows, labels: list[float]) -> "AveragedShares":
        """The same belief about yes/no labels of the rows of another, which it shares with that."""
        self._rows, self._noises, self._reference = rows._rows, rows._noises, rows._reference
        self._clock, self._kept_at = rows._clock, rows._kept_at
        self._awaited, self._sample, self._kept = rows._awaited, rows._sample, rows._kept
        self._labels, self._coming = labels, None
        return self

    def join(self, y: float) -> None:
        """One more label, of a row that the other belief has taken already."""
        self._labels.append(y)
        self._grow()

    def go_on_with(self, frame: Frame, members: list[Member]) -> None:
        """Take these members, and let them see all labels."""
        self._frame, self._members = frame, members
        self._rebuild()

    def aim(self, level: float) -> None:
        """Answer yes where its probability exceeds 1 − level from now on."""
        self.level = checked_level(level)

    def label(self, name: str, y: Any) -> float:
        """Check a label: 1 for yes, 0 for no."""
        return expect.yes_no_label(name, y)

    # -- asking --------------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The prediction there, and how unsure its probability is once the labels awaited have come."""
        seen = self._betas(self._at(point)[None])
        prediction = self._predict(seen)
        uncertainty = prediction.std / sqrt(1.0 + len(self._awaited) / (self.labels + 1.0))
        view = SharesView(uncertainty, prediction, None, self.asked, self.traits)
        view.belief, view.seen, view.planned = self, seen, True
        return view

    def predict(self, point: Any) -> Prediction:
        """The answer and the probability of a yes, given the labels told."""
        return self._predict(self._betas(self._at(point)[None]))

    def _betas(self, rows: Array) -> Betas | None:
        """What is known there; None while only the constant is."""
        if self._odds is None or self._frame is None:
            return None
        with one_thread():
            return Betas(self._odds, self._frame.place(rows))

    def hearing(self) -> Hearing | None:
        """What the members listen to."""
        if self._odds is None or self._frame is None:
            return None
        return axis_hearing(self._frame, self._members, self._odds.weights)

    def _constant(self) -> tuple[float, float]:
        """What all labels together say: yeses and noes, with a half each before the first."""
        yes = float(sum(self._labels))
        return yes + 0.5, self.labels - yes + 0.5

    def _predict(self, seen: Betas | None) -> Prediction:
        if seen is None:
            yes, no = self._constant()
            mean = yes / (yes + no)
            variance = mean * (1.0 - mean) / (yes + no + 1.0)
        else:
            mean, variance = float(seen.mean[0]), float(seen.variance[0])
        answer = 1.0 if mean > 1.0 - self.level else 0.0
        return Prediction(answer, sqrt(variance), LABEL_STD, probability=mean)

    def rank(
        self, point: Any, y: float, noise_std: float | None = None, age: int = 0
    ) -> tuple[float, float] | None:
        """The probability of a label below y, and of y itself."""
        share = self.predict(point).probability
        assert share is not None
        return (0.0, 1.0 - share) if y < 0.5 else (1.0 - share, share)

    def _split(self, places: Array, y: Array, ratios: Array) -> int:
        """Where yes/no labels changed, by how likely the members make both parts."""
        assert self._frame is not None
        before, after = evidence_of_parts(self._members, self._frame, places, y, np.maximum(ratios, 1.0))
        return best_split(list(before), list(after), y)

    def saving(self, view: SharesView) -> Saving:
        """What a label there would take off the expected cost of answers."""
        mean = view.prediction.probability
        assert mean is not None
        miss, alarm = 2.0 * self.level, 2.0 * (1.0 - self.level)
        here = min(miss * mean, alarm * (1.0 - mean))
        alike, told = self._reach(view.seen)
        return RowStakes(here, 0.0, 0.0, inf, here, None, alike, told, miss, alarm)

    def _reach(self, seen: Betas | None) -> tuple[Any, Any]:
        """Which arrivals to come are alike, and the part of each kind that a label here speaks of."""
        if seen is None or self._odds is None:
            return ((self._constant(), len(self._awaited)),), (1.0,)
        with one_thread():
            if self._coming is None:
                self._coming = self._look_ahead()
            coming, ahead = self._coming
            if not len(coming.mean):
                return ((seen.known()[0], len(self._awaited)),), (1.0,)
            told = coming.correlation(self._odds, seen) ** 2 / len(ahead)
        alike: dict[tuple[tuple[float, float], int], float] = {}
        for known, count, part in zip(coming.known(), ahead.tolist(), told.tolist(), strict=True):
            alike[known, count] = alike.get((known, count), 0.0) + part
        return tuple(alike), tuple(alike.values())

    def _look_ahead(self) -> tuple[Betas, Array]:
        """What is known at the arrivals to come, and how many labels awaited speak of each."""
        assert self._odds is not None
        assert self._frame is not None
        coming = Betas(self._odds, self._frame.place(self._kept_rows()))
        ahead = np.zeros(len(self._kept))
        for one in self._awaited[-COUNTED_AHEAD:]:
            here = self._betas(one.row[None])
            assert here is not None
            ahead += coming.correlation(self._odds, here) ** 2
        return coming, ahead.round().astype(int)

    # -- changes -------------------------------------------------------------------------------------

    def _rebuild(self) -> None:
        """Take the labels in, or an even part of too many."""
        self._odds = self._coming = None
        self._seen = taken_in(self.labels)
        if self._frame is None or self.labels < ENOUGH_TO_FIT:
            return
        used, counts = even_parts(np.array(self._labels[: self._seen]), MOST_YES_NO)
        y = np.array([self._labels[i] for i in used])
        ratios = np.array([max(self._ratio(self._noises[i]), 1.0) for i in used])
        with one_thread():
            places = self._frame.place(np.array([self._rows[i] for i in used]))
            self._odds = Odds(self._members, self._frame, places, y, ratios, counts)

    def _grow(self) -> None:
        """All labels are taken in anew, which costs their cube: so, of many, only every few percent."""
        if self._odds is None or taken_in(self.labels) > self._seen:
            self._rebuild()
        self._coming = None

    _relearn = _rebuild

    def _await(self) -> None:
        self._coming = None

    def _keep(self, point: Array | None, stay: list[int]) -> None:
        self._coming = None

    def _renew(self) -> None:
        """Nothing to do: no member of these knows of time."""

    # -- fitting and keeping -------------------------------------------------------------------------

    def fit_job(self) -> dict[str, Any]:
        """The labels told so far, their points and noises, and the moments of the arrivals."""
        return self._job(even_parts(np.array(self._labels), MOST_YES_NO)[0])

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """The frame, the axes and the members to go on with. Nothing is drawn at random."""
        dim = job["dim"]
        X, y = np.frombuffer(job["X"]).reshape(-1, dim + 1), np.frombuffer(job["y"])
        ratios = np.maximum(np.frombuffer(job["ratios"]), 1.0)
        used, _ = even_parts(y, MOST_YES_NO)
        X, y, ratios = X[used], y[used], ratios[used]
        with one_thread():
            frame = Moments.of(job["moments"], dim).frame(job["clock"])
            places = frame.place(X)
            both = 0.0 < y.mean() < 1.0
            if both and axes_show(len(y) // 2, frame):  # yes or no says less than a number
                start = None if job["axes"] is None else np.array(job["axes"])
                axes, spent = fitted_axes(places, y, ratios, frame, start)
                frame = frame._replace(axes=np.vstack([frame.axes, axes]), spent=(*frame.spent, spent))
            some, _ = even_parts(y, SEEN_FIRST)
            members = all_members(range(len(frame.axes)))
            weights = Odds(members, frame, places[some], y[some], ratios[some]).weights
        most = min(MOST_MEMBERS, max(2, MEMBERS_TIMES_LABELS // len(y)))
        heavy = sorted(np.argsort(-weights[1:], kind="stable")[:most] + 1)
        return plain_members(frame, [NULL_MEMBER, *(members[i] for i in heavy if weights[i] > 1e-3)], None)

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with this frame and these members, which were found with this number of `labels`."""
        self._take_fit(parameters)
        self._adopted(labels)

    def describe(self) -> dict[str, Any]:
        """How many members count, how much the constant does, and how many labels said yes."""
        told = {"dim": self.dim, "members": len(self._members), "yes": int(sum(self._labels))}
        return told if self._odds is None else {**told, "constant": float(self._odds.weights[0])}

    def config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {"dim": self.dim, **({} if self.level == EVEN else {"level": self.level})}

    def state(self) -> dict[str, Any]:
        """Labels, arrivals kept and members; what follows from them is computed again by `load`."""
        return {**self.rows_state(), "fitted": self._plain_fit()}

    def _plain_fit(self) -> dict[str, Any] | None:
        """What the last fit found, as plain data."""
        return None if self._frame is None else plain_members(self._frame, self._members, None)

    def _take_fit(self, found: dict[str, Any] | None) -> None:
        """Take up what `_plain_fit` gave; raises where its parts do not fit together."""
        if found is None:
            self._frame, self._members = None, []
            return
        frame, members, _ = checked_members(found, self.dim, None)
        if members[0] != NULL_MEMBER:
            expect.refuse("parameters", "members that begin with the constant", found["members"])
        self._frame, self._members = frame, members

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave; raises where its parts do not fit together."""
        self.load_rows(state)
        if not set(self._labels) <= {0.0, 1.0}:
            raise ValueError("expected yes/no labels")
        self._take_fit(state["fitted"])
        self._rebuild()
