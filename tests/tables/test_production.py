"""What a bill leaves is an ordinary learner: rows, labels and costs are as the table has them, far from 1."""

import polars as pl
import pytest

from breakeven import Audit, Budget, Labeller, Learner, Threshold, Value
from breakeven.errors import InvalidInput
from tests.tables.samples import run_of, smooth

UNIT = 1_000.0
ROW = {"a": 0.3, "b": -1.0}


def far(rows=60):
    """Labels that are far from zero and of a large unit."""
    return smooth(rows).with_columns(pl.col("y") * UNIT + 5.0 * UNIT)


@pytest.fixture
def clinic():
    return run_of(far(), cost=UNIT).learner


@pytest.fixture
def point():
    return run_of(far(20), cost=UNIT).cases.columns.point(ROW)


def test_it_is_a_learner_and_nothing_else(clinic):
    assert type(clinic) is Learner


def test_what_is_told_and_corrected_is_a_label_of_the_table(clinic, point):
    before = clinic.decide(point, id="Anna", force=True).prediction.mean
    high = clinic.tell("Anna", before + UNIT).mean
    clinic.correct("Anna", before - UNIT)
    low = clinic.predict(point).mean
    assert before - UNIT < low < before - 0.1 * UNIT
    assert before + 0.1 * UNIT < high < before + UNIT
    clinic.withdraw("Anna", charged=True)
    assert clinic.ledger.awaited == 0


def test_a_gift_is_a_label_of_the_table(clinic, point):
    before = clinic.predict(point).mean
    clinic.learn(point, before + UNIT)
    assert before + 0.1 * UNIT < clinic.predict(point).mean < before + UNIT


def test_labels_awaited_are_shown_as_the_table_has_them(clinic, point):
    clinic.decide(point, id="Anna", force=True)
    assert clinic.awaited["Anna"].x == (0.3, -1.0)


def test_costs_of_errors_are_in_the_tables_own_unit(clinic, point):
    worth = clinic.decide(point, id="Anna").worth
    assert clinic.error_cost == 1.0
    clinic.reprice(error_cost=3.0, rule=Value(horizon=1_000, scored="labels"))
    assert clinic.decide(point, id="Ben").worth > worth


def test_labellers_are_as_noisy_as_labels_of_the_table_are(clinic, point):
    clinic.reprice(labellers={"nurse": Labeller(2.0, 400.0), "mri": Labeller(50.0, 20.0)})
    decision = clinic.decide(point, id="Anna", force=True)
    clinic.tell("Anna", 5_000.0, labeller=decision.labeller)
    assert clinic.predict(point).mean == pytest.approx(5_000.0, abs=UNIT)


def test_audits_are_in_units_of_the_table(clinic):
    clinic.reprice(
        rule=Budget(
            Audit(Threshold(scale=1e6), rate=0.5, bound=8_000.0, noise_std=100.0, bound_on="labels"),
            total=1e9,
        )
    )
    for number, (a, b, y) in enumerate(far(40).select("a", "b", "y").iter_rows()):
        decision = clinic.decide([a, b], id=f"p{number}")
        if decision.wants_label:
            clinic.tell(decision.id, y)
    report = clinic.ledger.audit
    assert "|y − p| ≤ 8000 " in str(report.assumption)
    assert 1.0 < report.absolute.estimate < 3 * UNIT
    assert report.rms_bound == pytest.approx(report.squared.high**0.5)
    assert report.exceeded == 0


def test_costs_in_a_column_are_those_of_the_row():
    run = run_of(far().with_columns(pl.Series("price", [20.0, 2.0] * 30)), cost=None, cost_column="price")
    columns, clinic = run.cases.columns, run.learner
    row = {**ROW, "price": 11.0}
    assert clinic.decide(columns.point(row), cost=columns.cost(row), id="Anna").cost == 11.0
    with pytest.raises(InvalidInput, match="price"):
        columns.cost(ROW)


def test_labels_may_be_told_as_the_table_has_them():
    run = run_of(far().with_columns(pl.col("y") > 5.0 * UNIT), cost=0.1)
    columns, clinic = run.cases.columns, run.learner
    for number, label in enumerate((True, 0, "true")):
        clinic.decide(columns.point(ROW), id=f"p{number}", force=True)
        assert -1.0 < clinic.tell(f"p{number}", columns.label(label)).mean < 2.0
    with pytest.raises(InvalidInput, match="y: expected true or false"):
        columns.label("maybe")
