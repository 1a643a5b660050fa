"""A process that goes over to a dictionary decides as the exact one does, or says that it may not."""

import numpy as np
import pytest

from breakeven import GaussianProcess, Learner, SquaredExponential, Threshold
from breakeven.beliefs.gp import Parameters, capacity
from breakeven.beliefs.gp.dictionary import DictionarySolver
from breakeven.beliefs.gp.fitting import fit
from breakeven.errors import InvalidInput

NOISE_STD = 0.1


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(capacity, "FIRST_DICTIONARY", 40)


def learner(capacity="auto", lengthscale=0.5, dim=2, **others):
    belief = GaussianProcess(dim, NOISE_STD, SquaredExponential(lengthscale), capacity=capacity, **others)
    return Learner(belief, Threshold(0.3), label_cost=5.0)


def arrivals(count=800, dim=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((count, dim))
    return X, np.sin(3.0 * X.sum(axis=1)) + NOISE_STD * random.standard_normal(count)


def play(one, X, y):
    decisions = []
    for x, label in zip(X, y, strict=True):
        decision = one.decide(x)
        decisions.append(decision)
        if decision.wants_label:
            one.tell(decision.id, label)
    return decisions


def is_small(one):
    return isinstance(one.belief.solver, DictionarySolver)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_every_decision_is_that_of_the_exact_process_with_the_same_labels_unless_ambiguous(tolerance):
    auto, exact = learner(tolerance=tolerance), learner("exact")
    for x, label in zip(*arrivals(), strict=True):
        decision = auto.decide(x)
        sure = exact.decide(x, force=decision.wants_label)
        if decision.exact:
            assert decision.uncertainty == sure.uncertainty
        if not decision.ambiguous:
            assert decision.wants_label == (sure.uncertainty > decision.threshold)
        if decision.wants_label:
            auto.tell(decision.id, label)
            exact.tell(sure.id, label)
    assert is_small(auto)


def test_a_decision_says_whether_it_is_exact_and_the_summary_counts_the_ambiguous():
    one = learner(tolerance=1e-4)
    decisions = play(one, *arrivals())
    first = [decision.exact for decision in decisions].index(False)
    assert all(decision.exact for decision in decisions[:first])
    assert not any(decision.exact for decision in decisions[first:])
    ambiguous = sum(decision.ambiguous for decision in decisions)
    assert one.summary().ambiguous == ambiguous > 0
    assert f"ambiguous         {ambiguous:>12,} decisions" in str(one.summary())
    belief = one.summary().belief
    assert belief["dictionary"] == one.belief.solver.rank < one.belief.labels / 2
    assert belief["stretch"] > 1.0
    assert belief["tolerance"] == 1e-4


def test_an_exact_process_is_all_exact():
    one = learner("exact")
    assert all(decision.exact and not decision.ambiguous for decision in play(one, *arrivals(300)))
    assert "dictionary" not in one.summary().belief


def test_where_the_rank_follows_the_labels_it_stays_exact():
    one = learner(lengthscale=0.05, dim=6)
    assert all(decision.exact for decision in play(one, *arrivals(200, dim=6)))
    assert one.belief.labels == 200


def test_a_kernel_for_which_the_dictionary_does_not_pay_brings_the_exact_solver_back():
    one = learner()
    X, y = arrivals()
    play(one, X, y)
    assert is_small(one)
    rough = Parameters(SquaredExponential(0.01), NOISE_STD)
    one.belief.adopt(rough.plain())
    assert not is_small(one)
    exact = learner("exact", lengthscale=0.01)
    for x, label in zip(one.belief.solver.X, one.belief.solver.y, strict=True):
        exact.learn(x, label)
    assert one.predict(X[0]).std == pytest.approx(exact.predict(X[0]).std, rel=1e-12)


def test_labels_awaited_go_over_with_the_others():
    one, prompt = learner(lengthscale=2.0), learner("exact", lengthscale=2.0)
    X, y = arrivals()
    asked = [(one.decide(x, force=True).id, label) for x, label in zip(X[:60], y[:60], strict=True)]
    for x in X[:60]:
        prompt.decide(x, force=True)
    for id, label in asked[5:]:
        one.tell(id, label)
    assert is_small(one)
    assert list(one.awaited) == [id for id, _ in asked[:5]]
    late, prompt = (each.decide(X[100], force=False).uncertainty for each in (one, prompt))
    assert late == pytest.approx(prompt, rel=1e-3)
    for id, label in asked[:5]:
        one.tell(id, label)
    assert not one.awaited


def test_a_label_can_be_corrected_and_withdrawn_afterwards():
    one, other = learner(), learner()
    X, y = arrivals(300)
    play(one, X, y)
    play(other, X, y)
    id = next(id for id in map(str, range(1, 301)) if one.decision(id).wants_label)
    one.correct(id, 9.0)
    assert one.predict(X[0]).mean != other.predict(X[0]).mean
    one.correct(id, y[0])
    assert one.predict(X[0]).mean == pytest.approx(other.predict(X[0]).mean, abs=1e-9)
    one.withdraw(id)
    assert one.belief.labels == other.belief.labels - 1


@pytest.mark.parametrize("count", [100, 400, 800])
def test_a_restored_learner_goes_on_to_the_bit(count):
    one = learner(tolerance=1e-6)
    X, y = arrivals()
    play(one, X[:count], y[:count])
    again = Learner.restore(one.snapshot())
    assert play(again, X[count:], y[count:]) == play(one, X[count:], y[count:])
    assert again.snapshot() == one.snapshot()


def test_replayed_events_lead_to_the_same_state():
    one, again, events = learner(tolerance=1e-4), learner(tolerance=1e-4), []
    one.listen(events.append)
    play(one, *arrivals())
    for event in events:
        again.apply(event)
    assert again.snapshot() == one.snapshot()
    assert again.summary().ambiguous == one.summary().ambiguous > 0


@pytest.mark.parametrize("kind", ["auto", "exact"])
def test_only_a_dictionary_fits_to_some_of_many_labels_drawn_with_its_seed(kind, monkeypatch):
    monkeypatch.setattr(DictionarySolver, "labels_for_a_fit", 30)
    belief = learner(kind, dim=1).belief
    X, y = arrivals(70, dim=1)
    for x, label in zip(X, y, strict=True):
        belief.learn(x, label)
    assert isinstance(belief.solver, DictionarySolver) == (kind == "auto")
    random = np.random.default_rng(3)
    chosen = np.sort(random.choice(70, 30, replace=False)) if kind == "auto" else np.arange(70)
    expected = fit(X[chosen], y[chosen], belief.parameters, random).plain()
    assert belief.fit(belief.fit_job(), np.random.default_rng(3)) == expected


def test_it_is_fitted_again_as_labels_grow():
    belief = GaussianProcess(1, NOISE_STD, capacity="auto", fit="growing")
    one = Learner(belief, Threshold(0.05), label_cost=1.0, warmup=5)
    play(one, *arrivals(150, dim=1))
    assert is_small(one)
    assert one.summary().fits > 5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"capacity": "large"}, "capacity: expected one of 'exact', 'auto', got 'large'"),
        ({"tolerance": 0.0}, "tolerance: expected"),
        ({"tolerance": 1e-12}, "tolerance: expected"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(InvalidInput, match=message):
        GaussianProcess(1, NOISE_STD, **wrong)
