"""Batches of arrivals and of labels: all of it is checked before the first counts, then each in its order.

The answers are those of one by one. Arrivals are looked at in blocks, and long batches of types go through
compiled loops.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from breakeven.errors import InvalidInput, expect
from breakeven.learner import bulk
from breakeven.learner.costs import GivenCost, Quote
from breakeven.learner.deciding import again, decide
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.values import Decision

LOOKED_AT_ONCE = 64  # arrivals of a batch looked at together; more bring no speed


def decide_many(
    state: State, X: Any, costs: Iterable[GivenCost] | None, ids: Iterable[str] | None
) -> list[Decision]:
    """Decide on a batch in its order; what was decided on before is answered again."""
    points = state.belief.points(X)
    if costs is None and ids is None and bulk.pays(state, len(points)):
        return bulk.decide_many(state, points)
    quotes = _quotes(state, costs, len(points))
    names = [None] * len(points) if ids is None else state.book.check_each_once(expect.rows("ids", ids))
    _same_length("ids", names, len(points))
    answers = [_known(state, *case) for case in zip(names, points, quotes, strict=True)]
    new = [i for i, answer in enumerate(answers) if answer is None]
    for low in range(0, len(new), LOOKED_AT_ONCE):
        places = new[low : low + LOOKED_AT_ONCE]
        state.phase = CHANGING
        looks = state.belief.look_many([points[i] for i in places])
        for j, i in enumerate(places):
            state.phase = CHANGING
            view = looks.look(j)
            state.phase = WHOLE
            decision = answers[i] = decide(state, names[i], points[i], quotes[i], None, view)
            if decision.wants_label:
                looks.asked(j, **state.costs.noise_of(decision.labeller))
    return [answer for answer in answers if answer is not None]


def _known(state: State, id: str | None, point: Any, quote: Quote) -> Decision | None:
    """The answer to an arrival of a batch that was decided on before."""
    entry = None if id is None else state.book.find(id)
    return None if entry is None else again(state, entry, point, quote.given, None)


def _quotes(state: State, costs: Iterable[GivenCost] | None, count: int) -> list[Quote]:
    if costs is None:
        return [state.quote] * count
    given = expect.rows("costs", costs)
    quotes = [state.costs.quote(cost, f"costs[{i}]") for i, cost in enumerate(given)]
    _same_length("costs", quotes, count)
    return quotes


def checked_labels(state: State, ids: Iterable[str], ys: Iterable[float]) -> list[tuple[str, float]]:
    """The ids and labels of a batch that may be told."""
    given, values = expect.rows("ids", ids), expect.rows("ys", ys)
    labels = [state.label(f"ys[{i}]", y) for i, y in enumerate(values)]
    _same_length("ys", labels, len(given))
    return list(zip(state.book.check_tellable(given, labels), labels, strict=True))


def _same_length(name: str, values: Sequence[Any], count: int) -> None:
    if len(values) != count:
        raise InvalidInput(f"{name}: expected {count}, as many as there are of the others, got {len(values)}")
