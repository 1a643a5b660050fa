"""What is Label Studio's alone: tokens, pages, filters, webhooks, and what an annotation may hold."""

import json
import logging

import pytest

from breakeven.desks import DeskDown, DeskRequest, Journal, LabelStudio, WrongSecret, label_studio
from breakeven.desks.reaching import RefusedByDesk
from breakeven.errors import InvalidInput
from tests.desks.benches import SECRET
from tests.desks.fake_studio import PAT, Studio, number

ANN = "ann@clinic.example"


@pytest.fixture
def studio():
    studio = Studio()
    yield studio
    studio.stop()


def desk_at(studio, **more):
    return LabelStudio(studio.url, 1, PAT, **({"seconds": 5.0, "secret": SECRET} | more))


def test_a_personal_access_token_is_refreshed_and_an_access_token_renewed_when_refused(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {"age": 61})])
    studio.tokens.clear()  # as after 300 seconds, or a restart
    desk.ask([DeskRequest("8", {"age": 62})])
    refreshed = [call for call in studio.calls if call[1] == "/api/token/refresh"]
    assert len(refreshed) == 2
    assert [one["data"] for one in studio.tasks.values()] == [
        {"age": 61, "request_id": "7"},
        {"age": 62, "request_id": "8"},
    ]


def test_a_token_that_is_revoked_is_one_clear_line(studio):
    desk = LabelStudio(studio.url, 1, "another token", seconds=5.0)
    with pytest.raises(
        WrongSecret, match="Label Studio refuses the token; expected a personal access token"
    ) as error:
        desk.answers(None)
    assert "another token" not in str(error.value)


def test_more_tasks_than_a_page_are_all_seen(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest(str(i), {"i": i}) for i in range(200)])  # two full pages: the third is 404
    for i in range(200):
        studio.annotate(str(i), ANN, number(i))
    answers, cursor = desk.answers(None)
    assert sorted(int(one.id) for one in answers) == list(range(200))
    assert desk.answers(cursor) == ([], cursor)


def test_a_task_updated_on_a_whole_second_stops_nothing(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {"age": 61})])
    studio.annotate("7", ANN, number(3))
    for task in studio.tasks.values():
        task["updated_at"] = "2026-11-18T12:00:00Z"
    desk.answers(None)
    studio.annotate("7", ANN, number(4))
    assert [one.y for one in desk.answers(None)[0]] == [3.0, 4.0]


def test_a_task_made_by_a_call_whose_answer_was_lost_is_found(studio):
    desk_at(studio).ask([DeskRequest("7", {"age": 61})])
    desk = desk_at(studio)  # with an empty journal, as if it had died before noting the task
    desk.ask([DeskRequest("7", {"age": 61}), DeskRequest("8", {"age": 62})])
    assert [one["data"]["request_id"] for one in studio.tasks.values()] == ["7", "8"]


def test_tasks_of_others_in_the_project_are_left_alone(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {"age": 61})])
    studio.import_tasks("1", {}, [{"data": {"text": "not ours"}}])
    assert desk.answers(None)[0] == []
    desk.withdraw(["7"])
    assert [one["data"] for one in studio.tasks.values()] == [{"text": "not ours"}]


def test_a_task_deleted_while_others_are_made_is_found_missing(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {}), DeskRequest("8", {})])
    desk.answers(None)
    studio.delete_task(str(studio.tasks_of("7")[0]["id"]), {}, None)
    desk.ask([DeskRequest("9", {})])
    assert [(one.id, one.kind) for one in desk.answers(None)[0]] == [("7", "deleted")]


def test_of_tasks_made_together_the_one_that_is_withdrawn_is_deleted(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {}), DeskRequest("8", {})])
    desk.withdraw(["7"])  # before any task is read: where each one is was said when they were made
    assert [len(studio.tasks_of(id)) for id in ("7", "8")] == [0, 1]


def test_a_task_that_was_answered_meanwhile_is_not_deleted(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {})])
    studio.annotate("7", ANN, number(3.0))
    desk.withdraw(["7"])
    assert [(one.id, one.y) for one in desk.answers(None)[0]] == [("7", 3.0)]


# -- what an annotation holds ------------------------------------------------------------------------------


