"""The belief that leaves open what the labels leave open: an average over many Gaussian processes.

What f and the noise are like is not fitted and then taken for certain. Members that differ in shape, scale,
axes and noise all answer, and count by how well they would have foretold each label from the others. The
answer is the median of the average; its quantiles say how sure it is. docs/belief.md has it on one page.
"""

from math import inf
from typing import Any

import numpy as np

from breakeven import theory
from breakeven.beliefs.averaged.averaged_shares import AveragedShares, SharesView
from breakeven.beliefs.averaged.coming import Coming, Narrowing
from breakeven.beliefs.averaged.common_label import (
    ENOUGH_ALIKE,
    CommonLabel,
    common_label,
    may_be_common,
    rounded,
)
from breakeven.beliefs.averaged.frame import MOVING, SHAPED, Frame, Moments
from breakeven.beliefs.averaged.labelled_rows import ROUGHEST, LabelledRows
from breakeven.beliefs.averaged.members import NULL_MEMBER, Member, axis_hearing
from breakeven.beliefs.averaged.mixture import Mixture
from breakeven.beliefs.averaged.odds import evidence_of_parts
from breakeven.beliefs.averaged.posterior import KnownNoise, LabelScale, Look, Posterior
from breakeven.beliefs.averaged.proposing import (
    checked_count,
    checked_members,
    checked_rare,
    plain_members,
    propose,
)
from breakeven.beliefs.averaged.voices import Voices
from breakeven.beliefs.belief import ENOUGH_TO_FIT, REFIT_GROWTH
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.gp.factor import floats
from breakeven.beliefs.gp.reservoir import lesson_share
from breakeven.beliefs.retreats import best_split
from breakeven.beliefs.similarity import Hearing
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.values import COMING, EVEN, UNKNOWN, Prediction, Saving, Traits, View, checked_level

MOST_AWAITED = 128  # labels awaited that are counted, the latest
MOST_LABELS = 1_000  # labels that are looked at: beyond them an even part of all


class AveragedView(View):
    """A rule's view of one arrival, with what the members know of it."""

    belief: Any = None
    seen: Look | None = None
    taken: Array | None = None  # off the reach of a label, by the labels awaited
    mixture: Any = None
    exception: SharesView | None = None  # whether the label is one, where most are equal

    def saves(self, noise_std: float) -> Saving:
        """What a label of this noise would take off the errors, here and at arrivals to come."""
        saving: Saving = self.belief.saving(self, noise_std)
        return saving


