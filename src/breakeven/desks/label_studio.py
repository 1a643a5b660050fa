"""Label Studio over its REST interface: tasks in one project, annotations as answers.

Polling is the base: tasks that were updated since the last look, and then a page of all tasks in turn, which
is compared with what was read of them: clocks go back, and a deleted task shows only by its absence. A
webhook, which Label Studio sends once and never again, only says that it is time to look. It would import a
task twice, so tasks are looked for by `request_id` before they are made.
"""

import hmac
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from breakeven.desks.interface import DeskAnswer, DeskRequest, UnreadableAnswer, WrongSecret
from breakeven.desks.journal import Journal
from breakeven.desks.reaching import Http
from breakeven.errors import expect

logger = logging.getLogger(__name__)

IDS_A_QUERY = 20  # requests looked for at once: they stand in an address, which must not be too long
TASKS_A_PAGE, BRIEF_A_PAGE = 100, 1000
TASKS_AN_IMPORT = 100
LIVES = 300.0  # seconds of an access token
RENEWED_AFTER = 0.8 * LIVES
OVERLAP = 5.0  # seconds that are looked at twice: a task may become visible later than its time says
SECRET_HEADER = "x-breakeven-secret"
UPDATED, LAST_COMPARED = "updated", "compared"  # in the journal: the last time seen, the last task compared
BRIEF = "id,updated_at,total_annotations,cancelled_annotations"  # by which a change shows


