"""A group's rows as pandas frames, as an engine's workers get them; and keys that are carried elsewhere."""

import numpy as np
import pandas as pd
import pytest

from breakeven import Labeller, Learner, Threshold, TypeMeans, Value
from breakeven.engines import ArrivalRows, GroupSetup, LabelRows, fold, open_group
from breakeven.engines.answered import FoldCounts
from breakeven.engines.frames import (
    A_LABEL,
    A_LEARNER,
    AN_ARRIVAL,
    MISSING_BITS,
    GroupFold,
    carried_out,
    faults_of,
    predictions_out,
)
from breakeven.engines.group_state import CarriedKey, KeptBeside
from breakeven.errors import InvalidInput, SnapshotError

LARGE = 2**53 + 1  # which a float does not hold


def types(**more):
    return Learner(TypeMeans(0.3), Threshold(), label_cost=0.5, **more)


SETUPS = {"fleet": GroupSetup.of(types()), "learners": GroupSetup.of(types(warmup=1))}


@pytest.fixture(params=list(SETUPS))
def setup(request):
    return SETUPS[request.param]


def rows(*some):
    """Rows as an engine hands them over: what, missing, key, id, x, order, y."""
    frame = pd.DataFrame(some, columns=["what", "missing", "key", "id", "x", "order", "y"])
    return frame.assign(withdrawn=False, blob=None, beside=None)


def counts_in(answers):
    (counts,) = answers["counts"].dropna()
    return FoldCounts(*counts.tolist())


def answers_in(answers):
    return answers[answers["real"]]


def test_frames_in_pieces_are_one_batch(setup):
    pieces = [
        rows((AN_ARRIVAL, 0, LARGE, LARGE, 7, 2, np.nan), (A_LABEL, 0, LARGE, 4, 0, 0, 1.5)),
        rows((AN_ARRIVAL, 0, LARGE, 4, 7, 1, np.nan)),
    ]
    state, answers = GroupFold(setup, "integers")(None, pieces)
    found = answers_in(answers)
    assert found["id"].tolist() == [LARGE, 4]
    assert found["round"].tolist() == [2, 1]
    counts = counts_in(answers)
    assert (counts.decided, counts.early) == (2, 1)
    assert open_group(setup, state).learners()[LARGE].belief.labels == 1


def test_what_is_missing_is_a_fault_and_other_integers_stay_exact(setup):
    faulty = [(AN_ARRIVAL, bit, LARGE, LARGE + 2 * bit, 7, 1, np.nan) for bit in MISSING_BITS.values()]
    sound = (AN_ARRIVAL, 0, LARGE, LARGE, 7, 1, np.nan)
    state, answers = GroupFold(setup, "integers")(None, [rows(sound, *faulty)])
    found = answers_in(answers)
    assert found["key"].tolist()[0] == LARGE
    assert [one.split(":")[0] for one in found["fault"][1:]] == [*MISSING_BITS]
    assert found["fault"].isna().tolist()[0]
    assert list(open_group(setup, state).learners()) == [LARGE]


def test_nothing_but_faults_leaves_no_state(setup):
    state, answers = GroupFold(setup, "integers")(None, [rows((AN_ARRIVAL, 1, 0, 1, 7, 1, np.nan))])
    assert state is None
    assert counts_in(answers).faults == 1


def test_learners_come_before_labels_and_arrivals(setup):
    before, _, _ = fold(setup, None, ArrivalRows([1], [1], [7], [5]))
    frame = carried_out([before], setup).assign(what=A_LEARNER, missing=0, id=0, x=0, order=0, y=np.nan)
    more = rows((AN_ARRIVAL, 0, 1, 2, 7, 4, np.nan), (A_LABEL, 0, 1, 1, 0, 0, 2.0))
    both = pd.concat([more, frame.assign(withdrawn=False)])
    state, answers = GroupFold(setup, "integers")(None, [both])
    assert answers_in(answers)["round"].tolist() == [2]
    counts = counts_in(answers)
    assert (counts.told, counts.out_of_order) == (1, 1)
    assert open_group(setup, state).learners()[1].predict(7).mean == 2.0


