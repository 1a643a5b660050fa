"""The desk: who gets which request, leases that end, skips, deadlines, and what a labeller may not see."""

import asyncio
from base64 import urlsafe_b64decode

import pytest

from breakeven.errors import InvalidInput
from breakeven.folding import fold_stream
from breakeven.service.access import new_token
from breakeven.service.desk import OpenRequest, cursor_of, rank_of, read_cursor
from breakeven.store import open_store
from breakeven.values import Decision, Prediction
from tests.service.samples import ALL_WANTED, AUDITED, TYPES

HIDDEN = {"seen", "prediction", "reason", "why", "worth"}


@pytest.fixture
def people(served, clock):
    """A stream with three open requests, and headers for several people."""
    served("PUT", "", ALL_WANTED | {"deadline": 3600}, status=201)
    for id in "abc":
        served("POST", "arrivals", {"row": id, "id": id})
    headers = {}
    for name, roles in (("ann", ["label"]), ("ben", ["label"]), ("eva", ["watch"]), ("root", ["administer"])):
        word, kept = new_token(name, roles, None, clock.now())
        served.store.add_token(kept, by="root")
        headers[name] = {"authorization": f"Bearer {word}"}
    served.service.tokens.forget()

    def ask(name, method, path, body=None, status=200, **more):
        return served(
            method, path, body, status=status, headers=headers[name] | more.pop("headers", {}), **more
        )

    ask.headers = headers
    return ask


def test_two_people_get_two_requests_and_the_third_hears_why_there_is_none(people, clock):
    first, second = people("ann", "POST", "requests/next"), people("ben", "POST", "requests/next")
    assert (first["request"]["id"], second["request"]["id"]) == ("a", "b")
    assert people("ann", "POST", "requests/next")["request"]["id"] == "a"  # it is still theirs
    people("root", "POST", "requests/c/lease")
    people("ann", "POST", "requests/a/label", {"y": 1.0})
    nothing = people("ann", "POST", "requests/next")
    assert (nothing["request"], nothing["reason"]) == (None, "all_held")
    assert "ben holds one until" in nothing["detail"]
    clock.go_on(601)
    assert people("ann", "POST", "requests/next")["request"]["id"] == "b"  # the lease has ended


def test_a_request_that_somebody_holds_is_not_answered_by_others(people, clock):
    people("ann", "POST", "requests/next")
    problem = people("ben", "POST", "requests/a/label", {"y": 1.0}, status=409)
    assert problem["type"] == "urn:breakeven:HeldByAnother"
    people("ben", "POST", "requests/a/lease", status=409)
    people("ben", "POST", "requests/a/withdraw", status=409)
    people("ben", "POST", "requests/a/release")  # which changes nothing
    people("ben", "POST", "requests/a/label", {"y": 1.0}, status=409)
    people("ann", "POST", "requests/a/release")
    assert people("ben", "POST", "requests/a/label", {"y": 1.0})["y"] == 1.0


def test_a_skipped_request_comes_back_last_and_is_open_for_others(people, serving, served):
    people("ann", "POST", "requests/a/skip")
    people("ann", "POST", "requests/b/skip")
    assert people("ann", "POST", "requests/next")["request"]["id"] == "c"
    assert people("ben", "POST", "requests/next")["request"]["id"] == "a"
    people("ben", "POST", "requests/a/release")
    people("ann", "POST", "requests/c/label", {"y": 0})
    nothing = people("ann", "POST", "requests/next")
    assert nothing["reason"] == "all_skipped"
    assert people("ann", "POST", "requests/next", {"skipped": True})["request"]["id"] == "a"
    desk = served.run(read_again(served))
    assert desk.next("ann", None).reason == "all_skipped"  # also after a restart


async def read_again(served):
    live = served.live()
    await live.read()
    return live.ready.desk


def test_nothing_is_open_or_nothing_is_for_this_labeller(served):
    setup = ALL_WANTED | {"labellers": {"mri": {"cost": 5, "noise_std": 0.1}}}
    del setup["label_cost"]
    served("PUT", "", setup, status=201)
    assert served("POST", "requests/next")["reason"] == "none_open"
    served("POST", "arrivals", {"row": "flu", "id": "a"})
    assert served("POST", "requests/next", {"labeller": "nurse"})["reason"] == "not_for_you"
    assert served("POST", "requests/next", {"labeller": "mri"})["request"]["labeller"] == "mri"


def test_a_labeller_sees_the_prediction_after_the_answer_only(people):
    asked = people("ann", "POST", "requests/next")["request"]
    listed = people("ann", "GET", "requests")["requests"]
    assert not HIDDEN & asked.keys()
    assert not any(HIDDEN & one.keys() for one in listed)
    for path in ("summary", "entries", "arrivals/a", "snapshot"):
        people("ann", "GET", path, status=403)
    people("ann", "POST", "predictions", {"rows": ["a"]}, status=403)
    assert people("eva", "GET", "requests")["requests"][0]["seen"]["why"]
    told = people("ann", "POST", "requests/a/label", {"y": 1.0})
    assert told["seen"]["why"] == "Label it: everything is labelled."
    assert told["cost"] == 2.0


