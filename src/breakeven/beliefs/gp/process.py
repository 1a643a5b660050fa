"""The belief that f is a Gaussian process: checks, the schedule of fits, and the posterior behind them."""

from collections.abc import Sequence
from math import sqrt
from typing import Any, Literal, Self

import msgspec
import numpy as np

from breakeven import theory
from breakeven.beliefs.gp.block import Block
from breakeven.beliefs.gp.capacity import Capacity, Engine
from breakeven.beliefs.gp.dictionary import LEAST_TOLERANCE, Dictionary
from breakeven.beliefs.gp.fitting import fit
from breakeven.beliefs.gp.kernels import Kernel, Matern, SquaredExponential
from breakeven.beliefs.gp.parameters import Parameters
from breakeven.beliefs.gp.posterior import Posterior, Solved
from breakeven.beliefs.looks import Looks
from breakeven.errors import expect
from breakeven.values import Prediction, Traits, View

FITS = (None, "after_warmup", "every_label", "growing")
CAPACITIES = ("exact", "auto")
TOLERANCE = 1e-8
GROWTH = 1.2  # "growing" fits again at so many times the labels of the last fit

Fit = Literal["after_warmup", "every_label", "growing"] | None


class SolvedView(View):
    """A rule's view of one arrival, with the solve behind it."""

    solved: Solved | None = None


class BlockLooks:
    """The views of a block of arrivals."""

    def __init__(self, belief: "GaussianProcess", engine: Engine, block: Block) -> None:
        self._belief, self._engine, self._block = belief, engine, block
        self._parameters, self._awaited = engine.parameters, engine.awaited

    def look(self, i: int) -> View:
        """The view of arrival i; what enters the factor is solved again, alone."""
        block = self._block
        return self._belief.view(float(block.means[i]), float(block.variances[i]), block.narrowed(i))

    def asked(self, i: int) -> None:
        """Narrow the arrivals behind i."""
        self._block.ask(i)

    def told(self, i: int, y: float) -> bool:
        """Move the arrivals behind i, unless a fit, another engine or labels awaited make that too little."""
        now = self._belief.engine
        if now is not self._engine or now.parameters is not self._parameters or self._awaited:
            return False
        self._block.tell(i, y)
        return True


