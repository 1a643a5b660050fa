"""What a user may ask of a table: which column is what, what labels and errors cost, and how to decide."""

from typing import Literal, Self

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from breakeven.errors import expect

RULES = ("value", "threshold", "random", "variable", "always", "never")
KERNELS = ("se", "matern32", "matern52")
MISSING = (None, "drop", "mean")


class Options(Struct, frozen=True, kw_only=True):
    """Columns by name, prices in money, and the parts of the learner.

    `features` are all other numeric columns unless named; with `type` each arrival is of one of some types.
    `cost_column` holds the price of each label, `order` says in which order arrivals come, and labels arrive
    `delay` rounds late. `missing` says what to do with rows that lack a value: None refuses them. `chance` is
    the part of arrivals that rules label which ask no price.

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
    rule: str = "value"
    kernel: str = "se"
    horizon: int | None = None
    error_cost: float = 1.0
    delay: int = 0
    seed: int = 0
    missing: Literal["drop", "mean"] | None = None
    chance: float = 0.5

    def __post_init__(self) -> None:
        if self.cost is None and self.cost_column is None:
            expect.refuse("cost", "what a label costs, or a column that says so", None)
        if self.features is not None and self.type is not None:
            expect.refuse(
                "features", "none beside a type: a type is all that is known of an arrival", self.features
            )
        for name in ("cost", "noise_std", "error_cost"):
            if getattr(self, name) is not None:
                force_setattr(self, name, expect.positive(name, getattr(self, name)))
        if self.features is not None:
            force_setattr(self, "features", tuple(dict.fromkeys(self.features)))
        if self.horizon is not None:
            expect.whole("horizon", self.horizon, least=1)
        expect.whole("delay", self.delay)
        expect.whole("seed", self.seed)
        expect.probability("chance", self.chance)
        expect.one_of("rule", self.rule, RULES)
        expect.one_of("kernel", self.kernel, KERNELS)
        expect.one_of("missing", self.missing, MISSING)

    def but(self, **changes: object) -> Self:
        """The same but for these."""
        return replace(self, **changes)
