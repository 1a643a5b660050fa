"""One decision: a person's, the warm-up's or the rule's, with the whole answer.

Everything here only reads the state, except for the last step, which counts the arrival.
"""

from math import inf, isnan
from typing import Any

from breakeven.errors import InvalidInput, expect
from breakeven.learner.book import Entry, taken
from breakeven.learner.costs import Quote
from breakeven.learner.soundness import check_prediction, refuse_nan
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.rules import Rule
from breakeven.rules.audit import AUDIT_REASONS
from breakeven.values import Arrived, By, Cost, Decision, Verdict, View, best_offer

PERSON_DECLINED = Verdict(False, reason="person_declined")


def decide(
    state: State, id: str | None, point: Any, quote: Quote, force: bool | None, view: View
) -> Decision:
    """Decide on an arrival at which the belief was just looked, count it and tell the listeners."""
    by: By = "rule"
    prediction, uncertainty = view.prediction, view.uncertainty
    if prediction.f_quantiles is not None or isnan(uncertainty + prediction.mean + prediction.std):
        check_prediction(prediction, uncertainty)
    round, checkable = state.rounds + 1, state.checkable
    numbered = id is None and round >= state.book.next_number  # as almost always: the id is the round
    if force is None and not (state.warmup.wanted and state.warmup.open):
        view.round, view.price = round, quote.price
        if state.rule_sees_all:
            _show(state, view, quote)
        if checkable is not None:
            view.suspicion, view.level = state.suspicion, state.errors.level
        verdict = state.rule.decide(view)
        if not state.rule_is_ours:
            verdict = _checked(verdict, state.rule, quote)
    elif force is None:
        verdict, by = _of_warmup(*_limits(state, view, quote)), "warmup"
    else:
        forbidden, labeller = _limits(state, view, quote) if force else (None, None)
        verdict, by = _of_person(force, forbidden, labeller), "person"
    if verdict.labeller is not None:
        quote = quote.of(verdict.labeller)
    wants_label, reason, propensity = verdict.wants_label, verdict.reason, verdict.propensity
    if propensity is None:
        propensity = 1.0 if wants_label else 0.0
    worth, now, stretch = verdict.worth, verdict.worth_now, view.stretch
    if worth is not None and isnan(worth):
        refuse_nan("worth")
    exact = stretch == 1.0
    decision = Decision(
        str(round) if numbered else id or state.book.automatic_id(round),
        wants_label,
        prediction if state.answers_within is None else state.answer(prediction),
        uncertainty,
        verdict.threshold,
        quote.cost,
        propensity,
        reason,
        exact,
        not exact and by == "rule" and view.ambiguous(verdict.threshold),
        stretch,
        quote.labeller,
        None if worth is None else worth * state.costs.error_cost,
        by,
        round,
        quote.offers,
        None if checkable is None else state.trust.doubt,
        None if now is None else now * state.costs.error_cost,
        verdict.scarcity,
    )
    predicted = None
    if reason == "audited":
        _check_audited(state, decision)
        state.phase = CHANGING
        predicted = state.answer(
            state.belief.look(point).prediction
        ).mean  # looked at alone: a batch gives the same bits
    state.phase = CHANGING
    if not numbered:
        state.book.note_id(decision.id, round)
    state.arrive(decision, point, view, quote.given, predicted)
    if state.listeners:
        plain = state.belief.plain(point)
        state.announce(Arrived(state.number, state.name, plain, decision, quote.given, predicted))
    state.phase = WHOLE
    return decision


def again(state: State, entry: Entry, point: Any, given: Cost | None, force: bool | None) -> Decision:
    """The answer to an arrival that was decided on before, if it is the same arrival."""
    plain, decision = state.belief.plain, entry.decision
    if decision is None:
        raise taken(entry, "it was learnt, and is no arrival")
    forced = decision.wants_label if decision.by == "person" else None
    if plain(entry.x) != plain(point):
        raise taken(entry, "it arrived with another point")
    if given != entry.given or forced != force:
        raise taken(entry, "it arrived with another cost or another person's decision")
    return decision


def _check_audited(state: State, decision: Decision) -> None:
    """Raise unless there is an audit that can have drawn this arrival: a user's rule may claim so wrongly."""
    if state.auditing is None:
        expect.refuse("reason", "another, as this learner has no audit", decision.reason)
    state.auditing.check_drawn(decision, state.earlier + state.number + 1)


def _of_person(force: bool, forbidden: str | None, labeller: str | None) -> Verdict:
    """What a person decided, and who is asked then; a limit of the rule holds for people, too."""
    if force and forbidden is not None:
        raise InvalidInput(
            f"force: expected a label that the rule's limits allow, got True ({forbidden}); "
            "wait, or reprice with a wider limit"
        )
    return Verdict(True, reason="person_asked", labeller=labeller) if force else PERSON_DECLINED


def _of_warmup(forbidden: str | None, labeller: str | None) -> Verdict:
    """Yes, and who is asked; no if a limit forbids it, and then a later arrival is labelled instead."""
    if forbidden is not None:
        return Verdict(False, reason=forbidden)
    return Verdict(True, reason="warmup", labeller=labeller)


def _limits(state: State, view: View, quote: Quote) -> tuple[str | None, str | None]:
    """The reason why the rule's limits forbid this label, or None; and who is asked if they do not."""
    view.round, view.price = state.rounds + 1, quote.price
    _show(state, view, quote)
    forbidden = state.rule.forbids(view)
    return forbidden, None if forbidden is not None else best_offer(state.rule.offers(view)).labeller


def _show(state: State, view: View, quote: Quote) -> None:
    view.offers, view.cost, view.draw = quote.offers, quote.cost, state.draws
    view.spent, view.awaited = state.book.spend.value, len(state.book.awaited)


def _checked(verdict: Any, rule: Rule, quote: Quote) -> Verdict:
    """What a rule of the user's own returned, if it is a sound verdict."""
    name = type(rule).__name__
    if not isinstance(verdict, Verdict):
        expect.refuse(f"{name}.decide", "to return a Verdict", verdict)
    propensity, worth, labeller = verdict.propensity, verdict.worth, verdict.labeller
    if propensity is not None:
        propensity = expect.probability(f"{name}.decide propensity", propensity)
    if worth is not None:
        worth = _sound_number(f"{name}.decide worth", worth)
    if labeller is not None:
        expect.one_of(f"{name}.decide labeller", labeller, [None, *(one.labeller for one in quote.offers)])
    now = verdict.worth_now
    return Verdict(
        expect.truth(f"{name}.decide wants_label", verdict.wants_label),
        _sound_number(f"{name}.decide threshold", verdict.threshold, missing=True),
        _reason(f"{name}.decide reason", verdict.reason, rule),
        propensity,
        worth,
        labeller,
        None if now is None else _sound_number(f"{name}.decide worth_now", now),
        expect.positive(f"{name}.decide scarcity", verdict.scarcity),
    )


def _sound_number(name: str, value: Any, *, missing: bool = False) -> float:
    """A number or ∞, and NaN where it may be `missing`: JSON holds no other that is not finite."""
    number = expect.number(name, value)
    if number == -inf or (isnan(number) and not missing):
        expect.refuse(name, "a number, or ∞", value)
    return number


def _reason(name: str, reason: Any, rule: Rule) -> str:
    """Any reason, except the reasons of audits where there is no audit."""
    text = expect.text(name, reason)
    if rule.audit is None and text in AUDIT_REASONS:
        expect.refuse(name, "one that is not reserved for audits", text)
    return text
