"""Learners as plain data and as bytes: a mark, a version, a digest, then MessagePack with named fields.

Nothing in a snapshot can run. It is read by this version and every newer one; a newer snapshot is refused.
With a key the digest is keyed, so that nobody without the key can make or change a snapshot that is read.
"""

from collections.abc import Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

import msgspec

from breakeven.beliefs import Belief, belief_data, belief_of
from breakeven.errors import InvalidInput, SnapshotError, expect
from breakeven.learner.book import Warmup
from breakeven.learner.costs import Costs
from breakeven.learner.state import State
from breakeven.rules import Rule, rule_data, rule_of
from breakeven.values import Labeller

UNEVEN = ("under_cost", "over_cost", "miss_cost", "false_alarm_cost")  # stored as error cost and level
ARGUMENTS = {
    "belief", "rule", "label_cost", "labellers", "error_cost", *UNEVEN, "warmup", "seed", "keep", "name",
    "fitting", "answers_within",
}  # fmt: skip
MARK = b"breakeven"
FORMAT_VERSION = 1
DIGEST = 32  # bytes
HEAD = len(MARK) + 2 + 1 + DIGEST  # mark, version, whether it is keyed, digest
LONGEST_KEY = 64  # bytes, as BLAKE2b takes them
CONTENT = msgspec.msgpack.Decoder(dict[str, Any])


# -- plain data --------------------------------------------------------------------------------------


def config_of(state: State) -> dict[str, Any]:
    """How a learner is made up, without what it has learnt."""
    costs, labellers = state.costs, state.costs.labellers
    given = {
        "label_cost": costs.label_cost,
        "labellers": {name: msgspec.to_builtins(one) for name, one in labellers.items()} or None,
        "error_cost": costs.error_cost,
        "warmup": state.warmup.wanted,
        "seed": state.seed,
        "keep": state.book.keep,
        "name": state.name,
        "fitting": state.fitting,
        "answers_within": None if state.answers_within is None else list(state.answers_within),
    }
    config = {"belief": belief_data(state.belief), "rule": rule_data(state.rule)}
    return config | {name: value for name, value in given.items() if value is not None}


def parts_of(
    config: Any, rules: Sequence[type[Rule]], beliefs: Sequence[type[Belief]]
) -> tuple[Belief, Rule, dict[str, Any]]:
    """Belief, rule and the other arguments of a learner, from plain data."""
    if not isinstance(config, dict) or not {"belief", "rule"} <= config.keys():
        expect.refuse("config", "plain data with a belief and a rule", config)
    for name in config:
        if name not in ARGUMENTS:
            expect.known("config", name, ARGUMENTS)
    arguments = dict(config)
    belief, rule = arguments.pop("belief"), arguments.pop("rule")
    if isinstance(arguments.get("labellers"), dict):
        try:
            arguments["labellers"] = {
                name: msgspec.convert(one, Labeller) for name, one in arguments["labellers"].items()
            }
        except msgspec.ValidationError as error:
            expect.refuse("labellers", "a cost and a noise_std for each", str(error), described=True)
    return belief_of(belief, beliefs), rule_of(rule, rules), arguments


def content_of(state: State) -> dict[str, Any]:
    """The whole state of a learner, as plain data."""
    return {
        "number": state.number,
        "earlier": state.earlier,
        "config": config_of(state),
        "since": state.since,
        "audit": None if state.auditing is None else state.auditing.trail.state(),
        "belief": state.belief.state(),
        "book": state.book.state(state.belief.plain),
        "warmup": [state.warmup.asked, state.warmup.told],
        "rounds": state.rounds,
        "fits": state.fits,
        "ambiguous": state.ambiguous,
        "trust": state.trust.state(),
    }


def state_of(
    content: dict[str, Any],
    rules: Sequence[type[Rule]],
    beliefs: Sequence[type[Belief]],
    name: str | None = None,
    fitting: str | None = None,
    keep_at_least: int = 0,
) -> State:
    """The state that `content_of` wrote; with a `name`, of a stream with that name, and `fitting` there."""
    try:
        return _state(content, rules, beliefs, name, fitting, keep_at_least)
    except SnapshotError:
        raise
    except Exception as error:
        raise _unreadable(error) from error


