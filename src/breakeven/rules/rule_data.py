"""Rules as plain data, such as JSON and TOML hold, and back.

A rule is its kind and its settings: {"kind": "Budget", "total": 500, "rule": {"kind": "Threshold"}}. What is
at its default is left out; what a rule remembers is written only once there is something to remember.
"""

from collections.abc import Iterable
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from breakeven.beliefs.belief_data import OWN_KIND, as_lists
from breakeven.errors import InvalidInput, expect
from breakeven.rules.audit import Audit
from breakeven.rules.baselines import Always, Never, RandomSelect, VariableUncertainty
from breakeven.rules.check import Check
from breakeven.rules.limits import Budget, Queue
from breakeven.rules.rule import Rule, check_layers
from breakeven.rules.threshold import Threshold
from breakeven.rules.value import Value

RULES: tuple[type[Rule], ...] = (
    Always, Audit, Budget, Check, Never, Queue, RandomSelect, Threshold, Value, VariableUncertainty
)  # fmt: skip
"""The rules that plain data and snapshots know by the name of their class."""
OUR_KINDS = {one.__name__: one for one in RULES}


def rule_data(rule: Rule) -> dict[str, Any]:
    """A rule as plain data.

    >>> rule_data(Budget(Threshold(scale=0.5), total=500.0))
    {'kind': 'Budget', 'rule': {'kind': 'Threshold', 'scale': 0.5}, 'total': 500.0}
    """
    kind = type(rule)
    data: dict[str, Any] = {"kind": kind.__name__ if kind in RULES else OWN_KIND + kind.__name__}
    for name, setting in _settings(kind).items():
        value = getattr(rule, name)
        if isinstance(value, Rule):
            data[name] = rule_data(value)
        elif setting.default is msgspec.NODEFAULT or value != setting.default:
            data[name] = as_lists(_plain(kind, name, value))
    return data


def _plain(kind: type[Rule], name: str, value: Any) -> Any:
    """A setting as plain data; a rule among others would lose its kind."""
    if isinstance(value, list | tuple | dict) and any(isinstance(one, Rule) for one in _members(value)):
        expect.refuse(f"{kind.__name__}: {name}", "rules in settings of their own", value)
    try:
        return msgspec.to_builtins(value)
    except TypeError as error:
        expect.refuse(f"{kind.__name__}: {name}", "a setting of plain data", str(error), described=True)


def rule_of(data: Any, own: Iterable[type[Rule]] = (), layer: int = 1) -> Rule:
    """A rule from plain data; `own` names classes that are not ours, `layer` counts rules from the outside.

    >>> rule_of({"kind": "Threshold", "scale": 0.5})
    Threshold(scale=0.5, clock='type')
    >>> rule_of({"kind": "Threshold", "scales": 0.5})
    Traceback (most recent call last):
    breakeven.errors.InvalidInput: Threshold: expected a known name, perhaps 'scale', got 'scales'
    """
    check_layers(layer)
    if not isinstance(data, dict) or "kind" not in data:
        expect.refuse("rule", 'plain data such as {"kind": "Threshold"}', data)
    kinds = OUR_KINDS | {OWN_KIND + one.__name__: one for one in own} if own else OUR_KINDS
    kind = kinds[expect.known("rule: kind", data["kind"], kinds)]
    known, settings = _settings(kind), {}
    for name, value in data.items():
        if name != "kind":
            setting = known[expect.known(kind.__name__, name, known)]
            inner = setting.wanted is Rule or (isinstance(value, dict) and setting.may_be_rule)
            settings[name] = (
                rule_of(value, own, layer + 1) if inner else _converted(kind, name, value, setting)
            )
    try:
        return kind(**settings)
    except TypeError as error:
        raise InvalidInput(f"{kind.__name__}: expected all its settings, got {error}") from error


def _converted(kind: type[Rule], name: str, value: Any, setting: "Setting") -> Any:
    if type(value) in setting.classes or (type(value) is str and value in setting.words):
        return value
    try:
        return msgspec.convert(value, setting.wanted)
    except msgspec.ValidationError as error:
        expect.refuse(f"{kind.__name__}: {name}", "a setting of its type", str(error), described=True)


def _members(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


class Setting(msgspec.Struct, frozen=True):
    """One field of a rule: its type, the classes and the words that it may be, and its default."""

    wanted: Any
    classes: frozenset[type]
    words: frozenset[str]
    default: Any

    @property
    def may_be_rule(self) -> bool:
        """Whether the setting is a rule, or may be one."""
        return any(issubclass(one, Rule) for one in self.classes)


@cache
def _settings(kind: type[Rule]) -> dict[str, Setting]:
    """Every field by its name."""
    return {one.name: _setting(one) for one in fields(kind)}


def _setting(field: FieldInfo) -> Setting:
    choices = get_args(field.type) if get_origin(field.type) in (Union, UnionType) else (field.type,)
    words = [word for one in choices if get_origin(one) is Literal for word in get_args(one)]
    return Setting(
        field.type,
        frozenset(one for one in choices if isinstance(one, type)),
        frozenset(words),
        field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory(),
    )
