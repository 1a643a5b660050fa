"""What a belief says is a number: NaN is an error of its own, and never an answer or an event."""

from math import inf, nan

import numpy as np
import pytest
from msgspec.structs import replace

from breakeven import (
    Averaged,
    Check,
    Fleet,
    Learner,
    Threshold,
    TypeMeans,
    TypeShares,
    Value,
    algorithm1,
)
from breakeven.errors import NotANumber, TornLearner
from breakeven.errors.statuses import ending_of
from breakeven.learner.bulk import stream
from breakeven.values import Saving

MEANT = "expected numbers from the belief, got NaN; restore the learner"


class Failing(TypeMeans):
    """Means of types until `says` names what is NaN from then on."""

    says = None

    def _spoilt(self, prediction):
        if self.says in ("mean", "std"):
            return replace(prediction, **{self.says: nan})
        if self.says in ("f_quantiles", "label_quantiles"):
            return replace(prediction, **{"f_quantiles": (0.0,) * 11, self.says: (0.0,) * 10 + (nan,)})
        return prediction

    def look(self, point):
        view = super().look(point)
        view.prediction = self._spoilt(view.prediction)
        if self.says == "uncertainty":
            view.uncertainty = nan
        return view

    def predict(self, point):
        return self._spoilt(super().predict(point))

    def tell(self, key, point, y, noise_std=None):
        return self._spoilt(super().tell(key, point, y, noise_std))

    def predict_many(self, points):
        return list(map(self.predict, points))

    def rank(self, point, y, noise_std=None, age=0):
        return (nan, 0.0) if self.says == "rank" else super().rank(point, y, noise_std, age)


def failing(rule=None):
    learner = Learner(Failing(0.5), rule or Threshold(), label_cost=1.0)
    for _ in range(6):
        learner.tell(learner.decide("flu", force=True).id, 1.0)
    learner.decide("flu", force=True, id="awaited")
    return learner


@pytest.mark.parametrize("says", ["mean", "std", "uncertainty", "f_quantiles", "label_quantiles"])
@pytest.mark.parametrize("ask", ["decide", "decide_many"])
def test_no_decision_rests_on_nan(says, ask):
    learner, heard = failing(), []
    before = learner.snapshot()
    learner.listen(heard.append)
    learner.belief.says = says
    with pytest.raises(NotANumber, match=f"^prediction: {MEANT}"):
        learner.decide("flu") if ask == "decide" else learner.decide_many(["flu", "cold"])
    assert (learner.snapshot(), heard) == (before, [])


@pytest.mark.parametrize("says", ["mean", "std", "f_quantiles", "label_quantiles"])
def test_no_prediction_is_nan(says):
    learner = failing()
    before = learner.snapshot()
    learner.belief.says = says
    with pytest.raises(NotANumber, match=f"^prediction: {MEANT}"):
        learner.predict("flu")
    with pytest.raises(NotANumber, match=f"^prediction: {MEANT}"):
        learner.predict_many(["flu", "cold"])
    assert learner.snapshot() == before


@pytest.mark.parametrize("many", [False, True])
def test_a_label_that_makes_the_belief_answer_nan_is_no_event(many):
    learner, log = failing(), []
    before = learner.snapshot()
    learner.listen(log.append)
    learner.belief.says = "mean"
    with pytest.raises(NotANumber, match=f"^prediction: {MEANT}"):
        learner.tell_many(["awaited"], [2.0]) if many else learner.tell("awaited", 2.0)
    with pytest.raises(TornLearner, match="restore it"):
        learner.decide("flu")
    assert log == []
    Learner.restore(before, beliefs=[Failing]).tell("awaited", 2.0)


def test_no_test_of_the_belief_is_nan():
    learner = failing(Check(Threshold(), share=1.0))
    asked = learner.decide("cold", id="asked")
    assert asked.wants_label
    learner.belief.says = "rank"
    with pytest.raises(NotANumber, match=f"^rank: {MEANT}"):
        learner.tell("asked", 2.0)


def test_no_worth_is_nan(monkeypatch):
    learner = Learner(TypeMeans(0.5, prior_std=1.0), Value(), label_cost=1.0)
    learner.tell(learner.decide("flu", force=True).id, 1.0)
    before = learner.snapshot()
    monkeypatch.setattr(type(learner.belief.look("flu")), "saves", lambda view, noise_std: Saving(nan, 0.0))
    with pytest.raises(NotANumber, match=f"^worth: {MEANT}"):
        learner.decide("flu")
    monkeypatch.undo()
    assert learner.snapshot() == before


@pytest.fixture
def compiled(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(stream, "SHORTEST", 1)
    monkeypatch.setattr(stream, "SHORTEST_BATCH", 1)


def spoil(learner):
    """What compiled loops know of types is NaN from now on."""
    learner.state.resting._run.types.mean[:] = nan


def test_compiled_loops_decide_on_no_nan(compiled):
    learner = algorithm1(label_cost=1.0, noise_std=0.5)
    learner.decide_many(np.arange(200) % 7)
    spoil(learner)
    with pytest.raises(NotANumber, match=f"^answers: {MEANT}"):
        learner.decide_many(np.arange(200) % 7)
    with pytest.raises(TornLearner, match="restore it"):
        learner.predict(3)


def test_compiled_loops_answer_labels_with_no_nan(compiled, monkeypatch):
    learner = algorithm1(label_cost=1.0, noise_std=0.5)
    asked = [one.id for one in learner.decide_many(np.arange(200) % 7) if one.wants_label]
    telling = stream.RunningStream.tell

    def tell(run, y, means, stds):
        for done in telling(run, y, means, stds):
            means[done - 1] = nan
            yield done

    monkeypatch.setattr(stream.RunningStream, "tell", tell)
    with pytest.raises(NotANumber, match=f"^answers: {MEANT}"):
        learner.tell_many(asked, [1.0] * len(asked))
    with pytest.raises(TornLearner, match="restore it"):
        learner.predict(3)


def test_compiled_loops_do_not_widen_a_sum_that_is_nan_for_ever(compiled):
    learner = algorithm1(label_cost=1.0, noise_std=0.5)
    asked = [one.id for one in learner.decide_many(np.arange(200) % 7) if one.wants_label]
    learner.state.resting._run.types.parts[:, 0] = nan
    with pytest.raises(NotANumber, match=f"^answers: {MEANT}"):
        learner.tell_many(asked, [1.0] * len(asked))


def test_a_fleet_decides_on_no_nan():
    pytest.importorskip("numba")
    fleet = Fleet(algorithm1(label_cost=1.0, noise_std=0.5))
    fleet.decide([1, 2], [1, 1], ids=[1, 2])
    fleet.state.cells["parts"][:] = nan
    fleet.tell([1, 2], [1, 2], [1.0, 1.0])
    with pytest.raises(NotANumber, match=f"^answers: {MEANT}"):
        fleet.decide([1, 2], [1, 1], ids=[3, 4])
    with pytest.raises(TornLearner, match="load it from its last dump"):
        fleet.dump()


@pytest.mark.parametrize("belief", [Averaged(1), TypeShares()], ids=["averaged", "shares"])
def test_what_is_not_known_yet_is_infinite_and_no_nan(belief):
    x = [0.0] if isinstance(belief, Averaged) else "flu"
    decision = Learner(belief, Value(), label_cost=1.0).decide(x)
    assert decision.uncertainty == inf


def test_it_ends_as_a_failure_of_the_server():
    assert (ending_of(NotANumber).status, ending_of(NotANumber).exit_code) == (500, 2)
