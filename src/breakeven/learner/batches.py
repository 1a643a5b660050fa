"""Batches of arrivals and of labels: all of it is checked before the first counts, then each in its order.

The answers are those of one by one. Types go through compiled loops where that pays; other arrivals are
looked at in blocks.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from functools import partial
from math import isnan, nan
from typing import Any

import numpy as np

from breakeven.errors import InvalidInput, expect
from breakeven.learner import bulk
from breakeven.learner.book import NewIds
from breakeven.learner.costs import GivenCost, Quote
from breakeven.learner.deciding import again, decide
from breakeven.learner.state import CHANGING, WHOLE, State
from breakeven.values import Decision, Decisions, Prediction, Predictions, PredictionsByCode

LOOKED_AT_ONCE = 64  # arrivals of a batch looked at together; more bring no speed


def decide_many(
    state: State, X: Any, costs: Iterable[GivenCost] | None, ids: Iterable[str] | None
) -> Decisions:
    """Decide on a batch in its order; what was decided on before is answered again."""
    served = bulk.serves(state)
    points = X if served and bulk.holds_types(X) else state.belief.points(X)
    given = None if costs is None else expect.rows("costs", costs)
    money = None if given is None or not served else bulk.sound_money(given)
    quotes = None if given is None or money is not None else _quotes(state, given)
    _same_length("costs", given, len(points))
    names = None if ids is None else expect.rows("ids", ids)
    if served and bulk.batches.pay(state, len(points)):
        if quotes is not None:
            money = np.array([nan if one.given is None else one.given for one in quotes], dtype=float)
        new = None if names is None else state.book.each_once(names)
        _same_length("ids", new, len(points))
        return _compiled(state, points, money, new)
    names = None if names is None else state.book.check_each_once(names)
    _same_length("ids", names, len(points))
    if money is not None:
        quotes = _quotes(state, given or ())
    rows = state.belief.points(X) if points is X else points
    return _one_by_one(state, rows, quotes or [state.quote] * len(rows), names)


def _compiled(state: State, points: Any, money: Any, names: NewIds | None) -> Decisions:
    """The compiled loops take what is new; the rest is answered as before."""
    if names is None or not state.book.knows_any(names):
        return bulk.decide_many(state, points, names, money)
    state.book.write_out()
    ids = list(names)
    types = points.tolist() if isinstance(points, np.ndarray) else points
    given = [None] * len(ids) if money is None else [None if isnan(one) else one for one in money.tolist()]
    quotes = [Quote(state.quote.cost, state.quote.price, given=one) for one in given]
    known = map(partial(_known, state), ids, types, quotes)
    answers = {place: one for place, one in enumerate(known) if one is not None}
    new = [place for place in range(len(ids)) if place not in answers]
    made = bulk.decide_many(
        state,
        [types[place] for place in new],
        {ids[place]: names[ids[place]] for place in new},
        None if money is None else money[new],
    )
    repeated = list(answers)
    answers.update(zip(new, made, strict=True))
    return Decisions([answers[place] for place in range(len(ids))], repeated)


def _one_by_one(
    state: State, points: Sequence[Any], quotes: Sequence[Quote], ids: Sequence[str] | None
) -> Decisions:
    names = [None] * len(points) if ids is None else ids
    answers = [_known(state, *case) for case in zip(names, points, quotes, strict=True)]
    repeated = [i for i, answer in enumerate(answers) if answer is not None]
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
    return Decisions([answer for answer in answers if answer is not None], repeated)


def _known(state: State, id: str | None, point: Any, quote: Quote) -> Decision | None:
    """The answer to an arrival of a batch that was decided on before."""
    entry = None if id is None else state.book.find(id)
    return None if entry is None else again(state, entry, point, quote.given, None)


def _quotes(state: State, given: Sequence[Any]) -> list[Quote]:
    return [state.costs.quote(cost, f"costs[{i}]") for i, cost in enumerate(given)]


def tell_many(
    state: State,
    ids: Iterable[str],
    ys: Iterable[float],
    tell: Callable[[str, float], Prediction],
    fit: Callable[[], bool],
) -> Predictions:
    """Tell a batch in its order, with every `fit` that is due; without compiled loops, each by `tell`."""
    given, values = expect.rows("ids", ids), expect.rows("ys", ys)
    if len(given) == len(values) and bulk.serves(state) and bulk.batches.pay(state, len(given)):
        y = bulk.sound_numbers(values)
        awaited = None if y is None else bulk.find_awaited(state.book, given)
        told = None if y is None or awaited is None else bulk.tell_many(state, awaited, y, fit)
        if told is not None:
            return told
    labels = [state.label(f"ys[{i}]", y) for i, y in enumerate(values)]
    _same_length("ys", labels, len(given))
    names = state.book.check_tellable(given, labels)
    return Predictions([tell(id, y) for id, y in zip(names, labels, strict=True)])


def predict_many(state: State, X: Any) -> Predictions:
    """What is known of f at many points; each type of an array is looked up once."""
    belief, codes = state.belief, None
    if bulk.serves(state) and bulk.holds_types(X):
        types, codes = np.unique(X, return_inverse=True)
        X = types.tolist()
    points = belief.points(X)
    state.phase = CHANGING
    predictions = belief.predict_many(points)
    state.phase = WHOLE
    answers = [state.answer(one) for one in predictions]
    return Predictions(answers) if codes is None else PredictionsByCode(answers, codes)


def _same_length(name: str, values: Sized | None, count: int) -> None:
    if values is not None and len(values) != count:
        raise InvalidInput(f"{name}: expected {count}, as many as there are of the others, got {len(values)}")
