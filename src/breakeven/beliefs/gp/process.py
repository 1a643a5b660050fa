"""The belief that f is a Gaussian process: checks, answers, labels, and the schedule of fits.

What it needs from linear algebra is a solver; `capacity.py` chooses it. How its parameters are found is in
`fitting.py`, and which labels lie before a change in `evidence.py`.
"""

from collections.abc import Sequence
from math import erfc, inf, sqrt
from typing import Any, Literal, Self

import msgspec
import numpy as np

from breakeven import theory
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
from breakeven.beliefs.gp.capacity import Label, SolverChoice
from breakeven.beliefs.gp.dictionary import LEAST_TOLERANCE
from breakeven.beliefs.gp.evidence import labels_before_change
from breakeven.beliefs.gp.exact import ExactSolver
from breakeven.beliefs.gp.first_answers import first_answer
from breakeven.beliefs.gp.fitting import run_job
from breakeven.beliefs.gp.kernels import (
    LASTING,
    Kernel,
    KernelName,
    Parameters,
    SquaredExponential,
    checked_kernel,
    checked_parameters,
)
from breakeven.beliefs.gp.likelihood import Prior
from breakeven.beliefs.gp.reservoir import Reservoir, lesson_share, saving
from breakeven.beliefs.gp.solver import BlockLooks, Solved, SolvedView, Solver, own_variance
from breakeven.beliefs.retreats import RowsRetreats
from breakeven.beliefs.similarity import Hearing, nearest
from breakeven.errors import expect
from breakeven.values import (
    COMING,
    EVEN,
    UNKNOWN,
    Grounds,
    Prediction,
    Saving,
    Traits,
    View,
    checked_level,
    expected_error,
    normal_answer,
)
from breakeven.values.error_costs import standard_quantile

FIT_SCHEDULES = (None, "after_warmup", "every_label", "growing")
CAPACITIES = ("exact", "auto")
DEFAULT_TOLERANCE = 1e-8
FORGOTTEN_AFTER = 20.0  # half-lives after which a label is dropped

FitSchedule = Literal["after_warmup", "every_label", "growing"] | None


class MadeOfFields(msgspec.Struct):
    """The arguments of a process that are not single numbers or words, read from plain data."""

    kernel: Kernel | None = None
    prior: Prior | None = None


