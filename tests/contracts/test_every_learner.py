"""Every belief under every rule passes every check that holds for it."""

from functools import partial

import pytest

from breakeven import (
    Always,
    Audit,
    Averaged,
    AveragedShares,
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
    SeparateTypes,
    SquaredExponential,
    Threshold,
    TypeMeans,
    TypeShares,
    Value,
    VariableUncertainty,
)
from breakeven.beliefs import says_yes_or_no
from breakeven.testing import checks_for
from tests.unit.weighing import Weighing

FIXED = {
    "types": TypeMeans(noise_std=0.1),
    "cells": Cells(low=[0.0, 0.0], high=[1.0, 1.0], noise_std=0.1),
    "se": GaussianProcess(2, 0.1, SquaredExponential(lengthscale=(0.3, 0.5))),
    "matern": GaussianProcess(1, 0.1, Matern(1.5, lengthscale=0.3)),
    "bessel": GaussianProcess(3, 0.2, Matern(0.8, lengthscale=0.7, amplitude=2.0), mean=0.5),
}
WATCHED = {
    "se": FIXED["se"],
    "fading": GaussianProcess(2, 0.1, SquaredExponential(lengthscale=0.4), forgetting=9.0),
    "dictionary": GaussianProcess(1, 0.1, SquaredExponential(lengthscale=0.6), capacity="auto"),
    "quantile": GaussianProcess(1, 0.1, SquaredExponential(lengthscale=0.6), level=0.8),
}
FITTED = {
    "after_warmup": (GaussianProcess(1, 0.1, fit="after_warmup"), 4),
    "every_label": (GaussianProcess(1, 0.1, Matern(2.5), fit="every_label"), 0),
    "growing": (GaussianProcess(2, None, SquaredExponential(0.5), mean="fit", fit="growing"), 5),
    "prior": (GaussianProcess(2, 0.1, mean="fit", fit="growing", prior=Prior()), 0),
    "half-life": (GaussianProcess(1, 0.1, mean="fit", fit="growing", forgetting="fit", prior=Prior()), 0),
    "unknown noise": (TypeMeans(prior_mean="fit"), 4),
}
TYPES = {
    "flat prior": TypeMeans(0.1),
    "known prior": TypeMeans(0.1, prior_mean=1.0, prior_std=0.5),
    "learnt prior": TypeMeans(0.1, prior_std="learn"),
    "forgetting": TypeMeans(0.1, forgetting=7.5),
    "types quantile": TypeMeans(0.1, prior_std="learn", level=0.2),
    "shares": TypeShares(),
    "shares with costs": TypeShares(0.2, 3.0, level=0.9),
    "learnt shares": TypeShares(prior_strength="learn"),
    "forgotten shares": TypeShares(forgetting=20.0),
    "separate": SeparateTypes(0.1),
    "forgetting and learnt prior": Cells([0.0] * 3, [1.0] * 3, 0.1, prior_std="learn", forgetting=30.0),
}
RULES = {
    "threshold": Threshold(),
    "stream_clock": Threshold(scale=0.5, clock="stream"),
    "random": RandomSelect(0.4),
    "printed": VariableUncertainty("printed"),
    "figures": VariableUncertainty("figures"),
    "figures_gp": VariableUncertainty("figures_gp"),
    "uncertain": VariableUncertainty("uncertain"),
    "original": VariableUncertainty("original", budget=0.3),
    "value": Value(horizon=80, reservoir=16),
    "always": Always(),
    "never": Never(),
    "budget": Budget(Threshold(), total=1000.0),
    "tight": Budget(Threshold(), total=12.0, per=(4.0, 10)),
    "queue": Queue(Threshold(), 3),
    "audit": Audit(Threshold(), 0.2, bound=10.0),
    "check": Check(Threshold(), share=0.5),
    "limited check": Audit(Budget(Check(RandomSelect(0.3), share=1.0), per=(6.0, 9)), 0.2, bound=10.0),
    "limited audit": Queue(Budget(Audit(RandomSelect(0.3), 0.2, bound=10.0), per=(6.0, 9)), 4),
}
WEIGHED = {
    "threshold": Threshold(),
    "value": Value(horizon=100),
    "check": Check(Value(horizon=100), share=1.0),
}
LABELLERS = {"nurse": Labeller(0.02, 0.3), "mri": Labeller(0.5, 0.05)}
SLOW_RULES = (
    "threshold",
    "random",
    "uncertain",
    "value",
    "check",
)  # enough where every check fits many times
ALL_RULES = (
    "types",
    "se",
)  # beliefs under which every rule is checked; else these will do:
FEW_RULES = ("threshold", "value", "limited audit", "check")
LONG_FITS = (
    "every_label",
    "prior",
    "half-life",
)  # and under these one rule, which labels test the belief with


