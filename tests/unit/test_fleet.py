"""What a fleet accepts, refuses and remembers; its bytes; and that it needs no compiler."""

import subprocess
import sys
from contextlib import suppress
from hashlib import blake2b

import msgspec
import numpy as np
import pytest

from breakeven import (
    Always,
    Budget,
    Cells,
    Fleet,
    Labeller,
    Learner,
    Never,
    SeparateTypes,
    Threshold,
    TypeMeans,
    Value,
    VariableUncertainty,
)
from breakeven.errors import InvalidInput, SnapshotError, UnknownId
from breakeven.learner.fleet import LabelCounts, why_no_fleet
from breakeven.learner.fleet.blob import DIGEST_SIZE, FLEET_MARK
from breakeven.learner.fleet.indexed_columns import REMOVED, IndexedColumns, Kind, place_of
from tests.oracle.fleet_streams import OneForEachKey, told, told_by_columns, without_answers


def types(**more):
    return Learner(TypeMeans(0.3), Threshold(), **{"label_cost": 0.4} | more)


def fleet(**more):
    return Fleet(types(), **more)


def busy(**more):
    one = fleet(**more)
    one.decide([3, 1, 3, 1], ["a", "b", "b", "b"], [10, 11, 12, 13])
    one.tell([3, 9], [10, 99], [1.5, 2.5])
    one.withdraw([1], [11])
    return one


# -- rows ----------------------------------------------------------------------------------------------


def test_rows_of_the_same_id_are_answered_once():
    one = fleet()
    found = one.decide([1, 1, 2], ["a", "a", "a"], [7, 7, 7])
    assert found.repeated.tolist() == [False, True, False]
    assert found.round.tolist() == [1, 1, 1]
    assert one.learner(1).rounds == 1
    again = one.decide([1, 1], ["a", "a"], [7, 8])
    assert again.repeated.tolist() == [True, False]
    assert again.wants_label[0]
    assert np.isnan(again.uncertainty[0])
    assert again.round.tolist() == [0, 2]


def test_a_repeated_row_has_the_prediction_of_now():
    one = fleet()
    one.decide([1], ["a"], [7])
    one.tell([1], [7], [4.0])
    found = one.decide([1], ["a"], [7])
    assert (found.prediction[0], found.std[0]) == (4.0, 0.3)
    assert one.learner(1).rounds == 1


def test_labels_are_told_again_conflict_come_early_and_are_forgotten():
    one = fleet(early_window=2)
    one.decide([1], ["a"], [7])
    assert one.tell([1, 1, 1], [7, 7, 7], [4.0, 4.0, 5.0])[:3] == (1, 1, 1)
    counts = one.tell([1, 1, 1, 1], [20, 21, 22, 22], [1.0, 2.0, 3.0, 4.0])
    assert (counts.early, counts.forgotten, counts.conflicting) == (3, 1, 1)
    found = one.decide([1, 1, 1], ["a", "b", "c"], [20, 21, 22])
    assert found.wants_label.all()
    assert one.learner(1).predict("b").mean == 2.0
    assert one.learner(1).predict("c").mean == 3.0
    assert one.awaited == 1  # 20, whose label was forgotten


def test_an_early_label_of_an_arrival_nobody_asked_about_is_dropped():
    one = Fleet(Learner(TypeMeans(0.3), Never(), label_cost=1.0))
    one.tell(["n"], ["x"], [2.0])
    one.decide(["n"], ["a"], ["x"])
    assert one.state.labels.counts() == (0, 0, 0)
    assert one.learner("n").belief.labels == 0


@pytest.mark.parametrize("window", [0, 1, 2])
def test_labels_told_are_remembered_as_long_as_the_window_reaches(window):
    one = fleet(told_window=window, early_window=0)
    one.decide([1] * 3, ["a", "b", "c"], [1, 2, 3])
    one.tell([1] * 3, [1, 2, 3], [1.0, 2.0, 3.0])
    assert one.tell([1] * 3, [1, 2, 3], [1.0, 2.0, 3.0]).again == window
    assert one.state.labels.counts()[1] == window


def test_a_label_withdrawn_is_learnt_if_it_comes_all_the_same():
    one = fleet()
    one.decide([1], ["a"], [7])
    assert one.withdraw([1, 1, 5], [7, 7, 7]) == (1, 1, 1)
    assert one.withdraw([1], [7], charged=True) == (0, 0, 1)
    assert one.learner(1).ledger.label_spend == 0.0
    assert one.tell([1], [7], [3.0]).told == 1
    assert one.learner(1).predict("a").mean == 3.0
    assert one.withdraw([1], [7]).withdrawn == 1
    assert one.learner(1).belief.labels == 0


