"""Worlds of keys whose labels come late, early, twice or never, through groups and through one machine."""

import numpy as np

from breakeven import (
    GaussianProcess,
    Learner,
    RandomSelect,
    SeparateTypes,
    Threshold,
    TypeMeans,
    Value,
)
from breakeven.engines import ArrivalRows, LabelRows, fold, open_group

LEARNERS = {
    "algorithm 1": lambda: Learner(TypeMeans(0.3), Threshold(), label_cost=0.5),
    "own counts": lambda: Learner(SeparateTypes(0.3), Threshold(), label_cost=0.5),
    "value": lambda: Learner(TypeMeans(0.3, prior_std="learn"), Value(), label_cost=0.5),
    "drawn": lambda: Learner(TypeMeans(0.3), RandomSelect(0.5), label_cost=0.5, seed=4),
    "warm-up": lambda: Learner(TypeMeans(0.3), Threshold(), label_cost=0.5, warmup=3),
    "process": lambda: Learner(GaussianProcess(1, 0.3), Threshold(), label_cost=0.5),
}
NAMES = (
    "wants_label",
    "prediction",
    "std",
    "uncertainty",
    "threshold",
    "cost",
    "propensity",
    "round",
    "reason",
)
TIMINGS = ("late", "later", "ahead", "far ahead", "same batch", "twice", "never", "withdrawn")


class World:
    """Arrivals of some keys with a timing for each label, cut into batches."""

    def __init__(self, seed, rows=60, keys=5, batches=6, text=False, numbers=False):
        random = np.random.default_rng(seed)
        name = (lambda kind, i: f"{kind} {i}") if text else (lambda kind, i: int(i))
        self.batch = np.sort(random.integers(batches, size=rows))
        self.keys = [name("key", i) for i in random.integers(keys, size=rows)]
        self.ids = [name("id", i) for i in random.permutation(rows)]
        self.xs = (
            [[float(x)] for x in random.random(rows)] if numbers else random.integers(4, size=rows).tolist()
        )
        self.order = (100 + np.arange(rows)).tolist()
        self.costs = np.where(random.random(rows) < 0.3, 0.2, np.nan).tolist()
        self.ys = random.normal(size=rows).tolist()
        self.timing = random.choice(TIMINGS, size=rows).tolist()
        self.batches = batches
        self.random = random

    def recut(self, batches, seed):
        """The same arrivals in other batches."""
        self.batch = np.sort(np.random.default_rng(seed).integers(batches, size=len(self.keys)))
        self.batches = batches
        return self

    def arrivals(self, batch, rows=None):
        rows = np.flatnonzero(self.batch == batch).tolist() if rows is None else rows
        return rows, ArrivalRows(
            *([one[i] for i in rows] for one in (self.keys, self.ids, self.xs, self.order, self.costs))
        )

    def labels(self, batch, asked):
        """Labels that come with this batch: of arrivals that were asked about, or ahead of their arrivals."""
        found = []
        for i, timing in enumerate(self.timing):
            came = self.batch[i]
            known = asked.get(i, False)
            when = {
                "late": [came + 1] if known else [],
                "later": [came + 3] if known else [],
                "ahead": [came - 1],
                "far ahead": [0],
                "same batch": [came],
                "twice": [came + 1, came + 2] if known else [],
                "never": [],
                "withdrawn": [came + 1] if known else [],
            }[timing]
            found += [(i, timing == "withdrawn") for one in when if max(one, 0) == batch]
        return found

    def label_rows(self, found):
        return LabelRows(
            [self.keys[i] for i, _ in found],
            [self.ids[i] for i, _ in found],
            [self.ys[i] for i, _ in found],
            [gone for _, gone in found],
        )


def key_number(key):
    return key if isinstance(key, int) else int(key.split()[1])


def through_groups(world, setup, groups, shuffle=None, moves=()):
    """The answers by row, the counts, and all learners, of a world that is spread over groups.

    `moves` are batches before which all keys are carried to another number of groups.
    """
    states, answers, total = [None] * groups, {}, {}
    for batch in range(world.batches + 3):
        if batch in moves:
            groups = groups + 2
            states = carried(world, setup, states, groups)
        found = world.labels(batch, {i: one["wants_label"] for i, one in answers.items()})
        rows, _ = world.arrivals(batch)
        if shuffle is not None:
            shuffle.shuffle(rows)
            shuffle.shuffle(found)
        for group in range(groups):
            mine = [i for i in rows if key_number(world.keys[i]) % groups == group]
            told = [one for one in found if key_number(world.keys[one[0]]) % groups == group]
            if not mine and not told:
                continue
            _, arrivals = world.arrivals(batch, mine)
            states[group], answered, counts = fold(setup, states[group], arrivals, world.label_rows(told))
            assert answered.fault == [None] * len(mine)
            for place, i in enumerate(mine):
                answers[i] = {name: getattr(answered, name)[place] for name in NAMES}
            for name, count in counts._asdict().items():
                total[name] = total.get(name, 0) + count
    learners = {}
    for state in states:
        learners |= {} if state is None else open_group(setup, state).learners()
    return answers, total, learners


def carried(world, setup, states, groups):
    """The states of another number of groups, into which every key is carried."""
    keys = [one for state in states if state is not None for one in open_group(setup, state).carry()]
    fresh = [open_group(setup) for _ in range(groups)]
    for one in keys:
        kind = "texts" if isinstance(world.ids[0], str) else "integers"
        fresh[key_number(one.key) % groups].take([one], kind)
    return [group.dump() for group in fresh]


def one_machine(world, make):
    """One learner for each key, told and asked by hand, batch after batch of the world."""
    answers = {}

    def batches():
        for batch in range(world.batches + 3):
            asked = {i: one["wants_label"] for i, one in answers.items()}
            yield world.arrivals(batch)[0], world.labels(batch, asked)

    return answers, by_hand(world, make, batches(), answers)


def by_hand(world, make, batches, answers):
    """The learners after batches of arrivals and labels; answers are added to `answers` as they come."""
    learners, early = {}, {}
    for rows, found in batches:
        for i, gone in sorted(found, key=lambda one: (one[1], world.keys[one[0]], world.ids[one[0]])):
            key, id = world.keys[i], str(world.ids[i])
            entry = learners[key].state.book.find(id) if key in learners else None
            if entry is None:
                early.pop((key, id), None) if gone else early.setdefault((key, id), world.ys[i])
            elif entry.decision.wants_label:
                learners[key].withdraw(id) if gone else learners[key].tell(id, world.ys[i])
        for i in rows:
            key, id, cost = world.keys[i], str(world.ids[i]), world.costs[i]
            if key not in learners:
                learners[key] = Learner.of(make().config() | {"name": str(key)})
            decision = learners[key].decide(world.xs[i], id=id, cost=None if np.isnan(cost) else cost)
            answers[i] = {
                name: getattr(decision, name) for name in NAMES if name not in ("prediction", "std")
            }
            answers[i] |= {"prediction": decision.prediction.mean, "std": decision.prediction.std}
        for i in rows:
            y = early.pop((world.keys[i], str(world.ids[i])), None)
            if y is not None and answers[i]["wants_label"]:
                learners[world.keys[i]].tell(str(world.ids[i]), y)
    return learners


def said(answers):
    return {
        i: [repr(float(one)) if isinstance(one, float) else one for one in map(row.get, NAMES)]
        for i, row in answers.items()
    }


def kept(learner):
    """What a learner knows and has spent."""
    book = learner.state.book
    state = learner.belief.state()
    return repr(state), learner.rounds, learner.number, book.bought, book.spend, sorted(book.awaited)
