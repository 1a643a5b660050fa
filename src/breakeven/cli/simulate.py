"""`breakeven simulate`: past cases from a file, and what paying only for worthy labels would have saved."""

from pathlib import Path
from typing import Annotated

import typer

from breakeven.beliefs.gp import KernelName
from breakeven.cli.output import AsJson
from breakeven.tables.options import Missing, Options, RuleName


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
    rule: Annotated[RuleName, typer.Option(help="When a label is worth it.")] = "value",
    kernel: Annotated[KernelName, typer.Option(help="How smooth labels depend on features.")] = "se",
    chance: Annotated[
        float, typer.Option(help="Part of the cases that the rules random and variable label.")
    ] = 0.5,
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
    show_ids: Annotated[
        bool, typer.Option("--show-ids", help="Let the report say which case a point is.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("bill"),
    as_json: AsJson = False,
) -> None:
    """Run past cases as if they came one by one, and draw up the bill.

    Prints what labelling everyone, no one, and only where it pays would have cost. Writes decisions.parquet,
    learner.snapshot to go on from, report.html to look at, and last summary.json.
    """
    from breakeven.tables import check_polars

    check_polars()
    from breakeven.cli.bill import present
    from breakeven.tables.program import Wish, read
    from breakeven.tables.reading.source import open_table

    options = Options(
        label=label,
        cost=cost,
        features=tuple(features) if features else None,
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
        chance=chance,
    )
    source, owned = open_table(file), None if seed_labels is None else open_table(seed_labels)
    options = options.but(features=_names(features, source.columns))
    wish = Wish(options=options, compare=compare, sweep=sweep, trials=trials)
    cases, seeds = read(source, wish, owned)
    present(cases, wish, seeds=seeds, out=out, as_json=as_json, ids=show_ids)


def _names(given: list[str] | None, columns: list[str]) -> tuple[str, ...] | None:
    """Names with commas between, in one option or several; a column may have a comma in its own name.

    >>> _names(["age,bmi", "sex", "income, yearly"], ["age", "bmi", "sex", "income, yearly"])
    ('age', 'bmi', 'sex', 'income, yearly')
    """
    if not given:
        return None
    parts = ([some] if some in columns else map(str.strip, some.split(",")) for some in given)
    return tuple(name for some in parts for name in some if name)
