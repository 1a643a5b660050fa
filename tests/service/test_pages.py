"""Pages in the test's own process: who sees what, what is escaped, and what is refused."""

import json
import re
from urllib.parse import quote

import pytest
from markupsafe import escape

from breakeven.service.access import new_token
from breakeven.service.app import make_app
from breakeven.service.openapi import document
from breakeven.service.pages.page_routes import PAGE_ROUTES, POLICY, page_routes
from breakeven.service.pages.settings_page import form_of
from breakeven.store import open_store
from tests.service.samples import ALL_WANTED, AUDITED, PATIENTS

OWN = {"sec-fetch-site": "same-origin"}
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
ROLES = {"boss": ["administer"], "ann": ["label"], "eve": ["watch"], "dev": ["send"]}


@pytest.fixture
def pages(serving, address, clock):
    """A service with pages, a stream in which all is wanted, and a token for each of four people."""
    store = open_store(address, "create")
    words = {}
    for name, roles in ROLES.items():
        words[name], kept = new_token(name, roles, None, clock.now())
        store.add_token(kept, by="root")
    with serving(store, token=words["boss"]) as served:
        served.client._transport.app = make_app(served.service, page_routes(served.service))
        served("PUT", "", ALL_WANTED, status=201)
        for i in range(3):
            served("POST", "arrivals", {"row": "flu", "id": f"p{i}"})
        del served.client.headers["authorization"]
        served.words, served.cookies = words, {}
        yield served


def cookie(served, name):
    if name not in served.cookies:
        served.cookies[name] = served.service.entrance.sessions.begin(served.words[name])
    return {"cookie": f"breakeven_session={served.cookies[name]}"}


def get(served, path, name="boss", status=200):
    return served("GET", path, headers=cookie(served, name), status=status)


def post(served, path, form=None, name="boss", status=200, **headers):
    given = cookie(served, name) | OWN | headers
    return served("POST", path, headers=given, data=form or {}, status=status)


# -- logging in ----------------------------------------------------------------------------------------


def test_whoever_is_not_known_is_sent_to_the_log_in_and_back(pages):
    answer = pages("GET", "/streams/clinic/board?x=1", status=303)
    assert answer.headers["location"] == "/log-in?next=%2Fstreams%2Fclinic%2Fboard%3Fx%3D1"
    assert "Token" in pages("GET", answer.headers["location"]).text
    form = {"token": pages.words["eve"], "next": "/streams/clinic/board?x=1"}
    answer = pages("POST", "/log-in", data=form, headers=OWN, status=303)
    assert answer.headers["location"] == "/streams/clinic/board?x=1"


@pytest.mark.parametrize(
    "wanted", ["https://evil.example", "//evil.example", "/\\evil.example", "x", "/a\nb"]
)
def test_a_log_in_leads_to_no_other_service(pages, wanted):
    form = {"token": pages.words["eve"], "next": wanted}
    assert pages("POST", "/log-in", data=form, headers=OWN, status=303).headers["location"] == "/?begun=1"


@pytest.mark.parametrize(("host", "secure"), [("localhost:8765", False), ("clinic.example", True)])
def test_the_cookie_is_for_this_service_and_no_script(pages, host, secure):
    form = {"token": pages.words["eve"]}
    answer = pages("POST", "/log-in", data=form, headers=OWN | {"host": host}, status=303)
    name, *flags = answer.headers["set-cookie"].split("; ")
    assert re.fullmatch(r"breakeven_session=[0-9a-f]{64}", name)
    assert flags == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict", *(["Secure"] * secure)]


def test_a_log_in_leads_back_to_a_stream_with_any_name(pages):
    answer = pages("GET", f"/streams/{quote('čeština')}/board", status=303)
    shown = pages("GET", answer.headers["location"])
    wanted = re.search(r'name="next" value="([^"]*)"', shown.text)[1]
    form = {"token": pages.words["boss"], "next": wanted}
    answer = pages("POST", "/log-in", data=form, headers=OWN, status=303)
    assert answer.headers["location"] == "/streams/%C4%8De%C5%A1tina/board"
    answer = pages("POST", "/log-in", data=form | {"next": "/streams/č"}, headers=OWN, status=303)
    assert answer.headers["location"].isascii()