AVERAGED = {
    "threshold": {"rule": Threshold(), "label_cost": 0.05},
    "value": {"rule": Value(horizon=100, reservoir=16, scored="labels"), "label_cost": 0.05},
    "value-labellers": {"rule": Value(horizon=100), "labellers": LABELLERS},
    "check": {
        "rule": Check(Value(horizon=100, reservoir=16, scored="labels"), share=1.0),
        "label_cost": 0.05,
    },
    "limited audit": {
        "rule": Queue(Audit(RandomSelect(0.3), 0.2, bound=10.0, noise_std=0.1), 4),
        "label_cost": 0.05,
    },
}


def learners():
    for name, arguments in AVERAGED.items():
        yield f"averaged-{name}", partial(Learner, Averaged(2), **arguments, keep=20)
    for name in ("threshold", "value", "check"):
        yield f"averaged shares-{name}", partial(Learner, AveragedShares(2), **AVERAGED[name], keep=20)
    for belief_name, belief in FIXED.items():
        for rule_name, rule in RULES.items():
            for warmup in (0, 3) if rule_name == "threshold" else (0,):
                name = f"{belief_name}-{rule_name}" + (f"-warmup{warmup}" if warmup else "")
                yield (
                    name,
                    partial(Learner, belief, rule, label_cost=0.05, warmup=warmup, seed=3, keep=50),
                )
    for rule_name in ("threshold", "random", "limited audit"):
        yield (
            f"labellers-{rule_name}",
            partial(Learner, Weighing(0.1), RULES[rule_name], labellers=LABELLERS, error_cost=2.0, keep=50),
        )
    for belief_name, belief in (WATCHED | TYPES).items():
        for rule_name, rule in WEIGHED.items():
            name = f"{belief_name}-{rule_name}"
            yield name, partial(Learner, belief, rule, label_cost=0.05, keep=20)
            if not says_yes_or_no(belief):
                yield f"{name}-labellers", partial(Learner, belief, rule, labellers=LABELLERS, keep=20)
    for belief_name in ("types", "se"):
        within = {"label_cost": 0.05, "keep": 20, "answers_within": (-0.2, 0.2)}
        yield f"within-{belief_name}", partial(Learner, FIXED[belief_name], Threshold(), **within)
    for belief_name, (belief, warmup) in FITTED.items():
        for rule_name in SLOW_RULES:
            make = partial(Learner, belief, RULES[rule_name], label_cost=0.05, warmup=warmup, keep=20)
            yield f"{belief_name}-{rule_name}", make


def marks(name):
    belief = next((one for one in (*FIXED, *FITTED) if name.startswith(f"{one}-")), "")
    rule = name.removeprefix(f"{belief}-")
    enough = ("check",) if belief in LONG_FITS else FEW_RULES
    exhaustive = belief and belief not in ALL_RULES and not rule.startswith(enough)
    return [pytest.mark.slow] if exhaustive else []


CASES = [
    pytest.param(make, check, id=f"{name}-{check.name}", marks=marks(name))
    for name, make in learners()
    for check in checks_for(make)
]


@pytest.mark.parametrize(("make", "check"), CASES)
def test_contract(make, check):
    check(make)