def test_seeing_it_before_is_refused_beside_an_audit(served):
    before = {"desk": {"reveal": "before"}}
    problem = served("PUT", "", AUDITED | before, status=422)
    assert "whoever sees the prediction labels towards it" in problem["detail"]
    served("PUT", "", TYPES | before, status=201)
    served("POST", "arrivals", {"row": "flu", "id": "a"})
    assert served("POST", "requests/next")["request"]["seen"]["reason"] == "first_of_type"
    served("PATCH", "", {"rule": AUDITED["rule"]}, status=422)
    served("PATCH", "", {"rule": AUDITED["rule"], "desk": {}})
    served("PATCH", "", before, status=422)


def test_a_request_expires_and_a_late_label_is_learnt(people, served, clock):
    clock.go_on(3599)
    assert people("eva", "GET", "requests")["open"] == 3
    clock.go_on(2)
    assert people("eva", "GET", "requests")["open"] == 0
    past = people("eva", "GET", "arrivals/a")
    assert [(one["kind"], one["by"], one["charged"]) for one in past["came"]] == [
        ("Withdrawn", "deadline", False)
    ]
    told = people("ann", "POST", "requests/a/label", {"y": 5.0})
    assert told["late"]
    assert told["cost"] == 0.0
    assert told["prediction"]["mean"] == 5.0
    assert people("ann", "POST", "requests/a/label", {"y": 5.0})["repeated"]


def test_requests_are_shown_by_who_holds_them(people, clock):
    held = people("ann", "POST", "requests/next")["request"]["id"]
    ids = {"a", "b", "c"}

    def listed(name, lease):
        return {one["id"] for one in people(name, "GET", f"requests?lease={lease}")["requests"]}

    assert (listed("eva", "held"), listed("eva", "free"), listed("eva", "mine")) == (
        {held},
        ids - {held},
        set(),
    )
    assert (listed("ann", "mine"), listed("ben", "mine")) == ({held}, set())
    clock.go_on(601)
    assert (listed("eva", "held"), listed("eva", "free")) == (set(), ids)
    people("eva", "GET", "requests?lease=never", status=400)


def test_a_clock_that_jumps_ahead_is_not_believed_at_once(people, clock):
    people("eva", "GET", "requests")
    clock.time += 1_000_000
    assert people("eva", "GET", "requests")["open"] == 3
    clock.time -= 1_000_000
    clock.go_on(61)
    assert people("eva", "GET", "requests")["open"] == 3
    clock.time -= 5_000  # and back: nothing is due earlier
    clock.go_on(3_600)
    assert people("eva", "GET", "requests")["open"] == 3


def test_another_value_is_refused_with_who_told_what(people):
    people("ann", "POST", "requests/a/label", {"y": 1.0})
    problem = people("ben", "POST", "requests/a/label", {"y": 2.0}, status=409)
    assert (problem["told_by"], problem["told"]) == ("ann", 1.0)
    assert people("ben", "POST", "requests/a/label", {"y": 1.0})["repeated"]


def test_a_labeller_takes_back_their_own_answer_for_a_while(people, clock):
    people("ann", "POST", "requests/a/label", {"y": 1.0})
    assert "told by ann" in people("ben", "POST", "requests/a/reopen", status=403)["detail"]
    back = people("ann", "POST", "requests/a/reopen")
    assert (back["standing"], back["y"]) == ("awaited", 1.0)
    assert people("ann", "POST", "requests/next")["request"]["id"] == "a"
    people("ann", "POST", "requests/a/label", {"y": 2.0})
    clock.go_on(61)
    assert "within the last 60 seconds" in people("ann", "POST", "requests/a/reopen", status=403)["detail"]
    people("root", "POST", "requests/a/reopen")


def test_requests_come_in_pages_and_none_is_missed(served):
    served("PUT", "", ALL_WANTED, status=201)
    served("POST", "arrivals", [{"row": "flu", "id": f"p{i}"} for i in range(25)])
    for order in ("worth", "age", "deadline"):
        after, seen = None, []
        while True:
            query = {"order": order, "limit": 10} | ({} if after is None else {"after": after})
            page = served("GET", "requests", params=query)
            seen += [one["id"] for one in page["requests"]]
            after = page["next"]
            if after is None:
                break
        assert sorted(seen) == sorted(f"p{i}" for i in range(25))
    served("GET", "requests", params={"after": "nonsense"}, status=422)
    served("GET", "requests", params={"order": "beauty"}, status=400)
    served("GET", "requests", params={"limit": 100_000}, status=422)


@pytest.mark.parametrize("form", ["json", "csv", "lines"])
@pytest.mark.parametrize("query", [{"limit": -1}, {"limit": 10**30}, {"after": -1}], ids=str)
def test_entries_from_nowhere_are_refused(clinic, form, query):
    problem = clinic("GET", "entries", params={"format": form, **query}, status=422)
    assert "expected a whole number of at" in problem["detail"]


