"""The averaged belief for yes/no labels of rows: the probability of a yes, and what a label would change.

Members are logistic processes, averaged by their evidence; the constant is among them and exact. Towards
rules everything is said by Betas: at an arrival to come the probability of a yes is a Beta of the same mean
and variance, and a label at x says ρ² of what one there would say, with ρ the correlation of the two
probabilities. docs/yes-no.md derives what labels save.
"""

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from breakeven import theory
from breakeven.beliefs.averaged.averaged import ROUGHEST, checked_members, plain_members
from breakeven.beliefs.averaged.labelled_rows import LabelledRows
from breakeven.beliefs.averaged.members import NULL_MEMBER, all_members
from breakeven.beliefs.averaged.odds import Odds, OddsLook
from breakeven.beliefs.averaged.proposing import AXES_FROM, Moments, fitted_axes, spread
from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.types.share_savings import each_of_several
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.values import EVEN, Prediction, Saving, Traits, View, checked_level

MOST_YES_NO = 400  # labels that are looked at: each tell costs their cube
MOST_MEMBERS, MEMBERS_TIMES_LABELS = 24, 1_200
SEEN_FIRST = 64  # labels on which all members are weighed
LEAST_STRENGTH = 1.0  # of a Beta: less is known of nothing
YES_NO_STD = 0.5  # the most that the std of a yes/no label can be


class Betas(NamedTuple):
    """Probabilities of a yes at some points: means, variances, and their covariance with one at x."""

    mean: Array
    variance: Array

    def known(self) -> tuple[Array, Array]:
        """As many yeses and noes as say the same."""
        doubt = self.mean * (1.0 - self.mean)
        strength = np.maximum(doubt / np.maximum(self.variance, 1e-300) - 1.0, LEAST_STRENGTH)
        return self.mean * strength, (1.0 - self.mean) * strength


