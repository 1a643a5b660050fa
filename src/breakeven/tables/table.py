"""One call from a frame to the bill."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from breakeven.beliefs.gp import KernelName
from breakeven.errors import BreakevenError, how_to_install
from breakeven.rows.reading import DecimalSign
from breakeven.tables.options import Labels, LocalDates, Missing, Options, RuleName
from breakeven.values import Labeller

if TYPE_CHECKING:
    from breakeven.tables.outcome import Outcome


class MissingPolars(BreakevenError, ImportError):
    """Tables need polars, and it is not installed.

    >>> issubclass(MissingPolars, ImportError)
    True
    """


def check_polars() -> None:
    """Raise where tables cannot be read."""
    try:
        import polars  # noqa: F401  (whether it can be imported is the question)
    except ImportError as error:
        raise MissingPolars(f"polars is needed to read tables; {how_to_install('tables')}") from error


def from_table(
    df: Any,
    *,
    label: str,
    cost: float | None = None,
    features: Iterable[str] | None = None,
    type: str | None = None,
    order: str | None = None,
    id: str | None = None,
    cost_column: str | None = None,
    noise_std: float | None = None,
    rule: RuleName = "value",
    check: float | None = None,
    kernel: KernelName | None = None,
    chance: float = 0.5,
    budget: float | None = None,
    per: tuple[float, int] | None = None,
    audit: float | None = None,
    audit_bound: float | None = None,
    forgetting: float | Literal["fit"] | None = None,
    labeller: Mapping[str, Labeller] | Iterable[str] | None = None,
    horizon: int | None = None,
    labels: Labels | None = None,
    error_cost: float | None = None,
    under_cost: float | None = None,
    over_cost: float | None = None,
    miss_cost: float | None = None,
    false_alarm_cost: float | None = None,
    delay: int = 0,
    missing: Missing | None = None,
    decimal: DecimalSign | None = None,
    dates: LocalDates | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    query: str | None = None,
    seed: int = 0,
    currency: str = "",
    unit: str = "",
    compare: bool = False,
    sweep: bool = True,
    sweep_rows: int = 2_000,
    trials: int = 0,
    cores: int | None = None,
    seed_labels: Any = None,
) -> "Outcome":
    """What paying for labels only when they are worth it would have cost, on a table of past cases.

    `df` is a frame of polars or pandas, the path of a file, or the address of a database. `label` names the
    column of labels, and `cost` is what one costs. The other options are those of `breakeven simulate`, which
    `breakeven.tables.options.Options` describes. `seed_labels` is a table of labels already owned.

    >>> import polars as pl
    >>> past = pl.DataFrame({"age": range(40), "score": [2.0 * age for age in range(40)]})
    >>> outcome = from_table(past, label="score", cost=5.0, sweep=False)
    >>> outcome.rows[0].name, outcome.rows[0].spend
    ('label everyone', 200.0)
    """
    options = Options(
        label=label,
        cost=cost,
        features=None if features is None else features,  # type: ignore[arg-type]  # made a tuple there
        type=type,
        order=order,
        id=id,
        cost_column=cost_column,
        noise_std=noise_std,
        rule=rule,
        check=check,
        kernel=kernel,
        chance=chance,
        budget=budget,
        per=per,
        audit=audit,
        audit_bound=audit_bound,
        forgetting=forgetting,
        labeller=labeller,  # type: ignore[arg-type]  # made a tuple of words there
        horizon=horizon,
        labels=labels,
        error_cost=error_cost,
        under_cost=under_cost,
        over_cost=over_cost,
        miss_cost=miss_cost,
        false_alarm_cost=false_alarm_cost,
        delay=delay,
        missing=missing,
        decimal=decimal,
        dates=dates,
        encoding=encoding,
        sheet=sheet,
        query=query,
        seed=seed,
        currency=currency,
        unit=unit,
        compare=compare,
        sweep=sweep,
        sweep_rows=sweep_rows,
        trials=trials,
        cores=cores,
    )
    check_polars()
    from breakeven.tables.simulation import carry_out, read_both
    from breakeven.tables.sources import Access, any_table

    access = Access(sheet, query, encoding)
    seeds = None if seed_labels is None else any_table("the seed labels", seed_labels, access.of_seeds)
    cases, owned = read_both(any_table("the frame", df, access), options, seeds)
    return carry_out(cases, options, seeds=owned)
