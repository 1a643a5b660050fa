"""What a group of keys does with faulty rows, rows out of order, and bytes that are not its own."""

import numpy as np
import pytest

from breakeven import Always, Budget, GaussianProcess, Learner, Threshold, TypeMeans, TypeShares
from breakeven.engines import ArrivalRows, GroupSetup, LabelRows, fold, open_group
from breakeven.engines.group_state import GROUP_MARK
from breakeven.errors import InvalidInput, SnapshotError


def types(**more):
    return Learner(TypeMeans(0.3), Threshold(), label_cost=0.5, **more)


SETUPS = {
    "fleet": GroupSetup.of(types()),
    "learners": GroupSetup.of(types(warmup=1)),
}


@pytest.fixture(params=list(SETUPS))
def setup(request):
    return SETUPS[request.param]


def test_faulty_rows_are_answered_with_their_fault_and_do_not_count(setup):
    rows = ArrivalRows(
        keys=["n", None, "n", "n", "n", "n", 7],
        ids=["a", "b", "", "d", "e", "f", "g"],
        xs=["flu", "flu", "flu", 1.5, "flu", "flu", "flu"],
        order=[1, 2, 3, 4, None, 6, 7],
        costs=[None, None, None, None, None, -1.0, None],
    )
    state, answers, counts = fold(setup, None, rows)
    assert answers.wants_label.tolist() == [True] + [False] * 6
    assert answers.fault[0] is None
    for fault, name in zip(answers.fault[1:], ("key", "id", "x", "order", "cost", "key"), strict=True):
        assert fault.startswith(f"{name}: expected")
    assert np.isnan(answers.prediction[1:]).all()
    assert (counts.decided, counts.faults) == (1, 6)
    assert open_group(setup, state).learners()["n"].rounds == 1


def test_a_key_that_had_nothing_but_faults_has_no_learner(setup):
    state, _, _ = fold(setup, None, ArrivalRows(["n"], ["a"], [1.5], [1]))
    assert open_group(setup, state).learners() == {}


def test_a_key_whose_rule_has_moved_on_is_taken_up_elsewhere():
    setup = GroupSetup.of(Learner(TypeMeans(0.3), Budget(Threshold(), total=2.0), label_cost=0.5, warmup=1))
    state, _, _ = fold(setup, None, ArrivalRows(["n"], ["a"], ["flu"], [1]))
    here, there = open_group(setup, state), open_group(setup, None)
    there.take(here.carry(), "texts")
    assert there.learners()["n"].rule.left == here.learners()["n"].rule.left == 1.5


def test_a_row_of_the_wrong_size_is_a_fault():
    setup = GroupSetup.of(Learner(GaussianProcess(2, 0.3), Threshold(), label_cost=0.5))
    rows = ArrivalRows([1, 1, 1], [1, 2, 3], [[0.0, 1.0], [0.0], [0.0, np.nan]], [1, 2, 3])
    _, answers, counts = fold(setup, None, rows)
    assert answers.fault[0] is None
    assert answers.fault[1].startswith("x: expected a row of 2")
    assert "finite" in answers.fault[2]
    assert (counts.decided, counts.faults) == (1, 2)


def test_rows_older_than_what_was_decided_are_decided_and_counted(setup):
    state, _, counts = fold(setup, None, ArrivalRows([1, 1], [1, 2], [0, 0], [5, 9]))
    assert counts.out_of_order == 0
    state, answers, counts = fold(setup, state, ArrivalRows([1, 2, 1], [3, 4, 5], [0, 0, 0], [7, 1, 12]))
    assert (counts.out_of_order, counts.decided) == (1, 3)
    assert answers.round.tolist() == [3, 1, 4]
    _, _, counts = fold(setup, state, ArrivalRows([1], [6], [0], [11]))
    assert counts.out_of_order == 1


@pytest.mark.parametrize(
    "order",
    [[3, 1, 2], [0.3, 0.1, 0.2], np.array(["2026-03-01", "2026-01-01", "2026-02-01"], dtype="datetime64[s]")],
    ids=["integers", "numbers", "times"],
)
def test_rows_are_decided_in_their_order(setup, order):
    state, answers, _ = fold(setup, None, ArrivalRows([1] * 3, [1, 2, 3], [0] * 3, order))
    assert answers.round.tolist() == [3, 1, 2]
    _, _, counts = fold(setup, state, ArrivalRows([1], [4], [0], order[1:2]))
    assert counts.out_of_order == 1


def test_ids_decide_where_the_order_is_the_same(setup):
    _, answers, _ = fold(setup, None, ArrivalRows([1] * 3, [30, 10, 20], [0] * 3, [1, 1, 1]))
    assert answers.round.tolist() == [3, 1, 2]


def test_faulty_labels_are_counted(setup):
    state, _, _ = fold(setup, None, ArrivalRows(["n"], ["a"], ["flu"], [1]))
    labels = LabelRows(["n", None, "n", "n"], ["a", "a", 3.5, "a"], [1.0, 1.0, 1.0, np.nan])
    _, _, counts = fold(setup, state, labels=labels)
    assert (counts.told, counts.label_faults) == (1, 3)


def test_labels_that_conflict_and_repeat(setup):
    state, _, _ = fold(setup, None, ArrivalRows(["n"], ["a"], ["flu"], [1]))
    state, _, counts = fold(setup, state, labels=LabelRows(["n"] * 3, ["a"] * 3, [2.0, 1.0, 1.0]))
    assert (counts.told, counts.again, counts.conflicting) == (1, 1, 1)
    assert open_group(setup, state).learners()["n"].predict("flu").mean == 1.0


