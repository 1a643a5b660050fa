"""The methods of a panel: which there are, and that each does what the paper says it does."""

import os
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

from breakeven import Always, Learner, Never, RandomSelect, Threshold, TypeMeans, VariableUncertainty
from breakeven.beliefs import Cells
from breakeven.trace import simulate
from breakeven_research.datasets import MissingData
from breakeven_research.experiments import run
from breakeven_research.experiments.exhibits.panels import PANELS
from breakeven_research.experiments.runs.jobs import PanelJob
from breakeven_research.experiments.runs.methods import PROBABILITIES, READINGS, NewTypesFirst, learners
from breakeven_research.experiments.runs.problems import PROBLEMS, RECIPES, problem_named
from breakeven_research.experiments.runs.published_process import Fits, PublishedProcess

SHARED = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture
def methods(monkeypatch):
    """The learners of a problem by name; skips where its data file is missing."""
    monkeypatch.setenv("BREAKEVEN_DATA", os.environ.get("BREAKEVEN_DATA", str(SHARED)))

    def named(problem, recipe, trial=0):
        try:
            return dict(learners(problem, recipe, trial))
        except MissingData as missing:
            pytest.skip(str(missing))

    return named


# -- which there are ------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.name)
def test_every_panel_has_the_methods_that_the_paper_compares(panel, recipe, methods):
    problem, price, found = panel.problem, panel.price, methods(panel.problem, recipe)
    algorithm = found[f"algorithm-{price.tag}"]
    clock = "stream" if recipe == "figures" else "type"
    assert algorithm.rule == Threshold(price.scale, clock)
    assert algorithm.label_cost == price.label_cost
    assert isinstance(algorithm.belief, TypeMeans) == (problem.algorithm == "Algorithm 1")
    if problem.algorithm == "Algorithm 2":
        naive = found[f"naive-{price.tag}"]
        assert isinstance(naive.belief, Cells)
        assert naive.rule == Threshold(price.naive_scale, clock)
        assert naive.label_cost == price.label_cost
    half = RandomSelect(0.5)
    assert found["random-0.5"].rule == (NewTypesFirst(half) if recipe == "figures" else half)
    assert found["all"].rule == Always()
    assert found["never"].rule == Never()


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_problem_has_no_other_methods(problem, recipe, methods):
    tags = [price.tag for price in problem.prices]
    wanted = {f"algorithm-{tag}" for tag in tags}
    wanted |= {f"naive-{tag}" for tag in tags} if problem.algorithm == "Algorithm 2" else set()
    wanted |= {f"random-{probability:g}" for probability in PROBABILITIES}
    wanted |= {f"var-{reading}" for reading in READINGS}
    assert set(methods(problem, recipe)) == wanted | {"all", "never"}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_all_but_the_silent_one_buy_the_first_labels(problem, recipe, methods):
    found = methods(problem, recipe)
    assert found.pop("never").warmup == 0
    naive = {found.pop(name).warmup for name in list(found) if name.startswith("naive")}
    assert naive <= {problem.warmup if recipe == "figures" else 0}  # the text asks them of kernels only
    assert {learner.warmup for learner in found.values()} == {problem.warmup}
    assert problem.warmup == 5 * getattr(problem, "dim", 0)


def test_fits_at_every_label_are_the_figures_recipe_alone():
    branin = problem_named("branin")
    assert isinstance(branin.belief("figures", Fits()), PublishedProcess)
    assert not isinstance(branin.belief("text", Fits()), PublishedProcess)
    assert branin.belief("text", Fits()).fit_schedule == "after_warmup"


def test_the_readings_are_those_of_the_rule_and_the_original_has_a_budget():
    found = dict(learners(problem_named("branin"), "text", 0))
    for reading in READINGS:
        rule = found[f"var-{reading}"].rule
        assert isinstance(rule, VariableUncertainty)
        assert (rule.reading, rule.budget) == (reading, 0.1 if reading == "original" else None)


# -- new types ------------------------------------------------------------------------------------------

TYPES = np.random.default_rng(0).integers(0, 20, size=200)
FIRST = np.array([TYPES[i] not in TYPES[:i] for i in range(len(TYPES))])


def labelled(rule):
    learner = Learner(TypeMeans(0.1), rule, label_cost=1.0, seed=4)
    return simulate(learner, TYPES, np.zeros(len(TYPES))).wants_label


