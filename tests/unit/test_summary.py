"""Where a learner stands, in words and as JSON."""

import msgspec
import pytest

from breakeven import (
    Cells,
    GaussianProcess,
    Learner,
    Matern,
    Never,
    RandomSelect,
    Rule,
    Threshold,
    TypeMeans,
    VariableUncertainty,
    Verdict,
    algorithm1,
    algorithm2,
)


def test_a_summary_counts_labels_fits_and_the_warmup():
    learner = algorithm2(1, label_cost=3.0, noise_std=0.1, warmup=2)
    learner.learn(0.3, 1.0)
    learner.decide_many([0.1, 0.2, 0.3])
    learner.tell("1", 1.0)
    summary = learner.summary()
    assert (summary.label_cost, summary.labels_known, summary.warmup_left, summary.fits) == (3.0, 2, 1, 0)
    assert summary.ledger == learner.ledger
    learner.tell("2", 1.0)
    assert (learner.summary().warmup_left, learner.summary().fits) == (0, 1)


def test_a_summary_describes_belief_and_rule():
    summary = algorithm1(label_cost=3.0, noise_std=0.1, threshold_scale=0.5).summary()
    assert summary.belief == {
        "kind": "TypeMeans",
        "noise_std": 0.1,
        "delta": 0.05,
        "prior_mean": 0.0,
        "label_scale": 1.0,
        "types": 0,
    }
    assert summary.rule == {"kind": "Threshold", "scale": 0.5, "clock": "type"}


def test_a_summary_of_a_process_shows_the_parameters_in_use():
    learner = Learner(GaussianProcess(2, 0.1, Matern(1.5, (0.3, 0.4))), Never(), label_cost=1.0)
    belief = learner.summary().belief
    assert (belief["kind"], belief["dim"], belief["noise_std"], belief["fit"]) == (
        "GaussianProcess",
        2,
        0.1,
        None,
    )
    kernel = belief["kernel"]
    assert (kernel["type"], kernel["smoothness"]) == ("Matern", 1.5)
    assert belief["log_likelihood"] == 0.0


LEARNERS = {
    "types": lambda: algorithm1(label_cost=3.0, noise_std=0.1),
    "cells": lambda: Learner(Cells([0], [1], noise_std=0.1), RandomSelect(), label_cost=1.0),
    "process": lambda: algorithm2(1, label_cost=3.0, noise_std=None),
    "moving": lambda: Learner(TypeMeans(0.1), VariableUncertainty("original", budget=0.1), label_cost=1.0),
}


@pytest.mark.parametrize("name", list(LEARNERS))
def test_a_summary_is_json_and_a_few_lines(name):
    learner = LEARNERS[name]()
    x = "a" if name in ("types", "moving") else 0.5
    for _ in range(2):
        stored = msgspec.json.decode(msgspec.json.encode(learner.summary()))
        assert stored["belief"]["kind"] == type(learner.belief).__name__
        assert stored["ledger"]["rounds"] == learner.rounds
        lines = str(learner.summary()).splitlines()
        assert 6 <= len(lines) <= 9
        assert lines[0].startswith(f"belief            {type(learner.belief).__name__} (")
        assert lines[1].startswith(f"rule              {type(learner.rule).__name__}")
        assert any(line.startswith("prediction error       unknown") for line in lines)
        assert not any(char in "{}" for char in str(learner.summary()))
        learner.tell(learner.decide(x, force=True).id, 1.0)


def test_the_warmup_is_mentioned_until_it_is_over():
    learner = algorithm2(1, label_cost=3.0, noise_std=0.1, warmup=1)
    assert "warm-up                      1 labels to go" in str(learner.summary())
    learner.tell(learner.decide(0.5).id, 1.0)
    assert "warm-up" not in str(learner.summary())


def test_a_rule_without_fields_is_its_name():
    assert "rule              Never\n" in str(Learner(TypeMeans(0.1), Never(), label_cost=1.0).summary())


class Mine(Rule):
    """A rule of one's own, with a memory."""

    limits: tuple[float, ...] = (1.0, 2.0)
    name: str = "x"

    def decide(self, view):
        return Verdict(False)


def test_a_rule_of_ones_own_is_described_by_its_fields():
    summary = Learner(TypeMeans(0.1), Mine(), label_cost=1.0).summary()
    assert "rule              Mine (limits [1 2], name x)" in str(summary)


def test_reading_a_summary_changes_nothing():
    learner = Learner(GaussianProcess(1, 0.1), Threshold(), label_cost=1.0)
    learner.decide(0.5)
    before = learner.snapshot()
    str(learner.summary())
    msgspec.json.encode(learner.summary())
    assert learner.snapshot() == before
