"""Why an arrival was decided on as it was: the decision, what the belief rests on, and what would change it.

The decision is kept as it was answered, with what the label was worth, for as long as the arrival is awaited
or remembered. Similar cases and features are asked of the belief as it is now.
"""

from breakeven.beliefs import Explaining
from breakeven.learner.book import Entry, LabelsTold
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.values import Decision, Explanation, Grounds, SimilarCase

ANOTHER_RULE = (
    "The rule has changed since, so it is not known any more at which cost it would answer otherwise."
)
SILENT_BELIEF = "This belief cannot say which cases it takes to be similar, nor what it listens to."
IDS_FORGOTTEN = "A case is unnamed where its label came without an id, or before the last {keep:,} arrivals."


def explain(state: State, entry: Entry, decision: Decision) -> Explanation:
    """Explain the decision on an arrival that is awaited or remembered. Changes nothing."""
    told = state.book.labels_told(state.number)
    grounds = _grounds(state, entry, told)
    similar = tuple(
        SimilarCase(near.y, near.x, told.id_of(near.key), near.distance) for near in grounds.nearest
    )
    return Explanation(
        decision=decision,
        x=state.belief.plain(entry.x),
        label=entry.y,
        similar=similar,
        labels=grounds.labels,
        features=grounds.features,
        heeded=grounds.heeded,
        flips_at=_flips_at(state, decision),
        missing=tuple(_missing(state, decision, similar)),
    )


def _grounds(state: State, entry: Entry, told: LabelsTold) -> Grounds:
    """What the belief rests on, marked as a change: it may reorganise itself inside when it is looked at."""
    belief = state.belief
    if not isinstance(belief, Explaining):
        return Grounds(belief.labels)
    state.phase = CHANGING
    grounds = belief.grounds(entry.x, entry.key, told)
    state.phase = WHOLE
    return grounds


def _flips_at(state: State, decision: Decision) -> float | None:
    """By the rule that answered; a rule that was replaced since has left only what the label was worth."""
    if decision.by != "rule":
        return None
    if decision.round > state.since:
        return state.rule.flips_at(decision, state.belief.traits)
    return None if decision.worth is None else decision.worth / decision.scarcity


def _missing(state: State, decision: Decision, similar: tuple[SimilarCase, ...]) -> list[str]:
    """What is not known any more, in sentences."""
    said = []
    if decision.by == "rule" and decision.round <= state.since and decision.worth is None:
        said.append(ANOTHER_RULE)
    if not isinstance(state.belief, Explaining):
        said.append(SILENT_BELIEF)
    elif any(one.id is None for one in similar):
        said.append(IDS_FORGOTTEN.format(keep=state.book.keep))
    return said
