"""Log messages of a learner, for people: a fit was made, labels refuted the belief, a snapshot was restored.

They are written where something is done for the first time, never in replay. Programs listen to events.
"""

import logging

from breakeven.beliefs import says_yes_or_no
from breakeven.learner.state import State

logger = logging.getLogger("breakeven.learner")


def fitted(state: State, labels: int) -> None:
    """A fit looked at this number of labels."""
    logger.info("stream %r: fit %d, to %d labels", state.name, state.fits, labels)


def refuted(state: State, outdated: int, widened: float) -> None:
    """Labels refuted the belief, which set some labels aside or widened its claims."""
    done = f"its claims are {widened:.3g} times as wide now"
    if says_yes_or_no(state.belief):
        done = "no change explains it, and claims about yes and no cannot be made wider"
    if outdated:
        done = f"it set aside its first {outdated} labels, from before a change"
    logger.warning("stream %r, round %d: labels refuted the belief; %s", state.name, state.rounds, done)


def restored(state: State) -> None:
    """A learner goes on from a snapshot."""
    logger.info(
        "stream %r: restored after event %d, with %d arrivals and %d labels awaited",
        *(state.name, state.number, state.rounds, len(state.book.awaited)),
    )
