"""Cases of a table, explained: in the words of its columns, by id or by number, and in the report."""

import polars as pl
import pytest

from breakeven.errors import UnknownId
from breakeven.tables import from_table, reasons
from breakeven.tables.reasons import why_section
from tests.tables.samples import smooth, typed


@pytest.fixture(scope="module")
def outcome():
    return from_table(smooth(60), label="y", cost=0.5, sweep=False)


@pytest.fixture(scope="module")
def named():
    frame = smooth(60).with_columns(pl.Series("who", [f"<patient {i}>" for i in range(60)]))
    return from_table(frame, label="y", cost=0.5, id="who", sweep=False)


def test_a_case_is_explained_in_the_words_of_the_table(outcome):
    one = outcome.explain(60)
    assert one == outcome.explain("60")
    assert {feature.name for feature in one.features} <= {"a", "b", "time"}
    assert set(one.similar[0].x) == {"a", "b"}
    row = outcome.decisions.row(int(one.similar[0].id) - 1, named=True)
    assert row["label"] == one.similar[0].label
    assert row["wants_label"]


def test_a_case_that_does_not_exist_is_refused(outcome):
    with pytest.raises(UnknownId, match=r"^id: expected an arrival that is awaited or remembered, got '61'"):
        outcome.explain(61)


def test_the_record_says_what_was_saved_at_once_and_where_answers_flip(outcome):
    for row in outcome.decisions.tail(10).iter_rows(named=True):
        one = outcome.explain(row["id"])
        assert (row["worth_now"], row["flips_at"]) == (one.saves_now, one.flips_at)


@pytest.mark.parametrize("rule", ["value", "threshold", "random"])
def test_compiled_loops_say_where_answers_flip_as_single_decisions_do(rule):
    frame = typed(100_200, types=40)
    options = {"label": "y", "type": "kind", "cost": 2.0, "noise_std": 0.5, "rule": rule, "sweep": False}
    outcome = from_table(frame, **options)
    learner, found = outcome.learner, 0
    for row in outcome.decisions.tail(200).iter_rows(named=True):
        one = learner.explain(str(row["id"]))
        assert row["worth_now"] == one.saves_now
        assert row["flips_at"] == pytest.approx(one.flips_at)
        found += one.flips_at is not None
    assert found == (0 if rule == "random" else 200)


def test_the_report_explains_a_labelled_case_one_that_was_not_and_the_closest_call(outcome):
    section = outcome.bill.sections[-1]
    assert section.title == "Why these cases?"
    assert [text.split(", number ")[0] for text in section.text[1:]] == [
        "**The last case that was labelled",
        "**The last case that was not labelled",
        "**The closest call",
    ]
    assert "if a label cost" in section.text[3]


def test_cases_without_ids_are_named_by_their_number_too(outcome):
    assert "labelled cases are number " in outcome.bill.sections[-1].text[1]


def test_the_closest_call_of_a_long_stream_is_that_of_the_cases_remembered(outcome, monkeypatch):
    monkeypatch.setattr(reasons, "LOOKED_BACK", 40)
    assert "**The closest call of the last 40 cases, number " in why_section(outcome.run)[0].text[3]


def test_without_ids_cases_are_named_by_their_number(named):
    hidden, shown = (why_section(named.run, ids=ids)[0].text for ids in (False, True))
    assert "patient" not in " ".join(hidden)
    assert "are number " in hidden[1]
    assert "<patient " in shown[1]


def test_an_outcome_shows_itself(named):
    assert repr(named).startswith("<Outcome: the frame, 60 cases,")
    assert str(named).splitlines()[1].startswith("label everyone: labels 60, spend 30")
    html = named._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<tr>") == len(named.rows) + 1
    assert "<script" not in html


def test_an_outcome_plots_and_reports(outcome, tmp_path):
    pytest.importorskip("matplotlib")
    assert outcome.plot()._repr_png_().startswith(b"\x89PNG")
    page = outcome.report(tmp_path / "my page.html")
    assert page == tmp_path / "my page.html"
    assert "Why these cases?" in page.read_text()
