"""Labellers differ in the noise of numbers: where labels are yes or no, a learner refuses them."""

import re

import pytest

from breakeven import AveragedShares, Labeller, Learner, Threshold, TypeMeans, TypeShares
from breakeven.beliefs import Recognised
from breakeven.errors import InvalidInput
from breakeven.learner import costs
from breakeven.tables.options import Options
from breakeven.values import Repriced

CLINIC = {"nurse": Labeller(1.0, 0.5), "mri": Labeller(5.0, 0.1)}
SENTENCE = "labels: expected numbers beside labellers: their noise is that of a number, got "
BELIEFS = {
    "shares": TypeShares(),
    "averaged shares": AveragedShares(1),
    "recognised": Recognised(TypeMeans(0.5), TypeShares()),
}


def plain(belief):
    learner = Learner(belief, Threshold(), label_cost=1.0)
    some = {name: {"cost": one.cost, "noise_std": one.noise_std} for name, one in CLINIC.items()}
    return {**learner.config(), "label_cost": None, "labellers": some}


@pytest.mark.parametrize("belief", BELIEFS.values(), ids=BELIEFS)
def test_a_new_learner_refuses_them(belief):
    with pytest.raises(InvalidInput, match=f"^{SENTENCE}"):
        Learner(belief, Threshold(), labellers=CLINIC)
    with pytest.raises(InvalidInput, match=f"^{SENTENCE}"):
        Learner.of(plain(belief))


@pytest.mark.parametrize("belief", BELIEFS.values(), ids=BELIEFS)
def test_new_costs_refuse_them_and_change_nothing(belief):
    learner = Learner(belief, Threshold(), label_cost=1.0)
    before = learner.snapshot()
    with pytest.raises(InvalidInput, match=f"^{SENTENCE}"):
        learner.reprice(labellers=CLINIC)
    assert learner.snapshot() == before


def test_labels_found_to_be_numbers_have_them():
    learner = Learner(BELIEFS["recognised"], Threshold(), label_cost=1.0)
    learner.learn("flu", 7.0)
    learner.reprice(labellers=CLINIC)
    assert learner.labellers == CLINIC


def test_tables_say_the_same():
    with pytest.raises(InvalidInput, match=f"^{re.escape(SENTENCE)}'yes/no'"):
        Options(label="ill", labels="yes/no", labeller=("nurse:2:3.0",))
    with pytest.raises(InvalidInput, match=f"^{re.escape(SENTENCE)}'yes/no'"):
        Learner(TypeShares(), Threshold(), labellers=CLINIC)


@pytest.fixture
def stored(monkeypatch):
    """The log and the snapshot of a stream from before they were refused."""
    with monkeypatch.context() as before:
        before.setattr("breakeven.learner.learner.check_labels_are_numbers", lambda labellers, belief: None)
        learner = Learner(TypeShares(), Threshold(), labellers=CLINIC)
    log = [learner.created]
    learner.listen(log.append)
    learner.tell(learner.decide("flu").id, 1.0)
    return learner, log


def test_stored_streams_go_on(stored):
    learner, log = stored
    folded, restored = Learner.fold(log), Learner.restore(learner.snapshot())
    assert folded.snapshot() == restored.snapshot() == learner.snapshot()
    folded.reprice(error_cost=2.0)
    assert restored.decide("flu") == learner.decide("flu")


def test_a_stored_change_of_costs_happens_again():
    learner = Learner(TypeShares(), Threshold(), label_cost=1.0)
    learner.apply(Repriced(2, "", labellers=CLINIC))
    assert learner.labellers == CLINIC


def test_the_sentence_has_one_home():
    assert costs.NUMBERS_BESIDE_LABELLERS in SENTENCE
