"""A stream of types in compiled loops: when that pays, and the state of its learner while it passes.

Answers and state are the same as when arrivals are decided on one by one, to the bit. Only the last `keep`
arrivals are entered into the book, which would forget the others.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from math import inf
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import astuple

from breakeven.beliefs import SeparateTypes, TypeMeans
from breakeven.beliefs.types.tallies import Census, Settled, Tally
from breakeven.beliefs.types.weighing import TypePrior
from breakeven.errors.expect import Array
from breakeven.learner.book import PassedBatch
from breakeven.learner.bulk.arrays import (
    NEEDS_LIMITS,
    NEEDS_PARTS,
    NEEDS_SPREADS,
    NEW_TYPE,
    Answers,
    Before,
    Coding,
    Counts,
    Given,
    LabelArrays,
    Points,
    Spreads,
    TypeArrays,
)
from breakeven.learner.bulk.arrived_rows import ArrivedRows, own_points
from breakeven.learner.bulk.judges import COMPILED_RULES, KnownTypes, Met, judge_for, prior_terms, rates_agree
from breakeven.learner.soundness import check_columns
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.rules import Value
from breakeven.values import EVEN, CompiledDecisions, DecisionColumns, Reasons

SHORTEST = 100_000  # rounds: loading the compiled loops takes as long as about this many rounds one by one
SHORTEST_BATCH = 128  # rounds for which loops that are loaded take less time than one by one
CHUNK_ROUNDS = 2**17  # at a time
TYPES_A_ROUND = 8  # types for each round of a batch; more would cost more to keep than to look up again
LARGEST_INTEGER = 2**63 - 1
COMPILED_BELIEFS = (TypeMeans, SeparateTypes)
NO_COUNTS = np.zeros(5, dtype=np.int64)


def pays(state: State, rounds: int) -> bool:
    """Whether a stream of this length runs in compiled loops; else it runs one by one."""
    return rounds >= SHORTEST and not state.listeners and serves(state) and _compiles(state)


def serves(state: State) -> bool:
    """Whether the loops know this belief and this rule, as they are now."""
    belief, rule = state.belief, state.rule
    return (
        isinstance(belief, TypeMeans)
        and type(belief) in COMPILED_BELIEFS
        and belief.even
        and belief.level == EVEN
        and type(rule) in COMPILED_RULES
        and (belief.prior_std is None or type(rule) is Value)
        and not state.costs.labellers
        and state.answers_within is None
        and state.warmup.over
        and not state.fit_due
    )


def _compiles(state: State) -> bool:
    return loops() is not None and (type(state.rule) is not Value or rates_agree())


class Batches:
    """Loading the loops takes as long as many rounds: they are loaded once so many have come in batches."""

    def __init__(self) -> None:
        self.rounds = 0

    def pay(self, state: State, rounds: int) -> bool:
        """Whether a batch that the loops serve, of this length, runs in them; else it runs one by one."""
        if rounds < SHORTEST_BATCH:
            return False
        self.rounds += rounds
        return (self.rounds >= SHORTEST or loops.cache_info().currsize > 0) and _compiles(state)


batches = Batches()  # those of this process


def holds_types(X: Any) -> bool:
    """Whether this is an array of integers that are all valid types, so that none has to be checked."""
    return (
        type(X) is np.ndarray
        and X.ndim == 1
        and X.dtype.kind in "iu"
        and (X.dtype != np.uint64 or X.size == 0 or int(X.max()) <= LARGEST_INTEGER)
    )


@cache
def loops() -> ModuleType | None:
    """The compiled loops, or None where numba is not installed."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return None
    return import_module("breakeven.learner.bulk.loops")


class Passed(NamedTuple):
    """What a replayed stream led to; what was believed before each label, and why, only where asked for."""

    answers: Answers
    before: Before | None
    reasons: Reasons | None
    propensity: float | None  # of a label, where that is the same for all


