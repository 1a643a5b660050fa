"""One belief, one rule, a label cost, and the book of labels.

Every verb checks its arguments first, then lets an event happen: the state is a fold of events, and `apply`
replays them. Nothing changes when a verb raises.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

from breakeven.beliefs import Belief
from breakeven.errors import InvalidInput, expect
from breakeven.learner import snapshot, verdicts
from breakeven.learner.auditing import Auditing
from breakeven.learner.book import Label
from breakeven.learner.prices import Prices, Quote
from breakeven.learner.state import By, State, check_rule
from breakeven.learner.summary import Summary, horizon_passed
from breakeven.learner.warmup import Warmup
from breakeven.ledger import Ledger
from breakeven.rules import Draws, Rule
from breakeven.values import (
    Arrived,
    Corrected,
    Decision,
    Fitted,
    Labeller,
    Learnt,
    Prediction,
    Repriced,
    Told,
    Verdict,
    View,
    Withdrawn,
    best_offer,
)

Cost = float | Mapping[str, float]

BLOCK = 64  # arrivals looked at together; more bring nothing


class Pending(msgspec.Struct, frozen=True):
    """A label asked for and not told: where, at what price, in which round, and of whom, if of several."""

    x: Any
    cost: float
    round: int
    labeller: str | None = None


class Learner(State):
    """Decides for every arrival whether its label is worth its price, and predicts either way.

    It keeps its own copies of belief and rule, so one belief can start many learners. Labels have one
    `label_cost`, or one for each of the `labellers`; a unit of error costs `error_cost`. The first `warmup`
    labels are bought whatever the rule says; `remember` unasked arrivals may still be told later. A learner
    is not thread-safe: give it one writer at a time.

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
        label_cost: float | None = None,
        labellers: Mapping[str, Labeller] | None = None,
        error_cost: float = 1.0,
        warmup: int = 0,
        seed: int = 0,
        remember: int = 10_000,
    ) -> None:
        prices = Prices.checked(label_cost, labellers, error_cost)
        self.warmup = expect.whole("warmup", warmup)
        self.seed = expect.whole("seed", seed)
        self.remember = expect.whole("remember", remember)
        super().__init__(belief, rule, prices, warmup=self.warmup, remember=self.remember)
        self._draws = Draws(self.seed)

    # -- one at a time ---------------------------------------------------------------------------

    def decide(
        self, x: Any, *, cost: Cost | None = None, id: str | None = None, force: bool | None = None
    ) -> Decision:
        """Count an arrival and decide on it; `force` is a person's override, and is recorded.

        `cost` is what this label costs; where there are labellers, prices of some of them by name.
        """
        point = self.belief.point(x)
        quote = self._quote if cost is None else self._prices.quote(cost)
        if id is not None:
            id = self._book.check_new(id)
        if force is not None:
            force = expect.truth("force", force)
        return self._decide(id, point, quote, force, self.belief.look(point))

    def tell(self, id: str, y: float, *, labeller: str | None = None) -> Prediction:
        """The label of an arrival came, now or days later; the updated prediction there.

        `labeller` records who gave it. Where that is not the one who was asked, it counts with the noise of
        who gave it; the bill stays as agreed.
        """
        y = expect.finite("y", y)
        id = self._book.check_tellable(id, y)
        if labeller is not None:
            labeller = self._check_labeller(id, labeller)
        if id in self._book.told:
            return self.belief.predict(self._book.told[id].x)
        prediction = self._tell(id, y, labeller)
        if self._listeners:
            self._announce(Told(id, y, labeller))
        return self.belief.predict(self._book.told[id].x) if self._fit_if_due() else prediction

    def correct(self, id: str, y: float) -> None:
        """That label was wrong; only means change, decisions already made stand."""
        self.apply(Corrected(expect.text("id", id), expect.finite("y", y)))

    def withdraw(self, id: str, *, charged: bool = False) -> None:
        """The label will never come, or must go; `charged` says whether it was paid for."""
        self.apply(Withdrawn(expect.text("id", id), expect.truth("charged", charged)))

    def learn(self, x: Any, y: float, *, labeller: str | None = None) -> None:
        """A label from elsewhere, a history or a gift: no arrival, no cost."""
        if labeller is not None:
            labeller = self._prices.check_labeller(labeller)
        self.apply(Learnt(self.belief.plain(self.belief.point(x)), expect.finite("y", y), labeller))
        self._fit_if_due()

    def reprice(
        self,
        *,
        label_cost: float | None = None,
        labellers: Mapping[str, Labeller] | None = None,
        error_cost: float | None = None,
        rule: Rule | None = None,
    ) -> None:
        """Go on with other prices or another rule, which starts afresh, as does its audit; the belief stays.

        >>> from breakeven import Learner, Never, Threshold, TypeMeans
        >>> learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
        >>> learner.reprice(label_cost=3.0, rule=Never())
        >>> learner.decide("flu").wants_label, learner.label_cost
        (False, 3.0)
        """
        if rule is not None:
            check_rule(rule, self.belief)
        elif label_cost is None and labellers is None and error_cost is None:
            expect.refuse("reprice", "label_cost, labellers, error_cost or rule", "nothing", described=True)
        prices = self._prices.changed(label_cost, labellers, error_cost)
        event = Repriced(
            label_cost=None if label_cost is None else prices.label_cost,
            labellers=None if labellers is None else prices.labellers,
            error_cost=None if error_cost is None else prices.error_cost,
            rule=None if rule is None else snapshot.pack_rule(rule),
        )
        self.apply(event, () if rule is None else {type(one) for one in rule.layers})

    def predict(self, x: Any) -> Prediction:
        """What is known of f at x. Changes nothing."""
        return self.belief.predict(self.belief.point(x))

    # -- many at once ----------------------------------------------------------------------------

    def decide_many(
        self, X: Any, *, costs: Iterable[Cost] | None = None, ids: Iterable[str] | None = None
    ) -> list[Decision]:
        """Decide on a batch in its order; all of it is checked before the first counts.

        Should a rule of your own raise in the middle, what it decided before that stands.
        """
        from breakeven.learner import bulk  # which knows the learner

        points = self.belief.points(X)
        if costs is None and ids is None and bulk.pays(self, len(points)):
            return bulk.decide_many(self, points)
        quotes = self._quotes(costs, len(points))
        names = [None] * len(points) if ids is None else self._book.check_all_new(expect.rows("ids", ids))
        _same_length("ids", names, len(points))
        decisions = []
        for low in range(0, len(points), BLOCK):
            looks = self.belief.look_many(points[low : low + BLOCK])
            for i in range(low, min(low + BLOCK, len(points))):
                decision = self._decide(names[i], points[i], quotes[i], None, looks.look(i - low))
                decisions.append(decision)
                if decision.wants_label:
                    looks.asked(i - low, **self._prices.noise_of(decision.labeller))
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

    def _quotes(self, costs: Iterable[Cost] | None, count: int) -> list[Quote]:
        if costs is None:
            return [self._quote] * count
        quotes = [
            self._prices.quote(cost, f"costs[{i}]") for i, cost in enumerate(expect.rows("costs", costs))
        ]
        _same_length("costs", quotes, count)
        return quotes

    # -- looking at it ---------------------------------------------------------------------------

    @property
    def label_cost(self) -> float:
        """What a label costs; where there are labellers, of the one that is asked by default."""
        return self._quote.cost

    @property
    def fits(self) -> int:
        """How often the belief was fitted to its labels."""
        return self._fits

    @property
    def labellers(self) -> dict[str, Labeller]:
        """Who gives labels, by name; empty where there is one label cost."""
        return dict(self._prices.labellers)

    @property
    def error_cost(self) -> float:
        """The money that a unit of error costs."""
        return self._prices.error_cost

    @property
    def pending(self) -> dict[str, Pending]:
        """Labels asked for and not told, by id, oldest first; a copy, so tell while you go through it."""
        plain = self.belief.plain
        return {
            id: Pending(plain(one.x), one.cost, one.round, one.asked)
            for id, one in self._book.awaited.items()
        }

    @property
    def ledger(self) -> Ledger:
        """The bill so far. Nobody told the truth, so only an audit says how large errors are."""
        book, auditing = self._book, self._auditing
        return Ledger(
            rounds=self.rounds,
            labels=book.bought,
            label_spend=book.spend.value,
            awaited=len(book.awaited),
            error_cost=self.error_cost,
            audit=None if auditing is None else auditing.report(),
        )

    def summary(self) -> Summary:
        """Where the learner stands, to print or to encode."""
        return Summary(
            ledger=self.ledger,
            belief={"kind": type(self.belief).__name__, **self.belief.describe()},
            rule=self.rule.describe(),
            label_cost=self.label_cost,
            labellers=self.labellers,
            error_cost=self.error_cost,
            horizon_passed=horizon_passed(self.rule, self.rounds),
            labels_known=self.belief.labels,
            warmup_left=self._warmup.left,
            fits=self._fits,
            ambiguous=self._ambiguous,
        )

    # -- deciding --------------------------------------------------------------------------------

    def _decide(self, id: str | None, point: Any, quote: Quote, force: bool | None, view: View) -> Decision:
        by: By
        if force is not None:
            forbidden, labeller = self._limits(view, quote) if force else (None, None)
            verdict, by = verdicts.of_person(force, forbidden, labeller), "person"
        elif self.warmup and self._warmup.open:
            verdict, by = verdicts.of_warmup(*self._limits(view, quote)), "warmup"
        else:
            verdict, by = self._judge(view, quote), "rule"
        if verdict.labeller is not None:
            quote = quote.of(verdict.labeller)
        wants_label, propensity, reason = verdict.wants_label, verdict.propensity, verdict.reason
        if propensity is None:
            propensity = 1.0 if wants_label else 0.0
        id = self._book.id_for(id, self.rounds + 1)
        exact = view.stretch == 1.0
        ambiguous = not exact and by == "rule" and view.ambiguous(verdict.threshold)
        self._ambiguous += ambiguous
        label = predicted = None
        if wants_label:
            label = Label(point, quote.cost, asked=quote.labeller, audited=reason == "audited")
            predicted = self._look_again(point) if label.audited else None
        self._arrive(id, point, view, label, by)
        if by == "rule":
            self._follow(id, label, propensity, reason, predicted)
        if self._listeners:
            plain, asked = self.belief.plain(point), quote.labeller
            answer = (wants_label, quote.cost, propensity, reason, by, ambiguous, asked, predicted)
            self._announce(Arrived(id, plain, *answer))
        return Decision(
            id,
            wants_label,
            view.prediction,
            view.uncertainty,
            verdict.threshold,
            quote.cost,
            propensity,
            reason,
            exact,
            ambiguous,
            view.stretch,
            quote.labeller,
            None if verdict.worth is None else verdict.worth * self._prices.error_cost,
        )

    def _look_again(self, point: Any) -> float:
        """What is predicted there, to the bit that one look alone gives, also in a batch."""
        return self.belief.look(point).prediction.mean

    def _judge(self, view: View, quote: Quote) -> Verdict:
        view.round = self.rounds + 1
        view.price = quote.price
        view.draw = self._draws
        if self._rule_sees_all:
            self._show(view, quote)
        verdict = self.rule.decide(view)
        return verdict if self._rule_is_ours else verdicts.checked(verdict, self.rule, quote)

    def _limits(self, view: View, quote: Quote) -> tuple[str | None, str | None]:
        """Why the rule lets nobody buy this label; or else None, and of whom it can be bought."""
        view.round, view.price, view.draw = self.rounds + 1, quote.price, self._draws
        self._show(view, quote)
        forbidden = self.rule.forbids(view)
        return forbidden, None if forbidden is not None else best_offer(self.rule.offers(view)).labeller

    def _show(self, view: View, quote: Quote) -> None:
        view.offers, view.cost = quote.offers, quote.cost
        view.spent, view.awaited = self._book.spend.value, len(self._book.awaited)

    def _fit_if_due(self) -> bool:
        """The learner says when to fit, the belief does it; seeded by the number of fits so far."""
        if not self.belief.fit_due(warm=self._warmup.over):
            return False
        random = np.random.default_rng([self.seed, self._fits])
        self.apply(Fitted(self.belief.fit(self.belief.fit_job(), random)))
        return True

    # -- keeping ---------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Everything, as bytes that `restore` reads: the next decision is the same to the bit."""
        return snapshot.seal(
            {
                "arguments": {
                    **msgspec.to_builtins(self._prices.arguments()),
                    "warmup": self.warmup,
                    "seed": self.seed,
                    "remember": self.remember,
                },
                "rule": snapshot.pack_rule(self.rule),
                "since": self._since,
                "audit": None if self._auditing is None else self._auditing.state(),
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
            arguments = content["arguments"]
            labellers = msgspec.convert(arguments.pop("labellers"), dict[str, Labeller] | None)
            learner = cls(belief, rule, labellers=labellers, **arguments)
            learner._set_rule(rule, Auditing.of(rule, learner._prices, learner.belief))  # not a fresh one
            learner.belief.load(content["belief"]["state"])
            learner._book.load(content["book"], learner.belief.recall)
            learner._warmup = msgspec.convert(content["warmup"], Warmup)
            learner.rounds, learner._fits = content["rounds"], content["fits"]
            learner._ambiguous, learner._since = content["ambiguous"], content["since"]
            if learner._auditing is not None:
                learner._auditing.load(content["audit"])
        return learner


def _same_length(name: str, values: list[Any], count: int) -> None:
    if len(values) != count:
        raise InvalidInput(f"{name}: expected {count}, as many as there are of the others, got {len(values)}")