@pytest.mark.parametrize("charged", [False, True])
def test_what_a_withdrawal_gave_back_or_charged_stays_so(charged):
    one, each = fleet(), types(name="1")
    one.decide([1], ["a"], [7])
    each.decide("a", id="7")
    for now in (charged, not charged):
        one.withdraw([1], [7], charged=now)
        each.withdraw("7", charged=now)
        one.tell([1], [7], [2.0])
        each.tell("7", 2.0)
    one.withdraw([1], [7], charged=not charged)
    each.withdraw("7", charged=not charged)
    for learner in (one.learner(1), Fleet.load(one.dump()).learner(1)):
        assert without_answers(learner) == without_answers(each)
    other = fleet()
    other.put(1, one.learner(1), "integers")
    assert other.dump() == one.dump()


def test_costs_of_single_arrivals():
    one = fleet()
    found = one.decide([1, 1], ["a", "b"], [1, 2], [np.nan, 9.0])
    assert found.cost.tolist() == [0.4, 9.0]
    assert one.learner(1).ledger.label_spend == 9.4


def test_answers_keep_within_their_range():
    one = Fleet(types(answers_within=(0, 1)))
    one.decide([1], ["a"], [1])
    one.tell([1], [1], [4.0])
    assert one.decide([1, 1], ["a", "a"], [2, 1]).prediction.tolist() == [1.0, 1.0]


def test_no_rows_are_no_harm():
    one = fleet()
    assert len(one.decide([], [], []).wants_label) == 0
    assert one.tell([], [], []) == (0, 0, 0, 0, 0)
    assert len(one) == 0
    one.decide(["a"], [1], ["x"])  # neither said what keys are
    assert "Fleet of 1 keys: TypeMeans, Threshold, 1 arrivals, 1 labels bought" in repr(one)


# -- bad input -----------------------------------------------------------------------------------------

WRONG_ROWS = {
    "keys": (([1.5], ["a"], [1]), r"^keys: expected integers of at most 64 bits, or texts.*got 1.5 in row 0"),
    "mixed": (([1, "b"], ["a", "a"], [1, 2]), r"^keys: expected .*got 'b' in row 1"),
    "truth": (([True], ["a"], [1]), r"^keys: expected .*got True in row 0"),
    "large": (([2**63], ["a"], [1]), r"^keys: expected integers of at most 64 bits"),
    "empty": ((["", "b"], ["a", "a"], [1, 2]), r"^keys\[0\]: expected"),
    "surrogate": ((["n"], ["\ud800"], [1]), r"^xs\[0\]: expected a type"),
    "ids": (([1], ["a"], [None]), r"^ids: expected .*got None in row 0"),
    "lengths": (([1], ["a", "b"], [1]), r"^xs: expected 1, as many as there are keys, got 2"),
    "cost": (([1], ["a"], [1], [-2.0]), r"^costs\[0\]: expected a positive, finite number"),
    "costs": (([1], ["a"], [1], [2.0, 3.0]), r"^costs: expected 1, as many"),
    "a table of costs": (([1], ["a"], [1], [[2.0]]), r"^costs: expected one number for each row"),
}


@pytest.mark.parametrize("case", list(WRONG_ROWS))
def test_wrong_rows_are_refused_and_change_nothing(case):
    rows, message = WRONG_ROWS[case]
    one = fleet()
    before = one.dump()
    with pytest.raises(InvalidInput, match=message):
        one.decide(*rows)
    assert one.dump() == before


def test_other_kinds_of_ids_than_before_are_refused():
    one = busy()
    before = one.dump()
    with pytest.raises(InvalidInput, match="ids: expected integers, as before, got 'x'"):
        one.decide([1], ["a"], ["x"])
    with pytest.raises(InvalidInput, match="ys: expected"):
        one.tell([1], [12], [np.nan])
    with pytest.raises(InvalidInput, match="ys: expected 2, as many as there are keys, got 1"):
        one.tell([1, 1], [12, 13], [1.0])
    assert one.dump() == before