def test_a_wrong_token_is_not_repeated_on_the_page(pages):
    answer = pages("POST", "/log-in", data={"token": f"be_x_{EVIL}"}, headers=OWN, status=401)
    assert "not good here" in answer.text
    assert "onerror" not in answer.text
    assert "set-cookie" not in answer.headers


def test_a_log_in_from_a_page_of_somebody_else_is_refused(pages):
    form = {"token": pages.words["eve"]}
    pages("POST", "/log-in", data=form, headers={"sec-fetch-site": "cross-site"}, status=403)


def test_after_the_log_out_the_cookie_is_good_no_more(pages):
    get(pages, "/", "eve")
    answer = post(pages, "/log-out", name="eve", status=303)
    assert "Max-Age=0" in answer.headers["set-cookie"]
    get(pages, "/", "eve", status=303)


# -- who may see what ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROLES)
def test_every_page_is_for_its_roles_alone(pages, name):
    for route in PAGE_ROUTES:
        path = route.path.replace("{stream}", "clinic")
        headers = cookie(pages, name) | OWN
        answer = pages.run(pages.client.request(route.method, path, headers=headers))
        allowed = not route.roles or name == "boss" or set(route.roles) & set(ROLES[name])
        assert (answer.status_code == 403) == (not allowed), path
        assert answer.status_code < 500, path
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["cache-control"] == "no-store"
        pages.cookies.pop(name) if path == "/log-out" else None


def test_no_form_is_taken_from_elsewhere(pages):
    for route in PAGE_ROUTES:
        path = route.path.replace("{stream}", "clinic")
        for site in ("cross-site", "same-site", "none") if route.method == "POST" else ():
            pages("POST", path, headers=cookie(pages, "boss") | {"sec-fetch-site": site}, status=403)


def test_no_page_has_a_script_or_a_style_of_its_own(pages):
    for route in PAGE_ROUTES:
        if route.method == "GET":
            query = "?id=p0" if route.path.endswith("case") else ""
            text = get(pages, route.path.replace("{stream}", "clinic") + query).text
            assert re.findall(r"<script[^>]*>", text) == re.findall(
                r'<script src="/static/page.js[^>]*>', text
            )
            assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text)


def test_a_labeller_sees_no_prediction_and_no_reason_before_the_answer(pages):
    pages("PUT", "", AUDITED, stream="audited", headers=bearer(pages), status=201)
    for i in range(20):
        pages("POST", "arrivals", {"row": "flu", "id": f"a{i}"}, stream="audited", headers=bearer(pages))
    part = post(pages, "/streams/audited/desk/next", name="ann").text
    id = re.search('data-request="(a[0-9]+)"', part)[1]
    for word in ("Predicted", "audit", "drawn", "worth", "expected", "Label it"):
        assert word not in part
    told = post(pages, "/streams/audited/desk/tell", {"id": id, "y": "38,5"}, name="ann").text
    assert "Last answer: 38.5 °C" in told
    assert "drawn at random to audit the rule" in told


def bearer(served):
    return {"authorization": f"Bearer {served.words['boss']}"}


# -- the desk ------------------------------------------------------------------------------------------


def test_a_label_outside_of_its_range_needs_somebody_who_is_sure(pages):
    pages(
        "PUT", "", PATIENTS | {"rule": {"kind": "Always"}}, stream="scores", headers=bearer(pages), status=201
    )
    row = {"age": 61, "sex": "f", "exam": 10}
    pages("POST", "arrivals", {"row": row, "id": "a"}, stream="scores", headers=bearer(pages))
    part = post(pages, "/streams/scores/desk/next", name="ann").text
    assert 'data-low="0.0" data-high="100.0"' in part
    assert "61 years" in part
    refused = post(pages, "/streams/scores/desk/tell", {"id": "a", "y": "120"}, name="ann", status=422)
    assert "expected a number from 0 to 100 points, got 120" in refused.text
    post(pages, "/streams/scores/desk/tell", {"id": "a", "y": "120", "sure": "1"}, name="ann")


@pytest.mark.parametrize("y", ["", "warm", "nan", "1e999", "12,3,4", EVIL])
def test_what_is_no_label_is_refused_and_the_request_stays_open(pages, y):
    post(pages, "/streams/clinic/desk/next", name="ann")
    refused = post(pages, "/streams/clinic/desk/tell", {"id": "p0", "y": y}, name="ann", status=422)
    assert "<script>" not in refused.text
    assert len(pages.live().ready.desk) == 3


