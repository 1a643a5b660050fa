"""Who is let in: sessions of the page, calls from pages of somebody else, and names of this machine."""

import asyncio
from threading import current_thread, main_thread

import pytest

from breakeven.service.access import new_token
from breakeven.service.access.tokens import SESSION_SECONDS
from breakeven.store import open_store
from tests.service.samples import TYPES

OWN_PAGE = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def people(serving, address, clock):
    """A service with a stream and a token for each of three people; their tokens by name."""
    store = open_store(address, "create")
    words = {}
    for name, roles in {"boss": ["administer"], "ann": ["label"], "eve": ["watch"]}.items():
        words[name], kept = new_token(name, roles, None, clock.now(), clock.now() + 100 * 86_400)
        store.add_token(kept, by="root")
    with serving(store, token=words["boss"]) as served:
        served("PUT", "", TYPES, status=201)
        del served.client.headers["authorization"]
        served.words = words
        yield served


def cookie_of(served, name):
    secret = served.service.entrance.sessions.begin(served.words[name])
    return {"cookie": f"theme=dark; breakeven_session={secret}"}


def test_a_session_is_who_its_token_is(people):
    cookie = cookie_of(people, "eve")
    assert people("GET", "summary", headers=cookie)["name"] == "clinic"
    problem = people("POST", "arrivals", {"row": "flu"}, headers=cookie | OWN_PAGE, status=403)
    assert "expected one with the role send, got 'eve' with watch" in problem["detail"]


def test_no_session_and_one_of_the_wrong_secret_are_refused(people):
    people("GET", "summary", status=401)
    for wrong in ("", "a" * 64, "\xff\xfe", '"unclosed'):
        people(
            "GET", "summary", headers={"cookie": f"breakeven_session={wrong}".encode("latin-1")}, status=401
        )


def test_the_store_holds_a_digest_and_not_the_cookie(people, tmp_path):
    secret = cookie_of(people, "eve")["cookie"].rpartition("=")[2]
    people("GET", "summary", headers={"cookie": f"breakeven_session={secret}"})
    people.store.rest()
    assert all(secret.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_session_ends_after_twelve_hours(people, clock):
    cookie = cookie_of(people, "eve")
    clock.go_on(SESSION_SECONDS - 1)
    people("GET", "summary", headers=cookie)
    clock.go_on(2)
    problem = people("GET", "summary", headers=cookie, status=401)
    assert "log in again" in problem["detail"]


def test_a_session_that_has_ended_is_not_written_to_the_store_by_whoever_shows_it(people, clock, monkeypatch):
    cookie, written = cookie_of(people, "eve"), []
    people("GET", "summary", headers=cookie)
    monkeypatch.setattr(people.store, "end_session", written.append)
    clock.go_on(SESSION_SECONDS + 1)
    people("GET", "summary", headers=cookie, status=401)
    assert written == []


def test_a_session_ends_with_its_token(people, clock):
    cookie = cookie_of(people, "eve")
    people("GET", "summary", headers=cookie)
    (token,) = [one for one in people.store.tokens() if one.name == "eve"]
    people.store.revoke_token(token.id, clock.now(), by="root")
    clock.go_on(1.1)
    assert "was revoked" in people("GET", "summary", headers=cookie, status=401)["detail"]


def test_a_session_ends_when_its_token_expires(serving, address, clock):
    store = open_store(address, "create")
    word, kept = new_token("eve", ["watch"], None, clock.now(), clock.now() + 60)
    store.add_token(kept, by="root")
    with serving(store) as served:
        cookie = {"cookie": f"breakeven_session={served.service.entrance.sessions.begin(word)}"}
        served("GET", "/v1/streams", headers=cookie)
        clock.go_on(61)
        served("GET", "/v1/streams", headers=cookie, status=401)


def test_a_session_that_was_ended_is_none(people):
    cookie = cookie_of(people, "eve")
    people("GET", "summary", headers=cookie)
    people.service.entrance.sessions.end(cookie["cookie"].rpartition("=")[2])
    people("GET", "summary", headers=cookie, status=401)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"origin": "http://localhost"}, 200),
        ({}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "none"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://localhost"}, 403),
        ({"sec-fetch-site": "", "origin": "http://localhost"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
    ids=str,
)
def test_a_change_with_a_cookie_comes_from_a_page_of_ours(people, headers, status):
    cookie = cookie_of(people, "boss")
    people("POST", "arrivals", {"row": "flu"}, headers=cookie | headers, status=status)


def test_a_token_needs_no_page(people):
    bearer = {"authorization": f"Bearer {people.words['boss']}"}
    people("POST", "arrivals", {"row": "flu"}, headers=bearer | {"sec-fetch-site": "cross-site"})


def test_while_there_is_no_token_programs_may_call_but_no_page_of_somebody_else(clinic):
    clinic("POST", "arrivals", {"row": "flu"})
    clinic("POST", "arrivals", {"row": "flu"}, headers=OWN_PAGE)
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "http://evil.example"}):
        clinic("POST", "arrivals", {"row": "flu"}, headers=headers, status=403)


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:8765", "[::1]:8765", "127.0.0.2"])
def test_this_machine_may_be_called_by_its_own_names(clinic, host):
    clinic("GET", "summary", headers={"host": host})


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example:8765",
        "93.184.216.34",
        "evil",  # a name server may answer such a name, too
        "evil:8765",
        "localhost.evil",
        "2130706433",
        "[",
        "",
    ],
)
def test_another_name_that_points_here_is_refused_while_there_is_no_token(clinic, host):
    assert (
        "Host: expected localhost" in clinic("GET", "summary", headers={"host": host}, status=403)["detail"]
    )


def test_an_origin_that_is_none_is_refused(people):
    headers = cookie_of(people, "boss") | {"origin": "http://["}
    problem = people("POST", "arrivals", {"row": "flu"}, headers=headers, status=403)
    assert "got one from http://[" in problem["detail"]


@pytest.mark.parametrize("shown", ["token", "cookie"])
def test_the_store_is_asked_who_calls_beside_the_loop_and_once_for_many(people, clock, monkeypatch, shown):
    headers = (
        {"authorization": f"Bearer {people.words['eve']}"} if shown == "token" else cookie_of(people, "eve")
    )
    asked, token = [], people.store.token

    def ask(id):
        asked.append(current_thread())
        return token(id)

    monkeypatch.setattr(people.store, "token", ask)
    people("GET", "summary", headers=headers)
    people("GET", "summary", headers=headers)
    assert len(asked) == 1
    clock.go_on(0.9)

    async def many():
        calls = [people.client.get("/v1/streams/clinic/summary", headers=headers) for _ in range(9)]
        return [one.status_code for one in await asyncio.gather(*calls)]

    assert people.run(many()) == [200] * 9
    assert 2 <= len(asked) <= 3  # one for the session, one for whether tokens are needed
    assert main_thread() not in asked
    assert people.store.revoke_token(people.words["eve"].split("_")[1], clock.now(), by="boss")
    clock.go_on(1.0)
    people("GET", "summary", headers=headers, status=401)