def choice(word, name="y"):
    return [{"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [word]}}]


@pytest.mark.parametrize(
    ("result", "more", "y"),
    [
        (number(3.5), {}, 3.5),
        ([{"from_name": "y", "type": "rating", "value": {"rating": 4}}], {}, 4.0),
        (choice("2.5"), {}, 2.5),
        (choice("yes"), {"choices": {"yes": 1.0, "no": 0.0}}, 1.0),
        ([{"from_name": "y", "type": "textarea", "value": {"text": ["38.9"]}}], {}, 38.9),
        ([*number(7.0, "other"), *number(3.5)], {"control": "y"}, 3.5),
    ],
    ids=["number", "rating", "choice", "word", "text", "control"],
)
def test_a_label_is_read_from_the_control_it_is_in(studio, result, more, y):
    desk = desk_at(studio, **more)
    desk.ask([DeskRequest("7", {})])
    studio.annotate("7", ANN, result)
    assert [one.y for one in desk.answers(None)[0]] == [y]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (choice("perhaps"), "expected a number, got 'perhaps'"),
        ([*number(7.0, "other"), *number(3.5)], "expected one value of one control, got other, y"),
        ([], "expected one value of one control, got nothing"),
        ([{"from_name": "y", "type": "labels", "value": {"start": 1}}], "expected a number or one choice"),
    ],
    ids=["word", "two", "none", "other"],
)
def test_what_is_no_label_is_not_used_and_said_in_the_log(studio, caplog, result, words):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {}), DeskRequest("8", {})])
    studio.annotate("7", ANN, result)
    studio.annotate("8", ANN, number(1.0))
    with caplog.at_level(logging.WARNING, "breakeven"):
        assert [one.id for one in desk.answers(None)[0]] == ["8"]
    assert words in caplog.text


# -- webhooks ----------------------------------------------------------------------------------------------


def event(studio, action, **more):
    return json.dumps({"action": action, **more}).encode()


def test_a_webhook_says_that_it_is_time_to_look_and_is_not_believed(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {}), DeskRequest("8", {})])
    sent = []
    studio.call_hooks = lambda event: sent.append(json.dumps(event).encode())
    studio.annotate("7", ANN, number(3.0))
    studio.annotate("7", ANN, number(4.0))
    before = desk.answers(None)
    lies = [*reversed(sent), event(studio, "ANNOTATIONS_DELETED", annotations=[{"id": 4}])]
    lies += [b"", b"[" * 100_000, b"\xff", event(studio, "TASKS_DELETED", tasks=[{"id": 2}, {"id": 3}])]
    for body in lies:  # reordered, a second time, huge and forged
        assert desk.read_hook({"X-Breakeven-Secret": SECRET}, body) == []
    assert desk.answers(None) == before


@pytest.mark.parametrize(
    "headers", [{}, {"X-Breakeven-Secret": ""}, {"X-Breakeven-Secret": SECRET[:-1] + "x"}]
)
def test_a_webhook_without_the_secret_is_refused(studio, headers):
    desk = desk_at(studio)
    desk.ask([DeskRequest("7", {})])
    task = studio.tasks_of("7")[0]
    body = event(studio, "ANNOTATIONS_DELETED", annotations=[{"id": 1}], task=task)
    with pytest.raises(WrongSecret, match="webhook: expected the secret in X-Breakeven-Secret"):
        desk.read_hook(headers, body)


def test_a_desk_without_a_secret_takes_no_webhooks(studio):
    with pytest.raises(WrongSecret, match="expected the secret"):
        desk_at(studio, secret=None).read_hook({"X-Breakeven-Secret": ""}, b"{}")


# -- nothing is lost ---------------------------------------------------------------------------------------

BEN = "ben@clinic.example"


def labels_of(desk):
    """What each person says in the end of each request."""
    found = {}
    for one in desk.answers(None)[0]:
        found[one.id, one.labeller] = one.y
    return found


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(label_studio, "TASKS_A_PAGE", 3)
    monkeypatch.setattr(label_studio, "BRIEF_A_PAGE", 4)


def test_a_task_deleted_between_two_pages_hides_no_other(studio, small_pages):
    desk = desk_at(studio)
    desk.ask([DeskRequest(str(i), {}) for i in range(20)])
    for i in range(1, 20):
        studio.annotate(str(i), ANN, number(i))
    calls = []

    def delete_one():
        calls.append(1)
        if len(calls) == 2:
            studio.delete_task(str(studio.tasks_of("0")[0]["id"]), {}, None)

    studio.between_pages = delete_one
    for _ in range(8):
        desk.answers(None)
    expected = {(str(i), ANN): float(i) for i in range(1, 20)} | {("0", None): None}
    assert labels_of(desk) == expected


