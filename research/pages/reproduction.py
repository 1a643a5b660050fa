"""Write docs/reproduction.md, what docs/value.md and the README show as measured, and the pictures.

`make reproduce` runs `breakeven reproduce` first; results that are there already are not computed again.
"""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

from msgspec.structs import replace

from breakeven import files, report
from breakeven.report.exhibit_files import chapter
from breakeven.report.markup import picture_name
from breakeven.values import Figure, Section
from breakeven_research import experiments
from breakeven_research.commands.reproduce import LEAD, TITLE
from breakeven_research.experiments.exhibits import apart, rules
from breakeven_research.experiments.exhibits.panels import PANELS
from breakeven_research.experiments.runs.trials import Results, geometric_mean
from pages.pictures import write_pictures

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images" / "reproduction"
SHOWN = {
    "first-figure",
    "discrete-k10-uniform-b10-figures-loss",
    "branin-b10-figures-loss",
    "parkinsons-uniform-b10-figures-loss",
    "supernova-b10-figures-loss",
    "bounds-10-types",
    "rates-T",
    "skew-types",
    "rules-figure-types",
    "rules-figure-numbers",
}
BEGIN, END = "<!-- measured: written by `make reproduce` -->", "<!-- measured: end -->"
VALUE_TABLES = {"rules", "apart", "value-ablation"}
NOTE = (
    "This page is written by `make reproduce`, which runs everything. It shows a few of the pictures; all of "
    "them, with the average errors, the curves over λ and a table of every number, are in the folder "
    "`reproduction` afterwards, behind `index.html`."
)


def main() -> None:
    """Finish what is not done, then write the document."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "reproduction")
    asked = experiments.wish(rules=True)
    workshop = experiments.Workshop(experiments.Shelf(folder / "runs"), os.cpu_count() or 1)
    jobs = [job for phase in experiments.phases(asked).values() for job in phase]
    results = workshop.do(jobs)
    found = [shown(section) for section in experiments.sections(asked, results)]
    sections = [section for section in found if section.text or section.tables or section.figures]
    write_pictures([figure for section in sections for figure in section.figures], IMAGES)
    of_value = [section for section in sections if VALUE_TABLES & {table.name for table in section.tables}]
    of_paper = [section for section in sections if section not in of_value]
    text = report.markdown(TITLE, f"{LEAD}\n\n{NOTE}", of_paper, "images/reproduction")
    files.write(DOCS, "reproduction.md", text.encode())
    measured = "\n\n".join(chapter(section, "images/reproduction") for section in of_value)
    for folder, name, words in ((DOCS, "value.md", measured), (ROOT, "README.md", in_short(results))):
        files.write(folder, name, inserted((folder / name).read_text(), words).encode())


def inserted(page: str, measured: str) -> str:
    """The page with this between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    assert mark, f"the page has lost {BEGIN} or {END}"
    return f"{before}{BEGIN}\n\n{measured}\n\n{END}{after}"


def in_short(results: Results) -> str:
    """What the README says of `Value` and the paper's rule, on all panels."""
    own = [one for panel in PANELS if (one := rules.losses(panel, results)) is not None]
    same = [one for panel in PANELS if (one := apart.measured(panel, results)) is not None]
    known, unknown = ([one[value] / one[rules.BEST] for one in own] for value in (rules.KNOWN, rules.UNKNOWN))
    told, blind = (
        [one.against_rule(apart.OURS, horizon) for one in same] for horizon in (apart.KNOWN, apart.UNKNOWN)
    )
    never = [sum(one[rules.NEVER] < one[value] for one in own) for value in (rules.KNOWN, rules.UNKNOWN)]
    words = (
        f"On the paper's {len(own)} panels (the text's streams, 5 or 10 trials each) `Value` costs no more "
        f"than the paper's rule on the paper's belief at its best λ in hindsight in {_no_more(known)} where "
        f"it knows the number of rounds ({geometric_mean(known):.2g} times as much in the geometric mean) "
        f"and in {_no_more(unknown)} where it does not ({geometric_mean(unknown):.2g} times). Part of that "
        "is the belief: on the same belief, its own, it costs no more in "
        f"{_no_more(one.ratio for one in told)} where the number of rounds is known ({_apart(told)}) and in "
        f"{_no_more(one.ratio for one in blind)} where it is not ({_apart(blind)}): these streams of numbers "
        "are shorter than it expects. Where labels are dear for what there is to learn, it still buys too "
        f"many: never labelling costs less in {never[0]} of the panels, and in {never[1]} where the number "
        "of rounds is not known. [docs/value.md](docs/value.md) has the panels one by one."
    )
    return fill(words, 125, break_long_words=False, break_on_hyphens=False)


def _no_more(ratios: Iterable[float]) -> int:
    return sum(ratio <= 1.0 for ratio in ratios)


def _apart(found: list[apart.Paired]) -> str:
    ratios = [one.ratio for one in found]
    close = sum(one.within_noise for one in found)
    return (
        f"{geometric_mean(ratios):.2g} times as much, {max(ratios):.2g} times at worst; {close} are within "
        "paired noise"
    )


def shown(section: Section) -> Section:
    """The section with the pictures that the documents show; a figure without any is left out."""
    figures = [some_charts(figure) for figure in section.figures]
    return replace(section, figures=[figure for figure in figures if figure.charts])


def some_charts(figure: Figure) -> Figure:
    """The figure with the charts that the documents show; a chart that is left alone keeps its name."""
    charts = {name: chart for chart in figure.charts if (name := picture_name(figure, chart)) in SHOWN}
    name = next(iter(charts)) if len(charts) == 1 else figure.name
    return replace(figure, name=name, charts=[*charts.values()])


if __name__ == "__main__":
    main()
