"""A fit: the frame of the points, how long each axis is, and the few members worth going on with.

A pure function of its job. Axes are those of greatest evidence for one Matérn kernel, pulled towards being
all alike, or all but one. Then every member is weighed, on some of the labels if there are many, and those
that carry the weight are kept: fewer the more labels there are, because the labels agree on fewer, and each
costs more.
"""

from math import inf, isfinite, log, sqrt
from typing import Any

import numpy as np

from breakeven.beliefs.averaged.members import MOVING, NOISES, SHAPES, Frame, Member, all_members
from breakeven.beliefs.averaged.posterior import KnownNoise, LabelScale, Posterior
from breakeven.beliefs.gp.factor import floats
from breakeven.beliefs.gp.likelihood import minimise
from breakeven.errors import expect
from breakeven.errors.expect import Array

AXES_FROM, MORE_THAN_AXES = 8, 4  # labels, and labels more than axes, below which axes are taken to be alike
SCREENED = 64  # labels on which all members are weighed first
CLIMBED = 200  # labels that axes are fitted to, at most
LEAST_WEIGHT = 3e-3  # of a member that is kept: less does not count in an answer
WORK = 2_400  # members times labels, at most
FEWEST = 2  # members, however many labels there are
MOST = 64  # however few
USUAL_AXIS, USUAL_TIME = 0.4, 1.5  # log of an axis' length before any label, and of that of time
USUAL_NOISE, NOISE_WIDTH = log(0.1), 1.5  # of log noise before any label: its middle and its std
APART = ((0.0, -3.5), (2.0, -0.5))  # log lengths to begin from: of all axes, over the usual, and of one apart
STEPS, MOVING_STEPS = 30, 15
MIDDLE_LENGTH = 1.2  # the length among the shapes' that stands for the one fitted
SHORTEST_AXIS, LONGEST_AXIS = -5.0, 4.5  # log of an axis' length
LOWEST_NOISE, HIGHEST_NOISE = -7.0, 3.0  # log of a noise


class Moments:
    """Mean and variance of each feature over the points seen, and which take only the values 0 and 1."""

    def __init__(self, dim: int) -> None:
        self.count = 0
        self.mean, self.squares = np.zeros(dim), np.zeros(dim)
        self.truths = np.ones(dim, dtype=bool)

    def add(self, point: Array) -> None:
        """One more point."""
        self.count += 1
        apart = point - self.mean
        self.mean = self.mean + apart / self.count
        self.squares = self.squares + apart * (point - self.mean)
        if self.truths.any():
            self.truths = self.truths & ((point == 0.0) | (point == 1.0))

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "count": self.count,
            "mean": self.mean.tobytes(),
            "squares": self.squares.tobytes(),
            "truths": self.truths.tolist(),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Take up, before any point, what `plain` wrote; raises where its parts do not fit together."""
        count, truths, sums, dim = (
            data["count"],
            data["truths"],
            data["mean"] + data["squares"],
            len(self.mean),
        )
        if type(count) is not int or count < 0 or (len(truths), len(sums)) != (dim, 16 * dim):
            raise ValueError("expected the moments of every feature")
        if count:
            self.count, self.truths = count, np.array(truths, dtype=bool)
            self.mean, self.squares = floats(sums, 2, dim)

    @staticmethod
    def of(data: dict[str, Any], dim: int) -> "Moments":
        """The moments that `plain` wrote."""
        moments = Moments(dim)
        moments.load(data)
        return moments

    def frame(self, clock: int) -> Frame:
        """What points are measured in, as far as these show it; `clock` arrivals came before."""
        variance = self.squares / max(self.count, 1)
        std = np.sqrt(variance)
        varies = std > 1e-9 * np.abs(self.mean)
        varies &= std > 0.0
        scale = np.where(varies, np.where(self.truths, 1.0, std), np.inf)
        variation = np.where(varies, variance / np.where(varies, scale, 1.0) ** 2, 0.0)
        middle, spread = max(clock - 1, 0) / 2.0, max(clock, 1) / sqrt(12.0)  # of the numbers of arrivals
        return Frame(
            np.append(self.mean, middle),
            np.append(scale, spread),
            np.append(variation, 1.0),
            np.append(np.ones(len(std)), inf)[None],
        )


def propose(
    X: Array, y: Array, ratios: Array, frame: Frame, start: Array | None, known: KnownNoise | None
) -> tuple[Frame, list[Member]]:
    """The frame and the members to go on with; `start` are the axes of the last fit."""
    places = frame.place(X)
    if axes_show(len(y), frame):
        shaped, spent = fitted_axes(places, y, ratios, frame, start)
        frame = frame._replace(axes=np.vstack([frame.axes, shaped]), spent=(*frame.spent, spent))
        if np.ptp(places[:, -1]) > 0.0:
            moving, spent = moving_axes(places, y, ratios, frame, shaped)
            frame = frame._replace(axes=np.vstack([frame.axes, moving]), spent=(*frame.spent, spent))
    members = all_members(len(frame.axes))
    some = spread(len(y), SCREENED)
    most = min(MOST, max(FEWEST, WORK // len(y)))
    if len(some) < len(y):
        members = _heaviest(members, frame, places[some], y[some], ratios[some], known, 3 * most)
    return frame, _heaviest(members, frame, places, y, ratios, known, most)


def axes_show(labels: int, frame: Frame) -> bool:
    """Whether this number of labels is enough to tell how long each axis is."""
    axes = int(np.count_nonzero(frame.variation[:-1]))
    return bool(axes) and labels >= max(AXES_FROM, axes + MORE_THAN_AXES)


def spread(count: int, most: int) -> Array:
    """At most `most` of `count` indices, evenly spread over all."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _heaviest(
    members: list[Member],
    frame: Frame,
    places: Array,
    y: Array,
    ratios: Array,
    known: KnownNoise | None,
    most: int,
) -> list[Member]:
    """The members of most weight, in their order."""
    posterior = Posterior(members, frame, places, ratios, known)
    posterior.learn(y)
    weights = posterior.weights.sum(axis=0)
    order = [int(i) for i in np.argsort(-weights, kind="stable")[:most] if weights[i] > LEAST_WEIGHT]
    return [members[i] for i in sorted(order)]