@pytest.mark.parametrize("id", ["a/b", "..", "?x=1", "a b&c", "%2F"])
def test_ids_may_hold_signs_that_mean_more_in_a_path(pages, id):
    def do(verb, **more):
        return post(pages, f"/streams/clinic/desk/{verb}", {"id": id, **more}, name="ann").text

    pages("POST", "arrivals", {"row": "flu", "id": id}, headers=bearer(pages))
    desk = pages.live().ready.desk
    do("hold")
    assert desk.lease(id).by == "ann"
    do("give-back")
    assert desk.lease(id) is None
    do("skip")
    do("tell", y="38.5")
    assert 'value="38.5"' in do("undo")
    do("withdraw")
    assert id not in desk.requests
    place = f"/streams/clinic/history/case?id={quote(id, safe='')}"
    assert "Withdrawn, at no cost" in get(pages, place).text


def test_nothing_for_you_says_why(pages):
    for i in range(3):
        post(pages, "/streams/clinic/desk/skip", {"id": f"p{i}"}, name="ann")
    assert 'data-nothing="all_skipped"' in post(pages, "/streams/clinic/desk/next", name="ann").text
    assert "data-request" in post(pages, "/streams/clinic/desk/next", {"skipped": "1"}, name="ann").text


# -- what is shown is escaped --------------------------------------------------------------------------


def test_nothing_given_is_markup(pages):
    boss = bearer(pages)
    name = EVIL.replace("/", "")
    config = ALL_WANTED | {"unit": EVIL, "currency": EVIL}
    pages("PUT", "", config, stream=name.replace("?", ""), headers=boss, status=201)
    for i in range(2):
        pages(
            "POST", "arrivals", {"row": EVIL, "id": f"{EVIL.replace('/', '')}{i}"}, stream=name, headers=boss
        )
    post(pages, f"/streams/{name}/desk/tell", {"id": f"{EVIL.replace('/', '')}0", "y": "1"})
    seen = [get(pages, "/").text, post(pages, f"/streams/{name}/desk/next").text]
    case = "history/case?id=" + name.replace("&", "") + "1"
    places = ("board", "desk", "history", "settings", "labels", case)
    seen += [get(pages, f"/streams/{name}/{place}").text for place in places]
    csv = {"csv": f'id,y\n"{EVIL.replace(chr(34), chr(34) * 2)}",1\n'}
    seen.append(post(pages, f"/streams/{name}/labels", csv).text)
    seen.append(post(pages, "/new-stream", {"name": EVIL, "features": EVIL}, status=422).text)
    seen.append(post(pages, "/tokens", {"name": EVIL, "role_label": "1"}).text)
    for text in seen:
        assert "<script>" not in text
        assert "<img src=x" not in text
    assert sum("&lt;script&gt;" in text for text in seen) >= 8


# -- setting up ----------------------------------------------------------------------------------------


def test_a_stream_is_made_by_a_form(pages):
    form = {
        "name": "scores", "arrives": "columns", "features": "age (years)\r\nsex: f, m", "labels": "number",
        "label_name": "score", "unit": "points", "low": "0", "high": "100", "label_cost": "12,5",
        "currency": "EUR", "rule": "Value", "horizon": "1000", "audit_share": "5", "audit_bound": "50",
        "audit_noise": "3", "deadline": "24",
    }  # fmt: skip
    answer = post(pages, "/new-stream", form, status=303)
    assert answer.headers["location"] == "/streams/scores/settings?made=1"
    config = pages.live("scores").ready.config
    assert (config.label_cost, config.deadline, config.columns.label_column.high) == (12.5, 86_400.0, 100.0)
    assert config.rule["rule"] == {"kind": "Value", "horizon": 1000}
    row = {"age": 61, "sex": "f"}
    pages("POST", "arrivals", {"row": row}, stream="scores", headers=bearer(pages))


