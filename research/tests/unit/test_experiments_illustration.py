"""The first figure: two newcomers at the same state, found by rule, and a learner they do not touch."""

import numpy as np
import pytest

from breakeven import algorithm2
from breakeven_research.experiments.exhibits import illustration


@pytest.fixture(scope="module")
def scene():
    return illustration.play(200, 0)


def test_the_crowded_newcomer_is_not_labelled_and_the_lonely_one_is(scene):
    assert not scene.crowded.decision.wants_label
    assert scene.lonely.decision.wants_label
    assert scene.crowded.decision.uncertainty < scene.lonely.decision.uncertainty


def test_both_are_asked_in_the_same_round(scene):
    assert scene.crowded.decision.threshold == scene.lonely.decision.threshold
    assert scene.crowded.decision.id == scene.lonely.decision.id == "201"


def test_the_crowded_place_is_more_crowded_than_the_lonely_one(scene):
    def near(newcomer):
        return (np.linalg.norm(scene.arrived - newcomer.x, axis=1) < illustration.NEAR).sum()

    assert near(scene.crowded) > 5 * max(1, near(scene.lonely))


def test_asking_changes_nothing():
    learner = algorithm2(2, label_cost=10.0, noise_std=5.0)
    before = learner.snapshot()
    illustration.ask(learner, np.zeros((3, 2)))
    assert learner.snapshot() == before


def test_the_text_holds_the_learners_own_sentences(scene):
    text = illustration.section(rounds=200, seed=0).text
    assert text[1].endswith(scene.crowded.decision.why)
    assert text[2].endswith(scene.lonely.decision.why)
    assert "No label" in text[1]
    assert "Label it" in text[2]


def test_the_data_holds_every_point(scene):
    figure = illustration.section(rounds=200, seed=0).figures[0]
    drawn = [row[1] for row in figure.data.rows]
    assert drawn.count("arrived") == 200
    assert drawn.count("labelled") == len(scene.labelled)
    assert len(drawn) == 200 + len(scene.labelled) + 2


def test_every_ring_is_around_a_point(scene):
    arrived = {tuple(point) for point in scene.arrived.tolist()}
    assert 0 < len(scene.labelled) < 200
    assert {tuple(point) for point in scene.labelled.tolist()} <= arrived
