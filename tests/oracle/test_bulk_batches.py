"""Long batches of types in compiled loops are the loop written out, to the bit: decisions and state."""

import pickle
import sys
from contextlib import suppress
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven import Learner, SeparateTypes, Threshold, TypeMeans
from breakeven.errors import InvalidInput, ListenerFailed, TornLearner, UnknownId
from breakeven.learner import bulk
from breakeven.learner.book import MOST_UNWRITTEN, PassedBatch
from breakeven.learner.bulk import stream
from breakeven.values import Predictions, PredictionsOfTypes
from tests.contracts.test_half_applied import CutOff, Tracer
from tests.oracle.type_streams import EXAMPLES, RULES, arrivals, eventful, one_by_one, small_sizes

pytest.importorskip("numba")


@pytest.fixture(autouse=True, scope="module")
def _small_sizes():
    with small_sizes():
        yield


def columns(rows):
    return [x for x, _ in rows], [y for _, y in rows]


def assert_same(make, *batches, between=lambda learner: None):
    """Both ways through every batch in turn; the learners, and all decisions."""
    fast, slow, all_decisions = make(), make(), []
    for X in batches:
        assert bulk.pays(fast.state, len(X)) == (len(X) > 0)
        decisions = fast.decide_many(X)
        with one_by_one():
            others = slow.decide_many(X)
        assert list(map(repr, decisions)) == list(map(repr, others))  # NaN is not equal to itself
        assert fast.snapshot() == slow.snapshot()
        assert list(map(repr, fast.awaited.items())) == list(map(repr, slow.awaited.items()))
        assert fast.ledger == slow.ledger
        all_decisions += decisions
        between(fast)
        between(slow)
    assert fast.snapshot() == slow.snapshot()
    return fast, slow, all_decisions


def tell_a_third(learner):
    """Some labels come, late and out of order."""
    for id in list(learner.awaited)[::-3]:
        learner.tell(id, float(id) / 7)


@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=EXAMPLES)
@given(
    kind=st.sampled_from([TypeMeans, SeparateTypes]),
    before=arrivals, first=arrivals, second=arrivals, seed=st.integers(0, 2**40),
    keep=st.sampled_from([0, 3, 40, 10_000]), cost=st.sampled_from([1e-6, 0.1, 7.3, 1e5]),
)  # fmt: skip
def test_any_batch_is_the_loop(kind, rule, before, first, second, seed, keep, cost):
    def make():
        belief = kind(0.3, prior_mean=0.25)
        learner = Learner(belief, RULES[rule], label_cost=cost, seed=seed, keep=keep)
        eventful(learner, *columns(before))
        return learner

    assert_same(make, columns(first)[0], columns(second)[0], between=tell_a_third)


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("types", [1, 7, 300])
def test_long_batches_of_integers_are_the_loop(rule, types):
    xs = np.random.default_rng(types).integers(-types, types, size=1500)
    fast, slow, _ = assert_same(
        lambda: Learner(TypeMeans(0.3), RULES[rule], label_cost=0.5, seed=3),
        xs[:700],
        xs[700:],
        between=tell_a_third,
    )
    for x in (int(xs[-1]), 10**6):
        assert repr(fast.decide(x)) == repr(slow.decide(x))


@pytest.mark.parametrize(
    "xs",
    [
        np.arange(200, dtype=np.int8) % 5,
        np.arange(200, dtype=np.uint64) % 5 + np.uint64(2**63 - 6),
        (np.arange(400) % 6)[::2],
        np.arange(200) % 7 * 2**50 - 2**52,
        np.array(["b", "a"] * 100),
        [np.int64(3), "a", ("a", np.str_("b"))] * 50,
        tuple(range(200)),
    ],
    ids=["int8", "uint64", "strided", "wide", "text", "scalars", "all different"],
)
@pytest.mark.parametrize("rule", ["type_clock", "uncertain"])
def test_types_may_come_in_any_form(xs, rule):
    assert_same(lambda: Learner(TypeMeans(0.3), RULES[rule], label_cost=0.5), xs, xs)


