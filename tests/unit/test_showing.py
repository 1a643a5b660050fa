"""How things show themselves: as text, as small tables, and as figures."""

import numpy as np
import pytest
from msgspec.structs import replace

from breakeven import Always, Learner, Ledger, Threshold, TypeMeans, algorithm1, simulate
from breakeven.errors import InvalidInput
from breakeven.learner.state import CHANGING
from breakeven.ledger import MOST_DRAWN, running_chart
from breakeven.values.showing import columns_table, facts_table, lines_table

EVIL = "<script>alert('x')</script>"


def trace(rounds=60):
    xs = ["a", "b", "a"] * (rounds // 3)
    return simulate(algorithm1(label_cost=2.0, noise_std=0.1), xs, np.arange(float(len(xs))) % 3)


def test_tables_escape_whatever_is_in_them():
    for table in (
        facts_table(EVIL, [(EVIL, EVIL)]),
        columns_table(EVIL, [EVIL, EVIL], [(EVIL, EVIL)]),
        lines_table(EVIL, f"{EVIL}  {EVIL}\n{EVIL}"),
    ):
        assert "<script" not in table
        assert "&lt;script&gt;" in table


def test_a_decision_shows_its_answer_and_why():
    learner = Learner(TypeMeans(0.5), Threshold(), label_cost=2.0)
    decision = learner.decide("flu", id=EVIL)
    assert str(decision) == f"{EVIL}: {decision.why}"
    html = decision._repr_html_()
    assert "<script" not in html
    assert "label it" in html
    assert decision.why in html
    assert "inf" not in html


def test_a_decision_that_was_weighed_shows_its_worth():
    decision = replace(Learner(TypeMeans(0.5), Always(), label_cost=2.0).decide("flu"), worth=1234.0)
    assert "1,230" in decision._repr_html_()


def test_a_learner_shows_itself_in_one_line_in_several_and_as_a_table():
    learner = Learner(TypeMeans(0.5), Threshold(), label_cost=2.0, name="<ward>")
    learner.decide("flu")
    assert repr(learner) == "<Learner '<ward>': TypeMeans, Threshold, 1 arrivals, 1 labels bought, 1 awaited>"
    assert str(learner) == str(learner.summary())
    html = learner._repr_html_()
    assert "learner &lt;ward&gt;" in html
    assert "labels bought" in html


def test_a_torn_learner_has_a_repr():
    learner = Learner(TypeMeans(0.5), Threshold(), label_cost=2.0)
    learner.state.phase = CHANGING
    assert repr(learner).startswith("<Learner: TypeMeans")


def test_an_explanation_shows_its_sentences():
    learner = Learner(TypeMeans(0.5), Threshold(), label_cost=2.0)
    one = learner.explain(learner.decide("flu").id)
    assert str(one).splitlines() == ["case 1", *(f"  {sentence}" for sentence in one.sentences)]
    assert all(sentence in one._repr_html_() for sentence in one.sentences)


def test_a_bill_and_a_trace_show_totals_and_not_every_round():
    run = trace()
    assert repr(run.ledger).startswith("Ledger(rounds=60, labels=")
    assert "[" not in repr(run)
    assert str(run) == str(run.ledger)
    assert "60 rounds, replayed" in run._repr_html_()
    assert "prediction error" in run.ledger._repr_html_()
    assert repr(Ledger(rounds=4)).endswith("total_loss=unknown)")


def test_the_chart_of_a_bill_has_its_running_averages():
    bill = trace(1200).ledger
    whole, labels, errors = running_chart(bill).lines
    assert (whole.x[0], whole.x[-1]) == (1.0, 1200.0)
    assert len(whole.x) <= MOST_DRAWN
    assert whole.y[-1] == pytest.approx(bill.average_loss)
    assert np.allclose(whole.y, np.add(labels.y, errors.y))


def test_the_chart_of_an_empty_replay_is_empty():
    assert running_chart(trace(0).ledger).lines[0].x == []


def test_a_bill_of_totals_cannot_be_drawn():
    with pytest.raises(InvalidInput, match=r"^plot: expected a bill of every round, .* got totals only"):
        Ledger(rounds=4, labels=1).plot()


def test_a_plot_is_a_figure_that_knows_its_picture():
    pytest.importorskip("matplotlib")
    figure = trace().plot()
    (axes,) = figure.axes
    assert len(axes.lines) == 3
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert trace().ledger.plot().axes[0].get_xlabel() == "rounds so far"
