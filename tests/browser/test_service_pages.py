"""The service's pages in a real browser: labelling by key, two at once, a server that dies, any screen."""

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx
import pytest

from breakeven.service.access import new_token
from breakeven.store import open_store

SCREENS = {"laptop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 28)"}
SCORES = {
    "belief": {"kind": "GaussianProcess", "dim": 3, "noise_std": 3.0},
    "rule": {"kind": "Audit", "rule": {"kind": "Always"}, "rate": 0.1, "bound": 50.0, "noise_std": 3.0},
    "columns": {
        "label_column": {"name": "score", "unit": "points", "low": 0, "high": 100},
        "features": [
            {"name": "age", "unit": "years"},
            {"name": "sex", "kind": "text", "categories": ["f", "m"]},
        ],
    },
    "label_cost": 10.0,
    "currency": "EUR",
    "deadline": 86_400.0,
}
FRAUD = {
    "belief": {"kind": "TypeShares"},
    "rule": {"kind": "Always"},
    "columns": {
        "label_column": {"name": "fraud", "kind": "yes_no"},
        "type_column": {"name": "shop", "kind": "text"},
    },
    "label_cost": 2.0,
}
PEOPLE = {"boss": ["administer"], "ann": ["label"], "bob": ["label"]}
PAGES = (
    "/", "/new-stream", "/tokens", "/docs", "/streams/fine/board", "/streams/fine/desk",
    "/streams/fraud/desk", "/streams/fine/labels", "/streams/fine/history",
    "/streams/fine/history/case?id=q1", "/streams/fine/settings",
)  # fmt: skip


class Server:
    """The program in a process of its own; it can be killed, and started again at the same address."""

    def __init__(self, folder):
        self.store, self.port, self.process, self.words = f"sqlite:///{folder}/pages.db", 0, None, {}
        store = open_store(self.store, "create")
        for name, roles in PEOPLE.items():
            self.words[name], kept = new_token(name, roles, None, time.time())
            store.add_token(kept, by="root")
        store.close()
        self.start()
        headers = {"authorization": f"Bearer {self.words['boss']}"}
        self.client = httpx.Client(base_url=self.address, headers=headers, timeout=30)

    def start(self):
        command = [sys.executable, "-m", "breakeven", "serve", "--json", "--store", self.store]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said = self.process.stdout.readline()
        assert said.startswith("{"), said + self.process.stdout.read()
        self.address = json.loads(said)["address"]
        self.port = int(self.address.rpartition(":")[2])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0
        self.process.stdout.close()

    def call(self, method, path, body=None):
        answer = self.client.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def stream(self, name, config=SCORES, requests=0):
        """A stream with some open requests, the ids of which begin with q."""
        self.call("PUT", f"/v1/streams/{name}", config)
        for i in range(requests):
            row = {"shop": "kiosk"} if config is FRAUD else {"age": 20 + i, "sex": "fm"[i % 2]}
            self.call("POST", f"/v1/streams/{name}/arrivals", {"row": row, "id": f"q{i}", "force": True})

    def entries(self, stream, kind):
        return self.call("GET", f"/v1/streams/{stream}/entries?kind={kind}&limit=1000")["entries"]


@pytest.fixture(scope="module")
def server(chromium, tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("pages"))
    one.stream("fine", requests=12)
    for i in range(6):
        one.call("POST", f"/v1/streams/fine/requests/q{i}/label", {"y": 40.0 + i})
    one.stream("fraud", FRAUD, requests=4)
    yield one
    one.stop()


