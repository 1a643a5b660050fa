"""The learner that options ask for, and the rule in it."""

from breakeven.beliefs import Belief, TypeMeans, untuned
from breakeven.beliefs.gp import kernel_named
from breakeven.learner import Learner
from breakeven.rows.columns import Columns
from breakeven.rules import Always, Budget, Never, RandomSelect, Rule, Threshold, Value, VariableUncertainty
from breakeven.tables.options import Options
from breakeven.tables.scaling import ARRIVALS, LABELS

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
            rule = VariableUncertainty(budget=options.chance)
            return rule if options.budget is None else Budget(rule, total=options.budget)
        case "always":
            return Always()
    return Never()


def make_belief(options: Options, columns: Columns, noise_std: float | None, unit: float) -> Belief:
    """Types share what their means have in common; a process learns all it needs from labels."""
    noise = None if noise_std is None else noise_std / unit
    if columns.type_column is not None:
        if noise is None:
            return TypeMeans(noise_std=1.0)  # while everything is labelled, to find out
        return TypeMeans(noise, prior_std="learn" if options.rule == "value" else None)
    return untuned(columns.dim, noise, kernel_named(options.kernel, (1.0,) * columns.dim))


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


def default_warmup(options: Options, columns: Columns, owned: int) -> int:
    """Labels bought whatever the rule says: to fit the paper's kernel to, or to know anything at all."""
    if options.rule == "threshold":
        return ARRIVALS if columns.type_column is not None else WARMUP_PER_FEATURE * columns.dim
    if options.rule == "random":
        return max(LABELS - owned, 0)
    return LABELS if options.rule == "variable" else 0


def arrivals_to_scale(options: Options, warmup: int) -> int:
    """After how many arrivals scales are frozen.

    The paper's thresholds, and limits that move, are numbers of standard units, and wait no longer.
    """
    return warmup if options.rule in ("threshold", "variable") else max(warmup, ARRIVALS)
