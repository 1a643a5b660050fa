"""The learner that options ask for, and the rule in it."""

from breakeven.beliefs import Belief, GaussianProcess, Matern, Prior, SquaredExponential, TypeMeans
from breakeven.beliefs.gp import Kernel
from breakeven.learner import Learner
from breakeven.rules import Always, Never, RandomSelect, Rule, Threshold, Value, VariableUncertainty
from breakeven.tables.columns import Columns
from breakeven.tables.options import Options

WARMUP_PER_FEATURE = 5  # labels that the paper's rule fits its kernel to


def make_rule(options: Options, rounds: int) -> Rule:
    """The rule by its name; rounds are those that will come, unless a horizon is given."""
    match options.rule:
        case "value":
            return Value(horizon=rounds if options.horizon is None else options.horizon, scored="labels")
        case "threshold":
            return Threshold()
        case "random":
            return RandomSelect(options.chance)
        case "variable":
            return VariableUncertainty(budget=options.chance)
        case "always":
            return Always()
    return Never()


def make_belief(options: Options, columns: Columns, noise_std: float | None, unit: float) -> Belief:
    """Types share what their means have in common; a process learns all it needs from labels."""
    noise = None if noise_std is None else noise_std / unit
    if columns.type is not None:
        assert noise is not None
        return TypeMeans(noise, prior_std="learn" if options.rule == "value" else None)
    return GaussianProcess(
        columns.dim,
        noise,
        kernel(options.kernel, columns.dim),
        mean="fit",
        fit="growing",
        capacity="auto",
        prior=Prior(),
    )


def kernel(name: str, dim: int) -> Kernel:
    """The kernel of this name, with a lengthscale for every feature.

    >>> kernel("matern52", 2)
    Matern(smoothness=2.5, lengthscale=(1.0, 1.0), amplitude=1.0)
    """
    lengths = (1.0,) * dim
    if name == "se":
        return SquaredExponential(lengthscale=lengths)
    return Matern(smoothness={"matern32": 1.5, "matern52": 2.5}[name], lengthscale=lengths)


def make_learner(
    options: Options,
    columns: Columns,
    rounds: int,
    *,
    cost: float,
    noise_std: float | None,
    warmup: int = 0,
    unit: float = 1.0,
) -> Learner:
    """A learner whose labels are in units of so much of the table's own."""
    return Learner(
        make_belief(options, columns, noise_std, unit),
        make_rule(options, rounds),
        label_cost=cost,
        error_cost=options.error_cost * unit,
        warmup=warmup,
        seed=options.seed,
    )


def default_warmup(options: Options, columns: Columns) -> int:
    """Labels bought whatever the rule says: only the paper's rule needs some, to fit its kernel to."""
    return WARMUP_PER_FEATURE * columns.dim if options.rule == "threshold" and columns.type is None else 0
