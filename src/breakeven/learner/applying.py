"""How an event happens: it is checked against the state, then the state changes, then listeners are told.

Verbs come here with an event of their own, and `Learner.apply` with those of a log: nothing is decided or
fitted again. An event that cannot have happened changes nothing.
"""

from collections.abc import Callable, Iterable
from typing import Any, get_args

import msgspec

from breakeven.errors import InvalidInput, WrongEvent, expect
from breakeven.learner.book import taken
from breakeven.learner.costs import Costs
from breakeven.learner.state import CHANGING, State, check_aim, check_rule
from breakeven.learner.trail import Auditing
from breakeven.learner.trust import Alarm
from breakeven.rules import Rule, rule_of
from breakeven.rules.audit import AUDIT_REASONS
from breakeven.values import (
    Arrived,
    By,
    Corrected,
    Decision,
    Erased,
    Event,
    Fitted,
    Learnt,
    Refuted,
    Reopened,
    Repriced,
    Told,
    Withdrawn,
    checked_level,
)

DECIDERS = get_args(By)
WRITER, READER = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Decision)


def apply(state: State, event: Event, rules: Iterable[type[Rule]] = ()) -> None:
    """Let an event happen as it did before. An event that cannot have happened changes nothing."""
    _check_next(state, event)
    change = _change(state, event, rules)
    state.phase = CHANGING
    change()
    state.announce(event)


def _check_next(state: State, event: Any) -> None:
    if not isinstance(event, Event):
        expect.refuse("event", "an event of breakeven.values", event)
    if not isinstance(event.stream, str) or event.stream != state.name:
        raise WrongEvent(f"event: expected one of the stream {state.name!r}, got one of {event.stream!r}")
    if expect.whole("number", event.number) != state.number + 1:
        what = "a repeat" if event.number <= state.number else "a gap"
        raise WrongEvent(f"event: expected number {state.number + 1}, got {event.number}: {what}")


def _change(state: State, event: Event, rules: Iterable[type[Rule]]) -> Callable[[], object]:
    """What an event does, all of it checked."""
    match event:
        case Arrived():
            return _arrival(state, event)
        case Told():
            y = state.label("y", event.y)
            entry = state.book.tellable(event.id, y)
            if entry.y is not None:
                raise WrongEvent(f"event: expected a label that is not told, got {event.id!r} told again")
            who = None if event.labeller is None else state.check_labeller(entry, event.labeller)
            rank = None if event.rank is None else expect.probability("rank", event.rank)
            return lambda: state.tell(entry, y, who, rank)
        case Corrected():
            entry, y = state.book.told(event.id), state.label("y", event.y)
            return lambda: state.correct(entry, y)
        case Withdrawn():
            charged = expect.truth("charged", event.charged)
            entry = state.book.withdrawable(event.id, charged)
            if entry.y is None and entry.withdrawn is not None:
                raise WrongEvent(f"event: expected a label to withdraw, got {event.id!r}, which is withdrawn")
            return lambda: state.withdraw(entry, charged)
        case Reopened():
            entry = state.book.reopenable(event.id)
            if entry.y is None and not entry.called_off:
                raise WrongEvent(f"event: expected a label that is told, got {event.id!r} reopened again")
            return lambda: state.reopen(entry)
        case Learnt():
            return _learning(state, event)
        case Fitted():
            parameters, labels = event.parameters, expect.whole("labels", event.labels)
            if not isinstance(parameters, dict):
                expect.refuse("parameters", "named parameters", parameters)
            return lambda: state.adopt(parameters, labels)
        case Repriced():
            return _repricing(state, event, rules)
        case Refuted():
            return _giving_way(state, event)
        case Erased():
            arrival = expect.truth("arrival", event.arrival)
            return lambda: state.erase(arrival)
    expect.refuse("event", "one that can follow Created", event)


