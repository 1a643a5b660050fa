"""One belief, one rule, a label cost, and the book of labels.

Every verb checks its arguments first, then lets an event happen: the state is a fold of events, and `apply`
replays them. Nothing changes when a verb raises.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from breakeven.beliefs import Belief
from breakeven.errors import (
    BreakevenError,
    ConflictingLabel,
    DuplicateId,
    InvalidInput,
    SnapshotError,
    expect,
)
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
NOT_BY_RULE = {WARMUP.reason, PERSON_ASKED.reason, PERSON_DECLINED.reason}


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
        self._rule_observes = type(rule).observe is not Rule.observe
        self.rounds = 0
        self._fits = 0
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
            self._book.check_new(id)
        if force is not None and not isinstance(force, (bool, np.bool_)):
            expect.refuse("force", "True, False or None", force)
        return self._decide(id, point, price, force)

    def tell(self, id: str, y: float, *, labeller: str | None = None) -> Prediction:
        """The label of an arrival came, now or days later; the updated prediction there.

        `labeller` records who gave it.
        """
        y = expect.finite("y", y)
        if labeller is not None and not isinstance(labeller, str):
            expect.refuse("labeller", "a name, or None", labeller)
        told = self._book.check_tellable(id, y)
        if told is not None:
            return self.belief.predict(told.x)
        prediction = self._tell(id, y, labeller)
        self._announce(Told(id, y, labeller))
        return self.belief.predict(self._book.told[id].x) if self._fit_if_due() else prediction

    def correct(self, id: str, y: float) -> None:
        """That label was wrong; only means change, decisions already made stand."""
        self.apply(Corrected(id, expect.finite("y", y)))

    def withdraw(self, id: str, *, charged: bool = False) -> None:
        """The label will never come, or must go; `charged` says whether it was paid for."""
        if not isinstance(charged, bool):
            expect.refuse("charged", "True or False", charged)
        self.apply(Withdrawn(id, charged))

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
        """Decide on a batch in its order; all of it is checked before the first counts."""
        points = self.belief.points(X)
        prices = self._prices(costs, len(points))
        names = self._names(ids, len(points))
        return [
            self._decide(name, point, price, None)
            for point, price, name in zip(points, prices, names, strict=True)
        ]

    def tell_many(self, ids: Iterable[str], ys: Iterable[float]) -> list[Prediction]:
        """Tell a batch in its order; all of it is checked before the first counts."""
        names = list(ids)
        values = [expect.finite(f"ys[{i}]", y) for i, y in enumerate(ys)]
        _same_length("ys", values, len(names))
        batch: dict[str, float] = {}
        for id, y in zip(names, values, strict=True):
            self._book.check_tellable(id, y)
            if batch.setdefault(id, y) != y:
                raise ConflictingLabel(
                    f"id {id!r}: expected one label, got {batch[id]!r} and {y!r} in one batch"
                )
        return [self.tell(id, y) for id, y in zip(names, values, strict=True)]

    def predict_many(self, X: Any) -> list[Prediction]:
        """What is known of f at many points. Changes nothing."""
        return self.belief.predict_many(self.belief.points(X))

    def _prices(self, costs: Iterable[float] | None, count: int) -> list[float]:
        if costs is None:
            return [self.label_cost] * count
        prices = [expect.positive(f"costs[{i}]", cost) for i, cost in enumerate(costs)]
        return _same_length("costs", prices, count)

    def _names(self, ids: Iterable[str] | None, count: int) -> list[str] | list[None]:
        if ids is None:
            return [None] * count
        names = _same_length("ids", [self._book.check_new(id) for id in ids], count)
        if len(set(names)) < count:
            twice = next(id for id in names if names.count(id) > 1)
            raise DuplicateId(f"ids: expected each id once, got {twice!r} twice")
        return names

    # -- looking at it ---------------------------------------------------------------------------

    @property
    def pending(self) -> Mapping[str, Label]:
        """Labels asked for and not told, by id, oldest first."""
        return MappingProxyType(self._book.awaited)

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
        )

    # -- events ----------------------------------------------------------------------------------

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event from now on, just after it happened."""
        self._listeners.append(listener)

    def apply(self, event: Event) -> None:
        """Let an event happen, as it did before: nothing is decided or fitted again."""
        match event:
            case Arrived():
                point = self.belief.recall(event.x)
                id = self._book.id_for(self._book.check_new(event.id), self.rounds + 1)
                self._arrive(id, point, None, event.wants_label, event.cost, event.reason)
            case Told():
                if self._book.check_tellable(event.id, event.y) is not None:
                    return
                self._tell(event.id, event.y, event.labeller)
            case Corrected():
                self._correct(event.id, event.y)
            case Withdrawn():
                self._withdraw(event.id, event.charged)
            case Learnt():
                self.belief.learn(self.belief.recall(event.x), event.y)
            case Fitted():
                self.belief.adopt(event.parameters)
                self._fits += 1
            case _:
                expect.refuse("event", "an event of breakeven.values", event)
        self._announce(event)

    def _announce(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    def _decide(self, id: str | None, point: Any, price: float, force: bool | None) -> Decision:
        view = self.belief.look(point)
        verdict = self._judge(view, price, force)
        id = self._book.id_for(id, self.rounds + 1)
        wants_label, reason, propensity = verdict.wants_label, verdict.reason, verdict.propensity
        if propensity is None:
            propensity = 1.0 if wants_label else 0.0
        self._arrive(id, point, view, wants_label, price, reason)
        if self._listeners:
            self._announce(Arrived(id, self.belief.plain(point), wants_label, price, propensity, reason))
        return Decision(
            id, wants_label, view.prediction, view.uncertainty, verdict.threshold, price, propensity, reason
        )

    def _judge(self, view: View, price: float, force: bool | None) -> Verdict:
        if force is not None:
            return PERSON_ASKED if force else PERSON_DECLINED
        if self._warmup.asked < self._warmup.wanted:
            return WARMUP
        view.round = self.rounds + 1
        view.price = price
        view.draw = self._draws
        verdict = self.rule.decide(view)
        if type(verdict) is not Verdict or type(verdict.wants_label) is not bool:
            expected = "to return a Verdict whose wants_label is True or False"
            expect.refuse(f"{type(self.rule).__name__}.decide", expected, verdict)
        return verdict

    def _arrive(
        self, id: str, point: Any, view: View | None, wants_label: bool, cost: float, reason: str
    ) -> None:
        self.rounds += 1
        if wants_label:
            self.belief.expect(id, point, view)
            self._book.ask(id, Label(point, cost, self.rounds, self._warmup.ask()))
        else:
            self._book.pass_by(id, point)
        self.belief.arrive(point, view)
        if self._rule_observes and reason not in NOT_BY_RULE:
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
            }
        )

    @classmethod
    def restore(cls, blob: bytes, rules: Iterable[type[Rule]] = ()) -> "Learner":
        """A learner from its snapshot; `rules` names rule classes of your own that it may use."""
        content = snapshot.unseal(blob)
        try:
            return cls._from(content, rules)
        except BreakevenError:
            raise
        except Exception as error:
            raise SnapshotError(
                f"snapshot: expected a learner's state, got something else ({error})"
            ) from error

    @classmethod
    def _from(cls, content: dict[str, Any], rules: Iterable[type[Rule]]) -> "Learner":
        belief = snapshot.unpack_belief(content["belief"])
        learner = cls(belief, snapshot.unpack_rule(content["rule"], rules), **content["arguments"])
        learner.belief = belief
        learner._book.load(content["book"], belief.recall)
        learner._warmup = msgspec.convert(content["warmup"], Warmup)
        learner.rounds, learner._fits = content["rounds"], content["fits"]
        return learner


def _check_parts(belief: Any, rule: Any, warmup: int) -> None:
    if isinstance(belief, type) or not hasattr(belief, "look"):
        expect.refuse("belief", "a belief such as TypeMeans(noise_std=1.0)", belief)
    if not isinstance(rule, Rule):
        expect.refuse("rule", "a rule such as Threshold()", rule)
    if belief.needs_warmup and warmup == 0:
        raise InvalidInput('warmup: expected at least 1, because fit="after_warmup" waits for it, got 0')


def _same_length(name: str, values: list[Any], count: int) -> list[Any]:
    if len(values) != count:
        raise InvalidInput(f"{name}: expected {count}, one for each point, got {len(values)}")
    return values
