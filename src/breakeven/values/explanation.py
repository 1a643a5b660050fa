"""Why one arrival was decided on as it was, for a person who wants to check it.

An explanation is plain data and a few sentences made of it. What was answered, saved and compared is of the
moment of the decision; similar cases and features are as the belief sees them when it is asked.
"""

from collections.abc import Iterable
from math import inf
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from breakeven.values.amounts import listed, several
from breakeven.values.decision import Decision, words
from breakeven.values.showing import facts_table

MOST_SIMILAR = 3  # cases that are named
TIME = "time"  # the name of what is no feature, but the age of a label
MOST_NAMED, LEAST_NAMED = 3, 0.005  # features that a sentence names, and their least weight
DRAWN_REASONS = ("audited", "checked")  # of labels that the rule itself declined
COST_IS_NO_MATTER = (
    "warmup", "person_asked", "person_declined", "drawn", "not_drawn", "always", "never", "first_of_type",
    "above_moving", "not_above_moving", "below_moving", "not_below_moving", "over_budget", "queue_full",
    "nothing_known", "enough_on_their_way",
)  # fmt: skip


class FeatureWeight(Struct, frozen=True, omit_defaults=True):
    """How much a belief listens to one feature: its share of all that it listens to.

    `position` is the feature's place in a point, None where it is none of them: the type, or time.
    """

    name: str
    weight: float
    position: int | None = None


class NearLabel(Struct, frozen=True):
    """A label that a belief rests on, and how far its case is from another."""

    key: int | None
    x: Any
    y: float
    distance: float | None


class Grounds(Struct, frozen=True):
    """What a belief rests on at one point: how many labels, the nearest of them, and what it listens to.

    `heeded` is how far it listens to features at all; the rest takes all points alike.
    """

    labels: int
    nearest: tuple[NearLabel, ...] = ()
    features: tuple[FeatureWeight, ...] = ()
    heeded: float = 1.0


class SimilarCase(Struct, frozen=True, omit_defaults=True):
    """A labelled case like another; its `id` is None where the learner no longer remembers it.

    `distance` is 0 between equal cases and about 1 between two drawn at random; each feature counts as much
    as the belief listens to it. It is None while the belief cannot tell features apart.
    """

    label: float
    x: Any
    id: str | None = None
    distance: float | None = None


class Explanation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why an arrival was decided on as it was.

    `x` is its point and `label` what was told of it, if anything was. `similar` are the nearest labelled
    cases that came before it, of the `labels` that the belief rests on. `features` are what the belief
    listens to, most first; `heeded` is how far it listens to any. `flips_at` is the cost of a label at which
    the rule's own answer changes: ∞ where no cost is too high, 0 where none is low enough, None where it does
    not depend on the cost or is not known. `missing` says in sentences what is not known any more.
    """

    decision: Decision
    x: Any
    label: float | None = None
    similar: tuple[SimilarCase, ...] = ()
    labels: int = 0
    features: tuple[FeatureWeight, ...] = ()
    heeded: float = 1.0
    flips_at: float | None = None
    missing: tuple[str, ...] = ()

    @property
    def saves_now(self) -> float | None:
        """What the label would have saved at this arrival, in money; None where the rule did not say."""
        return self.decision.worth_now

    @property
    def saves_later(self) -> float | None:
        """What the label would have saved at arrivals to come, in money."""
        worth, now = self.decision.worth, self.decision.worth_now
        if worth is None or now is None:
            return None
        return worth if worth == inf else worth - now

    @property
    def sentences(self) -> list[str]:
        """All of it, for people to read."""
        said = [self.decision.why, self._savings, self._flip, self._cases, self._heard, *self.missing]
        return [sentence for sentence in said if sentence]

    @property
    def why(self) -> str:
        """All of it in one paragraph."""
        return " ".join(self.sentences)

    def __str__(self) -> str:
        """A sentence a line, below what it is about."""
        return "\n".join([f"case {self.decision.id}", *(f"  {one}" for one in self.sentences)])

    @property
    def _savings(self) -> str:
        now, later = self.saves_now, self.saves_later
        if now is None or later is None or inf in (now, later):
            return ""
        more = words(later) if later else "nothing"
        return f"A label would save about {words(now)} at this case and {more} at later ones."

    @property
    def _flip(self) -> str:
        one, flip = self.decision, self.flips_at
        if flip is None:
            return "What a label costs made no difference." if one.reason in COST_IS_NO_MATTER else ""
        if flip == inf:
            return "It would be asked for at any cost."
        if one.reason in DRAWN_REASONS:
            return f"Without the draw it would be asked for only if a label cost less than {words(flip)}."
        if one.wants_label:
            return f"It would not be asked for if a label cost more than {words(flip)}."
        if flip > one.cost:
            return f"The rule would pay up to {words(flip)} for it."
        below = f"It would be asked for if a label cost less than {words(flip)}."
        return below if flip > 0.0 else "It would not be asked for at any cost."

    def _repr_html_(self) -> str:
        why, *others = self.sentences
        rows = [("why", why), *(("", one) for one in others)]
        return facts_table(f"case {self.decision.id}", rows)

    def named(self, features: tuple[FeatureWeight, ...], x: Any, similar: Iterable[Any]) -> "Explanation":
        """The same with other names of features, and points as these say: its own and those of `similar`."""
        cases = zip(self.similar, similar, strict=True)
        said = tuple(replace(one, x=other) for one, other in cases)
        return replace(self, features=features, x=x, similar=said)

    @property
    def _by_type(self) -> str | None:
        """Whether it looks at the type or the cell alone."""
        return next((one.name for one in self.features if one.position is None and one.name != TIME), None)

    @property
    def _cases(self) -> str:
        kind = self._by_type
        yes_no = self.decision.prediction.probability is not None
        named = [_case(one, near=kind is None, yes_no=yes_no) for one in self.similar]
        if kind is not None:
            count = f"The belief rests on {several(self.labels, 'label')} of this {kind}"
            return f"{count}; the last before this case: {listed(named)}." if named else f"{count}."
        if not named:
            return "" if self.labels else "No case has been labelled yet."
        which = "case is" if len(named) == 1 else "cases are"
        far = any(one.distance is not None for one in self.similar)
        scale = "; two cases drawn at random are about 1 apart" if far else ""
        return f"The most similar labelled {which} {listed(named)}{scale}."

    @property
    def _heard(self) -> str:
        if self._by_type is not None or not self.features:
            return ""
        heard = [one for one in self.features if one.weight >= LEAST_NAMED]
        most = [f"{one.name} ({one.weight:.0%})" for one in heard[:MOST_NAMED]]
        rest = f", and gives {1.0 - self.heeded:.0%} of its weight to the view that no feature matters"
        return f"The belief listens most to {listed(most)}{rest if self.heeded < 0.995 else ''}."


def _case(one: SimilarCase, *, near: bool, yes_no: bool) -> str:
    label = ("yes" if one.label else "no") if yes_no else words(one.label)
    name = "an unnamed case" if one.id is None else one.id
    far = "" if one.distance is None or not near else f", {words(one.distance)} away"
    return f"{name} (label {label}{far})"
