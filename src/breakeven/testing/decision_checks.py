"""Checks on decisions: ids, overrides, the bill, the warm-up, what the paper's rule promises, and batches."""

from math import inf

import msgspec
import numpy as np

from breakeven.testing.contract import (
    LabelledStream,
    Make,
    check,
    every,
    named_types,
    new,
    paper_rule,
    processes,
    types,
    warming,
)
from breakeven.testing.stream_runs import (
    assert_same_decisions,
    assert_same_state,
    given_cost,
    is_exact,
    near,
    nothing_changes,
    past_warmup,
    refused,
    run,
)
from breakeven.values import Arrived, Event, Fitted, View


@check(every)
def ids_are_numbered_and_unique(make: Make, stream: LabelledStream) -> None:
    """Automatic ids are "1", "2", …; an id that is remembered belongs to its arrival."""
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
def the_same_arrival_again_gets_the_same_answer_and_counts_once(make: Make, stream: LabelledStream) -> None:
    """Same id, point, cost and force: nothing changes. Anything else is refused, labelled or not."""
    learner, (x, *others) = make(), stream.points
    other = next(one for one in others if one != x)
    cost, dear = given_cost(learner, 1.0), given_cost(learner, 2.0)
    for force in (True, False, None):
        id = f"forced {force}"
        first = learner.decide(x, cost=cost, force=force, id=id)
        with nothing_changes(learner):
            assert learner.decide(x, cost=cost, force=force, id=id) == first, "the answer differs"
        with refused(learner, id, "another point"):
            learner.decide(other, cost=cost, force=force, id=id)
        for changed in ({"cost": dear, "force": force}, {"force": force}):
            with refused(learner, id, "another cost"):
                learner.decide(x, id=id, **changed)
        for forced in {True, False, None} - {force}:
            with refused(learner, id, "another person's decision"):
                learner.decide(x, cost=cost, force=forced, id=id)
        with refused(learner, id):
            learner.learn(x, 1.0, id=id)


@check(every)
def a_decision_is_given_again_as_it_was(make: Make, stream: LabelledStream) -> None:
    """By its id, whatever happened to its label since, as long as it is remembered."""
    learner = make()
    decisions = run(learner, stream)[-learner.keep :]
    assert [learner.decision(one.id) for one in decisions] == decisions, "a decision is not what it was"


@check(every)
def unasked_arrivals_are_remembered_for_a_while(make: Make, stream: LabelledStream) -> None:
    """The last `keep` of them; the one before is unknown."""
    learner = make()
    first = learner.decide(stream.points[0], force=False).id
    for _ in range(learner.keep):
        learner.decide(stream.points[0], force=False)
    with refused(learner, first):
        learner.tell(first, 1.0)
    learner.tell(str(learner.rounds), 1.0)


@check(every)
def a_persons_override_is_obeyed_and_recorded(make: Make, stream: LabelledStream) -> None:
    """`force` decides, and event, reason and propensity say so."""
    learner = make()
    events: list[Event] = []
    learner.listen(events.append)
    for force in (True, False):
        decision = learner.decide(stream.points[0], force=force)
        event = events[-1]
        assert isinstance(event, Arrived)
        assert event.decision == decision, "the event does not hold the answer"
        assert (decision.wants_label, decision.propensity) == (force, float(force)), decision
        assert decision.by == "person", decision
        assert "a person" in decision.why, decision.why


@check(every)
def the_bill_counts_what_was_bought(make: Make, stream: LabelledStream) -> None:
    """Each label at its own cost; a withdrawn one only if it was charged."""
    learner = make()
    ids, spend = [], 0.0
    for i, x in enumerate(stream.points):
        decision = learner.decide(x, cost=given_cost(learner, 0.1 + i))
        spend += decision.cost if decision.wants_label else 0.0
        ids += [decision.id] if decision.wants_label else []
    assert abs(learner.ledger.label_spend - spend) <= 1e-9 * max(1.0, spend), "the spend is off"
    assert learner.ledger.labels == len(ids) == learner.ledger.awaited == len(learner.awaited)
    for id in ids[::2]:
        learner.withdraw(id, charged=True)
    for id in ids[1::2]:
        learner.withdraw(id)
    assert learner.ledger.labels == len(ids[::2]), "withdrawn labels are miscounted"
    assert learner.ledger.rounds == len(stream.points), "withdrawing changed the number of arrivals"


@check(every)
def every_decision_has_its_reason(make: Make, stream: LabelledStream) -> None:
    """One sentence, ending in a full stop, with its numbers filled in."""
    for decision in run(make(), stream):
        assert decision.why.endswith("."), decision.why
        assert not set("{}") & set(decision.why), decision.why
        assert 0.0 <= decision.propensity <= 1.0, decision


@check(types & paper_rule & new)
def a_type_never_labelled_is_always_asked(make: Make, stream: LabelledStream) -> None:
    """Whatever the price, and however often it came before."""
    learner, x = make(), stream.points[0]
    for _ in range(3):
        learner.decide(x, force=False)
    assert learner.decide(x, cost=given_cost(learner, 1e9)).wants_label, "a type without labels was not asked"


