"""The same round in other libraries: predict at a new point, then take in its label, parameters fixed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from breakeven.bench.gp_problem import LENGTHSCALE, NOISE, Problem
from breakeven.bench.peers import peer
from breakeven.bench.timing import Task


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
