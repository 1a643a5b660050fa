"""When a stream runs in compiled loops, and that it runs one by one wherever they cannot serve."""

import builtins

import numpy as np
import pytest

from breakeven import Cells, Learner, RandomSelect, Threshold, TypeMeans, Value, VariableUncertainty, simulate
from breakeven.errors import DuplicateId, InvalidInput
from breakeven.learner import bulk
from breakeven.learner.bulk import stream
from breakeven.learner.bulk.loops import compiled
from breakeven.rules import Rule
from breakeven.values import Verdict

XS, YS = np.arange(60) % 4, np.sin(np.arange(60.0))


class EveryThird(Rule):
    def decide(self, view):
        return Verdict(view.round % 3 == 0)


class Doubting(Threshold):
    def decide(self, view):
        return Verdict(True)


class Counting(Learner):
    def decide(self, x, **more):
        self.decided = getattr(self, "decided", 0) + 1
        return super().decide(x, **more)


@pytest.fixture(autouse=True)
def _every_stream_is_long(monkeypatch):
    monkeypatch.setattr(stream, "SHORTEST", 1)


@pytest.fixture
def no_numba(monkeypatch):
    importing = builtins.__import__

    def without(name, *more, **named):
        if name.split(".")[0] == "numba":
            raise ImportError("No module named 'numba'")
        return importing(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    stream.loops.cache_clear()
    yield
    stream.loops.cache_clear()


def types(rule=None, **more):
    return Learner(TypeMeans(0.3), rule or Threshold(), label_cost=0.5, **more)


def loop(learner):
    for x, y in zip(XS.tolist(), YS.tolist(), strict=True):
        decision = learner.decide(x)
        if decision.wants_label:
            learner.tell(decision.id, y)
    return learner


def test_streams_of_types_under_our_rules_run_in_bulk():
    pytest.importorskip("numba")
    assert bulk.pays(types().state, 1)
    assert bulk.pays(types(RandomSelect(0.5)).state, 10**7)
    assert bulk.pays(Learner(TypeMeans(0.3, prior_std="learn"), Value(), label_cost=0.5).state, 10**7)


@pytest.mark.parametrize("rule", [EveryThird(), Doubting()], ids=["own", "derived"])
def test_a_rule_of_ones_own_runs_one_by_one(rule):
    learner = types(rule)
    assert not bulk.pays(learner.state, 60)
    simulate(learner, XS, YS)
    assert learner.snapshot() == loop(types(rule)).snapshot()


def test_a_learner_of_ones_own_makes_its_own_decisions():
    learner = Counting(TypeMeans(0.3), Threshold(), label_cost=0.5)
    simulate(learner, XS, YS)
    assert learner.decided == 60


def test_a_listener_hears_every_event():
    events = []
    learner = types()
    learner.listen(events.append)
    trace = simulate(learner, XS, YS)
    assert len(events) == 60 + trace.wants_label.sum()
    learner.decide_many(XS)
    assert len(events) == 120 + trace.wants_label.sum()


def test_a_warm_up_runs_one_by_one_until_it_is_over():
    pytest.importorskip("numba")
    learner = types(warmup=5)
    assert not bulk.pays(learner.state, 60)
    simulate(learner, XS, YS)
    assert learner.snapshot() == loop(types(warmup=5)).snapshot()
    assert bulk.pays(learner.state, 60)


def test_other_beliefs_run_one_by_one():
    assert not bulk.pays(Learner(Cells([0], [1], 0.3), Threshold(), label_cost=0.5).state, 60)


def test_an_id_that_a_later_round_would_have_is_stepped_over():
    learner, other = types(), types()
    for one in (learner, other):
        one.decide(0, id="7")
    simulate(learner, XS, YS)
    assert list(learner.state.book.state(str)["settled"]["id"])[:3] == ["8", "9", "10"]
    assert learner.snapshot() == loop(other).snapshot()


@pytest.mark.parametrize("id", ["patient 7", "0", "-9", "1.5"])
def test_other_ids_of_ones_own_do_no_harm(id):
    pytest.importorskip("numba")
    learner = types()
    learner.decide(0, id=id)
    assert bulk.pays(learner.state, 60)


def test_an_endless_number_as_an_id_is_no_harm_either():
    learner = types()
    learner.decide(0, id="9" * 250)
    simulate(learner, XS, YS)
    assert learner.rounds == 61


@pytest.mark.parametrize("rule", [Threshold(), RandomSelect(0.4), VariableUncertainty(), Value()])
def test_without_numba_the_answers_are_the_same(no_numba, rule):
    learner = types(rule)
    assert stream.loops() is None
    assert not bulk.pays(learner.state, 60)
    trace = simulate(learner, XS, YS)
    assert learner.snapshot() == loop(types(rule)).snapshot()
    assert len(trace.prediction) == 60


def test_loops_compile_where_nothing_can_be_kept_on_disk(monkeypatch):
    numba = pytest.importorskip("numba")
    njit = numba.njit

    def nowhere(*functions, cache=False, **more):
        if cache:
            raise RuntimeError("no locator available")
        return njit(*functions, **more)

    monkeypatch.setattr(numba, "njit", nowhere)
    assert compiled(lambda x: x + 1)(2) == 3


WRONG_TYPES = {
    "too large": (
        XS.astype(np.uint64) + np.uint64(2**63 - 3),
        r"^X\[3\]: expected a type.*, got 9223372036854775808$",
    ),
    "far too large": ([*XS.tolist(), 2**64], r"^X\[60\]: expected a type"),
    "matrix": (XS.reshape(30, 2), r"^X\[0\]: expected a type"),
    "no array": (np.array(3), r"^X: expected a list"),
    "floats": (XS.astype(float), r"^X\[0\]: expected a type.*, got 0.0$"),
    "a float": ([*XS.tolist(), 1.0], r"^X\[60\]: expected a type.*, got 1.0$"),
    "not a number": ([*XS.tolist(), float("nan"), 3], r"^X\[60\]: expected a type.*, got nan$"),
    "nothing": ([*XS.tolist(), None, 3], r"^X\[60\]: expected a type.*, got None$"),
    "truth": ([*XS.tolist(), True], r"^X\[60\]: expected a type.*, got True$"),
    "objects": (np.array(["a", None, 3], dtype=object), r"^X\[1\]: expected a type.*, got None$"),
    "no text": (["a", "\ud800"], r"^X\[1\]: expected a type"),
    "inside a tuple": (["a", ("a", 1.5)], r"^X\[1\]\[1\]: expected a type.*, got 1.5$"),
    "one text": ("abc", "^X: expected a list"),
}


@pytest.mark.parametrize(("xs", "match"), WRONG_TYPES.values(), ids=WRONG_TYPES)
@pytest.mark.parametrize("verb", ["decide_many", "simulate"])
def test_a_wrong_type_is_named_and_nothing_is_learnt(verb, xs, match):
    learner = types()
    learner.decide_many(XS)
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=match):
        learner.decide_many(xs) if verb == "decide_many" else simulate(learner, xs, np.zeros(60))
    assert learner.snapshot() == before


