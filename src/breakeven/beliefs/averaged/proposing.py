"""A fit: the frame of the points, how long each axis is, and the few members worth going on with.

A pure function of its job. Axes are those of greatest evidence for one Matérn kernel, pulled towards being
all alike, or all but one. Then every member is weighed, on some of the labels if there are many, and those
that carry the weight are kept: fewer the more labels there are, because the labels agree on fewer, and each
costs more.
"""

from math import inf, isfinite, log
from typing import Any

import numpy as np

from breakeven.beliefs.averaged.frame import ALIKE, MOVING, RANKED, SHAPED, Frame, Ranks, kurtosis
from breakeven.beliefs.averaged.members import NOISES, NULL_MEMBER, SHAPES, Member, all_members
from breakeven.beliefs.averaged.posterior import Candidates, KnownNoise, LabelScale, inverse_factors
from breakeven.beliefs.gp.likelihood import minimise
from breakeven.errors import expect
from breakeven.errors.expect import Array

AXES_FROM, MORE_THAN_AXES = 8, 4  # labels, and labels more than axes, below which axes are taken to be alike
SCREENED = 64  # labels on which all members are weighed first
LIKELY = 24  # members, at least, that are weighed on all labels then
CLIMBED = 200  # labels that axes are fitted to, at most
LEAST_WEIGHT = 3e-3  # of a member that is kept: less does not count in an answer
WORK = 2_000  # members times labels, at most
READ = 1_200_000  # entries of inverses that a decision reads, at most
MOST = 64  # members, however few labels there are
USUAL_AXIS, USUAL_TIME = 0.4, 1.5  # log of an axis' length before any label, and of that of time
USUAL_NOISE, NOISE_WIDTH = log(0.1), 1.5  # of log noise before any label: its middle and its std
APART = ((0.0, -3.5), (2.0, -0.5))  # log lengths to begin from: of all axes, over the usual, and of one apart
STEPS, MOVING_STEPS = 30, 15
MIDDLE_LENGTH = 1.2  # the length among the shapes' that stands for the one fitted
SHORTEST_AXIS, LONGEST_AXIS = -5.0, 4.5  # log of an axis' length
LOWEST_NOISE, HIGHEST_NOISE = -7.0, 3.0  # log of a noise


def propose(
    X: Array, y: Array, ratios: Array, frame: Frame, start: Array | None, known: KnownNoise | None
) -> tuple[Frame, list[Member]]:
    """The frame and the members to go on with; `start` are the axes of the last fit."""
    places = frame.place(X)
    found = families(places, y, ratios, frame, start)
    rows = [found.get(family, found[ALIKE]) for family in range(max(found) + 1)]
    frame = frame._replace(axes=np.array([row for row, _ in rows]), spent=tuple(spent for _, spent in rows))
    members = all_members(sorted(found))
    some, most = spread(len(y), SCREENED), affordable(len(y))
    if len(some) < len(y):
        likely = max(3 * most, LIKELY)
        members = _heaviest(members, frame, places[some], y[some], ratios[some], known, likely)
    return frame, _heaviest(members, frame, places, y, ratios, known, most)


def families(
    places: Array, y: Array, ratios: Array, frame: Frame, start: Array | None
) -> dict[int, tuple[Array, float]]:
    """The axes of each family there is, and the degrees of freedom that finding them took.

    Those that are fitted go along ranks if the labels are likelier so.
    """
    alike = np.append(np.ones(len(frame.centre) - 1), inf)
    found = {ALIKE: (frame.along(alike), 0.0)}
    if frame.ranks:
        found[RANKED] = frame.along(alike, ranked=True), 0.0
    if not axes_show(len(y), frame):
        return found
    ranked = [False, True] if frame.ranks else [False]
    seen = [frame.seen(places, ranked=way) for way in ranked]
    climbs = [climbed_axes(these, y, ratios, frame, start) for these in seen]
    best = min(range(len(climbs)), key=lambda way: climbs[way][0])
    _, shaped, spent = climbs[best]
    found[SHAPED] = frame.along(shaped, ranked=ranked[best]), spent
    if np.ptp(places[:, -1]) > 0.0:
        moving, spent = moving_axes(seen[best], y, ratios, frame, shaped)
        found[MOVING] = frame.along(moving, ranked=ranked[best]), spent
    return found


