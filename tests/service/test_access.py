"""Tokens: every route with every role, and tokens that are missing, wrong, expired or revoked."""

import pytest

from breakeven.errors.storing import StoreFailed
from breakeven.service.access import ROLES, new_token
from breakeven.service.routes import SERVICE_ROUTES
from breakeven.store import StoredPerson
from tests.service.samples import TYPES

OTHERS = [route for route in SERVICE_ROUTES if route.roles]


def path_of(route):
    return route.path.format(stream="clinic", id="a") if "{" in route.path else route.path


@pytest.fixture
def guarded(clinic, clock):
    """A stream, and a token for each role."""
    clinic("POST", "arrivals", {"row": "flu", "id": "a"})
    words = {}
    for role in ROLES:
        words[role], kept = new_token(role, [role], None, clock.now(), clock.now() + 100)
        clinic.store.add_token(kept, by="root")
    clinic.service.tokens.forget()
    clinic.words = words
    return clinic


def status_of(served, route, word):
    """The status of a call without a body, whose caller hangs up at once: a feed would not end."""
    headers = [(b"host", b"127.0.0.1")]
    if word is not None:
        headers.append((b"authorization", word.encode()))
    sent = []

    async def receive():
        return {"type": "http.disconnect"} if sent else {"type": "http.request", "body": b""}

    async def send(message):
        sent.append(message)

    path = path_of(route)
    scope = {
        "type": "http", "method": route.method, "path": path, "raw_path": path.encode(), "root_path": "",
        "query_string": b"", "headers": headers, "client": ("127.0.0.1", 1), "server": ("test", 80),
        "scheme": "http", "http_version": "1.1", "asgi": {"version": "3.0"},
    }  # fmt: skip
    served.run(served.app(scope, receive, send))
    return sent[0]["status"]


def test_every_route_with_every_role(guarded):
    for route in sorted(OTHERS, key=lambda one: one.method == "DELETE"):
        for role, word in guarded.words.items():
            allowed = role in route.roles or role == "administer"
            status = status_of(guarded, route, f"Bearer {word}")
            assert (status != 403) == allowed, (route.method, route.path, role, status)
            assert status not in (401, 500)


@pytest.mark.parametrize("route", OTHERS, ids=lambda one: f"{one.method} {one.path}")
def test_no_route_opens_to_a_wrong_token(guarded, route):
    good = guarded.words["administer"]
    for word in (
        None,
        "",
        "Bearer",
        "Bearer be_x_y",
        f"Basic {good}",
        f"Bearer {good}x",
        f"Bearer {good[:-1]}",
    ):
        assert status_of(guarded, route, word) == 401


@pytest.mark.parametrize("route", OTHERS, ids=lambda one: f"{one.method} {one.path}")
def test_no_route_opens_to_a_token_that_was_revoked_or_has_expired(guarded, clock, route):
    watch, boss = guarded.words["watch"], guarded.words["administer"]
    guarded.store.revoke_token(watch.split("_")[1], clock.now(), by="root")
    clock.go_on(1.0)
    assert status_of(guarded, route, f"Bearer {watch}") == 401
    clock.go_on(100.0)
    assert status_of(guarded, route, f"Bearer {boss}") == 401


def test_a_token_ends(guarded, clock):
    for role in ("watch", "send"):
        assert status_of(guarded, OTHERS[1], f"Bearer {guarded.words[role]}") != 401
    id = guarded.words["watch"].split("_")[1]
    guarded.store.revoke_token(id, clock.now(), by="root")
    clock.go_on(1.0)
    assert status_of(guarded, OTHERS[1], f"Bearer {guarded.words['watch']}") == 401
    clock.go_on(100.0)
    assert status_of(guarded, OTHERS[0], f"Bearer {guarded.words['send']}") == 401


def test_who_administers_reads_who_made_and_revoked_tokens(guarded, clock):
    boss = bearer(guarded.words["administer"])
    before = guarded("GET", "/v1/trail", headers=boss)["changes"]
    assert {one["verb"] for one in before} == {"add token"}
    guarded.store.revoke_token(guarded.words["watch"].split("_")[1], clock.now(), by="ann")
    guarded.store.keep_person(StoredPerson("cem", "label", "clinic"), clock.now(), by="ann")
    *_, revoked, added = guarded("GET", "/v1/trail", headers=boss)["changes"]
    assert (revoked["verb"], revoked["by"], revoked["at"]) == (
        "revoke token",
        "ann",
        "2023-11-14T22:13:20.000000Z",
    )
    assert (added["verb"], added["about"], added["detail"]) == ("add person", "cem", "label; streams: clinic")
    page = guarded("GET", "/v1/trail?limit=2", headers=boss)
    assert (len(page["changes"]), page["next"]) == (2, 2)
    last = guarded("GET", f"/v1/trail?after={len(before)}&limit=2", headers=boss)
    assert (last["changes"], last["next"]) == ([revoked, added], None)
    secrets = [word.split("_")[2] for word in guarded.words.values()]
    assert not any(one in str(before) for one in secrets)


