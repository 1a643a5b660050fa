"""All that can be asked of a table, once: for Python, for the command line and for a configuration file.

`from_table` has a parameter for every field of `Options`; `breakeven simulate` has an option for every field
of `FileOptions`, made from the descriptions here, and a configuration file may hold the same names.
"""

import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from msgspec import Meta, Struct
from msgspec.structs import fields, force_setattr, replace

from breakeven.beliefs.gp import SMOOTHNESS, KernelName, checked_half_life
from breakeven.errors import BreakevenError, expect
from breakeven.rows.reading import DecimalSign
from breakeven.values import NUMBERS_BESIDE_LABELLERS, ErrorCosts, Labeller, Offer, best_offer

RuleName = Literal["value", "threshold", "random", "variable", "always", "never"]
Labels = Literal["yes/no", "numbers"]
Missing = Literal["drop", "mean"]
LocalDates = Literal["dmy", "mdy"]
Number = float | None
Name = str | None

ERROR_COSTS = ("error_cost", "under_cost", "over_cost", "miss_cost", "false_alarm_cost")
PAYING_RULES = ("value", "threshold")  # rules whose labels depend on what a label costs
LEAST_SWEPT = 50  # cases, for other costs: fewer say nothing
COLUMN, COLUMNS_HERE, A_FILE = {"metavar": "COLUMN"}, {"metavar": "COLUMNS"}, {"metavar": "FILE"}


class UnreadableOptions(BreakevenError, ValueError):
    """A configuration file that cannot be read, or that holds a name which is no option.

    >>> issubclass(UnreadableOptions, ValueError)
    True
    """


def number_or_word(text: str) -> float | str:
    """What was typed where a number or a word may be given.

    >>> number_or_word("500"), number_or_word("fit")
    (500.0, 'fit')
    """
    try:
        return float(text)
    except ValueError:
        return text


