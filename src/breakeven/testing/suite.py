"""All checks, and running those that hold for a learner."""

from breakeven.testing import decision_checks, label_checks, state_checks, trust_checks
from breakeven.testing.contract import ContractCheck, LabelledStream, Make

CHECKS = [
    one
    for module in (decision_checks, label_checks, state_checks, trust_checks)
    for one in vars(module).values()
    if isinstance(one, ContractCheck)
]
"""All checks, in the order in which they run."""


def checks_for(make: Make) -> list[ContractCheck]:
    """The checks that hold for the learners `make` gives."""
    learner = make()
    return [one for one in CHECKS if one.scope.covers(learner)]


def check_learner(make: Make, stream: LabelledStream | None = None) -> list[str]:
    """Run every check that holds for the learners `make` gives; the names of those run.

    `stream` brings points and labels of your own where the belief takes unusual ones.

    >>> from breakeven import Always, Learner, TypeMeans
    >>> names = check_learner(lambda: Learner(TypeMeans(noise_std=1.0), Always(), label_cost=1.0, keep=50))
    >>> "late_labels_lead_to_the_same_decisions" in names
    True
    """
    held = checks_for(make)
    for one in held:
        try:
            one(make, stream)
        except AssertionError as failure:
            raise AssertionError(f"{one.name} (holds for {one.scope.words}): {failure}") from failure
    return [one.name for one in held]
