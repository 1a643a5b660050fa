"""Answers that are not a rule's, and the check of one that is a user's own."""

from typing import Any

from breakeven.errors import InvalidInput, expect
from breakeven.learner.prices import Quote
from breakeven.rules import Rule
from breakeven.rules.audit import REASONS as OF_AUDIT
from breakeven.values import Verdict

PERSON_DECLINED = Verdict(False, reason="person_declined")


def of_person(force: bool, forbidden: str | None, labeller: str | None) -> Verdict:
    """What a person decided, and who is asked then; a limit of the rule holds for people, too."""
    if force and forbidden is not None:
        raise InvalidInput(
            f"force: expected a label that the rule's limits allow, got True ({forbidden}); "
            "wait, or reprice with a wider limit"
        )
    return Verdict(True, reason="person_asked", labeller=labeller) if force else PERSON_DECLINED


def of_warmup(forbidden: str | None, labeller: str | None) -> Verdict:
    """Yes, and who is asked, unless a limit of the rule forbids it; then a later arrival takes its place."""
    if forbidden is not None:
        return Verdict(False, reason=forbidden)
    return Verdict(True, reason="warmup", labeller=labeller)


def checked(verdict: Any, rule: Rule, quote: Quote) -> Verdict:
    """What a rule of the user's own returned, if it is a sound verdict."""
    name = type(rule).__name__
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
        _reason(f"{name}.decide reason", verdict.reason, rule),
        propensity,
        worth,
        labeller,
    )


def _reason(name: str, reason: Any, rule: Rule) -> str:
    """Any, but for those of audits where there is none."""
    text = expect.text(name, reason)
    if rule.audit is None and text in OF_AUDIT:
        expect.refuse(name, "one that is not reserved for audits", text)
    return text
