"""One key of a fleet as a learner of its own, and back: counts, sums, money and labels, to the bit.

A fleet keeps no answers. So the decision of an awaited or remembered label has its id, its type, its cost and
its round, and NaN in place of the prediction, the uncertainty and the threshold that were answered then.
"""

from math import isnan, nan
from typing import Any

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.errors import InvalidInput, expect
from breakeven.learner.book import Book, Entry
from breakeven.learner.bulk.arrays import Counts
from breakeven.learner.fleet.fleet_state import FleetState
from breakeven.learner.fleet.passing import CHARGED, NOT_WITHDRAWN, PAID
from breakeven.learner.fleet.vocabulary import ValueKind
from breakeven.learner.learner import Learner
from breakeven.learner.snapshot import config_of, content_of, seal
from breakeven.rules import VariableUncertainty, rule_data
from breakeven.values import Decision, ExactSum, Prediction

NOT_KEPT = "Asked for by a fleet, which keeps no answers."
MEMORY = ("theta", "lately")  # what `VariableUncertainty` remembers


def learner_of(fleet: FleetState, key: Any) -> Learner:
    """The learner of one key."""
    row, template = fleet.row_of(key), Learner.of(fleet.template.config() | {"name": fleet.name_of(key)})
    rule = template.rule
    if isinstance(rule, VariableUncertainty):
        rule.theta, rule.lately = fleet.members["memory"][row].tolist()
    content = content_of(template.state)
    content["config"]["rule"] = rule_data(rule)
    for name in ("number", "rounds", "fits"):
        content[name] = int(fleet.members[name][row])
    content["belief"] |= {"types": _types_of(fleet, row), "learnt": fleet.priors.state(row)}
    content["book"] = _book_of(fleet, row, template).state(lambda point: point)
    return Learner.restore(seal(content))


def _types_of(fleet: FleetState, row: int) -> list[Any]:
    cells = np.flatnonzero(fleet.cells["key"] == row)
    counts = [fleet.cells[name][cells].astype(int).tolist() for name in ("arrivals", "asked", "told")]
    names = fleet.types.values(fleet.cells["type"][cells])
    sums = [tuple(filter(None, parts)) for parts in fleet.cells["parts"][cells].tolist()]
    return [(*one, None) for one in zip(names, *counts, sums, strict=True)]


def _book_of(fleet: FleetState, row: int, template: Learner) -> Book:
    book, members = Book(template.keep), fleet.members
    book.next_number, book.bought = int(members["next_number"][row]), int(members["bought"][row])
    book.spend = ExactSum(tuple(filter(None, members["spend"][row].tolist())))
    columns = fleet.labels.columns
    awaited, settled, _ = fleet.labels.rows_by_kind()
    for label in awaited[columns["key"][awaited] == row].tolist():
        entry = _entry(fleet, label, template)
        book.awaited[entry.id] = entry
    for label in settled[columns["key"][settled] == row].tolist():
        book.settle(_entry(fleet, label, template))
    return book


def _entry(fleet: FleetState, label: int, template: Learner) -> Entry:
    one = {name: fleet.labels.columns[name][label] for name in fleet.labels.columns.kinds}
    given = None if isnan(one["given"]) else float(one["given"])
    id = str(fleet.ids.values(np.array([one["id"]]))[0])
    chance = getattr(template.rule, "probability", 1.0)
    cost = template.label_cost if given is None else given
    unknown = Prediction(nan, nan, template.belief.traits.noise_std)
    decision = Decision(id, True, unknown, nan, nan, cost, chance, NOT_KEPT, round=int(one["round"]))
    kept = int(one["withdrawn"])
    charged = None if kept == NOT_WITHDRAWN else bool(kept & CHARGED)
    return Entry(
        id,
        int(one["number"]),
        fleet.types.values(fleet.cells["type"][one["cell"] : one["cell"] + 1])[0],
        decision,
        given,
        None if isnan(one["y"]) else float(one["y"]),
        paid=kept == NOT_WITHDRAWN or bool(kept & PAID),
        withdrawn=charged,
    )


# -- back ----------------------------------------------------------------------------------------------


def put_learner(fleet: FleetState, key: Any, learner: Learner, ids: ValueKind) -> None:
    """Take up a learner as that of a key which had no arrivals yet."""
    content = _checked(fleet, key, learner)
    entries = _entries(learner)
    codes = fleet.keys.checked([key]), fleet.ids.checked([_id(fleet, one.id, ids) for one in entries])
    names = [type for type, *_ in content["belief"]["types"]]
    types = fleet.types.checked(names)
    if fleet.find(key) is not None:
        raise InvalidInput(f"key: expected one without arrivals, got {expect.shown(key)}, which has some")
    with fleet.changing():
        row = int(fleet.members_of(fleet.keys.codes(codes[0]))[0])
        id_codes = fleet.ids.codes(codes[1])
        _put_member(fleet, row, learner, content)
        _put_types(fleet, row, types, content["belief"]["types"])
        place = dict(zip(names, range(len(names)), strict=True))
        own = np.array([place[one.x] for one in entries], dtype=np.int64)
        _put_labels(fleet, row, entries, id_codes, np.flatnonzero(fleet.cells["key"] == row)[own])
        fleet.recount()