def _state(
    content: dict[str, Any],
    rules: Sequence[type[Rule]],
    beliefs: Sequence[type[Belief]],
    name: str | None,
    fitting: str | None,
    keep_at_least: int,
) -> State:
    try:
        belief, rule, arguments = parts_of(content["config"], rules, beliefs)
    except InvalidInput as error:
        hint = "name classes of your own with restore(blob, rules=(…,), beliefs=(…,))"
        raise SnapshotError(f"snapshot: {error}; {hint}") from error
    if name is not None:
        arguments["name"] = name
    if fitting is not None:
        arguments["fitting"] = fitting
    if keep_at_least:
        arguments["keep"] = max(arguments["keep"], keep_at_least)
    pop = arguments.pop
    costs = Costs.checked(pop("label_cost", None), pop("labellers", None), pop("error_cost", None))
    belief.load(content["belief"])
    audit = content["audit"]
    state = State(belief, rule, costs, noises=None if audit is None else audit["noise_stds"], **arguments)
    state.book.load(content["book"], belief.recall)
    asked, told = content["warmup"]
    asked = expect.whole("asked", asked, most=state.warmup.wanted)
    state.warmup = Warmup(state.warmup.wanted, asked, expect.whole("told", told, most=asked))
    for field in ("number", "earlier", "rounds", "fits", "ambiguous", "since"):
        setattr(state, field, expect.whole(field, content[field]))
    if state.auditing is not None:
        state.auditing.trail.load(audit)
    if (trust := content.get("trust")) is not None:
        state.trust.load(trust)
    return state


def _unreadable(error: Exception) -> SnapshotError:
    """Whatever goes wrong in reading is a fault of the snapshot."""
    return SnapshotError(f"snapshot: expected a learner's state, got something else ({error})")


# -- bytes -------------------------------------------------------------------------------------------


def seal(content: dict[str, Any], key: bytes | None = None) -> bytes:
    """Write plain data as a snapshot."""
    body = msgspec.msgpack.encode(content)
    head = MARK + FORMAT_VERSION.to_bytes(2, "big") + bytes([key is not None])
    return head + _digest(head, body, _checked_key(key)) + body


def unseal(blob: Any, key: bytes | None = None) -> dict[str, Any]:
    """Read a snapshot back, or say what is wrong with it."""
    if not isinstance(blob, (bytes, bytearray, memoryview)):
        raise SnapshotError(f"snapshot: expected bytes, got {type(blob).__name__}")
    blob, secret = bytes(blob), _checked_key(key)
    if not blob.startswith(MARK) or len(blob) < HEAD:
        raise SnapshotError(f"snapshot: expected bytes from Learner.snapshot, got {expect.shown(blob[:20])}")
    version = int.from_bytes(blob[len(MARK) : len(MARK) + 2], "big")
    if not 1 <= version <= FORMAT_VERSION:
        raise SnapshotError(
            f"snapshot: expected a version from 1 to {FORMAT_VERSION}, got {version}; upgrade breakeven"
        )
    _check_keyed(blob[len(MARK) + 2], key)
    head, body = blob[: HEAD - DIGEST], blob[HEAD:]
    if not compare_digest(_digest(head, body, secret), blob[HEAD - DIGEST : HEAD]):
        wrong = "damaged or cut short" if key is None else "damaged, or made with another key"
        raise SnapshotError(f"snapshot: expected whole bytes, got a digest that differs: {wrong}")
    try:
        content: dict[str, Any] = CONTENT.decode(body)
    except Exception as error:
        raise _unreadable(error) from error
    return content


def _check_keyed(keyed: int, key: bytes | None) -> None:
    if keyed and key is None:
        raise SnapshotError("snapshot: expected the key that it was made with, got none; give key=")
    if not keyed and key is not None:
        raise SnapshotError("snapshot: expected one that was made with a key, got one without; leave key out")


def _checked_key(key: Any) -> bytes:
    if key is None:
        return b""
    if not isinstance(key, bytes) or not 1 <= len(key) <= LONGEST_KEY:
        expect.refuse("key", f"1 to {LONGEST_KEY} bytes", "something else", described=True)
    return key


def _digest(head: bytes, body: bytes, key: bytes) -> bytes:
    digest = blake2b(head, digest_size=DIGEST, key=key)
    digest.update(body)
    return digest.digest()
