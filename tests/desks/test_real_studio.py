"""A real Label Studio passes what the fake passes, and pages and webhooks are as the fake has them.

`make proof` installs it in .venv-studio; LABEL_STUDIO may name another program.
"""

import json
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from breakeven.desks import DeskRequest, label_studio
from breakeven.testing import DESK_CHECKS
from tests.desks.real_studio import AtRealStudio, Person, RealStudio

PROGRAM = os.environ.get("LABEL_STUDIO", str(Path(__file__).parents[2] / ".venv-studio/bin/label-studio"))
ANN, BEN = "ann@clinic.example", "ben@clinic.example"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path(PROGRAM).exists(), reason="no Label Studio: `make proof` installs it"),
]


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    studio = RealStudio(PROGRAM, tmp_path_factory.mktemp("studio"), port)
    studio.start()
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def people(studio):
    ann = Person(studio.url, ANN, "secret of ann")
    return [ann, Person(studio.url, BEN, "secret of ben", new=True)]


@pytest.fixture
def bench(studio, people, tmp_path):
    return AtRealStudio(studio, people, tmp_path / "journal.db")


@pytest.mark.parametrize("check", DESK_CHECKS, ids=lambda check: check.__name__)
def test_a_real_label_studio_passes(check, bench):
    check(bench)


def test_its_webhooks_say_that_it_is_time_to_look(bench, people):
    heard, desk = [], bench.open()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *words):
            pass

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert desk.read_hook(dict(self.headers), body) == []
            heard.append(json.loads(body)["action"])
            self.send_response(200)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    desk.ask([DeskRequest("7", {}), DeskRequest("8", {})])
    about = {
        "url": f"http://127.0.0.1:{server.server_address[1]}/",
        "project": bench.project,
        "headers": {"X-Breakeven-Secret": "a secret of hooks"},
        "send_payload": True,
        "send_for_all_actions": True,
        "is_active": True,
    }
    people[0].call("POST", "/api/webhooks/", json=about)
    bench.answer("7", 3.0, ANN)
    bench.answer("7", 4.0, ANN)
    bench.skip("7", BEN)
    bench.delete("7", ANN)
    bench.delete_task("8")
    server.shutdown()
    server.server_close()
    assert heard == [
        "ANNOTATION_CREATED",
        "ANNOTATION_UPDATED",
        "ANNOTATION_CREATED",
        "ANNOTATIONS_DELETED",
        "TASKS_DELETED",
    ]
    found = [(one.id, one.kind, one.y) for one in bench.open().answers(None)[0]]
    assert found == [("7", "skipped", None), ("8", "deleted", None)]


def test_its_pages_by_id_leave_nothing_out_and_a_quiet_project_is_not_read_again(bench, monkeypatch):
    monkeypatch.setattr(label_studio, "TASKS_A_PAGE", 2)
    monkeypatch.setattr(label_studio, "BRIEF_A_PAGE", 3)
    desk = bench.open()
    desk.ask([DeskRequest(str(i), {}) for i in range(7)])
    for i in range(1, 7):
        bench.answer(str(i), float(i), ANN)
    call, seen = desk._call, []

    def counted(method, path, **more):
        if path == "/api/tasks":
            if len(seen) == 1 and "0" in bench.tasks():
                bench.delete_task("0")
            seen.append(more["params"])
        return call(method, path, **more)

    monkeypatch.setattr(desk, "_call", counted)
    for _ in range(4):
        desk.answers(None)
    found = {one.id: one.y for one in desk.answers(None)[0]}
    assert found == {"0": None} | {str(i): float(i) for i in range(1, 7)}
    bench.answer("3", 33.0, BEN)
    bench.answer("3", 34.0, ANN)
    desk._journal.keep(label_studio.UPDATED, repr(4e9))  # as where the clock was ahead
    for _ in range(3):
        desk.answers(None)
    assert [one.y for one in desk.answers(None)[0]][-2:] in ([33.0, 34.0], [34.0, 33.0])
    seen.clear()
    desk.answers(None)
    assert len(seen) == 2  # nothing is updated, and the page that is compared is as it was