class Person:
    """Somebody at a browser of their own, who has logged in; all that the browser complains of."""

    def __init__(self, browser, server, name, size="laptop", scheme="light"):
        self.server, self.complaints = server, []
        self.context = browser.new_context(
            viewport=SCREENS[size], color_scheme=scheme, base_url=server.address
        )
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto("/")
        self.type_in("#token", server.words[name])
        self.page.wait_for_url(f"{server.address}/?begun=1")

    def at_desk(self, stream):
        self.page.goto(f"/streams/{stream}/desk")
        self.page.wait_for_selector("[data-request], [data-nothing]")
        return self

    @property
    def id(self):
        return self.page.get_attribute("[data-request]", "data-request")

    def type_in(self, field, words):
        """Type and press Enter, once the page itself gave the field the focus: keys before that are lost."""
        self.page.wait_for_selector(f"{field}:focus")
        self.page.keyboard.type(words)
        self.page.keyboard.press("Enter")

    def answer(self, words):
        """Type an answer and press Enter; returns once the next request is there."""
        before = self.id
        self.type_in("#answer", words)
        self.page.wait_for_selector(f"[data-told={before}]")
        self.wait_for_other(before)

    def wait_for_other(self, before):
        self.page.wait_for_selector(f"[data-request]:not([data-request={before}]), [data-nothing]")

    def has(self, selector, words):
        self.page.wait_for_selector(f"{selector} >> text={words}")


@pytest.fixture(scope="module")
def person(chromium, server):
    @contextmanager
    def visit(name, **more):
        one = Person(chromium, server, name, **more)
        try:
            yield one
        finally:
            one.context.close()

    return visit


# -- the desk ------------------------------------------------------------------------------------------


def test_ten_requests_are_labelled_by_keyboard(server, person):
    server.stream("ten", requests=10)
    with person("ann") as ann:
        ann.at_desk("ten")
        for i in range(10):
            ann.answer(f"{30 + i},5")
        ann.has("#request", "No request is open")
        assert ann.complaints == []
    told = server.entries("ten", "Told")
    assert sorted(one["event"]["y"] for one in told) == [30.5 + i for i in range(10)]
    assert {one["by"] for one in told} == {"ann"}
    assert len({one["id"] for one in told}) == 10


def test_two_labellers_never_have_the_same_request(server, person):
    server.stream("two", requests=8)
    with person("ann") as ann, person("bob") as bob:
        ann.at_desk("two")
        bob.at_desk("two")
        for _ in range(3):
            assert ann.id != bob.id
            ann.answer("50")
            assert ann.id != bob.id
            bob.answer("60")
        bob.page.close(run_before_unload=True)  # which gives back what bob held
        for _ in range(2):
            ann.answer("50")
        ann.has("#request", "No request is open")
    assert len(server.entries("two", "Told")) == 8


def test_a_request_is_held_while_its_page_is_open(server, person):
    server.stream("held", SCORES | {"desk": {"lease": 2.0}}, requests=1)
    with person("ann") as ann, person("bob") as bob:
        ann.at_desk("held")
        ann.page.wait_for_timeout(3500)  # longer than the lease
        bob.at_desk("held")
        bob.has("#request", "ann, until")
        ann.page.goto("about:blank")
        bob.page.reload()
        bob.page.wait_for_selector("[data-request=q0]")


def test_an_answer_outlives_the_death_of_the_server(server, person):
    server.stream("dying", requests=2)
    with person("ann") as ann:
        ann.at_desk("dying")
        id = ann.id
        ann.page.wait_for_selector("#answer:focus")
        ann.page.keyboard.type("47")
        server.kill()
        ann.page.keyboard.press("Enter")
        ann.has("#status", "is still here and is sent again by itself")
        assert ann.page.input_value("#answer") == "47"
        server.start()
        ann.page.wait_for_selector(f"[data-told={id}]")
        ann.wait_for_other(id)
    assert [(one["id"], one["event"]["y"]) for one in server.entries("dying", "Told")] == [(id, 47.0)]


def test_undo_skip_and_withdraw_by_key(server, person):
    server.stream("keys", requests=3)
    with person("ann") as ann:
        ann.at_desk("keys")
        first = ann.id
        ann.answer("44")
        ann.page.keyboard.press("u")
        ann.page.wait_for_selector(f"[data-request={first}]")
        ann.has("#status", "Taken back")
        assert ann.page.input_value("#answer") == "44"
        ann.answer("45")
        assert [one["kind"] for one in server.call("GET", f"/v1/streams/keys/arrivals/{first}")["came"]] == [
            "Told", "Reopened", "Told",
        ]  # fmt: skip
        second = ann.id
        ann.page.keyboard.press("s")
        ann.wait_for_other(second)
        third = ann.id
        ann.page.keyboard.press("w")
        ann.has("#ask-again", "w once more withdraws it")
        assert ann.id == third
        ann.page.keyboard.press("w")
        ann.has("#request", "You skipped every request")
        ann.page.keyboard.press("r")
        ann.page.wait_for_selector(f"[data-request={second}]")
        ann.page.keyboard.press("?")
        assert ann.page.get_attribute("#keys", "open") is not None
        assert ann.complaints == []
    assert [one["id"] for one in server.entries("keys", "Withdrawn")] == [third]


