"""All verbs in any order against a small plain model: states of labels, money within a budget, the audit."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from breakeven import Audit, Budget, Learner, RandomSelect, TypeMeans
from breakeven.errors import BreakevenError, ConflictingLabel, DuplicateId, InvalidInput, UnknownId

TOTAL = 12.0
IDS = st.sampled_from([f"id {i}" for i in range(9)])
LABELS = st.sampled_from([1.0, 2.0, -3.5])


class Arrival:
    """What the model knows of one arrival, or of a label that was learnt."""

    def __init__(self, x, decision, given=None, force=None):
        self.x, self.decision, self.given, self.force = x, decision, given, force
        self.wanted = decision is not None and decision.wants_label
        self.paid, self.y, self.withdrawn, self.reopened = self.wanted, None, None, False
        self.audit = "awaited" if decision is not None and decision.reason == "audited" else None

    @property
    def awaited(self):
        return self.wanted and self.y is None and self.withdrawn is None


class Verbs(RuleBasedStateMachine):
    @initialize(keep=st.sampled_from([0, 1, 3, 100]), seed=st.integers(0, 5))
    def begin(self, keep, seed):
        rule = Budget(Audit(RandomSelect(0.5), 0.4, bound=99.0), total=TOTAL)
        self.learner = Learner(TypeMeans(0.5), rule, label_cost=1.0, keep=keep, seed=seed)
        self.log = [self.learner.created]
        self.learner.listen(self.log.append)
        self.keep, self.known, self.settled = keep, {}, []  # by id; ids that are settled, oldest first
        self.rounds = self.labels = 0
        self.spent, self.bought = 0.0, 0
        self.audits = {"audited": 0, "missing": 0, "awaited": 0}

    # -- the model ----------------------------------------------------------------------------------

    def settle(self, id):
        self.settled.append(id)
        while len(self.settled) > self.keep:
            self.known.pop(self.settled.pop(0))

    def happens(self, call, error):
        """Run a verb that should be refused with this error, or go through if it is None."""
        before = self.learner.snapshot()
        if error is None:
            return call()
        with pytest.raises(BreakevenError) as caught:
            call()
        assert type(caught.value) is error, caught.value
        assert self.learner.snapshot() == before
        return None

    # -- the verbs ----------------------------------------------------------------------------------

    @rule(
        id=IDS,
        x=st.sampled_from("ab"),
        cost=st.sampled_from([None, 1.0, 2.5]),
        force=st.sampled_from([None, True, False]),
    )
    def decide(self, id, x, cost, force):
        known = self.known.get(id)
        call = lambda: self.learner.decide(x, id=id, cost=cost, force=force)  # noqa: E731
        if known is not None:
            same = known.decision is not None and (known.x, known.given, known.force) == (x, cost, force)
            before = self.learner.snapshot()
            answer = self.happens(call, None if same else DuplicateId)
            if same:
                assert answer is known.decision or answer == known.decision
                assert self.learner.snapshot() == before
            return
        if force and not self.affordable(cost or 1.0):
            self.happens(call, InvalidInput)
            return
        decision = call()
        self.rounds += 1
        one = self.known[id] = Arrival(x, decision, cost, force)
        assert decision.wants_label == force or force is None
        if one.wanted:
            self.spent += decision.cost
            self.bought += 1
        else:
            self.settle(id)
        if one.audit:
            self.audits["audited"] += 1
            self.audits["awaited"] += 1

    def affordable(self, cost):
        """Whether a person may spend it: money set aside for audits is not touched."""
        view = self.learner.belief.look("a")
        view.round, view.price, view.cost, view.draw = self.rounds + 1, cost, cost, self.learner.state.draws
        return self.learner.rule.forbids(view) is None

    @rule(id=IDS, y=LABELS)
    def tell(self, id, y):
        one = self.known.get(id)
        error = UnknownId if one is None else ConflictingLabel if one.y not in (None, y) else None
        self.happens(lambda: self.learner.tell(id, y), error)
        if error is None and one.y is None:
            awaited, one.y = one.awaited, y
            self.labels += 1
            if one.audit == "awaited":
                one.audit = "told"
                self.audits["awaited"] -= 1
            if awaited:
                self.settle(id)

    @rule(id=IDS, y=LABELS)
    def correct(self, id, y):
        one = self.known.get(id)
        self.happens(lambda: self.learner.correct(id, y), UnknownId if one is None or one.y is None else None)
        if one is not None and one.y is not None:
            one.y = y

    @rule(id=IDS, charged=st.booleans())
    def withdraw(self, id, charged):
        one, error = self.known.get(id), None
        if one is None or (one.y is None and one.withdrawn is None and not one.awaited):
            error = UnknownId
        elif one.y is None and one.withdrawn is not None and one.withdrawn != charged:
            error = ConflictingLabel
        self.happens(lambda: self.learner.withdraw(id, charged=charged), error)
        if error is None and (one.y is not None or one.withdrawn is None):
            self.labels -= one.y is not None
            if one.paid and not charged and one.withdrawn is None:  # what was charged stays charged
                one.paid = False
                self.spent -= one.decision.cost
                self.bought -= 1
            if one.audit in ("awaited", "told"):
                self.audits["awaited"] -= one.audit == "awaited"
                self.audits["missing"] += 1
                one.audit = "missing"
            awaited, one.y, one.withdrawn, one.reopened = one.awaited, None, charged, False
            if awaited:
                self.settle(id)

    @rule(id=IDS)
    def reopen(self, id):
        one = self.known.get(id)
        called_off = (
            one is not None
            and one.wanted
            and one.withdrawn is not None
            and one.y is None
            and not one.reopened
        )
        possible = (
            one is not None and one.decision is not None and (one.y is not None or one.reopened or called_off)
        )
        self.happens(lambda: self.learner.reopen(id), None if possible else UnknownId)
        if (
            called_off
        ):  # what a withdrawal gave back is paid again; an audit that missed a label goes on missing it
            one.withdrawn, one.reopened = None, True
            self.settled.remove(id)
            if not one.paid:
                one.paid = True
                self.spent += one.decision.cost
                self.bought += 1
        elif possible and one.y is not None:
            self.labels -= 1
            one.y, one.reopened = None, True
            if one.awaited:
                self.settled.remove(id)
                if one.audit == "told":
                    one.audit = "awaited"
                    self.audits["awaited"] += 1

    @rule(id=st.one_of(st.none(), IDS), x=st.sampled_from("ab"), y=LABELS)
    def learn(self, id, x, y):
        one, error = self.known.get(id), None
        if one is not None and (one.decision is not None or one.x != x):
            error = DuplicateId
        elif one is not None and one.y != y:
            error = ConflictingLabel
        self.happens(lambda: self.learner.learn(x, y, id=id), error)
        if error is None and one is None:
            self.labels += 1
            if id is not None:
                gift = self.known[id] = Arrival(x, None)
                gift.y = y
                self.settle(id)

    @rule()
    def restore(self):
        again = Learner.restore(self.learner.snapshot())
        assert again.snapshot() == self.learner.snapshot()
        again.listen(self.log.append)
        self.learner = again

    # -- what always holds ---------------------------------------------------------------------------

    @invariant()
    def the_bill_is_that_of_the_model(self):
        ledger = self.learner.ledger
        assert (ledger.rounds, ledger.labels) == (self.rounds, self.bought)
        assert ledger.label_spend == pytest.approx(self.spent)
        assert self.learner.rule.left == pytest.approx(TOTAL - self.spent)
        assert self.spent <= TOTAL

    @invariant()
    def labels_are_those_of_the_model(self):
        assert self.learner.belief.labels == self.labels
        awaited = {id for id, one in self.known.items() if one.awaited}
        assert set(self.learner.awaited) == awaited
        for id, one in self.known.items():
            assert one.decision is None or self.learner.decision(id) == one.decision

    @invariant()
    def the_audit_is_that_of_the_model(self):
        report = self.learner.ledger.audit
        counted = {"audited": report.audited, "missing": report.missing, "awaited": report.awaited}
        assert counted == self.audits

    def teardown(self):
        if hasattr(self, "log"):
            assert [event.number for event in self.log] == list(range(1, self.learner.number + 1))
            assert Learner.fold(self.log).snapshot() == self.learner.snapshot()


TestVerbs = Verbs.TestCase
TestVerbs.settings = settings(stateful_step_count=30)
