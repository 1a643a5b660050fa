"""Rules, beliefs and learners as plain data, both ways: JSON, TOML, and the nearest name for a slip."""

import tomllib
from typing import Any

import msgspec
import numpy as np
import pytest

from breakeven import (
    Always,
    Audit,
    Budget,
    Cells,
    Check,
    GaussianProcess,
    Labeller,
    Learner,
    Matern,
    Never,
    Prior,
    Queue,
    RandomSelect,
    Rule,
    SeparateTypes,
    SquaredExponential,
    Threshold,
    TypeMeans,
    TypeShares,
    Value,
    VariableUncertainty,
    Verdict,
)
from breakeven.beliefs import BELIEFS, Averaged, AveragedShares, Recognised, belief_data, belief_of
from breakeven.errors import InvalidInput
from breakeven.rules import RULES, rule_data, rule_of
from breakeven.testing import LabelledStream
from breakeven.testing.stream_runs import run
from breakeven.values import Repriced

MADE_RULES = [
    Always(),
    Never(),
    Threshold(),
    Threshold(0.5, "stream"),
    RandomSelect(0.25),
    VariableUncertainty(),
    VariableUncertainty("original", budget=0.1, theta=0.9, lately=3.0),
    Value(),
    Value(horizon=100, reservoir=8, lessons=False, scored="labels"),
    Budget(Threshold(0.5), total=500.0, per=(20.0, 100)),
    Queue(Value(), 3),
    Check(Value(), share=0.2),
    Audit(Never(), 0.1, bound=2.0, noise_std=0.5, level=0.9, bound_on="labels"),
    Queue(Budget(Audit(RandomSelect(0.3), 0.2, bound=10.0), per=(6.0, 9)), 4),
]
MADE_BELIEFS = [
    TypeMeans(0.5),
    TypeMeans(0.5, 0.1, 2.0, prior_std=1.5, forgetting=7.0),
    TypeMeans(None, prior_mean="fit", prior_std="learn", label_scale="fit"),
    SeparateTypes(0.5, 0.01),
    Cells([0.0, -1.0], [1.0, 2.0], 0.5),
    GaussianProcess(2, 0.5),
    GaussianProcess(2, 0.5, Matern(0.7, (0.3, 0.4), 2.0), mean=1.5, capacity="auto", forgetting=50.0),
    GaussianProcess(1, None, SquaredExponential(0.5), mean="fit", fit="growing", prior=Prior()),
    TypeShares(0.2, "learn", forgetting=30.0, level=0.75),
    Recognised(TypeMeans(0.5), TypeShares()),
    Averaged(2, level=0.75),
    AveragedShares(2),
]


def toml(data, path=()):
    """TOML text of plain data: enough of it for tables in tables."""
    lines = [f"[{'.'.join(path)}]"] if path else []
    for name, value in data.items():
        if not isinstance(value, dict):
            lines.append(f"{msgspec.json.encode(name).decode()} = {msgspec.json.encode(value).decode()}")
    for name, value in data.items():
        if isinstance(value, dict):
            lines += toml(value, (*path, msgspec.json.encode(name).decode())).splitlines()
    return "\n".join(lines)


FORMS = {
    "json": lambda data: msgspec.json.decode(msgspec.json.encode(data)),
    "toml": lambda data: tomllib.loads(toml(data)),
    "msgpack": lambda data: msgspec.msgpack.decode(msgspec.msgpack.encode(data)),
}


def has_none(data):
    return data is None or (isinstance(data, dict) and any(map(has_none, data.values())))


def test_every_kind_of_ours_is_here():
    assert {type(layer) for rule in MADE_RULES for layer in rule.layers} == set(RULES)
    assert {type(belief) for belief in MADE_BELIEFS} == set(BELIEFS)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("rule", MADE_RULES, ids=range(len(MADE_RULES)))
def test_a_rule_comes_back(rule, form):
    data = rule_data(rule)
    assert not has_none(data)
    again = rule_of(FORMS[form](data))
    assert again == rule
    assert rule_data(again) == data


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("belief", MADE_BELIEFS, ids=range(len(MADE_BELIEFS)))
def test_a_belief_comes_back(belief, form):
    data = belief_data(belief)
    assert not has_none(data)
    again = belief_of(FORMS[form](data))
    assert type(again) is type(belief)
    assert again.config() == belief.config()
    assert belief_data(again) == data


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize(
    "costs",
    [{"label_cost": 2.0}, {"labellers": {"a b": Labeller(1.0, 0.5)}, "error_cost": 3.0}],
    ids=["one", "many"],
)
def test_a_learner_comes_back_and_decides_alike(costs, form):
    belief, rule = TypeMeans(0.3, prior_std="learn"), Queue(Budget(Value(), total=90.0, per=(50.0, 9)), 5)
    learner = Learner(belief, rule, **costs, warmup=2, seed=5, keep=50, name="ward", fitting="outside")
    config = FORMS[form](learner.config())
    assert config == learner.config()
    again = Learner.of(config)
    stream = LabelledStream.of(learner)
    assert run(again, stream) == run(learner, stream)
    assert again.snapshot() == learner.snapshot()


