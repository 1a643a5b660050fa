"""Signed messages: whose they are, how old they are, and that none counts twice."""

import json

import pytest

from breakeven.desks import DeskAnswer, Journal, SignedWebhook, WrongSecret
from breakeven.desks.signed_webhook import REPLAY_WINDOW, signature_of
from breakeven.errors import InvalidInput
from tests.desks.benches import SECRET

NOW = 1.7e9
BODY = json.dumps({"answers": [{"id": "7", "y": 38.9}]}).encode()


def desk(journal=None, now=NOW):
    return SignedWebhook("http://127.0.0.1:9/", SECRET, journal=journal, clock=lambda: now)


def signed(body=BODY, at=NOW, secret=SECRET):
    return {"X-Breakeven-Signature": signature_of(secret, body, at)}


def test_a_signed_message_is_read():
    assert desk().read_hook(signed(), BODY) == [DeskAnswer("7", 38.9, "told", None, NOW)]


def test_names_of_headers_may_be_written_in_any_way():
    headers = {name.lower(): value for name, value in signed().items()}
    assert len(desk().read_hook(headers, BODY)) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Breakeven-Signature": ""},
        {"X-Breakeven-Signature": "t=,v1="},
        {"X-Breakeven-Signature": "t=99999999999999999999999,v1=00"},
        {"X-Breakeven-Signature": "t=1700000000,v1=ß"},
        signed(secret="another secret of theirs"),
        signed(b"another body"),
        {"X-Breakeven-Signature": signed()["X-Breakeven-Signature"].replace("t=1700000000", "t=1700000001")},
    ],
)
def test_a_message_that_is_not_signed_by_us_is_refused(headers):
    journal = Journal()
    with pytest.raises(WrongSecret, match="made with our secret, got none or another one"):
        desk(journal).read_hook(headers, BODY)
    assert journal.since(None)[0] == []


@pytest.mark.parametrize("late", [REPLAY_WINDOW + 1, -REPLAY_WINDOW - 1], ids=["old", "from the future"])
def test_a_message_of_another_time_is_refused(late):
    with pytest.raises(WrongSecret, match=r"expected one of the last 300 seconds, got one -?301 seconds old"):
        desk(now=NOW + late).read_hook(signed(), BODY)


def test_a_message_sent_a_second_time_is_refused_also_by_another_process(tmp_path):
    desk(Journal(tmp_path / "journal.db")).read_hook(signed(), BODY)
    with pytest.raises(WrongSecret, match="expected a new X-Breakeven-Signature, got one that came before"):
        desk(Journal(tmp_path / "journal.db"), NOW + 10).read_hook(signed(), BODY)


@pytest.mark.parametrize("last", [{"y": 4.0}, {"kind": "deleted"}])
def test_of_two_messages_that_come_in_the_wrong_order_the_later_counts(last):
    journal = Journal()
    for at, said in ((NOW - 20, {"y": 2.0}), (NOW - 1, last), (NOW - 9, {"y": 3.0})):
        body = json.dumps({"answers": [{"id": "7", "labeller": "ann", **said}]}).encode()
        desk(journal).read_hook(signed(body, at), body)
    assert journal.since(None)[0][-1].y == last.get("y")
    assert len(journal.since(None)[0]) == 2


def test_signatures_that_are_too_old_to_be_taken_are_forgotten():
    journal = Journal()
    desk(journal).read_hook(signed(), BODY)
    later = NOW + 3 * REPLAY_WINDOW
    desk(journal, later).read_hook(signed(at=later), BODY)
    assert journal.setting("signed " + signed()["X-Breakeven-Signature"]) is None


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"answers": [{"y": 1.0}]},
        {"answers": [{"id": "7"}]},
        {"answers": [{"id": "7", "y": "many"}]},
        {"answers": [{"id": "7", "y": 1.0, "kind": "skipped"}]},
        {"answers": [{"id": "7", "y": 1e300}]},
        {"answers": [{"id": "7", "kind": "perhaps"}]},
    ],
    ids=str,
)
def test_a_message_that_says_no_answer_is_refused_and_may_be_sent_again(document):
    body, journal = json.dumps(document).encode(), Journal()
    for _ in range(2):
        with pytest.raises(ValueError, match="message: expected answers, got something else"):
            desk(journal).read_hook(signed(body), body)
    assert journal.since(None)[0] == []


def test_a_short_secret_is_refused():
    with pytest.raises(InvalidInput, match="secret: expected at least 16 letters, got 5 of them"):
        SignedWebhook("http://127.0.0.1:9/", "short")
