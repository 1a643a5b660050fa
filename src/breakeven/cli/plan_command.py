"""`breakeven plan`: before any data, what labels and errors to expect, and what the paper proves."""

from math import sqrt
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import to_builtins

from breakeven.beliefs.gp import KernelName
from breakeven.cli.output import (
    ABOUT_COLUMNS,
    AsJson,
    amount,
    bar,
    filled,
    print_json,
    table,
    table_of_costs,
    table_of_ways,
)
from breakeven.errors import expect
from breakeven.tables.options import labellers_of
from breakeven.values import Labeller, Offer, best_offer, expected_error
from breakeven.values.amounts import several
from breakeven.values.bill import compared
from breakeven.values.bill_words import about_no_one, headline, sweep_words

if TYPE_CHECKING:
    from breakeven.planning.plan import Plan
    from breakeven.planning.prospect import Prospect, Proven
    from breakeven.values import BillRow


def plan(
    rounds: Annotated[int, typer.Option(help="Arrivals expected.")],
    cost: Annotated[
        float | None, typer.Option(help="What a label costs, unless there are labellers.")
    ] = None,
    noise_std: Annotated[
        float | None,
        typer.Option(help="Standard deviation of label noise, unless there is a --share."),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            help="Labels are yes or no: the part of yeses; from type to type, or place to place, it is even "
            "over twice that."
        ),
    ] = None,
    types: Annotated[
        int | None, typer.Option(help="How many types there are; their means are even over [0, 1].")
    ] = None,
    dim: Annotated[
        int | None, typer.Option(help="Or how many numbers an arrival has; they are even over the unit cube.")
    ] = None,
    kernel: Annotated[KernelName, typer.Option(help="How smooth, with --dim.")] = "se",
    lengthscale: Annotated[float, typer.Option(help="How far it stays alike, with --dim.")] = 0.5,
    error_cost: Annotated[
        float | None, typer.Option(help="What being wrong by 1 costs; 1 unless given.")
    ] = None,
    under_cost: Annotated[
        float | None,
        typer.Option(help="What an answer too low by 1 costs, where one too high costs another."),
    ] = None,
    over_cost: Annotated[
        float | None, typer.Option(help="What an answer too high by 1 costs, beside it.")
    ] = None,
    miss_cost: Annotated[
        float | None, typer.Option(help="Of yes/no labels: what a no costs that is a yes.")
    ] = None,
    false_alarm_cost: Annotated[
        float | None, typer.Option(help="Of yes/no labels: what a yes costs that is a no.")
    ] = None,
    budget: Annotated[float | None, typer.Option(help="The most that is spent on labels in all.")] = None,
    per: Annotated[
        tuple[float, int] | None,
        typer.Option(
            help="The most MONEY that is spent on labels in any ROUNDS arrivals in a row.",
            metavar="MONEY ROUNDS",
        ),
    ] = None,
    audit: Annotated[
        float | None, typer.Option(help="Label this share of what the rule declines, at random.")
    ] = None,
    forgetting: Annotated[
        float | None, typer.Option(help="Arrivals after which a label counts half, with --types.")
    ] = None,
    labeller: Annotated[
        list[str] | None,
        typer.Option(
            help="Who gives labels, instead of --cost: name, cost and noise, such as nurse:2:3.0; may be "
            "given several times.",
            metavar="NAME:COST:NOISE",
        ),
    ] = None,
    trials: Annotated[int, typer.Option(help="Simulated streams.")] = 5,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Say what to expect before there are data: labels, spend and errors.

    By simulation, with what the paper proves beside it, and at other costs of a label. Errors are against
    labels, as in the bill of `simulate`.
    """
    from breakeven.planning.plan import plan as simulated
    from breakeven.planning.prospect import Prospect

    labellers = labellers_of(labeller or [])
    prospect = Prospect(
        rounds=rounds,
        cost=_cost(cost, labellers),
        **_noise(noise_std, share, labellers),
        share=share,
        types=types,
        dim=dim,
        kernel=kernel,
        lengthscale=lengthscale,
        error_cost=error_cost,
        under_cost=under_cost,
        over_cost=over_cost,
        miss_cost=miss_cost,
        false_alarm_cost=false_alarm_cost,
        budget=budget,
        per=per,
        audit=audit,
        forgetting=forgetting,
        labellers=labellers,
        trials=trials,
        seed=seed,
    )
    with bar("Simulating", hidden=as_json) as progress:
        found = simulated(prospect, progress)
    if as_json:
        print_json({**to_builtins(found), "headline": _headline(found), "break_even": _break_even(found)})
    else:
        print(_words(found))


def _cost(cost: float | None, labellers: dict[str, Labeller]) -> float:
    """What a label costs, by the labeller who gives most information for the money where there are some."""
    if (cost is None) == (not labellers):
        came = "neither" if cost is None else "both"
        expect.refuse("cost", "what a label costs, or labellers", came, described=True)
    if cost is not None:
        return cost
    offers = (Offer(one.cost, one.noise_std, name, one.cost) for name, one in labellers.items())
    return best_offer(offers).cost


def _noise(noise_std: float | None, share: float | None, labellers: dict[str, Labeller]) -> dict[str, float]:
    """The noise of labels, which yes/no labels do without and labellers have of their own."""
    if noise_std is None and share is None and not labellers:
        expect.refuse("noise_std", "the noise of labels, or a share of yeses", "neither", described=True)
    return {} if noise_std is None else {"noise_std": noise_std}


def _headline(found: "Plan") -> str:
    own = _own(found)
    return headline(own, compared(own, found.rows), to_come=True)


def _own(found: "Plan") -> "BillRow":
    return next(row for row in found.rows if row.name == "breakeven")


def _break_even(found: "Plan") -> list[str]:
    return sweep_words(found.sweep, "breakeven")


def _words(found: "Plan") -> str:
    own = _own(found)
    parts = [
        [_title(found.prospect)],
        [*_limits(found.prospect)],
        table_of_ways(found.rows, own),
        filled([f"{_headline(found)}.", *_break_even(found)]),
        filled([ABOUT_COLUMNS.format(own.name), *_errors(found.prospect)]),
        filled([_proof(found.prospect)]),
        table([("", "labels", "total"), *_bounds(found.against_f, found.proven)] if found.proven else []),
        ["Totals at other costs of a label (< is yours):", *table_of_costs(found.sweep, found.prospect.cost)],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _limits(prospect: "Prospect") -> list[str]:
    """What else was asked for, a line each."""
    said = []
    if prospect.labellers:
        some = [
            f"{name} {amount(one.cost)} (noise {amount(one.noise_std)})"
            for name, one in prospect.labellers.items()
        ]
        said.append(f"Labellers: {', '.join(some)}")
    if prospect.budget is not None:
        said.append(f"Budget: at most {amount(prospect.budget)} in all")
    if prospect.per is not None:
        said.append(f"Budget: at most {amount(prospect.per[0])} in any {prospect.per[1]:,} arrivals")
    if prospect.audit is not None:
        said.append(f"Audit: {100.0 * prospect.audit:.3g}% of what the rule declines is labelled at random")
    if prospect.forgetting is not None:
        said.append(f"Forgetting: a label counts half after {amount(prospect.forgetting)} arrivals")
    return said


def _title(prospect: "Prospect") -> str:
    size, what = (prospect.dim, "dimension") if prospect.types is None else (prospect.types, "type")
    rounds, parts = several(prospect.rounds, "arrival"), several(size or 0, what)
    noise = f"noise {prospect.noise_std:g}"
    if prospect.share is not None:
        noise = f"{100.0 * prospect.share:.3g}% say yes"
    trials = "one stream" if prospect.trials == 1 else f"means of {prospect.trials:,} streams"
    return f"{rounds}, {parts}, a label costs {prospect.cost:,.10g}, {noise}; {trials}"


def _errors(prospect: "Prospect") -> list[str]:
    """How errors are counted here."""
    errors = prospect.errors
    if prospect.share is not None:
        said = "A labelled arrival counts as right; any other is answered yes or no."
        if not errors.even:
            miss, alarm = 2.0 * errors.level, 2.0 * (1.0 - errors.level)
            said += f" A miss counts as {miss:.3g} errors, a false alarm as {alarm:.3g}."
        return [
            said,
            about_no_one(errors, yes_no=prospect.share is not None),
        ]
    if prospect.labellers:
        return [
            "Errors are against f: a labelled arrival is answered by the prediction that knows its label, "
            "any other by the prediction without.",
            about_no_one(errors, yes_no=prospect.share is not None),
        ]
    noise = amount(expected_error(errors.level) * prospect.noise_std)
    counted = (
        ""
        if errors.even
        else (
            f", {2.0 * errors.level:.3g} times that where the prediction is too low, "
            f"{2.0 * (1.0 - errors.level):.3g} times where it is too high"
        )
    )
    return [
        "Errors are against labels, as in `breakeven simulate`: a labelled arrival counts as right, any "
        f"other is wrong by the distance from prediction to label{counted}. Noise alone would make a perfect "
        f"prediction wrong by {noise} on average.",
        about_no_one(errors, yes_no=prospect.share is not None),
    ]


def _proof(prospect: "Prospect") -> str:
    """Under what assumptions the bounds hold."""
    if prospect.share is not None and prospect.types is None:
        return "For yes/no labels of rows of numbers the paper proves nothing."
    words = (
        "What the paper proves for its threshold, with probability 95%. Errors are here against f itself, "
        "at labelled arrivals, too."
    )
    if prospect.types is not None:
        return f"{words} However arrivals are split among the types:"
    return (
        f"{words} For noise that never exceeds its std, f of norm {sqrt(prospect.rounds):.4g}, which draws "
        "have at their arrivals on average, and as much information as labels in the unit cube can give:"
    )


def _bounds(measured: "BillRow", proven: "Proven") -> list[tuple[str, ...]]:
    rows = [
        ("  measured", measured.labels, measured.total),
        ("  at most", proven.labels, proven.total),
        ("  any rule, worst case", None, proven.least_total),
    ]
    return [(name, *map(_known, some)) for name, *some in rows if some != [None, None]]


def _known(number: float | None) -> str:
    return "-" if number is None else amount(number)
