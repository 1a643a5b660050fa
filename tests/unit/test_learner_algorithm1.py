"""Algorithm 1 against the paper's own pseudo-code in plain Python."""

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven import Cells, Learner, Threshold, algorithm1


def pseudo_code(xs, ys, *, label_cost, noise_std, delta, scale, clock):
    """Algorithm 1, line by line: for each round whether to label, the radius, the threshold and p_t."""
    M, N_k, total = {}, {}, {}
    N = 0
    for t, (k, y) in enumerate(zip(xs, ys, strict=True), start=1):
        M[k] = M.get(k, 0) + 1
        N_k.setdefault(k, 0)
        total.setdefault(k, [])
        U = sqrt(2 * noise_std**2 * log(2 * N**3 / delta) / N_k[k]) if N_k[k] else inf
        tau = scale * label_cost ** (1 / 3) * (M[k] if clock == "type" else t) ** (-1 / 3)
        label = tau < U
        if label:
            N_k[k] += 1
            N += 1
            total[k].append(y)
        yield label, U, tau, sum(total[k]) / len(total[k])


def near(a, b):
    return a == b or a == pytest.approx(b, rel=1e-12, abs=1e-12)


SETTINGS = st.fixed_dictionaries(
    {
        "label_cost": st.floats(0.01, 500.0),
        "noise_std": st.floats(0.01, 3.0),
        "delta": st.floats(1e-4, 0.9),
        "scale": st.floats(0.05, 5.0),
        "clock": st.sampled_from(["type", "stream"]),
    }
)


@given(
    setting=SETTINGS,
    stream=st.lists(st.tuples(st.sampled_from(["a", "b", 3, (4,), b"5"]), st.floats(-50, 50)), max_size=120),
)
def test_decisions_and_predictions_are_those_of_the_pseudo_code(setting, stream):
    scale, clock = setting["scale"], setting["clock"]
    arguments = {name: setting[name] for name in ("label_cost", "noise_std", "delta")}
    learner = algorithm1(threshold_scale=scale, clock=clock, **arguments)
    xs, ys = [x for x, _ in stream], [y for _, y in stream]
    for (x, y), (label, U, tau, p) in zip(stream, pseudo_code(xs, ys, **setting), strict=True):
        decision = learner.decide(x)
        assert near(decision.uncertainty, U)
        assert near(decision.threshold, tau)
        if abs(U - tau) > 1e-9 * tau:
            assert decision.wants_label == label
        elif decision.wants_label != label:
            return  # too close to call
        after = learner.tell(decision.id, y) if decision.wants_label else decision.prediction
        assert near(after.mean, p)


@pytest.mark.parametrize("clock", ["type", "stream"])
@pytest.mark.parametrize(
    ("types", "label_cost", "scale"), [(10, 10.0, 0.5), (10, 100.0, 0.25), (100, 10.0, 2.0)]
)
def test_on_the_papers_streams_every_decision_is_that_of_the_pseudo_code(clock, types, label_cost, scale):
    random = np.random.default_rng(types)
    xs = random.integers(types, size=3000).tolist()
    ys = (random.random(types)[xs] + random.normal(0, 0.1, 3000)).tolist()
    setting = {"label_cost": label_cost, "noise_std": 0.1, "delta": 0.01}
    learner = algorithm1(threshold_scale=scale, clock=clock, **setting)
    expected = list(pseudo_code(xs, ys, scale=scale, clock=clock, **setting))
    labels, worst = 0, 0.0
    for x, y, (label, _, _, p) in zip(xs, ys, expected, strict=True):
        decision = learner.decide(x)
        assert decision.wants_label == label
        after = learner.tell(decision.id, y) if label else decision.prediction
        worst = max(worst, abs(after.mean - p))
        labels += label
    assert worst < 1e-12
    assert types <= labels < 3000
    assert learner.ledger.labels == labels
    assert learner.ledger.label_spend == labels * label_cost


@pytest.mark.parametrize("clock", ["type", "stream"])
def test_late_labels_leave_decisions_and_final_predictions_bit_for_bit(clock):
    random = np.random.default_rng(2)
    xs, ys = random.integers(8, size=400).tolist(), random.normal(size=400).tolist()
    now, late = (algorithm1(label_cost=3.0, noise_std=1.0, clock=clock) for _ in range(2))
    at_once = []
    for x, y in zip(xs, ys, strict=True):
        decision = now.decide(x)
        at_once.append((decision.wants_label, decision.uncertainty, decision.threshold))
        if decision.wants_label:
            now.tell(decision.id, y)
    decisions = late.decide_many(xs)
    assert [(d.wants_label, d.uncertainty, d.threshold) for d in decisions] == at_once
    asked = [int(d.id) for d in decisions if d.wants_label]
    random.shuffle(asked)
    late.tell_many([str(t) for t in asked], [ys[t - 1] for t in asked])
    assert late.predict_many(range(8)) == now.predict_many(range(8))


@pytest.mark.parametrize("clock", ["type", "stream"])
def test_the_naive_algorithm_is_algorithm_1_over_halved_cells(clock):
    random = np.random.default_rng(4)
    X = random.uniform([-5, 0], [10, 15], size=(400, 2))
    ys = random.normal(size=400)
    belief = Cells(low=[-5, 0], high=[10, 15], noise_std=1.0, delta=0.01)
    naive = Learner(belief, Threshold(2.0, clock), label_cost=5.0)
    cells = [(bool(x >= 2.5), bool(y >= 7.5)) for x, y in X]
    setting = {"label_cost": 5.0, "noise_std": 1.0, "delta": 0.01, "scale": 2.0, "clock": clock}
    for x, y, (label, U, _, p) in zip(X, ys, pseudo_code(cells, ys, **setting), strict=True):
        decision = naive.decide(x)
        assert (decision.wants_label, near(decision.uncertainty, U)) == (label, True)
        after = naive.tell(decision.id, y) if label else decision.prediction
        assert near(after.mean, p)
