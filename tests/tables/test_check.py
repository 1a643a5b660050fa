"""A table whose belief is checked: the bill says how it stands, and goes on checked."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from breakeven import Check, from_table
from breakeven.errors import InvalidInput
from breakeven.tables.over_time import about_trust, warnings
from breakeven.values import Refuted, Standing
from tests.tables.samples import smooth


def table(shift):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 4, 800)
    later = np.arange(800) >= 400
    return pl.DataFrame({"kind": kind, "score": kind + shift * later + 0.3 * rng.standard_normal(800)})


def outcome(shift=0.0, **options):
    return from_table(
        table(shift), label="score", type="kind", cost=1.0, noise_std=0.3, sweep=False, **options
    )


def test_the_bill_says_how_the_belief_stands():
    still, moved = outcome(check=0.1), outcome(3.0, check=0.1)
    tests = still.summary()["standing"].tests
    assert f"The belief is consistent: {tests} labels have tested it, and none refuted it." in still.notes
    assert still.summary()["standing"].alarms == 0
    assert "tested it, and refuted it 2 times; those since do not contradict it." in " ".join(moved.notes)
    assert moved.own_row.total < outcome(3.0).own_row.total
    assert "Check(Value(" in moved.bill.configuration
    assert "from breakeven import Check, Value" in moved.bill.configuration


def test_it_is_off_unless_asked_for():
    plain = outcome()
    assert plain.learner.rule.check is None
    assert plain.summary()["standing"] is None
    assert isinstance(outcome(check=0.0).learner.rule, Check)
    with pytest.raises(InvalidInput, match="check: expected"):
        outcome(check=2.0)


def test_rules_it_is_compared_with_are_not_checked():
    names = {row.name: row for row in outcome(check=0.1, compare=True).rows}
    plain = {row.name: row for row in outcome(compare=True).rows}
    assert names["the paper's threshold"] == plain["the paper's threshold"]


def test_a_belief_that_no_label_tested_is_not_called_consistent():
    bill = from_table(smooth(2), label="y", cost=1.0, sweep=False)
    assert "No label has tested the belief yet." in bill.notes


SAID = {
    "consistent": (Standing(tests=60, evidence=0.3, alarms=1), "do not contradict it"),
    "in doubt": (Standing(tests=60, evidence=7.0, alarms=1), "speak against it"),
    "refuted since case 400": (Standing(tests=60, alarms=1, refuted_since=400, outdated=30), "not known yet"),
}


@pytest.mark.parametrize("words", SAID)
def test_notes_and_warnings_say_the_state_that_the_belief_is_in(words):
    standing, said = SAID[words]
    learner = SimpleNamespace(ledger=SimpleNamespace(standing=standing), belief=None)
    run = SimpleNamespace(learner=learner, refuted=[Refuted(9, "", 400, 30, 1.0)])
    assert about_trust(standing).startswith(f"The belief is {words}: 60 labels have tested it")
    assert said in about_trust(standing)
    assert said in warnings(run)[0]
