"""Checks on explanations: they change nothing, outlive a restore, name labelled cases, and say what flips."""

from copy import deepcopy
from math import inf, isclose

from breakeven.beliefs import Explaining
from breakeven.learner import Learner
from breakeven.rules import Threshold, Value
from breakeven.testing.contract import LabelledStream, Make, Scope, check, every, steady
from breakeven.testing.stream_runs import nothing_changes, own_classes, refused, run
from breakeven.values import Explanation
from breakeven.values.explanation import MOST_SIMILAR
from breakeven.wire import explanation_from_msgpack, to_msgpack

BESIDE = 1e-6  # of the cost at which an answer flips: so far beside it are both answers tried

explaining = Scope("beliefs that say what they rest on", lambda one: isinstance(one.belief, Explaining))
priced = Scope(
    "a rule that weighs the cost of the one labeller",
    lambda one: type(one.rule) in (Threshold, Value) and not one.labellers,
)


@check(every)
def an_explanation_changes_nothing(make: Make, stream: LabelledStream) -> None:
    """It holds the decision as it was answered, is the same after a restore, and travels as MessagePack."""
    learner = make()
    decisions = run(learner, stream)[-learner.keep :]
    restored = Learner.restore(learner.snapshot(), **own_classes(learner))
    for decision in decisions[-6:]:
        with nothing_changes(learner):
            explanation = learner.explain(decision.id)
        assert explanation.decision == decision, "the decision is not as it was answered"
        assert explanation.why.startswith(decision.why), "the sentences do not begin with the decision's"
        assert repr(restored.explain(decision.id)) == repr(explanation), "it differs after a restore"
        assert repr(explanation_from_msgpack(to_msgpack(explanation))) == repr(explanation), "it was changed"
    with refused(learner, "awaited or remembered"):
        learner.explain("nobody")


@check(explaining)
def similar_cases_were_labelled_before(make: Make, stream: LabelledStream) -> None:
    """At most three, the nearest first, never the case itself, and features whose weights sum to 1."""
    learner = make()
    decisions = run(learner, stream)[-learner.keep :]
    labels = zip(decisions, stream.labels[-len(decisions) :], strict=True)
    told = {one.id: y for one, y in labels if one.wants_label}
    earlier: set[str] = set()
    for decision in decisions:
        explanation = learner.explain(decision.id)
        _check_similar(explanation, {id: y for id, y in told.items() if id in earlier})
        earlier.add(decision.id)
    by_type = bool(explanation.features) and explanation.features[0].position is None
    assert explanation.similar or explanation.labels < 2 or by_type, "no case is named"


def _check_similar(one: Explanation, told: dict[str, float]) -> None:
    assert len(one.similar) <= MOST_SIMILAR, "too many cases are named"
    for case in one.similar:
        known = case.id is None or told.get(case.id) == case.label
        assert known, f"{case} was not labelled before {one.decision.id}"
    distances = [case.distance for case in one.similar if case.distance is not None]
    assert distances == sorted(distances), "the nearest case is not the first"
    assert not one.features or isclose(sum(feature.weight for feature in one.features), 1.0), one.features
    weights = [feature.weight for feature in one.features]
    assert weights == sorted(weights, reverse=True), "the feature most listened to is not the first"


@check(priced & steady)
def the_answer_flips_where_it_is_said(make: Make, stream: LabelledStream) -> None:
    """At a slightly lower cost the label is asked for, at a slightly higher one it is not."""
    learner, tried = make(), 0
    for x, y in zip(stream.points, stream.labels, strict=True):
        before = deepcopy(learner)
        decision = learner.decide(x)
        flip = learner.explain(decision.id).flips_at
        if flip is not None and 1e-12 < flip < inf:
            low, high = deepcopy(before), before
            assert low.decide(x, cost=flip * (1.0 - BESIDE)).wants_label, (
                f"{decision} is declined below {flip}"
            )
            assert not high.decide(x, cost=flip * (1.0 + BESIDE)).wants_label, (
                f"{decision} is asked for above"
            )
            tried += 1
        if decision.wants_label:
            learner.tell(decision.id, y)
    assert tried or learner.warmup or learner.fits, "no answer depended on the cost"
