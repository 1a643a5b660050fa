"""A fit: the frame of the points, how long each axis is, and the few members worth going on with.

A pure function of its job. Axes are those of greatest evidence for one Matérn kernel, pulled towards being
all alike. Then every member is weighed, on some of the labels if there are many, and those that carry the
weight are kept: fewer the more labels there are, because the labels agree on fewer, and each costs more.
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
USUAL_NOISE = log(0.1)
STEPS, MOVING_STEPS = 30, 15
MIDDLE_LENGTH = 1.2  # the length among the shapes' that stands for the one fitted
LONGEST_AXIS, SHORTEST_AXIS = 60.0, 0.02  # of an axis


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
        shaped = fitted_axes(places, y, ratios, frame, start)
        moving = [moving_axes(places, y, ratios, frame, shaped)] if np.ptp(places[:, -1]) > 0.0 else []
        frame = frame._replace(axes=np.vstack([frame.axes, shaped, *moving]))
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


def fitted_axes(places: Array, y: Array, ratios: Array, frame: Frame, start: Array | None) -> Array:
    """How long each axis is, for the labels' evidence under one Matérn kernel; time does not matter."""
    usual = np.full(places.shape[1] - 1, USUAL_AXIS)
    starts = [usual]
    if start is not None:
        starts.append(np.log(start * MIDDLE_LENGTH))
    return np.append(_climbed(places[:, :-1], y, ratios, frame, usual, starts, STEPS), inf)


def moving_axes(places: Array, y: Array, ratios: Array, frame: Frame, shaped: Array) -> Array:
    """The same with time among the axes, beginning from those without it."""
    usual = np.append(np.full(places.shape[1] - 1, USUAL_AXIS), USUAL_TIME)
    start = np.append(np.log(shaped[:-1] * MIDDLE_LENGTH), USUAL_TIME)
    return _climbed(places, y, ratios, frame, usual, [start], MOVING_STEPS)


def _climbed(
    places: Array, y: Array, ratios: Array, frame: Frame, usual: Array, starts: list[Array], steps: int
) -> Array:
    """The axes of greatest evidence, pulled towards the usual ones, from the best of some starts."""
    some = spread(len(y), CLIMBED)
    places, ratios = places[some], ratios[some]
    scale = LabelScale.of(y)
    plain, tamed = scale.targets(y[some])
    kurtosis = float(np.mean((plain - plain.mean()) ** 4)) / max(float(np.var(plain)) ** 2, 1e-300)
    target = tamed if kurtosis > 6.0 else plain
    squares = (places[:, None, :] - places[None, :, :]) ** 2 / (2.0 * max(frame.features, 1e-12))

    def loss(at: Array) -> tuple[float, Array]:
        return _evidence(at, squares, target, ratios, usual)

    bounds = np.array([[-2.5, 4.5]] * len(usual) + [[-7.0, 3.0]])
    begun = [np.append(one, USUAL_NOISE) for one in starts]
    found = min((minimise(loss, one, bounds, steps=steps, tolerance=1e-4) for one in begun), key=_value)
    return np.clip(np.exp(found[1][:-1]) / MIDDLE_LENGTH, SHORTEST_AXIS, LONGEST_AXIS)


def _value(found: tuple[float, Array]) -> float:
    return found[0]


def _evidence(at: Array, squares: Array, target: Array, ratios: Array, usual: Array) -> tuple[float, Array]:
    """Minus the log evidence of log axes and a log noise, with their prior, and its gradient."""
    count = len(target)
    parts = squares * np.exp(-2.0 * at[:-1])
    q = sqrt(5.0) * np.sqrt(parts.sum(axis=2))
    decay = np.exp(-q)
    noise = float(np.exp(at[-1]))
    K = (1.0 + q + q * q / 3.0) * decay
    K.flat[:: count + 1] += noise * ratios
    _sign, logdet = np.linalg.slogdet(K)
    inverse = np.linalg.inv(K)
    ones = inverse.sum(axis=1)
    certain = ones.sum()
    P = inverse - np.multiply.outer(ones, ones) / certain
    pulls = P @ target
    quadratic = max(float(target @ pulls), 1e-300)
    value = 0.5 * logdet + 0.5 * np.log(certain) + 0.5 * (count - 1) * np.log(quadratic)
    towards = P - (count - 1) / quadratic * np.multiply.outer(pulls, pulls)
    slope = towards * (-5.0 / 6.0) * (1.0 + q) * decay
    pull = np.append(at[:-1] - usual, (at[-1] - USUAL_NOISE) / 1.5)
    gradient = np.append(
        -np.einsum("ij,ijk->k", slope, parts), 0.5 * noise * float(np.diag(towards) @ ratios)
    )
    gradient[:-1] += pull[:-1]
    gradient[-1] += pull[-1] / 1.5
    return float(value + 0.5 * pull @ pull), gradient


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
        sound = all(column.shape == (dim + 1,) for column in (centre, scale, variation))
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
    return Frame(centre, scale, variation, axes), members, known


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
