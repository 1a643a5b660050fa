"""The averaged belief as docs/belief.md and docs/value.md define it: one member after the other, dense.

Everything is computed from the plain data of a state (`Averaged.state`), with full matrices and no algebra
shared with the product: labels awaited are rows of the covariance like those told, and a saving is a
difference of two standard deviations.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.stats import norm, t

NOISE_RATIOS = (0.01, 0.1, 0.5, 2.0)
AMPLITUDES = (0.4, 2.0, 10.0, 50.0)  # of f over the variance of labels, where the noise is known
SHAPES = [
    ("none", 1.0, 0.0),
    *[("matern", length, linear) for length in (0.3, 0.6, 1.2, 2.5) for linear in (0.0, 0.5, 0.9)],
    *[("gauss", length, linear) for length in (0.4, 0.8, 1.6) for linear in (0.0, 0.5)],
    *[("additive", length, linear) for length in (0.6, 1.5) for linear in (0.0, 0.5)],
    ("none", 1.0, 1.0),
]
ALIKE, SHAPED, MOVING, RANKED = range(4)
LEAST_NOISE = 1e-6
LIGHT, FIRST_TURN = 0.012, 0.618
EDGES = (0.0, 0.015, 0.05, 0.11, 0.2, 0.33, 0.5, 0.67, 0.8, 0.89, 0.95, 0.985, 1.0)
FEW_EDGES = (
    (0.0, 0.015, 0.07, 0.22, 0.5, 0.78, 0.93, 0.985, 1.0),
    (0.0, 0.03, 0.11, 0.24, 0.4, 0.6, 0.76, 0.89, 0.97, 1.0),
)
CARRIED = (0.005, 0.025, 0.1, 0.16, 0.25, 0.5, 0.75, 0.84, 0.9, 0.975, 0.995)


def matern(distance):
    q = np.sqrt(5.0) * distance
    return (1.0 + q + q**2 / 3.0) * np.exp(-q)


def student(degrees):
    return norm if np.isinf(degrees) else t(degrees)


def middles(edges):
    return (np.array(edges[:-1]) + np.array(edges[1:])) / 2.0, np.diff(edges)


def count_errors(off, level):
    """An answer too low by 1 counts 2·level, one too high 2·(1 − level)."""
    return np.where(off > 0.0, 2.0 * level, 2.0 * (level - 1.0)) * off


class Component(NamedTuple):
    """A member that looks at one of the two targets: tamed or not."""

    member: int
    tamed: bool
    weight: float


class PlainKernels:
    """Points as members see them, their kernels, and how likely each is before any label."""

    reference = None  # the noise that others are relative to

    def __init__(self, fitted, dim):
        self.dim = dim
        self.members = [tuple(one) for one in fitted["members"]]
        infinite = lambda row: np.array([np.inf if one is None else one for one in row])  # noqa: E731
        self.centre, self.scale = np.array(fitted["centre"]), infinite(fitted["scale"])
        variation = np.array(fitted["variation"])
        self.ranks = fitted.get("ranks", [])
        self.axes = [np.append(np.ones(self.dim), np.full(len(self.ranks) + 1, np.inf))]
        self.axes += [infinite(row) for row in fitted["axes"]]
        self.spent = [0.0, *fitted["spent"]]
        self.features = variation[:-1].sum()
        self.variation = np.concatenate([variation[:-1], np.ones(len(self.ranks)), variation[-1:]])

    def place(self, rows):
        """Features, then ranks, within 1,000 spreads; then time."""
        placed = [(rows[:, j] - self.centre[j]) / self.scale[j] for j in range(self.dim)]
        for column, values, scores in self.ranks:
            placed.append(beyond(rows[:, column], np.array(values), np.array(scores)))
        placed = [np.clip(column, -1000.0, 1000.0) for column in placed]
        placed.append((rows[:, -1] - self.centre[-1]) / self.scale[-1])
        return np.array(placed).T

    def ratio(self, noise_std):
        if noise_std is None or self.reference is None:
            return 1.0
        return max((noise_std / self.reference) ** 2, 1e-4)

    def kernel(self, member, a, b):
        """k of a member between two sets of placed points."""
        shape, family, _ = member
        profile, length, linear = SHAPES[shape]
        axes = self.axes[family]
        apart, products = a[:, None, :] - b[None, :, :], a[:, None, :] * b[None, :, :]
        heard = self.variation / axes**2
        r = np.sqrt((apart**2 / (2.0 * self.features * axes**2)).sum(axis=2))
        if profile == "matern":
            smooth = matern(r / length)
        elif profile == "gauss":
            smooth = np.exp(-0.5 * (r / length) ** 2)
        elif profile == "additive":
            each = matern(np.abs(apart) / (np.sqrt(2.0) * length * axes))
            smooth = 0.6 * each @ (heard / heard.sum()) + 0.4 * matern(r / (2.0 * length))
        else:
            smooth = np.zeros(r.shape)
        trend = (products / axes**2).sum(axis=2) / heard.sum()
        return (1.0 - linear) * smooth + linear * trend

    def prior(self, member):
        """A quarter for the constant; all others alike, with time a fifth of that, ranks half."""
        shape, family, _ = member
        if shape == 0:
            return 0.25
        odds = 0.2 if family == MOVING else 1.0
        if self.ranks and family in (ALIKE, RANKED):
            odds = 0.5
        return odds * 0.75 / (4 * (len(SHAPES) - 1))


class PlainAverage(PlainKernels):
    """What an averaged belief should say, from its state."""

    def __init__(self, state, dim, noise_std=None, level=0.5, widened=1.0):
        super().__init__(state["fitted"], dim)
        self.noise_std, self.level, self.widened = noise_std, level, widened
        rows = np.frombuffer(state["rows"]).reshape(-1, dim + 1)
        labels = np.frombuffer(state["labels"])
        self.reference = state["reference"] if noise_std is None else noise_std
        used = state["used"]
        self.y = labels[used]
        self.points = self.place(rows[used])
        self.ratios = np.array([self.ratio(state["noises"][i]) for i in used])
        self.label_std = state["fitted"].get("label_std")
        kept = np.frombuffer(state["kept"]).reshape(-1, dim)
        self.kept = self.place(np.column_stack([kept, np.full(len(kept), state["kept_at"])]))
        waiting = state["awaited"][-128:]
        self.awaited = len(state["awaited"])
        self.asked_at = self.place(
            np.array([np.frombuffer(row) for _, row, _ in waiting]).reshape(-1, dim + 1)
        )
        self.asked_ratios = np.array([self.ratio(noise) for _, _, noise in waiting])
        self.clock = state["clock"]
        self._solve()

    def noise(self, member):
        """The noise variance that a member assumes, over its amplitude."""
        if self.noise_std is None:
            return NOISE_RATIOS[member[2]]
        return max((self.noise_std / self.amplitude(member)) ** 2, LEAST_NOISE)

    def amplitude(self, member):
        return self.label_std * np.sqrt(AMPLITUDES[member[2]])

    def covariance(self, member, points, ratios):
        own = np.maximum(self.noise(member) * ratios, LEAST_NOISE)
        return self.kernel(member, points, points) + np.diag(own)

    # -- what members make of the labels ---------------------------------------------------------

    def _solve(self):
        self.median, self.std = np.median(self.y), self.y.std() or 1.0
        apart = np.abs(self.y - self.median)
        self.spread = np.median(apart) or apart.mean() or 1.0
        self.farthest = np.arcsinh(apart.max() / self.spread) + 1.0
        self.targets = (self.y - self.median) / self.std, np.arcsinh((self.y - self.median) / self.spread)
        self.solved = [self.solution(member) for member in self.members]
        scores = np.array(
            [self.scores(member, one) for member, one in zip(self.members, self.solved, strict=True)]
        )
        weights = np.exp(scores - scores.max())
        self.weights = (weights / weights.sum()).T  # targets × members, as in the product
        self.components = self._components()
        self._systems = {}  # factored, by member and whether labels awaited count

    def untame(self, z):
        return self.median + self.spread * np.sinh(np.clip(z, -self.farthest, self.farthest))

    def solution(self, member):
        """K⁻¹, w, H, P, the means, pulls and scales of both targets, and the degrees of freedom."""
        n = len(self.y)
        K = self.covariance(member, self.points, self.ratios)
        inverse = np.linalg.inv(K)
        w = inverse.sum(axis=1)
        P = inverse - np.outer(w, w) / w.sum()
        means = [w @ z / w.sum() for z in self.targets]
        pulls = [P @ z for z in self.targets]
        degrees = max(n - 1.0 - self.spent[member[1]], min(n - 1.0, 2.0))
        scales = [
            np.sqrt(max(z @ pull, 1e-300) / degrees) for z, pull in zip(self.targets, pulls, strict=True)
        ]
        if self.noise_std is not None:
            degrees, scales = np.inf, [self.amplitude(member) / self.std] * 2
        return {
            "K": K,
            "inverse": inverse,
            "w": w,
            "H": w.sum(),
            "P": P,
            "means": means,
            "pulls": pulls,
            "degrees": degrees,
            "scales": scales,
        }

    def left_out(self, solved, target):
        """What a member would have answered at each label without it, as a target."""
        z = self.targets[target]
        return z - solved["pulls"][target] / np.maximum(np.diag(solved["P"]), 1e-300)

    def scores(self, member, solved):
        """The log weights of a member, by what its errors are on labels that it has not seen."""
        n, prior = len(self.y), np.log(self.prior(member))
        if self.noise_std is not None:
            s = solved["scales"][0]
            _, logdet = np.linalg.slogdet(solved["K"])
            quadratic = self.targets[0] @ solved["pulls"][0]
            evidence = -0.5 * (logdet + np.log(solved["H"]) + quadratic / s**2 + (n - 1) * np.log(s**2))
            return prior + evidence, -np.inf
        constant = np.abs(self.y - self.median).mean()
        found = []
        for target in (0, 1):
            left_out = self.left_out(solved, target)
            answers = self.untame(left_out) if target else self.median + self.std * left_out
            mean = (np.abs(answers - self.y).sum() + 2.0 * constant) / (n + 2.0)
            found.append(prior - 0.4 * n * np.log(mean))
        return (found[0], found[1] if n >= 5 else -np.inf)

    def _components(self):
        """The members that speak, in each way of looking at labels, and for how much."""
        all = [(i, bool(tamed), self.weights[tamed, i]) for tamed in (0, 1) for i in range(len(self.members))]
        light = sum(weight for _, _, weight in all if weight < LIGHT)
        speakers = round(light / LIGHT)
        turns = [(i + FIRST_TURN) * light / speakers for i in range(speakers)]
        counts, told = {}, 0.0
        for i, tamed, weight in sorted(all, key=lambda one: self.noise(self.members[one[0]])):
            if weight >= LIGHT:
                counts[i, tamed] = weight
                continue
            told += weight
            while turns and told >= turns[0]:
                turns.pop(0)
                counts[i, tamed] = counts.get((i, tamed), 0.0) + light / speakers
        whole = sum(counts.values())
        order = sorted(counts, key=lambda one: (one[1], one[0]))
        return [Component(i, tamed, counts[i, tamed] / whole) for i, tamed in order]

    # -- at points -------------------------------------------------------------------------------

    def joint(self, member, points, *, awaited):
        """The posterior covariance of f at placed points, over the amplitude, the mean being anything.

        By the equations of best linear unbiased prediction, with labels awaited as further rows.
        """
        at, ratios = self.points, self.ratios
        if awaited:
            at = np.vstack([at, self.asked_at])
            ratios = np.append(ratios, self.asked_ratios)
        n = len(at)
        if (member, awaited) not in self._systems:
            system = np.ones((n + 1, n + 1))
            system[:n, :n], system[n, n] = self.covariance(member, at, ratios), 0.0
            self._systems[member, awaited] = lu_factor(system)
        k = np.vstack([self.kernel(member, at, points), np.ones(len(points))])
        own = self.kernel(member, points, points)
        return own - k.T @ lu_solve(self._systems[member, awaited], k)

    def centre_of(self, component, points):
        """The mean of a component's target at placed points."""
        solved = self.solved[component.member]
        k = self.kernel(self.members[component.member], points, self.points)
        return solved["means"][component.tamed] + k @ solved["pulls"][component.tamed]

    def scale_of(self, component):
        return self.widened * self.solved[component.member]["scales"][component.tamed]

    def degrees_of(self, component):
        return self.solved[component.member]["degrees"]

    def as_labels(self, component, targets):
        return self.untame(targets) if component.tamed else self.median + self.std * targets

    def claims(self, point, *, of_label):
        """The values that stand for the distribution at a placed point, and their weights, in order."""
        values, weights, turn = [], [], 0
        for one in self.components:
            edges = EDGES
            if one.weight < 2.0 * LIGHT:
                turn = 1 - turn
                edges = FEW_EDGES[turn]
            levels, widths = middles(edges)
            member = self.members[one.member]
            variance = max(self.joint(member, point, awaited=False)[0, 0], 0.0)
            variance += self.noise(member) if of_label else 0.0
            z = student(self.degrees_of(one)).ppf(levels) * self.scale_of(one) * np.sqrt(variance)
            values.append(self.as_labels(one, self.centre_of(one, point)[0] + z))
            weights.append(one.weight * widths)
        values, weights = np.concatenate(values), np.concatenate(weights)
        order = np.argsort(values, kind="stable")
        return values[order], weights[order]

    def quantiles(self, point, *, of_label, levels=CARRIED):
        values, weights = self.claims(point, of_label=of_label)
        return np.interp(levels, np.cumsum(weights) - weights / 2.0, values)

    def answer(self, point):
        return float(self.quantiles(point, of_label=True, levels=[self.level])[0])

    def below(self, point, y, ratio=1.0):
        """The probability of a label below y, by the distribution functions of all components."""
        share = 0.0
        for one in self.components:
            member = self.members[one.member]
            variance = max(self.joint(member, point, awaited=False)[0, 0], 0.0) + ratio * self.noise(member)
            z = np.arcsinh((y - self.median) / self.spread) if one.tamed else (y - self.median) / self.std
            off = z - self.centre_of(one, point)[0]
            spread = self.scale_of(one) * np.sqrt(variance)
            share += one.weight * student(self.degrees_of(one)).cdf(off / spread)
        return share

    def narrowing(self, point):
        """How far labels awaited lower the standard deviation of f."""
        before = after = 0.0
        for one in self.components:
            member = self.members[one.member]
            counts = one.weight * self.scale_of(one) ** 2
            before += counts * self.joint(member, point, awaited=False)[0, 0]
            after += counts * self.joint(member, point, awaited=True)[0, 0]
        return np.sqrt(after / before)

    # -- what a label saves ----------------------------------------------------------------------

    def unit_error(self, degrees):
        """The expected error of the best answer about a Student t of scale 1, by its nodes."""
        levels, widths = middles(EDGES)
        values = student(degrees).ppf(levels)
        return widths @ count_errors(values - np.interp(self.level, levels, values), self.level)

    def error_at(self, one, point, variance):
        """The error that a component expects of labels at a placed point, over the std of its target."""
        scale = self.scale_of(one)
        if not one.tamed:
            return scale * self.std * self.unit_error(self.degrees_of(one))
        spread = scale * np.sqrt(variance + self.noise(self.members[one.member]))
        levels, widths = middles(EDGES)
        values = student(self.degrees_of(one)).ppf(levels)
        centre = self.centre_of(one, point[None])[0]
        answer = self.untame(centre + spread * np.interp(self.level, levels, values))
        errors = widths @ count_errors(self.untame(centre + spread * values) - answer, self.level)
        return scale * errors / spread

    def saving(self, point, ratio=1.0):
        """What a label there takes off the errors: here, later against f and labels; and the errors ahead."""
        here = later = later_labels = ahead = 0.0
        for one in self.components:
            member = self.members[one.member]
            noise = self.noise(member)
            told = self.joint(member, self.kept, awaited=False)
            both = self.joint(member, np.vstack([point, self.kept]), awaited=True)
            v = max(both[0, 0], 0.0)
            spread = v + ratio * noise
            unit = self.spread if one.tamed else self.std
            each = one.weight * self.scale_of(one) * unit * self.unit_error(self.degrees_of(one))
            here += each * (np.sqrt(v) - np.sqrt(v - v**2 / spread))
            for r, arrival in enumerate(self.kept):
                rate = one.weight * self.error_at(one, arrival, max(told[r, r], 0.0))
                before = max(both[r + 1, r + 1], 0.0)
                gone = min(both[0, r + 1] ** 2 / spread, before)
                later += rate * (np.sqrt(before) - np.sqrt(before - gone))
                later_labels += rate * (np.sqrt(before + noise) - np.sqrt(before - gone + noise))
                ahead += rate * np.sqrt(before + noise)
        kept = len(self.kept)
        return here, later / kept, later_labels / kept, ahead / kept

    def lesson(self, ahead):
        """p/(2n(n + 1)) of the errors ahead: p axes that labels found, n labels told and awaited."""
        n = len(self.y) + self.awaited
        return self.axes_learnt() / (2.0 * n * (n + 1)) * ahead

    def axes_learnt(self):
        varying = np.count_nonzero(self.variation[: self.dim])
        learnt = 0.0
        for one in self.components:
            family = self.members[one.member][1]
            fitted = varying if family in (SHAPED, MOVING) else 0.0
            learnt += one.weight * (self.spent[family] if self.noise_std is None else fitted)
        return learnt

    def label_noise(self):
        """The standard deviation of the noise of labels, on average."""
        units = [self.spread if one.tamed else self.std for one in self.components]
        stds = [
            self.scale_of(one) * np.sqrt(self.noise(self.members[one.member])) * unit
            for one, unit in zip(self.components, units, strict=True)
        ]
        return float(np.dot([one.weight for one in self.components], stds))


def beyond(x, values, scores):
    """A line through these values, which goes on beyond the first and the last."""
    inside = np.interp(x, values, scores)
    low = scores[0] + (x - values[0]) * (scores[1] - scores[0]) / (values[1] - values[0])
    high = scores[-1] + (x - values[-1]) * (scores[-1] - scores[-2]) / (values[-1] - values[-2])
    return np.where(x < values[0], low, np.where(x > values[-1], high, inside))
