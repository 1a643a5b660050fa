"""A bill in words: that our rule is the cheapest nowhere, and what a part of the cases cannot tell."""

import pytest

from breakeven.values.bill import BillRow, CostPoint, sweep_of
from breakeven.values.bill_words import rests_on, sweep_words


def swept(totals, *, of_cases=20):
    """Three costs of a label: everyone at 10, 20 and 40, no one at 25."""
    points = [
        CostPoint(
            label_cost=cost,
            own=BillRow(name="breakeven", labels=2, spend=1.0, mean_error=1.0, total=total),
            everyone=10.0 * cost,
            no_one=25.0,
        )
        for cost, total in zip((1.0, 2.0, 4.0), totals, strict=True)
    ]
    return sweep_of(points, 20, of_cases)


@pytest.mark.parametrize(("totals", "said"), [((12.0, 24.0, 30.0), True), ((12.0, 19.0, 30.0), False)])
def test_it_is_said_where_our_rule_is_the_cheapest_nowhere(totals, said):
    words = sweep_words(swept(totals), "breakeven")
    assert ("At no cost that was run is breakeven the cheapest way." in words) == said


@pytest.mark.parametrize(("of_cases", "said"), [(20, False), (400, True)])
def test_a_part_of_the_cases_says_what_it_cannot_tell(of_cases, said):
    sweep = swept((12.0, 19.0, 30.0), of_cases=of_cases)
    words = rests_on(sweep.break_even, sweep.label_costs, sweep.cases, sweep.of_cases)
    assert ("In the whole stream every label serves more cases" in words) == said