NO_FLEETS = {
    "belief": (Learner(Cells([0], [1], 0.3), Threshold(), label_cost=1.0), "a belief other than TypeMeans"),
    "rule": (Learner(TypeMeans(0.3), Budget(Threshold(), total=9.0), label_cost=1.0), "a rule around a rule"),
    "name": (types(name="north"), "a name, which every key has for itself"),
    "warmup": (types(warmup=3), "a warm-up"),
    "prior": (
        Learner(TypeMeans(0.3, prior_std=1.0), Threshold(), label_cost=1.0),
        "a prior under another rule than Value",
    ),
    "forgetting": (
        Learner(TypeMeans(0.3, forgetting=9.0), Threshold(), label_cost=1.0),
        "forgetting",
    ),
    "labellers": (
        Learner(TypeMeans(0.3), Value(), labellers={"nurse": Labeller(1.0, 0.3)}),
        "several labellers",
    ),
    "level": (
        Learner(TypeMeans(0.3), Value(), label_cost=1.0, under_cost=2.0, over_cost=1.0),
        "costs of errors that differ by their sign",
    ),
    "scale": (
        Learner(TypeMeans(0.3, label_scale="fit"), Threshold(), label_cost=1.0, warmup=3),
        "a warm-up",
    ),
}


@pytest.mark.parametrize("case", list(NO_FLEETS))
def test_what_a_fleet_cannot_do_is_named(case):
    learner, message = NO_FLEETS[case]
    assert message in why_no_fleet(learner)
    with pytest.raises(InvalidInput, match=f"^config: expected what a fleet can do, got {message}"):
        Fleet(learner)


def test_a_fleet_begins_without_history():
    learner = types()
    learner.decide("a")
    with pytest.raises(InvalidInput, match="config: expected a learner without history"):
        Fleet(learner)
    assert Fleet(types().config()).config() == types().config()


def test_an_unknown_key_has_no_learner():
    one = busy()
    for key in (7, "north", 9):  # 9 has a label only
        with pytest.raises(UnknownId, match="key: expected one that had an arrival"):
            one.learner(key)


# -- learners ------------------------------------------------------------------------------------------


def test_a_learner_goes_on_as_its_key_would():
    one = busy()
    learner = one.learner(3)
    assert (learner.name, learner.rounds, learner.number) == ("3", 2, 4)
    assert list(learner.awaited) == ["12"]
    assert learner.decision("12").why == "Asked for by a fleet, which keeps no answers."
    assert told_by_columns(one.decide([3], ["b"], [20])) == [told(learner.decide("b", id="20"))]


def test_learners_that_do_not_fit_are_refused():
    one = busy()
    before = one.dump()
    with pytest.raises(InvalidInput, match="learner: name: expected '5', got ''"):
        one.put(5, types())
    with pytest.raises(InvalidInput, match=r"learner: label_cost: expected 0\.4, got 3\.0"):
        one.put(5, types(label_cost=3.0, name="5"))
    given = types(name="5")
    given.learn("a", 1.0, id="gift")
    with pytest.raises(InvalidInput, match="expected labels of arrivals that were asked for"):
        one.put(5, given)
    with pytest.raises(InvalidInput, match="key: expected one without arrivals, got 3"):
        one.put(3, one.learner(3))
    asked = types(name="5")
    asked.decide("a", id="x")
    with pytest.raises(InvalidInput, match="learner: an id: expected an integer"):
        one.put(5, asked)
    assert one.dump() == before


# -- bytes ---------------------------------------------------------------------------------------------


def resealed(blob, change):
    """The same bytes with another head."""
    start = len(FLEET_MARK) + 2 + DIGEST_SIZE
    length = int.from_bytes(blob[start : start + 8], "big")
    head = msgspec.msgpack.decode(blob[start + 8 : start + 8 + length])
    change(head)
    packed = msgspec.msgpack.encode(head)
    body = len(packed).to_bytes(8, "big") + packed + blob[start + 8 + length :]
    mark = blob[: len(FLEET_MARK) + 2]
    return mark + blake2b(mark + body, digest_size=DIGEST_SIZE).digest() + body


def rename(head):
    head["columns"][0][0] = "members.colour"


def retype(head):
    head["columns"][1][1] = "c16"


def lengthen(head):
    head["columns"][0][2] += 5


def recount(head):
    head["labels"] = [9, 9, 9]


def more(head):
    head["colour"] = "red"


def other_rule(head):
    head["config"]["rule"] = {"kind": "VariableUncertainty"}