class RowStakes(Saving, frozen=True, gc=False):
    """What a yes/no label of a row saves: at once the expected cost of its answer, later what it changes."""

    known: tuple[tuple[float, float], ...] = ()  # at each arrival to come, as yeses and noes
    told: tuple[float, ...] = ()  # the part of a label that this one says there
    ahead: tuple[int, ...] = ()  # labels awaited that will be known there
    miss: float = 1.0
    alarm: float = 1.0

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off the cost of all arrivals `left`, where each may be labelled at this price.

        Several labels may pay together where one alone changes no answer: so each has its part of the most
        that any number of them saves.
        """
        if not self.known:
            return 0.0
        saved = 0.0
        for (yes, no), told, ahead in zip(self.known, self.told, self.ahead, strict=True):
            if told > 1e-3:
                saved += told * each_of_several(yes, no, ahead, self.miss, self.alarm, price, float(left))
        return saved / len(self.known)


class SharesView(View):
    """A rule's view of one arrival."""

    belief: Any = None
    point: Any = None

    def saves(self, noise_std: float) -> Saving:
        """What a label would take off the expected cost of answers."""
        saving: Saving = self.belief.saving(self.point)
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

    def __init__(self, dim: int, level: float = EVEN) -> None:
        super().__init__(dim)
        self.level = checked_level(level)
        exponent = ROUGHEST.exponent(self.dim)
        self.traits = Traits(YES_NO_STD, exponent, theory.gp_unit(YES_NO_STD), YES_NO_STD, self.dim)
        self._odds: Odds | None = None
        self._coming: Coming | None = None
        self._narrowing: Coming | None = None

    def aim(self, level: float) -> None:
        """Answer yes where its probability exceeds 1 − level from now on."""
        self.level = checked_level(level)

    def label(self, name: str, y: Any) -> float:
        """Check a label: 1 for yes, 0 for no."""
        number = expect.finite(name, y)
        if number not in (0.0, 1.0):
            expect.refuse(name, "1 for yes or 0 for no, as this learner has yes/no labels", y)
        return number

    # -- asking --------------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The prediction there, and how unsure its probability is once the labels awaited have come."""
        prediction = self.predict(point)
        uncertainty = prediction.std / sqrt(1.0 + len(self._awaited) / (self.labels + 1.0))
        view = SharesView(uncertainty, prediction, None, self.asked, self.traits)
        view.belief, view.point = self, point
        return view

    def predict(self, point: Any) -> Prediction:
        """The answer and the probability of a yes, given the labels told."""
        mean, variance = self._share(point)
        answer = 1.0 if mean > 1.0 - self.level else 0.0
        return Prediction(answer, sqrt(variance), YES_NO_STD, probability=mean)

    def _share(self, point: Any) -> tuple[float, float]:
        """The mean and the variance of the probability of a yes."""
        if self._odds is None or self._frame is None:
            yes = sum(self._labels) + 0.5
            known = self.labels + 1.0
            return yes / known, yes * (known - yes) / known**2 / (known + 1.0)
        with one_thread:
            place = self._frame.place(point)
            looked = self._odds.look(place, place[None][:0])
            shares = self._odds.shares(looked.mean, looked.variance)
            return self._average(shares, self._variances(shares, looked.variance))

    def _variances(self, shares: Array, odds_variance: Array) -> Array:
        """The variance of each member's probability; that of the constant is exact."""
        assert self._odds is not None
        doubt = shares * (1.0 - shares)
        variances: Array = doubt * doubt * odds_variance / (1.0 + doubt * odds_variance)
        variances[0] = doubt[0] / (self._odds.yes + self._odds.no + 2.0)
        return variances

    def _average(self, shares: Array, variances: Array) -> tuple[float, float]:
        assert self._odds is not None
        weights = self._odds.weights
        mean = float(weights @ shares)
        return mean, float(weights @ (variances + (shares - mean) ** 2))

    def rank(
        self, point: Any, y: float, noise_std: float | None = None, age: int = 0
    ) -> tuple[float, float] | None:
        """The probability of a label below y, and of y itself."""
        share = self._share(point)[0]
        return (0.0, 1.0 - share) if y < 0.5 else (1.0 - share, share)

    def saving(self, point: Any) -> Saving:
        """What a label there would take off the expected cost of answers."""
        mean, _ = self._share(point)
        miss, alarm = 2.0 * self.level, 2.0 * (1.0 - self.level)
        here = min(miss * mean, alarm * (1.0 - mean))
        known, told, ahead = self._reach(point)
        stakes = (known, told, ahead, miss, alarm)
        return RowStakes(here, 0.0, 0.0, inf, here, None, *stakes)

    def _reach(self, point: Any) -> tuple[Any, Any, Any]:
        """What is known at the arrivals to come, and how far a label there, and those awaited, reach them."""
        if self._odds is None or self._frame is None:
            yes = sum(self._labels) + 0.5
            return ((yes, self.labels + 1.0 - yes),), (1.0,), (len(self._awaited),)
        with one_thread:
            if self._coming is None:
                self._coming = Coming.of(self, self._kept or [point])
            coming = self._coming
            told = coming.correlation(self, point) ** 2
            ahead = np.zeros(len(told))
            for one in self._awaited[-SEEN_FIRST:]:
                ahead += coming.correlation(self, one.point) ** 2
        return coming.known, tuple(told.tolist()), tuple(ahead.round().astype(int).tolist())

    # -- changes -------------------------------------------------------------------------------------

    def _rebuild(self) -> None:
        """Take the labels in, or an even part of too many."""
        self._odds = self._coming = None
        if self._frame is None or self.labels < ENOUGH_TO_FIT:
            return
        used = self._even_part(MOST_YES_NO)
        y, ratios = (
            np.array([self._labels[i] for i in used]),
            np.array([max(self._ratio(self._noises[i]), 1.0) for i in used]),
        )
        with one_thread:
            places = self._frame.place(np.array([self._points[i] for i in used]))
            self._odds = Odds(self._members, self._frame, places, y, ratios)

    _grow = _relearn = _rebuild

    def _await(self) -> None:
        """Labels awaited are looked at when a saving is asked for."""

    def _keep(self, point: Array | None, stay: list[int]) -> None:
        self._coming = None

    # -- fitting and keeping -------------------------------------------------------------------------

    def fit_job(self) -> dict[str, Any]:
        """The labels told so far, their points and noises, and the moments of the arrivals."""
        return self._job(MOST_YES_NO)

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """The frame, the axes and the members to go on with. Nothing is drawn at random."""
        dim = job["dim"]
        X, y = np.frombuffer(job["X"]).reshape(-1, dim), np.frombuffer(job["y"])
        ratios = np.maximum(np.frombuffer(job["ratios"]), 1.0)
        with one_thread:
            frame = Moments.of(job["moments"], dim).frame()
            places = frame.place(X)
            both = 0.0 < y.mean() < 1.0
            if both and len(y) >= 2 * AXES_FROM and frame.variation.sum() > 0.0:
                start = None if job["axes"] is None else np.array(job["axes"])
                axes = fitted_axes(places, y, ratios, frame, start)
                frame = frame._replace(axes=np.vstack([frame.axes, axes]))
            some = spread(len(y), SEEN_FIRST)
            members = all_members(len(frame.axes))
            weights = Odds(members, frame, places[some], y[some], ratios[some]).weights
        most = min(MOST_MEMBERS, max(2, MEMBERS_TIMES_LABELS // len(y)))
        heavy = sorted(np.argsort(-weights[1:], kind="stable")[:most] + 1)
        return plain_members(frame, [NULL_MEMBER, *(members[i] for i in heavy if weights[i] > 1e-3)], None)

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with this frame and these members, found with so many labels."""
        frame, members, _ = checked_members(parameters, self.dim, None)
        if members[0] != NULL_MEMBER:
            expect.refuse("parameters", "members that begin with the constant", parameters["members"])
        self._frame, self._members = frame, members
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
        fitted = None if self._frame is None else plain_members(self._frame, self._members, None)
        return {**self.rows_state(), "fitted": fitted}

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave; raises where its parts do not fit together."""
        new = type(self)(**self.config())
        new.load_rows(state)
        if not set(new._labels) <= {0.0, 1.0}:
            raise ValueError("expected yes/no labels")
        if state["fitted"] is not None:
            new._frame, new._members, _ = checked_members(state["fitted"], self.dim, None)
            if new._members[0] != NULL_MEMBER:
                raise ValueError("expected the constant first")
        new._rebuild()
        self.__dict__.update(new.__dict__)


class Coming(NamedTuple):
    """What is known at the arrivals that stand for those to come."""

    places: Array
    looks: list[OddsLook]
    shares: Array  # members × arrivals
    mean: Array
    variance: Array
    known: tuple[tuple[float, float], ...]

    @staticmethod
    def of(belief: AveragedShares, points: list[Array]) -> "Coming":
        """Look at these points."""
        odds, frame = belief._odds, belief._frame
        assert odds is not None
        assert frame is not None
        places = frame.place(np.array(points))
        looks = [odds.look(place, places[:0]) for place in places]
        shares = np.stack([odds.shares(one.mean, one.variance) for one in looks], axis=1)
        spreads = [
            belief._average(shares[:, i], belief._variances(shares[:, i], one.variance))
            for i, one in enumerate(looks)
        ]
        mean, variance = np.array(spreads).T
        yes, no = Betas(mean, variance).known()
        rounded = [(float(f"{a:.3g}"), float(f"{b:.3g}")) for a, b in zip(yes, no, strict=True)]
        return Coming(places, looks, shares, mean, variance, tuple(rounded))

    def correlation(self, belief: AveragedShares, point: Array) -> Array:
        """Of the probability of a yes at a point with that at each arrival to come."""
        odds, frame = belief._odds, belief._frame
        assert odds is not None
        assert frame is not None
        place = frame.place(point)
        looked = odds.look(place, self.places[:0])
        shares = odds.shares(looked.mean, looked.variance)
        mean, variance = belief._average(shares, belief._variances(shares, looked.variance))
        joint = odds.covariances(looked, place, self.looks, self.places)
        spreads = np.stack([one.variance for one in self.looks], axis=1)
        scale = np.sqrt(belief._variances(shares, looked.variance) / np.maximum(looked.variance, 1e-300))
        there = np.stack(
            [belief._variances(self.shares[:, i], one.variance) for i, one in enumerate(self.looks)], axis=1
        )
        joint = joint * scale[:, None] * np.sqrt(there / np.maximum(spreads, 1e-300))
        joint[0] = np.sqrt(there[0] * belief._variances(shares, looked.variance)[0])
        joint = joint + (shares - mean)[:, None] * (self.shares - self.mean)
        together = odds.weights @ joint
        correlation = together / np.sqrt(np.maximum(variance * self.variance, 1e-300))
        return np.clip(correlation, 0.0, 1.0)