def replay(
    state: State,
    points: Points,
    y: Array,
    *,
    true: bool,
    full: bool = False,
    ids: Sequence[str] | None = None,
) -> Passed:
    """Run types through a learner for which that `pays`, each label told as soon as it is asked for.

    Nothing is checked here, not even that `ids` are new. A labelled round answers the mean after its label,
    if there is a `true` value to meet, else the label. What was believed before each label, and the reasons,
    are returned where `full` asks for them.
    """
    run, rounds_before, key = RunningStream(state, points), state.rounds, state.earlier + state.number
    out = Answers.empty(len(points))
    kept = min(state.book.keep, len(points))
    last_rows: list[ArrivedRows] = []
    befores: list[Before] = []
    reasons: list[Reasons] = []
    labels = 0
    for rounds in run.chunks(len(points), len(points) - kept):
        last, answers = rounds.start >= len(points) - kept, out.part(rounds)
        before = Before.empty(rounds.stop - rounds.start) if full or last else None
        bought = run.decide(rounds, answers, LabelArrays(y[rounds], true), before)
        if before is not None:
            befores.append(before)
            reasons.append(run.judge.reasons(answers, before))
        if before is not None and last:
            names = run.automatic_ids(rounds) if ids is None else ids[rounds]
            decided = run.decided(names, rounds, answers, before, reasons[-1])
            keys = run.keys(key, rounds, labels, answers)
            told = np.where(answers.wants_label, y[rounds], np.nan)
            last_rows.append(ArrivedRows(keys, own_points(points[rounds]), names, decided, labels=told))
        labels += bought
    state.phase = CHANGING
    run.settle()
    if ids is None:
        state.book.note_numbered(rounds_before + 1, len(points))
    else:
        for round, id in enumerate(ids, rounds_before + 1):
            state.book.note_id(id, round)
    state.book.buy_many(labels, state.quote.cost)
    for rows in last_rows:
        state.book.pass_many(dict.fromkeys(rows.decided.ids, PassedBatch()), rows)
    state.number += len(points) + labels
    state.phase = WHOLE
    if not full:
        return Passed(out, None, None, run.judge.propensity)
    return Passed(out, Before.joined(befores), Reasons.joined(reasons), run.judge.propensity)


class RestingArrays:
    """The arrays behind a batch: the next one goes on with them if only labels changed in between."""

    def __init__(self, run: "RunningStream | None" = None, number: int = 0) -> None:
        self._run, self._number = run, number
        if run is not None:
            run.coding.rest()
        self._changed: dict[Any, None] = {}  # types whose labels have changed since
        self._noted = False

    def note(self, types: Iterable[Any], number: int) -> None:
        """The event with this number changed the labels of these types, or what is believed of all."""
        if number == self._number + 1:
            self._number, self._noted = number, True
            self._changed.update(dict.fromkeys(types))
        else:
            self._run = None  # something else happened

    def wake(self, state: State, rounds: int | None) -> "RunningStream | None":
        """The arrays as they are now, unless it takes less to make those of so few rounds anew."""
        run = self._run
        if run is None or self._number != state.number:
            return None
        if rounds is not None and run.types_met > TYPES_A_ROUND * rounds:
            return None
        if self._noted:
            run.take_changed(list(self._changed))
        return run


def awake(
    state: State, points: Points, prices: Array | None = None, *, deciding: bool = True
) -> "RunningStream":
    """The arrays for a batch whose labels are awaited, or for labels that came.

    Until it is settled, none are at rest.
    """
    resting, state.resting = state.resting, None
    run: RunningStream | None = None
    if resting is not None:
        run = resting.wake(state, len(points) if deciding else None)
    if run is None:
        return RunningStream(state, points, prices, told=False)
    run.go_on(points, prices)
    return run


class LentTypes:
    """Types in arrays, while they are the state of a belief; those that changed can be written out."""

    def __init__(self, names: list[Any]) -> None:
        self._names = names
        self.types = TypeArrays.of([])
        self.note_written()

    def note_written(self) -> None:
        """The belief has all of it as it is now."""
        self._arrivals, self._told = self.types.arrivals.copy(), self.types.told.copy()

    def known(self) -> KnownTypes:
        """The mean of the labels of each type that has any told, and how many they are."""
        return self._met.known()

    def predict(self, prior: TypePrior) -> None:
        """Predict every type under this prior."""
        self._met.predict(prior)

    @property
    def _met(self) -> Met:
        return Met(self._names, dict, NO_COUNTS, self.types)

    def rows(self) -> Iterator[Settled]:
        """The types that came, or whose labels were told, since they were written out; new ones last."""
        arrivals, told, known = self.types.arrivals, self.types.told, len(self._arrivals)
        came = np.flatnonzero((arrivals[:known] != self._arrivals) | (told[:known] != self._told))
        if known < len(arrivals):
            came = np.append(came, np.arange(known, len(arrivals)))
        names = map(self._names.__getitem__, came.tolist())
        return rows_of(names, self.types.at(came))


def counted(types: TypeArrays) -> Counts:
    """The counts over types, in the order of a `Census`."""
    arrivals, asked = types.arrivals, types.asked > 0
    first = arrivals.sum(), (arrivals > 0).sum(), asked.sum(), (types.told > 0).sum()
    return np.array([*first, arrivals[~asked].sum()], dtype=np.int64)