def test_a_rule_that_remembers_is_written_with_what_it_remembers():
    learner = Learner(TypeMeans(0.3), Budget(VariableUncertainty(), total=9.0, per=(5.0, 20)), label_cost=1.0)
    learner.decide_many(["flu"] * 8)
    again = rule_of(FORMS["json"](rule_data(learner.rule)))
    assert again == learner.rule != Budget(VariableUncertainty(), total=9.0, per=(5.0, 20))


def test_a_learner_written_by_hand_in_toml():
    text = """
    label_cost = 2.0
    seed = 7

    [belief]
    kind = "GaussianProcess"
    dim = 2
    noise_std = 0.5

    [belief.kernel]
    type = "Matern"
    smoothness = 1.5
    lengthscale = [0.3, 0.4]

    [rule]
    kind = "Budget"
    total = 500
    per = [20, 100]

    [rule.rule]
    kind = "Threshold"
    scale = 0.5
    """
    learner = Learner.of(tomllib.loads(text))
    assert learner.rule == Budget(Threshold(0.5), total=500.0, per=(20.0, 100))
    assert learner.belief.kernel == Matern(1.5, (0.3, 0.4))
    assert (learner.label_cost, learner.seed) == (2.0, 7)


SLIPS = [
    ({"kind": "Treshold"}, "^rule: kind: expected a known name, perhaps 'Threshold', got 'Treshold'"),
    ({"kind": "threshold"}, "^rule: kind: expected a known name, perhaps 'Threshold', got 'threshold'"),
    ({"kind": "Xyz"}, "^rule: kind: expected a known name, one of Always, Audit, Budget, .*, got 'Xyz'"),
    ({"kind": 3}, "^rule: kind: expected a known name, .*, got 3"),
    ({"kind": "Value", "horison": 3}, "^Value: expected a known name, perhaps 'horizon', got 'horison'"),
    ({"kind": "Value", "horizon": "soon"}, "^Value: horizon: expected a setting of its type, got "),
    ({"kind": "Value", "horizon": 0}, "^horizon: expected a whole number of at least 1, got 0"),
    ({"kind": "Queue", "rule": {"kind": "Valu"}, "most": 3}, "perhaps 'Value', got 'Valu'"),
    ({}, "^rule: expected plain data such as "),
    ("Threshold", "^rule: expected plain data such as "),
    (None, "^rule: expected plain data such as "),
]


@pytest.mark.parametrize(("data", "match"), SLIPS, ids=range(len(SLIPS)))
def test_an_unknown_name_in_a_rule_is_refused_with_the_nearest(data, match):
    with pytest.raises(InvalidInput, match=match):
        rule_of(data)


BELIEF_SLIPS = [
    ({"kind": "TypeMean", "noise_std": 1.0}, "perhaps 'TypeMeans', got 'TypeMean'"),
    (
        {"kind": "TypeMeans", "noise": 1.0},
        "^TypeMeans: expected a known name, perhaps 'noise_std'",
    ),
    (
        {"kind": "TypeMeans", "noise_std": "much"},
        "^noise_std: expected a positive, finite number",
    ),
    ({"kind": "GaussianProcess", "dim": 1, "noise_std": 1.0, "kernel": {"type": "Mattern"}}, "expected"),
    ({"kind": "GaussianProcess", "noise_std": 1.0}, "^GaussianProcess: expected its arguments, got .*dim"),
    ({"kind": "Cells", "noise_std": 1.0}, "^Cells: expected its arguments, got .*low"),
    ({"noise_std": 1.0}, "^belief: expected plain data such as "),
    (3, "^belief: expected plain data such as "),
]


@pytest.mark.parametrize(("data", "match"), BELIEF_SLIPS, ids=range(len(BELIEF_SLIPS)))
def test_an_unknown_name_in_a_belief_is_refused_with_the_nearest(data, match):
    with pytest.raises(InvalidInput, match=match):
        belief_of(data)


