"""Snapshots: what they keep, what they refuse, and that a restored learner goes on to the bit."""

from functools import partial
from hashlib import blake2b
from math import inf

import numpy as np
import pytest

from breakeven import (
    Always,
    Cells,
    GaussianProcess,
    Learner,
    Matern,
    Never,
    RandomSelect,
    Rule,
    SquaredExponential,
    Threshold,
    TypeMeans,
    VariableUncertainty,
    Verdict,
    algorithm1,
    algorithm2,
)
from breakeven.errors import InvalidInput, SnapshotError
from breakeven.learner import snapshot
from tests.naming import Thing

BELIEFS = {
    "types": (TypeMeans(noise_std=0.2, delta=0.1, prior_mean=3.0), 0),
    "types warming up": (TypeMeans(noise_std=0.2), 30),
    "cells": (Cells([0, -1], [1, 1], noise_std=0.2), 0),
    "squared exponential": (GaussianProcess(2, 0.2, SquaredExponential((0.3, 0.4), 2.0), mean=1.0), 0),
    "matern": (GaussianProcess(2, 0.2, Matern(2.5, lengthscale=0.3)), 0),
    "any matern": (GaussianProcess(2, 0.2, Matern(0.7, lengthscale=0.3)), 0),
    "after a fit": (GaussianProcess(2, 0.2, fit="after_warmup"), 4),
    "before a fit": (GaussianProcess(2, 0.2, fit="after_warmup"), 30),
    "many fits": (GaussianProcess(2, None, mean="fit", fit="every_label"), 0),
    "growing": (GaussianProcess(2, None, fit="growing"), 3),
}
RULES = {
    "threshold": Threshold(0.4),
    "stream clock": Threshold(0.4, "stream"),
    "random": RandomSelect(0.6),
    "moving": VariableUncertainty("figures_gp"),
    "budget": VariableUncertainty("original", budget=0.05),
}


def points(belief, count, seed=0):
    random = np.random.default_rng(seed)
    if type(belief) is TypeMeans:
        return [["flu", 7, b"\x00\xff", ("clinic", (3, b"x"))][k] for k in random.integers(4, size=count)]
    return random.random((count, 2))


def go_on(learner, X, seed):
    """Decide and tell, late and out of order, some corrected, withdrawn or given; all that was answered."""
    random = np.random.default_rng(seed)
    answers = []
    for i, x in enumerate(X):
        answers.append(repr(learner.decide(x, force=True if i % 8 == 5 else None)))
        waiting = list(learner.awaited)
        if waiting and i % 3:
            id = waiting[random.integers(len(waiting))]
            answers.append(repr(learner.tell(id, float(random.normal()))))
            if i % 5 == 1:
                learner.correct(id, float(random.normal()))
            if i % 7 == 2:
                learner.withdraw(id, charged=True)
            if i % 7 == 4:
                learner.reopen(id)
        if len(learner.awaited) > 4:
            learner.withdraw(next(iter(learner.awaited)))
        if i % 6 == 3:
            learner.learn(X[-1 - i], float(random.normal()), id=f"gift {learner.number}" if i % 4 else None)
    answers.append(repr(learner.ledger))
    return answers


PAIRS = [
    (belief, rule)
    for belief, (what, _) in BELIEFS.items()
    for rule in RULES
    if rule != "stream clock" or isinstance(what, TypeMeans)  # a process has no other clock
]


@pytest.mark.parametrize(("belief", "rule"), PAIRS)
def test_a_restored_learner_goes_on_to_the_bit(belief, rule):
    what, warmup = BELIEFS[belief]
    learner = Learner(what, RULES[rule], label_cost=0.5, warmup=warmup, seed=3, keep=5)
    go_on(learner, points(what, 14), seed=1)
    for x in points(what, 2, seed=6):
        learner.decide(x, force=True)
    assert len(learner.awaited) >= 2
    again = Learner.restore(learner.snapshot())
    assert again.snapshot() == learner.snapshot()
    assert again.awaited == learner.awaited
    assert (again.number, again.created) == (learner.number, None)
    more = points(what, 10, seed=2)
    assert go_on(again, more, seed=4) == go_on(learner, more, seed=4)
    assert again.snapshot() == learner.snapshot()
    assert str(again.summary()) == str(learner.summary())