class Options(Struct, frozen=True, kw_only=True):
    """Columns by name, costs in money, how to decide, and what to compare it with.

    >>> Options(label="score", cost=100.0).rule
    'value'
    >>> Options(label="score", cost=-1)
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: cost: expected a positive, finite number, got -1
    """

    label: Annotated[
        str, Meta(description="The column of labels; they are numbers, or yes and no.", extra=COLUMN)
    ]
    cost: Annotated[Number, Meta(description="What a label costs.")] = None
    features: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="What predictions rest on, with commas between; all other numeric columns unless "
            "given. Text counts as categories.",
            extra=COLUMNS_HERE,
        ),
    ] = None
    type: Annotated[Name, Meta(description="The type of a case, instead of features.", extra=COLUMN)] = None
    order: Annotated[Name, Meta(description="Sort by it; as in the file unless given.", extra=COLUMN)] = None
    id: Annotated[Name, Meta(description="The id of a case.", extra=COLUMN)] = None
    cost_column: Annotated[
        Name, Meta(description="What each label costs, instead of one cost for all.", extra=COLUMN)
    ] = None
    noise_std: Annotated[
        Number,
        Meta(description="Standard deviation of label noise; found in the labels unless given."),
    ] = None
    rule: Annotated[RuleName, Meta(description="When a label is worth it.")] = "value"
    check: Annotated[
        Number,
        Meta(
            description="Let labels test the belief, and spend this share of the expected error on labels "
            "drawn at random for that; unless given, 0.07 for rows of numbers under the rule value."
        ),
    ] = None
    kernel: Annotated[
        KernelName | None,
        Meta(
            description="How smoothly labels depend on features: one Gaussian process, fitted; unless given, "
            "the average of many that differ in it."
        ),
    ] = None
    chance: Annotated[
        float, Meta(description="Part of the cases that the rules random and variable label.")
    ] = 0.5
    budget: Annotated[Number, Meta(description="The most that is spent on labels in all.")] = None
    per: Annotated[
        tuple[float, int] | None,
        Meta(
            description="The most MONEY that is spent on labels in any CASES cases in a row.",
            extra={"metavar": "MONEY CASES"},
        ),
    ] = None
    audit: Annotated[
        Number,
        Meta(
            description="Label this share of the cases that the rule declines, at random, to know the error "
            "where nobody asked."
        ),
    ] = None
    audit_bound: Annotated[
        Number,
        Meta(
            description="With --audit: no answer is further off than this; the range of the table's labels "
            "unless given."
        ),
    ] = None
    forgetting: Annotated[
        float | Literal["fit"] | None,
        Meta(
            description="Cases after which a label counts half: for types, or with --kernel, where fit "
            "leaves it to the labels; the default for features finds changes by itself.",
            extra={"metavar": "CASES|fit", "parser": number_or_word},
        ),
    ] = None
    labeller: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Who gives labels, instead of --cost: name, cost and standard deviation of the "
            "noise, such as nurse:2:3.0; may be given several times.",
            extra={"metavar": "NAME:COST:NOISE"},
        ),
    ] = None
    horizon: Annotated[
        int | None, Meta(description="Cases expected in all; those of the table unless given.")
    ] = None
    labels: Annotated[
        Labels | None,
        Meta(description="What labels are; told from the first labels that are bought unless given."),
    ] = None
    error_cost: Annotated[Number, Meta(description="What being wrong by 1 costs; 1 unless given.")] = None
    under_cost: Annotated[
        Number, Meta(description="What an answer too low by 1 costs, where one too high costs another.")
    ] = None
    over_cost: Annotated[Number, Meta(description="What an answer too high by 1 costs, beside it.")] = None
    miss_cost: Annotated[Number, Meta(description="Of yes/no labels: what a no costs that is a yes.")] = None
    false_alarm_cost: Annotated[
        Number, Meta(description="Of yes/no labels: what a yes costs that is a no.")
    ] = None
    delay: Annotated[int, Meta(description="Rounds by which every label comes late.")] = 0
    missing: Annotated[
        Missing | None,
        Meta(description="Drop rows with missing values, or fill in the mean of the past; else refuse."),
    ] = None
    # how the table is written
    decimal: Annotated[
        DecimalSign | None,
        Meta(
            description="The sign before decimals in text; the other one, spaces or apostrophes may then "
            "part thousands. A point, and no thousands, unless given."
        ),
    ] = None
    dates: Annotated[
        LocalDates | None,
        Meta(description="Whether the day or the month comes first in dates such as 03/04/2024."),
    ] = None
    encoding: Annotated[
        Name, Meta(description="How a text file is encoded, such as cp1252 or utf-16; UTF-8 unless given.")
    ] = None
    sheet: Annotated[Name, Meta(description="The sheet of a workbook, where it has several.")] = None
    query: Annotated[Name, Meta(description="What to ask a database for, in SQL.")] = None
    seed: Annotated[int, Meta(description="Of everything random.")] = 0
    currency: Annotated[str, Meta(description="What money is counted in, such as EUR.")] = ""
    unit: Annotated[str, Meta(description="What labels and errors are counted in, such as points.")] = ""
    compare: Annotated[bool, Meta(description="Run the other rules, too.")] = False
    sweep: Annotated[
        bool, Meta(description="Run other costs of a label, too, and find the break-even costs.")
    ] = True
    sweep_rows: Annotated[
        int,
        Meta(description="The most cases, or types, that other costs are run on."),
    ] = 2_000
    trials: Annotated[int, Meta(description="Shuffled orders to run, too.")] = 0
    cores: Annotated[
        int | None, Meta(description="Processor cores for what is run besides; all unless given.")
    ] = None

    def __post_init__(self) -> None:
        for name in ("label", "type", "order", "id", "cost_column"):
            if not isinstance(getattr(self, name), str | None):
                expect.refuse(name, "the name of a column", getattr(self, name))
        for name in ("cost", "noise_std", "budget", "audit_bound", *ERROR_COSTS):
            if getattr(self, name) is not None:
                force_setattr(self, name, expect.positive(name, getattr(self, name)))
        if self.forgetting is not None:
            force_setattr(self, "forgetting", checked_half_life(self.forgetting))
        if self.features is not None:
            force_setattr(self, "features", _each_once(self.features))
        if self.horizon is not None:
            expect.whole("horizon", self.horizon, least=1)
        if self.cores is not None:
            expect.whole("cores", self.cores, least=1)
        for name in ("delay", "seed", "trials"):
            expect.whole(name, getattr(self, name))
        expect.whole("sweep_rows", self.sweep_rows, least=LEAST_SWEPT)
        for name in ("currency", "unit"):
            if not isinstance(getattr(self, name), str):
                expect.refuse(name, "a word", getattr(self, name))
        if self.per is not None:
            force_setattr(self, "per", _money_and_cases(self.per))
        if self.labeller is not None:
            force_setattr(self, "labeller", _as_words(self.labeller))
            self.labellers  # noqa: B018  (refuses what is no labeller)
        if self.audit is not None:
            force_setattr(self, "audit", expect.probability("audit", self.audit, open=True))
        expect.probability("chance", self.chance)
        if self.check is not None:
            force_setattr(self, "check", expect.probability("check", self.check))
        expect.one_of("rule", self.rule, get_args(RuleName))
        expect.one_of("kernel", self.kernel, (None, *SMOOTHNESS))
        expect.one_of("labels", self.labels, (None, *get_args(Labels)))
        expect.one_of("missing", self.missing, (None, *get_args(Missing)))
        expect.one_of("decimal", self.decimal, (None, *get_args(DecimalSign)))
        expect.one_of("dates", self.dates, (None, *get_args(LocalDates)))
        for name in ("encoding", "sheet", "query"):
            if getattr(self, name) is not None:
                expect.text(name, getattr(self, name))
        expect.truth("compare", self.compare)
        expect.truth("sweep", self.sweep)
        self._check_together()

    def _check_together(self) -> None:
        """Refuse options that contradict each other."""
        self._check_costs()
        if self.features is not None and self.type is not None:
            expect.refuse(
                "features", "none beside a type: a type is all that is known of an arrival", self.features
            )
        self.errors  # noqa: B018  (refuses costs that contradict each other)
        if self.audit is None and self.audit_bound is not None:
            expect.refuse("audit_bound", "none without an audit", self.audit_bound)
        if self.forgetting is not None and self.type is None and self.kernel is None:
            expect.refuse(
                "forgetting",
                "a type or a kernel beside it: the default for features is an average of many models, which "
                "finds changes by itself and has no half-life",
                self.forgetting,
            )
        if self.forgetting == "fit" and self.type is not None:
            expect.refuse("forgetting", "a number beside a type: it enters a type's sums at once", "fit")
        if self.labels == "yes/no":
            self._check_yes_no()
        if self.trials == 1:
            expect.refuse("trials", "0, or 2 at least: one order has no interval", self.trials)

    def _check_yes_no(self) -> None:
        """Yes/no labels have no noise of their own, and those of features no kernel and no half-life."""
        of_numbers: dict[str, object] = {"noise_std": self.noise_std, "kernel": self.kernel}
        if self.type is None:
            of_numbers["forgetting"] = self.forgetting
        for name, value in of_numbers.items():
            if value is not None:
                expect.refuse(name, "none beside yes/no labels: it is about numbers", value)

    def _check_costs(self) -> None:
        """Exactly one of a cost, a column of costs, and labellers."""
        if self.labeller is not None:
            for name in ("cost", "cost_column"):
                if getattr(self, name) is not None:
                    expect.refuse(name, "none beside labellers, who have costs", getattr(self, name))
            if self.delay:
                expect.refuse("delay", "0 beside labellers", self.delay)
            if self.labels == "yes/no":
                expect.refuse("labels", NUMBERS_BESIDE_LABELLERS, "yes/no")
        elif self.cost is None and self.cost_column is None:
            expect.refuse("cost", "what a label costs, or a column that says so", None)
        if self.cost is not None and self.cost_column is not None:
            expect.refuse("cost", f"none beside the costs in {self.cost_column!r}", self.cost)

    @property
    def labellers(self) -> dict[str, Labeller]:
        """Who gives labels, by name; nobody in particular where none is named.

        >>> Options(label="score", labeller=("nurse:2:3.0",)).labellers
        {'nurse': Labeller(cost=2.0, noise_std=3.0)}
        """
        return labellers_of(self.labeller or ())

    @property
    def base_cost(self) -> float | None:
        """What a label costs, or that of the labeller who gives most information for the money."""
        if self.labeller is None:
            return self.cost
        return self.asked.cost

    @property
    def asked(self) -> Offer:
        """The labeller who gives most information for the money."""
        return best_offer(
            Offer(one.cost, one.noise_std, name, one.cost) for name, one in self.labellers.items()
        )

    @property
    def half_life(self) -> float | None:
        """After how many cases a label counts half, where that is given."""
        return None if self.forgetting == "fit" else self.forgetting

    @property
    def error_costs(self) -> dict[str, Any]:
        """What errors cost, as it was given."""
        return {name: getattr(self, name) for name in ERROR_COSTS}

    @property
    def errors(self) -> ErrorCosts:
        """What errors cost."""
        return ErrorCosts.checked(**self.error_costs)

    def but(self, **changes: object) -> Self:
        """The same options with these changes."""
        return replace(self, **changes)


