"""Between a desk and a learner: who counts, what is refused, and a kill at every moment."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven import algorithm1
from breakeven.desks import (
    Counting,
    DeskAnswer,
    DeskDown,
    DeskRequest,
    DeskSync,
    Journal,
    requests_of,
)
from breakeven.desks.sync import is_down
from breakeven.errors import InvalidInput, UnknownId
from breakeven.errors.serving import NotAllowed, TooMany
from breakeven.errors.storing import StoreFailed
from breakeven.files import UnwritableFolder


class Plain:
    """A desk in memory, whose journal a test writes."""

    def __init__(self, journal=None):
        self.journal, self.asked, self.taken_back, self.is_down = journal or Journal(), [], [], False

    def ask(self, requests):
        if self.is_down:
            raise DeskDown("down")
        self.asked += [one.id for one in self.journal.unasked(requests)]
        for one in requests:
            self.journal.note_task(one.id, asked=True)

    def answers(self, since):
        if self.is_down:
            raise DeskDown("down")
        return self.journal.since(since)

    def withdraw(self, ids):
        self.taken_back += ids
        for id in ids:
            self.journal.close_task(id)

    def read_hook(self, headers, body):
        return []

    def says(self, id, labeller, y):
        self.journal.say(f"{labeller} {id}", id, labeller, y, at=float(len(self.journal.since(None)[0])))

    def takes_back(self, id, labeller):
        self.journal.take_back(f"{labeller} {id}", at=99.0)


class Verbs:
    """Verbs that remember their calls; one that is told to fail does so once."""

    def __init__(self):
        self.calls, self.failing = [], None

    def _call(self, *words):
        if self.failing is not None:
            error, self.failing = self.failing, None
            raise error
        self.calls.append(words)

    def tell(self, id, y, *, labeller=None):
        self._call("tell", id, y, *([] if labeller is None else [labeller]))

    def correct(self, id, y):
        self._call("correct", id, y)

    def withdraw(self, id, *, charged=False):
        self._call("withdraw", id, charged)

    def reopen(self, id):
        self._call("reopen", id)


def synced(counting=None, **more):
    desk, verbs = Plain(), Verbs()
    return desk, verbs, DeskSync(desk, verbs, lambda: [DeskRequest("7", "flu")], counting=counting, **more)


# -- who counts --------------------------------------------------------------------------------------------


def test_the_first_answer_counts_and_others_are_ignored():
    desk, verbs, sync = synced()
    desk.says("7", "ann", 3.0)
    desk.says("7", "ben", 5.0)
    desk.says("7", "ben", 6.0)
    sync.once()
    desk.says("7", "ann", 4.0)
    sync.once()
    assert verbs.calls == [("tell", "7", 3.0), ("correct", "7", 4.0)]


def test_where_the_first_takes_back_the_second_counts():
    desk, verbs, sync = synced()
    desk.says("7", "ann", 3.0)
    desk.says("7", "ben", 5.0)
    sync.once()
    desk.takes_back("7", "ann")
    sync.once()
    desk.takes_back("7", "ben")
    sync.once()
    desk.says("7", "ann", 1.0)
    sync.once()
    assert verbs.calls == [
        ("tell", "7", 3.0),
        ("correct", "7", 5.0),
        ("withdraw", "7", False),
        ("reopen", "7"),
        ("tell", "7", 1.0),
    ]


def test_the_mean_of_two_waits_for_two_and_follows_their_changes():
    desk, verbs, sync = synced(Counting.of("mean:2", charged=True))
    desk.says("7", "ann", 3.0)
    sync.once()
    assert verbs.calls == []
    desk.says("7", "ben", 5.0)
    desk.says("7", "eve", 100.0)
    sync.once()
    desk.says("7", "ben", 7.0)
    sync.once()
    desk.takes_back("7", "eve")
    desk.takes_back("7", "ann")
    sync.once()
    assert verbs.calls == [("tell", "7", 4.0), ("correct", "7", 5.0), ("withdraw", "7", True)]


def test_an_answer_taken_back_before_it_counted_leaves_the_request_open():
    desk, verbs, sync = synced(Counting.of("mean:2"))
    desk.says("7", "ann", 3.0)
    desk.takes_back("7", "ann")
    sync.once()
    assert verbs.calls == []


def test_labellers_by_name_are_told_as_the_learner_knows_them():
    desk, verbs, sync = synced(Counting.of("labellers", {"ann@clinic": "nurse"}))
    desk.says("7", "somebody", 9.0)
    desk.says("7", "ann@clinic", 3.0)
    sync.once()
    assert verbs.calls == [("tell", "7", 3.0, "nurse")]


@pytest.mark.parametrize("charged", [False, True], ids=["free", "charged"])
def test_a_skip_withdraws_and_a_label_that_comes_all_the_same_is_told(charged):
    desk, verbs, sync = synced(Counting(charged=charged))
    desk.says("7", "ann", None)
    desk.says("7", "ben", None)
    sync.once()
    desk.says("7", "ben", 5.0)
    sync.once()
    assert verbs.calls == [("withdraw", "7", charged), ("reopen", "7"), ("tell", "7", 5.0)]


def test_a_skip_beside_an_answer_changes_nothing():
    desk, verbs, sync = synced(Counting.of("mean:2"))
    desk.says("7", "ann", 3.0)
    desk.says("7", "ben", None)
    sync.once()
    assert verbs.calls == []


def test_a_task_that_is_gone_withdraws_its_request():
    desk, verbs, sync = synced()
    sync.once()
    desk.journal.task_is_gone("7", 1.0)
    sync.once()
    assert (verbs.calls, desk.taken_back) == ([("withdraw", "7", False)], [])


@pytest.mark.parametrize("words", ["second", "mean", "mean:1", "mean:x", "labellers"])
def test_what_is_no_way_to_count_is_refused(words):
    with pytest.raises(
        InvalidInput, match=r"second: expected first, mean:N|names: expected names of labellers"
    ):
        Counting.of(words)


def test_a_withdrawal_undone_at_the_desk_is_paid_as_before():
    learner, desk = algorithm1(label_cost=50.0, noise_std=1.0), Plain()
    ids = [learner.decide(kind).id for kind in ("flu", "cold")]
    sync = DeskSync(desk, learner, lambda: requests_of(learner))
    spent = []
    for label in (3.0, None, 3.0, None):
        for id in ids[len(spent) > 0 :]:
            desk.takes_back(id, "ann") if label is None else desk.says(id, "ann", label)
        sync.once()
        spent.append(learner.ledger.label_spend)
    assert spent == [100.0, 50.0, 100.0, 50.0]
    assert learner.ledger.labels == 1


# -- requests ----------------------------------------------------------------------------------------------


def test_what_was_answered_elsewhere_is_taken_back_and_what_was_answered_here_is_not():
    learner, desk = algorithm1(label_cost=1.0, noise_std=1.0), Plain()
    here, there = (learner.decide(kind).id for kind in ("flu", "cold"))
    sync = DeskSync(desk, learner, lambda: requests_of(learner))
    assert sync.once().asked == 2
    desk.says(here, "ann", 3.0)
    learner.tell(there, 2.0)
    report = sync.once()
    assert (report.told, report.taken_back, desk.taken_back) == (1, 1, [there])
    assert not sync.once().anything
    assert len(desk.asked) == 2


@pytest.mark.parametrize("told", ["here", "elsewhere"])
def test_a_request_that_is_open_again_is_asked_again_and_answered_anew(told):
    learner, desk = algorithm1(label_cost=1.0, noise_std=1.0), Plain()
    id = learner.decide("flu").id
    sync = DeskSync(desk, learner, lambda: requests_of(learner))
    sync.once()
    desk.says(id, "ann", 3.0) if told == "here" else learner.tell(id, 3.0)
    sync.once()
    learner.reopen(id)
    assert sync.once().asked == 1
    assert desk.asked == ([id] if told == "here" else [id, id])  # a task that was taken back is made anew
    desk.says(id, "ben", 5.0)
    assert sync.once().told == 1
    assert learner.state.book.find(id).y == 5.0


def test_requests_are_plain_data():
    learner = algorithm1(label_cost=1.0, noise_std=1.0)
    learner.decide(("flu", 3), id="7")
    assert requests_of(learner) == [DeskRequest("7", ["flu", 3], 1.0)]


# -- what is refused, and what is down ---------------------------------------------------------------------


def test_an_answer_that_cannot_be_used_is_reported_and_the_rest_goes_on():
    desk, verbs, sync = synced()
    desk.says("8", "ann", 3.0)
    desk.says("7", "ann", 4.0)
    verbs.failing = UnknownId("id: expected an arrival whose label is awaited, got '8'")
    report = sync.once()
    assert report.refused == ["id: expected an arrival whose label is awaited, got '8'"]
    assert verbs.calls == [("tell", "7", 4.0)]
    assert sync.once().refused == []


@pytest.mark.parametrize("verb", ["correct", "withdraw"])
def test_a_label_of_somebody_else_stays_theirs_and_the_rest_goes_on(verb):
    desk, verbs, sync = synced()
    desk.says("7", "ann", 3.0)
    sync.once()
    desk.says("7", "ann", 4.0) if verb == "correct" else desk.takes_back("7", "ann")
    desk.says("8", "ann", 5.0)
    verbs.failing = NotAllowed("label: expected one that you told, got one that ben told")
    assert sync.once().refused == ["label: expected one that you told, got one that ben told"]
    assert verbs.calls[1:] == [("tell", "8", 5.0)]


def test_a_token_that_may_not_label_ends_the_sync_and_loses_nothing():
    desk, verbs, sync = synced()
    desk.says("7", "ann", 3.0)
    verbs.failing = NotAllowed("token: expected one with the role label, got 'ann' with watch")
    with pytest.raises(NotAllowed, match="with the role label"):
        sync.once()
    sync.once()
    assert verbs.calls == [("tell", "7", 3.0)]


@pytest.mark.parametrize("known", ["between", "before"])
def test_a_label_that_was_refused_can_be_mended(known):
    desk, verbs, sync = synced()
    desk.says("7", "ann", 389.0)
    verbs.failing = InvalidInput("y: expected a number of at most 50, got 389")
    if known == "between":
        assert len(sync.once().refused) == 1
    desk.says("7", "ann", 38.9)
    sync.once()
    desk.says("7", "ann", 38.8)
    sync.once()
    assert verbs.calls == [("tell", "7", 38.9), ("correct", "7", 38.8)]


@pytest.mark.parametrize("known", ["between", "before"])
def test_a_label_that_was_refused_and_taken_back_leaves_the_request_open(known):
    desk, verbs, sync = synced()
    desk.says("7", "ann", 389.0)
    verbs.failing = InvalidInput("y: expected a number of at most 50, got 389")
    if known == "between":
        sync.once()
    desk.takes_back("7", "ann")
    sync.once()
    desk.says("7", "ben", 38.9)
    sync.once()
    assert verbs.calls == [("tell", "7", 38.9)]


@pytest.mark.parametrize("error", [DeskDown("down"), StoreFailed("full"), TooMany("calls")], ids=repr)
def test_what_passes_by_itself_is_tried_again(error):
    assert is_down(error)
    assert not is_down(NotAllowed("no"))


def test_a_service_that_is_down_is_called_again_in_the_same_order():
    desk, verbs, sync = synced()
    desk.says("7", "ann", 3.0)
    verbs.failing = ConnectionRefusedError("down")
    with pytest.raises(ConnectionRefusedError, match="down"):
        sync.once()
    desk.says("7", "ann", 4.0)
    sync.once()
    assert verbs.calls == [("tell", "7", 3.0), ("correct", "7", 4.0)]


def test_a_desk_that_is_down_keeps_nothing_from_being_told():
    desk, verbs, sync = synced()
    desk.says("7", "ann", 3.0)
    verbs.failing = ConnectionRefusedError("down")
    with pytest.raises(ConnectionRefusedError):
        sync.once()
    desk.is_down = True
    with pytest.raises(DeskDown, match="down"):
        sync.once()
    assert verbs.calls == [("tell", "7", 3.0)]


def test_a_memory_of_another_stream_is_refused(tmp_path):
    DeskSync(Plain(), Verbs(), list, memory=tmp_path / "sync.db", name="stream a").close()
    with pytest.raises(InvalidInput, match="memory: expected the file of stream b, got that of stream a"):
        DeskSync(Plain(), Verbs(), list, memory=tmp_path / "sync.db", name="stream b")


def test_a_memory_that_another_sync_uses_is_refused(tmp_path):
    first = DeskSync(Plain(), Verbs(), list, memory=tmp_path / "sync.db")
    with pytest.raises(UnwritableFolder, match=r"sync.db: cannot be used \(database is locked\)"):
        DeskSync(Plain(), Verbs(), list, memory=tmp_path / "sync.db")
    first.once()
    first.close()
    DeskSync(Plain(), Verbs(), list, memory=tmp_path / "sync.db").close()


def test_a_memory_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "sync.db").write_text("no database " * 100)
    with pytest.raises(UnwritableFolder, match=r"sync.db: cannot be used \(file is not a database\)"):
        DeskSync(Plain(), Verbs(), list, memory=tmp_path / "sync.db")


def test_a_journal_that_was_lost_is_read_from_the_beginning():
    desk, verbs, sync = synced()
    for y in (1.0, 2.0, 3.0):
        desk.says("7", "ann", y)
    sync.once()
    desk.journal = Journal()
    desk.says("7", "ann", 3.0)
    desk.says("8", "ann", 4.0)
    sync.once()
    assert verbs.calls == [
        ("tell", "7", 1.0),
        ("correct", "7", 2.0),
        ("correct", "7", 3.0),
        ("tell", "8", 4.0),
    ]


def test_a_disk_that_is_full_is_one_line_and_is_tried_again(tmp_path):
    desk, verbs = Plain(), Verbs()
    sync = DeskSync(desk, verbs, list, memory=tmp_path / "sync.db")
    sync._db.execute("PRAGMA max_page_count = 1")
    for number in range(300):
        desk.says(f"request {number} {'x' * 100}", "ann", 1.0)
    with pytest.raises(StoreFailed, match=r"sync.db: what the sync .* \(database or disk is full"):
        sync.once()
    assert verbs.calls == []
    sync._db.execute("PRAGMA max_page_count = 100000")
    assert sync.once().told == 300


def test_a_cursor_of_another_kind_is_refused():
    with pytest.raises(InvalidInput, match="since: expected a cursor that `answers` gave"):
        Journal().since("yesterday")


# -- killed at every moment --------------------------------------------------------------------------------


class Killed(BaseException):
    """The end of a process."""


class Mortal(sqlite3.Connection):
    """A database whose process dies before its n-th statement."""

    left = 10**9

    def execute(self, *words):
        Mortal.left -= 1
        if Mortal.left < 0:
            raise Killed
        if words[0].startswith("PRAGMA synchronous"):
            words = ("PRAGMA synchronous = OFF",)  # a process dies here, not the power
        return super().execute(*words)


SAID = [("a", "ann", 1.0), ("b", "ann", 2.0), ("a", "ann", 1.5)]
SAID += [("c", "ben", None), ("b", "ben", 7.0), ("c", "ann", 4.0)]


def story(learner, folder, dies_after, monkeypatch):
    """Answers come in two parts; the process dies once, somewhere, and is begun anew."""
    journal = Journal()

    def begun():
        desk = Plain(journal)
        return DeskSync(desk, learner, lambda: requests_of(learner), memory=folder / "sync.db")

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *words, **more: connect(*words, **more, factory=Mortal))
    sync = begun()
    Mortal.left = dies_after
    died = False
    for part in (SAID[:3], SAID[3:], []):
        for number, (id, who, y) in enumerate(part):
            kept, Mortal.left = Mortal.left, 10**9
            journal.say(f"{who} {id}", id, who, y, at=float(number))
            Mortal.left = kept
        try:
            sync.once()
        except Killed:
            died, Mortal.left = True, 10**9
            sync.close()
            sync = begun()
            sync.once()
    Mortal.left = 10**9
    sync.close()
    monkeypatch.undo()
    return died


def learner_with_requests():
    learner = algorithm1(label_cost=1.0, noise_std=1.0)
    for id in ("a", "b", "c"):
        learner.decide(id, id=id)
    return learner


def test_a_kill_at_any_moment_leads_to_the_same_learner(tmp_path, monkeypatch):
    (tmp_path / "whole").mkdir()
    whole = learner_with_requests()
    assert not story(whole, tmp_path / "whole", 10**9, monkeypatch)
    died_at = 0
    while True:
        folder = tmp_path / str(died_at)
        folder.mkdir()
        learner = learner_with_requests()
        if not story(learner, folder, died_at, monkeypatch):
            break
        assert learner.snapshot() == whole.snapshot(), died_at
        died_at += 1
    assert died_at > 50


# -- the same however answers come -------------------------------------------------------------------------

deeds = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.sampled_from(["ann", "ben", "eve"]),
        st.sampled_from([1.0, 2.0, 3.0, None, "back"]),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(deeds, st.lists(st.booleans(), min_size=12, max_size=12), st.sampled_from(["first", "mean:2"]))
def test_what_counts_does_not_depend_on_when_one_looks(deeds, looks, second):
    ends = []
    for often in (False, True):
        desk, told = Plain(), {}

        class Last(Verbs):
            def _call(self, verb, id, *words, told=told):
                told[id] = words[0] if verb in ("tell", "correct") else None

        sync = DeskSync(desk, Last(), list, counting=Counting.of(second))
        for (id, who, y), look in zip(deeds, looks, strict=False):
            if y == "back":
                desk.takes_back(id, who)
            else:
                desk.says(id, who, y)
            if often and look:
                sync.once()
        sync.once()
        ends.append(told)
    assert ends[0] == ends[1]


# -- the journal -------------------------------------------------------------------------------------------


def test_of_two_answers_by_one_person_the_later_counts():
    journal = Journal()
    journal.say("annotation 1", "7", "ann", 3.0, at=1.0)
    journal.say("annotation 2", "7", "ann", 4.0, at=2.0)
    journal.take_back("annotation 1", at=3.0)
    journal.take_back("annotation 2", at=4.0)
    kinds = [(one.kind, one.y) for one in journal.since(None)[0]]
    assert kinds == [("told", 3.0), ("changed", 4.0), ("deleted", None)]


def test_a_task_deleted_after_its_answer_leaves_the_answer():
    journal = Journal()
    journal.note_task("7", "12")
    journal.say("annotation 1", "7", "ann", 3.0, at=1.0)
    journal.task_is_gone("7", at=2.0)
    assert journal.since(None)[0] == [DeskAnswer("7", 3.0, "told", "ann", 1.0)]