@check(types & new)
def a_type_without_labels_is_predicted_as_the_prior(make: Make, stream: LabelledStream) -> None:
    """Its mean is `prior_mean`; its std, unless that is given, is ∞, which JSON writes as null."""
    learner, x = make(), stream.points[0]
    learner.decide(x, force=True)
    predicted, prior_std = learner.predict(x), getattr(learner.belief, "prior_std", None)
    assert predicted.mean == getattr(learner.belief, "prior_mean", 0.0), predicted
    assert predicted.std == (prior_std if isinstance(prior_std, float) else inf), predicted
    assert (b'"std":null' in msgspec.json.encode(predicted)) == (predicted.std == inf), predicted


@check(named_types)
def numpy_scalars_count_as_what_they_hold(make: Make, stream: LabelledStream) -> None:
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
def zero_uncertainty_is_never_asked(make: Make, stream: LabelledStream) -> None:
    """The threshold is above zero at every price and in every round."""
    learner = make()
    seen = learner.belief.look(learner.belief.point(stream.points[0]))
    traits = msgspec.structs.replace(learner.belief.traits, noise_known=True)  # else thresholds wait for it
    for round in (1, 10, 10**9):
        for price in (1e-9, 1.0, 1e9):
            view = View(0.0, seen.prediction, round, 1, traits, round, price)
            assert not learner.rule.decide(view).wants_label, f"asked at round {round}, price {price}"


@check(processes & paper_rule & new)
def a_sure_prior_asks_nothing_and_says_so(make: Make, stream: LabelledStream) -> None:
    """A process whose prior std is below the threshold needs no labels."""
    learner = past_warmup(make(), stream)
    decision = learner.decide(stream.points[0], cost=given_cost(learner, 1e100))
    assert not decision.wants_label, "asked although nothing is uncertain"
    assert "even without any labels" in decision.why, decision.why


@check(warming)
def the_warmup_buys_its_labels_and_then_fits_once_all_are_told(make: Make, stream: LabelledStream) -> None:
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


# -- batches ---------------------------------------------------------------------------------------


@check(every)
def a_batch_decides_as_a_loop_does(make: Make, stream: LabelledStream) -> None:
    """Same decisions, and afterwards the same state to the bit, but for the last digits of kept answers."""
    batched, looped = make(), make()
    costs = [given_cost(batched, 1.0 + i % 3) for i in range(len(stream.points))]
    in_batch = batched.decide_many(stream.points, costs=costs)
    one_by_one = [looped.decide(x, cost=cost) for x, cost in zip(stream.points, costs, strict=True)]
    assert_same_decisions(in_batch, one_by_one, exact=is_exact(batched))
    assert_same_state(batched, looped)


@check(every)
def telling_a_batch_is_telling_in_turn(make: Make, stream: LabelledStream) -> None:
    """Same predictions, and afterwards the same state to the bit."""
    batched, looped = make(), make()
    asked = [i for i, d in enumerate(batched.decide_many(stream.points)) if d.wants_label]
    looped.decide_many(stream.points)
    ids, ys = [str(i + 1) for i in asked], [stream.labels[i] for i in asked]
    in_batch = batched.tell_many(ids, ys)
    one_by_one = [looped.tell(id, y) for id, y in zip(ids, ys, strict=True)]
    assert in_batch == one_by_one, "the predictions differ"
    assert batched.snapshot() == looped.snapshot(), "the states differ"


@check(every)
def predicting_many_is_predicting_each(make: Make, stream: LabelledStream) -> None:
    """Same predictions to 1e-10."""
    learner = make()
    run(learner, stream)
    for x, many in zip(stream.points, learner.predict_many(stream.points), strict=True):
        assert near(learner.predict(x), many), f"predictions at {x!r} differ"


@check(every)
def an_empty_batch_is_an_empty_answer(make: Make, stream: LabelledStream) -> None:
    """Nothing in, nothing out."""
    learner = make()
    answers = [learner.decide_many([]), learner.tell_many([], []), learner.predict_many([])]
    assert answers == [[], [], []], answers
    assert learner.rounds == 0, "an empty batch counted as an arrival"


@check(every)
def a_bad_batch_changes_nothing(make: Make, stream: LabelledStream) -> None:
    """One bad entry, and the whole batch is refused before anything counts."""
    learner = make()
    learner.decide(stream.points[0], force=True, id="first")
    good = list(stream.points[:3])
    with refused(learner, "X[3]"):
        learner.decide_many([*good, _unlike(good[0])])
    with refused(learner, "costs[1]"):
        learner.decide_many(good, costs=[given_cost(learner, cost) for cost in (1.0, 0.0, 1.0)])
    with refused(learner, "costs", "3"):
        learner.decide_many(good, costs=[given_cost(learner, 1.0)])
    with refused(learner, "first"):
        learner.decide_many(good, ids=["a", "b", "first"])
    with refused(learner, "twice"):
        learner.decide_many(good, ids=["a", "b", "a"])
    with refused(learner, "ghost"):
        learner.tell_many(["first", "ghost"], [1.0, 1.0])
    with refused(learner, "ys[1]"):
        learner.tell_many(["first", "first"], [1.0, float("nan")])


def _unlike(x: object) -> object:
    """Something of the same form that is no valid point."""
    return [float("nan")] * len(x) if isinstance(x, list) else 0.5
