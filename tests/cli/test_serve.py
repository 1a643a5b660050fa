"""`breakeven serve` in a process of its own, tokens while it runs, and streams made by command."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from breakeven.cli import main
from breakeven.store import open_store

CONFIG = '{"belief": {"kind": "TypeMeans", "noise_std": 0.5}, "rule": {"kind": "Threshold"}, "label_cost": 2}'


@pytest.fixture
def address(tmp_path):
    return f"sqlite:///{tmp_path}/clinic.db"


@contextmanager
def running(address, *words):
    """A server process; the address it listens at."""
    command = [sys.executable, "-m", "breakeven", "serve", "--store", address, "--port", "0", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        yield process, re.search(r"http://\S+", line)[0]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ask(url, body=None, token=None, method=None):
    headers = {"content-type": "application/json"} | (
        {} if token is None else {"authorization": f"Bearer {token}"}
    )
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_a_server_answers_keeps_what_it_answered_and_stops(address, tmp_path, capsys):
    (tmp_path / "clinic.json").write_text(CONFIG)
    config = str(tmp_path / "clinic.json")
    assert main(["store", "create", "clinic", "--config", config, "--store", address]) == 0
    with running(address) as (process, url):
        arrivals = f"{url}/v1/streams/clinic/arrivals"
        while ask(f"{url}/readyz")[0] != 200:  # while the stream is read
            pass
        assert ask(arrivals, {"row": "flu", "id": "a"})[1]["entry"] == 2
        assert main(["store", "compact", "--store", address]) == 2  # it is held
        assert f"held by process {process.pid}" in capsys.readouterr().err
        (tmp_path / "link.db").symlink_to(address.removeprefix("sqlite:///"))
        assert main(["serve", "--port", "0", "--store", f"sqlite:///{tmp_path}/link.db"]) == 2
        assert (
            f"link.db: expected a store that nobody else writes to, got one held by process {process.pid}"
            in (capsys.readouterr().err)
        )
        assert main(["token", "add", "ann", "--role", "send", "--store", address, "--json"]) == 0
        token = json.loads(capsys.readouterr().out)
        status = 200
        while status == 200:  # within a second
            status, _ = ask(arrivals, {"row": "flu", "id": "a"})
        assert status == 401
        assert ask(arrivals, {"row": "flu", "id": "b"}, token["token"])[0] == 200
        assert main(["token", "revoke", token["id"], "--store", address]) == 0
        status = 200
        while status == 200:
            status, problem = ask(arrivals, {"row": "flu", "id": "b"}, token["token"])
        assert "one that was revoked" in problem["detail"]
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0
        assert (
            f"WARNING breakeven.service.access.entrance: refused, from 127.0.0.1, token {token['id']}"
            in errors
        )
        assert token["token"].rpartition("_")[2] not in errors
        assert "one that was revoked" in errors
        assert errors.count("\n") == 1
    with running(address) as (process, url):
        assert ask(f"{url}/healthz") == (200, {"status": "alive"})
        os.kill(process.pid, signal.SIGKILL)
    store = open_store(address, "read")
    assert [one.id for one in store.entries(1)] == [None, "a", "b"]
    store.close()


def test_tokens_are_made_listed_and_revoked(address, capsys):
    roles = ["--role", "label", "--role", "watch"]
    assert main(["token", "add", "ann", *roles, "--days", "7", "--store", address]) == 0
    shown = capsys.readouterr().out
    id = re.match(r"be_(\w+)_\w{64}\n", shown)[1]
    assert main(["token", "list", "--store", address]) == 0
    assert "label watch" in capsys.readouterr().out
    assert main(["token", "list", "--store", address, "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["tokens"]
    assert (listed["id"], listed["roles"], listed["revoked"]) == (id, ["label", "watch"], None)
    assert main(["token", "revoke", id, "--store", address]) == 0
    assert main(["token", "list", "--store", address]) == 0
    assert "revoked" in capsys.readouterr().out
    assert main(["token", "revoke", "nobody", "--store", address]) == 2
    assert main(["token", "add", "ann", "--role", "king", "--store", address]) == 2
    assert (
        "role: expected one of 'send', 'label', 'watch', 'administer', got 'king'" in capsys.readouterr().err
    )


def test_the_trail_says_who_changed_what_somebody_may_do(address, capsys):
    assert main(["token", "trail", "--store", address]) == 2  # there is no store yet
    assert main(["token", "add", "ann", "--role", "send", "--by", "root", "--store", address]) == 0
    words = ["--role", "watch", "--stream", "clinic", "--by", "boss"]
    assert main(["person", "add", "ben", *words, "--store", address]) == 0
    assert main(["person", "remove", "ben", "--by", "boss", "--store", address]) == 0
    capsys.readouterr()
    assert main(["token", "trail", "--store", address, "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["trail"]
    assert [(one["by"], one["verb"], one["about"]) for one in lines] == [
        ("root", "add token", "ann"),
        ("boss", "add person", "ben"),
        ("boss", "remove person", "ben"),
    ]
    assert main(["token", "trail", "--store", address]) == 0
    shown = capsys.readouterr().out
    assert "watch; streams: clinic" in shown
    assert "be_" not in shown


def test_a_token_makes_the_store_that_is_missing_and_no_other(tmp_path, capsys):
    other = tmp_path / "notes.txt"
    other.write_text("no file that SQLite reads: " + "words " * 100)
    words = ["token", "add", "ann", "--role", "send", "--store"]
    assert main([*words, f"sqlite:///{other}"]) == 2
    assert "expected a store of breakeven, got another file" in capsys.readouterr().err
    assert main([*words, f"sqlite:///{tmp_path}/no file of that name/clinic.db"]) == 0


def test_a_server_does_not_open_to_the_world_without_a_token(address, capsys):
    assert main(["serve", "--store", address, "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "while there is no token; make one with `breakeven token add`" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["text", "json"])
def test_a_password_is_not_printed(words, monkeypatch, capsys):
    def begin(settings, streams, by, begun, demo):
        begun("http://127.0.0.1:8765")

    monkeypatch.setattr("breakeven.service.server.serve", begin)
    assert main(["serve", "--store", "postgresql://be:secret@db/clinic", *words]) == 0
    shown = capsys.readouterr().out
    assert "postgresql://be:***@db/clinic" in shown
    assert "secret" not in shown


def test_a_stream_is_made_from_one_thing(address, tmp_path, capsys):
    assert main(["store", "create", "clinic", "--store", address]) == 2
    assert "either --config or --bill, got neither" in capsys.readouterr().err
    (tmp_path / "bad.toml").write_text("belief = 3")
    assert (
        main(["store", "create", "clinic", "--config", str(tmp_path / "bad.toml"), "--store", address]) == 2
    )
    assert "expected the configuration of a stream" in capsys.readouterr().err
    assert main(["store", "create", "clinic", "--bill", str(tmp_path), "--store", address]) == 2


def test_the_demonstration_ends_cleanly_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-m", "breakeven", "serve", "--demo", "--port", "0"]
    folder = tmp_path / "here"
    folder.mkdir()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=os.environ | {"TMPDIR": str(folder)}, cwd=folder, **pipes)
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines[1].rstrip().endswith("/streams/parcels/desk")
    while ask(f"{re.search(r'http://[^/]+', lines[2])[0]}/v1/streams")[1]["streams"] == []:
        pass
    process.send_signal(signal.SIGINT)
    assert (*process.communicate(timeout=60), process.returncode) == ("stopped\n", "", 0)
    assert list(folder.iterdir()) == []


def test_people_whom_a_proxy_logs_in(address, capsys):
    open_store(address, "create").close()
    assert main(["person", "add", "ann", "--role", "label", "--role", "watch", "--store", address]) == 0
    assert main(["person", "add", "ben", "--role", "send", "--stream", "clinic", "--store", address]) == 0
    assert capsys.readouterr().out == "ann may label, watch\nben may send\n"
    assert main(["person", "list", "--store", address, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["people"] == [
        {"name": "ann", "roles": ["label", "watch"], "streams": None},
        {"name": "ben", "roles": ["send"], "streams": ["clinic"]},
    ]
    assert main(["person", "add", "eve", "--role", "king", "--store", address]) == 2
    assert "role: expected one of" in capsys.readouterr().err
    assert main(["person", "remove", "ben", "--store", address]) == 0
    assert main(["person", "remove", "ben", "--store", address]) == 2
    assert "expected a name that `breakeven person list` shows, got 'ben'" in capsys.readouterr().err
    assert main(["person", "list", "--store", address]) == 0
    assert "ann" in capsys.readouterr().out
    assert main(["serve", "--person-header", "X-User", "--store", address]) == 2
    assert "--trusted-proxy: expected the address of the proxy" in capsys.readouterr().err


def documented(words, tmp_path, address):
    """A command as docs/operating.md has it, with files and a port of the test's own."""
    (tmp_path / "serve.toml").write_text(f'store = "{address}"\nport = 0\n')
    changed = {
        "/opt/breakeven/bin/breakeven": [sys.executable, "-m", "breakeven"],
        "breakeven": [sys.executable, "-m", "breakeven"],
        "/etc/breakeven/serve.toml": [str(tmp_path / "serve.toml")],
        "sqlite:////data/clinic.db": [address, "--port", "0"],
        "0.0.0.0": ["127.0.0.1"],
    }
    return [one for word in words for one in changed.get(word, [word])]