@pytest.mark.parametrize(
    ("arrives", "labels"), [("type", "number"), ("type", "yes_no"), ("columns", "yes_no")]
)
def test_streams_of_every_kind_are_made_by_the_form(pages, arrives, labels):
    form = {
        "name": "new", "arrives": arrives, "features": "age", "labels": labels, "label_cost": "2",
        "miss_cost": "50", "false_alarm_cost": "5",
    }  # fmt: skip
    post(pages, "/new-stream", form, status=303)
    row = {"type": "flu"} if arrives == "type" else {"age": 3}
    pages("POST", "arrivals", {"row": row, "id": "a", "force": True}, stream="new", headers=bearer(pages))
    answer = "yes" if labels == "yes_no" else "3"
    assert "Last answer" in post(pages, "/streams/new/desk/tell", {"id": "a", "y": answer}).text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"name": ""}, "name: expected some words"),
        ({"features": ""}, "features: expected one at least"),
        ({"label_cost": "dear"}, "label cost: expected a number"),
        ({"label_cost": ""}, "label_cost"),
        ({"audit_share": "5"}, "audit: expected the largest possible error"),
        ({"name": "a/b"}, "without /"),
    ],
    ids=str,
)
def test_a_form_with_a_mistake_keeps_its_words(pages, form, words):
    given = {"name": "new", "arrives": "columns", "features": "age", "label_cost": "2", "unit": "kept"} | form
    text = post(pages, "/new-stream", given, status=422).text
    assert words in text
    assert 'value="kept"' in text


def test_settings_change_what_differs_and_nothing_else(pages):
    assert 'value="2"' in get(pages, "/streams/clinic/settings").text
    before = pages.live().ready.config
    form = {"label_cost": "3", "deadline": "2", "lease": "5", "rule": '{"kind": "Threshold"}', "unit": "°C"}
    post(pages, "/streams/clinic/settings", form, status=303)
    after = pages.live().ready.config
    assert (after.label_cost, after.deadline, after.desk.lease, after.rule) == (
        3.0,
        7200.0,
        300.0,
        {"kind": "Threshold"},
    )
    assert (after.currency, after.desk.undo) == (before.currency, before.desk.undo)
    refused = post(pages, "/streams/clinic/settings", {"rule": '{"kind": "Best"}'}, status=422).text
    assert "Nothing was changed" in refused
    assert "&#34;Best&#34;" in refused


def test_every_setting_that_is_changed_alone_is_saved(pages):
    words = {"rule": '{"kind": "Always"}', "labellers": "lab, 20, 0.5", "unit": "°C", "currency": "EUR"}
    words |= {"reveal": "before", "alarm_refuted": "no"}
    for name in form_of(pages.live().ready.config):
        if name in ("under_cost", "over_cost", "miss_cost", "false_alarm_cost"):  # which come in pairs
            continue
        post(pages, "/streams/clinic/settings", {name: words.get(name, "7")}, status=303)
        saved = form_of(pages.live().ready.config)[name]
        assert (json.loads(saved) == {"kind": "Always"}) if name == "rule" else saved == words.get(name, "7")


def test_a_cost_that_is_emptied_is_refused(pages):
    text = post(pages, "/streams/clinic/settings", {"label_cost": ""}, status=422).text
    assert "label cost: expected a number, got none" in text
    assert pages.live().ready.config.label_cost == 2.0


def test_costs_of_labellers_are_kept_to_the_last_digit(pages):
    form = {"labellers": "lab, 12345.67, 0.123456789\nnurse, 2, 0.8", "label_cost": ""}
    post(pages, "/streams/clinic/settings", form, status=303)
    text = get(pages, "/streams/clinic/settings").text
    assert "lab, 12345.67, 0.123456789" in text
    labellers = pages.live().ready.config.labellers
    assert (labellers["lab"].cost, labellers["lab"].noise_std) == (12345.67, 0.123456789)
    refused = post(pages, "/streams/clinic/settings", {"labellers": " "}, status=422).text
    assert "labellers: expected one at least, or the cost of a label instead, got none" in refused


def test_alarms_are_set_by_the_form_and_shown(pages):
    form = {"alarm_error": "0,5", "alarm_oldest": "2", "alarm_spend": "0.1", "alarm_refuted": "no"}
    post(pages, "/streams/clinic/settings", form, status=303)
    alarms = pages.live().ready.config.alarms
    assert (alarms.error, alarms.oldest, alarms.spend_a_day, alarms.refuted) == (0.5, 7200.0, 0.1, False)
    for path in ("/", "/streams/clinic/board"):
        assert "labels cost 6.00 so far; 0.10 was planned" in get(pages, path, "eve").text
    text = get(pages, "/streams/clinic/settings").text
    assert 'name="alarm_oldest" value="2"' in text
    assert '<option value="no" selected>is none' in text
    post(pages, "/streams/clinic/settings", {"alarm_spend": ""}, status=303)
    assert pages.live().ready.config.alarms.spend_a_day is None


