"""The averaged belief for yes/no labels as docs/yes-no.md and its modules define it, one member at a time.

Everything is computed from the plain data of a state (`AveragedShares.state`): modes by a general solver of
equations, shifts by bisection, evidence from full determinants.
"""

import numpy as np
from scipy.optimize import brentq, root
from scipy.special import betaln, expit, log_expit, logit

from tests.oracle.plain_average import PlainKernels

AMPLITUDES = (0.5, 2.0, 8.0, 32.0)  # of log odds
CONSTANT = np.pi**2  # the variance of log odds under Beta(½, ½)
MOST = 160


def seen_of(labels):
    """How many of the labels the members have seen: all up to 50, then in steps of 3%."""
    seen = min(labels, 50)
    while seen + max(1, int(0.03 * seen)) <= labels:
        seen += max(1, int(0.03 * seen))
    return seen


def thinned(y):
    """Places of at most 160 labels, and how many each stands for: the rarer kind is thinned less."""
    yes, no = np.flatnonzero(y == 1.0), np.flatnonzero(y == 0.0)
    few = min(len(yes), len(no), MOST // 2)
    counts = {}
    for kind in (yes, no):
        most = len(kind) if len(kind) <= few else min(len(kind), MOST - few)
        some = sorted({kind[round(i)] for i in np.linspace(0, len(kind) - 1, most)}) if len(kind) else []
        counts |= {place: len(kind) / len(some) for place in some}
    places = sorted(counts)
    return places, np.array([counts[i] for i in places])


class PlainShares(PlainKernels):
    """What an averaged belief about yes and no should say, from its state."""

    def __init__(self, state, dim, level=0.5):
        super().__init__(state["fitted"], dim)
        self.level, self.reference = level, state["reference"]
        y = np.frombuffer(state["labels"])
        rows = np.frombuffer(state["rows"]).reshape(-1, dim + 1)
        used, self.counts = thinned(y[: seen_of(len(y))])
        self.labels, self.clock = len(y), state["clock"]
        self.y, self.points = y[used], self.place(rows[used])
        self.seen = 1.0 / np.array([max(self.ratio(state["noises"][i]), 1.0) for i in used])
        kept = np.frombuffer(state["kept"]).reshape(-1, dim)
        self.kept = self.place(np.column_stack([kept, np.full(len(kept), state["kept_at"])]))
        rows = [np.frombuffer(row) for _, row, _ in state["awaited"]]
        self.awaited = self.place(np.array(rows).reshape(-1, dim + 1))
        self._weigh()

    def _weigh(self):
        y, told = self.y, self.seen * self.counts
        self.told = (y @ told, (1.0 - y) @ told)
        used = y @ self.seen, (1.0 - y) @ self.seen
        self.constant = (self.told[0] + 0.5) / (sum(self.told) + 1.0)
        off = [np.log(a / b) if b else 0.0 for a, b in zip(self.told, used, strict=True)]
        self.off = off[1] - off[0]  # of log odds, as kinds are thinned differently
        self.modes = [self.mode(member) for member in self.members]
        evidence = np.array([one["evidence"] for one in self.modes])
        exact = betaln(used[0] + 0.5, used[1] + 0.5) - betaln(0.5, 0.5)
        self.evidence = evidence - evidence[0] + exact
        scores = self.evidence + np.log([self.prior(member) for member in self.members])
        self.weights = np.exp(scores - scores.max())
        self.weights /= self.weights.sum()
        self.shifts = [self.shift(i, told / told.sum()) for i in range(len(self.members))]

    def prior_covariance(self, member, a, b):
        amplitude = 0.0 if member[0] == 0 else AMPLITUDES[member[2]]
        return amplitude * self.kernel(member, a, b) + CONSTANT

    def mode(self, member):
        """Laplace's approximation: where the log posterior of the log odds is greatest, and around it."""
        K = self.prior_covariance(member, self.points, self.points)
        y, seen, eye = self.y, self.seen, np.eye(len(self.y))

        def equations(f):
            p = expit(f)
            return f - K @ (seen * (y - p)), eye + K * (seen * p * (1.0 - p))

        found = root(equations, np.full(len(y), logit(self.constant)), jac=True, tol=1e-12)
        f = found.x
        assert np.abs(equations(f)[0]).max() < 1e-8
        p = expit(f)
        W = seen * p * (1.0 - p)
        likelihood = seen @ np.where(y == 1.0, log_expit(f), log_expit(-f))
        pull = seen * (y - p)
        half = 0.5 * np.linalg.slogdet(eye + K * W)[1]
        G = np.linalg.inv(K + np.diag(1.0 / W))
        return {"pull": pull, "G": G, "evidence": likelihood - 0.5 * f @ pull - half}

    def odds(self, i, points):
        """The mean and variance of a member's log odds, and how many labels would say as much."""
        member, mode = self.members[i], self.modes[i]
        k = self.prior_covariance(member, points, self.points)
        own = np.array([self.prior_covariance(member, x[None], x[None])[0, 0] for x in points])
        mean, variance = k @ mode["pull"], own - np.einsum("ri,ij,rj->r", k, mode["G"], k)
        p = expit(mean - self.off)
        labels = np.clip((1.0 / variance - 1.0 / own) / (p * (1.0 - p)), 0.0, sum(self.told))
        return mean, variance, labels

    def shift(self, i, weights):
        """What makes a member expect as many yeses among the labels as were told."""
        mean, variance, _ = self.odds(i, self.points)
        shrunk = mean / np.sqrt(1.0 + np.pi / 8.0 * variance)
        return brentq(lambda one: weights @ expit(shrunk + one) - self.constant, -60.0, 60.0, xtol=1e-12)

    def shares(self, points):
        """The probability of a yes that each member gives, and the variance of that."""
        shares, variances = [], []
        for i in range(len(self.members)):
            mean, variance, labels = self.odds(i, points)
            share = expit(mean / np.sqrt(1.0 + np.pi / 8.0 * variance) + self.shifts[i])
            if i == 0:
                share, labels = np.full(len(points), self.constant), sum(self.told)
            shares.append(share)
            variances.append(share * (1.0 - share) / (labels + 2.0))
        return np.array(shares), np.array(variances)

    def beta(self, points):
        """Mean and variance of the average."""
        shares, variances = self.shares(points)
        mean = self.weights @ shares
        return mean, self.weights @ (variances + (shares - mean) ** 2)

    def known(self, points):
        """Yeses and noes that say the same, to two digits."""
        mean, variance = self.beta(points)
        strength = np.maximum(mean * (1.0 - mean) / variance - 1.0, 1.0)
        pairs = zip(mean * strength, (1.0 - mean) * strength, strict=True)
        return [(float(f"{yes:.2g}"), float(f"{no:.2g}")) for yes, no in pairs]

    def correlations(self, point, others):
        """Of the probability at a point with that at others, over members and within each."""
        both = np.vstack([point, others])
        shares, variances = self.shares(both)
        mean, variance = self.beta(both)
        total = np.zeros(len(others))
        for i, member in enumerate(self.members):
            k = self.prior_covariance(member, both, self.points)
            joint = self.prior_covariance(member, both, both) - k @ self.modes[i]["G"] @ k.T
            stds = np.sqrt(np.diag(joint))
            within = joint[0, 1:] / (stds[0] * stds[1:]) if i else 1.0
            within = within * np.sqrt(variances[i, 0] * variances[i, 1:])
            total += self.weights[i] * (within + (shares[i, 0] - mean[0]) * (shares[i, 1:] - mean[1:]))
        return np.clip(total / np.sqrt(variance[0] * variance[1:]), 0.0, 1.0)

    def ahead(self):
        """How many of the labels awaited speak of each arrival to come."""
        told = [self.correlations(x[None], self.kept) ** 2 for x in self.awaited[-64:]]
        return np.round(np.sum(told, axis=0)).astype(int) if told else np.zeros(len(self.kept), int)