def test_every_reason_that_a_rule_gives_is_met():
    xs = np.random.default_rng(0).integers(3, size=600)
    reasons = set()
    for rule in RULES.values():
        *_, decisions = assert_same(
            lambda rule=rule: Learner(TypeMeans(0.3), rule, label_cost=4.0),
            xs[:300],
            xs[300:],
            between=tell_a_third,
        )
        reasons |= {decision.reason for decision in decisions}
    assert reasons == {
        "unsure", "sure", "on_their_way", "first_of_type", "drawn", "not_drawn", "always", "never",
        "nothing_known", "worth_it", "not_worth_it", "worth_it_late", "not_worth_it_late",
        "above_moving", "not_above_moving", "below_moving", "not_below_moving", "over_budget",
    }  # fmt: skip


def test_labels_asked_for_in_bulk_can_be_told_corrected_and_withdrawn():
    learners = assert_same(
        lambda: Learner(TypeMeans(0.3), RULES["always"], label_cost=0.1), ["a", "b", "a"] * 20
    )[:2]
    for learner in learners:
        learner.tell("3", 2.0)
        learner.correct("3", -1.0)
        learner.withdraw("60")
        assert learner.ledger.label_spend == 5.9
        assert learner.decide("a").id == "61"
    assert learners[0].snapshot() == learners[1].snapshot()


def listening(make):
    """A learner, and all it tells its listeners."""
    learner, heard = make(), []
    learner.listen(heard.append)
    return learner, heard


def assert_same_batches(make, *batches, between=lambda learner: None):
    """Both ways through batches with ids and costs: decisions, events, what is remembered, and state."""
    (fast, told_fast), (slow, told_slow) = listening(make), listening(make)
    for X, more in batches:
        decisions = fast.decide_many(X, **more)
        with one_by_one():
            others = slow.decide_many(X, **more)
        assert repr(decisions) == repr(others)
        assert repr(decisions.columns[:-2]) == repr(others.columns[:-2])
        assert decisions.columns.reasons.worded() == others.columns.reasons.worded()
        assert decisions.columns.repeated.tolist() == others.columns.repeated.tolist()
        assert decisions.ids == others.ids == [one.id for one in others]
        assert repr(told_fast) == repr(told_slow)
        for id in decisions.ids[::7]:
            assert repr(fast.state.book.find(id)) == repr(slow.state.book.find(id))
        between(fast)
        between(slow)
        assert fast.snapshot() == slow.snapshot()
        assert fast.ledger == slow.ledger
    return fast, slow


costs_given = st.one_of(st.none(), st.lists(st.sampled_from([None, 1e-6, 0.1, 2, 7.3]), min_size=1))


@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=EXAMPLES)
@given(
    kind=st.sampled_from([TypeMeans, SeparateTypes]),
    before=arrivals, first=arrivals, second=arrivals, costs=costs_given,
    keep=st.sampled_from([0, 3, 40, 10_000]), naming=st.sampled_from(["case {}", "{}", "0{}", "{}!"]),
    again=st.integers(0, 40), error_cost=st.sampled_from([1.0, 0.3]),
)  # fmt: skip
def test_batches_with_ids_costs_and_listeners_are_the_loop(
    kind, rule, before, first, second, costs, keep, naming, again, error_cost
):
    def make():
        learner = Learner(kind(0.3), RULES[rule], label_cost=0.7, error_cost=error_cost, keep=keep, seed=3)
        eventful(learner, *columns(before))
        return learner

    first, second = columns(first)[0], columns(second)[0]
    ids = [naming.format(i + 300) for i in range(len(first) + len(second))]
    given = None if costs is None else (costs * len(ids))[: len(ids)]

    def batch(X, low):
        cut = slice(low, low + len(X))
        return X, {"ids": ids[cut], "costs": None if given is None else given[cut]}

    # the second batch repeats what came last in the first, where that is remembered
    repeats = min(again, len(first)) if keep == 10_000 else 0
    low = len(first) - repeats
    assert_same_batches(
        make, batch(first, 0), batch(first[low:] + second, low), (second, {}), between=tell_some
    )


