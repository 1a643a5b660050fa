"""A learner behind a table takes and gives rows, labels and prices as the table has them."""

import polars as pl
import pytest

from breakeven import Audit, Budget, Labeller, Threshold, Value
from breakeven.errors import InvalidInput
from tests.tables.samples import run_of, smooth

UNIT = 1_000.0
ROW = {"a": 0.3, "b": -1.0}


def far(rows=60):
    """Labels that are far from standard units."""
    return smooth(rows).with_columns(pl.col("y") * UNIT + 5.0 * UNIT)


@pytest.fixture
def clinic():
    return run_of(far(), cost=UNIT).learner


def test_what_is_told_and_corrected_is_a_label_of_the_table(clinic):
    clinic.decide(ROW, id="Anna", force=True)
    assert clinic.tell("Anna", 9_000.0).mean == pytest.approx(9_000.0, abs=2 * UNIT)
    clinic.correct("Anna", 4_000.0)
    assert clinic.predict(ROW).mean == pytest.approx(4_000.0, abs=2 * UNIT)
    clinic.withdraw("Anna", charged=True)
    assert clinic.ledger.awaited == 0


def test_a_gift_is_a_label_of_the_table(clinic):
    clinic.learn(ROW, 9_000.0)
    assert clinic.predict(ROW).mean == pytest.approx(9_000.0, abs=2 * UNIT)


def test_labels_awaited_are_shown_as_the_table_has_them(clinic):
    clinic.decide(ROW, id="Anna", force=True)
    assert clinic.pending["Anna"].x == pytest.approx((0.3, -1.0))


def test_prices_are_those_of_the_tables_own_units(clinic):
    worth = clinic.decide(ROW, id="Anna").worth
    clinic.reprice(error_cost=1.0)
    assert clinic.ledger.error_cost == pytest.approx(1.0)
    clinic.reprice(error_cost=3.0, rule=Value(horizon=1_000, scored="labels"))
    assert clinic.decide(ROW, id="Ben").worth > worth
    with pytest.raises(InvalidInput, match="error_cost"):
        clinic.reprice(error_cost=-1.0)


def test_labellers_are_as_noisy_as_labels_of_the_table_are(clinic):
    labellers = {"nurse": Labeller(2.0, 400.0), "mri": Labeller(50.0, 20.0)}
    clinic.reprice(labellers=labellers)
    unit = clinic.scales.label_spread
    assert clinic.learner.labellers["mri"].noise_std == pytest.approx(20.0 / unit)
    decision = clinic.decide(ROW, id="Anna", force=True)
    clinic.tell("Anna", 5_000.0, labeller=decision.labeller)


def test_audits_are_in_units_of_the_table(clinic):
    clinic.reprice(
        rule=Budget(
            Audit(Threshold(scale=1e6), rate=0.5, bound=8_000.0, noise_std=100.0, bound_on="labels"),
            total=1e9,
        )
    )
    for number, (a, b, y) in enumerate(far(40).select("a", "b", "y").iter_rows()):
        decision = clinic.decide({"a": a, "b": b}, id=f"p{number}")
        if decision.wants_label:
            clinic.tell(decision.id, y)
    report = clinic.ledger.audit
    assert "|y − p| ≤ 8000 " in str(report.assumption)
    assert 1.0 < report.absolute.estimate < 3 * UNIT
    assert report.rms_bound == pytest.approx(report.squared.high**0.5)
    assert report.exceeded == 0


def test_prices_in_a_column_are_those_of_the_row():
    frame = far().with_columns(pl.Series("price", [20.0, 2.0] * 30))
    clinic = run_of(frame, cost=None, cost_column="price").learner
    assert clinic.decide({**ROW, "price": 11.0}, id="Anna").cost == 11.0
    assert clinic.decide({**ROW, "price": 11.0}, id="Ben", cost=3.0).cost == 3.0
    with pytest.raises(InvalidInput, match="price"):
        clinic.decide(ROW)


def test_labels_may_be_told_as_the_table_has_them():
    frame = far().with_columns(pl.col("y") > 5.0 * UNIT)
    clinic = run_of(frame, cost=0.1).learner
    for number, label in enumerate((True, 0, "true")):
        clinic.decide(ROW, id=f"p{number}", force=True)
        assert -1.0 < clinic.tell(f"p{number}", label).mean < 2.0
    with pytest.raises(InvalidInput, match="y: expected true or false"):
        clinic.learn(ROW, "maybe")


def test_labellers_have_prices_of_their_own_beside_a_column_of_prices():
    frame = far().with_columns(pl.Series("price", [20.0, 2.0] * 30))
    clinic = run_of(frame, cost=None, cost_column="price").learner
    clinic.reprice(labellers={"nurse": Labeller(2.0, 400.0), "mri": Labeller(50.0, 20.0)})
    assert clinic.decide({**ROW, "price": 11.0}, id="Anna", force=True).cost in (2.0, 50.0)
    assert clinic.decide(ROW, id="Ben", force=True, cost={"nurse": 1e9, "mri": 3.0}).cost == 3.0
