"""Checks on decisions: ids, overrides, the bill, the warm-up, and what the paper's rule promises."""

from math import inf

import msgspec
import numpy as np

from breakeven.testing.check import Make, check, every, named_types, paper_rule, processes, types, warming
from breakeven.testing.running import past_warmup, priced, refused, run
from breakeven.testing.stream import Stream
from breakeven.values import Arrived, Event, Fitted, View


@check(every)
def ids_are_numbered_and_unique(make: Make, stream: Stream) -> None:
    """Automatic ids are "1", "2", …; an id awaited or told cannot be used again."""
    learner = make()
    x = stream.points[0]
    assert [learner.decide(x, force=True).id for _ in range(3)] == ["1", "2", "3"]
    learner.tell("1", 1.0)
    learner.decide(x, force=True, id="5")
    for taken in ("1", "2", "5"):
        with refused(learner, taken):
            learner.decide(x, id=taken)
    assert learner.decide(x).id == "6", "an automatic id clashed with a given one"


@check(every)
def unasked_arrivals_are_remembered_for_a_while(make: Make, stream: Stream) -> None:
    """Up to `remember` of them; then the oldest is unknown."""
    learner = make()
    first = learner.decide(stream.points[0], force=False).id
    for _ in range(learner.remember):
        learner.decide(stream.points[0], force=False)
    with refused(learner, first):
        learner.tell(first, 1.0)
    learner.tell(str(learner.rounds), 1.0)


@check(every)
def a_persons_override_is_obeyed_and_recorded(make: Make, stream: Stream) -> None:
    """`force` decides, and event, reason and propensity say so."""
    learner = make()
    events: list[Event] = []
    learner.listen(events.append)
    for force in (True, False):
        decision = learner.decide(stream.points[0], force=force)
        event = events[-1]
        assert isinstance(event, Arrived)
        assert decision.wants_label == event.wants_label == force
        assert decision.propensity == event.propensity == float(force)
        assert "a person" in decision.why, decision.why


@check(every)
def the_bill_counts_what_was_bought(make: Make, stream: Stream) -> None:
    """Each label at its own price; a withdrawn one only if it was charged."""
    learner = make()
    ids, spend = [], 0.0
    for i, x in enumerate(stream.points):
        decision = learner.decide(x, cost=priced(learner, 0.1 + i))
        spend += decision.cost if decision.wants_label else 0.0
        ids += [decision.id] if decision.wants_label else []
    assert abs(learner.ledger.label_spend - spend) <= 1e-9 * max(1.0, spend), "the spend is off"
    assert learner.ledger.labels == len(ids) == learner.ledger.awaited == len(learner.pending)
    for id in ids[::2]:
        learner.withdraw(id, charged=True)
    for id in ids[1::2]:
        learner.withdraw(id)
    assert learner.ledger.labels == len(ids[::2]), "withdrawn labels are miscounted"
    assert learner.ledger.rounds == len(stream.points), "withdrawing changed the number of arrivals"


@check(every)
def every_decision_has_its_reason(make: Make, stream: Stream) -> None:
    """One sentence, ending in a full stop, with its numbers filled in."""
    for decision in run(make(), stream):
        assert decision.why.endswith("."), decision.why
        assert not set("{}") & set(decision.why), decision.why
        assert 0.0 <= decision.propensity <= 1.0, decision


@check(types & paper_rule)
def a_type_never_labelled_is_always_asked(make: Make, stream: Stream) -> None:
    """Whatever the price, and however often it came before."""
    learner, x = make(), stream.points[0]
    for _ in range(3):
        learner.decide(x, force=False)
    assert learner.decide(x, cost=priced(learner, 1e9)).wants_label, "a type without labels was not asked"


@check(types)
def a_type_without_labels_is_predicted_as_the_prior(make: Make, stream: Stream) -> None:
    """Its mean is `prior_mean`; its std, unless that is given, is ∞, which JSON writes as null."""
    learner, x = make(), stream.points[0]
    learner.decide(x, force=True)
    predicted, prior_std = learner.predict(x), getattr(learner.belief, "prior_std", None)
    assert predicted.mean == getattr(learner.belief, "prior_mean", 0.0), predicted
    assert predicted.std == (prior_std if isinstance(prior_std, float) else inf), predicted
    assert (b'"std":null' in msgspec.json.encode(predicted)) == (predicted.std == inf), predicted


@check(named_types)
def numpy_scalars_count_as_what_they_hold(make: Make, stream: Stream) -> None:
    """A type from an array is the type itself."""
    learner = make()
    learner.learn(7, 3.0)
    learner.learn("flu", 5.0)
    assert learner.predict(np.int32(7)) == learner.predict(7) != learner.predict("7")
    assert learner.predict(np.str_("flu")) == learner.predict("flu")
    assert learner.predict_many(np.array(["flu", "cold"]))[0] == learner.predict("flu")
    for confusing in (7.0, True, np.float64(7.0), None):
        with refused(learner, "x: expected a type"):
            learner.decide(confusing)


@check(paper_rule)
def zero_uncertainty_is_never_asked(make: Make, stream: Stream) -> None:
    """The threshold is above zero at every price and in every round."""
    learner = make()
    seen = learner.belief.look(learner.belief.point(stream.points[0]))
    for round in (1, 10, 10**9):
        for price in (1e-9, 1.0, 1e9):
            view = View(0.0, seen.prediction, round, 1, learner.belief.traits, round, price)
            assert not learner.rule.decide(view).wants_label, f"asked at round {round}, price {price}"


@check(processes & paper_rule)
def a_sure_prior_asks_nothing_and_says_so(make: Make, stream: Stream) -> None:
    """A process whose prior std is below the threshold needs no labels."""
    learner = past_warmup(make(), stream)
    decision = learner.decide(stream.points[0], cost=priced(learner, 1e100))
    assert not decision.wants_label, "asked although nothing is uncertain"
    assert "even without any labels" in decision.why, decision.why


@check(warming)
def the_warmup_buys_its_labels_and_then_fits_once_all_are_told(make: Make, stream: Stream) -> None:
    """It counts labels asked and not withdrawn; a withdrawn one is replaced by the next arrival."""
    learner = make()
    events: list[Event] = []
    learner.listen(events.append)
    points = [stream.points[i % len(stream.points)] for i in range(learner.warmup + 1)]
    decisions = [learner.decide(x) for x in points[:-1]]
    assert {d.reason for d in decisions} == {"warmup"}, "the first arrivals were not all bought"
    learner.withdraw(decisions[0].id)
    replacement = learner.decide(points[-1])
    assert replacement.reason == "warmup", "a withdrawn label was not replaced"
    assert learner.decide(points[-1]).reason != "warmup", "more was forced than wanted"
    for decision in [*decisions[2:], replacement, decisions[1]]:
        fitted = [event for event in events if isinstance(event, Fitted)]
        schedule = getattr(learner.belief, "fit_schedule", None)
        assert schedule == "every_label" or not fitted, "fitted before the warm-up's last label was told"
        learner.tell(decision.id, 1.0)
    fits = sum(isinstance(event, Fitted) for event in events)
    assert fits >= 1 if schedule in ("after_warmup", "every_label") else True, "never fitted"
    assert learner.summary().warmup_left == 0
