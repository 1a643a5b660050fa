"""The nine problems of the paper's experiments: streams, beliefs and settings, in both recipes.

`text` follows what the paper says, `figures` what its published figures were computed with. A trial is a
stream of a recipe; trials from `HELD_OUT` on are never reported on, so a scale may be tuned on them.
"""

from functools import lru_cache
from typing import Literal

import msgspec
import numpy as np

from breakeven.beliefs import Belief, Cells, GaussianProcess, Prior, TypeMeans
from breakeven_research import datasets
from breakeven_research.datasets import Stream
from breakeven_research.experiments.runs.published_process import Fits, PublishedProcess

Recipe = Literal["text", "figures"]
RECIPES: tuple[Recipe, ...] = ("figures", "text")
HELD_OUT = 100  # trials from here on are for tuning


class Price(msgspec.Struct, frozen=True):
    """A label cost, and the published scales λ of the algorithm and of its naive form at that cost."""

    label_cost: float
    scale: float
    naive_scale: float | None = None

    @property
    def tag(self) -> str:
        """As part of a name.

        >>> Price(10.0, 1.0).tag
        'b10'
        """
        return f"b{self.label_cost:g}"


class Problem:
    """What every problem knows; each kind says how its streams and beliefs are made."""

    name: str
    title: str
    trials: int
    prices: tuple[Price, ...]
    algorithm: str

    @property
    def warmup(self) -> int:
        """First labels that every method but the silent one buys."""
        return 0

    def stream(self, recipe: Recipe, trial: int) -> Stream:
        """The stream of a trial, counted from 0."""
        raise NotImplementedError

    def belief(self, recipe: Recipe, fits: Fits) -> Belief:
        """What the algorithm and its baselines believe at first."""
        raise NotImplementedError

    def silent_belief(self) -> Belief:
        """What someone believes who never buys a label."""
        raise NotImplementedError

    def value_belief(self) -> Belief:
        """What `Value` goes by, with nothing set for this problem but its dimension and its noise."""
        raise NotImplementedError

    def naive_belief(self, recipe: Recipe) -> Belief | None:
        """Algorithm 1 over halved axes; None where the points are types already."""
        return None

    def price(self, label_cost: float) -> Price:
        """The settings at a label cost."""
        return next(price for price in self.prices if price.label_cost == label_cost)


# -- the nine ------------------------------------------------------------------------------------------------


DELTA = 0.01
PRIOR = Prior()
Arrivals = Literal["uniform", "lopsided"]
Corners = tuple[tuple[float, ...], tuple[float, ...]]


class Discrete(Problem):
    """K types, uniform or lopsided."""

    algorithm = "Algorithm 1"
    trials = 10
    rounds = 10_000

    def __init__(self, types: int, arrivals: Arrivals, prices: tuple[Price, ...]) -> None:
        self.types, self.arrivals, self.prices = types, arrivals, prices
        self.name = f"discrete-k{types}-{arrivals}"
        self.title = f"{types} types, {arrivals} arrivals"

    def stream(self, recipe: Recipe, trial: int) -> Stream:
        """Means are fixed over the trials; the published ones are drawn in sequence."""
        if recipe == "figures" and trial < HELD_OUT:
            return _published_types(self.types, self.arrivals, max(self.trials, trial + 1))[trial]
        return datasets.discrete_stream(self.types, self.rounds, seed=trial + 1, arrivals=self.arrivals)

    def belief(self, recipe: Recipe, fits: Fits) -> Belief:
        """One mean for each type."""
        return TypeMeans(noise_std=0.1, delta=DELTA)

    def silent_belief(self) -> Belief:
        """The middle of [0, 1], where the means are known to lie."""
        return TypeMeans(noise_std=0.1, delta=DELTA, prior_mean=0.5)

    def value_belief(self) -> Belief:
        """What is usual among types is learnt across them."""
        return TypeMeans(noise_std=0.1, delta=DELTA, prior_std="learn")


class Smooth(Problem):
    """A function of numbers, believed to be a Gaussian process."""

    algorithm = "Algorithm 2"
    dim: int
    noise_std: float
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def warmup(self) -> int:
        """The paper's first 5d labels."""
        return 5 * self.dim

    def belief(self, recipe: Recipe, fits: Fits) -> Belief:
        """Fitted once, after the warm-up (text), or at every label (figures)."""
        if recipe == "figures":
            return PublishedProcess(self.dim, self.noise_std, fits)
        return GaussianProcess(self.dim, self.noise_std, fit="after_warmup")

    def silent_belief(self) -> Belief:
        """The prior mean, zero, everywhere."""
        return GaussianProcess(self.dim, self.noise_std)

    def value_belief(self, prior: Prior | None = PRIOR) -> Belief:
        """A mean and a kernel that are fitted as labels come, from a prior that the arrivals give."""
        return GaussianProcess(self.dim, self.noise_std, mean="fit", fit="growing", prior=prior)

    def naive_belief(self, recipe: Recipe) -> Belief:
        """Halves of the domain."""
        low, high = self.naive_box(recipe)
        return Cells(low, high, self.noise_std, DELTA)

    def naive_box(self, recipe: Recipe) -> Corners:
        """The box whose axes are halved."""
        return self.low, self.high


