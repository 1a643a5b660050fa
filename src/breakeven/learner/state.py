"""What a learner has come to: a fold of events.

Every change is an event that happens here, live or replayed; an outcome is applied, and nothing is decided or
fitted again. An event that cannot have happened raises, and changes nothing.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Literal

from breakeven.beliefs import Belief
from breakeven.errors import InvalidInput, expect
from breakeven.learner import snapshot
from breakeven.learner.auditing import Auditing
from breakeven.learner.book import Book, Label
from breakeven.learner.prices import Prices
from breakeven.learner.warmup import Warmup
from breakeven.rules import Rule
from breakeven.values import (
    Arrived,
    Corrected,
    Event,
    Fitted,
    Learnt,
    Prediction,
    Repriced,
    Told,
    View,
    Withdrawn,
)

By = Literal["rule", "warmup", "person"]


class State:
    """Belief and rule, prices, the book of labels, the warm-up and the audit, as events left them."""

    def __init__(self, belief: Belief, rule: Rule, prices: Prices, *, warmup: int, remember: int) -> None:
        _check_parts(belief, rule, warmup)
        rule.check_start(0, prices.cheapest)
        self.belief, rule = deepcopy(belief), deepcopy(rule)
        rule.fresh()
        self.rounds = 0
        self._fits = 0
        self._ambiguous = 0
        self._warmup = Warmup(warmup)
        self._book = Book(remember)
        self._listeners: list[Callable[[Event], None]] = []
        self._set_rule(rule, Auditing.of(rule, prices, belief))
        self._set_prices(prices)

    def _set_rule(self, rule: Rule, auditing: Auditing | None) -> None:
        self.rule, self._auditing, self._since = rule, auditing, self.rounds
        self._rule_is_ours = all(map(snapshot.is_ours, rule.layers))
        self._rule_observes = type(rule).observe is not Rule.observe
        if rule.reservoir:
            self.belief.watch(rule.reservoir)

    def _set_prices(self, prices: Prices) -> None:
        self._prices, self._quote = prices, prices.quote()
        plain = self._rule_is_ours and len(self.rule.layers) == 1 and not prices.labellers
        self._rule_sees_all = not plain  # which takes time

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event from now on, just after it happened; it must not raise."""
        if not callable(listener):
            expect.refuse("listener", "a function that takes an event", listener)
        self._listeners.append(listener)

    def apply(self, event: Event, rules: Iterable[type[Rule]] = ()) -> None:
        """Let an event happen, as it did before: nothing is decided or fitted again.

        `rules` names classes of your own that the learner may be repriced with.
        """
        match event:
            case Arrived():
                self._replay_arrival(event)
            case Told():
                y = expect.finite("y", event.y)
                id = self._book.check_tellable(event.id, y)
                if id in self._book.told:
                    return
                if event.labeller is not None:
                    self._check_labeller(id, event.labeller)
                self._tell(id, y, event.labeller)
            case Corrected():
                self._correct(event.id, expect.finite("y", event.y))
            case Withdrawn():
                self._withdraw(event.id, expect.truth("charged", event.charged))
            case Learnt():
                self._learn(event)
            case Fitted():
                self.belief.adopt(event.parameters)
                self._fits += 1
            case Repriced():
                self._reprice(event, expect.rows("rules", rules))
            case _:
                expect.refuse("event", "an event of breakeven.values", event)
        self._announce(event)

    def _announce(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    # -- arrivals --------------------------------------------------------------------------------

    def _replay_arrival(self, event: Arrived) -> None:
        point, cost = self.belief.recall(event.x), expect.positive("cost", event.cost)
        wants_label = expect.truth("wants_label", event.wants_label)
        expect.one_of("by", event.by, ("rule", "warmup", "person"))
        propensity = expect.probability("propensity", event.propensity)
        if event.labeller is not None:
            self._prices.check_labeller(event.labeller)
        audited = event.reason == "audited"
        predicted = expect.finite("predicted", event.predicted) if audited else None
        ambiguous, new = expect.truth("ambiguous", event.ambiguous), self._book.check_new(event.id)
        if audited:
            self._check_audited(event)
        id = self._book.id_for(new, self.rounds + 1)
        self._ambiguous += ambiguous
        label = Label(point, cost, asked=event.labeller, audited=audited) if wants_label else None
        self._arrive(id, point, None, label, event.by)
        if event.by == "rule":
            self._follow(id, label, propensity, event.reason, predicted)

    def _check_audited(self, event: Arrived) -> None:
        """What was drawn was drawn by an audit that went on, and bought."""
        if self._auditing is None or event.by != "rule" or not event.wants_label:
            expect.refuse("reason", "no audit, as there was none", event.reason)
        self._auditing.check_audit(event.id)

    def _arrive(self, id: str, point: Any, view: View | None, label: Label | None, by: By) -> None:
        self.rounds += 1
        self.belief.arrive(point, view)
        if label is None:
            self._book.pass_by(id, point, self.rounds)
        else:
            self._buy(id, view, label)
        if self._rule_observes and by == "rule":
            self.rule.observe(labelled=label is not None and not label.audited)

    def _follow(
        self, id: str, label: Label | None, propensity: float, reason: str, predicted: float | None
    ) -> None:
        """The rule answered; its audit goes on."""
        if self._auditing is None:
            return
        noise_std = None
        if label is not None and label.audited:
            noise_std = self._prices.noise_of(label.asked).get("noise_std", self.belief.traits.noise_std)
        self._auditing.follow(id, self.rounds, label is not None, propensity, reason, predicted, noise_std)

    def _buy(self, id: str, view: View | None, label: Label) -> None:
        label.round, label.warmup = self.rounds, self._warmup.ask()
        self.belief.ask(id, label.x, view, **self._prices.noise_of(label.asked))
        self._book.ask(id, label)
        self.rule.bought(label.round, label.cost, audited=label.audited)

    # -- labels ----------------------------------------------------------------------------------

    def _tell(self, id: str, y: float, labeller: str | None) -> Prediction:
        label, noise = self._book.awaited.get(id), self._prices.noise_of(labeller)
        if label is None:
            prediction = self._learn_late(id, y, noise)
        else:
            prediction = self.belief.tell(id, label.x, y, **(noise if labeller != label.asked else {}))
        if self._book.tell(id, y, labeller).warmup:
            self._warmup.tell()
        if self._auditing is not None:
            self._auditing.tell(id, y, noise.get("noise_std"))
        return prediction

    def _learn_late(self, id: str, y: float, noise: dict[str, Any]) -> Prediction:
        """A label that nobody asked for, as old as its arrival: a belief that forgets is told so."""
        point, round = self._book.unasked[id]
        if getattr(self.belief, "forgetting", None) is not None:
            noise = {**noise, "age": self.rounds - round}
        return self.belief.learn(point, y, id, **noise)

    def _learn(self, event: Learnt) -> None:
        if event.labeller is not None:
            self._prices.check_labeller(event.labeller)
        point, y = self.belief.recall(event.x), expect.finite("y", event.y)
        self.belief.learn(point, y, None, **self._prices.noise_of(event.labeller))

    def _check_labeller(self, id: str, labeller: Any) -> str:
        asked = self._book.awaited.get(id)
        return self._prices.check_labeller(labeller, None if asked is None else asked.asked)

    def _correct(self, id: str, y: float) -> None:
        label = self._book.check_told(id)
        assert label.y is not None
        self.belief.correct(id, label.x, label.y, y)
        label.y = y
        if self._auditing is not None:
            self._auditing.correct(id, y)

    def _withdraw(self, id: str, charged: bool) -> None:
        label = self._book.check_held(id)
        self.belief.withdraw(id, label.x, label.y)
        self._book.withdraw(id, charged=charged)
        if label.warmup:
            self._warmup.withdraw(told=label.y is not None)
        if label.round > self._since and not charged:
            self.rule.returned(label.round, label.cost, audited=label.audited)
        if self._auditing is not None:
            self._auditing.withdraw(id)

    def _reprice(self, event: Repriced, own: list[type[Rule]]) -> None:
        prices = self._prices.changed(event.label_cost, event.labellers, event.error_cost)
        if event.rule is None:
            self.rule.check_start(0, prices.cheapest)  # it has begun: only prices are new to it
            if self._auditing is not None:
                self._auditing.check_goes_on(prices, self.belief)
        else:
            rule = snapshot.read_rule(event.rule, own)
            rule.fresh()
            check_rule(rule, self.belief)
            rule.check_start(self.rounds, prices.cheapest)
            if self.rule.reservoir and not rule.reservoir:
                self.belief.watch(0)
            self._set_rule(rule, Auditing.of(rule, prices, self.belief))
        self._set_prices(prices)


def _check_parts(belief: Any, rule: Any, warmup: int) -> None:
    if isinstance(belief, type) or not hasattr(belief, "look"):
        expect.refuse("belief", "a belief such as TypeMeans(noise_std=1.0)", belief)
    check_rule(rule, belief)
    if belief.needs_warmup and warmup == 0:
        raise InvalidInput(
            'warmup: expected at least 1, because fit="after_warmup" waits for it, got 0; '
            "give a warm-up, or another fit"
        )


def check_rule(rule: Any, belief: Any) -> None:
    """Raise unless it is a rule, and one that the belief can serve."""
    if not isinstance(rule, Rule):
        expect.refuse("rule", "a rule such as Threshold()", rule)
    if rule.reservoir and not hasattr(belief, "watch"):
        expect.refuse("belief", "one that can say what a label saves, for this rule", belief)
