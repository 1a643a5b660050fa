"""The paper's two algorithms, ready to use."""

from typing import Literal

from breakeven.beliefs import GaussianProcess, TypeMeans
from breakeven.beliefs.gp import Kernel, KernelName
from breakeven.beliefs.gp.process import FitSchedule
from breakeven.errors import expect
from breakeven.learner.learner import Learner
from breakeven.rules import Threshold


def algorithm1(
    *,
    label_cost: float,
    noise_std: float,
    delta: float = 0.05,
    threshold_scale: float = 1.0,
    clock: Literal["type", "stream"] = "type",
    seed: int = 0,
) -> Learner:
    """Algorithm 1: points are of discrete types, each with its own mean.

    >>> learner = algorithm1(label_cost=10.0, noise_std=0.1)
    >>> learner.decide("melanoma").why
    'Label it: nothing of this type has been labelled yet.'
    """
    belief = TypeMeans(noise_std, delta)
    return Learner(belief, Threshold(threshold_scale, clock), label_cost=label_cost, seed=seed)


def algorithm2(
    dim: int,
    *,
    label_cost: float,
    noise_std: float | None,
    kernel: Kernel | KernelName | None = None,
    threshold_scale: float = 1.0,
    warmup: int | None = None,
    fit: FitSchedule = "after_warmup",
    seed: int = 0,
) -> Learner:
    """Algorithm 2: points are rows of `dim` numbers, and f is smooth.

    The first `warmup` points (5·dim unless given) are labelled and the kernel is fitted to them. With
    `fit=None, warmup=0` the kernel is used as given from the first round.

    >>> learner = algorithm2(2, label_cost=10.0, noise_std=0.5)
    >>> learner.decide([0.2, 0.7]).reason, learner.summary().warmup_left
    ('warmup', 10)
    """
    dim = expect.whole("dim", dim, least=1)
    belief = GaussianProcess(dim, noise_std, kernel, fit=fit)
    wanted = 5 * dim if warmup is None else warmup
    return Learner(belief, Threshold(threshold_scale), label_cost=label_cost, warmup=wanted, seed=seed)
