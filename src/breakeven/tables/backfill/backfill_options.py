"""All that can be asked of an archive, for Python and, made from the same descriptions, the command line."""

from typing import Annotated, Any, get_args

from msgspec import Meta, Struct
from msgspec.structs import asdict, force_setattr

from breakeven.errors import expect
from breakeven.tables.options import COLUMN, COLUMNS_HERE, Name, Number, Options, RuleName

KEPT_ALONE, KEPT_BY_KEY = 1_000, 100  # arrivals that a learner remembers, unless given
NOT_DECIDING = ("out", "workers")  # options that change no decision


class BackfillOptions(Struct, frozen=True, kw_only=True):
    """Columns by name, costs in money, and how to decide.

    >>> BackfillOptions(folder="alerts", label="flux", label_cost=10.0, type="class").rule
    'value'
    >>> BackfillOptions(folder="alerts", label="flux", label_cost=10.0)
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: type: expected a column of types, or features, got None
    """

    folder: Annotated[
        str, Meta(description="The folder of Parquet files; they count in the order of their names.")
    ]
    label: Annotated[str, Meta(description="The column of labels, which are numbers.", extra=COLUMN)]
    label_cost: Annotated[float, Meta(description="What a label costs.")]
    type: Annotated[Name, Meta(description="The type of a row: whole numbers, or text.", extra=COLUMN)] = None
    features: Annotated[
        tuple[str, ...] | None,
        Meta(description="Instead of a type: columns of numbers, with commas between.", extra=COLUMNS_HERE),
    ] = None
    key: Annotated[
        Name,
        Meta(description="Every value of it is a stream with a learner of its own.", extra=COLUMN),
    ] = None
    id: Annotated[Name, Meta(description="A column to copy beside the decisions.", extra=COLUMN)] = None
    order: Annotated[
        Name,
        Meta(
            description="Sort by it inside a file, and files by their first value; as they lie unless given.",
            extra=COLUMN,
        ),
    ] = None
    error_cost: Annotated[Number, Meta(description="What being wrong by 1 costs; 1 unless given.")] = None
    noise_std: Annotated[
        Number,
        Meta(
            description="Standard deviation of label noise; found in the first labels unless given. Types "
            "with a key need it."
        ),
    ] = None
    rule: Annotated[RuleName, Meta(description="When a label is worth it.")] = "value"
    chance: Annotated[
        float, Meta(description="Part of the rows that the rules random and variable label.")
    ] = 0.5
    horizon: Annotated[
        int | None,
        Meta(
            description="Rows expected in all; those of the archive unless given, and with a key nothing is "
            "expected."
        ),
    ] = None
    keep: Annotated[
        int | None,
        Meta(description="Rows that a learner remembers by id; 1,000 unless given, and 100 with a key."),
    ] = None
    drop_missing: Annotated[
        bool, Meta(description="Leave out rows in which a value is missing, and count them; else refuse.")
    ] = False
    seed: Annotated[int, Meta(description="Of everything random.")] = 0
    out: Annotated[str, Meta(description="The folder to write to.")] = "backfill"
    workers: Annotated[int, Meta(description="Processes that decide; more than one only with a key.")] = 1

    def __post_init__(self) -> None:
        for name in ("folder", "label", "out"):
            expect.text(name, getattr(self, name))
        for name in ("type", "key", "id", "order"):
            if getattr(self, name) is not None:
                expect.text(name, getattr(self, name))
        if self.features is not None:
            some = (self.features,) if isinstance(self.features, str) else tuple(self.features)
            force_setattr(
                self, "features", tuple(dict.fromkeys(expect.text("features", one) for one in some))
            )
        if (self.type is None) == (not self.features):
            if self.type is None:
                expect.refuse("type", "a column of types, or features", None)
            expect.refuse("features", "none beside a type", self.features)
        expect.positive("label_cost", self.label_cost)
        for name in ("error_cost", "noise_std"):
            if getattr(self, name) is not None:
                expect.positive(name, getattr(self, name))
        expect.one_of("rule", self.rule, get_args(RuleName))
        expect.whole("workers", self.workers, least=1)
        if self.workers > 1 and self.key is None:
            expect.refuse("workers", "1 without a key: one stream has one learner", self.workers)
        if self.key is not None and self.type is not None and self.noise_std is None and self.rule != "never":
            expect.refuse(
                "noise_std", "a number beside a key: every stream would have to buy labels for it", None
            )
        if self.keep is not None:
            expect.whole("keep", self.keep)
        self.table_options  # noqa: B018  (refuses what is left)

    @property
    def columns(self) -> list[str]:
        """The columns that are read, each once."""
        named = [self.label, self.type, *(self.features or ()), self.key, self.id, self.order]
        return list(dict.fromkeys(name for name in named if name is not None))

    @property
    def kept(self) -> int:
        """How many arrivals a learner remembers."""
        if self.keep is not None:
            return self.keep
        return KEPT_ALONE if self.key is None else KEPT_BY_KEY

    @property
    def table_options(self) -> Options:
        """The same wishes as those of a table."""
        return Options(
            label=self.label,
            cost=self.label_cost,
            type=self.type,
            features=self.features,
            error_cost=self.error_cost,
            noise_std=self.noise_std,
            rule=self.rule,
            chance=self.chance,
            horizon=self.horizon,
            labels="numbers",
            seed=self.seed,
        )

    def deciding(self) -> dict[str, Any]:
        """The options that decisions depend on, as plain data."""
        plain = {name: value for name, value in asdict(self).items() if name not in NOT_DECIDING}
        plain["features"] = None if self.features is None else list(self.features)
        return plain
