"""Checks that every desk must pass: `check_desk(make)` runs all of them, each at a desk of its own.

A `DeskBench` is the desk under test together with the people at it. In pytest, parametrise over
`DESK_CHECKS` to have each named.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from breakeven.desks import DeskDown, DeskRequest, DeskSync, LabellingDesk, requests_of
from breakeven.learner import Learner, algorithm1

ANN, BEN = "ann@clinic.example", "ben@clinic.example"


class DeskBench(Protocol):
    """A desk under test, and what people do at it."""

    def open(self) -> LabellingDesk:
        """The desk, anew but with all that it remembers, as after a restart."""

    def tasks(self) -> list[str]:
        """The ids of all requests that people are shown, as often as they are shown."""

    def answer(self, id: str, y: float, labeller: str) -> None:
        """A person gives a label, or another one than before."""

    def skip(self, id: str, labeller: str) -> None:
        """A person says that they give none."""

    def delete(self, id: str, labeller: str) -> None:
        """A person takes their answer back."""

    def delete_task(self, id: str) -> None:
        """Somebody deletes the whole task."""

    def down(self) -> AbstractContextManager[object]:
        """Inside it, the desk takes no requests."""


MakeBench = Callable[[], DeskBench]
"""A function that makes a new desk without tasks for every check."""
DeskCheck = Callable[[DeskBench], None]

DESK_CHECKS: list[DeskCheck] = []
"""All checks, in the order in which they run."""


def check_desk(make: MakeBench) -> list[str]:
    """Run every check at desks that `make` gives; the names of those run."""
    for one in DESK_CHECKS:
        try:
            one(make())
        except AssertionError as failure:
            raise AssertionError(f"{one.__name__}: {failure}") from failure
    return [one.__name__ for one in DESK_CHECKS]


def desk_check(body: DeskCheck) -> DeskCheck:
    """Make a function a check."""
    DESK_CHECKS.append(body)
    return body


def some_requests(count: int = 3) -> list[DeskRequest]:
    """Requests that differ."""
    return [DeskRequest(f"case {i}", {"age": 40 + i, "ward": "B"}, cost=10.0) for i in range(count)]


def news(
    desk: LabellingDesk, since: str | None
) -> tuple[list[tuple[str, float | None, str, str | None]], str]:
    """What is new, without the time."""
    answers, cursor = desk.answers(since)
    return [(one.id, one.y, one.kind, one.labeller) for one in answers], cursor


@desk_check
def a_request_that_is_asked_twice_is_one_task(bench: DeskBench) -> None:
    """Whether by the same desk, by one that was opened anew, or together with others."""
    one, two, three = some_requests()
    desk = bench.open()
    desk.ask([one, two])
    desk.ask([one, two])
    bench.open().ask([two, three, three])
    assert sorted(bench.tasks()) == [one.id, two.id, three.id]
    desk.ask([])


@desk_check
def nothing_is_answered_before_anyone_answers(bench: DeskBench) -> None:
    """And a task alone is no answer."""
    desk = bench.open()
    found, cursor = news(desk, None)
    desk.ask(some_requests())
    assert (found, news(desk, cursor)[0]) == ([], [])


@desk_check
def an_answer_comes_once_and_again_for_the_same_cursor(bench: DeskBench) -> None:
    """A cursor says how far one has read; who has lost it reads from the beginning."""
    one, two, _ = some_requests()
    desk = bench.open()
    desk.ask(some_requests())
    _, start = news(desk, None)
    bench.answer(one.id, 38.9, ANN)
    first, cursor = news(desk, start)
    assert first == [(one.id, 38.9, "told", ANN)], first
    bench.answer(two.id, -0.1, BEN)
    later, end = news(bench.open(), cursor)
    assert later == [(two.id, -0.1, "told", BEN)], later
    assert news(desk, end)[0] == []
    assert news(desk, start)[0] == [*first, *later]


@desk_check
def an_answer_given_twice_counts_once(bench: DeskBench) -> None:
    """The same label by the same person is nothing new."""
    one, *_ = some_requests()
    desk = bench.open()
    desk.ask(some_requests())
    bench.answer(one.id, 2.5, ANN)
    _, cursor = news(desk, None)
    bench.answer(one.id, 2.5, ANN)
    assert news(desk, cursor)[0] == []


@desk_check
def another_label_by_the_same_person_is_a_change(bench: DeskBench) -> None:
    """And that of another person is not."""
    one, *_ = some_requests()
    desk = bench.open()
    desk.ask(some_requests())
    bench.answer(one.id, 2.5, ANN)
    _, cursor = news(desk, None)
    bench.answer(one.id, 3.5, ANN)
    found, cursor = news(desk, cursor)
    assert found == [(one.id, 3.5, "changed", ANN)], found
    bench.answer(one.id, 4.5, BEN)
    found, _ = news(desk, cursor)
    assert found == [(one.id, 4.5, "told", BEN)], found


@desk_check
def a_skip_is_said(bench: DeskBench) -> None:
    """And who skipped may answer later."""
    one, *_ = some_requests()
    desk = bench.open()
    desk.ask(some_requests())
    bench.skip(one.id, ANN)
    found, cursor = news(desk, None)
    assert found == [(one.id, None, "skipped", ANN)], found
    bench.answer(one.id, 1.0, BEN)
    found, _ = news(desk, cursor)
    assert found == [(one.id, 1.0, "told", BEN)], found


@desk_check
def an_answer_taken_back_is_deleted(bench: DeskBench) -> None:
    """Those of others stand."""
    one, *_ = some_requests()
    desk = bench.open()
    desk.ask(some_requests())
    bench.answer(one.id, 2.5, ANN)
    bench.answer(one.id, 3.5, BEN)
    found, cursor = news(desk, None)
    assert sorted(found) == [(one.id, 2.5, "told", ANN), (one.id, 3.5, "told", BEN)], found
    bench.delete(one.id, ANN)
    found, cursor = news(bench.open(), cursor)
    assert found == [(one.id, None, "deleted", ANN)], found
    assert news(desk, cursor)[0] == []


@desk_check
def a_task_that_is_deleted_before_an_answer_is_deleted(bench: DeskBench) -> None:
    """Without a labeller: nobody will answer. It is said once."""
    one, two, _ = some_requests()
    desk = bench.open()
    desk.ask(some_requests())
    _, cursor = news(desk, None)
    bench.delete_task(two.id)
    found, cursor = news(desk, cursor)
    assert found == [(two.id, None, "deleted", None)], found
    bench.answer(one.id, 2.5, ANN)
    found, _ = news(desk, cursor)
    assert found == [(one.id, 2.5, "told", ANN)], found


@desk_check
def a_request_that_is_taken_back_is_shown_no_more(bench: DeskBench) -> None:
    """It is no deletion by somebody else, may be taken back twice, and unknown ids do no harm."""
    one, two, three = some_requests()
    desk = bench.open()
    desk.ask([one, two, three])
    _, cursor = news(desk, None)
    desk.withdraw([two.id, "nobody asked"])
    bench.open().withdraw([two.id])
    assert sorted(bench.tasks()) == [one.id, three.id]
    assert news(desk, cursor)[0] == []


@desk_check
def a_desk_that_is_down_loses_nothing(bench: DeskBench) -> None:
    """Asking says so, in one line; afterwards the same call is one task, and earlier answers are there."""
    one, two, three = some_requests()
    desk = bench.open()
    desk.ask([one])
    bench.answer(one.id, 2.5, ANN)
    with bench.down():
        said = _refused(desk, [two, three])
        assert said, "expected DeskDown while it is down"
        assert len(said.splitlines()) == 1
    desk.ask([two, three])
    assert {two.id, three.id} <= set(bench.tasks())
    assert len(bench.tasks()) == len(set(bench.tasks()))
    assert news(bench.open(), None)[0] == [(one.id, 2.5, "told", ANN)]


@desk_check
def a_learner_is_told_what_people_answer(bench: DeskBench) -> None:
    """All of it together: asked, told, corrected, withdrawn, and nothing of it twice."""
    learner = algorithm1(label_cost=1.0, noise_std=1.0)
    ids = [learner.decide(kind, id=f"case {kind}").id for kind in ("flu", "cold", "measles")]
    sync = DeskSync(bench.open(), learner, lambda: requests_of(learner))
    assert sync.once().asked == 3
    bench.answer(ids[0], 38.9, ANN)
    bench.skip(ids[1], ANN)
    report = sync.once()
    assert (report.asked, report.told, report.withdrawn) == (0, 1, 1)
    assert _told(learner) == {ids[0]: 38.9}
    assert list(learner.awaited) == [ids[2]]
    bench.answer(ids[0], 39.5, ANN)
    assert sync.once().corrected == 1
    assert _told(learner) == {ids[0]: 39.5}
    learner.withdraw(ids[2])
    assert sync.once().taken_back == 1
    assert ids[2] not in bench.tasks()
    assert not sync.once().anything


def _refused(desk: LabellingDesk, requests: list[DeskRequest]) -> str:
    try:
        desk.ask(requests)
    except DeskDown as error:
        return str(error)
    return ""


def _told(learner: Learner) -> dict[str, float]:
    """The labels that a learner was told, by id."""
    return {one.id: one.y for one in learner.state.book.settled() if one.y is not None}
