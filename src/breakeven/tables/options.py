"""What a user may ask of a table: which column is what, what labels and errors cost, and how to decide."""

from collections.abc import Iterable
from typing import Literal, Self, get_args

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from breakeven.beliefs.gp import SMOOTHNESS, KernelName
from breakeven.errors import expect

RuleName = Literal["value", "threshold", "random", "variable", "always", "never"]
Missing = Literal["drop", "mean"]

OF_PRICES = ("value", "threshold")  # rules whose labels depend on what a label costs


class Options(Struct, frozen=True, kw_only=True):
    """Columns by name, prices in money, and the parts of the learner.

    `features` are all other numeric columns unless named; with `type` each arrival is of one of some types.
    `cost_column` holds the price of each label, `order` says in which order arrivals come, and labels arrive
    `delay` rounds late. `missing` says what to do with rows that lack a value: None refuses them. `chance` is
    the part of arrivals that the rules "random" and "variable" label, and `budget` the most that "variable"
    spends.

    >>> Options(label="score", cost=100.0).rule
    'value'
    """

    label: str
    cost: float | None = None
    features: tuple[str, ...] | None = None
    type: str | None = None
    order: str | None = None
    id: str | None = None
    cost_column: str | None = None
    noise_std: float | None = None
    rule: RuleName = "value"
    kernel: KernelName = "se"
    horizon: int | None = None
    error_cost: float = 1.0
    delay: int = 0
    seed: int = 0
    missing: Missing | None = None
    chance: float = 0.5
    budget: float | None = None

    def __post_init__(self) -> None:
        if self.cost is None and self.cost_column is None:
            expect.refuse("cost", "what a label costs, or a column that says so", None)
        if self.cost is not None and self.cost_column is not None:
            expect.refuse("cost", f"none beside the prices in {self.cost_column!r}", self.cost)
        if self.features is not None and self.type is not None:
            expect.refuse(
                "features", "none beside a type: a type is all that is known of an arrival", self.features
            )
        for name in ("cost", "noise_std", "error_cost", "budget"):
            if getattr(self, name) is not None:
                force_setattr(self, name, expect.positive(name, getattr(self, name)))
        if self.features is not None:
            force_setattr(self, "features", _each_once(self.features))
        if self.horizon is not None:
            expect.whole("horizon", self.horizon, least=1)
        expect.whole("delay", self.delay)
        expect.whole("seed", self.seed)
        expect.probability("chance", self.chance)
        expect.one_of("rule", self.rule, get_args(RuleName))
        expect.one_of("kernel", self.kernel, SMOOTHNESS)
        expect.one_of("missing", self.missing, (None, *get_args(Missing)))

    def but(self, **changes: object) -> Self:
        """The same but for these."""
        return replace(self, **changes)


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    """Names of columns in their order; a name alone is one of them.

    >>> _each_once(["age", "sex", "age"]), _each_once("age")
    (('age', 'sex'), ('age',))
    """
    some = (names,) if isinstance(names, str) else tuple(names)
    return tuple(dict.fromkeys(expect.text("features: a name", name) for name in some))