@pytest.mark.parametrize("change", [rename, retype, lengthen, recount, more, other_rule])
def test_bytes_of_another_make_are_refused(change):
    with pytest.raises(SnapshotError, match=r"^fleet: expected the state of a fleet, got something else"):
        Fleet.load(resealed(busy().dump(), change))


def test_damaged_bytes_are_refused():
    blob = busy().dump()
    assert Fleet.load(resealed(blob, lambda head: None)).dump() == blob
    for broken in (blob[:-1], blob[:-9] + b"x" + blob[-8:], blob + b"\0"):
        with pytest.raises(SnapshotError, match="damaged or cut short"):
            Fleet.load(broken)
    for other in (b"", b"breakeven", types().snapshot()):
        with pytest.raises(SnapshotError, match=r"expected bytes from Fleet\.dump"):
            Fleet.load(other)
    with pytest.raises(SnapshotError, match="expected bytes, got str"):
        Fleet.load("text")
    later = FLEET_MARK + (2).to_bytes(2, "big") + blob[len(FLEET_MARK) + 2 :]
    with pytest.raises(SnapshotError, match="expected version 1, got 2; upgrade breakeven"):
        Fleet.load(later)


@pytest.mark.parametrize("seed", range(3))
def test_columns_of_nonsense_are_refused_or_read(seed):
    """Whatever numbers stand in the columns, nothing but a refusal is raised."""
    blob, random = busy().dump(), np.random.default_rng(seed)
    start = len(FLEET_MARK) + 2 + DIGEST_SIZE
    first = start + 8 + int.from_bytes(blob[start : start + 8], "big")
    for _ in range(100):
        damaged = bytearray(blob)
        damaged[random.integers(first, len(blob))] = random.integers(256)
        with suppress(SnapshotError):
            Fleet.load(resealed(bytes(damaged), lambda head: None)).dump()