def _put_labels(fleet: FleetState, row: int, entries: list[Entry], ids: Counts, cells: Counts) -> None:
    fleet.labels.admit(
        {
            "key": np.full(len(entries), row),
            "id": ids,
            "cell": cells,
            "round": np.array([one.round for one in entries], dtype=np.int64),
            "number": np.array([one.key for one in entries], dtype=np.int64),
            "given": np.array([nan if one.given is None else one.given for one in entries], dtype=float),
            "y": np.array([nan if one.y is None else one.y for one in entries], dtype=float),
            "withdrawn": np.array(
                [
                    NOT_WITHDRAWN if one.withdrawn is None else CHARGED * one.withdrawn + PAID * one.paid
                    for one in entries
                ],
                dtype=np.int8,
            ),
        },
        sum(one.y is None and one.withdrawn is None for one in entries),
    )


def _checked(fleet: FleetState, key: Any, learner: Learner) -> dict[str, Any]:
    """The content of a learner that a fleet can take up."""
    if not isinstance(learner, Learner):
        expect.refuse("learner", "a Learner", learner)
    learner.state.check_whole()
    content = content_of(learner.state)
    wanted, came = fleet.template.config() | {"name": fleet.name_of(key)}, config_of(learner.state)
    for config in (wanted, came):
        config["rule"] = {name: one for name, one in config["rule"].items() if name not in MEMORY}
    differs = sorted(name for name in wanted.keys() | came.keys() if wanted.get(name) != came.get(name))
    if differs:
        name = differs[0]
        expect.refuse(f"learner: {name}", repr(wanted.get(name)), came.get(name))
    belief = learner.state.belief
    assert isinstance(belief, TypeMeans)  # as the configuration says
    if not belief.even or learner.state.earlier or learner.state.listeners:
        raise InvalidInput(
            "learner: expected labels that all count alike, one stream and no listeners, got another; "
            "a fleet keeps none of these"
        )
    return content


def _entries(learner: Learner) -> list[Entry]:
    """Labels awaited, then those told or withdrawn in the order of that."""
    book = learner.state.book
    entries = [*book.awaited.values(), *book.settled()]
    for one in entries:
        given = one.decision is None or (one.y is not None and not one.decision.wants_label)
        if given or one.labeller is not None:
            raise InvalidInput(
                "learner: expected labels of arrivals that were asked for, from nobody by name, got "
                f"{one.id!r}, which is remembered and another; a fleet keeps none of these"
            )
    return [one for one in entries if one.decision is not None and one.decision.wants_label]


def _id(fleet: FleetState, id: str, ids: ValueKind) -> Any:
    """An id as the fleet has it: an integer or a text."""
    if (fleet.ids.kind or ids) == "texts":
        return id
    number = int(id) if id.lstrip("-").isdecimal() else None
    if number is None or str(number) != id:
        expect.refuse("learner: an id", "an integer, as this fleet has", id)
    return number


def _put_member(fleet: FleetState, row: int, learner: Learner, content: dict[str, Any]) -> None:
    members, book = fleet.members, content["book"]
    for name in ("number", "rounds", "fits"):
        members[name][row] = content[name]
    members["next_number"][row], members["bought"][row] = book["next_number"], book["bought"]
    if len(book["spend"]) > members["spend"].shape[1]:
        members.widen("spend", len(book["spend"]))
    members["spend"][row] = 0.0
    members["spend"][row, : len(book["spend"])] = book["spend"]
    if isinstance(learner.rule, VariableUncertainty):
        members["memory"][row] = learner.rule.theta, learner.rule.lately
    if (learnt := content["belief"]["learnt"]) is not None:
        members["prior_mean"][row], members["prior_std"][row] = learnt["prior_mean"], learnt["prior_std"]
        members["fitted_at"][row], members["fitted_rounds"][row] = learnt["types"], learnt["rounds"]


def _put_types(fleet: FleetState, row: int, types: Any, rows: list[Any]) -> None:
    cells = fleet.cells.meet(np.full(len(rows), row), fleet.types.codes(types))
    for cell, (_, arrivals, asked, told, parts, _) in zip(cells.tolist(), rows, strict=True):
        if len(parts) > fleet.cells["parts"].shape[1]:
            fleet.cells.widen("parts", len(parts))
        fleet.cells["arrivals"][cell], fleet.cells["asked"][cell] = arrivals, asked
        fleet.cells["told"][cell] = told
        fleet.cells["parts"][cell, : len(parts)] = parts
