"""The belief that f is a Gaussian process: checks, the schedule of fits, and the posterior behind them."""

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any, Literal, Self

import msgspec
import numpy as np

from breakeven import theory
from breakeven.beliefs.belief import ENOUGH_TO_FIT, REFIT_GROWTH, Looks, OneByOne
from breakeven.beliefs.gp.capacity import Capacity, Engine
from breakeven.beliefs.gp.dictionary import LEAST_TOLERANCE, Dictionary
from breakeven.beliefs.gp.fitting import fit
from breakeven.beliefs.gp.kernels import Kernel, Matern, SquaredExponential
from breakeven.beliefs.gp.parameters import Parameters
from breakeven.beliefs.gp.posterior import Posterior, Solved
from breakeven.beliefs.gp.prior import Prior
from breakeven.beliefs.gp.reservoir import Reservoir
from breakeven.beliefs.gp.savings import lesson_share, saving
from breakeven.beliefs.gp.views import BlockLooks, SolvedView, noise_variance
from breakeven.errors import expect
from breakeven.values import COMING, UNKNOWN, Prediction, Saving, Traits, View

FITS = (None, "after_warmup", "every_label", "growing")
CAPACITIES = ("exact", "auto")
TOLERANCE = 1e-8
FITTED = 1_000  # labels of a dictionary that a fit looks at, at most
REMEMBERED = 20.0  # half-lives after which a label is dropped

Fit = Literal["after_warmup", "every_label", "growing"] | None


