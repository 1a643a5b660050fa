"""Settings of a stream: costs, rule, labellers, deadline, desk; labels by CSV with a preview."""

import json
from typing import Any

import msgspec

from breakeven.errors import BreakevenError, InvalidInput, expect
from breakeven.service.calls import CSV_MEDIA, Raw
from breakeven.service.handlers import label_handlers, stream_handlers
from breakeven.service.pages.rendering import Elsewhere, Page, Visit, address, flag, number, whole
from breakeven.wire.requests import LabelsQuery
from breakeven.wire.stream_setup import AlarmSetup, DeskSetup, LabellerSetup, StreamChange, StreamConfig

COSTS = ("label_cost", "error_cost", "under_cost", "over_cost", "miss_cost", "false_alarm_cost")
AN_HOUR = 3600.0


# -- a stream ------------------------------------------------------------------------------------------


async def settings(visit: Visit) -> Page:
    """How a stream is set up."""
    return await _settings(visit, form_of((await stream_handlers.stream(visit.call())).config))


async def _settings(visit: Visit, form: dict[str, str], problem: str = "", status: int = 200) -> Page:
    answer = await stream_handlers.stream(visit.call())
    values = {
        "form": form,
        "problem": problem,
        "saved": "saved" in visit.query,
        "made": "made" in visit.query,
        "belief": json.dumps(answer.config.belief, indent=2),
        "costs": [name for name in COSTS if form[name] or name in ("label_cost", "error_cost")],
    }
    return Page("settings.html", values, status)


def form_of(config: StreamConfig) -> dict[str, str]:
    """A configuration as the fields of its form."""
    labellers = config.labellers or {}
    fields = {name: _plain(getattr(config, name)) for name in COSTS}
    return fields | {
        "rule": json.dumps(config.rule, indent=2),
        "labellers": "\n".join(_labeller(name, one) for name, one in labellers.items()),
        "unit": config.unit,
        "currency": config.currency,
        "deadline": "" if config.deadline is None else _plain(config.deadline / AN_HOUR),
        "open_requests": _plain(config.open_requests),
        "lease": _plain(config.desk.lease / 60.0),
        "undo": _plain(config.desk.undo),
        "reveal": config.desk.reveal,
        "alarm_error": _plain(config.alarms.error),
        "alarm_oldest": "" if config.alarms.oldest is None else _plain(config.alarms.oldest / AN_HOUR),
        "alarm_spend": _plain(config.alarms.spend_a_day),
        "alarm_coverage": _percent(config.alarms.coverage),
        "alarm_refuted": "yes" if config.alarms.refuted else "no",
    }


def _labeller(name: str, one: LabellerSetup) -> str:
    return f"{name}, {_plain(one.cost)}, {_plain(one.noise_std)}"


def _plain(number: float | None) -> str:
    """A number so that reading it gives the same one.

    >>> _plain(12345.67), _plain(20.0), _plain(None)
    ('12345.67', '20', '')
    """
    return "" if number is None else repr(number).removesuffix(".0")


def _percent(share: float | None) -> str:
    """A share in percent, likewise.

    >>> _percent(0.57), float(_percent(0.57)) / 100.0
    ('57', 0.57)
    """
    return "" if share is None else _plain(round(100.0 * share, 9))


async def change(visit: Visit) -> Page | Elsewhere:
    """Change what differs; what is wrong is said above the form, which keeps its words."""
    config = (await stream_handlers.stream(visit.call())).config
    before = form_of(config)
    form = before | {name: visit.form[name].replace("\r\n", "\n") for name in before if name in visit.form}
    try:
        body = change_of({name: words for name, words in form.items() if words != before[name]}, form)
        await stream_handlers.patch_stream(visit.call(body))
    except BreakevenError as error:
        return await _settings(visit, form, str(error), 422)
    return Elsewhere(address("streams", visit.live.name, "settings", saved=1))


