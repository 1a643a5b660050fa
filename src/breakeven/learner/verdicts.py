"""Answers that are not a rule's, and the check of one that is a user's own."""

from typing import Any

from breakeven.errors import InvalidInput, expect
from breakeven.learner.prices import Quote
from breakeven.values import Verdict

WARMUP = Verdict(True, reason="warmup")
PERSON_ASKED = Verdict(True, reason="person_asked")
PERSON_DECLINED = Verdict(False, reason="person_declined")


def of_person(force: bool, forbidden: str | None) -> Verdict:
    """What a person decided; a limit of the rule holds for people, too."""
    if force and forbidden is not None:
        raise InvalidInput(
            f"force: expected a label that the rule's limits allow, got True ({forbidden}); "
            "wait, or reprice with a wider limit"
        )
    return PERSON_ASKED if force else PERSON_DECLINED


def of_warmup(forbidden: str | None) -> Verdict:
    """Yes, unless a limit of the rule forbids it; then a later arrival takes its place."""
    return WARMUP if forbidden is None else Verdict(False, reason=forbidden)


def checked(verdict: Any, name: str, quote: Quote) -> Verdict:
    """What a rule of the user's own returned, if it is a sound verdict."""
    if not isinstance(verdict, Verdict):
        expect.refuse(f"{name}.decide", "to return a Verdict", verdict)
    propensity, worth, labeller = verdict.propensity, verdict.worth, verdict.labeller
    if propensity is not None:
        propensity = expect.probability(f"{name}.decide propensity", propensity)
    if worth is not None:
        worth = expect.number(f"{name}.decide worth", worth)
    if labeller is not None:
        expect.one_of(f"{name}.decide labeller", labeller, [None, *(one.labeller for one in quote.offers)])
    return Verdict(
        expect.truth(f"{name}.decide wants_label", verdict.wants_label),
        expect.number(f"{name}.decide threshold", verdict.threshold),
        expect.text(f"{name}.decide reason", verdict.reason),
        propensity,
        worth,
        labeller,
    )