def test_an_answer_outside_of_the_range_is_asked_for_once_more(server, person):
    server.stream("range", requests=1)
    with person("ann") as ann:
        ann.at_desk("range")
        ann.type_in("#answer", "120")
        ann.has("#ask-again", "outside of the declared range")
        assert server.entries("range", "Told") == []
        ann.page.keyboard.press("Enter")
        ann.page.wait_for_selector("[data-told]")
    assert [one["event"]["y"] for one in server.entries("range", "Told")] == [120.0]


def test_yes_and_no_are_keys(server, person):
    server.stream("shops", FRAUD, requests=2)
    with person("ann") as ann:
        ann.at_desk("shops")
        for key in "yn":
            before = ann.id
            ann.page.keyboard.press(key)
            ann.page.wait_for_selector(f"[data-told={before}]")
            ann.wait_for_other(before)
    assert [one["event"]["y"] for one in server.entries("shops", "Told")] == [1.0, 0.0]


def test_the_desk_takes_what_arrives(server, person):
    server.stream("empty")
    with person("ann") as ann:
        ann.at_desk("empty")
        ann.has("#request", "No request is open")
        server.stream("empty", requests=1)
        ann.page.wait_for_selector("[data-request=q0]")


def test_nothing_is_shown_before_the_answer(server, person):
    with person("ann") as ann:
        ann.at_desk("fine")
        for words in ("audit", "xpected", "redict", "abel it"):
            assert words not in ann.page.inner_text("#request")
        ann.answer("41")
        assert re.search(r"It lies (inside|outside) what was expected", ann.page.inner_text("#told"))


# -- the board -----------------------------------------------------------------------------------------


def test_the_board_follows_the_stream(server, person):
    server.stream("followed", requests=2)
    with person("boss") as boss:
        boss.page.goto("/streams/followed/board")
        boss.page.click("#table-spend summary")
        boss.has(".numbers", "20 EUR")
        server.call("POST", "/v1/streams/followed/arrivals", {"row": {"age": 70, "sex": "f"}, "force": True})
        boss.has(".numbers", "30 EUR")
        assert boss.page.get_attribute("#table-spend", "open") is not None
        assert boss.complaints == []


# -- every page ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "scheme"), [("laptop", "light"), ("phone", "dark")])
def test_every_page_fits_its_screen_and_can_be_used_by_all(person, size, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with person("boss", size=size, scheme=scheme) as boss:
        for path in PAGES:
            boss.page.goto(path)
            boss.page.wait_for_selector("[data-request], [data-nothing]" if "desk" in path else "h1")
            assert boss.page.evaluate("document.documentElement.scrollWidth") == SCREENS[size]["width"], path
            ground = boss.page.eval_on_selector("body", "one => getComputedStyle(one).backgroundColor")
            assert ground == PAPER[scheme]
            found = axe.run(boss.page).response["violations"]
            assert [(path, one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
        assert boss.complaints == []


def test_without_scripts_all_but_the_desk_works(chromium, server):
    context = chromium.new_context(java_script_enabled=False, base_url=server.address)
    page = context.new_page()
    page.goto("/")
    page.fill("#token", server.words["boss"])
    page.click("button[type=submit]")
    page.goto("/streams/fine/board")
    assert page.locator("svg[role=img]").count() == 4
    page.goto("/streams/fine/labels")
    page.fill("#csv", "id,y\nq11,55\n")
    page.click("text=Look what would happen")
    assert "1 would be told, 0 refused" in page.inner_text("main")
    context.close()