@pytest.mark.parametrize(
    ("more", "error", "match"),
    [
        ({"ids": ["a", "b"]}, InvalidInput, "^ids: expected 60, as many as there are of the others, got 2"),
        ({"ids": ["7"] * 60}, DuplicateId, "^ids: expected each id once, got '7' twice"),
        ({"costs": [1.0]}, InvalidInput, "^costs: expected 60, as many as there are of the others, got 1"),
        ({"costs": [1.0] * 59 + [-1.0]}, InvalidInput, r"^costs\[59\]: expected a positive, finite number"),
    ],
)
def test_a_batch_with_wrong_ids_or_costs_changes_nothing(more, error, match):
    learner = types()
    before = learner.snapshot()
    with pytest.raises(error, match=match):
        learner.decide_many(XS, **more)
    assert learner.snapshot() == before


@pytest.mark.parametrize(
    ("ys", "match"),
    [
        (YS[:-1], "^labels: expected 60 numbers, one for each point, got 59"),
        (YS.reshape(30, 2), "^labels: expected a row of finite numbers"),
        (np.where(XS == 3, np.nan, YS), "^labels: expected a row of finite numbers"),
        (np.where(XS == 3, 2e100, YS), "^labels: expected a row of finite numbers"),
    ],
)
def test_wrong_labels_are_refused_before_anything_is_learnt(ys, match):
    learner = types()
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=match):
        simulate(learner, XS, ys)
    assert learner.snapshot() == before


def test_an_empty_stream_changes_nothing():
    learner = types()
    before = learner.snapshot()
    assert simulate(learner, np.empty(0, dtype=int), np.empty(0)).ledger.rounds == 0
    for nothing in ([], (), iter(()), np.empty(0, dtype=int), np.empty(0)):
        assert learner.decide_many(nothing) == []
    assert learner.snapshot() == before


@pytest.mark.slow
def test_a_million_types_are_no_burden():
    learner, xs = types(), np.arange(10**6)[::-1]
    decisions = learner.decide_many(xs)
    assert all(decision.reason == "first_of_type" for decision in decisions)
    assert decisions[-1].id == "1000000"
    assert simulate(learner, xs, np.zeros(10**6)).wants_label.all()
    assert learner.summary().belief["types"] == 10**6


def test_labels_of_any_layout_are_read_alike():
    frozen = YS.copy()
    frozen.flags.writeable = False
    snapshots = set()
    for ys in (YS, frozen, YS.tolist(), np.repeat(YS, 2)[::2], YS.astype(">f8")):
        learner = types()
        simulate(learner, XS, ys)
        snapshots.add(learner.snapshot())
    assert snapshots == {loop(types()).snapshot()}


def test_a_short_stream_does_not_load_the_compiled_loops(monkeypatch):
    monkeypatch.setattr(stream, "SHORTEST", 61)
    monkeypatch.setattr(stream, "loops", None)
    assert not bulk.pays(types().state, 60)


def test_compiled_loops_are_kept_as_long_as_no_source_changes(tmp_path):
    """Numba looks at the file of a function alone, and would go on with old code of another in it."""
    pytest.importorskip("numba")
    from breakeven.learner.bulk import loops, worth_loop
    from breakeven.learner.fleet import indexed_columns, passing

    made = {id(one): one for room in (loops, worth_loop, indexed_columns, passing) for one in _compiled(room)}
    assert len(made) > 10
    assert {one._cache._cache_file._source_stamp for one in made.values()} == {
        loops.source_stamp(*loops.SOURCES)
    }
    (tmp_path / "rates.py").write_text("RATE = 1\n")
    before = loops.source_stamp.__wrapped__(tmp_path)
    assert loops.source_stamp.__wrapped__(tmp_path) == before
    (tmp_path / "rates.py").write_text("RATE = 10\n")
    assert loops.source_stamp.__wrapped__(tmp_path) != before


def _compiled(room):
    from numba.core.dispatcher import Dispatcher

    return [one for one in vars(room).values() if isinstance(one, Dispatcher)]