def test_nobody_can_read_a_cursor_or_work_out_the_place_of_an_audit():
    audited = Decision("a", True, Prediction(0.0, 1.0, 0.5), 1.0, 1.0, 2.0, 0.1, "audited")
    assert rank_of(audited, b"one store") != rank_of(audited, b"another store")
    one = OpenRequest("a", 3.25, 0.0, 7, None)
    cursor = cursor_of(one, "worth", b"one store")
    assert read_cursor(cursor, b"one store") == (-3.25, 7, "a")
    assert b"3.25" not in urlsafe_b64decode(cursor)
    for wrong in (cursor_of(one, "worth", b"another store"), cursor[:-4], "-3.25 7 a", "", "é"):
        with pytest.raises(InvalidInput, match="after: expected what `next` of the page before said"):
            read_cursor(wrong, b"one store")


def test_what_is_not_open_is_refused(clinic):
    for verb in ("skip", "lease", "release", "withdraw", "reopen"):
        clinic("POST", f"requests/nobody/{verb}", status=404)
    clinic("POST", "requests/nobody/label", {"y": 1.0}, status=404)
    clinic("POST", "requests/nobody/correct", {"y": 1.0}, status=404)


def test_all_of_it_is_in_the_log(people, served, address):
    people("ann", "POST", "requests/a/label", {"y": 1.0})
    people("ann", "POST", "requests/a/reopen")
    people("ann", "POST", "requests/b/skip")
    people("ben", "POST", "requests/b/withdraw", {"charged": True})
    live = served.live()
    kinds = [(one.kind, one.by) for one in open_store(address, "read").entries(live.number)][4:]
    assert kinds == [("Told", "ann"), ("Reopened", "ann"), ("Skipped", "ann"), ("Withdrawn", "ben")]
    assert fold_stream(served.store, live.stored).snapshot() == live.ready.learner.snapshot()
    before = [(one.id, one.at) for one in live.ready.desk.listed("age", None, 10, None)]
    desk = served.run(read_again(served))
    assert [(one.id, one.at) for one in desk.listed("age", None, 10, None)] == before


def test_a_label_of_somebody_else_is_changed_by_who_administers_alone(people, clock):
    people("ann", "POST", "requests/a/label", {"y": 1.0})
    for verb, body in (("correct", {"y": 2.0}), ("withdraw", None)):
        problem = people("ben", "POST", f"requests/a/{verb}", body, status=403)
        assert f"{verb}: expected a label that you told, got 'a', told by ann" in problem["detail"]
    assert people("ann", "POST", "requests/a/correct", {"y": 2.0})["y"] == 2.0
    assert people("root", "POST", "requests/a/correct", {"y": 3.0})["y"] == 3.0
    people("ann", "POST", "requests/a/withdraw", status=403)  # it is root's now
    people("root", "POST", "history", [{"row": "a", "y": 1.0, "id": "h"}])
    assert (
        "told by a history" in people("ann", "POST", "requests/h/correct", {"y": 2.0}, status=403)["detail"]
    )
    assert people("root", "POST", "requests/a/withdraw")["standing"] == "withdrawn"


def test_a_withdrawal_is_undone_by_who_made_it_or_who_administers(people):
    for id, name, others in (("a", "ann", ["ben"]), ("b", "root", ["ann", "ben"])):
        people(name, "POST", f"requests/{id}/withdraw")
        for other in others:
            problem = people(other, "POST", f"requests/{id}/reopen", status=403)
            expected = f"reopen: expected a label that you withdrew, got '{id}', withdrawn by {name}"
            assert expected in problem["detail"]
        assert people(name, "POST", f"requests/{id}/reopen")["standing"] == "awaited"
    people("ann", "POST", "requests/c/withdraw")
    assert people("root", "POST", "requests/c/reopen")["standing"] == "awaited"


def test_many_labels_leave_out_what_others_hold(people):
    people("ann", "POST", "requests/a/lease")
    lines = [{"id": "a", "y": 1.0}, {"id": "b", "y": 2.0}]
    for preview in ("?preview=true", ""):
        found = people("ben", "POST", f"labels{preview}", lines)
        assert [one["result"] for one in found["results"]] == ["refused", "told"]
        assert "which ann holds until" in found["results"][0]["detail"]
    assert people("ann", "POST", "labels", lines[:1])["told"] == 1


def test_a_label_that_comes_while_somebody_withdraws_is_not_theirs_to_withdraw(people, served):
    live = served.live()

    async def race():
        waiting = []
        async with live._turn:  # somebody is at work: both wait for their turn, one behind the other
            for name, verb, body in (("ben", "label", {"y": 1.0}), ("ann", "withdraw", {})):
                path, headers = f"/v1/streams/clinic/requests/a/{verb}", people.headers[name]
                waiting.append(asyncio.ensure_future(served.client.post(path, json=body, headers=headers)))
                while len(live._turn._waiters or ()) < len(waiting):
                    await asyncio.sleep(0.001)
        return [one.status_code for one in await asyncio.gather(*waiting)]

    assert served.run(race()) == [200, 403]
    assert people("root", "GET", "arrivals/a")["standing"] == "told"
