"""Nothing is lost: a learner that has gone on is kept, and a bill is written whole or not at all."""

import json
import multiprocessing
import os

import pytest

from breakeven import files
from breakeven.files import UnwritableFolder
from breakeven.rows import has_gone_on, open_bill, save_bill
from breakeven.rows.bills import SNAPSHOT_FILE, SUMMARY_FILE
from tests.tables.samples import bill_of, smooth

GONE_ON = "expected a new folder, or a learner as its bill left it, got one that has gone on since"


@pytest.fixture(scope="module")
def outcome():
    return bill_of(smooth(40), cost=0.5)


@pytest.fixture
def clinic(outcome, tmp_path):
    """A folder with a bill."""
    outcome.kept_in = None
    outcome.write(tmp_path / "clinic")
    return tmp_path / "clinic"


def go_on(folder):
    """A label that nobody else has."""
    columns, learner = open_bill(folder)
    learner.decide(columns.point({"a": 0.1, "b": 0.2}), id="Anna", force=True)
    learner.tell("Anna", columns.label(0.7))
    save_bill(folder, learner)
    return (folder / SNAPSHOT_FILE).read_bytes()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_bill_that_nobody_went_on_from_is_written_anew(outcome, clinic):
    assert not has_gone_on(clinic)
    outcome.write(clinic)
    assert (has_gone_on(clinic), outcome.kept_in) == (False, None)


def test_a_learner_that_has_gone_on_is_refused(outcome, clinic):
    go_on(clinic)
    before = contents(clinic)
    with pytest.raises(
        UnwritableFolder, match=f"^{clinic}: {GONE_ON}.*; choose another folder, or say `over"
    ):
        outcome.write(clinic)
    assert contents(clinic) == before


def test_with_overwrite_it_is_kept_beside_the_new_one(outcome, clinic):
    live = go_on(clinic)
    (clinic.parent / "clinic.1").mkdir()
    outcome.write(clinic, overwrite=True)
    assert outcome.kept_in == f"{clinic}.2"
    assert (clinic.parent / "clinic.2" / SNAPSHOT_FILE).read_bytes() == live
    assert open_bill(clinic.parent / "clinic.2")[1].ledger.labels > open_bill(clinic)[1].ledger.labels
    assert not has_gone_on(clinic)
    assert json.loads((clinic / SUMMARY_FILE).read_text())["kept_in"] == outcome.kept_in


def test_a_learner_without_a_finished_bill_may_have_labels_too(outcome, clinic):
    (clinic / SUMMARY_FILE).unlink()
    with pytest.raises(UnwritableFolder, match="or whose bill is not finished"):
        outcome.write(clinic)


def test_of_a_bill_of_an_earlier_version_time_says_whether_it_went_on(clinic):
    said = json.loads((clinic / SUMMARY_FILE).read_text())
    del said["learner_digest"]
    (clinic / SUMMARY_FILE).write_text(json.dumps(said))
    assert not has_gone_on(clinic)
    later = (clinic / SUMMARY_FILE).stat().st_mtime + 1.0
    os.utime(clinic / SNAPSHOT_FILE, (later, later))
    assert has_gone_on(clinic)


def fails(bill, folder):
    raise OSError(28, "No space left on device")


def test_a_bill_that_cannot_be_written_leaves_the_old_one_whole(outcome, clinic):
    before = contents(clinic)
    for write in (outcome.write, outcome.write_again):
        with pytest.raises(UnwritableFolder, match=rf"^{clinic}: cannot be written to \(No space left on"):
            write(clinic, fails)
    assert contents(clinic) == before


def test_a_failure_names_the_folder_that_was_asked_for(tmp_path):
    with (
        pytest.raises(UnwritableFolder, match=f"^{tmp_path}: could not write a"),
        files.staged(tmp_path, "z") as stage,
    ):
        files.write_by(stage, "a", lambda file: fails(None, None))
    assert list(tmp_path.iterdir()) == []


def test_what_says_that_all_is_there_comes_last(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    moved = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda old, new: (moved.append(new.name), replace(old, new)))
    with files.staged(tmp_path, "a") as stage:
        for name in ("b", "a", "c"):
            (stage / name).write_text("new")
        assert (tmp_path / "a").read_text() == "old"
    assert moved == ["b", "c", "a"]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys("abc", "new")


# -- two at a time ---------------------------------------------------------------------------------------


def hold(folder, ready, done):
    with files.claimed(folder):
        ready.set()
        done.wait(60)


def test_a_folder_that_another_run_writes_to_is_refused(outcome, tmp_path):
    fresh = multiprocessing.get_context("spawn")
    ready, done = fresh.Event(), fresh.Event()
    other = fresh.Process(target=hold, args=(tmp_path, ready, done))
    other.start()
    try:
        assert ready.wait(60)
        with pytest.raises(UnwritableFolder, match=f"^{tmp_path}: another run is writing to it; wait until"):
            outcome.write(tmp_path)
        assert list(tmp_path.iterdir()) == []
    finally:
        done.set()
        other.join()
    outcome.write(tmp_path)


def test_a_disk_without_locks_is_written_to_all_the_same(outcome, tmp_path, monkeypatch):
    def no_locks(handle, how):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(files, "flock", no_locks)
    outcome.write(tmp_path)
    monkeypatch.setattr(files, "flock", None)
    outcome.write(tmp_path)
