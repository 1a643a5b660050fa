"""Ids: what they cost, what is remembered, and that nothing grows with labels told."""

from time import thread_time

import numpy as np
import pytest

from breakeven import Always, Audit, Budget, GaussianProcess, Learner, Never, Queue, Threshold, TypeMeans
from breakeven.errors import ConflictingLabel, DuplicateId, InvalidInput, UnknownId

SLOWER = 4.0  # at most, with a hundred times as many remembered; in proportion it would be 100


def quickest(act, times=5):
    """The least CPU time of one call."""
    spent = []
    for _ in range(times):
        start = thread_time()
        act()
        spent.append(thread_time() - start)
    return min(spent)


def passed_by(count):
    """A learner that remembers so many arrivals that were not asked about."""
    learner = Learner(TypeMeans(0.3), Never(), label_cost=1.0, keep=count)
    for _ in range(count):
        learner.decide("flu")
    return learner


def told(count):
    """A learner that remembers so many labels told."""
    learner = Learner(TypeMeans(0.3), Always(), label_cost=1.0, keep=count)
    for _ in range(count):
        learner.tell(learner.decide("flu").id, 1.0)
    return learner


def awaiting(count):
    learner = Learner(TypeMeans(0.3), Always(), label_cost=1.0)
    learner.decide_many(["flu"] * count)
    return learner


def compared(make, act, few=500, many=50_000):
    small, large = (make(count) for count in (few, many))
    return quickest(lambda: act(large)) / max(quickest(lambda: act(small)), 1e-5)