class Branin(Smooth):
    """Branin under uniform arrivals."""

    name, title = "branin", "Branin, uniform arrivals"
    trials, rounds, dim, noise_std = 10, 300, 2, 5.0
    low, high = datasets.BRANIN.low, datasets.BRANIN.high
    prices = (Price(10.0, 1.0, 10.0), Price(100.0, 1.0, 10.0))

    def stream(self, recipe: Recipe, trial: int) -> Stream:
        """The first 300 points of each published stream, or of our own."""
        if recipe == "figures" and trial < HELD_OUT:
            return datasets.branin_figures_trials(trial + 1, self.rounds)[trial]
        return datasets.branin_stream(self.rounds, seed=trial + 1)


class Hartmann(Smooth):
    """Hartmann in six dimensions under lopsided arrivals."""

    name, title = "hartmann", "Hartmann, lopsided arrivals"
    trials, rounds, dim, noise_std = 10, 300, 6, 0.5
    low, high = datasets.HARTMANN6.low, datasets.HARTMANN6.high
    prices = (Price(10.0, 0.5, 10.0), Price(100.0, 0.5, 10.0))

    def stream(self, recipe: Recipe, trial: int) -> Stream:
        """The published 20% part ends at 0.8; in the text it ends at 1."""
        if recipe == "figures":  # its held-out streams are the next ones of the same draws
            return datasets.hartmann_figures_trials(trial + 1, self.rounds)[trial]
        return datasets.hartmann_stream(self.rounds, seed=trial + 1)


class Parkinsons(Smooth):
    """42 patients, nine measurements of their voice, and an expert's score."""

    trials, dim, noise_std = 5, 9, 1.0

    def __init__(self, arrivals: Arrivals, prices: tuple[Price, ...]) -> None:
        self.arrivals, self.prices = arrivals, prices
        self.name = f"parkinsons-{arrivals}"
        self.title = f"Parkinsons, {arrivals} arrivals"

    def stream(self, recipe: Recipe, trial: int) -> Stream:
        """Trials differ in their noise; the held-out ones are other recordings of the patients."""
        if trial >= HELD_OUT:
            other = trial + 1
            return datasets.parkinsons_stream(self.arrivals, seed=other, sample_seed=other, order_seed=other)
        if recipe == "figures":
            return datasets.parkinsons_figures_trials(self.arrivals, trials=trial + 1)[trial]
        return datasets.parkinsons_stream(self.arrivals, seed=trial + 1)

    def naive_box(self, recipe: Recipe) -> Corners:
        """The published cells ask whether x < 0.5, whatever x measures; the text halves the domain."""
        if recipe == "figures":
            return (0.0,) * self.dim, (1.0,) * self.dim
        features = datasets.read_recordings().features
        return tuple(features.min(axis=0).tolist()), tuple(features.max(axis=0).tolist())


class Supernova(Smooth):
    """How likely 192 supernovae are, given three constants of the universe."""

    name, title = "supernova", "Supernova"
    trials, dim, noise_std = 5, 3, 10.0
    low, high = (60.0, 0.0, 0.0), (80.0, 1.0, 1.0)
    prices = (Price(1.0, 1.0, 50.0), Price(10.0, 1.0, 30.0), Price(100.0, 1.0, 10.0))

    def stream(self, recipe: Recipe, trial: int) -> Stream:
        """The text's points lie in the true domain; the figures' are the data rows themselves."""
        if recipe == "figures":
            stream = datasets.supernova_figures_trials(trials=trial + 1)[trial]
            return stream if trial < HELD_OUT else _shuffled(stream, seed=trial)
        points_seed = trial + 1 if trial >= HELD_OUT else 0
        return datasets.supernova_stream(seed=trial + 1, points_seed=points_seed)

    def naive_box(self, recipe: Recipe) -> Corners:
        """As with the patients."""
        return (self.low, self.high) if recipe == "text" else ((0.0,) * 3, (1.0,) * 3)


def _shuffled(stream: Stream, seed: int) -> Stream:
    order = np.random.default_rng(seed).permutation(len(stream))
    return Stream(
        stream.points[order], stream.labels[order], stream.truth[order], stream.noise_std, stream.name
    )


@lru_cache(maxsize=1)
def _published_types(types: int, arrivals: Arrivals, trials: int) -> list[Stream]:
    return datasets.figures_trials(types, arrivals, trials)


PROBLEMS: tuple[Problem, ...] = (
    Discrete(10, "uniform", (Price(10.0, 0.5), Price(100.0, 0.25))),
    Discrete(10, "lopsided", (Price(10.0, 0.5), Price(100.0, 0.25))),
    Discrete(100, "uniform", (Price(10.0, 2.0), Price(100.0, 0.75))),
    Discrete(100, "lopsided", (Price(10.0, 2.0), Price(100.0, 0.5))),
    Branin(),
    Hartmann(),
    Parkinsons("uniform", (Price(10.0, 5.0, 5.0),)),
    Parkinsons("lopsided", (Price(10.0, 5.0, 5.0), Price(100.0, 5.0, 5.0))),
    Supernova(),
)


def problem_named(name: str) -> Problem:
    """The problem of this name.

    >>> problem_named("branin").warmup
    10
    """
    return next(problem for problem in PROBLEMS if problem.name == name)
