"""A real Label Studio passes what the fake passes, and its webhooks say what polling says..

`make proof` installs it in .venv-studio; LABEL_STUDIO may name another program.
"""

import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

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


def test_its_webhooks_say_what_polling_says(bench, people):
    from breakeven.desks import DeskRequest

    heard, desk = [], bench.open()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *words):
            pass

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.extend(desk.read_hook(dict(self.headers), body))
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
    kinds = [(one.id, one.kind, one.y) for one in heard]
    assert kinds == [
        ("7", "told", 3.0),
        ("7", "changed", 4.0),
        ("7", "skipped", None),
        ("7", "deleted", None),
        ("8", "deleted", None),
    ]
    assert bench.open().answers(None)[0] == heard
