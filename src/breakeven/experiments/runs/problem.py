"""A problem of the paper: its streams, its beliefs and its settings, in both recipes.

`text` follows what the paper says, `figures` what its published figures were computed with. A trial is a
stream of a recipe; trials from `HELD_OUT` on are never reported on, so a scale may be tuned on them.
"""

from typing import Literal

import msgspec

from breakeven.beliefs import Belief
from breakeven.datasets import Stream
from breakeven.experiments.runs.published_process import Fits

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
