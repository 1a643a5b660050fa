"""Label Studio as it was seen to behave (1.23): tokens, filters, pages, one attempt at a webhook.

Only what our desk uses. `annotate` and `take_back` are what people do at it. It is as unkind as the real one:
tasks are deleted `between_pages`, its clock is `ahead` or behind, and annotations change `while_reading`.
"""

import json
import re
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAT = "a personal access token"


class Studio:
    """The state behind the interface, and the people at it."""

    def __init__(self, people=("ann@clinic.example", "ben@clinic.example"), lives=300.0):
        self.people = dict(enumerate(people, start=1))
        self.tasks, self.hooks, self.calls, self.number, self.lives = {}, [], [], 0, lives
        self.tokens = {}  # access token: when it ends
        self.broken = False
        self.ahead = 0.0  # seconds of its clock
        self.between_pages = self.while_reading = lambda: None  # called before, and in the middle of a page
        self.lock = threading.RLock()
        self.server = self.thread = None
        self.port = 0
        self.start()

    def now(self):
        moment = datetime.now(UTC) + timedelta(seconds=self.ahead)
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    # -- the server --------------------------------------------------------------------------------------

    def start(self):
        studio = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *words):
                pass

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                code, document = studio.respond(self.command, self.path, dict(self.headers), body)
                content = b"" if document is None else json.dumps(document).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_DELETE = answer  # noqa: N815

        ThreadingHTTPServer.allow_reuse_address = True
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @contextmanager
    def down(self):
        self.stop()
        yield
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    # -- the interface -----------------------------------------------------------------------------------

    def respond(self, method, address, headers, body):
        parts = urlsplit(address)
        path, about = parts.path.rstrip("/"), {name: some[0] for name, some in parse_qs(parts.query).items()}
        with self.lock:
            self.calls.append((method, path))
            if self.broken:
                return 503, {"detail": "unavailable"}
            given = json.loads(body) if body else None
            if path == "/api/token/refresh":
                return self.refresh(given)
            scheme, _, token = headers.get("Authorization", "").partition(" ")
            if scheme != "Bearer" or self.tokens.get(token, 0.0) < time.monotonic():
                return 401, {"detail": "Authentication credentials were not provided."}
            for pattern, handle in self.ROUTES:
                found = re.fullmatch(pattern, f"{method} {path}")
                if found:
                    return handle(self, *found.groups(), about=about, given=given)
            return 404, {"detail": "Not found."}

    def refresh(self, given):
        if given.get("refresh") != PAT:
            return 401, {"detail": "Token is invalid or expired", "code": "token_not_valid"}
        self.number += 1
        self.tokens[f"access-{self.number}"] = time.monotonic() + self.lives
        return 200, {"access": f"access-{self.number}"}

    def import_tasks(self, project, about, given):
        for one in given:
            self.number += 1
            moment = self.now()
            self.tasks[self.number] = {
                "id": self.number,
                "data": one["data"],
                "project": int(project),
                "created_at": moment,
                "updated_at": moment,
                "annotations": [],
            }
        made = list(self.tasks)[-len(given) :]
        return 201, {"task_count": len(given)} | ({"task_ids": made} if "return_task_ids" in about else {})

    def list_tasks(self, about, given):
        self.between_pages()
        query = json.loads(about.get("query", "{}"))
        found = [one for one in self.tasks.values() if one["project"] == int(about["project"])]
        filters = query.get("filters")
        if filters:
            together = any if filters["conjunction"] == "or" else all
            found = [one for one in found if together(passes(one, item) for item in filters["items"])]
        size, page = int(about.get("page_size", 30)), int(about.get("page", 1))
        some = found[(page - 1) * size : page * size]
        if page > 1 and not some:
            return 404, {"detail": "Invalid page."}
        some = json.loads(json.dumps([self.whole(one) for one in some]))  # as it was when it was read
        self.while_reading()
        if "include" in about:
            some = [{name: one[name] for name in about["include"].split(",")} for one in some]
        return 200, {"tasks": some, "total": len(found)}

    def whole(self, task):
        """A task with its counts."""
        skipped = sum(one["was_cancelled"] for one in task["annotations"])
        counts = {
            "total_annotations": len(task["annotations"]) - skipped,
            "cancelled_annotations": skipped,
        }
        return task | counts

    def one_task(self, id, about, given):
        task = self.tasks.get(int(id))
        return (404, {"detail": "Not found."}) if task is None else (200, task)

    def delete_task(self, id, about, given):
        if self.tasks.pop(int(id), None) is None:
            return 404, {"detail": "Not found."}
        self.call_hooks({"action": "TASKS_DELETED", "tasks": [{"id": int(id)}]})
        return 204, None

    def project(self, id, about, given):
        return 200, {"id": int(id), "task_number": sum(t["project"] == int(id) for t in self.tasks.values())}

    def users(self, about, given):
        return 200, [{"id": number, "email": email} for number, email in self.people.items()]

    def add_hook(self, about, given):
        self.hooks.append(given)
        return 201, given

    ROUTES = (
        (r"POST /api/projects/(\d+)/import", import_tasks),
        (r"GET /api/projects/(\d+)", project),
        (r"GET /api/tasks", list_tasks),
        (r"GET /api/tasks/(\d+)", one_task),
        (r"DELETE /api/tasks/(\d+)", delete_task),
        (r"GET /api/users", users),
        (r"POST /api/webhooks", add_hook),
    )

    # -- people ------------------------------------------------------------------------------------------

    def tasks_of(self, request):
        return [one for one in self.tasks.values() if one["data"].get("request_id") == request]

    def annotate(self, request, email, result, cancelled=False):
        (task,) = self.tasks_of(request)
        who = next(number for number, known in self.people.items() if known == email)
        with self.lock:
            mine = next((one for one in task["annotations"] if one["completed_by"] == who), None)
            if mine is None:
                self.number += 1
                mine = {"id": self.number, "completed_by": who}
                task["annotations"].append(mine)
                action = "ANNOTATION_CREATED"
            else:
                action = "ANNOTATION_UPDATED"
            mine |= {"result": result, "was_cancelled": cancelled, "updated_at": self.now()}
            task["updated_at"] = mine["updated_at"]
        self.call_hooks({"action": action, "task": task, "annotation": mine})

    def take_back(self, request, email):
        (task,) = self.tasks_of(request)
        who = next(number for number, known in self.people.items() if known == email)
        with self.lock:
            gone = [one for one in task["annotations"] if one["completed_by"] == who]
            task["annotations"] = [one for one in task["annotations"] if one["completed_by"] != who]
            task["updated_at"] = self.now()
        self.call_hooks({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": one["id"]} for one in gone]})

    def call_hooks(self, event):
        """One attempt, whatever comes of it."""
        for hook in self.hooks:
            body = json.dumps(event).encode()
            request = urllib.request.Request(hook["url"], body, hook.get("headers", {}), method="POST")
            with suppress(OSError):
                urllib.request.urlopen(request, timeout=5).close()


def passes(task, item):
    """Whether a task passes one filter of the query."""
    column, operator, value = item["filter"].removeprefix("filter:tasks:"), item["operator"], item["value"]
    if column.startswith("data."):
        assert operator == "equal"
        return str(task["data"].get(column.removeprefix("data."))) == value
    if column == "id":
        return task["id"] > value if operator == "greater" else task["id"] == value
    assert (column, operator) == ("updated_at", "greater")
    since = datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%f%z")  # as strict as the real one
    return datetime.fromisoformat(task["updated_at"]) > since


def number(value, name="y"):
    """The result of a Number tag."""
    return [{"from_name": name, "to_name": "text", "type": "number", "value": {"number": value}}]