def change_of(changed: dict[str, str], form: dict[str, str]) -> StreamChange:
    """The change that the changed fields of a form mean."""
    given: dict[str, Any] = {}
    for name in COSTS:
        replaced = name == "label_cost" and bool(form["labellers"].strip())
        if name in changed and (changed[name].strip() or not replaced):
            given[name] = _cost(changed, name)
    for name in ("unit", "currency"):
        if name in changed:
            given[name] = changed[name].strip()
    if "deadline" in changed:
        hours = number(changed, "deadline")
        given["deadline"] = None if hours is None else hours * AN_HOUR
    if "open_requests" in changed:
        given["open_requests"] = whole(changed, "open_requests")
    if "rule" in changed:
        given["rule"] = _json(changed["rule"])
    if "labellers" in changed and (changed["labellers"].strip() or "label_cost" not in given):
        given["labellers"] = labellers_of(changed["labellers"])
    if {"lease", "undo", "reveal"} & changed.keys():
        lease, undo = number(form, "lease"), number(form, "undo")
        expect.one_of("reveal", form["reveal"], ("after", "before"))
        given["desk"] = DeskSetup(
            10.0 * 60.0 if lease is None else lease * 60.0,
            60.0 if undo is None else undo,
            "before" if form["reveal"] == "before" else "after",
        )
    if any(name.startswith("alarm_") for name in changed):
        given["alarms"] = _alarms(form)
    return StreamChange(**given)


def _cost(form: dict[str, str], name: str) -> float:
    """A cost, which can be changed but not taken away."""
    found = number(form, name)
    if found is None:
        expect.refuse(name.replace("_", " "), "a number", "none", described=True)
    return found


def _alarms(form: dict[str, str]) -> AlarmSetup:
    hours, percent = number(form, "alarm_oldest"), number(form, "alarm_coverage")
    return AlarmSetup(
        number(form, "alarm_error"),
        None if hours is None else hours * AN_HOUR,
        number(form, "alarm_spend"),
        form["alarm_refuted"] != "no",
        None if percent is None else percent / 100.0,
    )


def _json(words: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(words, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidInput(f'rule: expected JSON such as {{"kind": "Threshold"}}, got {error}') from error


def labellers_of(lines: str) -> dict[str, LabellerSetup]:
    r"""Labellers, one a line: name, cost, noise.

    >>> labellers_of("nurse, 2, 0.8\nlab, 20, 0.1")["lab"].cost
    20.0
    """
    found: dict[str, LabellerSetup] = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        parts = [one.strip() for one in line.split(",")]
        if len(parts) != 3 or not parts[0]:
            expect.refuse("labellers", "a name, a cost and a noise on each line, with commas between", line)
        cost, noise = (number({"labeller": one}, "labeller") for one in parts[1:])
        if cost is None or noise is None:
            expect.refuse("labellers", "a cost and a noise beside each name", line)
        found[parts[0]] = LabellerSetup(cost, noise)
    if not found:
        expect.refuse("labellers", "one at least, or the cost of a label instead", "none", described=True)
    return found


# -- labels by CSV -------------------------------------------------------------------------------------


async def labels(visit: Visit) -> Page:
    """Labels in bulk: pasted or from a file, first looked at and then told."""
    assert visit.live is not None  # or it is refused here
    return Page("labels.html", {"csv": "", "results": None, "problem": ""})


async def send_labels(visit: Visit) -> Page:
    """What would become of each line, or what became of it."""
    content = visit.form.get("csv", "")
    preview = not flag(visit.form, "tell")
    call = visit.call(Raw(CSV_MEDIA, content.encode()), LabelsQuery(preview))
    try:
        results = await label_handlers.labels(call)
    except BreakevenError as error:
        return Page("labels.html", {"csv": content, "results": None, "problem": str(error)}, 422)
    return Page("labels.html", {"csv": content if preview else "", "results": results, "problem": ""})
