"""Five real tables whose labels are costly to get, as streams: shuffled by a seed, or in their own order.

Values are those of the UCI Machine Learning Repository (CC BY 4.0) with headers and commas put in, so none
can be downloaded as it is here: a file is looked for as `streams/<name>.csv` in $BREAKEVEN_DATA. A stream is
a frame whose last column is the label; text stays text, and becomes categories where a table is read.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from breakeven.errors import expect
from breakeven_research.datasets.files import Source, contents

if TYPE_CHECKING:
    import polars as pl

ARRIVALS = 600  # of a shuffled stream
EVERY = 5  # of the gas turbine's rows, where it runs in the order of time


class Table(NamedTuple):
    """A file, and the columns that are no inputs: a second label is not to be learnt from."""

    source: Source
    left_out: tuple[str, ...] = ()


def _table(name: str, file: str, doi: str, who: str, sha256: str, size: int, *left_out: str) -> Table:
    citation = f"{who}, UCI Machine Learning Repository, doi:{doi}"
    return Table(Source(name, f"streams/{file}.csv", "", sha256, size, citation, "CC BY 4.0"), left_out)


TABLES = {
    one.source.name: one
    for one in (
        _table(
            "airfoil", "airfoil_self_noise", "10.24432/C5VW2C", "Brooks, Pope & Marcolini (1989)",
            "94d2112856c31f7533f843df5b895e53c1266629d3b5feab8b573965a8120def", 58545,
        ),
        _table(
            "concrete", "concrete_strength", "10.24432/C5PK67", "Yeh (1998)",
            "0e3e1fecba1c5c97f7f6d53f6000081a694623a38612450927a34695ad668e5a", 40390,
        ),
        _table(
            "ccpp", "ccpp_power_plant", "10.24432/C5002N", "Tufekci & Kaya (2014)",
            "8bc5ab9b380975b91463742d794a6036235e016c4da8a55df9701cdd9a4888ef", 308694,
        ),
        _table(
            "turbine", "gas_turbine_2015", "10.24432/C5WC95", "Kaya, Tufekci & Uzun (2019)",
            "9b08f35fde0d4b138232a605db4093c2b8bf9d6757e6f1fbd9534ad616c13591", 556928, "CO",
        ),
        _table(
            "abalone", "abalone", "10.24432/C55C7W", "Nash et al. (1994)",
            "b3f56d59688c727092098eb847378331dc0695c8350088eea03ab157b3fad975", 191934,
        ),
    )
}  # fmt: skip


@lru_cache(maxsize=len(TABLES))
def read_table(name: str) -> "pl.DataFrame":
    """All rows of a table, in the order of its file; raises what `locate` raises."""
    import polars as pl

    table = TABLES[expect.one_of("name", name, TABLES)]
    return pl.read_csv(contents(table.source), infer_schema_length=None).drop(table.left_out)


def shuffled(name: str, seed: int, arrivals: int = ARRIVALS) -> "pl.DataFrame":
    """The first arrivals of a seeded shuffle."""
    frame = read_table(name)
    return frame[np.random.default_rng(expect.whole("seed", seed)).permutation(len(frame))[:arrivals]]


def in_time_order(name: str = "turbine", every: int = EVERY) -> "pl.DataFrame":
    """Every so many rows of a table, in the order of its file."""
    return read_table(name)[::every]
