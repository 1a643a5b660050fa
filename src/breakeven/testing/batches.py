"""Checks on batches: the same answers as one by one, and all or nothing."""

from breakeven.testing.check import Make, check, every
from breakeven.testing.running import assert_same_decisions, is_exact, near, priced, refused, run
from breakeven.testing.stream import Stream


@check(every)
def a_batch_decides_as_a_loop_does(make: Make, stream: Stream) -> None:
    """Same decisions, and afterwards the same state to the bit."""
    batched, looped = make(), make()
    costs = [priced(batched, 1.0 + i % 3) for i in range(len(stream.points))]
    in_batch = batched.decide_many(stream.points, costs=costs)
    one_by_one = [looped.decide(x, cost=cost) for x, cost in zip(stream.points, costs, strict=True)]
    assert_same_decisions(in_batch, one_by_one, exact=is_exact(batched))
    assert batched.snapshot() == looped.snapshot(), "the states differ"


@check(every)
def telling_a_batch_is_telling_in_turn(make: Make, stream: Stream) -> None:
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
def predicting_many_is_predicting_each(make: Make, stream: Stream) -> None:
    """Same predictions to 1e-10."""
    learner = make()
    run(learner, stream)
    for x, many in zip(stream.points, learner.predict_many(stream.points), strict=True):
        assert near(learner.predict(x), many), f"predictions at {x!r} differ"


@check(every)
def an_empty_batch_is_an_empty_answer(make: Make, stream: Stream) -> None:
    """Nothing in, nothing out."""
    learner = make()
    answers = [learner.decide_many([]), learner.tell_many([], []), learner.predict_many([])]
    assert answers == [[], [], []], answers
    assert learner.rounds == 0, "an empty batch counted as an arrival"


@check(every)
def a_bad_batch_changes_nothing(make: Make, stream: Stream) -> None:
    """One bad entry, and the whole batch is refused before anything counts."""
    learner = make()
    learner.decide(stream.points[0], force=True, id="first")
    good = list(stream.points[:3])
    with refused(learner, "X[3]"):
        learner.decide_many([*good, _unlike(good[0])])
    with refused(learner, "costs[1]"):
        learner.decide_many(good, costs=[priced(learner, cost) for cost in (1.0, 0.0, 1.0)])
    with refused(learner, "costs", "3"):
        learner.decide_many(good, costs=[priced(learner, 1.0)])
    with refused(learner, "first"):
        learner.decide_many(good, ids=["a", "b", "first"])
    with refused(learner, "twice"):
        learner.decide_many(good, ids=["a", "b", "a"])
    with refused(learner, "ghost"):
        learner.tell_many(["first", "ghost"], [1.0, 2.0])
    with refused(learner, "ys[1]"):
        learner.tell_many(["first", "first"], [1.0, float("nan")])


def _unlike(x: object) -> object:
    """Something of the same form that is no valid point."""
    return [float("nan")] * len(x) if isinstance(x, list) else 0.5
