"""Desks under attack: killed at every step, two at once, lost memories, answers that nobody asked for."""

import random
import sqlite3
import threading

import pytest

from breakeven import algorithm1
from breakeven.desks import DeskDown, DeskRequest, DeskSync, FolderDesk, Journal, LabelStudio, requests_of
from breakeven.errors.serving import Malformed, StreamClosed, TooLarge
from breakeven.errors.storing import StoreFailed
from breakeven.files import UnwritableFolder
from tests.desks.benches import SECRET
from tests.desks.fake_studio import PAT, Studio, number
from tests.desks.test_sync import Killed, Mortal, Plain, Verbs

ANN, BEN = "ann@clinic.example", "ben@clinic.example"


def learner_with(count, label_cost=10.0):
    learner = algorithm1(label_cost=label_cost, noise_std=0.1)
    ids = [learner.decide(f"kind {number}", id=f"case {number}").id for number in range(count)]
    return learner, ids


# -- killed at every step ------------------------------------------------------------------------------------


def folder_story(folder, dies_after, monkeypatch):
    """Answers are told, taken back with a confirmation and given again; the process dies once, somewhere."""
    learner, ids = learner_with(4)
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *words, **more: connect(*words, **more, factory=Mortal))

    def begun():
        journal = Journal(folder / "journal.db")
        desk = FolderDesk(folder / "desk", journal=journal)
        return DeskSync(desk, learner, lambda: requests_of(learner), memory=folder / "sync.db"), journal

    Mortal.left = 10**9
    (sync, journal), died, path = begun(), False, folder / "desk" / "answers.csv"
    Mortal.left = dies_after
    for kept in (ids, ids[:1], ids[:1], ids):
        path.write_text("".join(["id,y\n", *(f"{id},3.0\n" for id in kept)]))
        for _ in range(3):
            try:
                sync.once()
            except Killed:
                died, Mortal.left = True, 10**9
                sync.close(), journal.close()  # as the end of a process does
                sync, journal = begun()
                sync.once()
        if (path.parent / "answers-gone.txt").exists():
            (path.parent / "answers-gone.txt").rename(path.parent / "answers-gone-confirmed.txt")
    Mortal.left = 10**9
    sync.once()
    sync.close()
    monkeypatch.undo()
    return died, learner


def kill_at(step, tmp_path, monkeypatch):
    folder = tmp_path / str(step)
    folder.mkdir()
    died, learner = folder_story(folder, step, monkeypatch)
    assert learner.ledger.label_spend == 40.0, step
    assert learner.ledger.labels == 4, step
    assert {one.y for one in learner.state.book.settled()} == {3.0}, step
    assert not learner.awaited, step
    return died


def test_a_folder_desk_that_is_killed_now_and_then_ends_with_the_same_bill(tmp_path, monkeypatch):
    assert all(kill_at(step, tmp_path, monkeypatch) for step in range(0, 280, 70))


@pytest.mark.slow
def test_a_folder_desk_that_is_killed_at_any_step_ends_with_the_same_bill(tmp_path, monkeypatch):
    step = 0
    while kill_at(step, tmp_path, monkeypatch):
        step += 1
    assert step > 200


# -- a file that is written while it is looked at ------------------------------------------------------------


def write_in_pieces(path, text, draws, look):
    """As an editor that saves in place, with looks in between."""
    path.write_text("")
    place = 0
    while place < len(text):
        look()
        place += draws.randint(1, 40)
        path.write_text(text[:place])
    path.write_text(text)


def save_while_looking(tmp_path, seed):
    draws = random.Random(seed)
    learner, ids = learner_with(10)
    sync = DeskSync(FolderDesk(tmp_path / "desk"), learner, lambda: requests_of(learner))
    path, labels = tmp_path / "desk" / "answers.csv", dict.fromkeys(ids, 1.0)
    sync.once()
    for _ in range(6):
        changed = draws.choice(ids)
        labels[changed] = float(draws.randint(1, 99))
        text = "".join(["id,y\n", *(f"{id},{y}\n" for id, y in labels.items())])
        write_in_pieces(path, text, draws, sync.once)
        sync.once(), sync.once()
        assert {one.id: one.y for one in learner.state.book.settled()} == labels
        assert learner.ledger.label_spend == 100.0


def test_saves_in_place_change_what_was_changed_and_nothing_else(tmp_path):
    save_while_looking(tmp_path, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 22))
def test_many_saves_in_place_change_what_was_changed_and_nothing_else(tmp_path, seed):
    save_while_looking(tmp_path, seed)


# -- memories ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["journal.db", "sync.db", "both"])
def test_a_memory_that_is_lost_costs_nothing(tmp_path, lost):
    learner, ids = learner_with(3)
    folder = tmp_path / "desk"

    def begun():
        desk = FolderDesk(folder, journal=Journal(tmp_path / "journal.db"))
        return DeskSync(desk, learner, lambda: requests_of(learner), memory=tmp_path / "sync.db")

    sync = begun()
    sync.once()
    (folder / "answers.csv").write_text("id,y\ncase 0,1\ncase 1,2\n")
    sync.once(), sync.once()
    sync.close()
    for name in ("journal.db", "sync.db") if lost == "both" else (lost,):
        (tmp_path / name).unlink()
    (folder / "answers.csv").write_text("id,y\ncase 0,1\ncase 1,2\ncase 2,3\n")
    sync = begun()
    sync.once(), sync.once(), sync.once()
    assert {one.id: one.y for one in learner.state.book.settled()} == {
        id: place + 1.0 for place, id in enumerate(ids)
    }
    assert learner.ledger.label_spend == 30.0
    assert (folder / "requests.csv").read_text().count("case 2") == 1


