"""A bill in sentences: the headline, the break-even costs, and amounts with their unit.

Terminal, page, JSON and Python say the same words, because all of them come from here.
"""

from breakeven.values.amounts import amount
from breakeven.values.bill import (
    ABOUT_NO_ONE,
    ABOUT_NO_ONE_UNEVEN,
    ABOUT_NO_ONE_YES_NO,
    BillRow,
    BreakEven,
    Comparison,
    Crossing,
    Sweep,
)
from breakeven.values.error_costs import ErrorCosts

FEW_PERCENT = 0.1  # a smaller share is written with a decimal
MANY_TIMES = 10.0  # as much: from there on a factor is easier to read than a percentage
WHOLE_STREAM = (
    " In the whole stream every label serves more cases, so the first cost is probably higher there, and the "
    "second lower."
)
DOING = {
    "label everyone": "labelling everyone",
    "label no one": "labelling no one",
    "at random, same money": "labelling at random for the same money",
}


def money(number: float, currency: str = "") -> str:
    """An amount of money, with its currency where that is known.

    >>> money(1234.6, "EUR"), money(-7.0)
    ('1,235 EUR', '-7')
    """
    return f"{amount(number)} {currency}" if currency else amount(number)


def share_in_words(saved: float, of: float) -> str:
    """What is saved of a total as a percentage, or how many times as much it costs where that is a lot.

    >>> share_in_words(38.0, 100.0), share_in_words(-1.2, 100.0), share_in_words(-4e10, 1.0)
    ('38%', '-1.2%', '40bn times as much')
    """
    if of <= 0.0:
        return ""
    share = saved / of
    if 1.0 - share >= MANY_TIMES:
        return f"{amount(float(f'{1.0 - share:.2g}'))} times as much"
    decimals = 0 if abs(share) >= FEW_PERCENT or share == 0.0 else 1
    return f"{share:.{decimals}%}"


def with_share(saved: float, of: float, currency: str = "") -> str:
    """An amount, and in brackets its part of a total.

    >>> with_share(4312.3, 11_230.0), with_share(0.0, 5.0)
    ('4,312 (38%)', '0')
    """
    words = share_in_words(saved, of) if saved else ""
    return f"{money(saved, currency)} ({words})" if words else money(saved, currency)


def about_no_one(errors: ErrorCosts, *, yes_no: bool = False) -> str:
    """What labelling no one answers.

    >>> about_no_one(ErrorCosts(), yes_no=True)[:46]
    '* Answers yes for everyone, or no for everyone'
    """
    if yes_no:
        return ABOUT_NO_ONE_YES_NO
    return ABOUT_NO_ONE if errors.even else ABOUT_NO_ONE_UNEVEN


def doing(name: str) -> str:
    """A simple way as something that one does.

    >>> doing("label no one"), doing("label everyone: nurse")
    ('labelling no one', 'labelling everyone: nurse')
    """
    for start, words in DOING.items():
        if name.startswith(start):
            return words + name[len(start) :]
    return name


def headline(own: BillRow, found: Comparison | None, currency: str = "", *, to_come: bool = False) -> str:
    """The bill in one sentence: what was saved against the cheapest simple way, or that this is cheaper.

    The bill is of past cases, unless it is of cases `to_come`.

    >>> row = BillRow(name="breakeven", labels=1, spend=1.0, mean_error=0.0, total=60.0)
    >>> headline(row, Comparison(than="label no one", total=80.0, saved=20.0))
    'You would have saved 20 (25%) against the cheapest simple way, labelling no one'
    >>> headline(row, Comparison(than="label no one", total=45.0, saved=-15.0))
    'Labelling no one would have been cheaper: breakeven costs 15 more (33%)'
    >>> headline(row, Comparison(than="label no one", total=45.0, saved=-15.0), to_come=True)
    'Labelling no one would be cheaper: breakeven costs 15 more (33%)'
    """
    cost, save, be = ("cost", "save", "be") if to_come else ("have cost", "have saved", "have been")
    if found is None:
        return f"{own.name} would {cost} {money(own.total, currency)}"
    way = doing(found.than)
    if found.saved > 0.0:
        saved = with_share(found.saved, found.total, currency)
        return f"You would {save} {saved} against the cheapest simple way, {way}"
    if found.saved == 0.0:
        return f"You would {save} nothing: {way} costs the same"
    share = share_in_words(found.saved, found.total).removeprefix("-")
    more = f"{money(-found.saved, currency)} more" + (f" ({share})" if share else "")
    return f"{way[0].upper()}{way[1:]} would {be} cheaper: {own.name} costs {more}"


def break_even_words(found: BreakEven, rule: str, currency: str = "") -> list[str]:
    r"""The two break-even costs of a label, a sentence each.

    >>> at = Crossing(cost=8.0, low=4.0, high=16.0)
    >>> found = BreakEven(worth_asking=at, buy_all=Crossing(cost=None, low=0.0, high=1.0))
    >>> print(*break_even_words(found, "breakeven", "EUR"), sep="\n")
    Up to about 8 EUR a label, breakeven costs less than labelling no one.
    Even at 1 EUR a label, buying every label is not the cheapest.
    """
    asking, all_ = found.worth_asking, found.buy_all
    beaten = f"{rule} costs less than labelling no one"
    return [
        _said(
            asking,
            f"Up to about {{}} a label, {beaten}.",
            f"At every cost that was run, up to {{}} a label, {beaten}.",
            f"Even at {{}} a label, {rule} costs more than labelling no one.",
            currency,
        ),
        _said(
            all_,
            "Up to about {} a label, buying every label is cheapest.",
            "At every cost that was run, up to {} a label, buying every label is cheapest.",
            "Even at {} a label, buying every label is not the cheapest.",
            currency,
        ),
    ]


def sweep_words(sweep: Sweep, rule: str, currency: str = "") -> list[str]:
    """The break-even costs, and that our rule is the cheapest nowhere, if so; a sentence each."""
    if sweep.break_even is None:
        return []
    said = break_even_words(sweep.break_even, rule, currency)
    return said if sweep.ever_cheapest else [*said, f"At no cost that was run is {rule} the cheapest way."]


def _said(at: Crossing, between: str, above: str, below: str, currency: str) -> str:
    if at.cost is not None:
        return between.format(money(float(f"{at.cost:.2g}"), currency))
    if at.high is None:
        return above.format(money(at.low, currency))
    return below.format(money(at.high, currency))


def rests_on(found: BreakEven, costs: list[float], cases: int, of_cases: int) -> str:
    """What the break-even costs rest on.

    >>> at = Crossing(cost=8.0, low=4.0, high=16.0)
    >>> rests_on(BreakEven(worth_asking=at, buy_all=at), [1.0, 4.0, 16.0], 2000, 9000)[:60]
    'These costs rest on runs at 3 costs of a label, from 1 to 16'
    """
    which = f"all {of_cases:,} cases"
    if cases < of_cases:
        which = f"{cases:,} of the {of_cases:,} cases, evenly spread over the stream"
    said = (
        f"These costs rest on runs at {len(costs)} costs of a label, from {amount(min(costs))} to "
        f"{amount(max(costs))}, on {which}"
    )
    ends = [
        f"{amount(one.low)} to {amount(one.high)}"
        for one in (found.worth_asking, found.buy_all)
        if one.cost is not None and one.high is not None
    ]
    between = f" Each is read off between the two runs around it ({' and '.join(ends)})." if ends else ""
    whole = WHOLE_STREAM if cases < of_cases else ""
    return f"{said}.{between}{whole}"