def tell_some(learner):
    """Labels for arrivals that nobody asked about, old and new."""
    first = learner.rounds - learner.keep + 1
    for i in range(100):
        id = str(first + (i * 37) % (learner.keep // 2))
        learner.tell(id, 1.0) if learner.state.book.find(id) is not None else None


def test_telling_an_unasked_arrival_does_not_depend_on_how_many_are_remembered():
    assert compared(passed_by, tell_some) < SLOWER


def test_an_automatic_id_does_not_depend_on_how_many_numbers_were_given():
    def numbered(count):
        learner = Learner(TypeMeans(0.3), Never(), label_cost=1.0, keep=count)
        learner.decide_many(["flu"] * count, ids=[str(2 * i + 5) for i in range(count)])
        return learner

    def decide(learner):
        for _ in range(100):
            learner.decide("flu")

    assert compared(numbered, decide) < SLOWER


def test_looking_an_awaited_label_up_does_not_depend_on_how_many_there_are():
    def look(learner):
        for _ in range(200):
            learner.awaited["7"], len(learner.awaited), next(iter(learner.awaited)), "9" in learner.awaited

    assert compared(awaiting, look) < SLOWER


def test_withdrawing_and_reopening_do_not_depend_on_how_many_are_remembered():
    def reopen(learner):
        id = str(learner.rounds)
        for _ in range(50):
            learner.reopen(id)
            learner.tell(id, 1.0)

    assert compared(told, reopen) < SLOWER


def test_the_bill_of_an_audit_does_not_depend_on_how_many_were_drawn():
    def audited(count):
        rule = Audit(Never(), 0.999, bound=9.0)
        learner = Learner(TypeMeans(0.3), rule, label_cost=1.0, keep=10 * count)
        for _ in range(count):
            decision = learner.decide("flu")
            if decision.wants_label:
                learner.tell(decision.id, 1.0)
        assert learner.ledger.audit.audited > 0.9 * count
        return learner

    def read(learner):
        for _ in range(50):
            learner.ledger  # noqa: B018

    assert compared(audited, read, few=100, many=10_000) < SLOWER


# -- nothing grows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [Always(), Audit(Never(), 0.9, bound=9.0), Queue(Budget(Always(), 1e9), 3)])
@pytest.mark.parametrize("settled", ["told", "withdrawn", "unasked", "learnt"])
def test_a_snapshot_stops_growing_with_what_is_settled(rule, settled):
    learner, sizes = Learner(TypeMeans(0.3), rule, label_cost=1.0, keep=20), []
    for i in range(600):
        if settled == "learnt":
            learner.learn(i % 3, 1.0, id=f"gift {i}")
            decision = None
        else:
            decision = learner.decide(i % 3, force=settled != "unasked")
        if decision and settled == "told":
            learner.tell(decision.id, 1.0)
        if decision and settled == "withdrawn":
            learner.withdraw(decision.id)
        if i in (299, 599):  # between which all numbers and ids are of the same length
            sizes.append(len(learner.snapshot()))
    assert sizes[1] < 1.02 * sizes[0]


def test_an_audits_trail_is_bounded_by_what_is_kept():
    learner, lengths = Learner(TypeMeans(0.3), Audit(Never(), 0.9, bound=9.0), label_cost=1.0, keep=20), []
    for _ in range(400):
        decision = learner.decide("flu")
        if decision.wants_label:
            learner.tell(decision.id, 1.0)
        lengths.append(len(learner.state.auditing.trail.state()["audits"].get("key", ())))
    assert max(lengths) <= 21
    report = learner.ledger.audit
    assert (report.covers, report.declined) == (400, 400)
    assert Learner.restore(learner.snapshot()).ledger == learner.ledger


def test_a_belief_that_tells_labels_apart_forgets_names_that_are_not_kept():
    sizes = []
    for rounds in (100, 400):
        learner = Learner(TypeMeans(0.3, forgetting=5.0), Always(), label_cost=1.0, keep=10)
        for i in range(rounds):
            learner.tell(learner.decide(i % 3).id, 1.0)
        sizes.append(len(learner.snapshot()))
    assert sizes[1] < 1.1 * sizes[0]


# -- an id counts once ---------------------------------------------------------------------------------


def test_a_decision_is_given_again_also_after_restoring():
    learner = Learner(TypeMeans(0.3), Threshold(), label_cost=0.01, keep=5)
    decisions = [learner.decide(x, id=f"no {i}") for i, x in enumerate(["flu", "flu", "cold", 3])]
    learner.tell("no 0", 1.0)
    learner.withdraw("no 2")
    again = Learner.restore(learner.snapshot())
    for one in (learner, again):
        assert [one.decision(f"no {i}") for i in range(4)] == decisions
        assert one.decide("flu", id="no 0") == decisions[0]
    for one in (learner, again):
        one.learn("flu", 1.0, id="gift")
        for unknown in ("nobody", "gift"):
            with pytest.raises(UnknownId, match="expected an arrival that is awaited or remembered"):
                one.decision(unknown)
    assert again.snapshot() == learner.snapshot()


@pytest.mark.parametrize("belief", [TypeMeans(0.3), GaussianProcess(1, 0.3)])
def test_the_same_arrival_again_is_the_same_answer_whatever_was_learnt_since(belief):
    learner, x = Learner(belief, Threshold(), label_cost=0.5), "flu" if belief.traits.dim is None else [0.5]
    first = learner.decide(x, id="a")
    for _ in range(5):
        learner.learn(x, 3.0)
    before = learner.snapshot()
    assert learner.decide(x, id="a") == first
    assert learner.decide(np.array(x) if isinstance(x, list) else np.str_(x), id="a") == first
    assert learner.snapshot() == before


@pytest.mark.parametrize("given", ["1 2 3", "3 2 1", "2 9 4 40", "0 01 ٣ 1e3"])
def test_automatic_ids_never_collide(given):
    learner, given = Learner(TypeMeans(0.3), Never(), label_cost=1.0), given.split()
    ids = []
    for i in range(30):
        if i % 3 == 0 and given and learner.state.book.find(id := given.pop(0)) is None:
            ids.append(learner.decide("flu", id=id).id)
        ids.append(learner.decide("flu").id)
        ids += [one.id for one in learner.decide_many(["flu"] * 2)]
    assert len(set(ids)) == len(ids) == learner.rounds


def test_ids_have_a_length_limit_everywhere():
    learner = Learner(TypeMeans(0.3), Never(), label_cost=1.0)
    for verb in (
        lambda id: learner.decide("flu", id=id),  # noqa: A006
        lambda id: learner.decide_many(["flu"], ids=[id]),  # noqa: A006
        lambda id: learner.learn("flu", 1.0, id=id),  # noqa: A006
        lambda id: learner.tell(id, 1.0),  # noqa: A006
    ):
        with pytest.raises(
            InvalidInput, match=r"^id: expected text of at most 250 characters, got 251 of them$"
        ):
            verb("x" * 251)
    assert learner.decide("flu", id="x" * 250).id == "x" * 250


# -- beliefs that change hands -------------------------------------------------------------------------


@pytest.mark.parametrize("belief", [TypeMeans(0.3, forgetting=9.0), TypeMeans(0.3), GaussianProcess(1, 0.3)])
def test_a_belief_taken_into_a_second_learner_has_labels_of_nobody(belief):
    x = "flu" if belief.traits.dim is None else [0.5]
    first = Learner(belief, Always(), label_cost=1.0)
    first.decide(x)
    first.tell("1", 10.0)
    first.decide(x)
    second = Learner(first.belief, Always(), label_cost=1.0)
    assert (len(second.awaited), second.belief.labels) == (0, 1)
    second.decide(x)
    second.tell("1", 20.0)
    plain = second.predict(x).mean
    second.correct("1", 40.0)
    second.correct("1", 20.0)
    assert second.predict(x).mean == pytest.approx(plain)
    second.withdraw("1")
    assert second.belief.labels == 1
    assert second.predict(x).mean == pytest.approx(
        Learner(first.belief, Never(), label_cost=1.0).predict(x).mean
    )
    first.tell("2", 10.0)
    assert first.belief.labels == 2


def test_a_batch_sent_again_gets_the_same_answers_and_counts_once():
    learner = Learner(TypeMeans(0.3), Threshold(), label_cost=1.0)
    first = learner.decide_many(["a", "b", "a"], ids=["1st", "2nd", "3rd"])
    before = learner.snapshot()
    assert learner.decide_many(["a", "b", "a"], ids=["1st", "2nd", "3rd"]) == first
    assert learner.snapshot() == before
    more = learner.decide_many(["b", "c", "a"], ids=["2nd", "4th", "3rd"])
    assert [more[0], more[2]] == [first[1], first[2]]
    assert (more[1].id, learner.rounds) == ("4th", 4)
    with pytest.raises(DuplicateId, match=r"'1st', whose label is .*; it arrived with another point"):
        learner.decide_many(["c", "b"], ids=["5th", "1st"])
    assert learner.rounds == 4


def test_automatic_ids_never_collide_with_the_longest_numbers():
    learner = Learner(TypeMeans(0.3), Always(), label_cost=1.0)
    given = ["9" * 18, str(10**18), str(10**18 + 1), "9" * 19]
    for id in given:
        learner.decide("flu", id=id)
    ids = [learner.decide("flu").id for _ in range(5)]
    assert len({*given, *ids}) == len(learner.awaited) == 9


def test_a_label_learnt_and_withdrawn_is_learnt_again_by_telling_it():
    learner = Learner(TypeMeans(0.3), Always(), label_cost=1.0)
    learner.learn("flu", 1.0, id="gift")
    learner.withdraw("gift")
    with pytest.raises(
        ConflictingLabel, match=r"^id 'gift': expected a label that was not withdrawn, got 1.0; use"
    ):
        learner.learn("flu", 1.0, id="gift")
    learner.tell("gift", 1.0)
    assert learner.belief.labels == 1
