"""`breakeven desk sync` between a service in its own process and desks: once, again and again, killed."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from breakeven.cli import main
from tests.desks.benches import SECRET
from tests.desks.fake_studio import PAT, Studio, number

ROOT = Path(__file__).parents[2]
TYPES = {"belief": {"kind": "TypeMeans", "noise_std": 0.5}, "rule": {"kind": "Threshold"}, "label_cost": 2.0}


class Service:
    """A service in a process of its own, with a stream and three open requests."""

    def __init__(self, folder):
        self._folder, self.port = folder, 0
        self.start()
        self.call("PUT", "", TYPES)
        for id in ("a-1", "b 2", "c"):
            self.call("POST", "/arrivals", {"id": id, "row": id})

    def start(self):
        words = ["serve", "--store", f"sqlite:///{self._folder}/store.db", "--port", str(self.port), "--json"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "breakeven", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        self.url = json.loads(self._process.stdout.readline())["address"]
        self.port = int(self.url.rstrip("/").rpartition(":")[2])
        end = time.monotonic() + 30
        while not httpx.get(f"{self.url}/readyz").is_success and time.monotonic() < end:
            time.sleep(0.05)

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def call(self, method, path, body=None):
        answer = httpx.request(method, f"{self.url}/v1/streams/clinic{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def told(self):
        entries = self.call("GET", "/entries?limit=1000")["entries"]
        return [
            (one["kind"], one["id"], one["event"].get("y"))
            for one in entries
            if one["kind"] not in ("Created", "Arrived", "Configured")
        ]

    def open(self):
        return sorted(one["id"] for one in self.call("GET", "/requests")["requests"])


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A service for calls that change nothing."""
    service = Service(tmp_path_factory.mktemp("service"))
    yield service
    service.stop()


@pytest.fixture
def service(tmp_path):
    service = Service(tmp_path)
    yield service
    service.stop()