def test_a_long_process_restored_goes_on_to_the_bit():
    random = np.random.default_rng(5)
    learner = Learner(GaussianProcess(2, 0.3, Matern(1.5, 0.2)), Always(), label_cost=1.0)
    X = random.random((300, 2))
    learner.decide_many(X)
    ids = list(learner.awaited)
    random.shuffle(ids)
    learner.tell_many(ids[:270], random.normal(size=270))
    again = Learner.restore(learner.snapshot())
    for x in random.random((5, 2)):
        assert again.decide(x) == learner.decide(x)
        id = next(iter(learner.awaited))
        assert again.tell(id, 1.0) == learner.tell(id, 1.0)
    assert again.snapshot() == learner.snapshot()


def test_a_restored_learner_keeps_its_arguments():
    learner = Learner(TypeMeans(1.0), Never(), label_cost=2.5, warmup=7, seed=9, keep=11)
    again = Learner.restore(learner.snapshot())
    assert (again.label_cost, again.warmup, again.seed, again.keep) == (2.5, 7, 9, 11)
    assert type(again.rule) is Never
    assert (again.belief.noise_std, again.belief.delta, again.belief.prior_mean) == (1.0, 0.05, 0.0)


def test_unasked_arrivals_are_forgotten_in_their_order_after_restoring_too():
    learner = Learner(TypeMeans(1.0), Never(), label_cost=1.0, keep=3)
    learner.decide_many(["a"] * 3)
    again = Learner.restore(learner.snapshot())
    again.decide("a")
    again.tell_many(["2", "3", "4"], [1.0, 2.0, 3.0])
    with pytest.raises(KeyError, match="got '1'"):
        again.tell("1", 1.0)


def test_ids_taken_before_are_taken_after_restoring():
    learner = algorithm1(label_cost=1.0, noise_std=0.1)
    learner.decide("a", id="3")
    learner.decide("b")
    again = Learner.restore(learner.snapshot())
    assert again.decide("c").id == learner.decide("c").id == "5"


def test_a_snapshot_is_of_its_moment():
    learner = algorithm2(1, label_cost=1.0, noise_std=0.1, warmup=0, fit=None)
    learner.decide(0.5)
    blob = learner.snapshot()
    learner.tell("1", 5.0)
    one, other = Learner.restore(blob), Learner.restore(blob)
    one.tell("1", 7.0)
    assert list(other.awaited) == ["1"]
    assert other.snapshot() == blob


def test_listeners_are_not_kept():
    learner, heard = algorithm1(label_cost=1.0, noise_std=0.1), []
    learner.listen(heard.append)
    Learner.restore(learner.snapshot()).decide("a")
    assert heard == []


def test_what_was_never_a_number_in_json_is_kept():
    learner = algorithm1(label_cost=1.0, noise_std=0.1)
    learner.decide("a")
    assert Learner.restore(learner.snapshot()).predict("b").std == inf


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_any_bytes_will_do(form):
    blob = algorithm1(label_cost=1.0, noise_std=0.1).snapshot()
    assert Learner.restore(form(blob)).snapshot() == blob


# -- a rule of one's own -------------------------------------------------------------------------------


class Patient(Rule):
    """Waits a while, remembers, and says what it waited for."""

    patience: int
    names: tuple[str, ...] = ()
    waited: int = 0
    shares: dict[str, float] = {}  # noqa: RUF012

    def decide(self, view):
        return Verdict(self.waited >= self.patience, self.waited, "Waited long enough.")

    def observe(self, *, labelled):
        self.waited = 0 if labelled else self.waited + 1
        self.shares["last"] = float(labelled)


def test_a_rule_of_ones_own_is_named_to_restore_and_keeps_its_memory():
    learner = Learner(TypeMeans(1.0), Patient(2, ("a", "b")), label_cost=1.0)
    learner.decide_many(["x"] * 4)
    again = Learner.restore(learner.snapshot(), rules=(Patient,))
    assert again.rule == learner.rule == Patient(2, ("a", "b"), 1, {"last": 0.0})
    assert again.decide_many(["x"] * 6) == learner.decide_many(["x"] * 6)
    assert again.snapshot() == learner.snapshot()