def _arrival(state: State, event: Arrived) -> Callable[[], object]:
    point, decision = state.belief.recall(event.x), _checked_decision(event.decision)
    given = None if event.given is None else state.costs.quote(event.given, "given").given
    if decision.round != state.rounds + 1:
        raise WrongEvent(f"round: expected {state.rounds + 1}, got {decision.round}")
    if decision.labeller is not None:
        state.costs.check_labeller(decision.labeller)
    if (known := state.book.find(expect.name_of("id", decision.id))) is not None:
        raise taken(known, "it arrived before")
    predicted = None
    if decision.reason in AUDIT_REASONS and state.auditing is None:
        expect.refuse("reason", "another, as this learner has no audit", decision.reason)
    if decision.reason == "audited" and state.auditing is not None:
        predicted = expect.finite("predicted", event.predicted)
        state.auditing.check_drawn(decision, state.earlier + event.number)

    def arrive() -> None:
        state.book.note_id(decision.id, decision.round)
        state.arrive(decision, point, None, given, predicted)

    return arrive


def _learning(state: State, event: Learnt) -> Callable[[], object]:
    who = None if event.labeller is None else state.costs.check_labeller(event.labeller)
    point, y = state.belief.recall(event.x), state.label("y", event.y)
    if event.id is not None and (known := state.book.find(expect.name_of("id", event.id))) is not None:
        raise taken(known, "it was learnt or arrived before")
    return lambda: state.learn(point, y, who, event.id)


def _repricing(state: State, event: Repriced, rules: Iterable[type[Rule]]) -> Callable[[], object]:
    costs = state.costs.changed(event.label_cost, event.labellers, event.error_cost)
    rule = None if event.rule is None else _read_rule(event.rule, rules)
    _check_repriced(state, costs, rule)
    level = None if event.level is None else checked_level(event.level)
    if level is not None:
        check_aim(state.belief, level)
    return lambda: state.reprice(costs, rule, level)


def _giving_way(state: State, event: Refuted) -> Callable[[], object]:
    if state.checkable is None:
        raise WrongEvent("event: expected a learner whose belief is checked, got one without a Check")
    outdated = min(expect.whole("outdated", event.outdated), state.belief.labels)  # some may be erased
    alarm = Alarm(expect.whole("round", event.round), outdated, expect.positive("widened", event.widened))
    return lambda: state.give_way(alarm)


def _read_rule(data: Any, own: Iterable[type[Rule]]) -> Rule:
    """A rule that an event holds, which starts afresh."""
    try:
        rule = rule_of(data, own)
    except InvalidInput as error:
        hint = "; name a class of your own with apply(event, rules=(…,))"
        raise InvalidInput(f"{error}{hint}") from error
    rule.fresh()
    return rule


def _check_repriced(state: State, costs: Costs, rule: Rule | None) -> None:
    """Raise unless the learner can go on with these costs and this rule."""
    if rule is None:
        state.rule.check_start(0, costs.cheapest)  # the rule has begun already: only the costs are new
        if state.auditing is not None and costs.labellers != state.costs.labellers:
            state.auditing.check_goes_on(costs, state.belief)
    else:
        check_rule(rule, state.belief)
        rule.check_start(state.rounds, costs.cheapest)
        Auditing.of(rule, costs, state.belief)


def _checked_decision(decision: Any) -> Decision:
    """A decision that an event holds, as it is read back once stored, if every field is what it should be."""
    if not isinstance(decision, Decision):
        expect.refuse("decision", "a Decision", decision)
    expect.name_of("id", decision.id)
    expect.truth("wants_label", decision.wants_label)
    expect.positive("cost", decision.cost)
    expect.probability("propensity", decision.propensity)
    expect.text("reason", decision.reason)
    expect.one_of("by", decision.by, DECIDERS)
    try:
        return READER.decode(WRITER.encode(decision))
    except (TypeError, ValueError, OverflowError) as error:
        expect.refuse("decision", "plain text and numbers in every field", str(error), described=True)