def affordable(labels: int) -> int:
    """How many members there are at most with so many labels.

    >>> [affordable(labels) for labels in (8, 30, 100, 300, 600, 1000)]
    [64, 64, 20, 6, 3, 1]
    """
    return min(MOST, max(1, min(WORK // labels, READ // labels**2)))


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
    candidates = Candidates(members, frame, places, ratios, known)
    candidates.learn(y)
    weights = candidates.weights.sum(axis=0)
    order = [int(i) for i in np.argsort(-weights, kind="stable")[:most] if weights[i] > LEAST_WEIGHT]
    return [members[i] for i in sorted(order)]


def fitted_axes(
    places: Array, y: Array, ratios: Array, frame: Frame, start: Array | None
) -> tuple[Array, float]:
    """How long each axis is, for the labels' evidence under one Matérn kernel; time does not matter."""
    return climbed_axes(places, y, ratios, frame, start)[1:]


def climbed_axes(
    places: Array, y: Array, ratios: Array, frame: Frame, start: Array | None
) -> tuple[float, Array, float]:
    """The same with the loss there, to be compared with others."""
    climb = AxesClimb(places[:, :-1], y, ratios, frame)
    alike = np.full(places.shape[1] - 1, USUAL_AXIS)
    starts = [alike] if start is None else [alike, np.log(start * MIDDLE_LENGTH)]
    found = [climb.best(alike, starts, STEPS), climb.one_apart(alike, STEPS)]
    value, at = min(found, key=_value)
    return value, np.append(np.exp(at[:-1]) / MIDDLE_LENGTH, inf), climb.spent(at)


def moving_axes(places: Array, y: Array, ratios: Array, frame: Frame, shaped: Array) -> tuple[Array, float]:
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
        self._target = tamed if kurtosis(plain) > 6.0 else plain
        features = np.ascontiguousarray(places[some].T)
        apart = features[:, :, None] - features[:, None, :]
        apart *= apart
        apart /= 2.0 * max(frame.features, 1e-12)
        self._squares = apart.reshape(len(apart), -1)  # an axis each: of all pairs of points

    def one_apart(self, alike: Array, steps: int) -> tuple[float, Array]:
        """The best axes of which one is far shorter than all others, or shorter while these are long.

        A climb from axes that are all alike does not find such: half-way there is worse than either end. Any
        axis may be the one, in either way, and each of these is as likely before any label.
        """
        count, some = len(self._target), spread(len(self._target), SCREENED)
        squares = self._squares.reshape(-1, count, count)[:, some[:, None], some].reshape(len(alike), -1)
        varying = np.flatnonzero(squares.any(axis=1))
        starts: Array = np.empty((len(APART), len(varying), len(alike)))
        for these, (longer, one) in zip(starts, APART, strict=True):
            these[:] = alike + longer
            these[np.arange(len(varying)), varying] = one
        starts = starts.reshape(-1, len(alike))
        start = alike
        if len(starts):
            K = matern(np.exp(-2.0 * starts).dot(squares))[0].reshape(-1, len(some), len(some))
            np.einsum("mii->mi", K)[:] += np.exp(USUAL_NOISE) * self._ratios[some]
            start = starts[int(Evidence(K, self._target[some]).losses.argmin())]
        value, axes = self.best(start, [start], steps)
        return value + log(len(APART) * max(len(varying), 1)), axes

    def best(self, usual: Array, starts: list[Array], steps: int) -> tuple[float, Array]:
        """The best place that a climb from one of these log axes finds: its loss, log axes and log noise."""
        bounds = np.array([[SHORTEST_AXIS, LONGEST_AXIS]] * len(usual) + [[LOWEST_NOISE, HIGHEST_NOISE]])
        usual = np.append(usual, USUAL_NOISE)

        def loss(at: Array) -> tuple[float, Array]:
            return self.loss(at, usual)

        begun = [np.append(one, USUAL_NOISE) for one in starts]
        climbs = (minimise(loss, one, bounds, steps=steps, tolerance=1e-4) for one in begun)
        value, at = min(climbs, key=_value)[:2]
        return value, at

    def spent(self, at: Array) -> float:
        """How many degrees of freedom these axes took: every one as far as labels, not the prior, say it.

        With F what the labels tell of log axes, whose prior has the variance 1, it is the trace of F/(F + 1).
        Of many labels it is told from some.
        """
        count, some = len(self._target), spread(len(self._target), SCREENED)
        squares = self._squares.reshape(-1, count, count)[:, some[:, None], some]
        parts = squares.reshape(len(squares), -1) * np.exp(-2.0 * at[:-1])[:, None]
        K, slope = matern(parts.sum(axis=0))
        K[:: len(some) + 1] += np.exp(at[-1]) * self._ratios[some]
        half = inverse_factors(K.reshape(1, len(some), len(some)))[0][0]
        ones = half.sum(axis=1) / np.linalg.norm(half.sum(axis=1))
        half = half - np.multiply.outer(ones, ones.dot(half))  # the mean is left open
        moved = np.matmul(half, np.matmul((parts * (-2.0 * slope)).reshape(squares.shape), half.T))
        rows, traces = moved.reshape(len(moved), -1), np.einsum("aii->a", moved)
        told = 0.5 * (rows.dot(rows.T) - np.multiply.outer(traces, traces) / (len(some) - 1))
        told = np.maximum(np.linalg.eigvalsh(told) * (count / len(some)), 0.0)
        return float((told / (told + 1.0)).sum())

    def loss(self, at: Array, usual: Array) -> tuple[float, Array]:
        """Minus the log evidence of log axes and a log noise, with their prior, and its gradient."""
        count, weights, noise = len(self._target), np.exp(-2.0 * at[:-1]), float(np.exp(at[-1]))
        K, slope = matern(weights.dot(self._squares))
        K[:: count + 1] += noise * self._ratios
        evidence = Evidence(K.reshape(1, count, count), self._target)
        towards = evidence.towards(0)
        pull = at - usual
        pull[-1] /= NOISE_WIDTH
        value = float(evidence.losses[0]) + 0.5 * float(pull.dot(pull))
        slope *= towards.reshape(-1)
        pull[:-1] -= weights * self._squares.dot(slope)
        pull[-1] = 0.5 * noise * float(towards.diagonal().dot(self._ratios)) + pull[-1] / NOISE_WIDTH
        return value, pull


def _value(found: tuple[float, Array]) -> float:
    return found[0]


def matern(squares: Array) -> tuple[Array, Array]:
    """The Matérn correlation of order 5/2 at squared distances, and its slope in these."""
    q = np.sqrt(5.0 * squares)
    decay = np.exp(-q)
    slope = 1.0 + q
    slope *= decay
    K = q * q
    K *= decay
    K /= 3.0
    K += slope
    slope *= -5.0 / 6.0
    return K, slope


class Evidence:
    """How likely some covariances make a target whose mean and scale are left open."""

    def __init__(self, K: Array, target: Array) -> None:
        self._halves, logs = inverse_factors(K)
        self._both = np.matmul(self._halves, np.array([np.ones(len(target)), target]).T)
        (self._certain, self._shared), (_, whole) = np.einsum("mia,mib->abm", self._both, self._both)
        self._left = len(target) - 1
        self._quadratic = np.maximum(whole - self._shared**2 / self._certain, 1e-300)
        self.losses: Array = 0.5 * (logs + np.log(self._certain) + self._left * np.log(self._quadratic))

    def towards(self, i: int) -> Array:
        """Twice the slope of a loss in its covariance."""
        half, certain = self._halves[i], self._certain[i]
        ones, pulls = half.T.dot(self._both[i]).T
        pulls -= self._shared[i] / certain * ones
        inverse: Array = half.T.dot(half)
        rows = np.array([ones / np.sqrt(certain), pulls * np.sqrt(self._left / self._quadratic[i])])
        inverse -= rows.T.dot(rows)
        return inverse


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
        **({"ranks": [one.plain() for one in frame.ranks]} if frame.ranks else {}),
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
        ranks = tuple(Ranks.of(one, dim) for one in parameters.get("ranks", ()))
        first = [1.0] * dim + [inf] * (len(ranks) + 1)
        axes = np.array([first, *map(_row_of, parameters["axes"])], dtype=float)
        members = [Member(*map(checked_count, member)) for member in parameters["members"]]
        spent = (0.0, *map(float, parameters.get("spent", [0.0] * (len(axes) - 1))))
        sound = len(spent) == len(axes) and all(0.0 <= one <= dim + 1 for one in spent)
        sound = sound and all(column.shape == (dim + 1,) for column in (centre, scale, variation))
        sound = sound and len({one.column for one in ranks}) == len(ranks)
        sound = sound and len(axes) <= RANKED + 1 and axes.shape[1] == dim + len(ranks) + 1
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
    return Frame(centre, scale, variation, axes, spent, ranks), members, known


def checked_rare(parameters: dict[str, Any], dim: int) -> tuple[Frame, list[Member]] | None:
    """The members that tell exceptions, if a fit found such."""
    if "rare" not in parameters:
        return None
    frame, members, _ = checked_members(parameters["rare"], dim, None)
    if members[0] != NULL_MEMBER:
        expect.refuse("parameters", "members that begin with the constant", parameters["rare"])
    return frame, members


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
