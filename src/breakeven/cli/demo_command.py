"""`breakeven demo`: 442 diabetes patients, who of them needs the exam, and what that saves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from breakeven.cli.output import AsJson
from breakeven.cli.simulate_command import present

if TYPE_CHECKING:
    from breakeven.tables.sources import TableSource

EXAM_COST = 100.0
DEMO_STORY = f"""442 diabetes patients arrive one by one. The label is a disease score a year later;
an exam that tells it today costs as much as being wrong by {EXAM_COST:.0f} points.
"""


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("demo"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Keep a learner that has gone on beside the new one.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run the diabetes patients through it, and write the report."""
    from breakeven.tables import check_polars

    check_polars()
    from breakeven.tables.options import Options
    from breakeven.tables.simulation import read_both

    options = Options(label="score", cost=EXAM_COST, compare=True)
    cases, _ = read_both(patients(), options)
    if not as_json:
        print(DEMO_STORY)
    present(cases, options, seeds=None, out=out, as_json=as_json, overwrite=overwrite)


def patients() -> "TableSource":
    """The patients that come with scikit-learn, in a random order: how their file is sorted is not known."""
    import numpy as np
    import polars as pl

    from breakeven.errors import BreakevenError, how_to_install
    from breakeven.tables.faults import as_flag
    from breakeven.tables.sources import TableSource

    try:
        from sklearn.datasets import load_diabetes
    except ImportError as error:
        raise BreakevenError(
            f"scikit-learn, which has the patients, is needed; {how_to_install('demo')}"
        ) from error
    data = load_diabetes(scaled=False)
    order = np.random.default_rng(0).permutation(len(data.target))
    columns = dict(zip(data.feature_names, data.data[order].T, strict=True))
    table = pl.LazyFrame({**columns, "score": data.target[order]})
    return TableSource("diabetes patients", table, option=as_flag)
