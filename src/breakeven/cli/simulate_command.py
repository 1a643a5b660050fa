"""`breakeven simulate`: past cases from a file, and what paying only for worthy labels would have saved.

Its options are those of `FileOptions`, declared once there; a configuration file may hold them as well.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from msgspec import NODEFAULT, Meta
from msgspec.structs import FieldInfo, fields

from breakeven.cli.failures import interruptible
from breakeven.cli.output import (
    ABOUT_COLUMNS,
    AsJson,
    as_line,
    filled,
    print_json,
    read_or_told,
    rounds,
    table_of_costs,
    table_of_ways,
)
from breakeven.errors import expect
from breakeven.starting import ending_at_once
from breakeven.tables.options import FileOptions, read_options

if TYPE_CHECKING:
    from breakeven.tables.cases import Cases
    from breakeven.tables.options import Options
    from breakeven.tables.outcome import Outcome


# -- the command ---------------------------------------------------------------------------------------


def _parameters() -> Iterator[Parameter]:
    """The argument FILE, --config, and an option for every other field of `FileOptions`."""
    yield Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    hints = get_type_hints(FileOptions, include_extras=True)
    known = {one.name: one for one in fields(FileOptions)}
    help = _meta(hints["table"]).description
    file = Annotated[str | None, typer.Argument(metavar="FILE", help=help, show_default=False)]
    yield Parameter("table", Parameter.KEYWORD_ONLY, default=None, annotation=file)
    config = typer.Option(
        metavar="FILE", help="TOML with any of these options by name; those given here win."
    )
    yield Parameter("config", Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, config])
    for name in [one for one in known if one != "table"]:
        yield _option(known[name], hints[name])
    yes_no = Annotated[bool, typer.Option("--yes-no", help="The same as --labels yes/no.")]
    yield Parameter("yes_no", Parameter.KEYWORD_ONLY, default=False, annotation=yes_no)
    yield Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)


def _option(field: FieldInfo, hint: Any) -> Parameter:
    kind, meta = get_args(hint)[0], _meta(hint)
    default = None if field.default is NODEFAULT else field.default
    names = [f"--{field.name.replace('_', '-')}"] if default is False else []  # no --no- for what is off
    words = typer.Option(*names, help=meta.description, **(meta.extra or {}))
    if field.name in ("features", "labeller"):
        kind = list[str] | None
    elif "parser" in (meta.extra or {}):
        kind = str | None
    elif field.default is NODEFAULT:
        kind = kind | None
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, words])


def _meta(hint: Any) -> Meta:
    (meta,) = hint.__metadata__
    assert isinstance(meta, Meta)
    return meta


def simulate(context: typer.Context, **given: Any) -> None:
    """Run past cases as if they came one by one, and draw up the bill.

    Prints what labelling everyone, no one, and only where it pays would have cost. Writes decisions.parquet,
    learner.snapshot and columns.json to go on from, report.html to look at, and last summary.json.
    """
    with ending_at_once():
        from breakeven.tables import check_polars

        check_polars()
        from breakeven.tables.faults import as_flag
        from breakeven.tables.simulation import read_both
        from breakeven.tables.sources import Access, open_table

    as_json, config = given.pop("as_json"), given.pop("config")
    if given.pop("yes_no"):
        given["labels"] = _yes_no(given["labels"])
    typed = {name: value for name, value in given.items() if _was_typed(context, name)}
    if given["labels"] is not None:
        typed["labels"] = given["labels"]
    options = FileOptions.of({**({} if config is None else read_options(config)), **typed})
    access = Access(options.sheet, options.query, options.encoding, as_flag)
    source = open_table(options.table, access)
    owned = None if options.seed_labels is None else open_table(options.seed_labels, access.of_seeds)
    if "features" in typed:
        options = options.but(features=_names(typed["features"], source.columns))
    cases, seeds = read_both(source, options.simulation, owned)
    present(
        cases,
        options.simulation,
        seeds=seeds,
        out=Path(options.out),
        as_json=as_json,
        ids=options.show_ids,
        overwrite=options.overwrite,
    )


simulate.__signature__ = Signature(list(_parameters()))  # type: ignore[attr-defined]  # what typer reads


def _yes_no(labels: str | None) -> str:
    """What --yes-no says, unless --labels says something else."""
    if labels not in (None, "yes/no"):
        expect.refuse("yes_no", "none beside --labels numbers", "--yes-no", described=True)
    return "yes/no"


def _was_typed(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line, and not only in the defaults."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _names(given: list[str], columns: list[str]) -> tuple[str, ...]:
    """Names with commas between, in one option or several; a column may have a comma in its own name.

    >>> _names(["age,bmi", "sex", "income, yearly"], ["age", "bmi", "sex", "income, yearly"])
    ('age', 'bmi', 'sex', 'income, yearly')
    """
    parts = ([some] if some in columns else map(str.strip, some.split(",")) for some in given)
    return tuple(name for some in parts for name in some if name)


# -- the bill ------------------------------------------------------------------------------------------


def present(
    cases: "Cases",
    options: "Options",
    *,
    seeds: "Cases | None",
    out: Path,
    as_json: bool,
    ids: bool = False,
    overwrite: bool = False,
) -> None:
    """Run the cases, write and print their bill, then run what it is compared with and write that, too.

    The page says which case a point is only where `ids` are wanted. Ctrl-C ends the run after its round: the
    bill so far is printed and what is done is written. Whatever is printed is on disk already.
    """
    with ending_at_once():
        from breakeven import files, report
        from breakeven.tables.outcome import check_folder
        from breakeven.tables.simulation import carry_out, parts_of

    def tell(first: "Outcome") -> None:
        first.ids = ids
        first.write(out, report.write_bill, overwrite=overwrite)
        if not as_json:
            with read_or_told(f"the bill is in {as_line(out)}, and nothing was compared with it"):
                print(_first(first))

    def announce(words: str) -> None:
        if not as_json:
            print(words, file=sys.stderr, flush=True)

    with ExitStack() as stack:
        stop = stack.enter_context(interruptible())
        files.check_folder(out)
        stack.enter_context(files.claimed(out))
        check_folder(out, overwrite=overwrite, option=cases.option)
        shown = partial(rounds, hidden=as_json)
        outcome = carry_out(
            cases, options, seeds=seeds, progress=shown, stop=stop, tell=tell, announce=announce
        )
        if parts_of(options):
            outcome.write_again(out, report.write_bill)
        with read_or_told(f"everything is in {as_line(out)}"):
            if as_json:
                print_json({**outcome.summary(), "folder": out})
            else:
                print(_rest(outcome, out))
        if stop():
            raise KeyboardInterrupt


def _first(outcome: "Outcome") -> str:
    """The bill of the rule that was asked for, beside the two ways that need no run."""
    run, options = outcome.run, outcome.run.options
    cases = "1 case" if len(run.cases) == 1 else f"{len(run.cases):,} cases"
    units = [f"money in {options.currency}"] if options.currency else []
    units += [f"errors in {options.unit}"] if options.unit else []
    return "\n".join(
        [
            *filled(outcome.warnings),
            "; ".join([f"{as_line(run.cases.name)}: {cases} in {run.seconds:.1f} s", *units]),
            "",
            *table_of_ways(outcome.rows, outcome.own_row),
            "",
            *filled([ABOUT_COLUMNS.format(outcome.own_row.name), *outcome.notes]),
        ]
    )


def _rest(outcome: "Outcome", out: Path) -> str:
    """What it was compared with, the sentence that follows from it, and where everything is."""
    parts = []
    besides = [*outcome.at_random, *outcome.more]
    if besides:
        parts += ["", "Other ways on the same cases:", *table_of_ways(besides, outcome.own_row)]
    if outcome.sweep is not None:
        parts += ["", _about_costs(outcome), *table_of_costs(outcome.sweep, outcome.bill_cost)]
    if outcome.trials:
        parts += ["", "Over shuffled orders, means and the 95% interval of the mean total:"]
        parts += table_of_ways(outcome.trials, intervals=True)
    if outcome.remarks:
        parts += ["", *filled(outcome.remarks)]
    if outcome.kept_in is not None:
        parts += ["", f"What was in {as_line(out)} before is kept in {as_line(outcome.kept_in)}."]
    parts += ["", *filled([f"{outcome.headline}."])]
    if outcome.break_even:
        parts += filled([*outcome.break_even, outcome.rests_on])
    return "\n".join([*parts, "", f"Open {as_line(out / 'report.html')}"])


def _about_costs(outcome: "Outcome") -> str:
    sweep = outcome.sweep
    assert sweep is not None
    which = ""
    if sweep.cases < sweep.of_cases:
        which = f", on {sweep.cases:,} of the {sweep.of_cases:,} cases"
    return f"Totals at other costs of a label{which} (< is nearest to yours):"