class GaussianProcess(CopiedFromState, NumberRows):
    """A smooth f over `dim` numbers, with labels y = f(x) + noise.

    `kernel` is by default a squared exponential with one lengthscale per dimension. `noise_std=None` fits the
    noise, `mean="fit"` the mean; both need a `fit`: "after_warmup" (once), "every_label", or "growing"
    (again whenever the labels grew by a fifth). With `fit=None` everything stays as given.

    `capacity="auto"` goes over to a dictionary of points where that is cheaper, so that an arrival's cost
    stops growing; `tolerance` is the share of the prior variance that it may lose of a label's point.

    A `prior` of the kernel's parameters takes the arrivals' own scale into account, and the amplitude at its
    upper end: with it labels need no warm-up before a fit. `forgetting` is a half-life in rounds: whatever
    labels say of f fades with their age, so the rules ask again when the world has moved. With "fit" every
    fit chooses none or one of a few.

    Until the first fit the scale of the kernel is a placeholder: a labelled point is answered by its labels
    alone, any other by the mean and the spread of all labels told. With three labels or fewer, std is ∞.

    Points, labels and all parameters are in the user's units. `label_scale` is what the λ of the paper's
    threshold counts in: 1 label unit, or with "fit" the std of the labels at the first fit. `level` is which
    quantile of the label is answered: ½, the median, unless answers too low and too high cost differently.

    >>> belief = GaussianProcess(dim=1, noise_std=0.1)
    >>> round(belief.learn(belief.point(0.0), 2.0).mean, 3)
    1.98
    """

    def __init__(
        self,
        dim: int,
        noise_std: float | None,
        kernel: Kernel | KernelName | None = None,
        mean: float | Literal["fit"] = 0.0,
        fit: FitSchedule = None,
        capacity: Literal["exact", "auto"] = "exact",
        tolerance: float = DEFAULT_TOLERANCE,
        prior: Prior | None = None,
        forgetting: float | Literal["fit"] | None = None,
        label_scale: float | Literal["fit"] = 1.0,
        level: float = EVEN,
    ) -> None:
        self.aim(level)
        self.dim = expect.whole("dim", dim, least=1, most=LARGEST_DIM)
        self.fit_schedule: FitSchedule = expect.one_of("fit", fit, FIT_SCHEDULES)
        kernel = SquaredExponential(lengthscale=(1.0,) * self.dim) if kernel is None else kernel
        self.kernel = checked_kernel(kernel, self.dim)
        self.noise_std = None if noise_std is None else expect.positive("noise_std", noise_std)
        self.mean = mean if isinstance(mean, str) and mean == "fit" else expect.finite("mean", mean)
        found = isinstance(label_scale, str) and label_scale == "fit"
        self.label_scale = label_scale if found else expect.positive("label_scale", label_scale)
        if fit is None and self.noise_std is None:
            expect.refuse("noise_std", "a positive number, because fit=None fits nothing", None)
        if fit is None and self.mean == "fit":
            expect.refuse("mean", "a number, because fit=None fits nothing", mean)
        if fit is None and found:
            expect.refuse("label_scale", "a number, because fit=None fits nothing", label_scale)
        self.capacity = expect.one_of("capacity", capacity, CAPACITIES)
        self.tolerance = expect.number("tolerance", tolerance, LEAST_TOLERANCE, 1.0)
        if not (prior is None or isinstance(prior, Prior)):
            expect.refuse("prior", "a Prior, or None", prior)
        if fit is None and prior is not None:
            expect.refuse("prior", "None, because fit=None fits nothing", prior)
        self.prior = prior
        self.forgetting = None if forgetting is None else checked_half_life(forgetting)
        if fit is None and self.forgetting == "fit":
            expect.refuse("forgetting", "a number, because fit=None fits nothing", forgetting)
        self._clock = 0  # arrivals so far
        self._fitted = False  # to enough labels to say how large errors are
        self._fitted_at = 0  # labels that the last fit looked at
        self._changes = 0  # labels told, withdrawn and reopened since
        self._retreats = RowsRetreats()
        self._choice = SolverChoice(self.tolerance)
        self._first = self._found = self._start()  # as found by the last fit, before alarms widened them
        self.solver: Solver = ExactSolver(self._width, self._first)
        self._note_parameters()

    @property
    def _width(self) -> int:
        """Numbers in a point as a solver has it: where labels fade, its time comes last."""
        return self.dim + (self.forgetting is not None)

    def _at(self, point: Any, time: float) -> Any:
        """A point as the solver stores it: with its time at the end, where labels fade."""
        return point if self.forgetting is None else np.append(point, float(time))

    def _start(self) -> Parameters:
        """Before any fit: a noise to be fitted starts at a tenth of the prior std, a mean at 0."""
        guess = 0.1 * sqrt(self.kernel.amplitude)
        mean = 0.0 if isinstance(self.mean, str) else self.mean
        noise_std = guess if self.noise_std is None else self.noise_std
        scale = None if isinstance(self.label_scale, str) else self.label_scale
        half_life = LASTING if isinstance(self.forgetting, str) else self.forgetting
        return Parameters(self.kernel, noise_std, mean, half_life, scale)

    def _note_parameters(self) -> None:
        now = self.solver.parameters
        self._noise_std = now.noise_std
        self.traits = Traits(
            noise_std=now.noise_std,
            exponent=now.kernel.exponent(self.dim),
            unit=theory.gp_unit(now.noise_std),
            prior_std=sqrt(now.kernel.amplitude),
            dim=self.dim,
            label_scale=1.0 if now.label_scale is None else now.label_scale,
            noise_known=self._fitted or self.noise_std is not None,
        )
        self._unfitted = self.fit_schedule is not None and now == self._first

    @property
    def parameters(self) -> Parameters:
        """Kernel, noise and mean as they are now."""
        return self.solver.parameters

    @property
    def labels(self) -> int:
        """Labels told or learnt, and not withdrawn."""
        return self.solver.labels

    @property
    def asked(self) -> int:
        """Labels that count: those told or learnt, and those awaited."""
        return self.solver.labels + self.solver.awaited

    def aim(self, level: float) -> None:
        """Answer this quantile of the label from now on."""
        self.level = checked_level(level)
        self.shift = standard_quantile(self.level)  # by which the answer lies above the mean, in label stds

    # -- asking ----------------------------------------------------------------------------------

    def look(self, point: Any) -> View:
        """The std of f there, awaited labels counted, and the prediction."""
        solver = self.solver
        solved = solver.solve(self._at(point, self._clock + 1))
        prediction = self._predicted(point, solved)
        labels = solver.labels + solver.awaited
        return SolvedView(
            sqrt(solved.narrowed),
            prediction,
            None,
            labels,
            self.traits,
            stretch=solver.stretch,
            solved=solved,
            point=point,
            process=self,
        )

    def look_many(self, points: Sequence[Any]) -> Looks:
        """Look at a block of points by one triangular solve.

        At each in turn where arrivals are watched, and before the first fit.
        """
        if self.solver.reservoir or self._unfitted or not len(points):
            return OneByOne(self, points)
        rows = [self._at(point, self._clock + 1 + i) for i, point in enumerate(points)]
        return BlockLooks(self, np.array(rows))

    def predict(self, point: Any) -> Prediction:
        """The posterior mean and std of f, given the labels told."""
        solved = self.solver.solve(self._at(point, self._clock), awaited=False)
        return self._predicted(point, solved)

    def _predicted(self, point: Any, solved: Solved) -> Prediction:
        if self._unfitted:
            return self._before_a_fit(point, solved)
        return normal_answer(solved.mean, sqrt(solved.variance), self._noise_std, self.shift)

    def predict_many(self, points: Sequence[Any]) -> list[Prediction]:
        """The predictions at many points, by matrix operations."""
        if self._unfitted:
            return [self.predict(point) for point in points]
        rows = np.array([self._at(point, self._clock) for point in points]).reshape(len(points), self._width)
        means, variances = self.solver.solve_many(rows)
        pairs = zip(means.tolist(), np.sqrt(variances).tolist(), strict=True)
        return [normal_answer(mean, std, self._noise_std, self.shift) for mean, std in pairs]

    def _before_a_fit(self, point: Any, solved: Solved) -> Prediction:
        """What the labels say, while the kernel is a placeholder; their spread has the noise in it."""
        if not self.labels:
            return Prediction(solved.mean, inf, self._noise_std)
        mean, std = first_answer(self.solver, point, self.noise_std)
        return normal_answer(mean, std, self.noise_std or 0.0, self.shift)

    def saving(self, point: Any, solved: Solved, noise_std: float) -> Saving:
        """What a label of this noise would take off the errors; see docs/value.md."""
        if self.prior and self.labels < ENOUGH_TO_FIT:
            return UNKNOWN if self.asked < ENOUGH_TO_FIT else COMING
        solver = self.solver
        assert solver.reservoir, "watch was called"
        return saving(
            solved.narrowed,
            solver.reach(self._at(point, self._clock + 1), solved),
            solver.reservoir.variances,
            noise_std * noise_std,
            lesson_share(self._unknowns, max(self.asked, 1)) if self.fit_schedule else 0.0,
            solver.parameters.kernel.amplitude,
            solver.parameters.half_life,
            expected_error(self.level),
        )

    def grounds(self, point: Any, before: int, told: Remembering) -> Grounds:
        """The labels nearest to a point in lengthscales, and how fast f may vary along each feature."""
        solver = self.solver
        X, hearing = solver.X[:, : self.dim], None
        if solver.labels > 1 and not self._unfitted:
            spreads = X.std(axis=0)
            heard = self.parameters.kernel.weights(self.dim) * spreads**2
            hearing = Hearing.of(heard / max(float(heard.sum()), 1e-300), spreads)
        near = nearest(hearing, X, solver.y, solver.key_at, point, before)
        return Grounds(solver.labels, near, () if hearing is None else hearing.features)

    @property
    def _unknowns(self) -> int:
        """How many parameters are fitted."""
        scales = 1 if isinstance(self.kernel.lengthscale, float) else self.dim
        return scales + 1 + (self.mean == "fit") + (self.noise_std is None)

    # -- events ----------------------------------------------------------------------------------

    def watch(self, most: int) -> None:
        """Keep a sample of at most `most` arrivals from now on, to value labels by; 0 ends that."""
        kept = self.solver.reservoir
        if (kept.most if kept else 0) != most:
            self.solver.watch(Reservoir(self._width, EvenSample(most)) if most else None)

    def arrive(self, point: Any, view: View | None = None) -> None:
        """Count an arrival, which may stand for arrivals to come. Where the point is None, only time passes.

        The sample of past arrivals is brought to the next round, in which it will be used.
        """
        self._clock += 1
        solver = self.solver
        if not solver.reservoir:
            return
        if point is None:
            solver.reservoir.skip()
        else:
            place = self._at(point, self._clock)
            solver.meet(place, self._solved(place, view))
        if (half_life := solver.parameters.half_life) is not None:
            solver.age(2.0 ** (-1.0 / half_life), self._clock + 1)

    def _solved(self, place: Any, view: View | None) -> Solved:
        """What is known there: as a view of it says, else by a solve."""
        return view.solved if isinstance(view, SolvedView) and view.solved else self.solver.solve(place)

    def ask(
        self,
        key: Key,
        point: Any,
        view: View | None = None,
        noise_std: float | None = None,
        age: int = 0,
    ) -> None:
        """A label is awaited; it narrows the uncertainty at once."""
        place = self._at(point, self._clock - age)
        self.solver.ask(key, place, self._solved(place, view), own_variance(noise_std))

    def tell(self, key: Key, point: Any, y: float, noise_std: float | None = None) -> Prediction:
        """An awaited label came, perhaps from another labeller than was asked."""
        solver = self.solver
        if noise_std is not None:
            place, _ = solver.withdraw_awaited(key)
            solver.ask(key, place, solver.solve(place), own_variance(noise_std))
        mean, variance = solver.tell(key, y)
        self._changes += 1
        self._forget_if_due()
        self._choose_solver()
        if self._unfitted or self.forgetting is not None or self.solver is not solver:
            return self.predict(point)  # the label may be old by now, or another solver answers
        return normal_answer(mean, sqrt(variance), self._noise_std, self.shift)

    def _forget_if_due(self) -> None:
        """Drop labels too old to matter, once they are more than half of all."""
        if self.forgetting is not None and np.count_nonzero(self._outdated()) * 2 > self.labels:
            self.solver.drop(self._outdated())

    @property
    def _oldest(self) -> float:
        """The time of the oldest labels that matter."""
        assert self.parameters.half_life is not None
        return self._clock - FORGOTTEN_AFTER * self.parameters.half_life

    def _outdated(self) -> Any:
        """Which labels are too old to matter, for ever: a half-life that is fitted may grow again."""
        if not isinstance(self.forgetting, float):
            return False
        return self.solver.X[:, -1] < self._oldest

    def _choose_solver(self) -> None:
        if self.capacity == "auto":
            self.solver = self._choice.choose(self.solver, self._width)

    def correct(self, key: Key, point: Any, old: float, new: float) -> None:
        """A label told earlier changes its value. A label that was forgotten stays forgotten."""
        if not self._retreats.correct(key, new) and self._knows(key):
            self.solver.correct(key, new)

    def withdraw(self, key: Key, point: Any, y: float | None) -> None:
        """A label goes, awaited or told."""
        if y is None:
            self.solver.withdraw_awaited(key)
        elif self._retreats.take(key) is None and self._knows(key):
            self.solver.withdraw_told(key)
            self._changes += 1
            self._choose_solver()

    def reopen(self, key: Key, point: Any, y: float) -> None:
        """A label told earlier is awaited again; a forgotten one with the greatest age that still matters."""
        if (aside := self._retreats.take(key)) is not None:
            _, place, noise, _ = aside
        elif self._knows(key):
            place, noise = self.solver.withdraw_told(key)
            self._changes += 1
            self._choose_solver()
        else:
            place, noise = self._at(point, self._oldest), 0.0
        self.solver.ask(key, place, self.solver.solve(place), noise)

    def _knows(self, key: Key) -> bool:
        """Whether a label told and not set aside is still there: it may be forgotten."""
        return self.forgetting is None or self.solver.knows(key)

    def learn(
        self, point: Any, y: float, key: Key = None, noise_std: float | None = None, age: int = 0
    ) -> Prediction:
        """A label nobody asked for, of an arrival `age` rounds ago."""
        place = self._at(point, self._clock - age)
        self.solver.ask(key, place, self.solver.solve(place), own_variance(noise_std))
        return self.tell(key, point, y)

    def release(self, key: Key) -> None:
        """Nobody will name this label any more."""
        if not self._retreats.released(key):
            self.solver.release(key)

    # -- tests of its claims ---------------------------------------------------------------------

    def rank(
        self, point: Any, y: float, noise_std: float | None = None, age: int = 0
    ) -> tuple[float, float] | None:
        """The normal probability of a label below y; nothing is claimed before the first fit."""
        if self.fit_schedule is not None and not self._fitted:
            return None
        solved = self.solver.solve(self._at(point, self._clock - age), awaited=False)
        variance = solved.variance + self.solver.noise_of(own_variance(noise_std))
        return 0.5 * erfc((solved.mean - y) / sqrt(2.0 * variance)), 0.0

    def remember(self, *, labels: bool) -> None:
        """Nothing to do: a process keeps its labels."""

    def outdated(self) -> int:
        """The labels before the change that explains them best, if one does."""
        return labels_before_change(self.solver)

    def give_way(self, key: Key, outdated: int, widened: float) -> None:
        """Set labels aside, the first told, and the past arrivals with them; or scale all claims up.

        A scale leaves the answers as they are. It lasts until the next fit; where nothing is fitted, until a
        change is found.
        """
        assert key is not None
        labels = self.solver.told_labels()
        anew = outdated > 0 and self.fit_schedule is None
        self._retreats.set_aside(key, labels[:outdated], 1.0 if anew else widened, anew=anew)
        self._rebuild(labels[outdated:])
        self._changes += outdated
        if outdated and (kept := self.solver.reservoir):
            self.solver.watch(Reservoir(self._width, EvenSample(kept.most)))

    def return_to(self, key: Key) -> None:
        """Take back labels and claims that were given up because of this label.

        Where a later alarm still stands, what lies before its change stays aside.
        """
        labels = self._retreats.come_back(key)
        self._rebuild(labels + self.solver.told_labels())
        self._changes += len(labels)

    def _rebuild(self, labels: list[Label]) -> None:
        """Begin anew with these labels, and claims as wide as the alarms that stand make them."""
        parameters = self._found.scaled(self._retreats.widened)
        self.solver = self._choice.rebuilt(self.solver, self._width, parameters, labels)
        self._choose_solver()
        self._note_parameters()

    # -- fitting ---------------------------------------------------------------------------------

    @property
    def needs_warmup(self) -> bool:
        """Whether a warm-up is needed: without one, "after_warmup" would wait for ever."""
        return self.fit_schedule == "after_warmup"

    def fit_due(self, *, warm: bool) -> bool:
        """Whether the schedule asks for a fit now.

        Without a prior, "growing" waits for dim + 2 labels: fewer cannot tell the parameters apart.
        """
        if self.fit_schedule is None or self.labels == 0:
            return False
        match self.fit_schedule:
            case "every_label":
                return self._changes > 0
            case "after_warmup":
                return warm and self._fitted_at == 0
            case "growing":
                first = 1 if self.prior else self.dim + 2
                changed = self._fitted_at + self._changes >= REFIT_GROWTH * self._fitted_at
                return warm and self.labels >= first and changed
        return False

    def fit_job(self) -> dict[str, Any]:
        """The labels told so far, their points and noises, and what is to be fitted; arrays as their bytes.

        A fit takes time with the cube of its labels; with a dictionary it looks at 1,000 of them at most.
        """
        solver = self.solver
        watched = solver.reservoir.points if solver.reservoir and solver.reservoir.size > 1 else None
        return {
            "width": self._width,
            "X": solver.X.tobytes(),
            "y": solver.y.tobytes(),
            "noise": solver.noise.tobytes(),
            "arrivals": None if watched is None else watched.tobytes(),
            "most": solver.labels_for_a_fit,
            "start": self.parameters.plain(),
            "fit_noise": self.noise_std is None,
            "fit_mean": self.mean == "fit",
            "prior": msgspec.to_builtins(self.prior),
            "fitted": self._fitted,
            "fit_half_life": self.forgetting == "fit",
        }

    @classmethod
    def fit(cls, job: dict[str, Any], random: "np.random.Generator") -> dict[str, Any]:
        """The parameters of maximal marginal likelihood for the labels of a job."""
        return run_job(job, random).plain()

    def adopt(self, parameters: dict[str, Any], labels: int | None = None) -> None:
        """Go on with these parameters; labels told and withdrawn since they were fitted count as changes."""
        fitted = checked_parameters(parameters, self.dim, self.forgetting)
        labels = self.labels if labels is None else expect.whole("labels", labels)
        changes, before = abs(self.labels - labels), self.labels
        if np.any(self._outdated()):
            self.solver.drop(self._outdated())
        self.solver.adopt(fitted)
        self._found = fitted
        self._retreats.end_widening()
        self._choose_solver()
        self._fitted, self._changes = self._fitted or labels >= ENOUGH_TO_FIT, changes
        self._fitted_at = max(labels - (before - self.labels), 0)  # without those dropped just now
        self._note_parameters()

    # -- keeping ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """The parameters in use, how likely they make the labels, and what is approximated."""
        parameters = self.parameters.plain()
        if parameters["half_life"] == LASTING:
            parameters["half_life"] = None
        return {
            "dim": self.dim,
            **parameters,
            "fit": self.fit_schedule,
            "log_likelihood": self.solver.log_likelihood(),
            **self.solver.describe(),
        }

    def detach(self) -> None:
        """Begin a new stream: labels lose their keys, awaited ones go."""
        self.solver.detach()
        self._retreats = RowsRetreats(before=self._retreats.widened)

    @classmethod
    def of(cls, config: dict[str, Any]) -> Self:
        """A new belief from what `config` gave."""
        made = msgspec.convert(config, MadeOfFields)
        return cls(**{"noise_std": None, **config, "kernel": made.kernel, "prior": made.prior})

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
            "label_scale": self.label_scale,
            **({} if self.level == EVEN else {"level": self.level}),
        }

    def state(self) -> dict[str, Any]:
        """The labels and all that is known of them, as plain data."""
        return {
            "clock": self._clock,
            "fitted": self._fitted,
            "fitted_at": self._fitted_at,
            "changes": self._changes,
            "tried_at": self._choice.tried_at,
            "parameters": self.parameters.plain(),
            "found": self._found.plain(),
            "kind": self.solver.kind,
            "solver": self.solver.state(),
            "retreats": self._retreats.plain(),
            "widened_before": self._retreats.before,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave; raises where its parts do not fit together."""
        counts = [expect.whole(name, state[name]) for name in ("clock", "fitted_at", "changes", "tried_at")]
        fitted = expect.truth("fitted", state["fitted"])
        parameters = checked_parameters(state["parameters"], self.dim, self.forgetting)
        found = parameters
        if (before_alarms := state.get("found", state["parameters"])) != state["parameters"]:
            found = checked_parameters(before_alarms, self.dim, self.forgetting)
        before = state.get("widened_before", 1.0)
        retreats = RowsRetreats.of(state.get("retreats", []), self._width, before)
        solver, kind = self.solver, state["kind"]
        if solver.kind != kind:
            solver = self._choice.make(kind, self._width, parameters)
        solver.load(state["solver"], parameters)  # all or nothing
        self.solver, self._fitted, self._found, self._retreats = solver, fitted, found, retreats
        self._clock, self._fitted_at, self._changes, self._choice.tried_at = counts
        self._note_parameters()


def checked_half_life(value: Any) -> float | Literal["fit"]:
    """A half-life, or how to come by one.

    >>> checked_half_life(100), checked_half_life("fit")
    (100.0, 'fit')
    """
    if not isinstance(value, str):
        return expect.positive("forgetting", value)
    if value != "fit":
        expect.refuse("forgetting", 'a number, or "fit" to leave it to the labels', value)
    return "fit"


def untuned(
    dim: int, noise_std: float | None = None, kernel: Kernel | KernelName | None = None
) -> GaussianProcess:
    """A process that learns all it needs from its labels, for points of any scale and streams of any length.

    >>> belief = untuned(2)
    >>> belief.mean, belief.fit_schedule, belief.capacity, belief.label_scale
    ('fit', 'growing', 'auto', 'fit')
    """
    return GaussianProcess(
        dim,
        noise_std,
        kernel,
        mean="fit",
        fit="growing",
        capacity="auto",
        prior=Prior(),
        label_scale="fit",
    )