BETWEEN = {
    "nothing": lambda learner: None,
    "told": lambda learner: tell_some(learner),
    "told unasked": lambda learner: learner.tell(str(learner.rounds), 0.4) if learner.rounds else None,
    "all told": lambda learner: learner.tell_many(list(learner.awaited), [0.3] * len(learner.awaited)),
    "corrected": lambda learner: eventful(learner, [1, 2, 1, 2], [0.1, 0.9, 0.2, 0.7]),
    "withdrawn": lambda learner: [learner.withdraw(id) for id in list(learner.awaited)[:2]],
    "withdrawn and reopened": lambda learner: [
        (learner.withdraw(id), learner.reopen(id)) for id in list(learner.awaited)[:2]
    ],
    "learnt": lambda learner: learner.learn(2, 1.5),
    "decided": lambda learner: learner.decide(1),
    "repriced": lambda learner: learner.reprice(label_cost=0.1 + learner.label_cost),
}
typed = st.one_of(
    st.lists(st.integers(-3, 5), min_size=1, max_size=40).map(np.array),
    st.lists(st.integers(-3, 5), min_size=1, max_size=40),
    st.lists(st.sampled_from([0, 3, 2**40, -(2**50)]), min_size=1, max_size=20).map(np.array),
    st.lists(st.sampled_from(["a", "b", 3, 1]), min_size=1, max_size=40),
)


@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=EXAMPLES)
@given(
    kind=st.sampled_from([TypeMeans, SeparateTypes]),
    batches=st.lists(st.tuples(typed, st.sampled_from(list(BETWEEN))), min_size=2, max_size=6),
)
def test_arrays_that_rest_between_batches_are_what_was_told_and_decided_meanwhile(kind, rule, batches):
    fast, slow = (Learner(kind(0.3), RULES[rule], label_cost=0.7, seed=3, keep=30) for _ in range(2))
    for X, then in batches:
        decisions = fast.decide_many(X)
        with one_by_one():
            others = slow.decide_many(X)
        assert repr(decisions) == repr(others)
        for learner in (fast, slow):
            BETWEEN[then](learner)
        assert fast.snapshot() == slow.snapshot()


def test_a_batch_goes_on_with_the_arrays_of_the_last_one():
    learner, copied = Learner(TypeMeans(0.3), Threshold(), label_cost=0.5), None
    X, arrays = np.arange(60) % 7, []
    for then in ("nothing", "told", "told unasked", "decided", "nothing"):
        learner.decide_many(X)
        arrays.append(id(learner.state.resting._run))
        BETWEEN[then](learner)
        copied = deepcopy(learner)
    assert arrays[0] == arrays[1] == arrays[2] == arrays[3] != arrays[4]
    assert copied.decide_many(X) == learner.decide_many(X)
    assert copied.snapshot() == learner.snapshot()


labels = st.lists(st.floats(-1e3, 1e3) | st.sampled_from([1e90, -1e90, 1e-90, 0.1]), min_size=1)


