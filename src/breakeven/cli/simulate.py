"""`breakeven simulate`: past cases from a file, and what paying only for worthy labels would have saved."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from breakeven.cli.output import AsJson

Rule = Literal["value", "threshold", "random", "variable", "always", "never"]
Kernel = Literal["se", "matern32", "matern52"]
Missing = Literal["drop", "mean"]


def simulate(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet or JSON lines; - is standard input.")
    ],
    label: Annotated[str, typer.Option(metavar="COLUMN", help="The column of labels; they are numbers.")],
    cost: Annotated[float | None, typer.Option(help="What a label costs.")] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="What predictions rest on, with commas between; all other numeric columns unless given. "
            "Text counts as categories.",
        ),
    ] = None,
    type: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The type of a case, instead of features.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Sort by it; as in the file unless given.")
    ] = None,
    id: Annotated[str | None, typer.Option(metavar="COLUMN", help="The id of a case.")] = None,
    cost_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="What each label costs, instead of --cost.")
    ] = None,
    noise_std: Annotated[
        float | None,
        typer.Option(help="Standard deviation of label noise; fitted, or pooled within types, unless given."),
    ] = None,
    rule: Annotated[Rule, typer.Option(help="When a label is worth it.")] = "value",
    kernel: Annotated[Kernel, typer.Option(help="How smooth labels depend on features.")] = "se",
    horizon: Annotated[
        int | None, typer.Option(help="Cases expected in all; those of the file unless given.")
    ] = None,
    error_cost: Annotated[float, typer.Option(help="What being wrong by 1 costs.")] = 1.0,
    delay: Annotated[int, typer.Option(help="Labels arrive so many rounds late.")] = 0,
    seed_labels: Annotated[
        str | None, typer.Option(metavar="FILE", help="Labels already owned: a table like FILE.")
    ] = None,
    missing: Annotated[
        Missing | None,
        typer.Option(help="Drop rows with missing values, or fill in the mean of the past; else refuse."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    compare: Annotated[bool, typer.Option("--compare", help="Run the other rules, too.")] = False,
    sweep: Annotated[bool, typer.Option(help="Run other prices, too.")] = True,
    trials: Annotated[int, typer.Option(help="Shuffled orders to run, too.")] = 0,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("bill"),
    as_json: AsJson = False,
) -> None:
    """Run past cases as if they came one by one, and draw up the bill.

    Prints what labelling everyone, no one, and only where it pays would have cost. Writes decisions.parquet,
    learner.snapshot to go on from, report.html to look at, and last summary.json.
    """
    from breakeven.errors import expect
    from breakeven.tables import check_polars

    check_polars()
    from breakeven.cli.bill import present
    from breakeven.tables.options import Options
    from breakeven.tables.program import Wish, read
    from breakeven.tables.source import open_table

    if trials == 1:
        expect.refuse("trials", "0, or 2 at least: one order has no interval", trials)
    options = Options(
        label=label,
        cost=cost,
        features=_names(features),
        type=type,
        order=order,
        id=id,
        cost_column=cost_column,
        noise_std=noise_std,
        rule=rule,
        kernel=kernel,
        horizon=horizon,
        error_cost=error_cost,
        delay=delay,
        seed=seed,
        missing=missing,
    )
    wish = Wish(options=options, compare=compare, sweep=sweep, trials=expect.whole("trials", trials))
    cases, seeds = read(open_table(file), wish, None if seed_labels is None else open_table(seed_labels))
    present(cases, wish, seeds=seeds, out=out, as_json=as_json)


def _names(given: list[str] | None) -> tuple[str, ...] | None:
    """Names with commas between, in one option or several.

    >>> _names(["age,bmi", "sex"])
    ('age', 'bmi', 'sex')
    """
    if not given:
        return None
    return tuple(name.strip() for some in given for name in some.split(",") if name.strip())
