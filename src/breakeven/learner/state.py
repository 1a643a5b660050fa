"""The state of a learner, which is a fold of numbered events.

Every change goes through here, live or replayed; an outcome is applied, and nothing is decided or fitted
again. While something changes, the state is marked. If the change is cut off, by whatever error, the mark
stays: the state is torn, and every further call says so.
"""

from collections.abc import Callable, Iterable, Sequence
from math import isnan
from typing import Any, Literal, Protocol, get_args

import msgspec

from breakeven.beliefs import Aiming, Belief, Checkable, Recognised, Watching, is_checkable, level_of
from breakeven.errors import (
    CalledByListener,
    InvalidInput,
    ListenerFailed,
    TornLearner,
    expect,
)
from breakeven.learner.book import Book, Entry, Warmup
from breakeven.learner.costs import Costs
from breakeven.learner.soundness import check_prediction, refuse_nan
from breakeven.learner.trail import Auditing
from breakeven.learner.trust import LABELS_BEFORE, RANK_DRAWS, Alarm, Trust
from breakeven.rules import RULES, Draws, Rule
from breakeven.values import (
    Cost,
    Decision,
    ErrorCosts,
    Event,
    Prediction,
    View,
)

Listener = Callable[[Any], None]
FittingPlace = Literal["inside", "outside"]

FITTINGS = get_args(FittingPlace)
WHOLE, CHANGING, ANNOUNCING = range(3)  # between calls; during a change; while listeners are told


class Resting(Protocol):
    """What is known of types in arrays, behind a batch; the next batch goes on with it."""

    def note(self, types: Iterable[Any], number: int) -> None:
        """The event with this number changed the labels of these types, or what is believed of all."""
        ...

    def wake(self, state: "State", rounds: int | None) -> Any:
        """The arrays as they are now, unless it takes less to make those of so few rounds anew."""
        ...