class GaussianProcess:
    """A smooth f over `dim` numbers, with labels y = f(x) + noise.

    `kernel` is by default a squared exponential with one lengthscale per dimension. `noise_std=None` fits the
    noise, `mean="fit"` the mean; both need a `fit`: "after_warmup" (once), "every_label", or "growing"
    (again whenever the labels grew by a fifth). With `fit=None` everything stays as given.

    `capacity="auto"` goes over to a dictionary of points where that is cheaper, so that an arrival's cost
    stops growing; `tolerance` is the share of the prior variance that it may lose of a label's point.

    >>> belief = GaussianProcess(dim=1, noise_std=0.1)
    >>> round(belief.learn(belief.point(0.0), 2.0).mean, 3)
    1.98
    """

    def __init__(
        self,
        dim: int,
        noise_std: float | None,
        kernel: Kernel | None = None,
        mean: float | Literal["fit"] = 0.0,
        fit: Fit = None,
        capacity: Literal["exact", "auto"] = "exact",
        tolerance: float = TOLERANCE,
    ) -> None:
        self.dim = expect.whole("dim", dim, least=1)
        self.fit_schedule: Fit = expect.one_of("fit", fit, FITS)
        kernel = SquaredExponential(lengthscale=(1.0,) * self.dim) if kernel is None else kernel
        self.kernel = _checked_kernel(kernel, self.dim)
        self.noise_std = None if noise_std is None else expect.positive("noise_std", noise_std)
        self.mean = mean if isinstance(mean, str) and mean == "fit" else expect.finite("mean", mean)
        if fit is None and self.noise_std is None:
            expect.refuse("noise_std", "a positive number, because fit=None fits nothing", None)
        if fit is None and self.mean == "fit":
            expect.refuse("mean", "a number, because fit=None fits nothing", mean)
        self.capacity = expect.one_of("capacity", capacity, CAPACITIES)
        self.tolerance = expect.number("tolerance", tolerance, LEAST_TOLERANCE, 1.0)
        self._fitted_at = 0
        self._capacity = Capacity(self.tolerance)
        self._posterior: Engine = Posterior(self.dim, self._start())
        self._note_parameters()

    def _start(self) -> Parameters:
        """Before any fit: a noise to be fitted starts at a tenth of the prior std, a mean at 0."""
        guess = 0.1 * sqrt(self.kernel.amplitude)
        mean = 0.0 if isinstance(self.mean, str) else self.mean
        return Parameters(self.kernel, guess if self.noise_std is None else self.noise_std, mean)

    def _note_parameters(self) -> None:
        now = self._posterior.parameters
        self._noise_std = now.noise_std
        self.traits = Traits(
            noise_std=now.noise_std,
            exponent=now.kernel.exponent(self.dim),
            unit=theory.gp_unit(now.noise_std),
            prior_std=sqrt(now.kernel.amplitude),
            dim=self.dim,
        )

    @property
    def parameters(self) -> Parameters:
        """Kernel, noise and mean as they are now."""
        return self._posterior.parameters

    @property
    def engine(self) -> Engine:
        """What computes the posterior: the exact one, or a dictionary."""
        return self._posterior

    @property
    def labels(self) -> int:
        """Labels told or learnt, and not withdrawn."""
        return len(self._posterior.ids)

    # -- points ----------------------------------------------------------------------------------

    def point(self, x: Any) -> Any:
        """Check a row of numbers."""
        return expect.vector("x", x, self.dim)

    def points(self, X: Any) -> Sequence[Any]:
        """Check rows of numbers."""
        return [row.copy() for row in expect.matrix("X", X, self.dim)]  # rows of their own: they are kept

    def plain(self, point: Any) -> Any:
        """The point as a tuple of floats."""
        return tuple(point.tolist())

    def recall(self, plain: Any) -> Any:
        """A point, read back from storage."""
        return self.point(plain)

    def arrive(self, point: Any, view: View | None = None) -> None:
        """A process has no types to count."""

    # -- asking ----------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The std of f there, awaited labels counted, and the prediction."""
        solved = self._posterior.solve(point)
        view = self.view(solved.mean, solved.variance, solved.narrowed)
        view.solved = solved
        return view

    def view(self, mean: float, variance: float, narrowed: float) -> SolvedView:
        """What a rule sees at a point with these numbers."""
        prediction = Prediction(mean, sqrt(variance), self._noise_std)
        labels = self.labels + self._posterior.awaited
        view = SolvedView(sqrt(narrowed), prediction, None, labels, self.traits)
        if isinstance(self._posterior, Dictionary):
            view.stretch = self._posterior.certificate.stretch
        return view

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at a block of points by one triangular solve."""
        block = self._posterior.block(np.array(points).reshape(len(points), self.dim))
        return BlockLooks(self, self._posterior, block)

    def predict(self, point: Any) -> Prediction:
        """The posterior mean and std of f, given the labels told."""
        solved = self._posterior.solve(point, awaited=False)
        return Prediction(solved.mean, sqrt(solved.variance), self._noise_std)

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions at many points, by matrix operations."""
        means, variances = self._posterior.solve_many(np.array(points).reshape(len(points), self.dim))
        pairs = zip(means.tolist(), np.sqrt(variances).tolist(), strict=True)
        return [Prediction(mean, std, self._noise_std) for mean, std in pairs]

    # -- events ----------------------------------------------------------------------------------

    def expect(self, id: str | None, point: Any, view: View | None = None) -> None:
        """A label is awaited; it narrows the uncertainty at once."""
        solved = view.solved if isinstance(view, SolvedView) and view.solved else self._posterior.solve(point)
        self._posterior.expect(id, point, solved)

    def tell(self, id: str | None, point: Any, y: float) -> Prediction:
        """An awaited label came."""
        mean, variance = self._posterior.tell(id, y)
        self._choose_engine()
        return Prediction(mean, sqrt(variance), self._noise_std)

    def _choose_engine(self) -> None:
        if self.capacity == "auto":
            self._posterior = self._capacity.choose(self._posterior)

    def correct(self, id: str, point: Any, old: float, new: float) -> None:
        """A label told earlier changes its value."""
        self._posterior.correct(id, new)

    def withdraw(self, id: str, point: Any, y: float | None) -> None:
        """A label goes, awaited or told."""
        if y is None:
            self._posterior.withdraw_awaited(id)
        else:
            self._posterior.withdraw_told(id)
            self._choose_engine()

    def learn(self, point: Any, y: float, id: str | None = None) -> Prediction:
        """A label nobody asked for."""
        self.expect(id, point)
        return self.tell(id, point, y)

    # -- fitting ---------------------------------------------------------------------------------

    @property
    def needs_warmup(self) -> bool:
        """Without one, "after_warmup" would wait for ever."""
        return self.fit_schedule == "after_warmup"

    def fit_due(self, *, warm: bool) -> bool:
        """Whether the schedule asks for a fit now.

        "growing" waits for as many labels as there are parameters at least.
        """
        match self.fit_schedule:
            case "every_label":
                return self.labels > 0
            case "after_warmup":
                return warm and self._fitted_at == 0
            case "growing":
                return warm and self.labels >= max(self.dim + 2, GROWTH * self._fitted_at)
        return False

    def fit(self, random: "np.random.Generator") -> dict[str, Any]:
        """The parameters of maximal marginal likelihood for the labels told so far."""
        return fit(
            self._posterior.X,
            self._posterior.y,
            self.parameters,
            random,
            fit_noise=self.noise_std is None,
            fit_mean=self.mean == "fit",
        ).plain()

    def adopt(self, parameters: dict[str, Any]) -> None:
        """Go on with these parameters."""
        self._posterior.adopt(_checked_parameters(parameters, self.dim))
        self._choose_engine()
        self._fitted_at = self.labels
        self._note_parameters()

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """The parameters in use, and how likely they make the labels."""
        return {
            "dim": self.dim,
            **self.parameters.plain(),
            "fit": self.fit_schedule,
            "log_likelihood": self._posterior.log_likelihood(),
            **self._engine_words(),
        }

    def _engine_words(self) -> dict[str, Any]:
        """Where not all is exact: the dictionary, and its certificate as of now."""
        if not isinstance(self._posterior, Dictionary):
            return {}
        certificate = self._posterior.certificate
        return {
            "dictionary": self._posterior.rank,
            "tolerance": self.tolerance,
            "kappa": certificate.kappa,
            "stretch": certificate.stretch,
        }

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` gave."""
        return cls(**{**config, "kernel": msgspec.convert(config["kernel"], Kernel)})

    def config(self) -> dict[str, Any]:
        """The arguments it was made with."""
        return {
            "dim": self.dim,
            "noise_std": self.noise_std,
            "kernel": msgspec.to_builtins(self.kernel),
            "mean": self.mean,
            "fit": self.fit_schedule,
            "capacity": self.capacity,
            "tolerance": self.tolerance,
        }

    def state(self) -> dict[str, Any]:
        """The posterior, as plain data."""
        return {
            "fitted_at": self._fitted_at,
            "tried_at": self._capacity.tried_at,
            "dictionary": isinstance(self._posterior, Dictionary),
            **self._posterior.state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._fitted_at = state["fitted_at"]
        self._capacity.tried_at = state["tried_at"]
        if state["dictionary"]:
            self._posterior = Dictionary(self.dim, self._start(), self.tolerance)
        else:
            self._posterior = Posterior(self.dim, self._start())
        self._posterior.load(state)
        self._note_parameters()


def _checked_parameters(plain: dict[str, Any], dim: int) -> Parameters:
    try:
        parameters = Parameters.of(plain)
    except msgspec.ValidationError as error:
        expect.refuse("parameters", "kernel, noise_std and mean", str(error), described=True)
    _checked_kernel(parameters.kernel, dim)
    expect.positive("noise_std", parameters.noise_std)
    expect.finite("mean", parameters.mean)
    return parameters


def _checked_kernel(kernel: Any, dim: int) -> Kernel:
    if not isinstance(kernel, SquaredExponential | Matern):
        expect.refuse("kernel", "a SquaredExponential or a Matern", kernel)
    if isinstance(kernel.lengthscale, tuple) and len(kernel.lengthscale) != dim:
        expect.refuse("kernel", f"one lengthscale, or one for each of {dim} dimensions", kernel.lengthscale)
    return kernel
