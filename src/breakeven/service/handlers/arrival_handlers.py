"""Arrivals: decided on, one or many at once, all or none; predicted without being counted; looked up."""

from collections.abc import Sequence
from functools import partial
from math import isfinite
from typing import Any

from breakeven.errors import DuplicateId, InvalidInput, UnknownId, expect
from breakeven.errors.serving import TooLarge
from breakeven.folding import event_of
from breakeven.learner import Learner
from breakeven.rows import Columns
from breakeven.service.calls import JSON_WRITER, Call
from breakeven.service.edge_limits import LONGEST_TYPE
from breakeven.service.folded import Folded
from breakeven.service.live_stream import LiveStream, Question
from breakeven.service.waiting import ask_store
from breakeven.store import LogEntry
from breakeven.store.export import time_of
from breakeven.values import Arrived, Decision, Prediction
from breakeven.wire.arrivals import (
    MOST_ARRIVALS,
    Arrival,
    ArrivalAnswer,
    DecisionAnswer,
    PastEntry,
    PredictionAnswer,
    PredictionsAnswer,
)

GivenPoint = tuple[Any, Any]  # a point, and the cost that came with it


async def arrive(call: Call) -> bytes:
    """Decide on one arrival, or on many; the answer is made in the same turn, and sent once it is on disk."""
    live, body = call.live, call.body
    if type(body) is Arrival:
        if body.id is not None:
            live.refuse_erased(body.id)
        answer, _ = await live.change(
            call.by,
            "decide",
            lambda now: JSON_WRITER.encode(answer_one(live, now, body)),
            ask=lambda now: past_arrival(live, now, body.id),
        )
        return answer
    if len(body) > MOST_ARRIVALS:
        raise _too_many("arrivals", len(body))
    if not body:
        return b"[]"
    ids = [one.id for one in body if one.id is not None]
    live.refuse_erased(*ids)
    answer, _ = await live.change(
        call.by,
        "decide_many",
        lambda now: JSON_WRITER.encode(answer_many(live, now, body)),
        len(body),
        ask=lambda now: past_arrivals(live, now, ids),
    )
    return answer


def past_arrival(live: LiveStream, now: Folded, id: str | None) -> Question | None:
    """What to ask the store: for the arrival with an id, if only it can know whether that came before."""
    if id is None or id not in live.seen or now.learner.state.book.find(id) is not None:
        return None
    return partial(_found, live, [id])


def past_arrivals(live: LiveStream, now: Folded, ids: list[str]) -> Question | None:
    """The same, for many ids."""
    find = now.learner.state.book.find
    old = [id for id in live.seen.among(ids) if find(id) is None] if ids else []
    return partial(_found, live, old) if old else None


def _found(live: LiveStream, ids: list[str]) -> list[LogEntry]:
    return list(live.store.find_many(live.number, ids).values())


def answer_one(live: LiveStream, now: Folded, arrival: Arrival) -> DecisionAnswer:
    """In a turn: decide on an arrival; what happened gets the next number."""
    decision, past = decide_one(live, now, arrival)
    return decision_answer(decision, live.seq + 1 if now.fresh else past, repeated=not now.fresh)


def answer_many(live: LiveStream, now: Folded, arrivals: list[Arrival]) -> list[DecisionAnswer]:
    """In a turn: decide on many arrivals; what happened gets the next numbers."""
    answers, fresh, first = decide_many(live, now, arrivals), now.fresh, live.seq + 1
    if len(fresh) == len(answers):  # none of them came before
        return [decision_answer(one, seq) for seq, (one, _) in enumerate(answers, first)]
    numbers = {one.decision.id: seq for seq, one in enumerate(fresh, first) if type(one) is Arrived}
    return [
        decision_answer(one, numbers.get(one.id, past), repeated=one.id not in numbers)
        for one, past in answers
    ]


def decide_one(live: LiveStream, now: Folded, arrival: Arrival) -> tuple[Decision, int | None]:
    """The decision on an arrival, and the entry of the log it is from if it is an old one."""
    learner = now.learner
    point, cost = point_of(now.columns, arrival)
    id = arrival.id
    if id is None or learner.state.book.find(id) is None:
        for entry in now.found:
            return again(learner, entry, point, cost, arrival.force), entry.seq
        if id is not None:
            live.check_new(id)
        now.check_room(live.name)
    return learner.decide(point, cost=cost, id=id, force=arrival.force), None


