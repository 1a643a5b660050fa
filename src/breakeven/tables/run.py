"""A stream of past cases through a learner, as it would have gone: round by round, with what is known then.

Labels come at once, or `delay` rounds late; scales are frozen on the way. `stop` is asked between rounds, so
that an interrupted run has whole rounds only, and a learner to go on from.
"""

from collections import deque
from collections.abc import Callable
from time import monotonic

import msgspec
import polars as pl

from breakeven.learner import Learner
from breakeven.learner.replay import replay
from breakeven.tables import record as bulk
from breakeven.tables.cases import Cases
from breakeven.tables.noise import Noise, labels_of, measured, noise_of, warmup_of
from breakeven.tables.options import Options
from breakeven.tables.recipe import arrivals_to_scale, make_learner
from breakeven.tables.record import Record
from breakeven.tables.scaling import LABELS, Scales
from breakeven.tables.table_learner import TableLearner
from breakeven.values import Event, Fitted, Learnt, Told

RoundsDone = Callable[[int, int, float], None]  # rounds done, rounds in all, money spent

PATIENCE = 200  # arrivals after which scales are frozen without labels, unless some are on their way
SECONDS_BETWEEN = 0.1  # two reports of progress


class TableRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a stream went: what was decided on each case, and the learner afterwards."""

    cases: Cases
    options: Options
    record: Record
    learner: TableLearner
    noise: Noise
    seconds: float
    whole: bool

    @property
    def decisions(self) -> pl.LazyFrame:
        """One row for every case: its id, all that was decided, the label and how far off the answer was."""
        return self.record.table()


def never() -> bool:
    """Nobody interrupts."""
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
    walk = _Walk(cases, options, seeds, progress, stop, most)
    walk.go()
    return TableRun(
        cases=cases if walk.done == len(cases) else cases.first(walk.done),
        options=options,
        record=walk.record,
        learner=TableLearner(walk.learner, cases.columns, walk.scales),
        noise=walk.noise,
        seconds=monotonic() - begun,
        whole=walk.done == len(cases),
    )


class _Walk:
    """The rounds, and what must be remembered between them."""

    def __init__(
        self,
        cases: Cases,
        options: Options,
        seeds: Cases | None,
        progress: RoundsDone | None,
        stop: Callable[[], bool],
        most: int | None,
    ) -> None:
        self._cases, self._options, self._progress, self._stopped = cases, options, progress, stop
        self._seeds, self._most, self._bought = seeds, most, 0
        self._costs = cases.label_costs(options.cost)
        self.noise = noise_of(cases, seeds, options)
        self.scales, self.record, self.done = Scales(), Record(cases), 0
        self._frozen = False
        self._log: list[Event] = []  # in the units of now
        self._known: list[float] = []  # labels told so far, until the scales are frozen
        self._late: deque[tuple[int, str, float]] = deque()  # due after which round, id, label
        self._next = 0.0
        self.learner = self._made()
        self.learner.listen(self._log.append)
        for point, y in labels_of(seeds):  # those that are there from the start
            self._learnt(y)
            self.learner.learn(point, self.scales.label(y))

    def _made(self) -> Learner:
        options, columns = self._options, self._cases.columns
        return make_learner(
            options,
            columns,
            len(self._cases),
            cost=float(self._costs[0]),
            noise_std=self.noise.std,
            warmup=warmup_of(self.noise, self._cases, options, self._seeds),
            unit=self.scales.label_spread,
        )

    # -- rounds --------------------------------------------------------------------------------------

    def go(self) -> None:
        """All rounds, or as many as there are before it is stopped; one at least, so that there is a bill."""
        while not self._frozen and self.done < len(self._cases) and not (self.done and self._stop()):
            self._step()
            self._freeze_if_due()
        if not self._frozen and self._asks_noise:
            self._freeze()
        if self._stop() or self.done == len(self._cases):
            return
        one_by_one = self._options.delay or self._cases.costs is not None
        named = self._cases.ids is not None
        if not one_by_one and bulk.pays(self.learner, len(self._cases) - self.done, named=named):
            self._compiled()
        elif not one_by_one:
            self._replayed()
        else:
            while self.done < len(self._cases) and not self._stop():
                self._step()

    def _stop(self) -> bool:
        return self._stopped() or (self._most is not None and self._bought >= self._most)

    def _step(self) -> None:
        """One round: decide, record, and tell what is due."""
        cases, place = self._cases, self.done
        (point,) = cases.part(place, place + 1)
        decision = self.learner.decide(
            self.scales.point(point),
            cost=None if cases.costs is None else float(cases.costs[place]),
            id=None if cases.ids is None else cases.ids[place],
        )
        self.record.add(decision, self.scales, known=self._knows_spread)
        if decision.wants_label:
            self._bought += 1
            self._late.append((place + self._options.delay, decision.id, float(cases.labels[place])))
        while self._late and self._late[0][0] <= place:
            _, id, y = self._late.popleft()
            self._learnt(y)
            self.learner.tell(id, self.scales.label(y))
        self._passed(1)

    def _replayed(self) -> None:
        """The rest as `simulate` does it, in blocks where that is faster."""
        cases, scales = self._cases, self.scales
        points = self.learner.belief.points(scales.point(cases.part(self.done, len(cases))))
        labels, ids = scales.label(cases.labels[self.done :]), cases.names(self.done, len(cases))
        for decision, _ in replay(self.learner, points, labels, ids):
            self.record.add(decision, scales, known=self._knows_spread)
            self._bought += decision.wants_label
            self._passed(1)
            if self.done == self.learner.rounds and self._stop():  # a block is decided on as a whole
                return

    def _compiled(self) -> None:
        """The rest in compiled loops, a part after the other; all parts are about as long."""
        left = len(self._cases) - self.done
        parts = max(1, left // bulk.ROUNDS_AT_ONCE)
        ends = [self.done + left * part // parts for part in range(1, parts + 1)]
        for end in ends:
            types, labels = self._cases.points[self.done : end], self._cases.labels[self.done : end]
            ids = self._cases.names(self.done, end)
            part = bulk.decide_and_tell(self.learner, types, labels, ids, self.scales)
            self.record.add_many(part, self.scales)
            self._passed(end - self.done)
            if self._stop():
                return

    def _passed(self, rounds: int) -> None:
        self.done += rounds
        if self._progress is not None and (rounds > 1 or monotonic() >= self._next):
            self._next = monotonic() + SECONDS_BETWEEN
            self._progress(self.done, len(self._cases), self.learner.ledger.label_spend)

    # -- units ---------------------------------------------------------------------------------------

    @property
    def _asks_noise(self) -> bool:
        """Whether labels are bought to learn their noise."""
        return self._cases.columns.type_column is not None and self.noise.std is None

    @property
    def _knows_spread(self) -> bool:
        """Whether anything but a guess says how far off predictions are."""
        return not self._asks_noise if self._cases.columns.type_column is not None else self.learner.fits > 0

    def _freeze_if_due(self) -> None:
        """Go over to standardised units, once the first arrivals and some of their labels are known."""
        enough = arrivals_to_scale(self._options, self.learner.warmup)
        if self.done < enough or (len(self._known) < LABELS and (self._late or self.done < PATIENCE)):
            return
        self._freeze()

    def _freeze(self) -> None:
        points = None if self._cases.columns.type_column is not None else self._cases.points[: self.done]
        if self._asks_noise:
            bought = zip(
                self._cases.part(0, self.done), self._cases.labels[: self.done].tolist(), strict=True
            )
            self.noise = measured([*labels_of(self._seeds), *bought], self.done)
        self._frozen = True
        self._change(Scales.of(points, self._known or [0.0]))

    def _learnt(self, y: float) -> None:
        """A label is known: from the first on, nothing known is taken for that label and not for zero."""
        if self._frozen:
            return
        if not self._known:
            columns = self._cases.columns
            self._change(Scales.around(y, None if columns.type_column is not None else columns.dim))
        self._known.append(y)

    def _change(self, scales: Scales) -> None:
        """Go over to other units; what was fitted in those before is fitted anew with the last label."""
        log, self._log = [event for event in self._log if not isinstance(event, Fitted)], []
        step, self.scales = scales.since(self.scales), scales
        self.learner = self._made()
        if not self._frozen:
            self.learner.listen(self._log.append)
        last = max((place for place, one in enumerate(log) if isinstance(one, Told | Learnt)), default=-1)
        for place, event in enumerate(map(step.event, log)):
            if place == last and isinstance(event, Told):
                self.learner.tell(event.id, event.y)
            elif place == last and isinstance(event, Learnt):
                self.learner.learn(event.x, event.y)
            else:
                self.learner.apply(event)