@pytest.mark.parametrize("rule", list(RULES))
@settings(max_examples=EXAMPLES)
@given(
    kind=st.sampled_from([TypeMeans, SeparateTypes]), X=typed, more=typed, ys=labels,
    keep=st.sampled_from([0, 3, 10_000]), step=st.sampled_from([-1, 1, 2]),
)  # fmt: skip
def test_labels_told_in_a_batch_are_the_loop(kind, rule, X, more, ys, keep, step):
    def make():
        return Learner(kind(0.3), RULES[rule], label_cost=0.7, seed=3, keep=keep)

    (fast, told_fast), (slow, told_slow) = listening(make), listening(make)
    for batch in (X, more):
        for learner in (fast, slow):
            learner.decide_many(batch)
        ids = list(fast.awaited)[::step]
        y = (ys * len(ids))[: len(ids)]
        found = fast.tell_many(ids, y)
        with one_by_one():
            others = slow.tell_many(ids, y)
        assert repr(found) == repr(others)
        assert [found[place] for place in range(-len(ids), len(ids))] == 2 * list(others)
        assert found == others
        assert repr(found.columns) == repr(others.columns)
        assert repr(told_fast) == repr(told_slow)
        assert fast.snapshot() == slow.snapshot()
        assert repr(fast.predict_many(batch)) == repr(
            [slow.predict(x) for x in np.array(batch, dtype=object)]
        )
        assert fast.predict_many(batch).columns.mean.tolist() == [
            one.mean for one in fast.predict_many(batch)
        ]


def test_labels_of_a_batch_are_told_in_compiled_loops_only_where_all_are_awaited():
    learner = Learner(TypeMeans(0.3), RULES["always"], label_cost=0.7)
    ids = learner.decide_many(np.arange(40) % 3).ids
    assert type(learner.tell_many(ids[:20], [0.5] * 20)) is PredictionsOfTypes
    assert type(learner.tell_many(ids[10:30], [0.5] * 20)) is Predictions  # half of them are told again
    before = learner.snapshot()
    for bad in ([0.5] * 9 + [float("nan")], [0.5] * 11):
        with pytest.raises(InvalidInput, match="ys"):
            learner.tell_many(ids[30:], bad)
    with pytest.raises(UnknownId):
        learner.tell_many([*ids[30:39], "nobody"], [0.5] * 10)
    assert learner.snapshot() == before


def tell_some(learner):
    """Some labels come, late and out of order."""
    for place, id in enumerate(list(learner.awaited)[::-3]):
        learner.tell(id, place / 7)


def test_a_batch_may_hold_arrivals_that_were_decided_on_before():
    learner = Learner(TypeMeans(0.3), Threshold(), label_cost=0.5)
    xs, ids = np.arange(50) % 3, [f"case {i}" for i in range(50)]
    first = learner.decide_many(xs[:40], ids=ids[:40])
    second = learner.decide_many(xs, ids=ids)
    assert second[:40] == list(first)
    assert second.columns.repeated.tolist() == [True] * 40 + [False] * 10
    assert learner.rounds == 50


def batches_kept(learner):
    return len({one for one in learner.state.book._settled.values() if isinstance(one, PassedBatch)})


def test_what_is_remembered_is_found_one_by_one_and_forgotten_in_its_order():
    learner = Learner(TypeMeans(0.3), RULES["never"], label_cost=0.5, keep=60)
    for low in (0, 40, 80):
        learner.decide_many(np.arange(40) % 3, ids=[f"case {i}" for i in range(low, low + 40)])
    assert learner.decision("case 60").round == 61
    assert learner.tell("case 75", 4.0).mean == 4.0
    assert batches_kept(learner) == 2
    with pytest.raises(UnknownId):
        learner.decision("case 59")
    learner.decide("flu")
    with pytest.raises(UnknownId):
        learner.decision("case 60")
    learner.decide_many(np.arange(60) % 3)
    assert batches_kept(learner) == 1
    assert [one.id for one in learner.state.book.settled()] == [str(i) for i in range(122, 182)]


def test_what_is_remembered_cannot_be_changed_from_outside():
    learner, other = (Learner(TypeMeans(0.3), RULES["never"], label_cost=0.5) for _ in range(2))
    xs = np.arange(30) % 3
    with pytest.raises(ValueError, match="read-only"):
        learner.decide_many(xs).columns.uncertainty[:] = 7.0
    other.decide_many(xs.copy())
    xs[:] = 0
    assert learner.snapshot() == other.snapshot()