def fitted_axes(
    places: Array, y: Array, ratios: Array, frame: Frame, start: Array | None
) -> tuple[Array, float]:
    """How long each axis is, for the labels' evidence under one Matérn kernel; time does not matter."""
    climb = AxesClimb(places[:, :-1], y, ratios, frame)
    alike = np.full(places.shape[1] - 1, USUAL_AXIS)
    starts = [alike] if start is None else [alike, np.log(start * MIDDLE_LENGTH)]
    found = [climb.best(alike, starts, STEPS), climb.one_apart(alike, STEPS)]
    at = min(found, key=_value)[1]
    return np.append(np.exp(at[:-1]) / MIDDLE_LENGTH, inf), climb.spent(at)


def moving_axes(
    places: Array, y: Array, ratios: Array, frame: Frame, shaped: Array
) -> tuple[Array, float]:
    """The same with time among the axes, beginning from those without it."""
    usual = np.append(np.full(places.shape[1] - 1, USUAL_AXIS), USUAL_TIME)
    start = np.append(np.log(shaped[:-1] * MIDDLE_LENGTH), USUAL_TIME)
    climb = AxesClimb(places, y, ratios, frame)
    at = climb.best(usual, [start], MOVING_STEPS)[1]
    return np.exp(at[:-1]) / MIDDLE_LENGTH, climb.spent(at)