def test_a_journal_that_is_locked_is_one_line_and_is_tried_again(tmp_path):
    learner, _ = learner_with(1)
    desk = FolderDesk(tmp_path / "desk", journal=Journal(tmp_path / "journal.db"))
    desk._journal._db.execute("PRAGMA busy_timeout = 1")
    sync = DeskSync(desk, learner, lambda: requests_of(learner))
    other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(
        StoreFailed, match=r"cannot be read or written \(database is locked\); nothing is lost"
    ):
        sync.once()
    other.execute("ROLLBACK")
    other.close()
    assert sync.once().asked == 1


@pytest.mark.parametrize("content", [b"half a database", b"SQLite format 3\0" + bytes(200)])
def test_a_journal_that_is_damaged_is_one_line(tmp_path, content):
    (tmp_path / "journal.db").write_bytes(content * 20)
    with pytest.raises(UnwritableFolder, match=r"journal.db: cannot be used \(.*\); name another folder"):
        Journal(tmp_path / "journal.db")


# -- answers that nobody asked for ---------------------------------------------------------------------------


def test_answers_for_ids_that_nobody_knows_are_reported_and_stop_nothing(tmp_path):
    learner, _ = learner_with(1)
    sync = DeskSync(FolderDesk(tmp_path), learner, lambda: requests_of(learner))
    strange = ["nobody", "=cmd|calc", "x" * 5000, "é\u202e", "case 00"]
    (tmp_path / "answers.csv").write_text(
        "".join(f"{id},1\n" for id in ["id,y\ncase 0", *strange])[:-2] + "1\n"
    )
    sync.once()
    report = sync.once()
    assert (report.told, len(report.refused)) == (1, len(strange))
    assert not sync.once().anything


def test_two_syncs_of_two_streams_in_one_folder_keep_their_requests(tmp_path):
    (one, _), other = learner_with(2), algorithm1(label_cost=1.0, noise_std=1.0)
    other.decide("flu", id="flu 1")
    syncs = [
        DeskSync(
            FolderDesk(tmp_path, journal=Journal()), learner, lambda learner=learner: requests_of(learner)
        )
        for learner in (one, other)
    ]
    for sync in syncs:
        sync.once()
    assert len((tmp_path / "requests.csv").read_text().splitlines()) == 4
    (tmp_path / "answers.csv").write_text("id,y\ncase 0,1\ncase 1,2\nflu 1,3\n")
    reports = [sync.once() for sync in syncs * 2][2:]
    assert [(len(report.refused), report.told) for report in reports] == [(1, 2), (2, 1)]


# -- webhooks while it is polled -----------------------------------------------------------------------------


def test_webhooks_while_polling_change_nothing(tmp_path):
    studio = Studio()
    try:
        learner, ids = learner_with(6)
        desk = LabelStudio(
            studio.url, 1, PAT, journal=Journal(tmp_path / "j.db"), secret=SECRET, seconds=30.0
        )
        sync = DeskSync(desk, learner, lambda: requests_of(learner))
        sync.once()
        for place, id in enumerate(ids):
            studio.annotate(id, ANN, number(place))
        stop = threading.Event()

        def shout():
            while not stop.is_set():
                desk.read_hook(
                    {"X-Breakeven-Secret": SECRET}, b'{"action": "TASKS_DELETED", "tasks": [{"id": 2}]}'
                )

        thread = threading.Thread(target=shout)
        thread.start()
        sync.once()
        stop.set()
        thread.join()
        assert {one.id: one.y for one in learner.state.book.settled()} == {id: i for i, id in enumerate(ids)}
    finally:
        studio.stop()


def test_a_desk_that_fails_at_any_call_is_asked_once(tmp_path):
    for fails_at in range(6):
        studio = Studio()
        calls = []
        respond = studio.respond

        def failing(*words, respond=respond, calls=calls, fails_at=fails_at):
            calls.append(words[:2])
            answer = respond(*words)
            return (502, {}) if len(calls) == fails_at + 1 else answer  # done, and its answer is lost

        studio.respond = failing
        desk = LabelStudio(studio.url, 1, PAT, journal=Journal(), seconds=30.0)
        for _ in range(3):
            try:
                desk.ask([DeskRequest("7", {}), DeskRequest("8", {})])
                desk.answers(None)
            except DeskDown:
                continue
        assert sorted(one["data"]["request_id"] for one in studio.tasks.values()) == ["7", "8"]
        studio.stop()


@pytest.mark.parametrize("error", [Malformed("id: too odd"), TooLarge("id: too long")])
def test_an_answer_that_the_service_will_never_take_stops_no_other(error):
    desk, verbs = Plain(), Verbs()
    sync = DeskSync(desk, verbs, list)
    desk.says("x" * 100_000, "ann", 3.0)
    desk.says("7", "ann", 3.0)
    verbs.failing = error
    assert sync.once().refused == [str(error)]
    assert verbs.calls == [("tell", "7", 3.0)]


def test_a_stream_that_is_closed_loses_no_answer():
    desk, verbs = Plain(), Verbs()
    sync = DeskSync(desk, verbs, list)
    desk.says("7", "ann", 3.0)
    verbs.failing = StreamClosed("the stream is closed")
    with pytest.raises(StreamClosed, match="the stream is closed"):
        sync.once()
    sync.once()
    assert verbs.calls == [("tell", "7", 3.0)]