def test_a_token_is_good_for_so_many_days_as_the_settings_say(serving, clock):
    with serving(token_days=2.0) as served:
        word, kept = new_token("ann", ["administer"], None, clock.now())
        served.store.add_token(kept, by="root")
        served.service.entrance.forget()
        served("GET", "/v1/streams", headers=bearer(word))
        clock.go_on(2 * 86_400 - 1)
        served("GET", "/v1/streams", headers=bearer(word))
        clock.go_on(1)
        problem = served("GET", "/v1/streams", headers=bearer(word), status=401)
        assert "one that has expired" in problem["detail"]


def test_a_token_for_other_streams_does_not_open_this_one(guarded, clock):
    guarded("PUT", "/v1/streams/mine", TYPES, status=201, headers=bearer(guarded.words["administer"]))
    word, kept = new_token("eva", ["watch"], ["mine"], clock.now())
    guarded.store.add_token(kept, by="root")
    guarded("GET", "summary", status=403, headers=bearer(word))
    guarded("GET", "/v1/streams/mine/summary", headers=bearer(word))
    seen = guarded("GET", "/v1/streams", headers=bearer(word))
    assert [one["name"] for one in seen["streams"]] == ["mine"]


def test_a_token_for_several_streams_opens_each_of_them_and_no_other(guarded, clock):
    for name in ("mine", "ours"):
        guarded("PUT", f"/v1/streams/{name}", TYPES, status=201, headers=bearer(guarded.words["administer"]))
    word, kept = new_token("eva", ["watch"], ["mine", "ours"], clock.now())
    guarded.store.add_token(kept, by="root")
    for name in ("mine", "ours"):
        guarded("GET", f"/v1/streams/{name}/summary", headers=bearer(word))
    guarded("GET", "summary", status=403, headers=bearer(word))


def bearer(word):
    return {"authorization": f"Bearer {word}"}


def test_a_secret_is_kept_as_a_digest_alone(guarded, tmp_path):
    for word in guarded.words.values():
        secret = word.split("_")[2].encode()
        for file in tmp_path.iterdir():
            assert secret not in file.read_bytes()


def test_health_needs_no_token(guarded):
    assert guarded("GET", "/healthz") == {"status": "alive"}
    assert guarded("GET", "/readyz") == {"ready": True, "read": 1, "streams": 1, "progress": {}}


def test_names_of_streams_are_for_those_who_may_watch_them(guarded, clock):
    word, kept = new_token("else", ["watch"], ["ward"], clock.now())
    guarded.store.add_token(kept, by="root")
    for shown, seen in (
        (guarded.words["watch"], {"clinic": 1.0}),
        (guarded.words["administer"], {"clinic": 1.0}),
        (guarded.words["label"], {}),
        (word, {}),
        ("be_nobody_0", {}),
    ):
        answer = guarded("GET", "/readyz", headers=bearer(shown))
        assert answer == {"ready": True, "read": 1, "streams": 1, "progress": seen}


def used(guarded, role):
    return guarded.store.token(guarded.words[role].split("_")[1]).used


def test_when_a_token_was_used_is_kept_to_the_hour(guarded, clock, monkeypatch):
    written, begun = [], clock.now()
    use = guarded.store.use_token
    monkeypatch.setattr(guarded.store, "use_token", lambda *used: (written.append(used[1]), use(*used)))
    for _ in range(5):
        guarded("GET", "/v1/streams", headers=bearer(guarded.words["watch"]))
        clock.go_on(5.0)
    assert written == [begun]
    assert (used(guarded, "watch"), used(guarded, "label")) == (begun, None)


def test_a_token_is_used_again_an_hour_later_and_by_its_pages(clinic, clock):
    word, kept = new_token("ann", ["watch"], None, clock.now())
    clinic.store.add_token(kept, by="root")
    clinic.service.tokens.forget()
    secret = clinic.service.entrance.sessions.begin(word)
    first = clock.now()
    clock.go_on(4000.0)
    clinic("GET", "/v1/streams", headers={"cookie": f"breakeven_session={secret}"})
    assert clinic.store.token(kept.id).used == first + 4000.0
    clock.go_on(4000.0)
    clinic("GET", "/v1/streams", headers=bearer(word))
    assert clinic.store.token(kept.id).used == first + 8000.0


def test_a_store_that_cannot_keep_it_stops_nobody(guarded, monkeypatch):
    def full(id, at):
        raise StoreFailed("the disk is full")

    monkeypatch.setattr(guarded.store, "use_token", full)
    guarded("GET", "/v1/streams", headers=bearer(guarded.words["watch"]))