def test_labels_by_csv_are_looked_at_first(pages):
    csv = {"csv": "id,y\np0,38.5\nnobody,1\np1,warm\n"}
    text = post(pages, "/streams/clinic/labels", csv, name="ann").text
    assert "1 would be told, 2 refused" in text
    assert len(pages.live().ready.desk) == 3
    text = post(pages, "/streams/clinic/labels", csv | {"tell": "1"}, name="ann").text
    assert "1 label told, 2 refused" in text
    assert len(pages.live().ready.desk) == 2


def test_a_token_is_made_shown_once_and_revoked(pages, clock):
    text = post(pages, "/tokens", {"name": "new", "role_watch": "1", "streams": "clinic", "days": "7"}).text
    word = re.search("be_[0-9a-f]+_[0-9a-f]+", text)[0]
    assert word not in get(pages, "/tokens").text
    pages.words["new"] = word
    assert "clinic" in get(pages, "/", "new").text
    (id,) = [one.id for one in pages.store.tokens() if one.name == "new"]
    post(pages, "/tokens/revoke", {"id": id}, status=303)
    get(pages, "/", "new", status=303)
    added, revoked = pages.store.trail()[-2:]
    assert (added.by, added.verb, added.detail) == ("boss", "add token", f"{id}: watch; streams: clinic")
    assert (revoked.by, revoked.verb, revoked.about) == ("boss", "revoke token", "new")
    assert "revoke token" in get(pages, "/tokens").text


