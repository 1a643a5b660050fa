"""`breakeven plan`: before any data, what labels and errors to expect, and what the paper proves."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from breakeven.cli.output import AsJson, amount, print_json, table
from breakeven.cli.progress import bar

if TYPE_CHECKING:
    from breakeven.tables.plan import Expected, Plan

HEAD = ("labels", "spend", "mean error", "total")


def plan(
    rounds: Annotated[int, typer.Option(help="Arrivals expected.")],
    cost: Annotated[float, typer.Option(help="What a label costs.")],
    noise_std: Annotated[float, typer.Option(help="Standard deviation of label noise.")],
    types: Annotated[int | None, typer.Option(help="So many types, their means even over [0, 1].")] = None,
    dim: Annotated[
        int | None, typer.Option(help="Or so many numbers an arrival, even over the unit cube.")
    ] = None,
    kernel: Annotated[
        Literal["se", "matern32", "matern52"], typer.Option(help="How smooth, with --dim.")
    ] = "se",
    lengthscale: Annotated[float, typer.Option(help="How far it stays alike, with --dim.")] = 0.5,
    error_cost: Annotated[float, typer.Option(help="What being wrong by 1 costs.")] = 1.0,
    trials: Annotated[int, typer.Option(help="Simulated streams.")] = 5,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Say what to expect before there are data: labels, spend and loss.

    By simulation, with the paper's bounds beside it, and at other prices of a label.
    """
    from breakeven.tables import plan as plans
    from breakeven.tables.problems import Setting

    setting = Setting(
        rounds=rounds,
        cost=cost,
        noise_std=noise_std,
        types=types,
        dim=dim,
        kernel=kernel,
        lengthscale=lengthscale,
        error_cost=error_cost,
        trials=trials,
        seed=seed,
    )
    with bar("Simulating", hidden=as_json) as progress:
        found = plans.plan(setting, progress)
    if as_json:
        print_json(found)
    else:
        print(_words(found))


def _words(found: "Plan") -> str:
    setting = found.setting
    what = f"{setting.types:,} types" if setting.types is not None else f"{setting.dim} dimensions"
    return "\n".join(
        [
            f"{setting.rounds:,} arrivals, {what}, a label costs {setting.cost:,.10g}, "
            f"noise {setting.noise_std:g}; means of {setting.trials} streams",
            "",
            *table([("", *HEAD), *(_row(row.name, row) for row in found.rows), _everyone(found)]),
            "",
            "What the paper proves for its threshold, with probability 95%:",
            *table([("", "labels", "total"), *_bounds(found.bounds)]),
            "",
            *table([("a label costs", *HEAD), *(_row(f"{row.cost:,.10g}", row) for row in found.sweep)]),
        ]
    )


def _row(name: str, row: "Expected") -> tuple[str, ...]:
    return name, f"{row.labels:,.0f}", amount(row.spend), f"{row.mean_error:.4g}", amount(row.total)


def _everyone(found: "Plan") -> tuple[str, ...]:
    spend = amount(found.setting.rounds * found.setting.cost)
    return "label everyone", f"{found.setting.rounds:,}", spend, "", spend


def _bounds(bounds: "dict[str, float | None]") -> list[tuple[str, ...]]:
    rows = [("  at most", bounds["labels"], bounds["total"])]
    if bounds["least_total"] is not None:
        rows.append(("  any rule, worst case", None, bounds["least_total"]))
    return [(name, *("-" if number is None else amount(number) for number in some)) for name, *some in rows]