@pytest.mark.parametrize("hours", [1, -1])
@pytest.mark.parametrize("deed", ["told", "changed", "deleted", "skipped"])
def test_a_clock_that_jumps_loses_nothing(studio, tmp_path, hours, deed):
    desk = desk_at(studio, journal=Journal(tmp_path / "journal.db"))
    desk.ask([DeskRequest("7", {}), DeskRequest("8", {})])
    if deed != "told":
        studio.annotate("7", ANN, number(3.0))
    studio.annotate("8", BEN, number(5.0))
    desk.answers(None)
    for ahead in (hours * 3600.0, 0.0):  # and back
        studio.ahead = ahead
        studio.annotate("8", BEN, number(6.0 + ahead))
        desk.answers(None)
    studio.ahead = -abs(hours) * 3600.0
    if deed == "deleted":
        studio.take_back("7", ANN)
    else:
        studio.annotate("7", ANN, number(4.0), cancelled=deed == "skipped")
    desk = desk_at(studio, journal=Journal(tmp_path / "journal.db"))  # a restart in between
    expected = {"told": 4.0, "changed": 4.0, "deleted": None, "skipped": None}[deed]
    assert labels_of(desk) == {("7", ANN): expected, ("8", BEN): 6.0}


def test_an_annotation_that_changes_while_it_is_read_is_read_again(studio, small_pages):
    desk = desk_at(studio)
    desk.ask([DeskRequest(str(i), {}) for i in range(10)])
    for i in range(10):
        studio.annotate(str(i), ANN, number(1.0))
    changes = iter(range(10))

    def change():
        i = next(changes, None)
        if i is not None:
            studio.ahead -= 600.0  # while the clock runs backwards
            studio.annotate(str(i), ANN, number(2.0))
            studio.annotate(str(i), BEN, number(3.0))

    studio.while_reading = change
    for _ in range(12):
        desk.answers(None)
    assert labels_of(desk) == {(str(i), who): y for i in range(10) for who, y in ((ANN, 2.0), (BEN, 3.0))}


@pytest.mark.parametrize("dies_at", range(0, 14, 3))
def test_a_desk_that_goes_down_in_the_middle_goes_on(studio, small_pages, tmp_path, dies_at):
    desk = desk_at(studio, journal=Journal(tmp_path / "journal.db"))
    desk.ask([DeskRequest(str(i), {}) for i in range(20)])
    desk.answers(None)
    for i in range(20):
        studio.annotate(str(i), ANN, number(i))
    left = [dies_at]

    def die():
        left[0] -= 1
        studio.broken = left[0] == 0

    studio.between_pages = die
    for _ in range(10):
        try:
            desk.answers(None)
        except DeskDown:
            studio.broken = False
            desk = desk_at(studio, journal=Journal(tmp_path / "journal.db"))
    assert labels_of(desk) == {(str(i), ANN): float(i) for i in range(20)}


def test_a_quiet_project_is_not_read_again(studio):
    desk = desk_at(studio)
    desk.ask([DeskRequest(str(i), {}) for i in range(30)])
    studio.import_tasks("1", {}, [{"data": {"text": "not ours"}}])
    for i in range(30):
        studio.annotate(str(i), ANN, number(i))
    desk.answers(None)
    studio.calls.clear()
    desk.answers(None)
    assert studio.calls == [("GET", "/api/tasks")] * 2


# -- trouble -----------------------------------------------------------------------------------------------


def test_a_studio_that_answers_503_is_down(studio):
    studio.broken = True
    with pytest.raises(DeskDown, match="Label Studio answers 503; try again later"):
        desk_at(studio).answers(None)


def test_a_project_that_is_not_there_is_one_clear_line(studio):
    def nothing(project, about, given):
        return 404, {"detail": "Not found."}

    studio.ROUTES = (
        (r"POST /api/projects/(\d+)/import", lambda self, *w, **m: nothing(*w, **m)),
        *studio.ROUTES,
    )
    with pytest.raises(
        RefusedByDesk, match=r"/api/projects/1/import: Label Studio answers 404 .*check the address"
    ):
        desk_at(studio).ask([DeskRequest("7", {})])


def test_an_address_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="url: expected an address that begins with http:// or https://"):
        LabelStudio("studio.example", 1, PAT, journal=Journal())