class RunningStream:
    """The state of a learner in arrays, while a stream passes; the learner takes it up at the end.

    If labels are `told` as soon as they are asked for, it takes up everything. Else the arrays themselves
    are its state from then on, until somebody asks for what is known of a type.
    """

    def __init__(
        self, state: State, points: Points, prices: Array | None = None, *, told: bool = True
    ) -> None:
        compiled, belief = loops(), state.belief
        assert compiled is not None
        assert isinstance(belief, TypeMeans)  # as SeparateTypes is
        belief.write_out()
        self._state, self._belief, self._rounds = state, belief, len(points)
        self.loops = compiled
        self.coding = Coding(points, compiled)
        self.judge = judge_for(state, self.coding.names, compiled, told=told)
        self.judge.begin(state.rounds + 1, len(points), prices)
        self._told = told
        self.types = TypeArrays.of([])
        self._labels = belief.asked
        self._spreads = Spreads(compiled, belief, len(points))
        self._lent = LentTypes(self.coding.names)
        self._counts = belief.keeps_count and self.judge.counts is None  # which nobody else counts
        self._counted = counted(self.types)

    def go_on(self, points: Points, prices: Array | None) -> None:
        """Other rounds come behind those that were settled; nothing else happened but changes of labels."""
        if not self._belief.lent(self._lent):
            self._lent.note_written()
        self.coding.begin(points)
        self._rounds, self._labels = len(points), self._belief.asked
        if self._counts:
            self._counted = counted(self.types)
        self._spreads.reach(self._labels)
        self.judge.begin(self._state.rounds + 1, len(points), prices)

    def take_changed(self, points: Sequence[Any]) -> None:
        """Labels of these types have changed, and with them what is believed of all, where that is learnt."""
        for point, tally in zip(points, self._belief.tallies(points) or (), strict=True):
            if (code := self.coding.code_of(point)) is not None:
                self._take(code, tally)
        if self._belief.across.learns:
            self._lent.predict(self._belief.across.prior)

    def _take(self, code: int, tally: Tally) -> None:
        """What is known of this type is so now."""
        parts, room = tally.sum.parts, self.types.parts.shape[1]
        if len(parts) > room:
            self.types = self._lent.types = self.types.with_room(len(parts))
            room = len(parts)
        _, asked, told, mean, sums = self.types
        asked[code], told[code], mean[code] = tally.asked, tally.told, tally.prediction.mean
        sums[code] = (*parts, *(0.0,) * (room - len(parts)))

    @property
    def types_met(self) -> int:
        """How many types have codes."""
        return len(self.coding.names)

    def chunks(self, rounds: int, cut: int = 0) -> Iterator[slice]:
        """The rounds, in pieces, none of which reaches over the `cut`."""
        for start, stop in ((0, cut), (cut, rounds)):
            for low in range(start, stop, CHUNK_ROUNDS):
                yield slice(low, min(low + CHUNK_ROUNDS, stop))

    def decide(
        self, rounds: slice, out: Answers, told: LabelArrays | None = None, before: Before | None = None
    ) -> int:
        """Some more rounds, and how many labels were bought; unless they are `told`, they are awaited."""
        self.coding.take(rounds)
        labels, count, start = self._labels, rounds.stop - rounds.start, 0
        met = not self.coding.names
        if met:
            self._meet(0)  # the loop would stop at once
        self.judge.prepare(self._state.rounds + 1 + rounds.start, count, lambda: self._clocks(0, met=met))
        while start < count:
            rest = slice(start, None)
            room = out.part(rest), before and before.part(rest)
            done, why = self._decide(start, told and told.part(rest), *room)
            start += done
            self._provide(why, start)
        worth = () if before is None or not self.judge.values_labels else (before.worth,)
        check_columns(self.types.mean, out.uncertainty, *worth)
        return self._labels - labels

    def _decide(
        self, start: int, told: LabelArrays | None, out: Answers, before: Before | None
    ) -> tuple[int, int]:
        coding, spreads = self.coding, self._spreads
        space = np.empty((2, 2 * self.types.parts.shape[1] + 4))
        rounds = (coding.values[start:], coding.low, coding.lookup, told)
        tables = (self._belief.traits.noise_std, spreads.values, spreads.first, space)
        given = Given(*rounds, self.types, self._labels, *tables, out, before)
        done, self._labels, why = self.judge.decide(given, start)
        return done, why

    def _provide(self, why: int, start: int) -> None:
        """Provide what the compiled loop stopped for at `start` of the chunk; priors are the judge's task."""
        if why == NEW_TYPE:
            self._meet(start)
        elif why == NEEDS_SPREADS:
            self._spreads.provide(self._labels)
        elif why == NEEDS_LIMITS:
            self.judge.extend(start, lambda: self._clocks(start))
        elif why == NEEDS_PARTS:
            self.types = self.types.with_room(2 * self.types.parts.shape[1])

    def _meet(self, start: int) -> None:
        if fresh := self.coding.meet(start):
            tallies, room = self._belief.tallies(fresh), self.types.parts.shape[1]
            if tallies is None:
                more = TypeArrays.new(self._belief.across.prior.mean, len(fresh), room)
            else:
                more = TypeArrays.of(tallies, room)
                self._counted += counted(more)  # as they were before these rounds
            self.types = self.types.with_more(more)

    def _clocks(self, start: int, *, met: bool = False) -> Counts:
        """How many of its type there were, with each from `start` of the chunk on, if all are `met`."""
        if not met:
            self._meet(start)
        coding, counted = self.coding, self.types.arrivals.copy()
        return np.asarray(self.loops.clocks(coding.values[start:], coding.low, coding.lookup, counted))

    # -- decisions and entries -------------------------------------------------------------------

    def automatic_ids(self, rounds: slice) -> range:
        """The numbers that are the ids of these rounds, where nobody names them."""
        first = max(self._state.rounds + 1, self._state.book.next_number)
        return range(first + rounds.start, first + rounds.stop)

    def decided(
        self,
        ids: Sequence[Any],
        rounds: slice,
        answers: Answers,
        before: Before,
        reasons: Reasons,
        costs: Array | None = None,
    ) -> CompiledDecisions:
        """The decisions of these rounds; labels cost what was agreed, unless `costs` say something else."""
        state, count, first = self._state, rounds.stop - rounds.start, self._state.rounds + 1
        wanted, chance, unit = answers.wants_label, self.judge.propensity, state.costs.error_cost
        columns = DecisionColumns(
            wanted,
            before.prediction,
            before.std,
            answers.uncertainty,
            answers.threshold,
            np.full(count, state.quote.cost) if costs is None else costs,
            wanted.astype(float) if chance is None else np.full(count, chance),
            *before.in_money(unit),
            np.arange(first + rounds.start, first + rounds.stop),
            reasons,
            np.zeros(count, dtype=bool),
        )
        noise_std = self._belief.traits.noise_std
        return CompiledDecisions(ids, columns, noise_std, values=self.judge.values_labels)

    def keys(self, before: int, rounds: slice, labels: int, answers: Answers) -> Counts:
        """The keys of the arrivals, if `labels` were told in the rounds of earlier chunks."""
        places = np.arange(rounds.start, rounds.stop)
        told = labels + np.cumsum(answers.wants_label) - answers.wants_label
        fits = np.searchsorted(self.judge.fitted_after, places)
        keys: Counts = before + 1 + places + told + fits
        return keys

    def settle(self) -> None:
        """The learner takes up the outcome, but for its book."""
        if self._told:
            self._belief.settle(rows_of(self.coding.names, self.types))
        else:
            self._lend(0)
        self._state.rounds += self._rounds
        self.judge.settle()

    def _lend(self, told: int) -> None:
        """The arrays are the state of the belief, in which so many labels more were told."""
        belief, census = self._belief, self.judge.counts
        self._lent.types = self.types
        if self._counts:
            now = counted(self.types)
            census, self._counted = np.array(astuple(belief.count())) + now - self._counted, now
        kept = None if census is None else Census(*census.tolist())
        belief.lend(self._lent, self._labels, belief.labels + told, kept)

    # -- labels that were awaited ----------------------------------------------------------------

    def tell(self, y: Array, means: Array, stds: Array) -> Iterator[int]:
        """Labels of the points, in their order: how many were told; means and stds are those after each.

        It stops behind a label after which a fit is due, which is to be made before it goes on.
        """
        from breakeven.learner.bulk import worth_loop  # which needs numba

        self.coding.take(slice(None))
        self._meet(0)
        codes, noise_std = self.coding.codes().astype(np.int64), self._belief.traits.noise_std
        census = NO_COUNTS.copy() if self.judge.counts is None else self.judge.counts
        done = 0
        while done < len(y):
            start, why, prior = done, NEEDS_PARTS, prior_terms(self._belief.across)
            if self._state.fitting == "outside":
                prior = prior._replace(due_at=inf)
            while why == NEEDS_PARTS:
                space = np.empty((2, 2 * self.types.parts.shape[1] + 4))
                given = self.types, space, noise_std, prior, census
                done, why = worth_loop.tell(codes, y, done, *given, means, stds)
                self._provide(why, done)
            self._lend(done - start)
            yield done
            last = codes[done - 1]  # a fit may have changed its prediction
            weight = self._belief.across.prior.worth + self.types.told[last]
            means[done - 1], stds[done - 1] = self.types.mean[last], noise_std / np.sqrt(weight)


def rows_of(names: Iterable[Any], types: TypeArrays) -> Iterator[Settled]:
    """Every type with its counts and the parts of the sum of its labels."""
    counts = (column.astype(int).tolist() for column in (types.arrivals, types.asked, types.told))
    parts = zip(*(column.tolist() for column in types.parts.T), strict=True)
    return zip(names, *counts, parts, strict=True)