def test_a_new_type_is_always_labelled_and_others_as_the_rule_says():
    assert (labelled(NewTypesFirst(RandomSelect(0.0))) == FIRST).all()
    both, alone = labelled(NewTypesFirst(RandomSelect(0.3))), labelled(RandomSelect(0.3))
    assert both[FIRST].all()
    assert not alone[FIRST].all()
    assert (both[~FIRST] == alone[~FIRST]).all()
    assert 0 < both[~FIRST].sum() < (~FIRST).sum()


# -- prices ---------------------------------------------------------------------------------------------


def at_price(problem, recipe, rule, label_cost):
    belief = problem.belief(recipe, Fits())
    return Learner(belief, rule, label_cost=label_cost, warmup=problem.warmup, seed=0)


UNPRICED = ["random-0.05", "random-0.5", *(f"var-{reading}" for reading in READINGS), "all"]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("method", UNPRICED)
def test_what_is_priced_afterwards_buys_the_same_labels_at_any_price(method, recipe):
    problem = problem_named("discrete-k10-lopsided")
    stream, rule = problem.stream(recipe, 0).first(300), dict(learners(problem, recipe, 0))[method].rule
    cheap, dear = (run(at_price(problem, recipe, rule, cost), stream) for cost in (1.0, 100.0))
    assert cheap == dear
    in_panel = PanelJob(problem.name, recipe, 0, rounds=300).run()[method]
    assert (in_panel.labels, in_panel.errors) == (cheap.labels, cheap.errors)


@pytest.mark.parametrize("method", UNPRICED)
def test_what_is_priced_afterwards_buys_the_same_labels_of_a_function(method):
    problem = problem_named("branin")
    stream, rule = problem.stream("text", 0).first(40), dict(learners(problem, "text", 0))[method].rule
    cheap, dear = (run(at_price(problem, "text", rule, cost), stream) for cost in (1.0, 100.0))
    assert cheap == dear


def test_the_algorithm_buys_fewer_labels_at_a_higher_price():
    problem = problem_named("discrete-k10-lopsided")
    stream = problem.stream("text", 0).first(300)
    cheap, dear = (
        run(at_price(problem, "text", Threshold(0.5), cost), stream).labels[-1] for cost in (1.0, 100.0)
    )
    assert dear < cheap


# -- Algorithm 1, written out ---------------------------------------------------------------------------


def plain_algorithm_1(stream, scale, label_cost, clock, noise_std=0.1, delta=0.01):
    """Labels and errors so far, round by round, straight from the paper."""
    labels, arrivals, total = {}, {}, 0
    bought, missed = [], []
    for t, (k, y, f) in enumerate(zip(stream.points.tolist(), stream.labels, stream.truth, strict=True), 1):
        arrivals[k] = arrivals.get(k, 0) + 1
        count = t if clock == "rounds" else arrivals[k]
        of_type = labels.setdefault(k, [])
        threshold = scale * label_cost ** (1 / 3) * count ** (-1 / 3)
        if not of_type or sqrt(2 * noise_std**2 * log(2 * total**3 / delta) / len(of_type)) > threshold:
            of_type.append(y)
            total += 1
        bought.append(total)
        missed.append(abs(f - sum(of_type) / len(of_type)))
    return np.array(bought), np.cumsum(missed)


@pytest.mark.parametrize(("recipe", "clock"), [("figures", "rounds"), ("text", "arrivals of the type")])
@pytest.mark.parametrize("trial", [0, 1])
def test_a_discrete_run_is_algorithm_1_written_out(recipe, clock, trial):
    problem = problem_named("discrete-k10-uniform")
    curves = PanelJob(problem.name, recipe, trial, rounds=300).run()
    for price in problem.prices:
        curve = curves[f"algorithm-{price.tag}"]
        stream = problem.stream(recipe, trial).first(300)
        labels, errors = plain_algorithm_1(stream, price.scale, price.label_cost, clock)
        at = np.array(curve.rounds) - 1
        assert curve.labels == labels[at].tolist()
        assert curve.errors == pytest.approx(errors[at], rel=1e-12)


def test_the_two_clocks_buy_different_labels():
    stream = problem_named("discrete-k10-uniform").stream("text", 0).first(300)
    by_round, by_type = (plain_algorithm_1(stream, 0.5, 10.0, clock)[0][-1] for clock in ("rounds", "type"))
    assert by_type < by_round
