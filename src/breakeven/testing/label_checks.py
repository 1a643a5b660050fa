"""Checks on labels that come now, late, twice, wrongly or never."""

from math import isinf

from msgspec.structs import replace

from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.learner import Learner
from breakeven.testing.contract import (
    LabelledStream,
    Make,
    blind,
    check,
    every,
    fixed,
    new,
    steady,
    types,
)
from breakeven.testing.stream_runs import (
    assert_same_decisions,
    assert_same_predictions,
    is_exact,
    near,
    nothing_changes,
    past_warmup,
    refused,
    run,
    run_late,
    uncertainty,
)
from breakeven.values import Prediction


@check(every)
def an_awaited_label_counts_in_the_uncertainty_at_once(make: Make, stream: LabelledStream) -> None:
    """Asking narrows the uncertainty there; until it is told, the prediction is as if nobody had asked."""
    asked, silent = past_warmup(make(), stream), past_warmup(make(), stream)
    for learner in (asked, silent):
        for known, y in list(zip(stream.points, stream.labels, strict=True))[1 : 1 + ENOUGH_TO_FIT]:
            learner.learn(known, y)
    x = stream.points[0]
    asked.decide(x, force=True)
    silent.decide(x, force=False)
    assert uncertainty(asked, x) < uncertainty(silent, x), "asking did not narrow the uncertainty"
    assert asked.predict(x) == silent.predict(x), "an awaited label moved the prediction"


@check(fixed)
def telling_moves_the_mean_and_not_the_uncertainty(make: Make, stream: LabelledStream) -> None:
    """Uncertainty does not depend on y, so a told label changes it as little as an awaited one."""
    learner, x = make(), stream.points[0]
    id = learner.decide(x, force=True).id
    before, predicted = uncertainty(learner, x), learner.predict(x)
    after = learner.tell(id, stream.above(predicted.mean))
    assert _height(after) > _height(predicted), "a higher label did not raise the mean"
    assert abs(uncertainty(learner, x) - before) <= 1e-10 * before, "telling changed the uncertainty"


def _height(one: Prediction) -> float:
    """What a higher label raises: the mean, or the probability of a yes."""
    return one.mean if one.probability is None else one.probability


@check(fixed & blind & steady)
def late_labels_lead_to_the_same_decisions(make: Make, stream: LabelledStream) -> None:
    """Labels late and out of order: same decisions, and the same predictions in the end."""
    prompt, late = make(), make()
    compared = assert_same_decisions(run(prompt, stream), run_late(late, stream), exact=is_exact(prompt))
    assert compared == len(stream.points), f"decision {compared + 1} is too close to call: change the stream"
    assert_same_predictions(prompt, late, stream)


@check(every)
def tell_returns_the_updated_prediction(make: Make, stream: LabelledStream) -> None:
    """What `tell` returns is what `predict` says from then on."""
    learner = make()
    for x, y in zip(stream.points[:10], stream.labels[:10], strict=True):
        decision = learner.decide(x, force=True)
        assert near(learner.tell(decision.id, y), learner.predict(x)), "tell and predict disagree"


@check(every)
def telling_twice_is_harmless_and_otherwise_refused(make: Make, stream: LabelledStream) -> None:
    """The same value again changes nothing; another value is an error that names `correct`."""
    learner = make()
    id = learner.decide(stream.points[0], force=True).id
    low, high = stream.two
    learner.tell(id, low)
    with nothing_changes(learner):
        learner.tell(id, low)
    with refused(learner, str(low), str(high), "correct"):
        learner.tell(id, high)


@check(fixed)
def a_correction_changes_only_means(make: Make, stream: LabelledStream) -> None:
    """After a correction all is as if the right label had been told at first; decisions stand."""
    wrong, right = make(), make()
    _check_correction(wrong, right, stream, None)
    for learner in (wrong, right):
        run(learner, stream)
    for labeller in wrong.labellers or (None,):  # among others a label counts by the noise of who gave it
        _check_correction(wrong, right, stream, labeller)


def _check_correction(wrong: Learner, right: Learner, stream: LabelledStream, labeller: str | None) -> None:
    ids = [learner.decide(stream.points[0], force=True).id for learner in (wrong, right)]
    wrong.tell(ids[0], stream.two[1], labeller=labeller)
    right.tell(ids[1], stream.two[0], labeller=labeller)
    before = uncertainty(wrong, stream.points[0])
    wrong.correct(ids[0], stream.two[0])
    assert uncertainty(wrong, stream.points[0]) == before, "a correction changed the uncertainty"
    assert_same_predictions(wrong, right, stream)
    bills = [replace(learner.ledger, standing=None) for learner in (wrong, right)]  # what was tested stays so
    assert bills[0] == bills[1], "a correction changed the bill"


