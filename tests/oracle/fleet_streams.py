"""Streams of many keys for fleets, and the same taken through one learner for each key."""

import numpy as np
from hypothesis import strategies as st

from breakeven import Learner, SeparateTypes, TypeMeans, Value
from breakeven.learner.snapshot import content_of
from tests.oracle.type_streams import HARD
from tests.oracle.type_streams import RULES as TYPE_RULES

BELIEFS = {
    "all": lambda: TypeMeans(0.3, prior_mean=0.25),
    "own": lambda: SeparateTypes(0.3, 0.01),
    "prior": lambda: TypeMeans(0.3, prior_mean=0.25, prior_std=0.7),
    "learnt": lambda: TypeMeans(0.3, prior_mean=0.25, prior_std="learn"),
    "own learnt": lambda: SeparateTypes(0.3, prior_std="learn"),
}
RULES = TYPE_RULES | {"labels": Value(scored="labels", lessons=False)}
CASES = [(belief, rule) for belief in BELIEFS for rule in ("value", "value_until", "labels")]
CASES += [("all", rule) for rule in TYPE_RULES if not rule.startswith("value")] + [("own", "type_clock")]

labels = st.one_of(st.floats(-100, 100), st.sampled_from(HARD))
arrivals = st.tuples(
    st.just("decide"), st.integers(0, 3), st.integers(0, 4), st.sampled_from([None, None, 0.05, 7.3])
)
tells = st.tuples(st.just("tell"), st.integers(0, 3), st.integers(0, 60), labels)
ahead = st.tuples(st.just("ahead"), st.integers(0, 3), st.integers(0, 8), labels)
withdrawals = st.tuples(st.just("withdraw"), st.integers(0, 3), st.integers(0, 60), st.booleans())
events = st.lists(st.one_of(arrivals, arrivals, arrivals, tells, ahead, withdrawals), max_size=120)


def made(belief, rule, cost=0.4, **more):
    setting = {"label_cost": cost, "error_cost": 1.5, "seed": 5, "keep": 10**6}
    return Learner(BELIEFS[belief](), RULES[rule], **setting, **more)


class OneForEachKey:
    """One learner for each key, and early labels kept beside them."""

    def __init__(self, belief, rule, cost=0.4):
        self._made = lambda key: made(belief, rule, cost, name=str(key))
        self.learners, self.early = {}, {}

    def decide(self, key, x, id, cost):
        learner = self.learners.setdefault(key, self._made(key))
        return learner.decide(x, id=str(id), cost=cost)

    def tell_early(self, decided):
        """Labels that came before their arrivals, told behind the batch; others are not wanted."""
        for key, id, decision in decided:
            y = self.early.pop((key, id), None)
            if y is not None and decision.wants_label:
                self.learners[key].tell(str(id), y)

    def tell(self, key, id, y):
        learner = self.learners.get(key)
        entry = learner and learner.state.book.find(str(id))
        if entry is None or not entry.decision.wants_label:
            self.early.setdefault((key, id), y)
        elif entry.y is None or entry.y == y:
            learner.tell(str(id), y)

    def withdraw(self, key, id, charged):
        self.early.pop((key, id), None)
        learner = self.learners.get(key)
        entry = learner and learner.state.book.find(str(id))
        if entry is None or not entry.decision.wants_label:
            return
        if entry.y is not None or entry.withdrawn in (None, charged):
            learner.withdraw(str(id), charged=charged)


def batches(events):
    """Events as batches of one kind, each with the ids of new arrivals counted by key."""
    rows, count = [], [0] * 4
    for kind, key, number, value in events:
        if kind == "decide":
            row = (key, number, count[key], value)
            count[key] += 1
        elif kind == "ahead":
            kind, row = "tell", (key, count[key] + number, value)
        else:
            row = (key, number % max(count[key], 1), value)
        if not rows or rows[-1][0] != kind:
            rows.append((kind, []))
        rows[-1][1].append(row)
    return rows


def told(decision):
    """All that a decision says, as a fleet would."""
    worths = [float("nan") if one is None else one for one in (decision.worth, decision.worth_now)]
    answer = decision.wants_label, decision.prediction.mean, decision.prediction.std, decision.uncertainty
    rest = decision.threshold, decision.cost, decision.propensity, *worths, decision.round, decision.reason
    return repr((*answer, *rest))


def told_by_columns(columns):
    plain = [column.tolist() for column in columns if isinstance(column, np.ndarray)][:-1]
    return [repr(row) for row in zip(*plain, columns.reasons.worded(), strict=True)]


def without_answers(learner):
    """The content of a learner without what a fleet does not keep: answers, and arrivals not asked about."""
    content = content_of(learner.state)
    book = learner.state.book
    kept = [*book.awaited.values(), *(one for one in book.settled() if one.decision.wants_label)]
    fields = ("id", "key", "x", "given", "y", "paid", "withdrawn", "cost", "round")
    entries = [[getattr(one, name) for name in fields] + [one.decision.propensity] for one in kept]
    content["book"] = entries, book.next_number, book.bought, book.spend
    return repr(content)
