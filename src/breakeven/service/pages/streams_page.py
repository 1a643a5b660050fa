"""All streams at a glance, and a form that makes one."""

import re
from typing import Any

from msgspec import Struct

from breakeven.errors import BreakevenError, InvalidInput, expect
from breakeven.service.folded import Folded
from breakeven.service.handlers import stream_handlers
from breakeven.service.live_stream import LiveStream
from breakeven.service.pages.rendering import Elsewhere, Page, Visit, address, number, text, whole
from breakeven.wire.stream_setup import ColumnSetup, ColumnsSetup, FeatureSetup, StreamConfig, StreamLine

NEW_STREAM_FIELDS = (
    "name", "arrives", "features", "labels", "label_name", "unit", "low", "high", "label_cost", "error_cost",
    "miss_cost", "false_alarm_cost", "currency", "rule", "horizon", "audit_share", "audit_bound",
    "audit_noise", "deadline",
)  # fmt: skip
SECONDS_AN_HOUR = 3600.0
FIRST_LABELS = 20  # of types, all bought, which say how far labels scatter


class StreamGlance(Struct, frozen=True):
    """A stream in the list: its line, and what labelling everyone would have cost."""

    line: StreamLine
    everyone: float | None


async def streams(visit: Visit) -> Page:
    """The streams that the visitor may see."""
    seen = [one for one in visit.service.streams.values() if visit.caller.sees(one.name)]
    return Page("streams.html", {"glances": [await _glance(one) for one in seen]})


async def _glance(live: LiveStream) -> StreamGlance:
    def work(now: Folded) -> float:
        return now.learner.rounds * now.learner.label_cost

    line = await stream_handlers.line_of(live)
    try:
        everyone, _ = await live.look("glance", work)
    except BreakevenError:
        return StreamGlance(line, None)
    return StreamGlance(line, everyone)


# -- making one ----------------------------------------------------------------------------------------


async def new_stream(visit: Visit) -> Page:
    """The form that makes a stream."""
    return Page("new_stream.html", {"form": dict.fromkeys(NEW_STREAM_FIELDS, ""), "problem": None})


async def create_stream(visit: Visit) -> Page | Elsewhere:
    """Make the stream that a form describes; what is wrong is said above the form, which keeps its words."""
    form = dict.fromkeys(NEW_STREAM_FIELDS, "") | visit.form
    try:
        name = text(form, "name")
        await visit.service.create(name, config_of(form), visit.caller.name)
    except BreakevenError as error:
        return Page("new_stream.html", {"form": form, "problem": str(error)}, 422)
    return Elsewhere(address("streams", name, "settings", made=1))


def config_of(form: dict[str, str]) -> StreamConfig:
    """The configuration that the form of a new stream describes."""
    yes_no, by_type = form["labels"] == "yes_no", form["arrives"] == "type"
    features = [] if by_type else features_of(form["features"])
    rule: dict[str, Any] = {"kind": form["rule"] or "Value"}
    if rule["kind"] == "Value" and form["horizon"].strip():
        rule["horizon"] = whole(form, "horizon")
    share = number(form, "audit_share")
    if share is not None:
        rule = {"kind": "Audit", "rule": rule, "rate": share / 100.0} | _audit(form, yes_no)
    hours = number(form, "deadline")
    unit = "" if yes_no else form["unit"].strip()
    return StreamConfig(
        belief=_belief(by_type, yes_no, _dim(features)),
        rule=rule,
        columns=_columns(form, by_type, yes_no, features),
        label_cost=number(form, "label_cost"),
        error_cost=None if yes_no else number(form, "error_cost"),
        miss_cost=number(form, "miss_cost") if yes_no else None,
        false_alarm_cost=number(form, "false_alarm_cost") if yes_no else None,
        warmup=FIRST_LABELS if by_type and not yes_no else 0,
        unit=unit,
        currency=form["currency"].strip(),
        deadline=None if hours is None else hours * SECONDS_AN_HOUR,
    )


def _audit(form: dict[str, str], yes_no: bool) -> dict[str, float]:
    """What an audit must know: how large an error can be, and the noise of labels."""
    if yes_no:
        return {"bound": 1.0}
    bound, noise = number(form, "audit_bound"), number(form, "audit_noise")
    if bound is None or noise is None:
        raise InvalidInput("audit: expected the largest possible error and the noise of labels, got less")
    return {"bound": bound, "noise_std": noise}


def _belief(by_type: bool, yes_no: bool, dim: int) -> dict[str, Any]:
    if by_type and yes_no:
        return {"kind": "TypeShares", "prior_strength": "learn"}
    if by_type:
        return {"kind": "TypeMeans", "prior_mean": "fit", "label_scale": "fit", "prior_std": "learn"}
    return {"kind": "AveragedShares" if yes_no else "Averaged", "dim": dim}


def _columns(form: dict[str, str], by_type: bool, yes_no: bool, features: list[FeatureSetup]) -> ColumnsSetup:
    name = form["label_name"].strip() or "label"
    if yes_no:
        label = ColumnSetup(name, "yes_no")
    else:
        label = ColumnSetup(
            name, unit=form["unit"].strip(), low=number(form, "low"), high=number(form, "high")
        )
    if by_type:
        return ColumnsSetup(label_column=label, type_column=ColumnSetup("type", "text"))
    return ColumnsSetup(label_column=label, features=features)


def features_of(lines: str) -> list[FeatureSetup]:
    r"""Features, one a line: a name, with its unit in brackets, or with its categories behind a colon.

    >>> [(one.name, one.unit, one.categories) for one in features_of("age (years)\nsex: f, m")]
    [('age', 'years', []), ('sex', '', ['f', 'm'])]
    """
    found = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        name, colon, words = line.partition(":")
        if colon:
            categories = [one.strip() for one in words.split(",") if one.strip()]
            found.append(FeatureSetup(name.strip(), "text", categories=categories))
            continue
        unit = re.fullmatch(r"(.+?)\s*\(([^()]*)\)", line)
        found.append(FeatureSetup(unit[1], unit=unit[2]) if unit else FeatureSetup(line))
    if not found:
        expect.refuse("features", "one at least, each on a line of its own", "none", described=True)
    return found


def _dim(features: list[FeatureSetup]) -> int:
    return sum(max(len(one.categories), 1) for one in features)