class AxesClimb:
    """The search for the axes of greatest evidence, pulled towards what is usual before any label.

    Either all axes are about alike, or one is far apart from the others: each is as likely before any label.
    A column that says which of some patients an arrival is, is of the second kind.
    """

    def __init__(self, places: Array, y: Array, ratios: Array, frame: Frame) -> None:
        some = spread(len(y), CLIMBED)
        self._ratios = ratios[some]
        plain, tamed = LabelScale.of(y).targets(y[some])
        kurtosis = float(np.mean((plain - plain.mean()) ** 4)) / max(float(np.var(plain)) ** 2, 1e-300)
        self._target = tamed if kurtosis > 6.0 else plain
        apart = places[some][:, None, :] - places[some][None, :, :]
        self._squares = apart**2 / (2.0 * max(frame.features, 1e-12))

    def one_apart(self, alike: Array, steps: int) -> tuple[float, Array]:
        """The best axes of which one is far shorter than all others, or shorter while these are long.

        A climb from axes that are all alike does not find such: half-way there is worse than either end. Any
        axis may be the one, in either way, and each of these is as likely before any label.
        """
        some = spread(len(self._target), SCREENED)
        squares, target = self._squares[np.ix_(some, some)], self._target[some]
        noise = np.exp(USUAL_NOISE) * self._ratios[some]
        varying = np.flatnonzero(squares.any(axis=(0, 1)))
        found = (inf, alike)
        for longer, one in APART:
            others = alike + longer
            weights = np.exp(-2.0 * others)
            together = np.einsum("ijk,k->ij", squares, weights)
            for j in varying:
                apart = squares[:, :, j] * (np.exp(-2.0 * one) - weights[j])
                q = np.sqrt(5.0 * np.maximum(together + apart, 0.0))
                K = (1.0 + q + q * q / 3.0) * np.exp(-q)
                K.flat[:: len(some) + 1] += noise
                at = others.copy()
                at[j] = one
                found = min(found, (_evidence(K, target)[0], at), key=_value)
        value, axes = self.best(found[1], [found[1]], steps)
        return value + log(len(APART) * max(len(varying), 1)), axes

    def best(self, usual: Array, starts: list[Array], steps: int) -> tuple[float, Array]:
        """The best place that a climb from one of these log axes finds: its loss, and how long axes are."""
        bounds = np.array([[SHORTEST_AXIS, LONGEST_AXIS]] * len(usual) + [[LOWEST_NOISE, HIGHEST_NOISE]])
        usual = np.append(usual, USUAL_NOISE)

        def loss(at: Array) -> tuple[float, Array]:
            return self.loss(at, usual)

        begun = [np.append(one, USUAL_NOISE) for one in starts]
        climbs = (minimise(loss, one, bounds, steps=steps, tolerance=1e-4) for one in begun)
        value, at = min(climbs, key=_value)[:2]
        return value, at

    def spent(self, at: Array) -> float:
        """How many degrees of freedom the axes took: each as far as the labels, not the prior, say its length.

        With F the information that labels have about log axes, whose prior has a variance of 1, that is the
        trace of F(F + 1)⁻¹. It is taken from some of the labels if there are many.
        """
        some = spread(len(self._target), SCREENED)
        parts = self._squares[np.ix_(some, some)] * np.exp(-2.0 * at[:-1])
        parts = parts[:, :, parts.any(axis=(0, 1))]
        q = np.sqrt(5.0 * parts.sum(axis=2))
        K = (1.0 + q + q * q / 3.0) * np.exp(-q)
        K.flat[:: len(K) + 1] += np.exp(at[-1]) * self._ratios[some]
        slopes = parts * ((5.0 / 3.0) * (1.0 + q) * np.exp(-q))[:, :, None]
        inverse = np.linalg.inv(K)
        ones = inverse.sum(axis=1)
        P = inverse - np.multiply.outer(ones, ones) / ones.sum()
        moved = np.einsum("ij,jka->aik", P, slopes, optimize=True)
        traces = np.einsum("aii->a", moved)
        information = np.einsum("aij,bji->ab", moved, moved, optimize=True)
        information -= np.multiply.outer(traces, traces) / (len(some) - 1)
        known = np.linalg.eigvalsh(information) * (0.5 * len(self._target) / len(some))
        known = np.maximum(known, 0.0)
        return float((known / (known + 1.0)).sum())

    def loss(self, at: Array, usual: Array) -> tuple[float, Array]:
        """Minus the log evidence of log axes and a log noise, with their prior, and its gradient."""
        parts = self._squares * np.exp(-2.0 * at[:-1])
        q = sqrt(5.0) * np.sqrt(parts.sum(axis=2))
        decay, noise = np.exp(-q), float(np.exp(at[-1]))
        K = (1.0 + q + q * q / 3.0) * decay
        K.flat[:: len(K) + 1] += noise * self._ratios
        value, towards = _evidence(K, self._target)
        slope = towards * (-5.0 / 6.0) * (1.0 + q) * decay
        pull = at - usual
        pull[-1] /= NOISE_WIDTH
        gradient = np.append(
            pull[:-1] - np.einsum("ij,ijk->k", slope, parts),
            0.5 * noise * float(np.diag(towards) @ self._ratios) + pull[-1] / NOISE_WIDTH,
        )
        return value + 0.5 * float(pull @ pull), gradient