def decide_many(live: LiveStream, now: Folded, arrivals: list[Arrival]) -> list[tuple[Decision, int | None]]:
    """Decisions on many arrivals; those of long ago come from the log."""
    learner, find = now.learner, now.learner.state.book.find
    points, costs = _points_of(now.columns, arrivals)
    ids = [one.id for one in arrivals if one.id is not None]
    if ids and len(ids) != len(arrivals):
        came = f"{len(ids)} among {len(arrivals)}"
        expect.refuse("arrivals", "an id for each, or for none", came, described=True)
    if not ids:
        now.check_room(live.name, len(points))
        return [(one, None) for one in learner.decide_many(points, costs=costs)]
    past = {one.id: one for one in now.found if one.id is not None}
    live.check_new(*ids)
    if past:
        every_cost = costs or [None] * len(ids)
        return _some_again(live, now, list(zip(ids, points, every_cost, strict=True)), past)
    if now.limit is not None:
        now.check_room(live.name, sum(find(id) is None for id in ids))
    return [(one, None) for one in learner.decide_many(points, costs=costs, ids=ids)]


def _some_again(
    live: LiveStream, now: Folded, cases: list[tuple[str, Any, Any]], past: dict[str, LogEntry]
) -> list[tuple[Decision, int | None]]:
    """The same, where some arrived so long ago that only the log knows them."""
    learner, book = now.learner, now.learner.state.book
    book.check_each_once([id for id, _, _ in cases])
    answers: dict[str, tuple[Decision, int | None]] = {
        id: (again(learner, past[id], point, cost, None), past[id].seq)
        for id, point, cost in cases
        if id in past
    }
    new = [case for case in cases if case[0] not in past]
    now.check_room(live.name, sum(book.find(id) is None for id, _, _ in new))
    ids, points, costs = [id for id, _, _ in new], [point for _, point, _ in new], [cost for *_, cost in new]
    given = costs if any(cost is not None for cost in costs) else None
    decided = learner.decide_many(points, costs=given, ids=ids)
    answers.update({one.id: (one, None) for one in decided})
    return [answers[id] for id, _, _ in cases]


def _points_of(columns: Columns | None, arrivals: list[Arrival]) -> tuple[list[Any], list[Any] | None]:
    """The points of many arrivals, and the costs that came with them; None where none did."""
    points, costs = [], []
    for place, one in enumerate(arrivals):
        if one.force is not None:
            raise InvalidInput(
                f"arrivals[{place}]: expected no force among many, got one; send that one alone"
            )
        try:
            point, cost = point_of(columns, one)
        except InvalidInput as error:
            raise InvalidInput(f"arrivals[{place}]: {error}") from error
        points.append(point)
        costs.append(cost)
    return points, costs if any(cost is not None for cost in costs) else None


def point_of(columns: Columns | None, arrival: Arrival) -> GivenPoint:
    """The point of an arrival, and the cost that came with it."""
    if columns is None and type(arrival.row) is not dict:
        return checked_type(arrival.row), arrival.cost
    point, cost = point_at(columns, arrival.row), arrival.cost
    if cost is None and columns is not None and isinstance(arrival.row, dict):
        cost = columns.cost(arrival.row)
    return point, cost


def point_at(columns: Columns | None, row: Any) -> Any:
    """The point of a row: of values by name where the stream has columns, else the row itself."""
    if columns is None:
        if isinstance(row, dict):
            expect.refuse("row", "a type or numbers, as this stream has no columns", row)
        return checked_type(row)
    if not isinstance(row, dict):
        expect.refuse("row", "values by the names of columns", row)
    return checked_type(columns.point(row))


def checked_type(point: Any) -> Any:
    """A point, unless it is a type with a longer name than is kept."""
    if type(point) is str and len(point) > LONGEST_TYPE:
        words = f"a type of at most {LONGEST_TYPE:,} characters"
        expect.refuse("row", words, f"{len(point):,} of them", described=True)
    return point


