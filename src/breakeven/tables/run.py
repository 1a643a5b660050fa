"""A stream of past cases through a learner, as it would have gone: round by round, with what is known then.

Labels come at once, or `delay` rounds late. `stop` is asked between rounds, so that an interrupted run has
whole rounds only, and a learner to go on from.
"""

import logging
from collections import deque
from collections.abc import Callable
from time import monotonic

import msgspec
import numpy as np
import polars as pl

from breakeven.beliefs import Recognised, says_yes_or_no
from breakeven.errors.expect import Array
from breakeven.learner import Learner
from breakeven.learner.replay import replay
from breakeven.tables.cases import Cases
from breakeven.tables.options import Options
from breakeven.tables.recipe import measured_from, start
from breakeven.tables.record import Record, compiles, decide_and_tell, flips_at
from breakeven.values import Decision, Event, Refuted

logger = logging.getLogger(__name__)

RoundsDone = Callable[[int, int, float], None]  # rounds done, rounds in all, money spent

FIRST_ROUNDS = 20  # one by one: by then a belief of types has found mean and scale of its labels
ROUNDS_AT_ONCE = 2_000_000  # enough for compiled loops, few enough to react to Ctrl-C
SECONDS_BETWEEN = 0.1  # two reports of progress
LABELLER_DRAWS = 7  # which random numbers what labellers say is drawn from


class TableRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a stream went: what was decided on each case, and the learner afterwards, to go on with.

    `noise_from` says in words where the noise of labels comes from. `turns` are the rounds in which labels
    were taken for yes/no labels, or for numbers again, where nobody had said what they are, and `refuted`
    says when labels refuted the belief and what it did.
    """

    cases: Cases
    options: Options
    record: Record
    learner: Learner
    noise_from: str
    turns: list[tuple[int, str]]
    refuted: list[Refuted]
    seconds: float
    whole: bool

    @property
    def decisions(self) -> pl.LazyFrame:
        """One row for every case: its id, all that was decided, the label and how far off the answer was."""
        return self.record.table()


def never() -> bool:
    """Say that nobody wants to stop."""
    return False


def run(
    cases: Cases,
    options: Options,
    *,
    seeds: Cases | None = None,
    progress: RoundsDone | None = None,
    stop: Callable[[], bool] = never,
    most: int | None = None,
) -> TableRun:
    """Run the cases through the learner that the options ask for; it ends early with the `most` labels."""
    begun = monotonic()
    learner, noise_from = start(cases, options, seeds)
    walk = _Walk(learner, cases, options, progress, stop, most)
    walk.go()
    seconds = monotonic() - begun
    logger.info("%s: %d of %d cases in %.2f s", cases.name, walk.done, len(cases), seconds)
    return TableRun(
        cases=cases if walk.done == len(cases) else cases.first(walk.done),
        options=options,
        record=walk.record,
        learner=learner,
        noise_from=measured_from(learner) if noise_from is None else noise_from,
        turns=walk.turns,
        refuted=walk.refuted,
        seconds=seconds,
        whole=walk.done == len(cases),
    )


def labeller_draws(options: Options, rounds: int) -> Array | None:
    """How far off a labeller is on each case, in standard deviations; None where there are no labellers."""
    if options.labeller is None:
        return None
    return np.random.default_rng([options.seed, LABELLER_DRAWS]).standard_normal(rounds)


class _Walk:
    """The rounds, and what must be remembered between them."""

    def __init__(
        self,
        learner: Learner,
        cases: Cases,
        options: Options,
        progress: RoundsDone | None,
        stop: Callable[[], bool],
        most: int | None,
    ) -> None:
        self._learner, self._cases, self._delay = learner, cases, options.delay
        self._progress, self._stopped, self._most, self._bought = progress, stop, most, 0
        self.record, self.done = Record(cases, options.errors.level), 0
        self._late: deque[tuple[int, str, float]] = deque()  # due after which round, id, label
        self._next = 0.0
        self._belief = learner.belief  # the learner may go on with another
        self._noise, self._noise_of = labeller_draws(options, len(cases)), options.labellers
        self.refuted: list[Refuted] = []
        if learner.rule.check is not None:
            learner.listen(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, Refuted):
            self.refuted.append(event)

    def go(self) -> None:
        """All rounds, or as many as there are before it is stopped; one at least, so that there is a bill."""
        try:
            self._all()
        finally:
            if self._learner.rule.check is not None:
                self._learner.unlisten(self._hear)

    def _all(self) -> None:
        rounds = len(self._cases)
        one_by_one = bool(self._delay) or self._cases.costs is not None or self._noise is not None
        first = rounds if one_by_one else max(self._learner.warmup, FIRST_ROUNDS)
        while self.done < min(first, rounds) and not (self.done and self._stop()):
            self._step()
        if self.done == rounds or self._stop():
            return
        if compiles(self._learner, rounds - self.done):
            self._compiled()
        else:
            self._replayed()

    @property
    def turns(self) -> list[tuple[int, str]]:
        """When the kind of labels was told from labels bought; in round 0, where owned labels told it."""
        belief = self._belief
        if not isinstance(belief, Recognised):
            return []
        unsaid = [] if belief.said == belief.kind else [(0, belief.kind)]  # where no label was bought since
        return [*belief.turns, *unsaid]

    def _stop(self) -> bool:
        return self._stopped() or (self._most is not None and self._bought >= self._most)

    def _step(self) -> None:
        """One round: decide, record, and tell what is due."""
        cases, place = self._cases, self.done
        (point,) = cases.part(place, place + 1)
        known = self._spread_known
        decision = self._learner.decide(
            point,
            cost=None if cases.costs is None else float(cases.costs[place]),
            id=None if cases.ids is None else cases.ids[place],
        )
        flips = flips_at(self._learner, decision)
        if self._noise is not None:
            answer = self._asked(decision, place)
            self.record.add(decision, known=known, flips_at=flips, answer=answer)
            self._passed(1)
            return
        self.record.add(decision, known=known, flips_at=flips)
        if decision.wants_label:
            self._bought += 1
            self._late.append((place + self._delay, decision.id, float(cases.labels[place])))
        while self._late and self._late[0][0] <= place:
            _, id, y = self._late.popleft()
            self._learner.tell(id, y)
        self._passed(1)

    def _asked(self, decision: Decision, place: int) -> float | None:
        """What is answered once the labeller has spoken, who errs; None where nobody was asked."""
        if not decision.wants_label:
            return None
        assert self._noise is not None
        assert decision.labeller is not None
        self._bought += 1
        noise_std = self._noise_of[decision.labeller].noise_std
        said = float(self._cases.labels[place]) + noise_std * float(self._noise[place])
        return self._learner.tell(decision.id, said).mean

    def _replayed(self) -> None:
        """The rest as `simulate` does it, in blocks where that is faster."""
        cases, learner = self._cases, self._learner
        points = learner.belief.points(cases.part(self.done, len(cases)))
        ids, known = cases.names(self.done, len(cases)), self._spread_known
        for decision, _ in replay(learner, points, cases.labels[self.done :], ids):
            self.record.add(decision, known=known, flips_at=flips_at(learner, decision))
            known = known or self._spread_known
            self._bought += decision.wants_label
            self._passed(1)
            if self.done == learner.rounds and self._stop():  # a block is decided on as a whole
                return

    def _compiled(self) -> None:
        """The rest in compiled loops, a part after the other; all parts are about as long."""
        left = len(self._cases) - self.done
        parts = max(1, left // ROUNDS_AT_ONCE)
        ends = [self.done + left * part // parts for part in range(1, parts + 1)]
        for end in ends:
            types, labels = self._cases.points[self.done : end], self._cases.labels[self.done : end]
            ids = self._cases.names(self.done, end)
            self.record.add_many(decide_and_tell(self._learner, types, labels, ids))
            self._passed(end - self.done)
            if self._stop():
                return

    def _passed(self, rounds: int) -> None:
        self.done += rounds
        if self._progress is not None and (rounds > 1 or monotonic() >= self._next):
            self._next = monotonic() + SECONDS_BETWEEN
            self._progress(self.done, len(self._cases), self._learner.ledger.label_spend)

    @property
    def _spread_known(self) -> bool:
        """Whether anything but a guess says how far off predictions are."""
        typed = self._cases.columns.type_column is not None
        known = self._learner.belief.traits.noise_known
        return known and (typed or self._learner.fits > 0 or says_yes_or_no(self._learner.belief))