def test_listeners_hear_of_a_batch_when_all_of_it_has_happened():
    learner = Learner(TypeMeans(0.3), Threshold(), label_cost=0.5)
    rounds, heard = [], []

    def fails(event):
        rounds.append(learner.rounds)
        raise OSError("disk full")

    learner.listen(fails)
    learner.listen(heard.append)
    with pytest.raises(ListenerFailed, match="disk full; event 2 happened all the same"):
        learner.decide_many(np.arange(30) % 3)
    assert rounds == [30] * 30
    assert [event.number for event in heard] == list(range(2, 32))
    learner.unlisten(fails)
    assert learner.decide(0).round == 31


def test_short_batches_wait_until_loading_the_loops_would_have_paid(monkeypatch):
    monkeypatch.setattr(stream, "SHORTEST", 1000)
    monkeypatch.setattr(stream, "SHORTEST_BATCH", 128)
    monkeypatch.setattr(stream.loops, "cache_info", lambda: SimpleNamespace(currsize=0))
    state, batches = Learner(TypeMeans(0.3), Threshold(), label_cost=0.5).state, stream.Batches()
    assert [batches.pay(state, rounds) for rounds in (127, 900, 99, 127, 128)] == [False] * 4 + [True]
    monkeypatch.setattr(stream.loops, "cache_info", lambda: SimpleNamespace(currsize=1))
    assert not stream.Batches().pay(state, 127)
    assert stream.Batches().pay(state, 128)


PRIORS = {"flat": None, "given": 0.8, "learnt": "learn"}


