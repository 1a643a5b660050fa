"""A stream of types in compiled loops: when that pays, and the state of its learner while it passes.

Answers and state are the same as when arrivals are decided on one by one, to the bit. Only the last `keep`
arrivals are entered into the book, which would forget the others.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import repeat
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from breakeven.beliefs import SeparateTypes, TypeMeans
from breakeven.errors.expect import Array
from breakeven.learner.book import Entry
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
from breakeven.learner.bulk.judges import COMPILED_RULES, Reasons, judge_for, rates_agree
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.rules import Value
from breakeven.values import EVEN, Decision, Prediction

SHORTEST = 100_000  # rounds: loading the compiled loops takes as long as about this many rounds one by one
CHUNK_ROUNDS = 2**17  # at a time
LARGEST_INTEGER = 2**63 - 1
COMPILED_BELIEFS = (TypeMeans, SeparateTypes)


def pays(state: State, rounds: int) -> bool:
    """Whether a stream of this length runs in compiled loops; else it runs one by one."""
    belief, rule = state.belief, state.rule
    return (
        rounds >= SHORTEST
        and isinstance(belief, TypeMeans)
        and type(belief) in COMPILED_BELIEFS
        and belief.even
        and belief.level == EVEN
        and type(rule) in COMPILED_RULES
        and (belief.prior_std is None or type(rule) is Value)
        and not state.costs.labellers
        and not state.listeners
        and state.answers_within is None
        and state.warmup.over
        and not state.fit_due
        and loops() is not None
        and (type(rule) is not Value or rates_agree())
    )


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


def decide_many(state: State, points: Points) -> list[Decision]:
    """Decide on types with a learner for which that `pays`; labels are awaited. Nothing is checked here."""
    run, first, key = RunningStream(state, points), state.rounds + 1, state.earlier + state.number
    decisions: list[Decision] = []
    predictions: list[Prediction] = []
    for rounds in run.chunks(len(points)):
        answers, before = run.room(rounds)
        run.decide(rounds, answers, before=before)
        predictions += state.belief.predict_many(run.coding.names[len(predictions) :])
        predicted = map(predictions.__getitem__, run.coding.codes().tolist())
        decisions += run.decisions(first + rounds.start, answers, before, predicted)
    wanted = np.array([decision.wants_label for decision in decisions], dtype=bool)
    asked, passed = np.flatnonzero(wanted), np.flatnonzero(~wanted)[-state.book.keep or len(points) :]
    state.phase = CHANGING
    run.settle()
    state.book.note_numbered(first, len(points))
    for places, enter in ((asked, state.book.await_many), (passed, state.book.settle_many)):
        types = run.coding.types_at(places)
        cases = zip(places.tolist(), types, strict=True)
        enter([Entry(decisions[i].id, key + 1 + i, x, decisions[i]) for i, x in cases])
    state.book.buy_many(len(asked), state.quote.cost)
    state.number += len(points)
    state.phase = WHOLE
    return decisions


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
    entries: list[Entry] = []
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
            keys = run.keys(key, rounds, labels, answers)
            entries += run.entries(rounds_before + 1, rounds, keys, answers, before, y, ids)
        labels += bought
    state.phase = CHANGING
    run.settle()
    if ids is None:
        state.book.note_numbered(rounds_before + 1, len(points))
    else:
        for round, id in enumerate(ids, rounds_before + 1):
            state.book.note_id(id, round)
    state.book.buy_many(labels, state.quote.cost)
    state.book.settle_many(entries)
    state.number += len(points) + labels
    state.phase = WHOLE
    if not full:
        return Passed(out, None, None, run.judge.propensity)
    codes = np.concatenate([one.codes for one in reasons]) if reasons else np.empty(0, dtype=np.uint8)
    words = reasons[0].words if reasons else ()
    return Passed(out, Before.joined(befores), Reasons(codes, words), run.judge.propensity)


class RunningStream:
    """The state of a learner in arrays, while a stream passes; the learner takes it up at the end."""

    def __init__(self, state: State, points: Points) -> None:
        compiled, belief = loops(), state.belief
        assert compiled is not None
        assert isinstance(belief, TypeMeans)  # as SeparateTypes is
        self._state, self._belief, self._rounds = state, belief, len(points)
        self.loops = compiled
        self.coding = Coding(points, compiled)
        self.judge = judge_for(state, self.coding.names, compiled)
        self.types = TypeArrays.of([])
        self._labels = belief.asked
        self._spreads = Spreads(compiled, belief)
        self._points = points

    def chunks(self, rounds: int, cut: int = 0) -> Iterator[slice]:
        """The rounds, in pieces, none of which reaches over the `cut`."""
        for start, stop in ((0, cut), (cut, rounds)):
            for low in range(start, stop, CHUNK_ROUNDS):
                yield slice(low, min(low + CHUNK_ROUNDS, stop))

    def room(self, rounds: slice) -> tuple[Answers, Before]:
        """Room for the answers of some rounds, and for what was believed before."""
        count = rounds.stop - rounds.start
        return Answers.empty(count), Before.empty(count)

    def decide(
        self, rounds: slice, out: Answers, told: LabelArrays | None = None, before: Before | None = None
    ) -> int:
        """Some more rounds, and how many labels were bought; unless they are `told`, they are awaited."""
        self.coding.take(rounds)
        labels, count, start = self._labels, rounds.stop - rounds.start, 0
        self.judge.prepare(self._state.rounds + 1 + rounds.start, count)
        while start < count:
            rest = slice(start, None)
            room = out.part(rest), before and before.part(rest)
            done, why = self._decide(start, told and told.part(rest), *room)
            start += done
            self._provide(why, start)
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
        self.types = self.types.with_more(self._belief.tallies(self.coding.meet(start)))

    def _clocks(self, start: int) -> Counts:
        """How many of its type there were, with each from `start` of the chunk on."""
        self._meet(start)
        coding, counted = self.coding, self.types.arrivals.copy()
        return np.asarray(self.loops.clocks(coding.values[start:], coding.low, coding.lookup, counted))

    # -- decisions and entries -------------------------------------------------------------------

    def decisions(
        self,
        first: int,
        answers: Answers,
        before: Before,
        predicted: Iterator[Prediction],
        ids: Sequence[str] | None = None,
    ) -> list[Decision]:
        """The decisions of the chunk just answered, which begins with the round `first`."""
        wanted, propensity, book = answers.wants_label, self.judge.propensity, self._state.book
        count, start = len(wanted), max(first, book.next_number + first - self._state.rounds - 1)
        return list(
            map(
                Decision,
                map(str, range(start, start + count)) if ids is None else ids,
                wanted.tolist(),
                predicted,
                answers.uncertainty.tolist(),
                answers.threshold.tolist(),
                repeat(self._state.quote.cost),
                wanted.astype(float).tolist() if propensity is None else repeat(propensity),
                self.judge.reasons(answers, before).worded(),
                *map(repeat, (True, False, 1.0, None)),  # exact, not ambiguous, not stretched, no labeller
                self.judge.worths(before.worth),
                repeat("rule"),
                range(first, first + count),
                *map(repeat, ((), None)),  # no other offers, no doubt
                self.judge.worths(before.worth_now),
            )
        )

    def keys(self, before: int, rounds: slice, labels: int, answers: Answers) -> list[int]:
        """The keys of the arrivals, if `labels` were told in the rounds of earlier chunks."""
        places = np.arange(rounds.start, rounds.stop)
        told = labels + np.cumsum(answers.wants_label) - answers.wants_label
        fits = np.searchsorted(self.judge.fitted_after, places)
        return list((before + 1 + places + told + fits).tolist())

    def entries(
        self,
        first: int,
        rounds: slice,
        keys: list[int],
        answers: Answers,
        before: Before,
        y: Array,
        ids: Sequence[str] | None,
    ) -> list[Entry]:
        """Entries of a chunk whose labels were told at once; the stream began with the round `first`."""
        noise = repeat(self._belief.traits.noise_std)
        predicted = map(Prediction, before.prediction.tolist(), before.std.tolist(), noise)
        names = None if ids is None else ids[rounds]
        decisions = self.decisions(first + rounds.start, answers, before, predicted, names)
        types = self.coding.types_at(np.arange(rounds.start, rounds.stop))
        wanted = answers.wants_label.tolist()
        told = [label if one else None for label, one in zip(y[rounds].tolist(), wanted, strict=True)]
        return [
            Entry(decision.id, key, x, decision, None, label, None, label is not None)
            for decision, key, x, label in zip(decisions, keys, types, told, strict=True)
        ]

    def settle(self) -> None:
        """The learner takes up the outcome, but for its book."""
        self._belief.settle(self._rows())
        self._state.rounds += self._rounds
        self.judge.settle()

    def _rows(self) -> Iterator[tuple[Any, int, int, int, tuple[float, ...]]]:
        """Every type with its counts and the parts of the sum of its labels."""
        types = self.types
        counts = (column.astype(int).tolist() for column in (types.arrivals, types.asked, types.told))
        parts = zip(*(column.tolist() for column in types.parts.T), strict=True)
        return zip(self.coding.names, *counts, parts, strict=True)