def test_labels_ahead_of_their_arrivals_are_carried(setup):
    state, _, _ = fold(setup, None, ArrivalRows([1], [1], [7], [1]), LabelRows([1, 2], [9, 8], [3.0, 4.0]))
    group = open_group(setup)
    group.take(open_group(setup, state).carry(), "integers")
    arrivals = ArrivalRows([1, 2], [9, 8], [7, 7], [2, 1])
    after, _, _ = fold(setup, group.dump(), arrivals)
    learners = open_group(setup, after).learners()
    assert (learners[1].belief.labels, learners[2].belief.labels) == (1, 1)


def test_a_key_with_arrivals_takes_no_learner(setup):
    state, _, _ = fold(setup, None, ArrivalRows([1], [1], [7], [1]))
    group = open_group(setup, state)
    with pytest.raises(InvalidInput, match="key: expected one without arrivals, got 1"):
        group.take(group.carry(), "integers")


def test_a_learner_of_another_make_is_refused(setup):
    blob = Learner.of(setup.config | {"label_cost": 3.0, "name": "1"}).snapshot()
    with pytest.raises(InvalidInput, match=r"learner: label_cost: expected 0.5, got 3.0"):
        open_group(setup).take([CarriedKey(1, blob, KeptBeside(last=1).packed())], "integers")
    rule = Learner(TypeMeans(0.3), Value(), label_cost=0.5, name="1", warmup=setup.config["warmup"])
    with pytest.raises(InvalidInput, match="learner: rule: expected"):
        open_group(setup).take([CarriedKey(1, rule.snapshot(), KeptBeside(last=1).packed())], "integers")


def test_damaged_keys_are_named(setup):
    state, _, _ = fold(setup, None, ArrivalRows([1, 2], [1, 2], [7, 7], [1, 1]))
    sound, other = open_group(setup, state).carry()
    damaged = [sound, other._replace(blob=other.blob[:-1]), other._replace(beside=b"nothing")]
    first, second = faults_of(damaged, setup)
    assert first.startswith("the learner of 2: ")
    assert "beside: expected bytes of an exported key" in second
    with pytest.raises(SnapshotError):
        open_group(setup).take(damaged[1:2], "integers")


def test_who_gave_a_label_is_told():
    labellers = {"nurse": Labeller(1.0, noise_std=0.5), "doctor": Labeller(3.0, noise_std=0.1)}
    setup = GroupSetup.of(Learner(TypeMeans(0.3), Threshold(), labellers=labellers))
    arrivals = ArrivalRows(["n", "n"], [1, 2], ["flu", "cold"], [1, 2])
    state, answers, _ = fold(setup, None, arrivals)
    assert set(answers.labeller) <= set(labellers)
    labels = LabelRows(["n", "n", "n"], [1, 2, 3], [1.0, 2.0, 3.0], labellers=["doctor", "nobody", "nurse"])
    state, _, counts = fold(setup, state, labels=labels)
    assert (counts.told, counts.label_faults, counts.early) == (1, 1, 1)
    state, _, counts = fold(setup, state, ArrivalRows(["n"], [3], ["cough"], [3]))
    told = open_group(setup, state).learners()["n"].state.book
    assert {id: told.find(id).labeller for id in ("1", "3")} == {"1": "doctor", "3": "nurse"}


def test_points_that_cannot_be_predicted_are_faults():
    learner = types()
    learner.decide(7, id="a")
    learner.tell("a", 2.0)
    for column in (pd.Series([7, 8]), pd.Series([7.0, np.nan])):
        found = predictions_out(learner, (column,))
        assert found["prediction"].tolist()[0] == 2.0
    assert found["fault"].tolist()[0] is None
    assert found["fault"].tolist()[1].startswith("x: expected")