def test_a_rule_of_ones_own_that_is_not_named_is_asked_for():
    blob = Learner(TypeMeans(1.0), Patient(2), label_cost=1.0).snapshot()
    match = (
        r"^snapshot: rule: kind: expected a known name, .*, got 'own:Patient'; "
        r"name classes of your own with restore\(blob, rules=\(…,\), beliefs=\(…,\)\)$"
    )
    with pytest.raises(SnapshotError, match=match):
        Learner.restore(blob)


def test_naming_more_rules_than_needed_does_no_harm():
    blob = algorithm1(label_cost=1.0, noise_std=0.1).snapshot()
    assert Learner.restore(blob, rules=[Patient]).snapshot() == blob


# -- a belief of one's own -----------------------------------------------------------------------------


class Rounded(TypeMeans):
    """Types whose names are cut to one letter."""

    def point(self, x, name="x"):
        return super().point(x[:1], name)


def test_a_belief_of_ones_own_is_named_to_restore_and_keeps_what_it_learnt():
    learner = Learner(Rounded(1.0), Threshold(), label_cost=1.0)
    learner.tell(learner.decide("flu").id, 3.0)
    again = Learner.restore(learner.snapshot(), beliefs=[Rounded])
    assert type(again.belief) is Rounded
    assert again.predict("fever").mean == 3.0
    assert again.snapshot() == learner.snapshot()


def test_a_belief_of_ones_own_that_is_not_named_is_asked_for():
    blob = Learner(Rounded(1.0), Threshold(), label_cost=1.0).snapshot()
    match = r"^snapshot: belief: kind: expected a known name, .*, got 'own:Rounded'; name classes of your own"
    with pytest.raises(SnapshotError, match=match):
        Learner.restore(blob, rules=(Patient,))


# -- refused -------------------------------------------------------------------------------------------

SMALL = partial(algorithm1, label_cost=1.0, noise_std=0.1)


@pytest.mark.parametrize("blob", [None, "breakeven", 3, [1], {}, Thing(), np.zeros(3)], ids=repr)
def test_what_is_not_bytes_is_refused(blob):
    with pytest.raises(SnapshotError, match=f"^snapshot: expected bytes, got {type(blob).__name__}$"):
        Learner.restore(blob)


@pytest.mark.parametrize(
    "blob", [b"", b"break", b"breakeven", b"breakeven\x00", b"PK\x03\x04" * 20, bytes(100)]
)
def test_bytes_of_something_else_are_refused(blob):
    with pytest.raises(SnapshotError, match=r"^snapshot: expected bytes from Learner\.snapshot, got "):
        Learner.restore(blob)


@pytest.mark.parametrize("version", [0, 2, 7, 65535])
def test_another_version_is_refused_by_its_number(version):
    blob = SMALL().snapshot()
    other = blob[:9] + version.to_bytes(2, "big") + blob[11:]
    match = f"^snapshot: expected a version from 1 to 1, got {version}; upgrade breakeven"
    with pytest.raises(SnapshotError, match=match):
        Learner.restore(other)


def test_a_snapshot_cut_short_anywhere_is_refused():
    learner = SMALL()
    learner.tell(learner.decide("a").id, 1.0)
    learner.decide("b")
    blob = learner.snapshot()
    for length in range(len(blob)):
        with pytest.raises(SnapshotError, match=r"^snapshot: expected .*, got "):
            Learner.restore(blob[:length])
    assert Learner.restore(blob).rounds == 2


def test_a_snapshot_with_more_behind_it_is_refused():
    with pytest.raises(SnapshotError, match="expected whole bytes, got a digest that differs"):
        Learner.restore(SMALL().snapshot() + b"\x00")


def whole():
    blob = SMALL().snapshot()
    return snapshot.unseal(blob)


PARTS = ["number", "config", "since", "belief", "book", "warmup", "rounds", "fits", "ambiguous"]


@pytest.mark.parametrize("part", PARTS)
def test_a_snapshot_that_lacks_a_part_is_refused(part):
    content = whole()
    del content[part]
    with pytest.raises(SnapshotError, match=f"^snapshot: expected a learner's state, got .*{part}"):
        Learner.restore(snapshot.seal(content))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("rubbish", [None, -3, 0.5, "text", [], {}, [1, 2, 3]], ids=repr)