def test_the_state_of_a_key_is_small():
    """10 types and 10 awaited labels a key, integer ids, empty windows."""
    keys, rows = 2000, 20
    one, random = fleet(told_window=0, early_window=0), np.random.default_rng(0)
    key = np.repeat(np.arange(keys), rows) * 1_000_003 + 2**40
    xs = np.tile(np.repeat(np.arange(10), 2), keys)
    ids = random.integers(2**62, size=len(key))
    found = one.decide(key[::2], xs[::2], ids[::2])
    one.tell(key[::2], ids[::2], random.normal(size=len(key) // 2))
    assert found.wants_label.all()
    one.decide(key[1::2], xs[1::2], ids[1::2])
    assert one.awaited == 10 * keys
    assert len(one.dump()) <= 700 * keys


def test_ids_of_labels_that_are_forgotten_are_forgotten_too():
    """And those that are still known are found, whatever number they have now."""
    one = fleet(told_window=10, early_window=0)
    for start in range(0, 6000, 200):
        ids = [f"arrival {i}" for i in range(start, start + 200)]
        one.decide([1] * 200, ids, ids)
        counts = one.tell([1] * 199, ids[:-1], np.arange(199.0))
        assert counts.told == 199
    assert len(one.state.ids.texts) < 2000  # of 6,000
    assert one.awaited == 30
    waiting = [f"arrival {i}" for i in range(199, 6000, 200)]
    assert Fleet.load(one.dump()).tell([1] * 30, waiting, np.ones(30)).told == 30
    assert one.tell([1] * 30, waiting, np.ones(30)).told == 30
    assert one.tell([1], ["arrival 5999"], [1.0]).again == 1


# -- without a compiler --------------------------------------------------------------------------------

UNCOMPILED = """
import warnings
warnings.simplefilter("error")
from tests.oracle.fleet_streams import *
from breakeven import Fleet
from breakeven.learner.bulk import loops
assert not hasattr(loops.decide, "py_func")
for belief, rule in (("all", "type_clock"), ("learnt", "value"), ("all", "original"), ("own", "type_clock")):
    fleet, each = Fleet(made(belief, rule)), OneForEachKey(belief, rule)
    random = np.random.default_rng(1)
    for start in range(0, 60, 20):
        key, x = random.integers(3, size=(2, 20)).tolist()
        ids = list(range(start, start + 20))
        found = fleet.decide(key, x, ids)
        assert told_by_columns(found) == [told(each.decide(*row, None)) for row in zip(key, x, ids)]
        for i in np.flatnonzero(found.wants_label).tolist()[::2]:
            each.tell(key[i], ids[i], i / 7)
            fleet.tell([key[i]], [ids[i]], [i / 7])
        fleet = Fleet.load(fleet.dump())
    assert all(without_answers(fleet.learner(k)) == without_answers(each.learners[k]) for k in each.learners)
"""


def test_without_a_compiler_the_bits_are_the_same():
    absent = "import sys; sys.modules['numba'] = None\n"
    done = subprocess.run([sys.executable, "-c", absent + UNCOMPILED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_memory_of_a_moving_limit_is_each_keys_own():
    rule = VariableUncertainty("uncertain", theta=0.3)
    one = Fleet(Learner(SeparateTypes(0.3), rule, label_cost=1.0))
    one.decide([1, 1, 2], ["a", "a", "a"], [1, 2, 3])
    assert one.learner(1).rule.theta == 1.2
    assert one.learner(2).rule.theta == 0.6
    other = Fleet.load(one.dump())
    assert other.learner(1).rule.theta == 1.2


def test_keys_may_be_told_apart_by_learners_of_their_own():
    each = OneForEachKey("all", "random")
    one = Fleet(
        Learner(TypeMeans(0.3, prior_mean=0.25), each._made("x").rule, label_cost=0.4, error_cost=1.5, seed=5)
    )
    found = one.decide(["a", "b"] * 20, ["t"] * 40, list(range(40)))
    assert found.wants_label[::2].tolist() != found.wants_label[1::2].tolist()


@pytest.mark.parametrize("rule", [VariableUncertainty(), Value(), Threshold()])
def test_fleets_read_from_the_same_bytes_do_not_touch_each_other(rule):
    belief = TypeMeans(0.3, prior_std="learn" if isinstance(rule, Value) else None)
    fleet = Fleet(Learner(belief, rule, label_cost=0.2))
    keys, xs = np.arange(60) % 3, np.arange(60) % 7
    ids = np.flatnonzero(fleet.decide(keys, xs, np.arange(60)).wants_label)
    fleet.tell(keys[ids], ids, ids / 60)
    blob = fleet.dump()
    one, other = Fleet.load(blob), Fleet.load(blob)
    asked = one.decide(keys, xs, np.arange(60, 120)).wants_label
    one.tell(keys[asked], np.arange(60, 120)[asked], np.ones(asked.sum()))
    assert other.dump() == blob == Fleet.load(blob).dump()
    assert other.decide(keys, xs, np.arange(60, 120)).wants_label.tolist() == asked.tolist()


def test_a_label_that_was_kept_is_found_whatever_ids_came_since():
    fleet = Fleet(Learner(TypeMeans(0.3), Always(), label_cost=0.2))
    assert fleet.tell([1], [50], [2.0]).early == 1  # ahead of its arrival, above all ids so far
    fleet.decide([1, 1], [7, 7], [3, 4])
    assert fleet.tell([1, 1], [3, 60], [2.0, 2.0]) == LabelCounts(told=1, early=1)
    again = Fleet.load(fleet.dump())
    for one in (fleet, again):
        one.decide([1, 1], [7, 7], [50, 60])
        assert one.awaited == 1  # of 4: the two that came early are told
        assert one.decide([1], [7], [60]).repeated.tolist() == [True]
        assert one.decide([1], [7], [61]).repeated.tolist() == [False]


@pytest.mark.parametrize("stride", [1, 7, 8, 16, 2**20, 2**58])
def test_rows_are_found_however_their_numbers_lie(stride):
    """Also where a table is as full as it gets, and rows were removed from it."""
    columns = IndexedColumns({"key": Kind("i8"), "id": Kind("i8")})
    ids = np.arange(-16, 16) * stride
    keys = np.where(np.arange(32) % 3 == 0, 5, 0)
    assert columns.meet(keys, ids).tolist() == list(range(32))
    assert 2 * len(columns) == len(columns.table)
    assert columns.find(keys, ids).tolist() == list(range(32))
    assert columns.find(keys + 1, ids).tolist() == [-1] * 32
    for row in range(0, 32, 2):
        place = place_of(columns.table, columns["key"], columns["id"], int(keys[row]), int(ids[row]))
        columns.table[place] = REMOVED
    assert columns.find(keys, ids).tolist() == [row if row % 2 else -1 for row in range(32)]
    assert columns.enter(np.arange(0, 32, 2)) == -1
    assert columns.find(keys, ids).tolist() == list(range(32))
    assert columns.meet(keys + 9, ids).tolist() == list(range(32, 64))
    assert columns.find(keys, ids).tolist() == list(range(32))
