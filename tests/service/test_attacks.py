"""What strangers and token holders send to freeze the service, or to fill its memory.

Each attack is a function of a size. Its cost must not grow faster than its size, and what is larger than the
service takes is refused before it is looked at.
"""

from threading import current_thread, main_thread
from time import thread_time

import pytest

from breakeven.rules.rule import MOST_LAYERS
from breakeven.service.access import new_token
from breakeven.service.access.tokens import session_cookie
from breakeven.service.app import make_app
from breakeven.service.edge_limits import (
    LONGEST_TYPE,
    MOST_FIELDS,
    MOST_FORM_BYTES,
    MOST_HEAD_BYTES,
    MOST_HEAD_LINES,
    MOST_LOG_IN_BYTES,
)
from breakeven.service.pages import page_routes as page_module
from breakeven.service.pages.page_routes import page_routes
from tests.service.connections import Connection
from tests.service.samples import TYPES

PARSERS = ("httptools", "h11")
STREAMS, LOG_IN = b"GET /v1/streams", b"POST /log-in"


def head(line, *headers):
    """A call without a body."""
    return b"\r\n".join([line + b" HTTP/1.1", b"Host: localhost", *headers, b"", b""])


HEADS = {
    "cookie of backslashes": lambda n: head(STREAMS, b'Cookie: a="' + b"\\" * n + b'"; breakeven_session=x'),
    "quoted cookie": lambda n: head(STREAMS, b'Cookie: breakeven_session="' + b"\\101" * (n // 4) + b'"'),
    "many cookies": lambda n: head(STREAMS, b"Cookie: " + b"a=b; " * (n // 5)),
    "cookie of spaces": lambda n: head(STREAMS, b"Cookie: a;" + b" " * n + b"b=c"),
    "cookies of our name": lambda n: head(STREAMS, b"Cookie: " + b"breakeven_session=;" * (n // 19)),
    "cookie of many semicolons": lambda n: head(STREAMS, b"Cookie: " + b"; " * (n // 2)),
    "long token": lambda n: head(STREAMS, b"Authorization: Bearer be_" + b"a" * n),
    "token of marks": lambda n: head(STREAMS, b"Authorization: Bearer be_" + b"_" * n),
    "token of spaces": lambda n: head(STREAMS, b"Authorization: Bearer" + b" " * n + b"be_a_b"),
    "path of slashes": lambda n: head(b"GET " + b"/" * n),
    "path in percent": lambda n: head(b"GET /" + b"%41" * (n // 3)),
    "path of no text": lambda n: head(b"GET /" + b"%ff" * (n // 3)),
    "query of fields": lambda n: head(b"GET /v1/trail?" + b"a&" * (n // 2)),
    "query in percent": lambda n: head(b"GET /log-in?next=" + b"%41" * (n // 3)),
    "page elsewhere": lambda n: head(b"GET /streams/x/board?" + b"%41" * (n // 3)),
    "long host": lambda n: b"GET / HTTP/1.1\r\nHost: " + b"a." * (n // 2) + b"\r\n\r\n",
    "host of brackets": lambda n: b"GET / HTTP/1.1\r\nHost: " + b"[" * n + b"\r\n\r\n",
    "host of digits": lambda n: b"GET / HTTP/1.1\r\nHost: " + b"1" * n + b"\r\n\r\n",
    "host of colons": lambda n: b"GET / HTTP/1.1\r\nHost: [" + b"1:" * (n // 2) + b"]\r\n\r\n",
    "origin": lambda n: head(LOG_IN, b"Origin: http://" + b"@" * n, b"Content-Length: 0"),
    "content type": lambda n: head(LOG_IN, b"Content-Type: " + b";" * n, b"Content-Length: 0"),
    "accept": lambda n: head(STREAMS, b"Accept: " + b"*/*;q=1," * (n // 8)),
    "request id": lambda n: head(STREAMS, b"X-Request-ID: " + b"a" * n + b"!"),
    "connection": lambda n: head(STREAMS, b"Connection: " + b"," * n, b"Upgrade: x"),
    "forwarded": lambda n: head(STREAMS, b"X-Forwarded-For: " + b"1," * (n // 2)),
    "last event": lambda n: head(b"GET /v1/streams/x/feed", b"Last-Event-ID: " + b"1" * n),
    "length in digits": lambda n: head(LOG_IN, b"Content-Length: " + b"0" * n),
    "one name": lambda n: head(STREAMS, b"a" * n + b": b"),
    "long headers": lambda n: head(STREAMS, *[b"a: " + b"b" * (n // 50 - 5)] * 50),
}


@pytest.fixture
def whole(served):
    """A service with its pages."""
    served.app = served.client._transport.app = make_app(served.service, page_routes(served.service))
    return served


def cost(served, content, http):
    """The least CPU time of answering some bytes, of a few tries."""
    seconds = []
    for _ in range(5):
        connection = Connection(served, http)
        began = thread_time()
        assert connection.send(content).startswith(b"HTTP/1.1 ")
        seconds.append(thread_time() - began)
    return min(seconds)


@pytest.mark.parametrize("http", PARSERS)
def test_no_head_costs_more_than_its_size(whole, http):
    dear = {}
    for name, attack in HEADS.items():
        small, large = attack(1_000), attack(15_500)
        assert len(large) <= MOST_HEAD_BYTES
        growth = cost(whole, large, http) / cost(whole, small, http)
        if growth > 40.0:  # of what is 15 times as long; what grows with its square passes 200
            dear[name] = growth
    assert not dear


@pytest.mark.parametrize("http", PARSERS)
@pytest.mark.parametrize("size", [MOST_HEAD_BYTES + 1_000, 2 * MOST_HEAD_BYTES, 1 << 20])
def test_a_head_that_is_too_large_is_refused(whole, http, size):
    for name, attack in HEADS.items():
        connection = Connection(whole, http)
        answer = connection.send(attack(size))
        assert answer.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 Bad")), name  # h11 counts digits
        assert len(connection.protocol._buffer) < MOST_HEAD_BYTES


@pytest.mark.parametrize("http", PARSERS)
def test_a_head_that_does_not_end_is_refused(whole, http):
    connection = Connection(whole, http)
    for _ in range(MOST_HEAD_BYTES // 1_000):
        assert connection.send(b"GET / HTTP/1.1\r\nA: ".ljust(1_000, b"a") if not _ else b"a" * 1_000) == b""
    assert b"431 Request Header Fields Too Large" in connection.send(b"a" * 1_000)
    assert connection.closed


@pytest.mark.parametrize("http", PARSERS)
def test_so_many_headers_are_refused_unread(whole, http):
    few = head(b"GET /healthz", *[b"a: b"] * (MOST_HEAD_LINES - 5))
    assert Connection(whole, http).send(few).startswith(b"HTTP/1.1 200 ")
    connection = Connection(whole, http)
    for place in range(len(few)):  # which counts each line once, too
        connection.send(few[place : place + 1])
    assert connection.sent.startswith(b"HTTP/1.1 200 ")
    many = head(b"GET /healthz", *[b"a:"] * (MOST_HEAD_LINES + 1))
    assert Connection(whole, http).send(many).startswith(b"HTTP/1.1 431 ")
    connection = Connection(whole, http)
    for place in range(0, len(many), 7):
        connection.send(many[place : place + 7])
    assert connection.sent.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("http", PARSERS)
@pytest.mark.parametrize("cut", range(4))
def test_lines_of_a_body_are_no_headers(whole, http, cut):
    body = b"token=a" + b"\n" * 1_000
    call = head(LOG_IN, b"Content-Length: %d" % len(body), b"Content-Type: application/x-www-form-urlencoded")
    connection, end = Connection(whole, http), len(call) - cut
    assert connection.send((call + body)[:end], part=True) == b""
    assert connection.send((call + body)[end:]).startswith(b"HTTP/1.1 401 ")
    assert connection.send(head(b"GET /healthz")).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("http", PARSERS)
def test_what_follows_a_body_in_parts_is_a_head_too(whole, http):
    line = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    for trailer in (b"A: " + b"a" * 1_000, b"A: b\r\n" * 100):
        connection = Connection(whole, http)
        connection.send(line + b"1\r\na\r\n0\r\n")
        for _ in range(100):
            connection.send(trailer)
        assert connection.closed


@pytest.mark.parametrize("http", PARSERS)
def test_a_body_that_is_not_read_is_let_through(whole, http):
    connection, body = Connection(whole, http), b"x" * (1 << 20)
    refused = connection.send(head(b"GET /nowhere", b"Content-Length: %d" % len(body)) + body[:1_000])
    assert refused.startswith(b"HTTP/1.1 404 ")
    connection.send(body[1_000:])
    assert connection.send(head(b"GET /healthz")).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("digits", [b"9" * 19, b"9" * 5_000])
def test_a_length_of_many_digits_is_too_large_and_no_error_of_ours(whole, digits):
    headers = {"content-length": digits, "content-type": "application/x-www-form-urlencoded"}
    whole("POST", "/log-in", headers=headers, status=413)


def test_whoever_is_not_known_sends_a_small_form(whole):
    form = {"content-type": "application/x-www-form-urlencoded"}
    whole("POST", "/log-in", headers=form, content=b"token=" + b"a" * MOST_LOG_IN_BYTES, status=413)
    whole("POST", "/log-in", headers=form, content=b"&".join([b"a=b"] * (MOST_FIELDS + 1)), status=400)


def test_a_large_form_is_read_in_a_thread(whole, monkeypatch):
    threads = []

    def fields_of(content, what):
        threads.append((what, current_thread() is main_thread()))
        return {}

    monkeypatch.setattr(page_module, "fields_of", fields_of)
    form = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}
    for size in (100, MOST_FORM_BYTES - 2):
        whole("POST", "/tokens/revoke", headers=form, content=b"a=" + b"b" * size, status=303)
    assert threads == [("query", True), ("form", True), ("query", True), ("form", False)]


def test_a_query_has_a_limit_and_is_read_only_where_it_says_something(whole):
    fields = "&".join(["a=b"] * (MOST_FIELDS + 1))
    for path in ("/v1/streams", "/v1/trail"):
        assert "Max number of fields" in whole("GET", f"{path}?{fields}", status=400)["detail"]
    whole("GET", f"/healthz?{fields}")
    assert "can't decode" in whole("GET", "/v1/trail?after=%ff", status=400)["detail"]


def test_the_cookie_of_a_session_is_found_among_others():
    secret = "0f" * 32
    named = f"breakeven_session={secret}".encode()
    for good in (
        named,
        b"a=b; " + named,
        named + b"; a=b",
        b"a=b;" + named + b";a=b",
        b"a; \t" + named + b" ",
    ):
        assert session_cookie(good) == secret
    for bad in (
        b"x" + named,
        named + b"0",
        named[:-1],
        named.upper(),
        b"a=" + named,
        b'"' + named + b'"',
        b"",
    ):
        assert session_cookie(bad) is None


# -- what the holder of a token sends -----------------------------------------------------------------------


def test_a_token_is_remembered_once_whatever_stands_around_it(served, clock):
    word, kept = new_token("ann", ["administer"], None, clock.now())
    served.store.add_token(kept, by="root")
    served.service.tokens.forget()
    for size in range(1, 600, 10):
        for kind in ("Bearer", "bearer", "BEARER"):
            served("GET", "/v1/streams", headers={"authorization": kind + " " * size + word + " " * size})
    (known,) = served.service.tokens._holders._known
    assert known == word.encode()
    for wrong in (
        f"Bearer{word}",
        f"Bearer {word}0",
        f"Bearer {word[:-1]}",
        f"Bearer x{word}",
        f"Basic {word}",
    ):
        served("GET", "/v1/streams", headers={"authorization": wrong}, status=401)
    assert len(served.service.tokens._holders._known) == 1


def test_a_type_has_a_limit_wherever_it_comes_from(served):
    served("PUT", "", TYPES, status=201)
    named = {"label_column": {"name": "y"}, "type_column": {"name": "kind", "kind": "text"}}
    served("PUT", "", TYPES | {"columns": named}, stream="named", status=201)
    good, long = "é" * LONGEST_TYPE, "é" * (LONGEST_TYPE + 1)
    for stream, short, bad in (("clinic", good, long), ("named", {"kind": good}, {"kind": long})):
        for path, taken, refused in (
            ("arrivals", {"row": short}, {"row": bad}),
            ("arrivals", [{"row": short}] * 5, [{"row": bad}] * 5),
            ("predictions", {"rows": [short]}, {"rows": [bad]}),
            ("history", [{"row": short, "y": 1.0}], [{"row": bad, "y": 1.0}]),
        ):
            served("POST", path, taken, stream=stream)
            problem = served("POST", path, refused, stream=stream, status=422)
            assert "row: expected a type of at most 1,000 characters, got 1,001 of them" in problem["detail"]
    csv = f"kind,y\n{long},1\n".encode()
    headers = {"content-type": "text/csv"}
    assert (
        "1,001 of them"
        in served("POST", "history", stream="named", content=csv, headers=headers, status=422)["detail"]
    )


def test_rules_that_lie_too_deep_are_refused_wherever_they_are_read(served):
    def nested(depth):
        rule = {"kind": "Threshold"}
        for _ in range(depth - 1):
            rule = {"kind": "Budget", "rule": rule, "total": 10.0}
        return rule

    served("PUT", "", TYPES | {"rule": nested(MOST_LAYERS)}, status=201)
    served("GET", "summary")
    for depth in (MOST_LAYERS + 1, 250, 700):
        words = f"rule: expected at most {MOST_LAYERS} rules around each other"
        problem = served("PUT", "", TYPES | {"rule": nested(depth)}, stream="deep", status=422)
        assert words in problem["detail"]
        assert words in served("PATCH", "", {"rule": nested(depth)}, status=422)["detail"]
    assert served("GET", "summary")["rule"]


def test_no_body_nests_so_deep_that_the_server_fails(served):
    served("PUT", "", TYPES, status=201)
    for depth in (100, 500, 5_000, 100_000):
        inner = "[" * depth + "]" * depth
        beliefs = (
            '{"kind":"Recognised","numbers":' * min(depth, 30_000)
            + "{}"
            + ',"yes_no":{}}' * min(depth, 30_000)
        )
        for path, content in (
            ("arrivals", f'{{"row": {inner}}}'),
            ("predictions", f'{{"rows": [{inner}]}}'),
            ("labels", f'[{{"id": "a", "y": {inner}}}]'),
            ("history", f'[{{"row": {inner}, "y": 1}}]'),
            ("erase", f'{{"ids": {inner}}}'),
        ):
            headers = {"content-type": "application/json"}
            call = served.client.post(f"/v1/streams/clinic/{path}", content=content, headers=headers)
            assert served.run(call).status_code in (400, 413, 422), (path, depth)
        config = f'{{"belief": {beliefs}, "rule": {{"kind": "Threshold"}}, "label_cost": 1}}'
        call = served.client.put("/v1/streams/deep", content=config, headers=headers)
        assert served.run(call).status_code in (400, 413, 422), depth


@pytest.mark.slow
@pytest.mark.parametrize("http", PARSERS)
def test_any_head_of_any_size_costs_under_five_milliseconds(whole, http):
    costs = {
        (name, size): cost(whole, attack(size), http)
        for name, attack in HEADS.items()
        for size in (1_000, 4_000, 15_500, 2 * MOST_HEAD_BYTES, 120_000, 1 << 20)
    }
    assert max(costs.values()) < 0.005, max(costs, key=costs.get)