def test_a_snapshot_with_rubbish_in_it_is_refused(part, rubbish):
    with pytest.raises(
        SnapshotError, match=r"^snapshot: (expected a learner's state|config: expected .*), got"
    ):
        Learner.restore(snapshot.seal({**whole(), part: rubbish}))


@pytest.mark.parametrize("content", [None, 3, "text", [], {}], ids=repr)
def test_a_seal_around_something_else_is_refused(content):
    with pytest.raises(SnapshotError, match=r"^snapshot: expected a learner's state, got"):
        Learner.restore(snapshot.seal(content))


def test_an_unknown_belief_is_refused():
    content = whole()
    content["config"]["belief"]["kind"] = "Forest"
    match = r"^snapshot: belief: kind: expected a known name, .*, got 'Forest'; name classes of your own"
    with pytest.raises(SnapshotError, match=match):
        Learner.restore(snapshot.seal(content))


def test_the_head_is_a_mark_a_version_whether_it_is_keyed_and_a_digest():
    blob = SMALL().snapshot()
    assert blob[:12] == b"breakeven\x00\x01\x00"
    assert blob[12:44] == blake2b(blob[:12] + blob[44:], digest_size=32).digest()
    keyed = SMALL().snapshot(key=b"secret")
    assert keyed[:12] == b"breakeven\x00\x01\x01"
    assert keyed[12:44] == blake2b(keyed[:12] + keyed[44:], digest_size=32, key=b"secret").digest()
    assert keyed[44:] == blob[44:]


# -- keys ----------------------------------------------------------------------------------------------


def test_a_snapshot_with_a_key_is_read_with_that_key_only():
    blob = SMALL().snapshot(key=b"secret")
    again = Learner.restore(blob, key=b"secret")
    assert again.snapshot(key=b"secret") == blob
    with pytest.raises(SnapshotError, match=r"^snapshot: expected the key that it was made with, got none"):
        Learner.restore(blob)
    for wrong in (b"Secret", b"secret ", b"x" * 64):
        with pytest.raises(SnapshotError, match="differs: damaged, or made with another key"):
            Learner.restore(blob, key=wrong)


def test_a_key_refuses_a_snapshot_without_one():
    blob = SMALL().snapshot()
    with pytest.raises(SnapshotError, match=r"expected one that was made with a key, got one without"):
        Learner.restore(blob, key=b"secret")


def test_the_mark_of_a_key_cannot_be_taken_off_or_put_on():
    keyed, plain = SMALL().snapshot(key=b"secret"), SMALL().snapshot()
    for blob, flag, key in ((keyed, 0, None), (plain, 1, b"secret"), (keyed, 2, None), (plain, 255, b"k")):
        turned = blob[:11] + bytes([flag]) + blob[12:]
        with pytest.raises(SnapshotError, match=r"^snapshot: expected"):
            Learner.restore(turned, key=key)


@pytest.mark.parametrize("key", [b"", b"x" * 65, "secret", 3, bytearray(b"secret")], ids=repr)
def test_a_key_is_bytes_of_a_length_that_can_be_used(key):
    with pytest.raises(InvalidInput, match=r"^key: expected 1 to 64 bytes, got something else$"):
        SMALL().snapshot(key=key)
    with pytest.raises(InvalidInput, match=r"^key: expected 1 to 64 bytes, got something else$"):
        Learner.restore(SMALL().snapshot(key=b"secret"), key=key)


def test_a_new_stream_may_remember_more():
    learner = Learner(TypeMeans(noise_std=0.5), Never(), label_cost=1.0, keep=3)
    for id in "abcde":
        learner.decide("flu", id=id)
    later = Learner.restore(learner.snapshot(), name="later", keep_at_least=5)
    for id in "fghi":
        later.decide("flu", id=id)
    assert (later.keep, later.decision("e").id) == (5, "e")
    assert Learner.restore(learner.snapshot(), name="later", keep_at_least=2).keep == 3
    with pytest.raises(InvalidInput, match="keep_at_least: expected it only where a new stream begins"):
        Learner.restore(learner.snapshot(), keep_at_least=5)