class State:
    """Belief and rule, costs, the book, the warm-up, the audit and the check, as events left them."""

    __slots__ = (
        "__weakref__", "ambiguous", "answers_within", "auditing", "belief", "book", "checkable", "costs",
        "draws", "earlier", "fits", "fitting", "label", "listeners", "name", "number", "phase", "quote",
        "recognised", "resting", "rounds", "rule", "rule_follows", "rule_is_ours", "rule_observes",
        "rule_sees_all", "seed", "since", "trust", "warmup",
    )  # fmt: skip

    def __init__(
        self,
        belief: Belief,
        rule: Rule,
        costs: Costs,
        *,
        warmup: int,
        keep: int,
        seed: int,
        name: str,
        fitting: FittingPlace,
        answers_within: Sequence[float] | None = None,
        noises: Sequence[float] | None = None,
    ) -> None:
        self.answers_within = None if answers_within is None else _checked_range(answers_within)
        self.checkable: Checkable | None = None  # the belief, where its claims are tested
        self.seed = expect.whole("seed", seed)
        self.name = name if name == "" else expect.name_of("name", name)
        self.fitting: FittingPlace = expect.one_of("fitting", fitting, FITTINGS)
        self.draws = Draws(self.seed, self.name)
        self.number = 1  # of the last event; the first says how the learner was made
        self.earlier = 0  # events of streams that this one was made from; keys go on counting from there
        self.rounds = 0
        self.fits = 0
        self.ambiguous = 0
        self.warmup = Warmup(expect.whole("warmup", warmup))
        self.book = Book(expect.whole("keep", keep))
        self.trust = Trust()
        self.take_belief(belief)
        self.phase = WHOLE
        self.resting: Resting | None = None
        self.listeners: list[Listener] = []
        self.costs, self.quote = costs, costs.quote()
        self.take_rule(rule, Auditing.of(rule, costs, belief, noises))

    def take_belief(self, belief: Belief) -> None:
        """Go on with this belief; `label` checks labels, as it wants them if it is `Choosy`."""
        self.belief = belief
        self.recognised = belief if isinstance(belief, Recognised) else None
        self.label: Callable[[str, Any], float] = getattr(belief, "label", expect.finite)
        self.book.releases = (belief.release, *self.book.releases[1:])  # the first is the belief's
        if self.checkable is not None:
            self.checkable = belief if is_checkable(belief) else None

    def _settle(self) -> None:
        """Go on with the belief for numbers alone, once labels are known to be numbers."""
        if self.recognised is not None and self.recognised.settled:
            self.take_belief(self.recognised.numbers)

    def take_rule(self, rule: Rule, auditing: Auditing | None) -> None:
        """Go on with this rule and its audit."""
        self.rule, self.auditing, self.since = rule, auditing, self.rounds
        layers = rule.layers
        self.rule_is_ours = all(type(one) in RULES for one in layers)
        self.rule_observes = type(rule).observe is not Rule.observe
        self.rule_follows = self.rule_observes or auditing is not None
        alone = self.rule_is_ours and len(layers) == 1 and not rule.draws
        self.rule_sees_all = not alone or bool(self.costs.labellers)
        forgotten = self.belief.release  # no method of ours: a state in a circle is freed late
        trails = () if auditing is None else (auditing.trail.release,)
        self.book.releases = (forgotten, self.trust.release, *trails)
        if rule.reservoir:
            self.belief.watch(rule.reservoir)
        if rule.check is not None:
            assert is_checkable(self.belief)  # as was checked
            self.checkable = self.belief
            self.checkable.remember(labels=True)
        elif self.checkable is not None:
            self.checkable.remember(labels=False)
            self.checkable = None

    def answer(self, prediction: Prediction) -> Prediction:
        """A prediction as it is given out: a number, within the declared range if there is one."""
        if prediction.f_quantiles is not None or isnan(prediction.mean + prediction.std):
            check_prediction(prediction)
        if self.answers_within is None:
            return prediction
        low, high = self.answers_within
        if low <= prediction.mean <= high:
            return prediction
        return msgspec.structs.replace(prediction, mean=min(max(prediction.mean, low), high))

    # -- whole or torn ---------------------------------------------------------------------------

    def check_whole(self) -> None:
        """Raise if a change was cut off, or if this is called while listeners are being told."""
        if self.phase == ANNOUNCING:
            raise CalledByListener(
                "listener: expected a function that only takes the event, got one that calls the learner; "
                "call it after the verb has returned"
            )
        self.check_not_torn()

    def check_not_torn(self) -> None:
        """Raise if a change was cut off; to look at the learner is allowed to listeners, too."""
        if self.phase == CHANGING:
            raise TornLearner(
                "learner: expected a whole one, got a torn one: a call was cut off in the middle of a "
                "change; restore it from its last snapshot and the events after that"
            )

    def announce(self, *events: Event) -> None:
        """The changes are complete: tell all listeners, whichever of them fail.

        After an interrupt, or where memory ran out, no one knows what listeners heard: the learner is torn.
        """
        try:
            self.phase = ANNOUNCING
            listeners = tuple(self.listeners)
            failures = [
                (event, error)
                for event in events
                for one in listeners
                if (error := _failure(one, event)) is not None
            ]
            self.phase = WHOLE
        except BaseException:
            self.phase = CHANGING
            raise
        if failures:
            event, failure = failures[0]
            raise ListenerFailed(
                f"listener: expected no error, got {type(failure).__name__}: {failure}; "
                f"event {event.number} happened all the same, and every other listener has it"
            ) from failure

    # -- arrivals --------------------------------------------------------------------------------

    def arrive(
        self,
        decision: Decision,
        point: Any,
        view: View | None,
        given: Cost | None = None,
        predicted: float | None = None,
    ) -> None:
        """A point came and was decided on."""
        self.rounds = decision.round
        self.number = number = self.number + 1
        key = self.earlier + number if self.earlier else number
        self.belief.arrive(point, view)
        if decision.wants_label:
            self._buy(Entry(decision.id, key, point, decision, given), decision, view)
        else:
            self.book.pass_by(decision.id, (key, point, decision, given))
        if decision.ambiguous:
            self.ambiguous += 1
        if self.rule_follows and decision.by == "rule":
            self._follow(key, decision, predicted)

    def erase(self, arrival: bool) -> None:
        """An event whose content is gone counts its number, and an arrival its round."""
        self.number += 1
        if arrival:
            self.rounds += 1
            self.belief.arrive(None)

    def _buy(self, entry: Entry, decision: Decision, view: View | None) -> None:
        entry.warmup = self.warmup.ask()
        noise = {} if decision.labeller is None else self.costs.noise_of(decision.labeller)
        self.belief.ask(entry.key, entry.x, view, **noise)
        self.book.ask(entry, decision.cost)
        self.rule.bought(decision.round, decision.cost, audited=decision.reason == "audited")

    def _follow(self, key: int, decision: Decision, predicted: float | None) -> None:
        """The rule answered: it hears what came of it, and its audit goes on."""
        audited = decision.reason == "audited"
        if self.rule_observes:
            drawn = audited or decision.reason == "checked"  # and the rule did decline it
            self.rule.observe(labelled=decision.wants_label and not drawn)
        if self.auditing is None:
            return
        noise_std = None
        if audited:
            noise_std = self.costs.noise_of(decision.labeller).get("noise_std", self.belief.traits.noise_std)
        self.auditing.follow(key, decision, predicted, noise_std)

    # -- labels ----------------------------------------------------------------------------------

    def tell(self, entry: Entry, y: float, labeller: str | None, rank: float | None = None) -> Prediction:
        """The label of an arrival came: it was awaited, or had been withdrawn, or nobody had asked for it.

        Where it tests the belief, `rank` is what `rank` said just before.
        """
        self.number += 1
        if self.resting is not None:
            self.resting.note((entry.x,), self.number)
        if rank is not None:
            self.trust.enter(entry.key, rank)
        noise = {} if labeller is None else self.costs.noise_of(labeller)
        awaited = entry.id in self.book.awaited
        if awaited:
            if noise and labeller == entry.asked_of:
                noise = {}  # as it was when the label was asked for
            prediction = self.belief.tell(entry.key, entry.x, y, **noise)
        else:
            age = self.rounds - entry.round if entry.decision is not None else 0
            prediction = self.belief.learn(entry.x, y, entry.key, age=age, **noise)
        if self.recognised is not None:
            self._settle()
        if awaited and entry.warmup:
            self.warmup.tell()
        if self.auditing is not None:
            self.auditing.tell(entry.key, y, noise.get("noise_std"))
        self.book.tell(entry, y, labeller)  # at the end: it may forget the label at once
        return self.answer(prediction)

    def rank(self, entry: Entry, y: float, labeller: str | None) -> float | None:
        """Where a label, about to be told, lies among all that the belief thinks possible, if it is a test.

        It is one if nobody chose it by hand and it is told for the first time. Among equal labels, a coin
        that belongs to its arrival places it.
        """
        decision = entry.decision
        if self.checkable is None or decision is None or decision.by == "person" or entry.reopened:
            return None
        if entry.id not in self.book.awaited or not self._tests:
            return None
        noise, age = self.costs.noise_of(labeller or entry.asked_of), self.rounds - entry.round
        ranked = self.checkable.rank(entry.x, y, age=age, **noise)
        if ranked is None:
            return None
        below, equal = ranked
        if isnan(below + equal):
            refuse_nan("rank")
        return below + equal * self.draws(entry.round, RANK_DRAWS) if equal else below

    @property
    def _tests(self) -> bool:
        """Whether a label would test the belief now."""
        return self.belief.labels >= LABELS_BEFORE and self.trust.suspect is None

    @property
    def suspicion(self) -> float:
        """What labels lately say against the belief, for the coins of a check; 0 as long as none tests it."""
        return self.trust.test.suspicion if self._tests and self.belief.traits.noise_known else 0.0

    def give_way(self, alarm: Alarm) -> None:
        """Labels refuted the belief; the one that did may have been erased since, and cannot be corrected."""
        self.number += 1
        assert self.checkable is not None
        if self.trust.suspect is None:
            self.trust.suspect = self.earlier + self.number
        self.checkable.give_way(self.trust.suspect, alarm.outdated, alarm.widened)
        self.trust.refute(alarm)

    def _absolve(self, key: int) -> None:
        """The label with this key was wrong: if the belief gave way to it, that is taken back."""
        if self.trust.absolve(key) and is_checkable(self.belief):
            self.belief.return_to(key)

    def check_labeller(self, entry: Entry, labeller: Any) -> str:
        """Who gave the label of this entry."""
        return self.costs.check_labeller(labeller, entry.asked_of)

    def correct(self, entry: Entry, y: float) -> None:
        """A told label changes its value."""
        self.number += 1
        if self.resting is not None:
            self.resting.note((entry.x,), self.number)
        assert entry.y is not None
        self.belief.correct(entry.key, entry.x, entry.y, y)
        self._settle()
        entry.y = y
        self._absolve(entry.key)
        if self.auditing is not None and entry.key in self.auditing.trail:
            self.auditing.trail.correct(entry.key, y)

    def withdraw(self, entry: Entry, charged: bool) -> None:
        """A label goes, awaited or told."""
        self.number += 1
        if self.resting is not None:
            self.resting.note((entry.x,), self.number)
        told, warmup = entry.y is not None, entry.warmup and entry.withdrawn is None
        self.belief.withdraw(entry.key, entry.x, entry.y)
        self._absolve(entry.key)
        given_back = self.book.withdraw(entry, charged=charged)
        if warmup:
            self.warmup.withdraw(told=told)
        if given_back and entry.round > self.since:
            self.rule.returned(entry.round, entry.cost, audited=entry.audited)
        if self.auditing is not None and entry.key in self.auditing.trail:
            self.auditing.trail.withdraw(entry.key)

    def reopen(self, entry: Entry) -> None:
        """A told or withdrawn label is awaited again; one that was told unasked is forgotten."""
        self.number += 1
        if self.resting is not None:
            self.resting.note((entry.x,), self.number)
        if entry.called_off:
            self._ask_again(entry)
            return
        assert entry.y is not None
        if entry.asked:
            self.belief.reopen(entry.key, entry.x, entry.y)
            if entry.warmup:
                self.warmup.reopen()
            if self.auditing is not None and entry.key in self.auditing.trail:
                self.auditing.trail.reopen(entry.key)
        else:
            self.belief.withdraw(entry.key, entry.x, entry.y)
        self._absolve(entry.key)
        self.book.reopen(entry)

    def _ask_again(self, entry: Entry) -> None:
        """A label that was withdrawn is bought again; in an audit it stays missing."""
        noise = self.costs.noise_of(None if entry.decision is None else entry.decision.labeller)
        self.belief.ask(entry.key, entry.x, None, **noise, age=self.rounds - entry.round)
        given_back, again = not entry.paid, self.book.reopen(entry)
        again.warmup = self.warmup.ask()
        if given_back and again.round > self.since:
            self.rule.bought(again.round, again.cost, audited=again.audited)

    def learn(self, point: Any, y: float, labeller: str | None, id: str | None) -> None:
        """A label from elsewhere."""
        self.number += 1
        if self.resting is not None:
            self.resting.note((point,), self.number)
        key = self.earlier + self.number
        self.belief.learn(point, y, None if id is None else key, age=0, **self.costs.noise_of(labeller))
        self._settle()
        if id is not None:
            self.book.note_id(id, 0)
            self.book.settle(Entry(id, key, point, None, y=y, labeller=labeller))

    # -- fits and costs --------------------------------------------------------------------------

    @property
    def fit_due(self) -> bool:
        """Whether the belief's parameters should be fitted to its labels now."""
        return self.belief.fit_due(warm=self.warmup.over)

    def adopt(self, parameters: dict[str, Any], labels: int) -> None:
        """Go on with fitted parameters."""
        try:
            self.belief.adopt(parameters, labels)
        except InvalidInput:  # a belief checks parameters before it takes them up
            self.phase = WHOLE
            raise
        self.number += 1
        if self.resting is not None:
            self.resting.note((), self.number)
        self.fits += 1
        self._settle()

    @property
    def errors(self) -> ErrorCosts:
        """What errors cost, and at which level the belief answers."""
        return ErrorCosts(self.costs.error_cost, level_of(self.belief))

    def reprice(self, costs: Costs, rule: Rule | None, level: float | None = None) -> None:
        """Go on with other costs, and with another rule if there is one; all of it was checked."""
        self.number += 1
        if level is not None:
            check_aim(self.belief, level).aim(level)
        auditing = None if rule is None else Auditing.of(rule, costs, self.belief)
        self.costs, self.quote = costs, costs.quote()
        if rule is None:
            rule, auditing, since = self.rule, self.auditing, self.since
            self.take_rule(rule, auditing)
            self.since = since
            return
        if self.rule.reservoir and not rule.reservoir:
            self.belief.watch(0)
        self.take_rule(rule, auditing)