def test_repeated_rows_are_answered_and_do_not_count(setup):
    rows = ArrivalRows(["n", "n"], ["a", "a"], ["flu", "flu"], [1, 1])
    state, answers, counts = fold(setup, None, rows)
    assert (counts.decided, counts.repeated) == (1, 1)
    assert answers.wants_label.tolist() == [True, True]
    state, answers, counts = fold(setup, state, rows)
    assert (counts.decided, counts.repeated) == (0, 2)
    assert answers.wants_label.tolist() == [True, True]
    assert open_group(setup, state).learners()["n"].rounds == 1


def test_early_labels_are_kept_in_bounds():
    for make in (types(), types(warmup=1)):
        setup = GroupSetup.of(make, early_window=2)
        state, _, counts = fold(setup, None, labels=LabelRows([1] * 4, [1, 2, 3, 4], [1.0] * 4))
        assert (counts.early, counts.forgotten) == (4, 2)
        state, _, _ = fold(setup, state, ArrivalRows([1] * 4, [1, 2, 3, 4], [0, 1, 2, 3], [1, 2, 3, 4]))
        assert open_group(setup, state).learners()[1].belief.labels <= 2


def test_how_much_is_remembered_may_change(setup):
    """Of what is too much the last is kept."""
    names = ["n"] * 4
    state, _, _ = fold(setup, None, labels=LabelRows(names, [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]))
    state, _, counts = fold(
        setup._replace(early_window=2), state, labels=LabelRows(["n"] * 2, [5, 4], [5.0, 4.0])
    )
    assert (counts.early, counts.again) == (1, 1)
    state, _, _ = fold(
        setup, state, ArrivalRows(["n"] * 5, [1, 2, 3, 4, 5], ["a", "b", "c", "d", "e"], list(range(5)))
    )
    assert list(open_group(setup, state).learners()["n"].awaited) == ["1", "2", "3"]


def test_an_early_label_may_be_taken_back_before_its_arrival(setup):
    early, gone = (
        LabelRows(["n"] * 3, [1, 2, 1], [5.0, 6.0, 5.0]),
        LabelRows(["n"] * 2, [1, 1], [0.0] * 2, [True] * 2),
    )
    state, _, counts = fold(setup, None, labels=early)
    assert (counts.early, counts.again) == (2, 1)
    state, _, counts = fold(setup, state, labels=gone)
    assert counts.withdrawn == 1
    state, _, _ = fold(setup, state, ArrivalRows(["n"] * 2, [1, 2], ["flu", "cold"], [1, 2]))
    learner = open_group(setup, state).learners()["n"]
    assert list(learner.awaited) == ["1"]
    assert learner.predict("cold").mean == 6.0
    state, _, counts = fold(setup, state, labels=LabelRows(["n"], [1], [7.0]))
    assert counts.told == 1
    assert open_group(setup, state).learners()["n"].predict("flu").mean == 7.0


def test_an_early_label_that_cannot_be_right_is_counted_and_holds_nothing_up():
    setup = GroupSetup.of(Learner(TypeShares(), Always(), label_cost=0.5))
    state, _, counts = fold(setup, None, labels=LabelRows([1, 1], [1, 2], [0.3, 1.0]))
    assert counts.early == 2
    state, _, counts = fold(setup, state, ArrivalRows([1, 1], [1, 2], ["flu", "flu"], [1, 2]))
    assert (counts.decided, counts.label_faults) == (2, 1)
    assert open_group(setup, state).learners()[1].belief.labels == 1


def test_an_early_label_meets_its_arrival_whether_its_id_is_text_or_a_number():
    setup = SETUPS["learners"]
    state, _, _ = fold(setup, None, labels=LabelRows([1], ["1"], [1.0]))
    state, _, _ = fold(setup, state, ArrivalRows([1], [1], ["flu"], [1]))
    assert open_group(setup, state).learners()[1].belief.labels == 1


def test_nothing_is_folded_into_nothing(setup):
    state, answers, counts = fold(setup, None)
    assert len(answers.fault) == 0
    assert set(counts) == {0}
    assert fold(setup, state)[0] == state


def test_states_of_another_make_are_refused(setup):
    state, _, _ = fold(setup, None, ArrivalRows([1], [1], [0], [1]))
    other = GroupSetup.of(types(seed=9))
    with pytest.raises(SnapshotError, match="state: expected a group with seed 0, as it was begun, got 9"):
        fold(other._replace(config=setup.config | {"seed": 9}), state)
    with pytest.raises(SnapshotError, match="damaged or cut short"):
        fold(setup, state[:-1])
    with pytest.raises(SnapshotError, match="expected that of a group of keys, got something else"):
        fold(setup, b"nothing")
    later = GROUP_MARK + (2).to_bytes(2, "big") + state[len(GROUP_MARK) + 2 :]
    with pytest.raises(SnapshotError, match="expected version 1, got 2; upgrade breakeven"):
        fold(setup, later)


def test_columns_of_different_lengths_are_refused(setup):
    with pytest.raises(InvalidInput, match="ids: expected 2 rows, as in the other columns, got 1"):
        fold(setup, None, ArrivalRows([1, 2], [1], [0, 0], [1, 2]))


def test_a_group_begins_with_a_learner_without_history():
    learner = types()
    learner.decide("a")
    for wrong in (learner, types(name="north"), "config"):
        with pytest.raises(InvalidInput, match="config: expected a learner without history"):
            GroupSetup.of(wrong)