class GaussianProcess:
    """A smooth f over `dim` numbers, with labels y = f(x) + noise.

    `kernel` is by default a squared exponential with one lengthscale per dimension. `noise_std=None` fits the
    noise, `mean="fit"` the mean; both need a `fit`: "after_warmup" (once), "every_label", or "growing"
    (again whenever the labels grew by a fifth). With `fit=None` everything stays as given.

    `capacity="auto"` goes over to a dictionary of points where that is cheaper, so that an arrival's cost
    stops growing; `tolerance` is the share of the prior variance that it may lose of a label's point.

    A `prior` of the kernel's parameters takes the arrivals' own scale into account, and the amplitude at its
    upper end: with it labels need no warm-up before a fit. `forgetting` is a half-life in rounds: whatever
    labels say of f fades with their age, so the rules ask again when the world has moved.

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
        prior: Prior | None = None,
        forgetting: float | None = None,
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
        if not (prior is None or isinstance(prior, Prior)):
            expect.refuse("prior", "a Prior, or None", prior)
        if fit is None and prior is not None:
            expect.refuse("prior", "None, because fit=None fits nothing", prior)
        self.prior = prior
        self.forgetting = None if forgetting is None else expect.positive("forgetting", forgetting)
        self._clock = 0  # arrivals so far
        self._fitted_at = 0
        self._changes = 0  # labels told and withdrawn since
        self._capacity = Capacity(self.tolerance)
        self._posterior: Engine = Posterior(self._width, self._start())
        self._note_parameters()

    @property
    def _width(self) -> int:
        """Numbers in a point as an engine has it: where labels fade, its time comes last."""
        return self.dim + (self.forgetting is not None)

    def _at(self, point: Any, time: int) -> Any:
        """A point as an engine has it."""
        return point if self.forgetting is None else np.append(point, float(time))

    def _start(self) -> Parameters:
        """Before any fit: a noise to be fitted starts at a tenth of the prior std, a mean at 0."""
        guess = 0.1 * sqrt(self.kernel.amplitude)
        mean = 0.0 if isinstance(self.mean, str) else self.mean
        noise_std = guess if self.noise_std is None else self.noise_std
        return Parameters(self.kernel, noise_std, mean, self.forgetting)

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

    @property
    def asked(self) -> int:
        """Labels that count: those told or learnt, and those awaited."""
        return len(self._posterior.ids) + self._posterior.awaited

    @property
    def stretch(self) -> float:
        """The exact std lies within this factor of ours, both ways; 1 while nothing is approximated."""
        engine = self._posterior
        return engine.certificate.stretch if isinstance(engine, Dictionary) else 1.0

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

    # -- asking ----------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The std of f there, awaited labels counted, and the prediction."""
        solved = self._posterior.solve(self._at(point, self._clock + 1))
        prediction = Prediction(solved.mean, sqrt(solved.variance), self._noise_std)
        view = SolvedView(sqrt(solved.narrowed), prediction, None, self.asked, self.traits)
        view.stretch, view.solved, view.point, view.process = self.stretch, solved, point, self
        return view

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at a block of points by one triangular solve; at each in turn where arrivals are watched."""
        if self._posterior.reservoir or not len(points):
            return OneByOne(self, points)
        rows = [self._at(point, self._clock + 1 + i) for i, point in enumerate(points)]
        return BlockLooks(self, self._posterior, self._posterior.block(np.array(rows)))

    def predict(self, point: Any) -> Prediction:
        """The posterior mean and std of f, given the labels told."""
        solved = self._posterior.solve(self._at(point, self._clock), awaited=False)
        return Prediction(solved.mean, sqrt(solved.variance), self._noise_std)

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions at many points, by matrix operations."""
        rows = np.array([self._at(point, self._clock) for point in points]).reshape(len(points), self._width)
        means, variances = self._posterior.solve_many(rows)
        pairs = zip(means.tolist(), np.sqrt(variances).tolist(), strict=True)
        return [Prediction(mean, std, self._noise_std) for mean, std in pairs]

    def saving(self, point: Any, solved: Solved, noise_std: float) -> Saving:
        """What a label of this noise would take off the errors; see docs/value.md."""
        if self.prior and self.labels < ENOUGH_TO_FIT:
            return UNKNOWN if self.asked < ENOUGH_TO_FIT else COMING
        engine = self._posterior
        assert engine.reservoir, "watch was called"
        return saving(
            solved.narrowed,
            engine.reach(self._at(point, self._clock + 1), solved),
            engine.reservoir.variances,
            noise_std * noise_std,
            lesson_share(self._unknowns, max(self.asked, 1)) if self.fit_schedule else 0.0,
            inf if self.forgetting is None else self.forgetting,
        )

    @property
    def _unknowns(self) -> int:
        """How many parameters are fitted."""
        scales = 1 if isinstance(self.kernel.lengthscale, float) else self.dim
        return scales + 1 + (self.mean == "fit") + (self.noise_std is None)

    # -- events ----------------------------------------------------------------------------------

    def watch(self, most: int) -> None:
        """Keep a sample of the arrivals from now on, at most so many, to value labels by; 0 ends that."""
        kept = self._posterior.reservoir
        if (kept.most if kept else 0) != most:
            self._posterior.watch(Reservoir(self._width, most) if most else None)

    def arrive(self, point: Any, view: View | None = None) -> None:
        """Count an arrival, and let it stand for those to come."""
        self._clock += 1
        engine = self._posterior
        if engine.reservoir:
            place = self._at(point, self._clock)
            solved = view.solved if isinstance(view, SolvedView) and view.solved else engine.solve(place)
            if self.forgetting is not None:
                amplitude = engine.parameters.kernel.amplitude
                engine.reservoir.fade(2.0 ** (-1.0 / self.forgetting), amplitude, self._clock)
            engine.meet(place, solved)

    def ask(
        self, id: str | None, point: Any, view: View | None = None, noise_std: float | None = None
    ) -> None:
        """A label is awaited; it narrows the uncertainty at once."""
        place = self._at(point, self._clock)
        solved = view.solved if isinstance(view, SolvedView) and view.solved else self._posterior.solve(place)
        self._posterior.ask(id, place, solved, noise_variance(noise_std))

    def tell(self, id: str | None, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """An awaited label came, perhaps from another than was asked."""
        if noise_std is not None:
            self._await_other(id, noise_std)
        mean, variance = self._posterior.tell(id, y)
        self._changes += 1
        self._forget_if_due()
        self._choose_engine()
        if self.forgetting is not None:  # the label may be old by now
            return self.predict(point)
        return Prediction(mean, sqrt(variance), self._noise_std)

    def _await_other(self, id: str | None, noise_std: float) -> None:
        engine = self._posterior
        place = next(x.copy() for other, x, _ in engine.waiting() if other == id)
        engine.withdraw_awaited(id)
        engine.ask(id, place, engine.solve(place), noise_variance(noise_std))

    def _forget_if_due(self) -> None:
        """Drop labels too old to matter, once they are the larger part."""
        if self.forgetting is not None and np.count_nonzero(self._outdated()) * 2 > self.labels:
            self._posterior.drop(self._outdated())

    def _outdated(self) -> Any:
        assert self.forgetting is not None
        return self._posterior.X[:, -1] < self._clock - REMEMBERED * self.forgetting

    def _choose_engine(self) -> None:
        if self.capacity == "auto":
            self._posterior = self._capacity.choose(self._posterior)

    def correct(self, id: str, point: Any, old: float, new: float) -> None:
        """A label told earlier changes its value; one forgotten has none."""
        if self.forgetting is None or id in self._posterior.ids:
            self._posterior.correct(id, new)

    def withdraw(self, id: str, point: Any, y: float | None) -> None:
        """A label goes, awaited or told."""
        if y is None:
            self._posterior.withdraw_awaited(id)
        elif self.forgetting is None or id in self._posterior.ids:
            self._posterior.withdraw_told(id)
            self._changes += 1
            self._choose_engine()

    def learn(
        self, point: Any, y: float, id: str | None = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for, of an arrival so many rounds ago."""
        place = self._at(point, self._clock - age)
        self._posterior.ask(id, place, self._posterior.solve(place), noise_variance(noise_std))
        return self.tell(id, point, y)

    # -- fitting ---------------------------------------------------------------------------------

    @property
    def needs_warmup(self) -> bool:
        """Without one, "after_warmup" would wait for ever."""
        return self.fit_schedule == "after_warmup"

    def fit_due(self, *, warm: bool) -> bool:
        """Whether the schedule asks for a fit now.

        Without a prior "growing" waits for as many labels as there are parameters at least.
        """
        match self.fit_schedule:
            case "every_label":
                return self.labels > 0
            case "after_warmup":
                return warm and self._fitted_at == 0
            case "growing":
                first = 1 if self.prior else self.dim + 2
                changed = self._fitted_at + self._changes >= REFIT_GROWTH * self._fitted_at
                return warm and self.labels >= first and changed
        return False

    def fit_job(self) -> dict[str, Any]:
        """The labels told so far, their points and noises, and what is to be fitted; arrays as their bytes.

        A fit takes time as the cube of the labels. A dictionary is there for many: its fits look at a part.
        """
        engine = self._posterior
        watched = engine.reservoir.points if engine.reservoir and engine.reservoir.size > 1 else None
        return {
            "width": self._width,
            "X": engine.X.tobytes(),
            "y": engine.y.tobytes(),
            "noise": engine.noise.tobytes(),
            "arrivals": None if watched is None else watched.tobytes(),
            "most": FITTED if isinstance(engine, Dictionary) else None,
            "start": self.parameters.plain(),
            "fit_noise": self.noise_std is None,
            "fit_mean": self.mean == "fit",
            "prior": msgspec.to_builtins(self.prior),
        }

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """The parameters of maximal marginal likelihood for the labels of a job."""
        X, y, noise = (
            np.frombuffer(job["X"]).reshape(-1, job["width"]),
            *map(np.frombuffer, (job["y"], job["noise"])),
        )
        some = np.arange(len(y))
        if job["most"] is not None and len(some) > job["most"]:
            some = np.sort(random.choice(some, job["most"], replace=False))
        watched = job["arrivals"]
        return fit(
            X[some],
            y[some],
            Parameters.of(job["start"]),
            random,
            fit_noise=job["fit_noise"],
            fit_mean=job["fit_mean"],
            noise=noise[some],
            prior=msgspec.convert(job["prior"], Prior | None),
            arrivals=None if watched is None else np.frombuffer(watched).reshape(-1, job["width"]),
        ).plain()

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with these parameters."""
        fitted = _checked_parameters(parameters, self.dim, self.forgetting)
        if self.forgetting is not None and self._outdated().any():
            self._posterior.drop(self._outdated())
        self._posterior.adopt(fitted)
        self._choose_engine()
        self._fitted_at, self._changes = self.labels, 0
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
        kernel, prior = msgspec.convert((config["kernel"], config["prior"]), tuple[Kernel, Prior | None])
        return cls(**{**config, "kernel": kernel, "prior": prior})

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
            "prior": msgspec.to_builtins(self.prior),
            "forgetting": self.forgetting,
        }

    def state(self) -> dict[str, Any]:
        """The posterior, as plain data."""
        return {
            "clock": self._clock,
            "fitted_at": self._fitted_at,
            "changes": self._changes,
            "tried_at": self._capacity.tried_at,
            "dictionary": isinstance(self._posterior, Dictionary),
            **self._posterior.state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._clock, self._fitted_at, self._changes = state["clock"], state["fitted_at"], state["changes"]
        self._capacity.tried_at = state["tried_at"]
        if state["dictionary"]:
            self._posterior = Dictionary(self._width, self._start(), self.tolerance)
        else:
            self._posterior = Posterior(self._width, self._start())
        self._posterior.load(state)
        self._note_parameters()


def _checked_parameters(plain: dict[str, Any], dim: int, half_life: float | None) -> Parameters:
    try:
        parameters = Parameters.of(plain)
    except msgspec.ValidationError as error:
        expect.refuse("parameters", "kernel, noise_std and mean", str(error), described=True)
    _checked_kernel(parameters.kernel, dim)
    expect.positive("noise_std", parameters.noise_std)
    expect.finite("mean", parameters.mean)
    if parameters.half_life != half_life:
        expect.refuse("half_life", f"that of the process, {half_life}", parameters.half_life)
    return parameters


def _checked_kernel(kernel: Any, dim: int) -> Kernel:
    if not isinstance(kernel, SquaredExponential | Matern):
        expect.refuse("kernel", "a SquaredExponential or a Matern", kernel)
    if isinstance(kernel.lengthscale, tuple) and len(kernel.lengthscale) != dim:
        expect.refuse("kernel", f"one lengthscale, or one for each of {dim} dimensions", kernel.lengthscale)
    return kernel
