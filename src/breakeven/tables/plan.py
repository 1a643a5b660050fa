"""Before any data: what labels and errors are to be expected, by simulation, and what the paper proves.

Errors are against f itself, which is known here. The bounds hold for the paper's own rule.
"""

from collections.abc import Callable

import msgspec
import numpy as np

from breakeven.beliefs import GaussianProcess, Prior, TypeMeans
from breakeven.learner import Learner, algorithm1
from breakeven.ledger import Ledger
from breakeven.rules import Threshold, Value
from breakeven.simulate import simulate
from breakeven.tables.guarantees import bounds
from breakeven.tables.problems import Problem, Setting, problems_of

Counts = Callable[[int, int], None]  # runs done, runs in all

FACTORS = (0.25, 1.0, 4.0, 16.0, 64.0)  # of the price, in a sweep


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be expected at one price: means over the trials, and the least and largest total."""

    name: str
    cost: float
    labels: float
    spend: float
    mean_error: float
    total: float
    low: float
    high: float


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Both rules at the price asked about, the paper's bounds, and the first rule at other prices."""

    setting: Setting
    rows: list[Expected]
    bounds: dict[str, float | None]
    sweep: list[Expected]


def plan(setting: Setting, progress: Counts | None = None) -> Plan:
    """Simulate what is expected."""
    whole = setting.trials * (2 + len(FACTORS) - 1)
    done = iter(range(1, whole + 1))

    def ran() -> None:
        if progress is not None:
            progress(next(done), whole)

    problems = list(problems_of(setting))
    ours = _expected("breakeven", setting, problems, _value, ran)
    paper = _expected("the paper's threshold", setting, problems, _threshold, ran)
    sweep = [
        ours if factor == 1.0 else _expected("breakeven", _at(setting, factor), problems, _value, ran)
        for factor in FACTORS
    ]
    return Plan(setting=setting, rows=[ours, paper], bounds=bounds(setting, problems), sweep=sweep)


def _at(setting: Setting, factor: float) -> Setting:
    return msgspec.structs.replace(setting, cost=setting.cost * factor)


def _expected(
    name: str,
    setting: Setting,
    problems: list[Problem],
    learner: Callable[[Setting], Learner],
    ran: Callable[[], None],
) -> Expected:
    bills: list[Ledger] = []
    for problem in problems:
        stream = problem.stream
        bills.append(simulate(learner(setting), stream.points, stream.labels, stream.truth).ledger)
        ran()
    totals = [bill.total_loss or 0.0 for bill in bills]
    return Expected(
        name=name,
        cost=setting.cost,
        labels=float(np.mean([bill.labels for bill in bills])),
        spend=float(np.mean([bill.label_spend for bill in bills])),
        mean_error=float(np.mean([bill.average_error or 0.0 for bill in bills])),
        total=float(np.mean(totals)),
        low=min(totals),
        high=max(totals),
    )


# -- learners ----------------------------------------------------------------------------------------------


def _value(setting: Setting) -> Learner:
    """What `breakeven simulate` runs by default, with the noise known."""
    rule = Value(horizon=setting.rounds)
    belief: TypeMeans | GaussianProcess
    if setting.dim is None:
        belief = TypeMeans(setting.noise_std, prior_std="learn")
    else:
        lengths = (setting.lengthscale,) * setting.dim
        kernel = msgspec.structs.replace(setting.function_kernel(), lengthscale=lengths)
        belief = GaussianProcess(
            setting.dim, setting.noise_std, kernel, "fit", "growing", "auto", prior=Prior()
        )
    return Learner(belief, rule, label_cost=setting.cost, error_cost=setting.error_cost)


def _threshold(setting: Setting) -> Learner:
    """The paper's algorithms as its theorems have them: the kernel is known."""
    if setting.dim is None:
        one = algorithm1(label_cost=setting.cost, noise_std=setting.noise_std, delta=setting.delta)
        return Learner(one.belief, one.rule, label_cost=setting.cost, error_cost=setting.error_cost)
    belief = GaussianProcess(setting.dim, setting.noise_std, setting.function_kernel())
    return Learner(belief, Threshold(), label_cost=setting.cost, error_cost=setting.error_cost)