@pytest.mark.parametrize("way", ["systemd", "container"])
def test_the_documented_unit_and_container_log_and_stop_cleanly(way, address, tmp_path, capsys):
    page = Path("docs/operating.md").read_text()
    line = re.search(
        r"^ExecStart=(.*)$" if way == "systemd" else r"^ENTRYPOINT (\[.*\])$", page, re.MULTILINE
    )[1]
    words = line.split() if way == "systemd" else json.loads(line)
    store = open_store(address, "create")
    store.create_stream("old", b'{"colour": "red"}', 1.0, lambda number: [])
    store.close()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(documented(words, tmp_path, address), **pipes)
    url = re.search(r"http://\S+", process.stdout.readline())[0]
    while ask(f"{url}/v1/streams/old")[0] == 503:
        pass
    status, problem = ask(f"{url}/v1/streams/old")
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "stopped\n")
    assert (status, problem["type"]) == (500, "urn:breakeven:StreamDamaged")
    assert re.search(r"ERROR breakeven\.service\.live_stream: stream 'old' cannot be read: ", errors)
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("settings", "words", "lines"), [("error", [], 0), ("error", ["--log-level", "warning"], 1)]
)
def test_how_much_is_logged_is_a_setting_and_an_option_wins(address, tmp_path, settings, words, lines):
    (tmp_path / "serve.toml").write_text(f'log_level = "{settings}"')
    with running(address, "--config", str(tmp_path / "serve.toml"), *words) as (process, url):
        ask(f"{url}/v1/streams", token="be_x_y")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert errors.count("\n") == lines, errors