def test_the_page_of_the_interface_shows_every_path_and_every_type(pages):
    answer = pages("GET", "/docs")  # by anybody
    assert answer.headers["content-security-policy"] == POLICY
    described, text = document(), answer.text
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in text
            assert re.sub("`(.*?)`", r"<code>\1</code>", str(escape(one["summary"]))) in text
    for name in described["components"]["schemas"]:
        assert f'id="type-{name}"' in text
    targets = set(re.findall(r'id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= targets
    assert "<script" not in text.replace('<script src="/static/page.js', "")
    assert "style=" not in text


def test_who_administers_one_stream_makes_no_tokens_and_no_streams(pages, clock):
    word, kept = new_token("ward", ["administer"], ["clinic"], clock.now())
    pages.store.add_token(kept, by="root")
    pages.words["ward"] = word
    form = {"name": "more", "role_administer": "1"}
    assert "expected one for all streams, got one for some" in post(pages, "/tokens", form, "ward", 403).text
    get(pages, "/tokens", "ward", status=403)
    post(pages, "/new-stream", {"name": "other"}, "ward", status=403)
    get(pages, "/streams/clinic/settings", "ward")
    assert "more" not in {one.name for one in pages.store.tokens()}


def test_the_first_token_must_administer(clinic):
    clinic.client._transport.app = make_app(clinic.service, page_routes(clinic.service))
    for rights in ({"role_label": "1"}, {"role_administer": "1", "streams": "clinic"}):
        text = clinic("POST", "/tokens", data={"name": "ann"} | rights, headers=OWN, status=422).text
        assert "first token: expected one that administers all streams" in text


# -- history and the board -----------------------------------------------------------------------------


def test_history_goes_back_page_by_page_and_misses_nothing(pages):
    for i in range(120):
        pages("POST", "arrivals", {"row": "flu", "id": f"q{i}"}, headers=bearer(pages))
    path, seen = "/streams/clinic/history", []
    while path:
        text = get(pages, path, "eve").text
        seen += [int(one) for one in re.findall(r'<td class="number">(\d+)</td>', text)]
        older = re.search(r'href="([^"]*before=[^"]*)">Older', text)
        path = older and older[1].replace("&amp;", "&")
    assert seen == list(range(124, 0, -1))


@pytest.mark.parametrize("before", ["²", "9" * 5000, "-1"], ids=["power", "long", "negative"])
def test_a_number_that_is_none_is_refused_by_history(pages, before):
    text = get(pages, f"/streams/clinic/history?before={quote(before)}", "eve", status=400).text
    assert "expected the number of an entry" in text


def test_history_is_filtered_and_leads_to_a_case(pages):
    post(pages, "/streams/clinic/desk/tell", {"id": "p1", "y": "38.5"}, name="ann")
    text = get(pages, "/streams/clinic/history?kind=Told", "eve").text
    assert re.findall(r'<td class="number">(\d+)</td>', text) == ["5"]
    answer = get(pages, "/streams/clinic/history?id=p1", "eve", status=303)
    text = get(pages, answer.headers["location"], "eve").text
    assert "Label 38.5 °C" in text
    assert "by ann" in text
    assert "everything is labelled" in text
    assert "got &#39;nobody&#39;" in get(pages, "/streams/clinic/history/case?id=nobody", status=404).text


def test_a_label_is_corrected_on_the_page_of_its_case(pages):
    place = "/streams/clinic/history/case"
    assert "The right label" not in get(pages, f"{place}?id=p1").text
    post(pages, "/streams/clinic/desk/tell", {"id": "p1", "y": "38.5"}, name="ann")
    assert "The right label" in get(pages, f"{place}?id=p1").text
    assert "The right label" not in get(pages, f"{place}?id=p1", "eve").text
    assert "expected a number" in post(pages, place, {"id": "p1", "y": "warm"}, status=422).text
    answer = post(pages, place, {"id": "p1", "y": "37,5"}, status=303)
    assert "Corrected to 37.5 °C" in get(pages, answer.headers["location"]).text


def test_the_board_shows_where_the_stream_stands(pages):
    text = get(pages, "/streams/clinic/board", "eve").text
    for words in (
        "Spent on labels</dt><dd>6 EUR",
        "Labelling everyone</dt><dd>6 EUR",
        "Open requests</dt><dd>3",
    ):
        assert words in text
    assert text.count("<svg viewBox") == 4
    assert text.count('role="img"') == 4
    assert text.count("<table>") == 4
    post(pages, "/streams/clinic/desk/tell", {"id": "p1", "y": "38.5"}, name="ann")
    assert "Open requests</dt><dd>2" in get(pages, "/streams/clinic/board/now", "eve").text


def test_the_board_says_how_a_belief_that_is_checked_stands(pages):
    rule = {"kind": "Check", "rule": {"kind": "Always"}, "share": 0.0}
    checked = {**AUDITED, "belief": {"kind": "TypeMeans", "noise_std": 0.1}, "rule": rule}
    pages("PUT", "", checked, stream="watched", headers=bearer(pages), status=201)

    def told(y):
        id = pages("POST", "arrivals", {"row": "flu"}, stream="watched", headers=bearer(pages))["id"]
        pages("POST", f"requests/{id}/label", {"y": y}, stream="watched", headers=bearer(pages))
        board = get(pages, "/streams/watched/board/now").text
        return re.search(r"Belief</dt><dd>(.*?) <small>", board).group(1)

    assert {told(1.0 + 0.1 * (-1) ** i) for i in range(8)} == {"consistent"}
    assert told(9.0) == "refuted since round 9"


def test_the_board_claims_no_error_before_an_audit_has_its_label(pages):
    def shown():
        found = re.search(r"by audit</dt><dd>(.*?) <small>", get(pages, "/streams/drawn/board/now").text)
        return found.group(1)

    pages("PUT", "", AUDITED, stream="drawn", headers=bearer(pages), status=201)
    asked = []
    while len(asked) < 2:
        decision = pages("POST", "arrivals", {"row": "flu"}, stream="drawn", headers=bearer(pages))
        asked += [decision["id"]] if decision["wants_label"] else []
        assert shown() == "not known yet"
    for id in reversed(asked):  # the first that is awaited ends what is covered
        assert shown() == "not known yet"
        pages("POST", f"requests/{id}/label", {"y": 3.0}, stream="drawn", headers=bearer(pages))
    assert shown().endswith(" °C")


def test_a_stream_may_show_the_prediction_before_the_answer(pages):
    config = ALL_WANTED | {"desk": {"reveal": "before"}}
    pages("PUT", "", config, stream="open", headers=bearer(pages), status=201)
    pages("POST", "arrivals", {"row": "flu", "id": "a"}, stream="open", headers=bearer(pages))
    part = post(pages, "/streams/open/desk/next", name="ann").text
    assert "Predicted: 0 °C. Label it: everything is labelled." in part
