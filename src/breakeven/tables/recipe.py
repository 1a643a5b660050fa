"""The learner that options ask for: its belief, its rule, and the labels that it buys first in any case.

The belief finds its own units: mean, scale and noise of labels, and how wide features lie, in labels told.
Types need labels of one type to see their noise; so the first arrivals are all bought where nobody gives it.
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from breakeven.beliefs import (
    Averaged,
    AveragedShares,
    Belief,
    GaussianProcess,
    Recognised,
    TypeMeans,
    TypeShares,
    says_yes_or_no,
    untuned,
)
from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.beliefs.gp import Prior, kernel_named
from breakeven.beliefs.recognised import YES_NO_VALUES
from breakeven.errors import expect
from breakeven.learner import Learner
from breakeven.rules import (
    Always,
    Audit,
    Budget,
    Never,
    RandomSelect,
    Rule,
    Threshold,
    Value,
    VariableUncertainty,
    checked,
)
from breakeven.tables.cases import Cases
from breakeven.tables.options import Options

YES_NO = "yes or no"  # what says how noisy labels are where they are no numbers
AVERAGED = "as far as the labels tell"
WARMUP_A_FEATURE = 5  # labels that the paper's rule fits its kernel to
WARMUP_OF_TYPES = (
    20  # labels that the paper's rule takes the scale of, and that noise is measured from at least
)
LEAST_REPEATS, MOST_REPEATS = 10, 100  # labels beyond the first of their type, to measure noise from
LONGEST_WARMUP = 200  # arrivals after which the noise is measured from what there is
NO_NOISE = 1e-9  # of the largest error: a standard deviation that counts as none
ARRIVALS_A_REPEAT = 1_000  # one more label for each such part of a long stream


class Start(NamedTuple):
    """A learner before the first case, and what says how noisy labels are; None where that is measured."""

    learner: Learner
    noise_from: str | None


def start(cases: Cases, options: Options, seeds: Cases | None = None) -> Start:
    """The learner for these cases; `seeds` are labels already owned, and are learnt for nothing."""
    if options.labels == "yes/no":
        return Start(_learnt(yes_no_belief(cases, options), cases, options, seeds), YES_NO)
    if cases.columns.type_column is None:
        belief = recognised(of_rows(cases.columns.dim, options), cases, options, None)
        found = AVERAGED if options.kernel is None else "fitted"
        noise_from = found if known_noise(options) is None else "given"
        return Start(_learnt(belief, cases, options, seeds), noise_from)
    belief = recognised(type_means(options, seeds), cases, options, seeds)
    if not belief.traits.noise_known:
        return Start(_learner(belief, cases, options, _until_noise_is_seen(cases, options)), None)
    learner = _learner(belief, cases, options, first_labels(cases, options, seeds))
    if known_noise(options) is not None:
        return Start(learner, "given")
    if seeds is None or "noise_from" not in belief.describe():
        return Start(learner, "not known")
    return Start(learner, f"pooled within types from {len(seeds):,} labels already owned")


def of_rows(dim: int, options: Options) -> Belief:
    """The belief for rows of `dim` numbers: an average of many kernels, unless one is named."""
    if options.kernel is None:
        return Averaged(dim, known_noise(options))
    kernel, noise = kernel_named(options.kernel, (1.0,) * dim), known_noise(options)
    if options.forgetting is None:
        return untuned(dim, noise, kernel)
    return GaussianProcess(
        dim,
        noise,
        kernel,
        mean="fit",
        fit="growing",
        capacity="auto",
        prior=Prior(),
        forgetting=options.forgetting,
        label_scale="fit",
    )


def known_noise(options: Options) -> float | None:
    """The noise of labels, where it is given or that of a labeller."""
    if options.labeller is not None and options.noise_std is None:
        return options.asked.noise_std
    return options.noise_std


def _learnt(belief: Belief, cases: Cases, options: Options, seeds: Cases | None) -> Learner:
    learner = _learner(belief, cases, options, first_labels(cases, options, seeds))
    for point, y in labels_of(seeds):
        learner.learn(point, y)
    return learner


# -- yes/no labels -----------------------------------------------------------------------------------------


def yes_no_belief(cases: Cases, options: Options) -> Belief:
    """The belief for yes/no labels of these cases."""
    if cases.columns.type_column is not None:
        return TypeShares(prior_strength="learn", forgetting=options.half_life)
    return AveragedShares(cases.columns.dim)


def recognised(numbers: Belief, cases: Cases, options: Options, owned: Cases | None) -> Belief:
    """A belief for numbers that yields to one for yes/no labels while all labels are 0 or 1.

    It has the `owned` labels already, and the other one learns them here.
    """
    forgets = cases.columns.type_column is None and options.forgetting is not None
    numbers_only = options.labels == "numbers" or options.labeller is not None or forgets
    if numbers_only or not all(y in YES_NO_VALUES for _, y in labels_of(owned)):
        return numbers
    yes_no = yes_no_belief(cases, options)
    for point, y in labels_of(owned):
        yes_no.learn(yes_no.point(point), y)
    never_certain = isinstance(numbers, Averaged)
    return Recognised(numbers, yes_no, both=never_certain, owned=(y for _, y in labels_of(owned)))


def _learner(belief: Belief, cases: Cases, options: Options, warmup: int) -> Learner:
    return Learner(
        belief,
        make_rule(options, cases),
        **_label_costs(cases, options),
        **options.error_costs,
        warmup=warmup,
        seed=options.seed,
    )


def _label_costs(cases: Cases, options: Options) -> dict[str, Any]:
    if options.labeller is not None:
        return {"labellers": options.labellers}
    return {"label_cost": float(cases.label_costs(options.cost)[0])}


def make_rule(options: Options, cases: Cases) -> Rule:
    """The rule by its name, with its check, its audit and its budget around it."""
    averaged = options.rule == "value" and options.kernel is None and cases.columns.type_column is None
    rule = checked(_named_rule(options, len(cases)), options.check, averaged=averaged)
    if options.audit is not None:
        rule = _audited(rule, options.audit, cases, options)
    if options.budget is not None or options.per is not None:
        _check_pays(options, cases)
        rule = Budget(rule, total=options.budget, per=options.per)
    return rule


def _check_pays(options: Options, cases: Cases) -> None:
    """Raise unless the budget pays for the first label; the message has the name of the option."""
    cost = float(cases.label_costs(options.base_cost)[0])
    if options.budget is not None and options.budget < cost:
        expect.refuse("budget", f"at least {cost:g}, the cost of one label", options.budget)


def _audited(rule: Rule, rate: float, cases: Cases, options: Options) -> Rule:
    """A rule with its audit. The errors of a bill are against labels, so noise that is not known is none."""
    bound = options.audit_bound
    if bound is None:
        bound = float(np.ptp(cases.labels)) or 1.0
    noise_std = known_noise(options) or NO_NOISE * bound
    return Audit(rule, rate, bound=bound, bound_on="labels", noise_std=noise_std)


def _named_rule(options: Options, rounds: int) -> Rule:
    match options.rule:
        case "value":
            scored: Literal["truth", "labels"] = "labels" if options.labeller is None else "truth"
            return Value(horizon=rounds if options.horizon is None else options.horizon, scored=scored)
        case "threshold":
            return Threshold()
        case "random":
            return RandomSelect(options.chance)
        case "variable":
            return VariableUncertainty(budget=options.chance)
        case "always":
            return Always()
    return Never()


def type_means(options: Options, seeds: Cases | None) -> TypeMeans:
    """The belief for types, with the labels already owned.

    A rule that never asks needs no noise. Where owned labels show too little of it, it is measured later.
    """
    noise = 1.0 if known_noise(options) is None and options.rule == "never" else known_noise(options)
    belief = TypeMeans(
        noise,
        prior_mean="fit",
        label_scale="fit",
        prior_std="learn" if options.rule == "value" else None,
        forgetting=options.half_life,
    )
    for point, y in labels_of(seeds):
        belief.learn(point, y)
    if belief.fit_due(warm=True):
        found = belief.fit(belief.fit_job(), np.random.default_rng(options.seed))
        if (
            found.get("noise_from") in (None, "repeats")
            and found.get("repeats", LEAST_REPEATS) >= LEAST_REPEATS
        ):
            belief.adopt(found)
    return belief


def labels_of(cases: Cases | None) -> list[tuple[Any, float]]:
    """All labels, each with its type or point."""
    return [] if cases is None else list(zip(cases.part(0, len(cases)), cases.labels.tolist(), strict=True))


# -- labels bought first -----------------------------------------------------------------------------------


def first_labels(cases: Cases, options: Options, seeds: Cases | None) -> int:
    """How many labels are bought whatever the rule says, where the noise is known or fitted."""
    typed = cases.columns.type_column is not None
    match options.rule:
        case "threshold":
            return WARMUP_OF_TYPES if typed else WARMUP_A_FEATURE * cases.columns.dim
        case "random":
            return max(ENOUGH_TO_FIT - (0 if seeds is None else len(seeds)), 0)
        case "variable":
            return ENOUGH_TO_FIT
    return 0


def _until_noise_is_seen(cases: Cases, options: Options) -> int:
    """After how many arrivals enough labels repeat a type; the longest warm-up, if that never happens."""
    if options.delay:
        expect.refuse(
            "noise_std", "a number, because with a delay the first labels come too late to measure it", None
        )
    wanted = min(max(LEAST_REPEATS, len(cases) // ARRIVALS_A_REPEAT), MOST_REPEATS)
    longest = min(max(LONGEST_WARMUP, 10 * wanted), len(cases))
    seen: set[Any] = set()
    for count, one in enumerate(cases.part(0, longest), start=1):
        seen.add(one)
        if count >= WARMUP_OF_TYPES and count - len(seen) >= wanted:
            return count
    return longest


def measured_from(learner: Learner) -> str:
    """How the noise of types was measured on the way, if it was."""
    if says_yes_or_no(learner.belief):
        return YES_NO
    first = f"the first {learner.warmup:,} labels, all bought"
    match learner.belief.describe().get("noise_from"):
        case None:
            return "not known"
        case "repeats":
            return f"pooled within types from {first}"
    return (
        f"the spread of {first}: no two of one type differ, so it may be too large; give the noise if you "
        "know it"
    )