@check(fixed)
def withdrawing_gives_certainty_back(make: Make, stream: LabelledStream) -> None:
    """A withdrawn label, awaited or told, leaves uncertainty and prediction as if nobody had asked."""
    learner, reference = make(), make()
    run(learner, stream)
    run(reference, stream)
    x = stream.points[3]
    for _ in range(2):
        reference.decide(x, force=False)
    awaited, told = (learner.decide(x, force=True).id for _ in range(2))
    learner.tell(told, stream.two[1])
    learner.withdraw(awaited)
    learner.withdraw(told)
    before, after = uncertainty(reference, x), uncertainty(learner, x)
    given_back = before == after or abs(before - after) <= 1e-9 * before
    assert given_back, f"certainty was not given back: {before}, now {after}"
    assert_same_predictions(learner, reference, stream)


@check(fixed)
def a_reopened_label_is_awaited_again(make: Make, stream: LabelledStream) -> None:
    """Nothing is bought twice; told again, all is as if there had been no mistake."""
    mistaken, right = make(), make()
    for learner in (mistaken, right):
        run(learner, stream)
        learner.decide(stream.points[3], force=True, id="mistaken")
    bill, before = mistaken.ledger, uncertainty(mistaken, stream.points[3])
    mistaken.tell("mistaken", stream.two[1])
    mistaken.reopen("mistaken")
    with nothing_changes(mistaken):
        mistaken.reopen("mistaken")
    assert list(mistaken.awaited) == ["mistaken"], "a reopened label is not awaited"
    assert mistaken.ledger == bill, "reopening changed the bill"
    after = uncertainty(mistaken, stream.points[3])
    assert abs(after - before) <= 1e-9 * before, f"reopening changed the uncertainty: {before}, now {after}"
    assert_same_predictions(mistaken, right, stream)
    for learner in (mistaken, right):
        learner.tell("mistaken", stream.two[0])
    assert_same_predictions(mistaken, right, stream)
    assert mistaken.ledger == right.ledger, "the bills differ"


@check(every)
def a_withdrawal_that_is_undone_is_paid_again(make: Make, stream: LabelledStream) -> None:
    """The label is awaited as before, counts in the bill once, and is no gift when it comes."""
    for charged in (False, True):
        learner, x = make(), stream.points[0]
        learner.decide(x, force=True, id="undone")
        learner.tell("undone", stream.two[1])
        bill = learner.ledger
        learner.withdraw("undone", charged=charged)
        assert learner.ledger.labels == charged, "the withdrawal is miscounted"
        learner.reopen("undone")
        assert list(learner.awaited) == ["undone"], "the label is not awaited again"
        with nothing_changes(learner):
            learner.reopen("undone")
        learner.tell("undone", stream.two[0])
        assert learner.ledger == bill, f"expected the bill {bill}, got {learner.ledger}"
        learner.withdraw("undone")
        assert learner.ledger.labels == 0, "a label that was bought again cannot be given back"


@check(fixed)
def a_withdrawal_that_is_undone_leaves_no_trace(make: Make, stream: LabelledStream) -> None:
    """Whether the label had been told or was awaited; decisions that follow are the same."""
    for told in (False, True):
        undone, right = make(), make()
        for learner in (undone, right):
            run(learner, stream)
            learner.decide(stream.points[3], force=True, id="undone")
        if told:
            undone.tell("undone", stream.two[1])
        undone.withdraw("undone")
        undone.reopen("undone")
        before, after = uncertainty(right, stream.points[3]), uncertainty(undone, stream.points[3])
        assert abs(after - before) <= 1e-9 * before, f"the uncertainty changed: {before}, now {after}"
        for learner in (undone, right):
            learner.tell("undone", stream.two[0])
        assert_same_predictions(undone, right, stream)
        assert undone.ledger == right.ledger, "the bills differ"


@check(fixed)
def an_unasked_label_that_is_reopened_is_unasked_again(make: Make, stream: LabelledStream) -> None:
    """It leaves nothing behind, and may be told again."""
    mistaken, right = make(), make()
    for learner in (mistaken, right):
        run(learner, stream)
        learner.decide(stream.points[3], force=False, id="mistaken")
    mistaken.tell("mistaken", stream.two[1])
    mistaken.reopen("mistaken")
    assert "mistaken" not in mistaken.awaited, "a label that nobody asked for is awaited"
    assert mistaken.ledger == right.ledger, "the bills differ"
    assert_same_predictions(mistaken, right, stream)
    with refused(mistaken, "mistaken"):
        mistaken.withdraw("mistaken")
    mistaken.tell("mistaken", stream.two[0])


