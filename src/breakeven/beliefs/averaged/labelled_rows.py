"""Rows of numbers and their labels: what every averaged belief keeps, and how labels come and go.

What the labels mean is up to a subclass: it is told after each change, and reads the lists kept here. A point
is kept with its time behind it, the number of arrivals before it: a *row*. Arrivals kept stand for those to
come, so their time is now, renewed whenever it has grown by a twentieth.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from breakeven.beliefs.averaged.frame import Frame, Moments
from breakeven.beliefs.averaged.members import Member
from breakeven.beliefs.averaged.proposing import checked_count
from breakeven.beliefs.belief import (
    ENOUGH_TO_FIT,
    LARGEST_DIM,
    REFIT_GROWTH,
    Key,
    Looks,
    NumberRows,
    OneByOne,
    Remembering,
)
from breakeven.beliefs.copying import CopiedFromState
from breakeven.beliefs.even_sample import EvenSample
from breakeven.beliefs.gp.blas import one_thread
from breakeven.beliefs.gp.factor import floats
from breakeven.beliefs.gp.kernels import Matern
from breakeven.beliefs.gp.solver import KeyList, read_keys
from breakeven.beliefs.retreats import CHANGE_SEARCHED, LEAST_PART, RowsRetreats
from breakeven.beliefs.similarity import Hearing, nearest
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.values import Grounds, Prediction, View

ROUGHEST = Matern(2.5)  # what the paper's threshold takes f to be like
MOST_KEPT = 48  # arrivals that stand for those to come: more say nothing more
FITTED_EACH = 8  # labels up to which every label leads to a fit
LEAST_RATIO = 1e-4  # of noise variances: labels more exact than that are lost in the rounding of an inverse
RENEWED = 1.05  # growth of the time after which the arrivals kept are looked at anew


class AwaitedLabel(NamedTuple):
    """A label that was asked for: its key, its row, and its noise."""

    key: int | None
    row: Array
    noise_std: float | None


class LabelledRows(CopiedFromState, NumberRows):
    """Points, labels told and awaited, moments and a sample of the arrivals, and when a fit is due."""

    fit_schedule = "growing"
    needs_warmup = False
    searched: ClassVar[int] = CHANGE_SEARCHED  # labels, the last ones, among which a change is looked for

    def __init__(self, dim: int) -> None:
        self.dim = expect.whole("dim", dim, least=1, most=LARGEST_DIM)
        self._moments = Moments(self.dim)
        self._clock = 0  # arrivals
        self._keys = KeyList()
        self._rows: list[Array] = []
        self._labels: list[float] = []
        self._noises: list[float | None] = []
        self._reference: float | None = None  # the noise that others are relative to
        self._awaited: list[AwaitedLabel] = []
        self._sample: EvenSample | None = None
        self._kept: list[Array] = []  # points
        self._kept_at = 0  # their time
        self._frame: Frame | None = None
        self._members: list[Member] = []
        self._fitted_at = 0
        self._changes = 0
        self._retreats = RowsRetreats()

    # -- what a subclass does ----------------------------------------------------------------------

    def predict(self, point: Any) -> Prediction:
        """The answer there, given the labels told."""
        raise NotImplementedError

    def _rebuild(self) -> None:
        """Labels went, or other members came: begin anew."""
        raise NotImplementedError

    def _split(self, places: Array, y: Array, ratios: Array) -> int:
        """How many of these labels lie before a change; 0 where there is none."""
        raise NotImplementedError

    def _grow(self) -> None:
        """One more label was told, the last."""
        raise NotImplementedError

    def _relearn(self) -> None:
        """A label has another value."""
        raise NotImplementedError

    def _await(self) -> None:
        """Other labels are awaited."""
        raise NotImplementedError

    def _keep(self, point: Array | None, stay: list[int]) -> None:
        """An arrival is kept to stand for those to come, and only these stay; with None, all go."""
        raise NotImplementedError

    def _renew(self) -> None:
        """The arrivals kept stand for those to come from now on."""
        raise NotImplementedError

    def hearing(self) -> Hearing | None:
        """What the members listen to; None before there are any."""
        raise NotImplementedError

    # -- points ------------------------------------------------------------------------------------

    def _at(self, point: Any, time: int | None = None) -> Array:
        """A point with its time, now unless given."""
        row: Array = np.empty(self.dim + 1)
        row[:-1], row[-1] = point, self._clock if time is None else time
        return row

    def _arrived(self, age: int) -> int:
        """The time of the arrival that came `age` arrivals before the last."""
        return max(self._clock - 1 - age, 0)

    def _kept_rows(self) -> Array:
        """The arrivals kept, at their time."""
        points = np.array(self._kept).reshape(len(self._kept), self.dim)
        return np.column_stack([points, np.full(len(points), float(self._kept_at))])

    @property
    def labels(self) -> int:
        """Labels told or learnt, and not withdrawn."""
        return len(self._labels)

    @property
    def asked(self) -> int:
        """Labels that count: those told or learnt, and those awaited."""
        return len(self._labels) + len(self._awaited)

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at each in turn."""
        return OneByOne(self, points)  # type: ignore[arg-type]

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions at many points."""
        return [self.predict(point) for point in points]

    def grounds(self, point: Any, before: int, told: Remembering) -> Grounds:
        """The labels nearest to a point along the axes that the members listen to."""
        hearing, labels = self.hearing(), self.labels
        X = np.array(self._rows).reshape(labels, self.dim + 1)[:, :-1]
        near = nearest(hearing, X, np.array(self._labels), self._keys.all.__getitem__, point, before)
        if hearing is None:
            return Grounds(labels, near)
        return Grounds(labels, near, hearing.features, hearing.heeded)

    # -- events ------------------------------------------------------------------------------------

    def watch(self, most: int) -> None:
        """Keep a sample of at most `most` arrivals from now on, to value labels by; 0 ends that."""
        most = min(most, MOST_KEPT)
        if (self._sample.most if self._sample else 0) != most:
            self._sample, self._kept = EvenSample(most) if most else None, []
            self._keep(None, [])

    def arrive(self, point: Any, view: View | None = None) -> None:
        """Count an arrival, which may stand for those to come. Where the point is None, only time passes."""
        sample = self._sample
        self._clock += 1
        if self._clock > RENEWED * self._kept_at:
            self._kept_at = self._clock
            self._renew()
        if point is None:
            if sample is not None:
                sample.seen += 1
            return
        self._moments.add(point)
        if sample is not None and sample.admits():
            stay = sample.add()
            self._kept = [[*self._kept, point][i] for i in stay]
            self._keep(point, stay)

    def ask(
        self,
        key: Key,
        point: Any,
        view: View | None = None,
        noise_std: float | None = None,
        age: int = 0,
    ) -> None:
        """A label is awaited; it narrows the uncertainty at once."""
        self._refer(noise_std)
        self._awaited.append(AwaitedLabel(key, self._at(point, self._arrived(age)), noise_std))
        self._await()

    def _refer(self, noise_std: float | None) -> None:
        if self._reference is None:
            self._reference = noise_std

    def _ratio(self, noise_std: float | None) -> float:
        """The noise variance of a label relative to the usual one; a hundredth of its std counts as exact."""
        if noise_std is None or self._reference is None:
            return 1.0
        return max((noise_std / self._reference) ** 2, LEAST_RATIO)

    def tell(self, key: Key, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """An awaited label came, perhaps from another labeller than was asked."""
        one = self._no_longer_awaited(key)
        return self._take(key, one.row, y, one.noise_std if noise_std is None else noise_std)

    def _no_longer_awaited(self, key: Key) -> AwaitedLabel:
        place = next(i for i, one in enumerate(self._awaited) if one.key == key)
        one = self._awaited.pop(place)
        self._await()
        return one

    def learn(
        self, point: Any, y: float, key: Key = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for."""
        if self._moments.count == 0 or key is None:  # with a key it may be an arrival, which has counted
            self._moments.add(point)
        self._refer(noise_std)
        return self._take(key, self._at(point, self._arrived(age)), y, noise_std)

    def _take(self, key: Key, row: Array, y: float, noise_std: float | None) -> Prediction:
        """One more label, at the end."""
        self._keys.append(key)
        self._rows.append(row)
        self._labels.append(y)
        self._noises.append(noise_std)
        self._changes += 1
        self._grow()
        return self.predict(row[:-1])

    def correct(self, key: Key, point: Any, old: float, new: float) -> None:
        """A label told earlier changes its value."""
        if not self._retreats.correct(key, new):
            self._labels[self._keys.place(key)] = new
            self._relearn()

    def withdraw(self, key: Key, point: Any, y: float | None) -> None:
        """A label goes, awaited or told."""
        if y is None:
            self._no_longer_awaited(key)
        elif self._retreats.take(key) is None:
            self._remove(key)

    def _remove(self, key: Key) -> tuple[Array, float | None]:
        """Take a told label out; returns its row and its noise."""
        place = self._keys.place(key)
        row, noise_std = self._rows[place], self._noises[place]
        self._keys.remove(place)
        for column in (self._rows, self._labels, self._noises):
            del column[place]
        self._changes += 1
        self._begin_anew()
        return row, noise_std

    def _begin_anew(self) -> None:
        """Rebuild, with the arrivals kept as of now."""
        self._kept_at = self._clock
        self._rebuild()

    def reopen(self, key: Key, point: Any, y: float) -> None:
        """A label told earlier is awaited again."""
        if (aside := self._retreats.take(key)) is not None:
            _, row, noise_std, _ = aside
        else:
            row, noise_std = self._remove(key)
        self._awaited.append(AwaitedLabel(key, row, noise_std))
        self._await()

    def release(self, key: Key) -> None:
        """Nobody will name this label any more."""
        if not self._retreats.released(key):
            self._keys.release(key)

    def detach(self) -> None:
        """Begin a new stream: labels lose their keys, awaited ones go."""
        self._keys = KeyList([None] * self.labels)
        self._awaited, self._retreats = [], RowsRetreats(before=self._retreats.widened)
        self._await()

    # -- tests of its claims -------------------------------------------------------------------------

    def remember(self, *, labels: bool) -> None:
        """Nothing to do: all labels are kept."""

    def outdated(self) -> int:
        """The labels before the change that explains them best, if one does; only the last are searched."""
        if self._frame is None or self.labels < 2 * LEAST_PART:
            return 0
        older = max(self.labels - self.searched, 0)
        places = self._frame.place(np.array(self._rows[older:]))
        ratios = np.array([self._ratio(one) for one in self._noises[older:]])
        with one_thread():
            split = self._split(places, np.array(self._labels[older:]), ratios)
        return older + split if split else 0

    def give_way(self, key: Key, outdated: int, widened: float) -> None:
        """Set labels aside, the first told, and the past arrivals with them; or make all claims wider.

        Claims are wider until the next fit. Labels stay aside, and a fit to those that are left is due.
        """
        assert key is not None
        told = zip(self._keys.all, self._rows, self._noises, self._labels, strict=True)
        self._retreats.set_aside(key, list(told)[:outdated], widened)
        if outdated:
            self._keys = KeyList(list(self._keys.all)[outdated:])
            for column in (self._rows, self._labels, self._noises):
                del column[:outdated]
            self._fitted_at, self._changes = 0, self.labels
            if self._sample is not None:
                self._sample, self._kept = EvenSample(self._sample.most), []
        self._begin_anew()

    def return_to(self, key: Key) -> None:
        """Take back labels and claims that were given up because of this label.

        Where a later alarm still stands, what lies before its change stays aside.
        """
        labels = self._retreats.come_back(key)
        if labels:
            keys, rows, noises, values = zip(*labels, strict=True)
            self._keys = KeyList([*keys, *self._keys.all])
            self._rows[:0], self._noises[:0], self._labels[:0] = rows, noises, values
            self._fitted_at, self._changes = 0, self.labels
        self._begin_anew()

    # -- fitting and keeping -----------------------------------------------------------------------

    def fit_due(self, *, warm: bool) -> bool:
        """Whether the labels have changed enough for other members to be worth proposing."""
        if self.labels < ENOUGH_TO_FIT or not self._changes or not warm:
            return False
        few = min(self._fitted_at, self.labels) <= FITTED_EACH
        return few or self._fitted_at + self._changes >= REFIT_GROWTH * self._fitted_at

    def _even_part(self, most: int) -> list[int]:
        """The places of all labels, or of an even part of them if there are too many."""
        part: list[int] = np.unique(np.linspace(0, self.labels - 1, most).round().astype(int)).tolist()
        return part

    def _job(self, used: list[int]) -> dict[str, Any]:
        """The labels at these places, their points and noises, and the moments of the arrivals."""
        axes = None if self._frame is None else self._frame.fitted_axes
        return {
            "dim": self.dim,
            "X": np.array([self._rows[i] for i in used]).tobytes(),
            "y": np.array([self._labels[i] for i in used]).tobytes(),
            "ratios": np.array([self._ratio(self._noises[i]) for i in used]).tobytes(),
            "moments": self._moments.plain(),
            "clock": self._clock,
            "axes": axes,
            "kept": np.array(self._kept).tobytes(),
        }

    def _adopted(self, labels: int | None) -> None:
        """Other members are there, found with this number of labels."""
        labels = self.labels if labels is None else expect.whole("labels", labels)
        self._fitted_at, self._changes = labels, abs(self.labels - labels)
        self._retreats.end_widening()
        self._begin_anew()

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` gave."""
        return cls(**config)

    def rows_state(self) -> dict[str, Any]:
        """Labels, arrivals kept and counts, as plain data."""
        return {
            "moments": self._moments.plain(),
            "clock": self._clock,
            "keys": list(self._keys.all),
            "rows": np.array(self._rows).tobytes(),
            "labels": np.array(self._labels).tobytes(),
            "noises": list(self._noises),
            "reference": self._reference,
            "awaited": [[one.key, one.row.tobytes(), one.noise_std] for one in self._awaited],
            "sample": None if self._sample is None else self._sample.plain(),
            "kept": np.array(self._kept).tobytes(),
            "kept_at": self._kept_at,
            "fitted_at": self._fitted_at,
            "changes": self._changes,
            "retreats": self._retreats.plain(),
            "widened_before": self._retreats.before,
        }

    def load_rows(self, state: dict[str, Any]) -> None:
        """Take up what `rows_state` gave; raises where its parts do not fit together."""
        self._moments.load(state["moments"])
        self._keys = read_keys(state["keys"])
        count = len(self._keys)
        self._clock = checked_count(state.get("clock", self._moments.count))
        self._kept_at = checked_count(state.get("kept_at", 0))
        if "points" in state:  # written before rows had a time
            self._rows = [self._at(point, 0) for point in floats(state["points"], count, self.dim)]
        elif count or state["rows"]:
            self._rows = list(floats(state["rows"], count, self.dim + 1))
        if count or state["labels"]:
            self._labels = floats(state["labels"], count).tolist()
        self._noises, self._reference = list(state["noises"]), state["reference"]
        self._awaited = [
            AwaitedLabel(key, self._row_of(row), noise_std) for key, row, noise_std in state["awaited"]
        ]
        if state["sample"] is not None:
            self._sample = EvenSample.of(state["sample"])
            if self._sample.size or state["kept"]:
                self._kept = list(floats(state["kept"], self._sample.size, self.dim))
        if len(self._noises) != count:
            raise ValueError("expected a noise for every label")
        self._fitted_at, self._changes = checked_count(state["fitted_at"]), checked_count(state["changes"])
        before = state.get("widened_before", 1.0)
        self._retreats = RowsRetreats.of(state.get("retreats", []), self.dim + 1, before)

    def _row_of(self, blob: bytes) -> Array:
        """A row from its bytes; one that was written before rows had a time is of the first arrival."""
        timed = len(blob) != 8 * self.dim
        return floats(blob, self.dim + 1) if timed else self._at(floats(blob, self.dim), 0)