class FileOptions(Options, frozen=True, kw_only=True):
    """The options for a table in a file: where it is, and where the bill goes."""

    table: Annotated[
        str,
        Meta(
            description="CSV, TSV, Parquet, JSON lines or Excel; - is standard input, sqlite:///PATH and "
            "postgresql://HOST/NAME are databases."
        ),
    ]
    seed_labels: Annotated[
        Name, Meta(description="Labels already owned: a table like the other.", extra=A_FILE)
    ] = None
    out: Annotated[str, Meta(description="The folder to write to.")] = "bill"
    overwrite: Annotated[
        bool,
        Meta(
            description="Write to a folder whose learner has gone on since; what was there is kept beside "
            "it, under another name."
        ),
    ] = False
    show_ids: Annotated[bool, Meta(description="Let the report say which case a point is.")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        expect.text("table", self.table)
        expect.text("out", self.out)
        if self.seed_labels is not None:
            expect.text("seed_labels", self.seed_labels)
        expect.truth("overwrite", self.overwrite)
        expect.truth("show_ids", self.show_ids)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The options as they were given by name.

        >>> FileOptions.of({"table": "cases.csv", "cost": 5})
        Traceback (most recent call last):
        breakeven.errors.InvalidInput: label: expected the column of labels, got none
        """
        for name, expected in (("table", "the file of a table"), ("label", "the column of labels")):
            if given.get(name) is None:
                expect.refuse(name, expected, "none", described=True)
        return cls(**given)

    @property
    def simulation(self) -> Options:
        """The options without the paths: what is asked of the table itself."""
        return Options(**{one.name: getattr(self, one.name) for one in fields(Options)})


def read_options(path: str | Path) -> dict[str, Any]:
    """What a configuration file says, by the names of `FileOptions`; paths in it begin at its folder.

    >>> read_options("/no/such.toml")
    Traceback (most recent call last):
    breakeven.tables.options.UnreadableOptions: /no/such.toml: expected a TOML file, got none of that name
    """
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UnreadableOptions(f"{path}: expected a TOML file, got none of that name") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableOptions(
            f"{path}: expected a TOML file, got one that cannot be read ({reason})"
        ) from error
    for name in given:
        _check_option(path, name)
    for name in ("table", "seed_labels", "out"):
        if isinstance(given.get(name), str) and given[name] not in ("", "-"):
            given[name] = _beside(Path(path).parent, given[name])
    return given


def _beside(folder: Path, place: str) -> str:
    """A path that begins at a folder; so does the path of a SQLite database, and no other address.

    >>> _beside(Path("/clinic"), "cases.csv"), _beside(Path("/clinic"), "sqlite:///cases.db")
    ('/clinic/cases.csv', 'sqlite:////clinic/cases.db')
    """
    scheme, found, path = place.partition(":///")
    if found and scheme == "sqlite":
        return f"{scheme}{found}{folder / path}"
    return place if "://" in place else str(folder / place)


def _check_option(path: str | Path, name: str) -> None:
    known = [one.name for one in fields(FileOptions)]
    if name in known:
        return
    near = get_close_matches(name.lower().replace("-", "_"), known, n=2)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(known)}"
    raise UnreadableOptions(f"{path}: expected the name of an option, got {name!r}; {hint}")


def _money_and_cases(per: Any) -> tuple[float, int]:
    """Money, and the length of the stretch that it is for.

    >>> _money_and_cases([500, 100])
    (500.0, 100)
    """
    if not isinstance(per, tuple | list) or len(per) != 2:
        expect.refuse("per", "two numbers: money, and a number of cases", per)
    return expect.positive("per: money", per[0]), expect.whole("per: cases", per[1], least=1)


def _as_words(labellers: Any) -> tuple[str, ...]:
    """Labellers as NAME:COST:NOISE, each once; from Python they may come as `Labeller`s by name.

    >>> _as_words({"nurse": Labeller(2.0, 3.0)}), _as_words("mri:50:0.5")
    (('nurse:2.0:3.0',), ('mri:50:0.5',))
    """
    if isinstance(labellers, Mapping):
        if not all(isinstance(one, Labeller) for one in labellers.values()):
            expect.refuse("labeller", "NAME:COST:NOISE, such as nurse:2:3.0, or Labellers by name", labellers)
        return tuple(f"{name}:{one.cost!r}:{one.noise_std!r}" for name, one in labellers.items())
    some = [labellers] if isinstance(labellers, str) else expect.rows("labeller", labellers)
    if not some:
        expect.refuse("labeller", "one at least", some)
    return tuple(expect.text("labeller", one) for one in some)


def labellers_of(words: Iterable[str]) -> dict[str, Labeller]:
    """Labellers by name, each given once as NAME:COST:NOISE.

    >>> labellers_of(["nurse:2:3.0", "mri:50:0.5"])["mri"].cost
    50.0
    """
    found: dict[str, Labeller] = {}
    for one in words:
        name, labeller = _labeller(one)
        if name in found:
            expect.refuse("labeller", "every name once", f"{name!r} twice", described=True)
        found[name] = labeller
    return found


def _labeller(words: str) -> tuple[str, Labeller]:
    """A labeller by name.

    >>> _labeller("nurse:2")
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: labeller: expected NAME:COST:NOISE, such as nurse:2:3.0, got 'nurse:2'
    """
    name, *numbers = words.rsplit(":", 2)
    try:
        cost, noise = map(float, numbers)
    except ValueError:
        cost = noise = 0.0
    if not name or not (cost > 0.0 and noise > 0.0):
        expect.refuse("labeller", "NAME:COST:NOISE, such as nurse:2:3.0", words)
    return name, Labeller(cost, noise)


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    """Names of columns in their order; a name alone is one of them.

    >>> _each_once(["age", "sex", "age"]), _each_once("age")
    (('age', 'sex'), ('age',))
    """
    some = [names] if isinstance(names, str) else expect.rows("features", names)
    return tuple(dict.fromkeys(expect.text("features: a name", name) for name in some))