def _failure(listener: Listener, event: Event) -> Exception | None:
    """Tell a listener, and return what it raised; an interrupt goes on, so that no later event is told."""
    try:
        listener(event)
    except MemoryError:
        raise
    except Exception as error:
        return error
    return None


def _checked_range(limits: Any) -> tuple[float, float]:
    """The two limits that answers keep to."""
    ends = expect.vector("answers_within", limits, 2).tolist()
    if not ends[0] < ends[1]:
        expect.refuse("answers_within", "a lower and then a higher limit", limits)
    return ends[0], ends[1]


def check_rule(rule: Any, belief: Any) -> None:
    """Raise unless it is a rule, and one that the belief can serve."""
    if not isinstance(rule, Rule):
        expect.refuse("rule", "a rule such as Threshold()", rule)
    if rule.reservoir and not isinstance(belief, Watching):
        expect.refuse("belief", "one that can say what a label saves, which this rule needs", belief)
    if rule.check is not None and not is_checkable(belief):
        expect.refuse("belief", "one that can say how likely a label is, which a check needs", belief)


def check_aim(belief: Any, level: float) -> Aiming:
    """The belief, if it can answer at this level."""
    if not isinstance(belief, Aiming):
        expect.refuse("belief", f"one that can answer the {level:g}-quantile, as these costs ask for", belief)
    return belief


def check_belief(belief: Any, warmup: int) -> None:
    """Raise unless it is a belief that can begin with this warm-up."""
    if isinstance(belief, type) or not callable(getattr(belief, "look", None)):
        expect.refuse("belief", "a belief such as TypeMeans(noise_std=1.0)", belief)
    if belief.needs_warmup and warmup == 0:
        raise InvalidInput(
            "warmup: expected at least 1, because the belief's fit waits for the warm-up, got 0; "
            "give a warm-up, or another fit"
        )