@check(every)
def a_label_told_after_its_withdrawal_is_learnt(make: Make, stream: LabelledStream) -> None:
    """It costs nothing more than was charged."""
    for charged in (False, True):
        learner = make()
        learner.decide(stream.points[0], force=True, id="late")
        learner.withdraw("late", charged=charged)
        bill, known = learner.ledger, learner.summary().labels_known
        assert bill.labels == charged, "the withdrawal is miscounted"
        learner.tell("late", stream.two[0])
        assert learner.summary().labels_known == known + 1, "the label was not learnt"
        assert learner.ledger == bill, "a label that came after its withdrawal changed the bill"
        with nothing_changes(learner):
            learner.tell("late", stream.two[0])


@check(every)
def withdrawing_twice_is_harmless_and_otherwise_refused(make: Make, stream: LabelledStream) -> None:
    """The same again changes nothing; charged after not charged is an error, and the other way round."""
    for charged in (False, True):
        learner = make()
        learner.decide(stream.points[0], force=True, id="gone")
        learner.withdraw("gone", charged=charged)
        with nothing_changes(learner):
            learner.withdraw("gone", charged=charged)
        with refused(learner, "gone", "charged"):
            learner.withdraw("gone", charged=not charged)


@check(types & fixed & new)
def withdrawing_counts_the_arrival_but_not_the_label(make: Make, stream: LabelledStream) -> None:
    """N and N_k fall by the label, M_k stays."""
    learner, x = make(), stream.points[0]
    id = learner.decide(x, force=True).id
    learner.withdraw(id)
    view = learner.belief.look(learner.belief.point(x))
    assert view.labels == 0, "the label still counts"
    assert isinf(view.uncertainty), "the label still counts in the radius"
    assert view.arrivals == 2, "the arrival no longer counts"


@check(every)
def unknown_ids_are_refused(make: Make, stream: LabelledStream) -> None:
    """Every verb that takes an id says which it did not know."""
    learner = make()
    learner.decide(stream.points[0], force=True, id="known")
    for verb in (
        lambda: learner.tell("ghost", 1.0),
        lambda: learner.correct("ghost", 1.0),
        lambda: learner.withdraw("ghost"),
        lambda: learner.reopen("ghost"),
        lambda: learner.decision("ghost"),
    ):
        with refused(learner, "ghost"):
            verb()
    with refused(learner, "awaited", "tell"):
        learner.correct("known", 1.0)
    with refused(learner, "known", "awaited"):
        learner.reopen("known")


@check(every)
def an_unasked_arrival_may_be_told_too(make: Make, stream: LabelledStream) -> None:
    """A label nobody asked for is learnt and costs nothing."""
    learner = make()
    known = learner.summary().labels_known
    id = learner.decide(stream.points[0], force=False).id
    learner.tell(id, stream.two[1])
    assert learner.summary().labels_known == known + 1, "the label was not learnt"
    assert learner.ledger.label_spend == 0.0, "a label that was not asked for was charged"


@check(every)
def learning_is_no_arrival_and_costs_nothing(make: Make, stream: LabelledStream) -> None:
    """A label from elsewhere teaches, and leaves the bill alone."""
    learner = make()
    before, known = learner.ledger, learner.summary().labels_known
    learner.learn(stream.points[0], stream.two[0])
    assert learner.ledger == before, "a gift changed the bill"
    assert learner.summary().labels_known == known + 1, "a gift taught nothing"


@check(fixed)
def a_label_learnt_under_an_id_can_be_corrected_and_withdrawn(make: Make, stream: LabelledStream) -> None:
    """Ids of gifts share the names of arrivals; the same gift again counts once."""
    learner, right = make(), make()
    for one in (learner, right):
        run(one, stream)
    x = stream.points[3]
    learner.learn(x, stream.two[1], id="gift")
    with nothing_changes(learner):
        learner.learn(x, stream.two[1], id="gift")
    with refused(learner, "gift", str(stream.two[1]), str(stream.two[0]), "correct"):
        learner.learn(x, stream.two[0], id="gift")
    with refused(learner, "gift"):
        learner.decide(x, id="gift")
    with refused(learner, "gift"):
        learner.reopen("gift")
    learner.correct("gift", stream.two[0])
    right.learn(x, stream.two[0])
    assert_same_predictions(learner, right, stream)
    learner.withdraw("gift")
    assert learner.summary().labels_known == right.summary().labels_known - 1, "the gift is still known"
