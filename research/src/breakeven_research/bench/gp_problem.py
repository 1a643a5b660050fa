"""A Gaussian process with n labels, and the streams that go on from there: one arrival in ten is labelled.

The same round in other libraries is here too: predict at a new point, then take in its label, parameters
fixed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, cached_property, lru_cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from breakeven.beliefs import GaussianProcess, SquaredExponential
from breakeven.learner import Learner
from breakeven.rules import Draws, RandomSelect, Rule
from breakeven_research.bench.results import peer
from breakeven_research.bench.timing import Task

Array = NDArray[np.float64]

NOISE, SHARE = 0.1, 0.1
LENGTHSCALE = {2: 0.2, 9: 1.0}
NEAR = 25  # labels before n at which runs begin that label, to end as far behind it
WARM = 3  # rounds that touch what was just copied


class Problem:
    """Labels at random points, the belief that knows them, and new points."""

    def __init__(self, labels: int, dim: int, stretch: int) -> None:
        random = np.random.default_rng([labels, dim])
        self.X, self.y = random.random((labels, dim)), random.standard_normal(labels)
        self.new, self.new_y = random.random((stretch, dim)), random.standard_normal(stretch)
        self.labels, self.dim, self.stretch = labels, dim, stretch

    @cached_property
    def factor(self) -> Array:
        """The Cholesky factor of the labels' covariance, as BLAS likes it."""
        covariance = SquaredExponential(LENGTHSCALE[self.dim])(self.X, self.X)
        return np.asfortranarray(np.linalg.cholesky(covariance + NOISE**2 * np.eye(self.labels)))

    @cached_property
    def _short(self) -> GaussianProcess:
        return _taught(
            GaussianProcess(self.dim, NOISE, SquaredExponential(LENGTHSCALE[self.dim])),
            self.X[:-NEAR],
            self.y[:-NEAR],
        )

    @cached_property
    def _whole(self) -> GaussianProcess:
        return _taught(deepcopy(self._short), self.X[-NEAR:], self.y[-NEAR:])

    def learner(self, rule: Rule, *, short: bool, label_cost: float = 1.0) -> Learner:
        """A new learner, warm: with all labels, or with a few fewer, so that a run labels about n."""
        belief, seed = self._short if short else self._whole, _seed(self.stretch)
        made = Learner(belief, rule, label_cost=label_cost, seed=seed)
        for x in self.new[:WARM]:
            made.predict(x)
        return made

    def stream(self, run: Callable[[Learner], object]) -> Task:
        """A stretch of arrivals of which one in ten is labelled."""
        return Task(run, self.stretch, lambda: self.learner(RandomSelect(SHARE), short=True))

    def one_by_one(self) -> Task:
        """The stretch one arrival at a time."""
        return self.stream(lambda learner: decide_and_tell(learner, self.new, self.new_y))


@lru_cache(maxsize=1)
def problem(labels: int, dim: int, stretch: int) -> Problem:
    """The problem of these sizes; the last one is kept, for it takes seconds to learn."""
    return Problem(labels, dim, stretch)


def decide_and_tell(learner: Learner, X: Array, y: Array) -> None:
    """One arrival at a time, each label told at once."""
    for x, label in zip(X, y, strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, label)


def _taught(belief: GaussianProcess, X: Array, y: Array) -> GaussianProcess:
    for x, label in zip(X, y, strict=True):
        belief.learn(x, label)
    return belief


@cache
def _seed(stretch: int) -> int:
    """A seed with which exactly one arrival in ten is drawn."""
    rounds, wanted = range(1, stretch + 1), round(SHARE * stretch)
    return next(seed for seed in count() if sum(Draws(seed)(t) < SHARE for t in rounds) == wanted)


# -- other libraries -----------------------------------------------------------------------------------------


def scikit_learn(task: Problem) -> Task:
    """Predict with std, and fit anew: it has no other way to take in a label."""
    process, kernels = peer("sklearn.gaussian_process"), peer("sklearn.gaussian_process.kernels")
    kernel = kernels.RBF(LENGTHSCALE[task.dim])
    model = process.GaussianProcessRegressor(kernel, alpha=NOISE**2, optimizer=None).fit(task.X, task.y)

    def run() -> None:
        model.predict(task.new[:1], return_std=True)
        model.fit(task.X, task.y)

    return Task(run)


def gpytorch(task: Problem) -> Task:
    """Predict with variance, and a fantasy update, with every approximation switched off."""
    torch, gpytorch = peer("torch"), peer("gpytorch")
    X, y, new, new_y = (torch.from_numpy(array) for array in (task.X, task.y, task.new, task.new_y))
    torch.set_num_threads(1)

    @contextmanager
    def exactly() -> Iterator[None]:
        settings = gpytorch.settings
        exact = settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False)
        with torch.no_grad(), exact, settings.max_cholesky_size(10**6):
            yield

    def prepare() -> Any:
        model = _exact_model(gpytorch, X, y, LENGTHSCALE[task.dim])
        with exactly():
            _ = model(new[:1]).variance  # fills its caches: it refuses to update without
        return model

    def run(model: Any) -> None:
        with exactly():
            _ = model(new[1:2]).variance  # computed when read
            model.get_fantasy_model(new[1:2], new_y[1:2])

    return Task(run, prepare=prepare)


def _exact_model(gpytorch: Any, X: Any, y: Any, lengthscale: float) -> Any:
    class Exact(gpytorch.models.ExactGP):  # type: ignore[misc]
        def __init__(self, likelihood: Any) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.RBFKernel()
            self.covar_module.lengthscale = lengthscale

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = NOISE**2
    return Exact(likelihood).double().eval()
