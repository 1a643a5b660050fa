"""One belief, one rule, what labels cost, and the book of arrivals.

Every verb checks its arguments first, then lets an event happen: the state is a fold of events, and `apply`
replays them. A call that is refused changes nothing; a call that is cut off leaves a learner that says so.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from breakeven.beliefs import BELIEFS, Belief, says_yes_or_no
from breakeven.errors import ConflictingLabel, WrongEvent, expect
from breakeven.learner import notices
from breakeven.learner.applying import apply
from breakeven.learner.batches import decide_many, predict_many, tell_many
from breakeven.learner.book import AwaitedLabels, Entry, taken, unknown
from breakeven.learner.costs import Costs, GivenCost, StoredLabellers, check_labels_are_numbers
from breakeven.learner.deciding import again, decide
from breakeven.learner.explaining import explain
from breakeven.learner.fits import FitFound, FitJob, Fits
from breakeven.learner.snapshot import config_of, content_of, parts_of, seal, state_of, unseal
from breakeven.learner.state import (
    CHANGING,
    WHOLE,
    FittingPlace,
    Listener,
    State,
    check_aim,
    check_belief,
    check_rule,
)
from breakeven.learner.summary import Summary, horizon_passed
from breakeven.ledger import Ledger
from breakeven.rules import RULES, Rule, rule_data
from breakeven.values import (
    Corrected,
    Created,
    Decision,
    Decisions,
    ErrorCosts,
    Event,
    Explanation,
    Labeller,
    Learnt,
    Prediction,
    Predictions,
    Refuted,
    Reopened,
    Repriced,
    Standing,
    Told,
    Withdrawn,
)
from breakeven.values.showing import lines_table

NOT_UNEVEN = (None,) * 4  # no costs of answers too low and too high are given


class Learner:
    """Decides for every arrival whether its label is worth its cost, and predicts either way.

    It keeps its own copies of belief and rule, so one belief can start many learners. Labels have one
    `label_cost`, or one for each of the `labellers`; a unit of error costs `error_cost`, 1 unless given, or
    an answer too low by 1 costs `under_cost` and one too high `over_cost`: the belief then answers a quantile
    of the label. For yes/no labels these are `miss_cost` and `false_alarm_cost`. The first `warmup` labels
    are bought whatever the rule says. The last `keep` arrivals whose labels are told, or were never asked
    for, are remembered: within these an id counts once, and labels can be told, corrected, withdrawn and
    reopened. `name` is that of the stream: random numbers come from it and the `seed`. With
    fitting="outside" fits are not run inside `tell` and `learn`; see `fit_job`. Where f is known to lie
    within two limits, `answers_within=(low, high)` moves every answer beyond them to the nearer one; nothing
    else changes. A learner is not thread-safe: give it one writer at a time.

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
        error_cost: float | None = None,
        under_cost: float | None = None,
        over_cost: float | None = None,
        miss_cost: float | None = None,
        false_alarm_cost: float | None = None,
        warmup: int = 0,
        seed: int = 0,
        keep: int = 10_000,
        name: str = "",
        fitting: FittingPlace = "inside",
        answers_within: tuple[float, float] | None = None,
    ) -> None:
        uneven = under_cost, over_cost, miss_cost, false_alarm_cost
        errors = ErrorCosts.checked(error_cost, *uneven)
        costs = Costs.checked(label_cost, labellers, errors.unit)
        check_belief(belief, expect.whole("warmup", warmup))
        check_labels_are_numbers(labellers, belief)
        check_rule(rule, belief)
        rule.check_start(0, costs.cheapest)
        rule = deepcopy(rule)
        rule.fresh()
        belief = deepcopy(belief)
        if uneven != NOT_UNEVEN:
            check_aim(belief, errors.level).aim(errors.level)
        belief.detach()
        self.state = State(
            belief,
            rule,
            costs,
            warmup=warmup,
            keep=keep,
            seed=seed,
            name=name,
            fitting=fitting,
            answers_within=answers_within,
        )
        self._fits = Fits(self.state)
        started = self.snapshot() if _has_lived(belief) else None
        self.created: Created | None = Created(1, name, self.config(), started)

    # -- one at a time ---------------------------------------------------------------------------

    def decide(
        self, x: Any, *, cost: GivenCost | None = None, id: str | None = None, force: bool | None = None
    ) -> Decision:
        """Count an arrival and decide on it; `force` is a person's override, and is recorded.

        `cost` is what this label costs; where there are labellers, the costs of some of them by name. An id
        that is remembered, with the same point, cost and force, gets the same answer again and counts once.
        """
        state = self.state
        if state.phase:
            state.check_whole()
        belief = state.belief
        point = belief.point(x)
        quote = state.quote if cost is None else state.costs.quote(cost)
        if force is not None:
            force = expect.truth("force", force)
        if id is not None:
            id = expect.name_of("id", id)
            if (entry := state.book.find(id)) is not None:
                return again(state, entry, point, quote.given, force)
        state.phase = CHANGING
        view = belief.look(point)
        state.phase = WHOLE
        return decide(state, id, point, quote, force, view)

    def tell(self, id: str, y: float, *, labeller: str | None = None) -> Prediction:
        """The label of an arrival came, now or days later; returns the updated prediction there.

        `labeller` records who gave it. Where that is not the one who was asked, it counts with the noise of
        who gave it; the bill stays as agreed. A label that was withdrawn, or not asked for, is learnt.
        """
        state = self.state
        if state.phase:
            state.check_whole()
        y = state.label("y", y)
        entry = state.book.tellable(id, y)
        if labeller is not None:
            labeller = state.check_labeller(entry, labeller)
        if entry.y is not None:
            return self._predict(entry.x)
        state.phase = CHANGING
        rank = None if state.checkable is None else state.rank(entry, y, labeller)
        prediction = state.tell(entry, y, labeller, rank)
        if state.listeners:
            state.announce(Told(state.number, state.name, entry.id, y, labeller, rank))
        else:
            state.phase = WHOLE
        changed = state.trust.suspect is not None and self._give_way()
        changed |= state.belief.fit_due(warm=state.warmup.over) and self._fits.run_inside()
        return self._predict(entry.x) if changed else prediction

    def _give_way(self) -> bool:
        """A label refuted the belief: set aside what a change has outdated, or else widen all claims."""
        state = self.state
        if state.checkable is None:
            return False
        state.phase = CHANGING
        outdated = state.checkable.outdated()
        state.phase = WHOLE
        widened = 1.0 if outdated else state.trust.wider
        self._apply(Refuted, state.rounds, outdated, widened)
        notices.refuted(state, outdated, widened)
        return True

    def correct(self, id: str, y: float) -> None:
        """That label was wrong; only means change, decisions already made stand."""
        self.state.check_whole()
        entry, y = self.state.book.told(id), self.state.label("y", y)
        if entry.y != y:
            self._apply(Corrected, entry.id, y)

    def withdraw(self, id: str, *, charged: bool = False) -> None:
        """The label will not come, or must go; `charged` says whether it is paid for all the same.

        A label that was charged, then came and is withdrawn again, stays charged.
        """
        self.state.check_whole()
        charged = expect.truth("charged", charged)
        entry = self.state.book.withdrawable(id, charged)
        if entry.y is not None or entry.withdrawn is None:
            self._apply(Withdrawn, entry.id, charged)

    def reopen(self, id: str) -> None:
        """The label was told or withdrawn by mistake: it is awaited again, and nothing is bought twice.

        What a withdrawal gave back is paid again. A label told unasked, or after its withdrawal, is forgotten
        instead of awaited.
        """
        self.state.check_whole()
        entry = self.state.book.reopenable(id)
        if entry.y is not None or entry.called_off:
            self._apply(Reopened, entry.id)

    def learn(self, x: Any, y: float, *, id: str | None = None, labeller: str | None = None) -> None:
        """A label from elsewhere, a history or a gift: no arrival, no cost.

        With an `id` it can be corrected and withdrawn as long as it is remembered.
        """
        state = self.state
        state.check_whole()
        point, y = state.belief.point(x), state.label("y", y)
        if labeller is not None:
            labeller = state.costs.check_labeller(labeller)
        if id is not None and (entry := state.book.find(expect.name_of("id", id))) is not None:
            return self._learnt_again(entry, point, y)
        self._apply(Learnt, state.belief.plain(point), y, labeller, id)
        self._fits.run_inside()

    def reprice(
        self,
        *,
        label_cost: float | None = None,
        labellers: Mapping[str, Labeller] | None = None,
        error_cost: float | None = None,
        under_cost: float | None = None,
        over_cost: float | None = None,
        miss_cost: float | None = None,
        false_alarm_cost: float | None = None,
        rule: Rule | None = None,
    ) -> None:
        """Go on with other costs or another rule, which starts afresh, as does its audit; the belief stays.

        An `error_cost` alone keeps how answers too low and too high compare; their two costs change it.

        >>> from breakeven import Learner, Never, Threshold, TypeMeans
        >>> learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
        >>> learner.reprice(label_cost=3.0, rule=Never())
        >>> learner.decide("flu").wants_label, learner.label_cost
        (False, 3.0)
        """
        state = self.state
        state.check_whole()
        if rule is not None:
            check_rule(rule, state.belief)
        uneven = under_cost, over_cost, miss_cost, false_alarm_cost
        if (label_cost, labellers, error_cost, rule) == (None,) * 4 and uneven == NOT_UNEVEN:
            expect.refuse("reprice", "label_cost, labellers, error_cost or rule", "nothing", described=True)
        level = None
        if uneven != NOT_UNEVEN:
            errors = ErrorCosts.checked(error_cost, *uneven)
            error_cost, level = errors.unit, errors.level
        costs = state.costs.changed(label_cost, labellers, error_cost)
        check_labels_are_numbers(labellers, state.belief)
        fresh = None
        if rule is not None:
            fresh = deepcopy(rule)
            fresh.fresh()
        event = Repriced(
            state.number + 1,
            state.name,
            label_cost=None if label_cost is None else costs.label_cost,
            labellers=None if labellers is None else costs.labellers,
            error_cost=None if error_cost is None else costs.error_cost,
            rule=None if fresh is None else rule_data(fresh),
            level=level,
        )
        apply(state, event, () if rule is None else {type(one) for one in rule.layers})

    def predict(self, x: Any) -> Prediction:
        """What is known of f at x. Changes nothing."""
        self.state.check_whole()
        return self._predict(self.state.belief.point(x))

    def _predict(self, point: Any) -> Prediction:
        """Predict, marked as a change: a belief may reorganise itself inside when it is looked at."""
        self.state.phase = CHANGING
        prediction = self.state.belief.predict(point)
        self.state.phase = WHOLE
        return self.state.answer(prediction)

    def _apply(self, kind: type[Event], *content: Any) -> None:
        state = self.state
        apply(state, kind(state.number + 1, state.name, *content))

    def _learnt_again(self, entry: Entry, point: Any, y: float) -> None:
        plain = self.state.belief.plain
        if entry.decision is not None or plain(entry.x) != plain(point):
            raise taken(entry, "it belongs to an arrival, or to another point")
        if entry.y is None:
            raise ConflictingLabel(
                f"id {entry.id!r}: expected a label that was not withdrawn, got {y!r}; "
                "use tell to learn it again"
            )
        if entry.y != y:
            raise ConflictingLabel(
                f"id {entry.id!r}: expected the label {entry.y!r} learnt before, got {y!r}; "
                "use correct to change it"
            )

    # -- many at once ----------------------------------------------------------------------------

    def decide_many(
        self, X: Any, *, costs: Iterable[GivenCost] | None = None, ids: Iterable[str] | None = None
    ) -> Decisions:
        """Decide on a batch in its order; all of it is checked before the first counts.

        An id that is remembered, with the same point and cost, gets the same answer again and counts once. If
        a rule of your own raises in the middle, the decisions before that stand. The answer is a sequence of
        decisions, and its `columns` are arrays. Types under our rules are decided in compiled loops where
        that pays: listeners then hear of the batch once all of it has happened.
        """
        self.state.check_whole()
        return decide_many(self.state, X, costs, ids)

    def tell_many(self, ids: Iterable[str], ys: Iterable[float]) -> Predictions:
        """Tell a batch in its order; all of it is checked before the first counts.

        The answer is a sequence of the updated predictions, and its `columns` are arrays. Awaited labels of
        types are told in compiled loops where that pays, as arrivals are decided in `decide_many`.
        """
        self.state.check_whole()
        return tell_many(self.state, ids, ys, self.tell, self._fits.run_inside)

    def predict_many(self, X: Any) -> Predictions:
        """What is known of f at many points: a sequence, whose `columns` are arrays. Changes nothing."""
        self.state.check_whole()
        return predict_many(self.state, X)

    # -- fits ------------------------------------------------------------------------------------

    @property
    def fit_due(self) -> bool:
        """Whether the belief should be fitted to its labels now; not while a job is out."""
        self.state.check_not_torn()
        return self._fits.due

    def fit(self) -> bool:
        """Run the fit that is due and go on with what it found. Returns whether a fit was due.

        A learner that fits inside does so by itself; this runs a fit that was lost between two events.
        """
        self.state.check_whole()
        return self._fits.run_if_due()

    def fit_job(self) -> FitJob:
        """The fit to the labels told so far, as plain data that any process can run with `run_fit`."""
        self.state.check_whole()
        return self._fits.job()

    def adopt(self, found: FitFound) -> None:
        """Go on with what a fit found."""
        self.state.check_whole()
        self._fits.adopt(found)

    # -- looking at it ---------------------------------------------------------------------------

    @property
    def belief(self) -> Belief:
        """What is thought of f."""
        return self.state.belief

    @property
    def rule(self) -> Rule:
        """When a label is worth its price."""
        return self.state.rule

    @property
    def rounds(self) -> int:
        """How many arrivals were counted."""
        return self.state.rounds

    @property
    def name(self) -> str:
        """The name of the stream; empty unless it was given."""
        return self.state.name

    @property
    def seed(self) -> int:
        """Where random numbers come from."""
        return self.state.seed

    @property
    def warmup(self) -> int:
        """How many first labels are bought whatever the rule says."""
        return self.state.warmup.wanted

    @property
    def fitting(self) -> FittingPlace:
        """Whether fits run inside `tell` and `learn`, or outside."""
        return self.state.fitting

    @property
    def answers_within(self) -> tuple[float, float] | None:
        """The limits that answers keep to; None where there are none."""
        return self.state.answers_within

    @property
    def keep(self) -> int:
        """How many arrivals are remembered whose labels are not awaited."""
        return self.state.book.keep

    @property
    def number(self) -> int:
        """The number of the last event."""
        return self.state.number

    @property
    def fits(self) -> int:
        """How often the belief was fitted to its labels."""
        return self.state.fits

    @property
    def label_cost(self) -> float:
        """What a label costs; where there are labellers, that of the one who is asked by default."""
        return self.state.quote.cost

    @property
    def labellers(self) -> dict[str, Labeller]:
        """Who gives labels, by name; empty where there is one label cost."""
        return dict(self.state.costs.labellers)

    @property
    def error_cost(self) -> float:
        """The money that a unit of error costs."""
        return self.state.costs.error_cost

    @property
    def under_cost(self) -> float:
        """What an answer too low by 1 costs; of yes/no labels, a miss."""
        return self.state.errors.under

    @property
    def over_cost(self) -> float:
        """What an answer too high by 1 costs; of yes/no labels, a false alarm."""
        return self.state.errors.over

    @property
    def awaited(self) -> AwaitedLabels:
        """Labels asked for and not told, by id, oldest first."""
        self.state.check_not_torn()
        return AwaitedLabels(self.state.book, self.state.belief.plain)

    def decision(self, id: str) -> Decision:
        """The decision on an arrival that is awaited or remembered, as it was answered."""
        self.state.check_not_torn()
        return self._decided(id)[1]

    def _decided(self, id: str) -> tuple[Entry, Decision]:
        name = expect.name_of("id", id)
        entry = self.state.book.find(name)
        if entry is None or entry.decision is None:
            raise unknown(name, "an arrival that is awaited or remembered")
        return entry, entry.decision

    def explain(self, id: str) -> Explanation:
        """Why an arrival that is awaited or remembered was decided on as it was. Changes nothing.

        >>> from breakeven import Learner, Threshold, TypeMeans
        >>> learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
        >>> learner.tell(learner.decide("flu").id, 38.9).mean
        38.9
        >>> print(learner.explain(learner.decide("flu").id).sentences[-1])
        The belief rests on 1 label of this type; the last before this case: 1 (label 38.9).
        """
        self.state.check_whole()
        return explain(self.state, *self._decided(id))

    @property
    def ledger(self) -> Ledger:
        """The bill so far. The true values are not known, so only an audit can say how large errors are."""
        self.state.check_not_torn()
        book, auditing = self.state.book, self.state.auditing
        return Ledger(
            rounds=self.rounds,
            labels=book.bought,
            label_spend=book.spend.value,
            awaited=len(book.awaited),
            error_cost=self.error_cost,
            audit=None if auditing is None else auditing.report(),
            standing=self._standing,
        )

    @property
    def _standing(self) -> Standing | None:
        state = self.state
        return None if state.checkable is None else state.trust.standing(yes_no=says_yes_or_no(state.belief))

    def __repr__(self) -> str:
        """One line: what it is made of, and how far it came."""
        state = self.state
        named = f" {state.name!r}" if state.name else ""
        made = f"{type(state.belief).__name__}, {type(state.rule).__name__}"
        so_far = f"{state.rounds:,} arrivals, {state.book.bought:,} labels bought"
        return f"<Learner{named}: {made}, {so_far}, {len(state.book.awaited):,} awaited>"

    def __str__(self) -> str:
        """Where it stands, in a few lines."""
        return str(self.summary())

    def _repr_html_(self) -> str:
        return lines_table(f"learner {self.name}".strip(), str(self.summary()))

    def summary(self) -> Summary:
        """Where the learner stands, to print or to encode."""
        state = self.state
        return Summary(
            ledger=self.ledger,
            belief={"kind": type(state.belief).__name__, **state.belief.describe()},
            rule=state.rule.describe(),
            label_cost=self.label_cost,
            labellers=self.labellers,
            error_cost=self.error_cost,
            level=state.errors.level,
            yes_no=says_yes_or_no(state.belief),
            horizon_passed=horizon_passed(state.rule, state.rounds),
            labels_known=state.belief.labels,
            warmup_left=state.warmup.left,
            fits=state.fits,
            ambiguous=state.ambiguous,
        )

    # -- events ----------------------------------------------------------------------------------

    def listen(self, listener: Listener) -> None:
        """Call `listener` with every event from now on, just after it happened.

        The first event of a stream is `learner.created`. If a listener raises, the event stands, the others
        still get it, and the caller of the verb gets `ListenerFailed`.
        """
        if not callable(listener):
            expect.refuse("listener", "a function that takes an event", listener)
        self.state.listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        """Stop calling `listener`."""
        if listener not in self.state.listeners:
            expect.refuse("listener", "one that was given to listen", listener)
        self.state.listeners.remove(listener)

    def apply(self, event: Event, rules: Iterable[type[Rule]] = ()) -> None:
        """Let the next event of this stream happen, as it did before: nothing is decided or fitted again.

        `rules` names classes of your own that the learner may be repriced with.
        """
        self.state.check_whole()
        apply(self.state, event, expect.rows("rules", rules))

    @classmethod
    def fold(
        cls,
        events: Iterable[Event],
        rules: Iterable[type[Rule]] = (),
        beliefs: Iterable[type[Belief]] = (),
    ) -> "Learner":
        """The learner that a log leads to, from its first event on; classes of your own are named.

        >>> from breakeven import Learner, Threshold, TypeMeans
        >>> learner = Learner(TypeMeans(noise_std=0.5), Threshold(), label_cost=2.0)
        >>> log = [learner.created]
        >>> learner.listen(log.append)
        >>> learner.decide("flu").id
        '1'
        >>> Learner.fold(log).snapshot() == learner.snapshot()
        True
        """
        own_rules, own_beliefs = expect.rows("rules", rules), expect.rows("beliefs", beliefs)
        log = iter(events)
        first = next(log, None)
        if not isinstance(first, Created) or first.number != 1:
            raise WrongEvent(
                f"event: expected Created, number 1, at the beginning, got {expect.shown(first)}"
            )
        if first.state is None:
            belief, rule, arguments = parts_of(first.config, own_rules, own_beliefs)
            if isinstance(arguments.get("labellers"), dict):
                arguments["labellers"] = StoredLabellers(arguments["labellers"])
            learner = cls(belief, rule, **arguments)
        else:
            learner = cls.restore(first.state, own_rules, own_beliefs)
            if (learner.name, learner.number) != (first.stream, 1):
                raise WrongEvent(f"state: expected that of a new stream {first.stream!r}, got another")
            learner.created = first
        for event in log:
            learner.apply(event, own_rules)
        return learner

    # -- keeping ---------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        """How the learner is made up now, as plain data such as JSON and TOML hold."""
        self.state.check_not_torn()
        return config_of(self.state)

    @classmethod
    def of(
        cls, config: Any, rules: Iterable[type[Rule]] = (), beliefs: Iterable[type[Belief]] = ()
    ) -> "Learner":
        """A learner from plain data; `rules` and `beliefs` name classes of your own that it may use.

        >>> config = {"belief": {"kind": "TypeMeans", "noise_std": 0.5}, "rule": {"kind": "Threshold"}}
        >>> Learner.of({**config, "label_cost": 2.0}).label_cost
        2.0
        """
        belief, rule, arguments = parts_of(
            config, expect.rows("rules", rules), expect.rows("beliefs", beliefs)
        )
        return cls(belief, rule, **arguments)

    def snapshot(self, key: bytes | None = None) -> bytes:
        """Everything, as bytes that `restore` reads: the next decision is the same to the bit.

        It was taken after the event `number`. With a `key` nobody without it can make or change it.
        """
        state = self.state
        state.check_whole()
        state.phase = CHANGING
        content = content_of(state)
        state.phase = WHOLE
        return seal(content, key)

    @classmethod
    def restore(
        cls,
        blob: bytes,
        rules: Iterable[type[Rule]] = (),
        beliefs: Iterable[type[Belief]] = (),
        *,
        key: bytes | None = None,
        name: str | None = None,
        fitting: FittingPlace | None = None,
        keep_at_least: int = 0,
    ) -> "Learner":
        """A learner from its snapshot; `rules` and `beliefs` name classes of your own that it may use.

        It goes on with the same stream. With a `name` it begins a new stream, whose events are numbered from
        1, and whose first event, `learner.created`, holds the snapshot; `fitting` says where it fits, and
        `keep_at_least` how many arrivals it remembers, unless `keep` was more.
        """
        if fitting is not None and name is None:
            expect.refuse("fitting", "it only where a new stream begins, with a name", fitting)
        if expect.whole("keep_at_least", keep_at_least) and name is None:
            expect.refuse("keep_at_least", "it only where a new stream begins, with a name", keep_at_least)
        own_rules = expect.rows("rules", rules) if rules else []
        own_beliefs = expect.rows("beliefs", beliefs) if beliefs else []
        state = state_of(unseal(blob, key), own_rules, own_beliefs, name, fitting, keep_at_least)
        learner = cls._going_on(state)
        if name is not None:
            learner.state.earlier += learner.state.number
            learner.state.number = 1
            learner.created = Created(1, learner.name, learner.config(), learner.snapshot())
        notices.restored(learner.state)
        return learner

    @classmethod
    def _going_on(cls, state: State) -> "Learner":
        learner = cls.__new__(cls)
        learner.state, learner._fits, learner.created = state, Fits(state), None
        return learner

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled by its snapshot: a copy goes on to the bit, and nobody listens to it."""
        rules, belief = map(type, self.rule.layers), type(self.belief)
        own = [one for one in rules if one not in RULES], [belief] if belief not in BELIEFS else []
        kept = {name: value for name, value in vars(self).items() if name not in ("state", "_fits")}
        return _copied, (type(self), self.snapshot(), *own), kept


def _copied(
    kind: type[Learner], snapshot: bytes, rules: list[type[Rule]], beliefs: list[type[Belief]]
) -> Learner:
    """The copy of a learner, from its snapshot and the classes that are not ours."""
    return kind._going_on(state_of(unseal(snapshot), rules, beliefs))


def _has_lived(belief: Belief) -> bool:
    """Whether a belief has learnt or counted anything yet."""
    return belief.labels > 0 or belief.state() != belief.of(belief.config()).state()
