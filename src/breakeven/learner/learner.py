"""One belief, one rule, a label cost, and the book of labels.

Every verb checks its arguments first, then lets an event happen: the state is a fold of events, and `apply`
replays them. Nothing changes when a verb raises.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Literal

import msgspec
import numpy as np

from breakeven.beliefs import Belief
from breakeven.errors import InvalidInput, expect
from breakeven.learner import snapshot
from breakeven.learner.book import Book, Label
from breakeven.learner.summary import Summary
from breakeven.learner.warmup import Warmup
from breakeven.ledger import Ledger
from breakeven.rules import Draws, Rule
from breakeven.values import (
    Arrived,
    Corrected,
    Decision,
    Event,
    Fitted,
    Learnt,
    Prediction,
    Told,
    Verdict,
    View,
    Withdrawn,
)

WARMUP = Verdict(True, reason="warmup")
PERSON_ASKED = Verdict(True, reason="person_asked")
PERSON_DECLINED = Verdict(False, reason="person_declined")

By = Literal["rule", "warmup", "person"]

BLOCK = 64  # arrivals looked at together; more bring nothing


class Pending(msgspec.Struct, frozen=True):
    """A label asked for and not told: where, at what price, and in which round."""

    x: Any
    cost: float
    round: int


class Learner:
    """Decides for every arrival whether its label is worth its price, and predicts either way.

    It keeps its own copies of belief and rule, so one belief can start many learners. `warmup` first labels
    are bought whatever the rule says; `remember` unasked arrivals may still be told later. A learner is not
    thread-safe: give it one writer at a time.

    >>> from breakeven import Learner, Threshold, TypeMeans
    >>> learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
    >>> decision = learner.decide("flu")
    >>> decision.wants_label
    True
    >>> learner.tell(decision.id, 38.9).mean
    38.9
    """

    def __init__(
        self,
        belief: Belief,
        rule: Rule,
        *,
        label_cost: float,
        warmup: int = 0,
        seed: int = 0,
        remember: int = 10_000,
    ) -> None:
        self.label_cost = expect.positive("label_cost", label_cost)
        self.warmup = expect.whole("warmup", warmup)
        self.seed = expect.whole("seed", seed)
        self.remember = expect.whole("remember", remember)
        _check_parts(belief, rule, self.warmup)
        self.belief = deepcopy(belief)
        self.rule = deepcopy(rule)
        self._rule_is_ours = snapshot.is_ours(rule)
        self._rule_observes = type(rule).observe is not Rule.observe
        self.rounds = 0
        self._fits = 0
        self._ambiguous = 0
        self._draws = Draws(self.seed)
        self._warmup = Warmup(self.warmup)
        self._book = Book(self.remember)
        self._listeners: list[Callable[[Event], None]] = []

    # -- one at a time ---------------------------------------------------------------------------

    def decide(
        self, x: Any, *, cost: float | None = None, id: str | None = None, force: bool | None = None
    ) -> Decision:
        """Count an arrival and decide on it; `force` is a person's override, and is recorded."""
        point = self.belief.point(x)
        price = self.label_cost if cost is None else expect.positive("cost", cost)
        if id is not None:
            id = self._book.check_new(id)
        if force is not None:
            force = expect.truth("force", force)
        return self._decide(id, point, price, force, self.belief.look(point))

    def tell(self, id: str, y: float, *, labeller: str | None = None) -> Prediction:
        """The label of an arrival came, now or days later; the updated prediction there.

        `labeller` records who gave it.
        """
        y = expect.finite("y", y)
        id = self._book.check_tellable(id, y)
        if labeller is not None:
            labeller = expect.text("labeller", labeller)
        if id in self._book.told:
            return self.belief.predict(self._book.told[id].x)
        prediction = self._tell(id, y, labeller)
        self._announce(Told(id, y, labeller))
        return self.belief.predict(self._book.told[id].x) if self._fit_if_due() else prediction

    def correct(self, id: str, y: float) -> None:
        """That label was wrong; only means change, decisions already made stand."""
        self.apply(Corrected(expect.text("id", id), expect.finite("y", y)))

    def withdraw(self, id: str, *, charged: bool = False) -> None:
        """The label will never come, or must go; `charged` says whether it was paid for."""
        self.apply(Withdrawn(expect.text("id", id), expect.truth("charged", charged)))

    def learn(self, x: Any, y: float) -> None:
        """A label from elsewhere, a history or a gift: no arrival, no cost."""
        self.apply(Learnt(self.belief.plain(self.belief.point(x)), expect.finite("y", y)))
        self._fit_if_due()

    def predict(self, x: Any) -> Prediction:
        """What is known of f at x. Changes nothing."""
        return self.belief.predict(self.belief.point(x))

    # -- many at once ----------------------------------------------------------------------------

    def decide_many(
        self, X: Any, *, costs: Iterable[float] | None = None, ids: Iterable[str] | None = None
    ) -> list[Decision]:
        """Decide on a batch in its order; all of it is checked before the first counts.

        Should a rule of your own raise in the middle, what it decided before that stands.
        """
        points = self.belief.points(X)
        prices = self._prices(costs, len(points))
        names = [None] * len(points) if ids is None else self._book.check_all_new(expect.rows("ids", ids))
        _same_length("ids", names, len(points))
        decisions = []
        for low in range(0, len(points), BLOCK):
            looks = self.belief.look_many(points[low : low + BLOCK])
            for i in range(low, min(low + BLOCK, len(points))):
                decision = self._decide(names[i], points[i], prices[i], None, looks.look(i - low))
                decisions.append(decision)
                if decision.wants_label:
                    looks.asked(i - low)
        return decisions

    def tell_many(self, ids: Iterable[str], ys: Iterable[float]) -> list[Prediction]:
        """Tell a batch in its order; all of it is checked before the first counts."""
        given, values = expect.rows("ids", ids), expect.rows("ys", ys)
        labels = [expect.finite(f"ys[{i}]", y) for i, y in enumerate(values)]
        _same_length("ys", labels, len(given))
        names = self._book.check_all_tellable(given, labels)
        return [self.tell(id, y) for id, y in zip(names, labels, strict=True)]

    def predict_many(self, X: Any) -> list[Prediction]:
        """What is known of f at many points. Changes nothing."""
        return self.belief.predict_many(self.belief.points(X))

    def _prices(self, costs: Iterable[float] | None, count: int) -> list[float]:
        if costs is None:
            return [self.label_cost] * count
        prices = [expect.positive(f"costs[{i}]", cost) for i, cost in enumerate(expect.rows("costs", costs))]
        _same_length("costs", prices, count)
        return prices

    # -- looking at it ---------------------------------------------------------------------------

    @property
    def pending(self) -> dict[str, Pending]:
        """Labels asked for and not told, by id, oldest first; a copy, so tell while you go through it."""
        plain = self.belief.plain
        return {id: Pending(plain(one.x), one.cost, one.round) for id, one in self._book.awaited.items()}

    @property
    def ledger(self) -> Ledger:
        """The bill so far. Prediction errors are unknown: nobody told the truth."""
        book = self._book
        return Ledger(
            rounds=self.rounds, labels=book.bought, label_spend=book.spend.value, awaited=len(book.awaited)
        )

    def summary(self) -> Summary:
        """Where the learner stands, to print or to encode."""
        return Summary(
            ledger=self.ledger,
            belief={"kind": type(self.belief).__name__, **self.belief.describe()},
            rule={"kind": type(self.rule).__name__, **msgspec.to_builtins(self.rule)},
            label_cost=self.label_cost,
            labels_known=self.belief.labels,
            warmup_left=self._warmup.left,
            fits=self._fits,
            ambiguous=self._ambiguous,
        )

    # -- events ----------------------------------------------------------------------------------

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event from now on, just after it happened; it must not raise."""
        if not callable(listener):
            expect.refuse("listener", "a function that takes an event", listener)
        self._listeners.append(listener)

    def apply(self, event: Event) -> None:
        """Let an event happen, as it did before: nothing is decided or fitted again."""
        match event:
            case Arrived():
                self._replay_arrival(event)
            case Told():
                y = expect.finite("y", event.y)
                id = self._book.check_tellable(event.id, y)
                if id in self._book.told:
                    return
                if event.labeller is not None:
                    expect.text("labeller", event.labeller)
                self._tell(id, y, event.labeller)
            case Corrected():
                self._correct(event.id, expect.finite("y", event.y))
            case Withdrawn():
                self._withdraw(event.id, expect.truth("charged", event.charged))
            case Learnt():
                self.belief.learn(self.belief.recall(event.x), expect.finite("y", event.y))
            case Fitted():
                self.belief.adopt(event.parameters)
                self._fits += 1
            case _:
                expect.refuse("event", "an event of breakeven.values", event)
        self._announce(event)

    def _announce(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    def _replay_arrival(self, event: Arrived) -> None:
        point, cost = self.belief.recall(event.x), expect.positive("cost", event.cost)
        wants_label = expect.truth("wants_label", event.wants_label)
        expect.one_of("by", event.by, ("rule", "warmup", "person"))
        id = self._book.id_for(self._book.check_new(event.id), self.rounds + 1)
        self._ambiguous += expect.truth("ambiguous", event.ambiguous)
        self._arrive(id, point, None, wants_label, cost, event.by)

    def _decide(self, id: str | None, point: Any, price: float, force: bool | None, view: View) -> Decision:
        by: By
        if force is not None:
            verdict, by = PERSON_ASKED if force else PERSON_DECLINED, "person"
        elif self._warmup.open:
            verdict, by = WARMUP, "warmup"
        else:
            verdict, by = self._judge(view, price), "rule"
        wants_label, propensity = verdict.wants_label, verdict.propensity
        if propensity is None:
            propensity = 1.0 if wants_label else 0.0
        id = self._book.id_for(id, self.rounds + 1)
        exact = view.stretch == 1.0
        ambiguous = not exact and by == "rule" and view.ambiguous(verdict.threshold)
        self._ambiguous += ambiguous
        self._arrive(id, point, view, wants_label, price, by)
        if self._listeners:
            plain = self.belief.plain(point)
            self._announce(Arrived(id, plain, wants_label, price, propensity, verdict.reason, by, ambiguous))
        return Decision(
            id,
            wants_label,
            view.prediction,
            view.uncertainty,
            verdict.threshold,
            price,
            propensity,
            verdict.reason,
            exact,
            ambiguous,
        )

    def _judge(self, view: View, price: float) -> Verdict:
        view.round = self.rounds + 1
        view.price = price
        view.draw = self._draws
        verdict = self.rule.decide(view)
        return verdict if self._rule_is_ours else _checked_verdict(verdict, type(self.rule).__name__)

    def _arrive(self, id: str, point: Any, view: View | None, wants_label: bool, cost: float, by: By) -> None:
        self.rounds += 1
        if wants_label:
            self.belief.expect(id, point, view)
            self._book.ask(id, Label(point, cost, self.rounds, self._warmup.ask()))
        else:
            self._book.pass_by(id, point)
        self.belief.arrive(point, view)
        if self._rule_observes and by == "rule":
            self.rule.observe(labelled=wants_label)

    def _tell(self, id: str, y: float, labeller: str | None) -> Prediction:
        if id in self._book.awaited:
            prediction = self.belief.tell(id, self._book.awaited[id].x, y)
        else:
            prediction = self.belief.learn(self._book.unasked[id], y, id)
        if self._book.tell(id, y, labeller).warmup:
            self._warmup.tell()
        return prediction

    def _correct(self, id: str, y: float) -> None:
        label = self._book.check_told(id)
        assert label.y is not None
        self.belief.correct(id, label.x, label.y, y)
        label.y = y

    def _withdraw(self, id: str, charged: bool) -> None:
        label = self._book.check_held(id)
        self.belief.withdraw(id, label.x, label.y)
        self._book.withdraw(id, charged=charged)
        if label.warmup:
            self._warmup.withdraw(told=label.y is not None)

    def _fit_if_due(self) -> bool:
        """The learner says when to fit, the belief does it; seeded by the number of fits so far."""
        if not self.belief.fit_due(warm=self._warmup.over):
            return False
        self.apply(Fitted(self.belief.fit(np.random.default_rng([self.seed, self._fits]))))
        return True

    # -- keeping ---------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Everything, as bytes that `restore` reads: the next decision is the same to the bit."""
        return snapshot.seal(
            {
                "arguments": {
                    "label_cost": self.label_cost,
                    "warmup": self.warmup,
                    "seed": self.seed,
                    "remember": self.remember,
                },
                "rule": snapshot.pack_rule(self.rule),
                "belief": snapshot.pack_belief(self.belief),
                "book": self._book.state(self.belief.plain),
                "warmup": msgspec.to_builtins(self._warmup),
                "rounds": self.rounds,
                "fits": self._fits,
                "ambiguous": self._ambiguous,
            }
        )

    @classmethod
    def restore(
        cls, blob: bytes, rules: Iterable[type[Rule]] = (), beliefs: Iterable[type[Belief]] = ()
    ) -> "Learner":
        """A learner from its snapshot; `rules` and `beliefs` name classes of your own that it may use."""
        own_rules, own_beliefs = expect.rows("rules", rules), expect.rows("beliefs", beliefs)
        content = snapshot.unseal(blob)
        with snapshot.reading():
            rule = snapshot.unpack_rule(content["rule"], own_rules)
            belief = snapshot.unpack_belief(content["belief"], own_beliefs)
            learner = cls(belief, rule, **content["arguments"])
            learner.belief.load(content["belief"]["state"])
            learner._book.load(content["book"], learner.belief.recall)
            learner._warmup = msgspec.convert(content["warmup"], Warmup)
            learner.rounds, learner._fits = content["rounds"], content["fits"]
            learner._ambiguous = content["ambiguous"]
        return learner