BASE = {"belief": {"kind": "TypeMeans", "noise_std": 0.5}, "rule": {"kind": "Threshold"}, "label_cost": 2.0}
CONFIG_SLIPS = [
    ({"lable_cost": 2.0}, "^config: expected a known name, perhaps 'label_cost', got 'lable_cost'"),
    ({"remember": 3}, "^config: expected a known name, .*, got 'remember'"),
    ({"label_cost": -2.0}, "^label_cost: expected a positive, finite number"),
    ({"label_cost": None, "labellers": {"a": {"price": 1.0}}}, "^labellers: expected a cost and a noise_std"),
    ({"rule": {"kind": "Tresh"}}, "perhaps 'Threshold', got 'Tresh'"),
    ({"seed": "x"}, "^seed: expected a whole number"),
    ({"fitting": "elsewhere"}, "^fitting: expected one of 'inside', 'outside'"),
]


@pytest.mark.parametrize(("changed", "match"), CONFIG_SLIPS, ids=range(len(CONFIG_SLIPS)))
def test_an_unknown_name_in_a_learner_is_refused_with_the_nearest(changed, match):
    with pytest.raises(InvalidInput, match=match):
        Learner.of({**BASE, **changed})


@pytest.mark.parametrize(
    "config", [None, 3, [], {}, {"belief": BASE["belief"]}, {"rule": BASE["rule"]}], ids=repr
)
def test_a_learner_needs_a_belief_and_a_rule(config):
    with pytest.raises(InvalidInput, match=r"^config: expected plain data with a belief and a rule, got "):
        Learner.of(config)


class Shy(Rule):
    most: float = 3.0

    def decide(self, view):
        return Verdict(view.uncertainty > self.most)


class Odd(TypeMeans):
    pass


def test_classes_of_ones_own_are_named():
    learner = Learner(Odd(0.5), Queue(Shy(2.0), 3), label_cost=1.0)
    config = FORMS["json"](learner.config())
    assert (config["belief"]["kind"], config["rule"]["rule"]["kind"]) == ("own:Odd", "own:Shy")
    again = Learner.of(config, rules=[Shy], beliefs=[Odd])
    assert (type(again.belief), again.rule) == (Odd, Queue(Shy(2.0), 3))
    for missing in ({"rules": [Shy]}, {"beliefs": [Odd]}):
        with pytest.raises(InvalidInput, match=r"expected a known name, .*, got 'own:"):
            Learner.of(config, **missing)


def test_given_arrays_are_plain_in_data():
    belief = Cells(np.zeros(2), np.ones(2), np.float64(0.5))
    assert belief_data(belief)["low"] == [0.0, 0.0]
    assert msgspec.json.encode(belief_data(belief))


# -- a rule that is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["reprice", "apply"])
def test_a_rule_that_is_refused_leaves_nothing_behind(way):
    learner = Learner(GaussianProcess(1, 2.0, SquaredExponential(0.4)), Value(), label_cost=0.1)
    stream = LabelledStream.of(learner)
    run(learner, stream)
    before, refused = learner.snapshot(), Audit(Threshold(), 0.1, bound=1.0, bound_on="labels")
    event = Repriced(learner.number + 1, "", rule=rule_data(refused))
    call = {"reprice": lambda: learner.reprice(rule=refused), "apply": lambda: learner.apply(event)}[way]
    with pytest.raises(InvalidInput, match=r"^bound: expected at least the noise_std of 2"):
        call()
    assert learner.snapshot() == before
    again = Learner.restore(before)
    assert run(learner, stream) == run(again, stream)


# -- rules in rules of one's own -----------------------------------------------------------------------


class Either(Rule):
    """Two rules by turns; the second may be missing."""

    first: Rule
    second: Rule | None = None
    more: Any = None

    def decide(self, view):
        return (self.second if self.second and view.round % 2 else self.first).decide(view)


@pytest.mark.parametrize("second", [None, Never(), Threshold(0.5)])
def test_a_rule_that_may_be_missing_is_read_back_as_it_is(second):
    rule = Either(Value(), second)
    assert rule_of(rule_data(rule), [Either]) == rule
    learner = Learner(TypeMeans(0.5), rule, label_cost=1.0)
    assert Learner.restore(learner.snapshot(), rules=[Either]).rule == rule


@pytest.mark.parametrize("more", [[Never()], (Never(),), {"a": Never()}, print])
def test_settings_that_cannot_be_written_are_refused_at_the_start(more):
    with pytest.raises(InvalidInput, match=r"^Either: more: expected"):
        Learner(TypeMeans(0.5), Either(Never(), None, more), label_cost=1.0)