def again(learner: Learner, entry: LogEntry, point: Any, cost: Any, force: bool | None) -> Decision:
    """The answer to an arrival of long ago, if it is the same arrival."""
    event, state = event_of(entry), learner.state
    assert isinstance(event, Arrived)  # as `find` says
    decision = event.decision
    forced = decision.wants_label if decision.by == "person" else None
    same = event.x == state.belief.plain(state.belief.point(point))
    if not same or event.given != state.costs.quote(cost).given or forced != force:
        raise DuplicateId(
            f"id: expected one that is not in use, got {entry.id!r}, which arrived with another row, cost or "
            f"decision of a person (entry {entry.seq})"
        )
    return decision


# -- answers -----------------------------------------------------------------------------------------


def decision_answer(decision: Decision, entry: int | None, *, repeated: bool = False) -> DecisionAnswer:
    """A decision as it is answered."""
    one, predicted = decision, decision.prediction
    return DecisionAnswer(
        one.id,
        one.wants_label,
        PredictionAnswer(predicted.mean, predicted.std, predicted.noise_std, predicted.probability),
        one.uncertainty,
        one.threshold,
        one.worth,
        one.cost,
        one.propensity,
        one.reason,
        one.why,
        one.round,
        one.by,
        entry,
        one.labeller,
        one.exact,
        one.ambiguous,
        repeated,
    )


def prediction_answer(prediction: Prediction) -> PredictionAnswer:
    """A prediction as it is answered, with intervals."""
    return PredictionAnswer(
        prediction.mean,
        prediction.std,
        prediction.noise_std,
        prediction.probability,
        prediction.interval(),
        prediction.interval(of="label"),
    )


async def predict(call: Call) -> PredictionsAnswer:
    """Predict at rows; nothing is counted."""
    rows = call.body.rows
    if len(rows) > MOST_ARRIVALS:
        raise _too_many("rows", len(rows))

    def work(now: Folded) -> Sequence[Prediction]:
        points = [point_at(now.columns, row) for row in rows]
        return now.learner.predict_many(points) if points else []

    found, as_of = await call.live.look("predict", work, len(rows))
    return PredictionsAnswer([prediction_answer(one) for one in found], as_of)


def _too_many(what: str, came: int) -> TooLarge:
    return TooLarge(f"{what}: expected at most {MOST_ARRIVALS} at once, got {came}; send several calls")


async def arrival(call: Call) -> ArrivalAnswer:
    """An arrival, its decision, and all that came of it."""
    live, id = call.live, call.id
    (standing, columns), as_of = await live.look(
        "standing", lambda now: (standing_of(now.learner, id), now.columns)
    )
    entry, about = await ask_store(_in_store, live, id)
    event = None if entry is None else event_of(entry)
    if entry is None or not isinstance(event, Arrived):
        raise UnknownId(f"id: expected one that has arrived in {live.name!r}, got {id!r}")
    came = [_past(one) for one in about]
    return ArrivalAnswer(
        row_of(columns, event.x),
        time_of(entry.at),
        entry.by,
        decision_answer(event.decision, entry.seq),
        standing,
        came,
        as_of,
    )


def _in_store(live: LiveStream, id: str) -> tuple[LogEntry | None, list[LogEntry]]:
    """The entry of an arrival, and all others about it."""
    return live.store.find(live.number, id), live.store.about(live.number, id)


def row_of(columns: Columns | None, x: Any) -> Any:
    """A point as the row that it was made of; one that is not finite in JSON is left to the encoder."""
    return x if columns is None else columns.row(x)


def standing_of(learner: Learner, id: str) -> str:
    """Where the label of an arrival stands; what the learner does not remember is settled."""
    entry = learner.state.book.find(id)
    if entry is None:
        return "settled"
    if entry.y is not None:
        return "told"
    if entry.withdrawn is not None:
        return "withdrawn"
    return "awaited" if entry.asked else "not asked for"


def _past(entry: LogEntry) -> PastEntry:
    event: Any = event_of(entry) if entry.kind in ("Told", "Corrected", "Withdrawn", "Learnt") else None
    y = getattr(event, "y", None)
    return PastEntry(
        entry.seq,
        time_of(entry.at),
        entry.by,
        entry.kind,
        y if y is not None and isfinite(y) else None,
        getattr(event, "labeller", None),
        getattr(event, "charged", None),
    )
