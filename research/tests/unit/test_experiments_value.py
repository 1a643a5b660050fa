"""`Value` on the paper's problems: one set-up for all, its variations, and labels in fixed numbers."""

from math import inf

import numpy as np
import pytest

from breakeven.beliefs import GaussianProcess, Prior, TypeMeans
from breakeven.learner import Learner
from breakeven.rules import Value
from breakeven.values import Prediction, Saving, Traits, View
from breakeven_research.experiments import run
from breakeven_research.experiments.runs.jobs import (
    NUMBERS,
    VARIATIONS,
    FixedJob,
    NotLater,
    ValueJob,
    VariationJob,
    variations,
)
from breakeven_research.experiments.runs.problems import PROBLEMS, problem_named

TYPES, ROUNDS = "discrete-k10-lopsided", 300


@pytest.fixture(scope="module")
def fixed():
    return FixedJob(TYPES, "text", trial=1, rounds=ROUNDS).run()


# -- the set-up -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_nothing_is_set_for_a_problem_but_its_dimension_and_its_noise(problem):
    given = problem.value_belief().config()
    usual = (
        TypeMeans(0.1, delta=0.01, prior_std="learn")
        if problem.algorithm == "Algorithm 1"
        else GaussianProcess(problem.dim, problem.noise_std, mean="fit", fit="growing", prior=Prior())
    )
    assert given == usual.config()


@pytest.mark.parametrize(("name", "rounds"), [("branin", 25), (TYPES, 1500)])
def test_a_job_runs_value_with_its_horizon_and_without_at_every_price(name, rounds):
    problem = problem_named(name)
    stream = problem.stream("figures", 1).first(rounds)
    by_hand = {
        f"{word}-b{cost:g}": run(
            Learner(problem.value_belief(), Value(horizon), label_cost=cost, seed=1), stream
        )
        for cost in (10.0, 100.0)
        for word, horizon in (("known", rounds), ("unknown", None))
    }
    assert ValueJob(name, "figures", trial=1, rounds=rounds).run() == by_hand
    assert by_hand["known-b10"] != by_hand["known-b100"]


# -- variations -----------------------------------------------------------------------------------------


def varied(name):
    return {
        word: (belief, rule, warmup) for word, belief, rule, warmup in variations(problem_named(name), 50)
    }


def test_each_variation_changes_one_thing():
    usual, found = problem_named("hartmann").value_belief().config(), varied("hartmann")
    changes = {
        word: ({key: value for key, value in belief.config().items() if value != usual[key]}, rule, warmup)
        for word, (belief, rule, warmup) in found.items()
    }
    assert tuple(changes) == VARIATIONS
    assert changes["not later"] == ({}, NotLater(50), 0)
    assert changes["no lessons"] == ({}, Value(50, lessons=False), 0)
    assert changes["no optimism"][0]["prior"]["confidence"] == 0.5
    assert changes["flat lengthscales"][0]["prior"]["spread"] == 100.0
    assert changes["no prior"] == ({"prior": None}, Value(50), 8)
    assert changes["5d labels first"] == ({}, Value(50), 30)


def test_types_have_neither_kernel_nor_warmup_to_vary():
    assert list(varied(TYPES)) == ["not later", "no lessons"]


def test_a_job_runs_every_variation_at_every_price():
    found = VariationJob("branin", trial=0, rounds=20).run()
    assert set(found) == {f"{name}-{tag}" for name in VARIATIONS for tag in ("b10", "b100")}
    assert found["no prior-b100"].labels[3] == 4  # d + 2 at any price
    assert found["5d labels first-b100"].labels[9] == 10


class Known(View):
    """A view whose saving is known."""

    saving: Saving = Saving(0.0, 0.0)

    def saves(self, noise_std):
        return self.saving


@pytest.mark.parametrize(
    ("saving", "worth"),
    [(Saving(3.0, 100.0), 3.0), (Saving(3.0, 100.0, lesson=0.5), 13.0), (Saving(inf, inf), inf)],
)
def test_what_is_saved_at_other_arrivals_can_be_left_out(saving, worth):
    view = Known(1.0, Prediction(0.0, 1.0, 1.0), None, 5, Traits(1.0, 0.5, 1.0, 1.0), round=30, price=10.0)
    view.saving = saving
    verdict = NotLater(50).decide(view)
    assert (verdict.worth, verdict.wants_label) == (worth, worth > 10.0)


# -- fixed numbers --------------------------------------------------------------------------------------


def written_out(most):
    """Labels and errors in all, where every type's first labels are bought and then averaged."""
    stream, labels, missed = problem_named(TYPES).stream("text", 1).first(ROUNDS), {}, 0.0
    for k, y, f in zip(stream.points.tolist(), stream.labels, stream.truth, strict=True):
        bought = labels.setdefault(k, [])
        if len(bought) < most:
            bought.append(y)
        missed += abs(f - (np.mean(bought) if bought else 0.5))
    return sum(map(len, labels.values())), missed


@pytest.mark.parametrize("most", NUMBERS)
def test_a_fixed_number_of_labels_for_each_type_is_as_written_out(fixed, most):
    labels, errors = written_out(most)
    curve = fixed[f"fixed-{most}"]
    assert curve.labels[-1] == labels
    assert curve.errors[-1] == pytest.approx(errors, rel=1e-12)