TELLING = {
    "none": lambda ids: [],
    "all": lambda ids: [ids],
    "most": lambda ids: [ids[: len(ids) - len(ids) // 4][::-1]],
    "in parts": lambda ids: [ids[::2], ids[1::4]],
    "some twice": lambda ids: [ids[::2], ids],
}


def tell_unseen(learner, ids, how):
    """Labels come in batches, and nobody looks at what is awaited; what was answered."""
    answers = []
    for part in filter(None, TELLING[how](ids)):
        try:
            answers.append(repr(learner.tell_many(part, [int(id) % 7 / 3 for id in part])))
        except UnknownId as error:  # told before, and forgotten
            answers.append(str(error))
    return answers


MORE_BETWEEN = {name: one for name, one in BETWEEN.items() if name != "told unasked"} | {
    "looked at": lambda learner: learner.predict(1),
    "copied": deepcopy,
    "reopened": lambda learner: [learner.reopen(one.id) for one in told_lately(learner)[-2:]],
    "changed": lambda learner: [learner.correct(one.id, 0.25) for one in told_lately(learner)[:2]],
    "told and withdrawn": lambda learner: [learner.withdraw(one.id) for one in told_lately(learner)],
    "told, withdrawn and reopened": lambda learner: [
        (learner.withdraw(one.id), learner.reopen(one.id)) for one in told_lately(learner)
    ],
}


def told_lately(learner):
    asked = [one for one in learner.state.book.settled() if one.y is not None and one.decision is not None]
    return [one for one in asked if one.asked]


@pytest.mark.parametrize("prior", list(PRIORS))
@pytest.mark.parametrize("rule", ["type_clock", "value", "value_until"])
@settings(max_examples=4 * EXAMPLES)
@given(
    batches=st.lists(
        st.tuples(typed, st.sampled_from(list(TELLING)), st.sampled_from(["nothing", *MORE_BETWEEN])),
        min_size=2, max_size=8,
    ),
    before=st.booleans(), horizon=st.booleans(), keep=st.sampled_from([3, 30]),
)  # fmt: skip
def test_state_that_stays_in_arrays_is_that_of_one_by_one(prior, rule, batches, before, horizon, keep):
    """Nobody looks at the whole state before the end; what was looked at meanwhile was right."""

    def make():
        belief = TypeMeans(0.3, prior_mean=0.25, prior_std=PRIORS[prior])
        learner = Learner(belief, RULES["value"] if horizon else RULES[rule], label_cost=0.2, keep=keep)
        if before:
            eventful(learner, [1, 2, "a", 2], [0.1, 0.9, 0.2, 0.7])
        if horizon:
            learner.reprice(rule=RULES[rule])
        return learner

    fast, slow, late = make(), make(), []
    for X, how, then in batches:
        decisions = fast.decide_many(X)
        with one_by_one():
            others = slow.decide_many(X)
        ids = [one.id for one in others if one.wants_label]
        found = tell_unseen(fast, late + ids, how)
        with one_by_one():
            assert found == tell_unseen(slow, late + ids, how)
        assert repr(decisions) == repr(others)
        MORE_BETWEEN[then](fast)
        with one_by_one():
            MORE_BETWEEN[then](slow)
        late = ids if how == "none" and then == "nothing" else []
        assert (fast.number, fast.rounds, fast.fits) == (slow.number, slow.rounds, slow.fits)
    assert fast.snapshot() == slow.snapshot()
    assert repr(fast.predict_many([1, 2, "a", 77])) == repr(slow.predict_many([1, 2, "a", 77]))
    restored = Learner.restore(fast.snapshot())
    assert repr(restored.decide_many(X)) == repr(fast.decide_many(X))
    assert restored.snapshot() == fast.snapshot()


@pytest.mark.parametrize("prior", list(PRIORS))
@pytest.mark.parametrize("rule", ["type_clock", "value"])
def test_state_stays_in_arrays_until_somebody_looks(rule, prior):
    if rule == "type_clock" and prior != "flat":
        pytest.skip("a prior is weighed in compiled loops under Value only")
    learner = Learner(TypeMeans(0.3, prior_std=PRIORS[prior]), RULES[rule], label_cost=0.2)
    labels, arrays = learner.belief._labels, set()
    for low in range(0, 20, 5):
        ids = learner.decide_many(np.arange(60) % 17 + low).columns.wants_label.nonzero()[0] + 1
        assert labels.elsewhere is not None
        ids = [str(id + learner.rounds - 60) for id in ids]
        found = learner.tell_many(ids, [int(id) % 7 / 3 for id in ids])
        assert type(found) is PredictionsOfTypes
        assert len(labels.written) == 0
        assert len(learner.state.book._entered) == 0
        assert learner.ledger.awaited == 0
        arrays.add(id(learner.state.resting._run))
    assert len(arrays) == 1
    assert (learner.fits > 0) == (prior == "learnt")
    learner.learn(3, 0.5)
    assert labels.elsewhere is None
    assert len(labels.written) == 32
    learner.decide_many(np.arange(60))
    assert id(learner.state.resting._run) in arrays


def test_labels_of_named_arrivals_stay_in_columns_until_somebody_looks():
    fast, slow = (Learner(TypeMeans(0.3), RULES["always"], label_cost=0.7, keep=25) for _ in range(2))
    names = [f"case {i}" for i in range(90)]
    for low in (0, 30, 60):
        for learner in (fast, slow):
            learner.decide_many(["a", "b", 3] * 10, ids=names[low : low + 30], costs=[0.5, None, 0.7] * 10)
    book = fast.state.book
    assert (len(book.unwritten), len(book._entered), len(fast.awaited)) == (3, 0, 90)
    for ids in (names[35:55], names[:30][::-1], names[85:90]):
        found = fast.tell_many(ids, [len(id) / 3 for id in ids])
        with one_by_one():
            assert repr(found) == repr(slow.tell_many(ids, [len(id) / 3 for id in ids]))
    assert (len(book.unwritten), len(book._entered), len(fast.awaited)) == (2, 0, 35)
    assert fast.decide_many(["b"], ids=["case 31"]).columns.repeated.tolist() == [True]
    assert len(book.unwritten) == 0
    for learner in (fast, slow):
        learner.correct("case 86", 7.0)
        learner.reopen("case 87")
        learner.tell_many(names[55:85], [0.25] * 30)
    assert fast.snapshot() == slow.snapshot()
    assert fast.explain("case 80") == slow.explain("case 80")


def test_more_batches_than_are_kept_in_columns_are_written_out():
    learner = Learner(TypeMeans(0.3), RULES["always"], label_cost=0.7)
    for _ in range(MOST_UNWRITTEN + 1):
        learner.decide_many([1, 2, 3, 4])
    assert len(learner.state.book.unwritten) == 1
    assert list(learner.awaited) == [str(i + 1) for i in range(4 * (MOST_UNWRITTEN + 1))]
    assert len(learner.state.book.unwritten) == 0


def test_a_copy_of_a_learner_whose_state_lies_in_arrays_goes_on_alone():
    learner = Learner(TypeMeans(0.3, prior_std="learn"), RULES["value"], label_cost=0.02)
    learner.decide_many(np.arange(90) % 40)
    copies = deepcopy(learner), pickle.loads(pickle.dumps(learner.belief))
    learner.decide_many(np.arange(90) % 50)
    assert copies[0].rounds == 90
    assert (len(copies[0].belief._tallies), len(copies[1]._tallies)) == (40, 40)
    assert copies[0].belief._tallies is copies[0].belief._labels.tallies
    copies[0].decide_many(np.arange(90) % 50)
    assert copies[0].snapshot() == learner.snapshot()


CUT_VERBS = {
    "decide on many": lambda learner: learner.decide_many(np.arange(30) % 17),
    "tell many": lambda learner: learner.tell_many(["10", "11", "12"], [0.1, 0.2, 0.3]),
    "tell": lambda learner: learner.tell("13", 0.4),
    "look": lambda learner: learner.predict(3),
}


@pytest.mark.parametrize("verb", CUT_VERBS)
def test_arrays_that_are_the_state_are_never_half_written(verb):
    """Cut off at some line, the learner is as before or as after, or says that it is torn."""

    def make():
        learner = Learner(TypeMeans(0.3, prior_std=0.8), RULES["value"], label_cost=0.2)
        learner.decide_many(np.arange(40) % 13)
        learner.tell_many([str(i) for i in range(1, 10)], [0.5] * 9)
        return learner

    def cut(learner, at=None):
        tracer = Tracer(at)
        sys.settrace(tracer)
        try:
            with suppress(CutOff):
                CUT_VERBS[verb](learner)
        finally:
            sys.settrace(None)
        return tracer.lines

    done, before = make(), make().snapshot()
    lines = cut(done)
    outcomes = {before, done.snapshot()}
    for at in range(1, lines, max(lines // 30, 1)):
        learner = make()
        cut(learner, at)
        with suppress(TornLearner):
            assert learner.snapshot() in outcomes


def test_a_batch_without_labels_leaves_nothing_awaited_behind():
    """Labels of the batches around it are told together; it was looked through as if it had some."""
    fast, slow = (Learner(TypeMeans(0.3), Threshold(), label_cost=1e9) for _ in range(2))
    for X in (np.arange(9), np.arange(9), np.arange(9, 20)):
        decisions = fast.decide_many(X)
        with one_by_one():
            assert repr(decisions) == repr(slow.decide_many(X))
    assert [len(rows) for rows in fast.state.book.unwritten] == [9, 11]
    ids = ["2", "19", "7", "25"]  # of both
    found = fast.tell_many(ids, [1.0, 2.0, 3.0, 4.0])
    with one_by_one():
        assert repr(found) == repr(slow.tell_many(ids, [1.0, 2.0, 3.0, 4.0]))
    assert fast.snapshot() == slow.snapshot()