class Averaged(LabelledRows):
    """A belief over `dim` numbers that needs nothing but labels: no kernel, no scale, no noise.

    `level` is which quantile of the label is answered: ½, the median, unless answers too low and too high
    cost differently. With a `noise_std` the noise of labels is known; else labels of several noises count by
    the ratio of these to the first.

    >>> belief = Averaged(dim=1)
    >>> for x in range(6):
    ...     _ = belief.learn(belief.point([float(x)]), 2.0 * x)
    ...     if belief.fit_due(warm=True):
    ...         belief.adopt(belief.fit(belief.fit_job(), np.random.default_rng(0)))
    >>> round(belief.predict(belief.point([2.5])).mean, 1)
    5.0
    """

    def __init__(self, dim: int, noise_std: float | None = None, level: float = EVEN) -> None:
        super().__init__(dim)
        self.noise_std = None if noise_std is None else expect.positive("noise_std", noise_std)
        self.level = checked_level(level)
        self._reference = self.noise_std
        self._known: KnownNoise | None = None
        self._rare: tuple[Frame, list[Member]] | None = None  # members that tell exceptions
        self._forget_posterior()
        self._note()

    # -- the posterior ---------------------------------------------------------------------------

    def _forget_posterior(self) -> None:
        self._used: list[int] = []  # places of the labels that the members look at
        self._begun = 0  # how many of them were taken in at once
        self._posterior: Posterior | None = None
        self._coming: Coming | None = None
        self._voices: Voices | None = None  # what a decision reads
        self._narrowing: Narrowing | None = None
        self._stale = True  # whether `_narrowing` is out of date
        self._common: CommonLabel | None = None
        self._counted = False  # whether `_common` is up to date

    def _rebuild(self) -> None:
        """Take all labels in at once, or an even part of too many."""
        self._forget_posterior()
        if self._frame is None or self.labels < ENOUGH_TO_FIT:
            self._note()
            return
        self._used = self._even_part(MOST_LABELS)
        self._begun = len(self._used)
        self._take_in()

    def _take_in(self, explained: Array | None = None) -> None:
        """Make the posterior of the labels used: the first at once, the others one by one."""
        assert self._frame is not None
        with one_thread():
            places = self._frame.place(np.array([self._rows[i] for i in self._used]))
            ratios = np.array([self._ratio(self._noises[i]) for i in self._used])
            begun = self._begun
            posterior = Posterior(self._members, self._frame, places[:begun], ratios[:begun], self._known)
            for place, ratio in zip(places[self._begun :], ratios[self._begun :].tolist(), strict=True):
                posterior.learn(self._used_labels(posterior.labels))
                posterior.grow(posterior.look(place, places[:0]), ratio)
            posterior.learn(self._used_labels(posterior.labels))
            self._posterior = posterior
            self._coming = Coming.of(posterior, self._frame.place(self._kept_rows()), explained)
        self._note()

    def _used_labels(self, count: int) -> Array:
        return np.array([self._labels[i] for i in self._used[:count]])

    def _note(self) -> None:
        """Write down what holds until the next label."""
        self._listen()
        posterior, voices = self._posterior, self._voices
        noise_std, label_std = self.noise_std or 1.0, 1.0
        if posterior is not None and voices is not None:
            self._axes_learnt = self._fitted_axes(voices)
            label_std = posterior.scale.std
            noise_std = self.noise_std or max(float(voices.weights @ voices.noise_stds), 1e-12 * label_std)
        self.traits = Traits(
            noise_std=noise_std,
            exponent=ROUGHEST.exponent(self.dim),
            unit=theory.gp_unit(noise_std),
            prior_std=label_std,
            dim=self.dim,
            label_scale=label_std,
            noise_known=posterior is not None,
        )

    def _listen(self) -> None:
        """Find the members that count from now on, and what they say of the arrivals kept."""
        self._voices, self._stale = None, True
        if self._posterior is not None and self._coming is not None:
            self._voices = Voices(self._posterior, self._coming, self._retreats.widened, self.level)

    def _fitted_axes(self, voices: Voices) -> float:
        """How many axes labels teach: as many as were found by them, as far as members with such count.

        Where the noise is known, members are normal, and axes not found yet widen no claim: all count.
        """
        assert self._frame is not None
        taught, varying = self._frame.spent, float(np.count_nonzero(self._frame.variation[:-1]))
        if self.noise_std is not None:
            taught = tuple(varying if family in (SHAPED, MOVING) else 0.0 for family in range(len(taught)))
        axes = np.array([taught[member.axes] for member in voices.posterior.members])
        return float(voices.weights @ axes[voices.who])

    def aim(self, level: float) -> None:
        """Answer this quantile of the label from now on."""
        self.level = checked_level(level)
        self._note()

    # -- asking ----------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The prediction there, and how unsure f is once the labels awaited have come."""
        common = self._common_now()
        if common is not None:
            exception = common.look(point)
            prediction = common.predict(exception, self.traits.noise_std)
            uncertainty = exception.uncertainty * common.size
            view = AveragedView(uncertainty, prediction, None, self.asked, self.traits)
            view.belief, view.exception, view.planned = self, exception, True
            return view
        voices = self._voices
        if voices is None or self._frame is None:
            return self._unknown()
        with one_thread():
            seen = voices.look(self._frame.place(self._at(point)))
            narrowing = self._awaited_now(voices)
            taken: Array | None = None
            if narrowing is not None:
                seen, taken = narrowing.narrow(seen)
            prediction, labels = self._predict(voices, seen)
        uncertainty = prediction.std
        if narrowing is not None:
            uncertainty *= voices.narrowed(seen)
        view = AveragedView(uncertainty, prediction, None, self.asked, self.traits)
        view.belief, view.seen, view.taken, view.mixture = self, seen, taken, labels
        return view

    def _common_now(self) -> CommonLabel | None:
        """What is believed where most labels are equal, computed when first needed."""
        if not self._counted:
            value = common_label(self._labels) if self._posterior is not None else None
            if value is None:
                self._common = None
            else:
                with one_thread():
                    self._common = CommonLabel(self, value, self.level, self._rare)
            self._counted = True
        return self._common

    def hearing(self) -> Hearing | None:
        """What the members listen to; where most labels are equal, those that tell exceptions."""
        if self._posterior is None or self._frame is None:
            return None
        common = self._common_now()
        if common is not None:
            return common.hearing()
        return axis_hearing(self._frame, self._members, self._posterior.weights.sum(axis=0))

    def _unknown(self) -> View:
        """Before the third label: nothing says how large errors are."""
        view = AveragedView(inf, self._first_answer(), None, self.asked, self.traits)
        view.belief = self
        return view

    def _first_answer(self) -> Prediction:
        answer = float(np.quantile(self._labels, self.level)) if self._labels else 0.0
        return Prediction(answer, inf, self.traits.noise_std)

    def _awaited_now(self, voices: Voices) -> Narrowing | None:
        """What the labels awaited narrow, computed when first needed."""
        if self._stale:
            assert self._frame is not None
            counted = self._awaited[-MOST_AWAITED:]
            narrowing = None
            if counted:
                places = self._frame.place(np.array([one.row for one in counted]))
                ratios = np.array([self._ratio(one.noise_std) for one in counted])
                narrowing = Narrowing(voices.posterior, voices.coming, places, ratios)
            self._narrowing, self._stale = narrowing, False
        return self._narrowing

    def _predict(self, voices: Voices, seen: Look) -> tuple[Prediction, Mixture]:
        """The prediction, given the labels told, and the distribution of a label there."""
        of_f, labels = voices.claims(seen)
        those, these = of_f.quantiles(), labels.quantiles()
        std = (those[7] - those[3]) / 2.0
        answer = these[5] if self.level == EVEN else labels.quantile(self.level)
        return Prediction(answer, std, self.traits.noise_std, those, these), labels

    def predict(self, point: Any) -> Prediction:
        """The answer and its quantiles, given the labels told."""
        voices = self._voices
        if voices is None or self._frame is None:
            return self._first_answer()
        common = self._common_now()
        if common is not None:
            return common.predict(common.look(point), self.traits.noise_std)
        with one_thread():
            seen = voices.look(self._frame.place(self._at(point)))
            return self._predict(voices, seen)[0]

    def rank(
        self, point: Any, y: float, noise_std: float | None = None, age: int = 0
    ) -> tuple[float, float] | None:
        """The probability of a label below y there, and of y itself.

        None before the third label, and while it is open whether most labels are one value: then a label of
        another kind must refute nothing.
        """
        voices = self._voices
        if voices is None or self._frame is None or may_be_common(self._labels):
            return None
        common = self._common_now()
        if common is not None:
            return common.rank(point, y)
        with one_thread():
            place = self._frame.place(self._at(point, self._arrived(age)))
            share = voices.below(voices.look(place), y, self._ratio(noise_std))
        return min(share, 1.0), 0.0  # rounding may lead beyond 1

    def _split(self, places: Array, y: Array, ratios: Array) -> int:
        """Where labels changed, by how likely the members make both parts; or where exceptions did."""
        assert self._posterior is not None
        assert self._frame is not None
        value = common_label(self._labels)
        if value is None:
            before, after, target = self._posterior.evidence_of_parts(places, y, ratios)
            return best_split(list(before), list(after), target)
        frame, members = self._rare or (self._frame, [NULL_MEMBER])
        last = slice(-AveragedShares.searched, None)
        exceptions = np.array([float(rounded(one) != value) for one in y[last].tolist()])
        ratios = np.maximum(ratios[last], 1.0)
        before, after = evidence_of_parts(members, frame, places[last], exceptions, ratios)
        split = best_split(list(before), list(after), exceptions)
        return len(y) - len(exceptions) + split if split else 0

    def saving(self, view: AveragedView, noise_std: float) -> Saving:
        """What a label would take off the errors; docs/value.md derives it."""
        if view.exception is not None and self._common is not None:
            by_chance = self.labels < ENOUGH_ALIKE <= self.asked  # equal so far: those awaited will tell
            return COMING if by_chance else self._common.saving(view.exception, view.prediction)
        seen, voices = view.seen, self._voices
        if seen is None or voices is None:
            return UNKNOWN if self.asked < ENOUGH_TO_FIT else COMING
        ratio = 1.0 if noise_std == self.traits.noise_std else self._ratio(noise_std)
        with one_thread():
            ahead = voices.ahead if self._narrowing is None else voices.given(self._narrowing.coming)
            here, later, later_labels = voices.saved(seen, view.taken, ratio, ahead)
            outright = view.mixture.error(view.prediction.mean, self.level)
        share = lesson_share(self._axes_learnt, voices.posterior.labels + len(self._awaited))
        return Saving(here, later, share * ahead.error, inf, outright, later_labels)

    # -- changes -----------------------------------------------------------------------------------

    def _keep(self, point: Array | None, stay: list[int]) -> None:
        """Know as much of the arrival kept as of the others."""
        posterior, coming, voices = self._posterior, self._coming, self._voices
        if posterior is None or coming is None or voices is None or self._frame is None:
            return
        with one_thread():
            if point is None:
                self._coming = Coming.of(posterior, posterior.places[:0])
                voices.watch(self._coming)
            else:
                place = self._frame.place(self._at(point, self._kept_at))
                one = Coming.at(posterior.look(place, posterior.places[:0]), posterior)
                coming.join(one, stay)
                voices.keep(coming, one, stay)
        self._stale = True
        self._follow()

    def _renew(self) -> None:
        moving = np.flatnonzero([member.axes == MOVING for member in self._members])
        posterior, coming, voices = self._posterior, self._coming, self._voices
        if posterior is None or coming is None or voices is None or self._frame is None or not len(moving):
            return
        with one_thread():
            coming.renew(posterior, self._frame.place(self._kept_rows()), moving)
            voices.watch(coming)
        self._stale = True

    def _await(self) -> None:
        self._stale = True
        self._follow()

    def _follow(self) -> None:
        if self._common is not None:
            self._common.follow(self)

    def _grow(self) -> None:
        """The last label joins those that the members look at."""
        self._stale = True
        if self._posterior is None:
            self._rebuild()
            return
        self._count_common()
        if len(self._used) >= REFIT_GROWTH * MOST_LABELS:
            return
        posterior, coming, last = self._posterior, self._coming, self.labels - 1
        assert coming is not None
        assert self._frame is not None
        with one_thread():
            look = posterior.look(self._frame.place(self._rows[last]), coming.places)
            ratio = self._ratio(self._noises[last])
            pivot = posterior.pivot(look, ratio)
            coming.tell(look, pivot)
            posterior.grow(look, ratio)
            self._used = [*self._used, last]
            posterior.learn(self._used_labels(len(self._used)))
            coming.survey(posterior)
        self._note()

    def _count_common(self) -> None:
        """One more label is the common one, an exception, or the end of having one."""
        if self._common is None or common_label(self._labels) != self._common.value:
            self._counted = False
            return
        with one_thread():
            self._common.follow(self)
            self._common.join(self._labels[-1])

    def _relearn(self) -> None:
        """Means, scales and weights follow the labels; variances stay."""
        if self._posterior is not None:
            with one_thread():
                self._posterior.learn(self._used_labels(len(self._used)))
            self._stale, self._counted = True, False
            self._note()

    # -- fitting ---------------------------------------------------------------------------------

    def fit_job(self) -> dict[str, Any]:
        """The labels told so far, their points and noises, and the moments of the arrivals."""
        return {**self._job(self._even_part(MOST_LABELS)), "noise_std": self.noise_std}

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """The frame, the axes and the members to go on with. Nothing is drawn at random."""
        dim = job["dim"]
        X = np.frombuffer(job["X"]).reshape(-1, dim + 1)
        y, ratios = np.frombuffer(job["y"]), np.frombuffer(job["ratios"])
        start = None if job["axes"] is None else np.array(job["axes"])
        with one_thread():
            kept = np.frombuffer(job["kept"]).reshape(-1, dim)
            sample = kept if len(kept) else X[:, :-1]
            frame, known = Moments.of(job["moments"], dim).frame(job["clock"], sample), None
            if job["noise_std"] is not None:
                known = KnownNoise(job["noise_std"], LabelScale.of(y).std)
            frame, members = propose(X, y, ratios, frame, start, known)
        found = plain_members(frame, members, known)
        value = common_label(y.tolist())
        if value is not None:
            exceptions = np.array([float(rounded(one) != value) for one in y.tolist()])
            found["rare"] = AveragedShares.fit({**job, "y": exceptions.tobytes(), "axes": None}, random)
        return found

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with this frame and these members, which were found with this number of `labels`."""
        self._take_fit(parameters)
        self._adopted(labels)

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """How many members count, the heaviest of them, and what labels look like to them."""
        told: dict[str, Any] = {"dim": self.dim, "members": len(self._members)}
        posterior, voices = self._posterior, self._voices
        if posterior is None or voices is None:
            return told
        common = common_label(self._labels)
        noise_between = {"noise_between": voices.noise_between()} if self.noise_std is None else {}
        return {
            **told,
            **({} if common is None else {"common": common}),
            **posterior.describe(),
            "noise_std": self.traits.noise_std,
            **noise_between,
            "label_std": posterior.scale.std,
        }

    def config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        given = {"noise_std": self.noise_std, "level": None if self.level == EVEN else self.level}
        return {"dim": self.dim, **{name: value for name, value in given.items() if value is not None}}

    def state(self) -> dict[str, Any]:
        """Labels, arrivals kept and members; what follows from them is computed again by `load`."""
        return {
            **self.rows_state(),
            "fitted": self._plain_fit(),
            "used": list(self._used),
            "begun": self._begun,
            "explained": None if self._coming is None else self._coming.explained.tobytes(),
        }

    def _plain_fit(self) -> dict[str, Any] | None:
        """What the last fit found, as plain data."""
        if self._frame is None:
            return None
        found = plain_members(self._frame, self._members, self._known)
        return found if self._rare is None else {**found, "rare": plain_members(*self._rare, None)}

    def _take_fit(self, found: dict[str, Any] | None) -> None:
        """Take up what `_plain_fit` gave; raises where its parts do not fit together."""
        if found is None:
            self._frame, self._members, self._known, self._rare = None, [], None, None
            return
        frame, members, known = checked_members(found, self.dim, self.noise_std)
        rare = checked_rare(found, self.dim)
        self._frame, self._members, self._known, self._rare = frame, members, known, rare

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave; raises where its parts do not fit together."""
        self.load_rows(state)
        self._take_fit(state["fitted"])
        if state["explained"] is not None:
            self._used, self._begun = list(map(checked_count, state["used"])), checked_count(state["begun"])
            if not (2 <= self._begun <= len(self._used) and max(self._used) < self.labels and self._frame):
                raise ValueError("expected the labels that members look at")
            self._take_in(floats(state["explained"], len(self._members), len(self._kept)).copy())