def _value(found: tuple[float, Array]) -> float:
    return found[0]


def _evidence(K: Array, target: Array) -> tuple[float, Array]:
    """Minus the log evidence of a covariance, mean and scale left open, and twice its slope in K."""
    count = len(target)
    _sign, logdet = np.linalg.slogdet(K)
    inverse = np.linalg.inv(K)
    ones = inverse.sum(axis=1)
    certain = ones.sum()
    P = inverse - np.multiply.outer(ones, ones) / certain
    pulls = P @ target
    quadratic = max(float(target @ pulls), 1e-300)
    value = 0.5 * logdet + 0.5 * np.log(certain) + 0.5 * (count - 1) * np.log(quadratic)
    towards: Array = P - (count - 1) / quadratic * np.multiply.outer(pulls, pulls)
    return float(value), towards


# -- what a fit found, as plain data ---------------------------------------------------------------


def checked_count(value: Any) -> int:
    """A count in a state."""
    if type(value) is not int or value < 0:
        raise ValueError("expected a count")
    return value


def plain_members(frame: Frame, members: list[Member], known: KnownNoise | None) -> dict[str, Any]:
    """What a fit found, as plain data."""
    return {
        **({} if known is None else {"label_std": known.label_std}),
        "centre": frame.centre.tolist(),
        "scale": _plain_row(frame.scale),
        "variation": frame.variation.tolist(),
        "axes": [_plain_row(row) for row in frame.axes[1:]],
        "spent": list(frame.spent[1:]),
        "members": [list(member) for member in members],
    }


def checked_members(
    parameters: Any, dim: int, noise_std: float | None
) -> tuple[Frame, list[Member], KnownNoise | None]:
    """What a fit found: the frame, the members, and where the noise is known the scale of labels."""
    expected = "what a fit of an averaged belief returned"
    try:
        if len(parameters["centre"]) == dim:
            parameters = _with_time(parameters)
        centre, variation = (np.array(parameters[name], dtype=float) for name in ("centre", "variation"))
        scale = _row_of(parameters["scale"])
        axes = np.array([[1.0] * dim + [inf], *map(_row_of, parameters["axes"])], dtype=float)
        members = [Member(*map(checked_count, member)) for member in parameters["members"]]
        spent = (0.0, *map(float, parameters.get("spent", [0.0] * (len(axes) - 1))))
        sound = len(spent) == len(axes) and all(0.0 <= one <= dim + 1 for one in spent)
        sound = sound and all(column.shape == (dim + 1,) for column in (centre, scale, variation))
        sound = sound and len(axes) <= MOVING + 1 and axes.shape[1] == dim + 1
        sound = sound and bool((axes > 0.0).all() and members)
        sound = sound and bool(np.isfinite(centre).all() and (scale > 0.0).all() and (variation >= 0.0).all())
        limits = (len(SHAPES), len(axes), len(NOISES))
        sound = sound and all(a < b for member in members for a, b in zip(member, limits, strict=True))
        known = None
        if noise_std is not None:
            known = KnownNoise(noise_std, float(parameters["label_std"]))
            sound = sound and isfinite(known.label_std) and known.label_std > 0.0
    except (TypeError, ValueError, KeyError, IndexError):
        sound = False
    if not sound:
        expect.refuse("parameters", expected, parameters)
    return Frame(centre, scale, variation, axes, spent), members, known


def _with_time(parameters: dict[str, Any]) -> dict[str, Any]:
    """What a fit found before time was an axis: it does not matter."""
    added = {"centre": 0.0, "scale": 1.0, "variation": 0.0}
    columns = {name: [*parameters[name], value] for name, value in added.items()}
    return {**parameters, **columns, "axes": [[*row, None] for row in parameters["axes"]]}


def _plain_row(row: Array) -> list[float | None]:
    """A row of numbers, of which ∞ is None."""
    return [None if one == inf else one for one in row.tolist()]


def _row_of(plain: list[float | None]) -> Array:
    return np.array([inf if one is None else one for one in plain], dtype=float)
