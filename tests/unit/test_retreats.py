"""Alarms are taken back in any order, whatever the belief."""

from copy import deepcopy
from functools import cache

import numpy as np
import pytest

from breakeven import Averaged, AveragedShares, GaussianProcess, TypeMeans, TypeShares
from breakeven.beliefs.belief import ENOUGH_TO_FIT

COUNT = 24


def taught(belief, of_point=float):
    """A belief that was told labels 1 to COUNT, and fitted where it can be."""
    rng = np.random.default_rng(0)
    belief.remember(labels=True)
    yes_no = isinstance(belief, TypeShares | AveragedShares)
    for key in range(1, COUNT + 1):
        x = key % 5
        y = float(key % 3 == 0) if yes_no else float(np.sin(x) + 0.1 * rng.standard_normal())
        belief.learn(belief.point(of_point(x)), y, key)
    assert belief.labels >= ENOUGH_TO_FIT
    if belief.fit_due(warm=True):
        belief.adopt(belief.fit(belief.fit_job(), rng))
    return belief


BELIEFS = {
    "types": lambda: taught(TypeMeans(noise_std=0.1), str),
    "shares": lambda: taught(TypeShares(), str),
    "process": lambda: taught(GaussianProcess(1, noise_std=0.1)),
    "fitted process": lambda: taught(GaussianProcess(1, None, mean="fit", fit="growing")),
    "average": lambda: taught(Averaged(1)),
    "averaged shares": lambda: taught(AveragedShares(1)),
}
WHERE = {"types": str, "shares": str}


@pytest.fixture(params=BELIEFS)
def kind(request):
    return request.param


@pytest.fixture
def belief(kind):
    return deepcopy(made(kind))


@cache
def made(kind):
    return BELIEFS[kind]()


def answers(kind, belief):
    at = [belief.predict(belief.point(WHERE.get(kind, float)(x))) for x in range(5)]
    return np.array([(one.mean, one.std) for one in at])


ALARMS = {  # labels set aside at both alarms, and factors
    "claims twice wider": ((0, 1.5), (0, 2.0)),
    "two changes": ((6, 1.0), (6, 1.0)),
    "a change, then wider": ((6, 1.0), (0, 2.0)),
    "wider, then a change": ((0, 1.5), (6, 1.0)),
}


@pytest.mark.parametrize("alarms", ALARMS.values(), ids=ALARMS)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first first", "last first"])
def test_when_all_alarms_are_taken_back_the_belief_is_as_before(kind, belief, alarms, order):
    before, labels = answers(kind, belief), belief.labels
    keys = COUNT - 1, COUNT
    for key, (outdated, widened) in zip(keys, alarms, strict=True):
        belief.give_way(key, outdated, widened)
    for place in order:
        belief.return_to(keys[place])
    assert belief.labels == labels
    assert answers(kind, belief) == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("alarms", ALARMS.values(), ids=ALARMS)
def test_what_the_later_alarm_did_stands(kind, belief, alarms):
    """Where the first alarm is taken back, only the labels before the later change stay aside."""
    (first, wider), (second, wider_still) = alarms
    alone = deepcopy(belief)
    belief.give_way(COUNT - 1, first, wider)
    belief.give_way(COUNT, second, wider_still)
    belief.return_to(COUNT - 1)
    alone.give_way(COUNT, first + second if second else 0, wider_still)
    assert belief.labels == alone.labels
    assert answers(kind, belief) == pytest.approx(answers(kind, alone), rel=1e-9)


def test_an_alarm_that_can_no_longer_be_taken_back_stands(kind, belief):
    belief.give_way(COUNT - 1, 0, 1.5)
    wider = answers(kind, belief)
    belief.release(COUNT - 1)
    belief.give_way(COUNT, 6, 1.0)
    belief.return_to(COUNT)
    assert answers(kind, belief) == pytest.approx(wider, rel=1e-9)


def test_what_is_written_down_goes_on_alike(kind, belief):
    belief.give_way(COUNT - 1, 6, 1.5)
    belief.give_way(COUNT, 0, 2.0)
    again = type(belief).of(belief.config())
    again.load(belief.state())
    for one in (belief, again):
        one.return_to(COUNT - 1)
        one.return_to(COUNT)
    assert (answers(kind, again) == answers(kind, belief)).all()
    assert again.state() == belief.state()


def test_a_fit_is_not_undone_by_a_label_that_was_wrong():
    belief = BELIEFS["fitted process"]()
    belief.give_way(COUNT, 0, 2.0)
    found = belief.fit(belief.fit_job(), np.random.default_rng(1))
    belief.adopt(found)
    belief.return_to(COUNT)
    assert belief.parameters.plain() == found