class LabelStudio:
    """One project of a Label Studio. `token` is a personal access token, from which access tokens are made.

    One project is for one stream. `control` is the name of the tag in the labelling interface that has the
    label, the only one unless given; a choice counts by `choices`, or as the number it is. `secret` is what
    webhooks must carry in the header `X-Breakeven-Secret`. What it remembers is in its `journal`.
    """

    def __init__(
        self,
        url: str,
        project: int,
        token: str,
        *,
        journal: Journal | None = None,
        control: str | None = None,
        choices: Mapping[str, float] | None = None,
        secret: str | None = None,
        seconds: float = 30.0,
    ) -> None:
        self._project = expect.whole("project", project, least=1)
        self._journal = journal or Journal()
        self._control, self._choices, self._secret = control, dict(choices or {}), secret
        self._refresh, self._access, self._since = expect.text("token", token), "", -RENEWED_AFTER
        self._http = Http(url, "Label Studio", seconds)
        self._people: dict[int, str] = {}

    # -- requests --------------------------------------------------------------------------------

    def ask(self, requests: Sequence[DeskRequest]) -> None:
        """Import a task for every request that has none; those there already are found and kept."""
        new = {one.id: one for one in self._journal.unasked(requests)}
        for ids in _parts(list(new), IDS_A_QUERY):
            self._note_tasks(ids)
        missing = self._journal.unasked(new.values())
        for some in _parts(missing, TASKS_AN_IMPORT):
            self._import(some)

    def _import(self, requests: Sequence[DeskRequest]) -> None:
        tasks = [{"data": {**one.fields, "request_id": one.id}} for one in requests]
        path = f"/api/projects/{self._project}/import"
        made = self._call("POST", path, json=tasks, params={"return_task_ids": "true"})
        numbers = made.get("task_ids") or [""] * len(tasks)
        with self._journal.writing():
            for one, place in zip(requests, numbers, strict=True):
                self._journal.note_task(one.id, str(place), asked=True)

    def _note_tasks(self, ids: Sequence[str]) -> None:
        """Note which of these requests have a task by now."""
        items = [_filter("data.request_id", "equal", "String", id) for id in ids]
        for tasks in self._pages(items, BRIEF_A_PAGE, conjunction="or", include="id,data"):
            for task in tasks:
                id = _request_of(task)
                if id is not None:
                    self._journal.note_task(id, str(task["id"]), asked=True)

    def withdraw(self, ids: Sequence[str]) -> None:
        """Delete tasks that nobody has answered."""
        pending = self._journal.pending()
        for id in ids:
            place = pending.get(id)
            if place:
                self._delete(id, place)
            self._journal.close_task(id)

    def _delete(self, id: str, place: str) -> None:
        task = self._call("GET", f"/api/tasks/{place}/", missing_is_fine=True)
        if task is not None and _request_of(task) == id and not task.get("annotations"):
            self._call("DELETE", f"/api/tasks/{place}/", missing_is_fine=True)

    # -- answers ---------------------------------------------------------------------------------

    def answers(self, since: str | None) -> tuple[list[DeskAnswer], str]:
        """Look at what was updated, compare the next tasks with what was read; then all since the cursor."""
        self._look_at_updates()
        self._compare_next_page()
        return self._journal.since(since)

    def _look_at_updates(self) -> None:
        """Read what was updated since the last look, which is quick as long as no clock goes back."""
        seen = self._journal.setting(UPDATED)
        items = []
        if seen is not None:
            items = [_filter("updated_at", "greater", "Datetime", _shown(float(seen) - OVERLAP))]
        latest = None if seen is None else float(seen)
        for tasks in self._pages(items, TASKS_A_PAGE, fields="all"):
            with self._journal.writing():
                for task in tasks:
                    self._look_at(task)
                    latest = max(latest or 0.0, _seconds(task["updated_at"]))
        if latest is not None and repr(latest) != seen:
            self._journal.keep(UPDATED, repr(latest))

    def _compare_next_page(self) -> None:
        """Compare the next tasks with what was read of them, and begin again behind the last.

        It finds what no time says: tasks that were deleted, and what changed while a clock was wrong.
        """
        after = int(self._journal.setting(LAST_COMPARED) or 0)
        items = [_filter("id", "greater", "Number", after)]
        tasks = next(self._pages(items, BRIEF_A_PAGE, include=BRIEF), [])
        there = {str(task["id"]): _print_of(task) for task in tasks}
        last = tasks[-1]["id"] if len(tasks) == BRIEF_A_PAGE else None
        known = self._journal.prints(after, last)
        differ = [place for place, print in there.items() if known.get(place) != print]
        for some in _parts(differ, IDS_A_QUERY):
            items = [_filter("id", "equal", "Number", int(place)) for place in some]
            for page in self._pages(items, TASKS_A_PAGE, conjunction="or", fields="all"):
                with self._journal.writing():
                    for task in page:
                        self._look_at(task)
        self._look_for_gone(there, after, last)
        with self._journal.writing():
            for place in known.keys() - there.keys():
                self._journal.keep_print(place, None)
            self._journal.keep(LAST_COMPARED, str(last or 0))

    def _look_for_gone(self, there: Mapping[str, str], after: int, last: int | None) -> None:
        """Find requests among these tasks that somebody deleted; each is looked for by itself first."""
        for id, place in self._journal.pending().items():
            if not place.isdecimal() or place in there or not after < int(place) <= (last or int(place)):
                continue
            if self._call("GET", f"/api/tasks/{place}/", missing_is_fine=True) is None:
                self._journal.task_is_gone(id, time.time())

    def _look_at(self, task: Mapping[str, Any]) -> None:
        """Take up all annotations of a task; those it had and has no more were deleted."""
        self._journal.keep_print(str(task["id"]), _print_of(task))
        id = _request_of(task)
        if id is None:
            return
        self._journal.note_task(id, str(task["id"]))
        there = {str(one["id"]): one for one in task.get("annotations") or ()}
        for mark in self._journal.marks(id):
            if mark not in there:
                self._journal.take_back(mark, _seconds(task["updated_at"]))
        for annotation in there.values():
            self._hear(id, annotation)

    def _hear(self, id: str, annotation: Mapping[str, Any]) -> None:
        who, at = self._labeller(annotation.get("completed_by")), _seconds(annotation["updated_at"])
        mark = str(annotation["id"])
        if annotation.get("was_cancelled"):
            self._journal.say(mark, id, who, None, at)
            return
        try:
            self._journal.say(mark, id, who, self._label(annotation.get("result") or []), at)
        except UnreadableAnswer as error:
            logger.warning("annotation %s of request %r by %s is not used: %s", mark, id, who, error)

    def read_hook(self, headers: Mapping[str, str], body: bytes) -> list[DeskAnswer]:
        """A webhook of Label Studio says that it is time to look; one without the secret is refused.

        What it says is not believed: it may be old, come a second time, or behind a later one.
        """
        given = {name.lower(): value for name, value in headers.items()}.get(SECRET_HEADER, "")
        right = (self._secret or "").encode()
        if not right or not hmac.compare_digest(given.encode("utf-8", "replace"), right):
            raise WrongSecret("webhook: expected the secret in X-Breakeven-Secret, got none or another one")
        return []

    # -- what an annotation says -----------------------------------------------------------------

    def _label(self, result: list[Mapping[str, Any]]) -> float:
        """The number in an annotation."""
        found = [one for one in result if self._control in (None, one.get("from_name"))]
        if len(found) != 1:
            names = ", ".join(str(one.get("from_name")) for one in result) or "nothing"
            raise UnreadableAnswer(f"expected one value of {self._control or 'one control'}, got {names}")
        value = found[0].get("value", {})
        for name in ("number", "rating"):
            if name in value:
                return self._number(value[name])
        for name in ("choices", "text"):
            some = value.get(name)
            words = [some] if isinstance(some, str) else some
            if words and len(words) == 1:
                return self._choices[words[0]] if words[0] in self._choices else self._number(words[0])
        raise UnreadableAnswer(f"expected a number or one choice, got {json.dumps(value)}")

    def _number(self, value: Any) -> float:
        try:
            return expect.finite("y", float(value))
        except (TypeError, ValueError) as error:
            known = f", or one of {', '.join(self._choices)}" if self._choices else ""
            raise UnreadableAnswer(f"expected a number{known}, got {value!r}") from error

    def _labeller(self, who: Any) -> str:
        """The e-mail address of a person, or their number where it is not known."""
        if isinstance(who, Mapping):
            return str(who.get("email") or who.get("id"))
        if who not in self._people:
            self._people = {one["id"]: one.get("email") or "" for one in self._call("GET", "/api/users/")}
        return self._people.get(who) or str(who)

    # -- HTTP ------------------------------------------------------------------------------------

    def _pages(
        self, items: Sequence[dict[str, Any]], size: int, *, conjunction: str = "and", **what: str
    ) -> Iterator[list[dict[str, Any]]]:
        """Tasks that filters let pass, in pages by id: one that is deleted meanwhile moves no other.

        Those that any of several filters lets pass are on one page.
        """
        last = 0
        while True:
            behind = [_filter("id", "greater", "Number", last)] if conjunction == "and" else []
            query = json.dumps({"filters": {"conjunction": conjunction, "items": [*items, *behind]}})
            about = {"project": self._project, "page_size": size, "page": 1, "query": query, **what}
            found = self._call("GET", "/api/tasks", params=about, missing_is_fine=True)
            tasks = [] if found is None else found["tasks"]
            if tasks:
                yield tasks
            if len(tasks) < size or conjunction == "or":
                return
            last = tasks[-1]["id"]

    def _call(self, method: str, path: str, *, missing_is_fine: bool = False, **content: Any) -> Any:
        """Call with an access token, made anew when it is old or refused; None for 404 where that is fine."""
        if time.monotonic() - self._since > RENEWED_AFTER:
            self._renew()
        answer = self._http.call(method, path, headers=self._bearer, **content)
        if answer.status_code == 401:
            self._renew()
            answer = self._http.call(method, path, headers=self._bearer, **content)
        if answer.status_code == 404 and missing_is_fine:
            return None
        self._http.check(answer)
        return answer.json() if answer.content else None

    @property
    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._access}"}

    def _renew(self) -> None:
        answer = self._http.call("POST", "/api/token/refresh", json={"refresh": self._refresh})
        if answer.status_code == 401:
            raise WrongSecret(
                f"{self._http.url}: Label Studio refuses the token; expected a personal access token "
                "that is not revoked: make one under Account & Settings"
            )
        self._http.check(answer)
        self._access, self._since = answer.json()["access"], time.monotonic()


def _filter(column: str, operator: str, kind: str, value: Any) -> dict[str, Any]:
    return {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}


def _request_of(task: Mapping[str, Any]) -> str | None:
    """The id of the request that a task is for; None for tasks of others."""
    id = (task.get("data") or {}).get("request_id")
    return None if id is None else str(id)


def _print_of(task: Mapping[str, Any]) -> str:
    """By what a task differs from how it was, whatever clocks say."""
    return " ".join(str(task.get(name)) for name in BRIEF.split(","))


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _shown(seconds: float) -> str:
    """A time as filters take it: without a fraction, even of zeros, Label Studio answers 500."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _parts(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for low in range(0, len(items), size):
        yield items[low : low + size]