def _check_parts(belief: Any, rule: Any, warmup: int) -> None:
    if isinstance(belief, type) or not hasattr(belief, "look"):
        expect.refuse("belief", "a belief such as TypeMeans(noise_std=1.0)", belief)
    if not isinstance(rule, Rule):
        expect.refuse("rule", "a rule such as Threshold()", rule)
    if belief.needs_warmup and warmup == 0:
        raise InvalidInput(
            'warmup: expected at least 1, because fit="after_warmup" waits for it, got 0; '
            "give a warm-up, or another fit"
        )


def _checked_verdict(verdict: Any, name: str) -> Verdict:
    """What a rule of the user's own returned, if it is a sound verdict."""
    if not isinstance(verdict, Verdict):
        expect.refuse(f"{name}.decide", "to return a Verdict", verdict)
    wants_label = expect.truth(f"{name}.decide wants_label", verdict.wants_label)
    threshold, propensity = expect.number(f"{name}.decide threshold", verdict.threshold), verdict.propensity
    if propensity is not None:
        propensity = expect.probability(f"{name}.decide propensity", propensity)
    reason = expect.text(f"{name}.decide reason", verdict.reason)
    return Verdict(wants_label, threshold, reason, propensity)


def _same_length(name: str, values: list[Any], count: int) -> None:
    if len(values) != count:
        raise InvalidInput(f"{name}: expected {count}, as many as there are of the others, got {len(values)}")