@pytest.fixture
def studio(monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", PAT)
    monkeypatch.setenv("BREAKEVEN_DESK_SECRET", SECRET)
    studio = Studio()
    yield studio
    studio.stop()


def words(service, desk, folder, *more):
    return [
        "desk",
        "sync",
        "--service",
        service.url,
        "--stream",
        "clinic",
        "--desk",
        desk,
        "--state",
        str(folder),
        *more,
    ]


def at(studio):
    return f"label-studio+http://127.0.0.1:{studio.port}/1"


def test_requests_go_to_a_folder_and_answers_come_back(service, tmp_path, capsys):
    once = words(service, f"folder:{tmp_path}/desk", tmp_path / "state", "--once")
    assert main(once) == 0
    assert capsys.readouterr().out.startswith("3 asked, 0 told")
    lines = (tmp_path / "desk" / "requests.csv").read_text().splitlines()
    assert lines == ["id,x,y", "a-1,a-1,", "b 2,b 2,", "c,c,"]
    (tmp_path / "desk" / "answers.csv").write_text("id,y,kind\na-1,1.5,\nb 2,,skipped\n")
    assert main([*once, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["told"] == 0  # seen once: it may be half written
    time.sleep(1.1)
    assert main([*once, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["told"], told["withdrawn"], told["refused"]) == (1, 1, [])
    assert service.told() == [("Told", "a-1", 1.5), ("Withdrawn", "b 2", None)]
    (tmp_path / "desk" / "answers.csv").write_text("id,y,kind\na-1,2.5,\nb 2,,skipped\n")
    assert main(once) == 0
    time.sleep(1.1)
    service.call("POST", "/requests/c/label", {"y": 3.0})
    assert main(once) == 0
    assert "1 corrected, 0 withdrawn, 1 taken back" in capsys.readouterr().out
    assert service.told()[2:] == [("Told", "c", 3.0), ("Corrected", "a-1", 2.5)]
    assert main(once) == 0
    assert capsys.readouterr().out == "0 asked, 0 told, 0 corrected, 0 withdrawn, 0 taken back, 0 refused\n"


def test_label_studio_again_and_again_with_webhooks_downtime_and_a_kill(service, studio, tmp_path):
    command = [sys.executable, "-m", "breakeven"]
    command += words(service, at(studio), tmp_path / "state", "--every", "0.2")
    log = (tmp_path / "log").open("w")

    def begun():
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)

    def until(holds):
        end = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < end, (tmp_path / "log").read_text()
            time.sleep(0.02)

    process = begun()
    try:
        until(lambda: len(studio.tasks) == 3)
        studio.annotate("a-1", "ann@clinic.example", number(1.5))
        until(lambda: service.told() == [("Told", "a-1", 1.5)])
        process.kill()
        process.wait()
        studio.annotate("a-1", "ann@clinic.example", number(2.5))
        studio.annotate("b 2", "ben@clinic.example", [], cancelled=True)
        process = begun()
        until(lambda: len(service.told()) == 3)
        with studio.down():
            until(lambda: "cannot be reached" in (tmp_path / "log").read_text())
        service.stop()
        studio.annotate("c", "ann@clinic.example", number(3.5))
        until(lambda: "expected the service of breakeven, got no answer" in (tmp_path / "log").read_text())
        service.start()
        until(lambda: len(service.told()) == 4)
        assert service.told() == [
            ("Told", "a-1", 1.5),
            ("Corrected", "a-1", 2.5),
            ("Withdrawn", "b 2", None),
            ("Told", "c", 3.5),
        ]
        assert len(studio.tasks) == 3
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.wait()
        log.close()


def test_a_webhook_does_not_wait_for_the_poll(service, studio, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "breakeven"]
    command += words(service, at(studio), tmp_path / "state", "--every", "600", "--listen", place)
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("3 asked")
        headers = {"X-Breakeven-Secret": SECRET, "Content-Type": "application/json"}
        studio.hooks.append({"url": f"http://{place}/", "headers": headers})
        studio.annotate("a-1", "ann@clinic.example", number(1.5))
        assert process.stdout.readline().startswith("0 asked, 1 told")
        assert service.told() == [("Told", "a-1", 1.5)]
        wrong = httpx.post(f"http://{place}/", content=b"{}", headers={"X-Breakeven-Secret": "no"})
        assert wrong.status_code == 403
        odd = httpx.post(f"http://{place}/", content=b"{", headers=headers)
        assert odd.status_code == 204  # what it says is not believed, and so not read
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_request_that_somebody_holds_is_told_later(service, tmp_path, capsys):
    once = words(service, f"folder:{tmp_path}/desk", tmp_path / "state", "--once", "--json")
    main(once)
    held = service.call("POST", "/requests/a-1/lease", {"seconds": 600})
    assert held["id"] == "a-1"
    (tmp_path / "desk" / "answers.csv").write_text("id,y\na-1,1.5\nc,2.5\n")
    main(once)
    time.sleep(1.1)
    capsys.readouterr()
    assert main(once) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["told"] + len(told["postponed"]) == 2


@pytest.mark.parametrize(
    ("more", "words_"),
    [
        (["--stream", "nobody"], "stream: expected one of"),
        (["--service", "http://127.0.0.1:9"], "expected the service of breakeven, got no answer"),
        (["--desk", "prodigy://x"], "desk: expected folder:PATH"),
        (["--second", "mean"], "second: expected first, mean:N"),
        (["--second", "labellers", "--labeller", "ann"], "labeller: expected PERSON=NAME"),
        (["--listen", "9000"], "listen: expected HOST:PORT"),
    ],
)
def test_what_is_wrong_is_one_line(untouched, tmp_path, capsys, more, words_):
    assert main([*words(untouched, f"folder:{tmp_path}/desk", tmp_path / "state", "--once"), *more]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert words_ in err


def test_the_memory_of_another_stream_is_refused(untouched, tmp_path, capsys):
    once = words(untouched, f"folder:{tmp_path}/desk", tmp_path / "state", "--once")
    main(once)
    assert main([*once, "--desk", f"folder:{tmp_path}/other"]) == 2
    assert "memory: expected the file of stream clinic at desk" in capsys.readouterr().err


def test_a_token_that_may_not_label_is_one_line(tmp_path, capsys, monkeypatch):
    store = f"sqlite:///{tmp_path}/store.db"
    assert main(["token", "add", "ann", "--role", "watch", "--store", store, "--json"]) == 0
    watcher = json.loads(capsys.readouterr().out)["token"]
    assert main(["token", "add", "eve", "--role", "administer", "--store", store, "--json"]) == 0
    boss = json.loads(capsys.readouterr().out)["token"]
    monkeypatch.setattr(Service, "call", lambda self, *words: None)
    service = Service(tmp_path)
    try:
        url = f"{service.url}/v1/streams/clinic"
        assert httpx.put(url, json=TYPES, headers={"Authorization": f"Bearer {boss}"}).is_success
        once = words(service, f"folder:{tmp_path}/desk", tmp_path / "state", "--once")
        for token in ("", "be_none_none"):
            monkeypatch.setenv("BREAKEVEN_TOKEN", token)
            assert main(once) == 2
            assert "token" in capsys.readouterr().err
        monkeypatch.setenv("BREAKEVEN_TOKEN", watcher)
        assert main(once) == 0
    finally:
        service.stop()
