"""One call from a frame to the bill."""

from typing import TYPE_CHECKING, Any

from breakeven.errors import BreakevenError

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
        raise MissingPolars(
            "polars is needed to read tables; install it with `pip install 'breakeven[tables]'`"
        ) from error


def from_table(
    df: Any,
    *,
    label: str,
    cost: float | None = None,
    seed_labels: Any = None,
    compare: bool = False,
    sweep: bool = False,
    trials: int = 0,
    **options: Any,
) -> "Outcome":
    """What paying for labels only when they are worth it would have cost, on a polars or pandas frame.

    `label` names the column of labels, and `cost` is what one costs. `options` are those of
    `breakeven simulate`, with underscores: features, type, order, id, cost_column, noise_std, rule, kernel,
    horizon, error_cost, delay, seed, missing, chance. `seed_labels` is a frame of labels already owned.

    >>> import polars as pl
    >>> past = pl.DataFrame({"age": range(40), "score": [2.0 * age for age in range(40)]})
    >>> outcome = from_table(past, label="score", cost=5.0)
    >>> outcome.rows[0].name, outcome.rows[0].spend
    ('label everyone', 200.0)
    """
    check_polars()
    from breakeven.tables.options import Options
    from breakeven.tables.program import Wish, carry_out, read
    from breakeven.tables.reading.frames import framed

    wish = Wish(
        options=Options(label=label, cost=cost, **options), compare=compare, sweep=sweep, trials=trials
    )
    seeds = None if seed_labels is None else framed("the seed labels", seed_labels)
    cases, owned = read(framed("the frame", df), wish, seeds)
    return carry_out(cases, wish, seeds=owned)
