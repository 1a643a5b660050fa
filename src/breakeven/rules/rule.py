"""What a rule is: it answers a view, and remembers what came of its answers; and rules around rules.

`decide` changes nothing. The learner tells a rule what happened, live and in replay alike, so that replaying
outcomes leaves the rule as it was. All fields are kept in snapshots.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from msgspec.structs import asdict

from breakeven.errors import expect
from breakeven.values import Decision, Offer, Traits, Verdict, View

MOST_LAYERS = 8  # of rules around each other: more say nothing that fewer do not

if TYPE_CHECKING:
    from breakeven.rules.audit import Audit
    from breakeven.rules.check import Check


class Rule(msgspec.Struct):
    """When a label is worth its price. Subclass it to write your own.

    >>> class EveryTenth(Rule):
    ...     def decide(self, view):
    ...         return Verdict(view.round % 10 == 0, reason="Every tenth arrival is labelled.")
    """

    reads_prediction: ClassVar[bool] = False
    """Whether answers depend on predictions, or on what is awaited: only then can a late label change one."""

    draws: ClassVar[bool] = False
    """Whether this rule of ours draws random numbers; a rule of your own may always draw."""

    def decide(self, view: View) -> Verdict:
        """Whether this arrival's label is worth its price."""
        raise NotImplementedError

    def observe(self, *, labelled: bool) -> None:
        """Remember an answer that this rule gave; most rules need not."""

    def fresh(self) -> None:
        """Forget everything that happened: a learner begins with this rule."""

    def flips_at(self, decision: Decision, traits: Traits) -> float | None:
        """The cost of a label at which this answer of the rule changes; None where no cost changes it."""
        return None

    # -- limits ----------------------------------------------------------------------------------

    def check_start(self, rounds: int, cost: float) -> None:
        """Raise `InvalidInput` if it cannot begin after this many rounds with labels at this cost."""

    def forbids(self, view: View) -> str | None:
        """The reason why no label may be bought now, whoever wants it; None if one may."""
        return None

    def offers(self, view: View, *, audit: bool = False) -> tuple[Offer, ...]:
        """The offers that may be bought now, whoever wants a label; an `audit` may have more."""
        return view.offers or (view.offer(),)

    def exhausted(self, view: View) -> bool:
        """Whether the money is gone for good, so that waiting does not help."""
        return False

    def bought(self, round: int, cost: float, *, audited: bool) -> None:
        """A label was bought, now or again; `audited` if that was an audit."""

    def returned(self, round: int, cost: float, *, audited: bool) -> None:
        """A label bought in this round was withdrawn, and is not charged."""

    # -- rules in rules --------------------------------------------------------------------------

    @property
    def layers(self) -> tuple["Rule", ...]:
        """The rule itself and those inside it, from the outside in."""
        return (self,)

    @property
    def reservoir(self) -> int:
        """How many past arrivals the belief should keep for it."""
        return 0

    @property
    def horizon(self) -> int | None:
        """How many rounds there will be in all, if the rule knows."""
        return None

    def arrivals_left(self, round: int) -> int | None:
        """How many arrivals it expects after this round, if it counts on any number."""
        return None

    @property
    def scores_labels(self) -> bool:
        """Whether it counts errors against labels, noise included, and not against f."""
        return False

    @property
    def audit(self) -> "Audit | None":
        """The audit among its layers, if there is one."""
        return None

    @property
    def check(self) -> "Check | None":
        """The check of the belief among its layers, if there is one."""
        return None

    # -- looking at it ---------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """What this rule is now, for people."""
        return {"kind": type(self).__name__, **{name: _plain(value) for name, value in asdict(self).items()}}


def while_noise_is_unknown(view: View) -> Verdict | None:
    """The answer for a process whose noise was never fitted: no threshold has a meaning yet.

    It buys as many labels as a first fit may need, two more than there are dimensions, and waits for them.
    """
    if view.traits.noise_known or view.traits.dim is None:
        return None
    wanted = view.labels < view.traits.dim + 2
    return Verdict(wanted, reason="nothing_known" if wanted else "enough_on_their_way")


def check_layers(count: int) -> None:
    """Raise where more rules lie around each other than could mean something."""
    if count > MOST_LAYERS:
        expect.refuse("rule", f"at most {MOST_LAYERS} rules around each other", "more", described=True)


class Wrapper(Rule):
    """A rule around another rule. Whatever a subclass does not override is passed to the rule inside.

    >>> from breakeven.rules import Threshold
    >>> [type(one).__name__ for one in Wrapper(Threshold()).layers]
    ['Wrapper', 'Threshold']
    """

    rule: Rule

    def __post_init__(self) -> None:
        if not isinstance(self.rule, Rule):
            expect.refuse("rule", "a rule such as Threshold()", self.rule)
        check_layers(1 + len(self.rule.layers))

    def observe(self, *, labelled: bool) -> None:
        """Pass it on."""
        self.rule.observe(labelled=labelled)

    def fresh(self) -> None:
        """Pass it on."""
        self.rule.fresh()

    def flips_at(self, decision: Decision, traits: Traits) -> float | None:
        """That of the rule inside."""
        return self.rule.flips_at(decision, traits)

    def check_start(self, rounds: int, cost: float) -> None:
        """Pass it on."""
        self.rule.check_start(rounds, cost)

    def forbids(self, view: View) -> str | None:
        """What the rule inside forbids."""
        return self.rule.forbids(view)

    def offers(self, view: View, *, audit: bool = False) -> tuple[Offer, ...]:
        """Those that the rule inside leaves."""
        return self.rule.offers(view, audit=audit)

    def exhausted(self, view: View) -> bool:
        """Whether the rule inside has no money any more."""
        return self.rule.exhausted(view)

    def bought(self, round: int, cost: float, *, audited: bool) -> None:
        """Pass it on."""
        self.rule.bought(round, cost, audited=audited)

    def returned(self, round: int, cost: float, *, audited: bool) -> None:
        """Pass it on."""
        self.rule.returned(round, cost, audited=audited)

    @property
    def layers(self) -> tuple[Rule, ...]:
        """The wrapper itself and what is inside it."""
        return (self, *self.rule.layers)

    @property
    def reservoir(self) -> int:
        """As many as the rule inside needs."""
        return self.rule.reservoir

    @property
    def horizon(self) -> int | None:
        """That of the rule inside."""
        return self.rule.horizon

    def arrivals_left(self, round: int) -> int | None:
        """As many as the rule inside expects."""
        return self.rule.arrivals_left(round)

    @property
    def scores_labels(self) -> bool:
        """As the rule inside does."""
        return self.rule.scores_labels

    @property
    def audit(self) -> "Audit | None":
        """That of the rule inside."""
        return self.rule.audit

    @property
    def check(self) -> "Check | None":
        """That of the rule inside."""
        return self.rule.check


def _plain(value: Any) -> Any:
    return value.describe() if isinstance(value, Rule) else msgspec.to_builtins(value)
