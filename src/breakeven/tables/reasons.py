"""Why some cases of a table were labelled and others were not: a section of the report.

Of the last cases that the learner remembers: the last that was labelled, the last that was not, and the one
whose answer the smallest change of the cost would have turned.
"""

import polars as pl
from msgspec.structs import replace

from breakeven.tables.run import TableRun
from breakeven.values import Explanation, Section, SimilarCase

LOOKED_BACK = 1_000  # cases among which those to be explained are looked for
ABOUT_REASONS = "Any case that is still remembered can be explained so: `learner.explain(id)`."


def why_section(run: TableRun, *, ids: bool = False) -> list[Section]:
    """Some decisions, explained; without `ids` cases are named by their number. Nothing if there are none."""
    text = [
        f"**{words}, number {place + 1:,}.** {_explained(run, place, ids=ids).why}"
        for words, place in _chosen(run)
    ]
    return [Section(title="Why these cases?", text=[ABOUT_REASONS, *text])] if text else []


def _chosen(run: TableRun) -> list[tuple[str, int]]:
    """What a case is an example of, and its place, counted from 0."""
    most = min(LOOKED_BACK, run.learner.keep, len(run.cases))
    columns = run.decisions.select("wants_label", "by", "cost", "flips_at").with_row_index("place")
    last = columns.tail(most).filter(pl.col("by") == "rule").collect()
    near = last.filter(pl.col("flips_at").is_finite() & (pl.col("flips_at") > 0.0))
    near = near.sort((pl.col("flips_at") / pl.col("cost")).log().abs(), maintain_order=True)
    chosen = {
        "The last case that was labelled": last.filter("wants_label")["place"].tail(1).to_list(),
        "The last case that was not labelled": last.filter(~pl.col("wants_label"))["place"].tail(1).to_list(),
        _closest(most, len(run.cases)): near["place"].head(1).to_list(),
    }
    return [(words, place) for words, places in chosen.items() for place in places]


def _closest(looked_at: int, cases: int) -> str:
    """What the closest call is called: only the last cases are still remembered in a long stream."""
    return "The closest call" if looked_at == cases else f"The closest call of the last {looked_at:,} cases"


def _explained(run: TableRun, place: int, *, ids: bool) -> Explanation:
    """The explanation of the case at this place, in the words of the table."""
    name = str(place + 1) if run.cases.ids is None else str(run.cases.ids[place])
    one = run.cases.columns.explained(run.learner.explain(name))
    return one if ids else replace(one, similar=tuple(_by_number(run, case) for case in one.similar))


def _by_number(run: TableRun, case: SimilarCase) -> SimilarCase:
    """A case by its number in the order of arrival."""
    if case.id is None:
        return case
    place = int(case.id) - 1 if run.cases.ids is None else run.cases.ids.index_of(case.id)
    return replace(case, id=None if place is None else f"number {place + 1:,}")
