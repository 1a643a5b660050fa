"""A folder as people, editors and spreadsheets treat it: half-written files, lost lines, odd rows."""

import json
import os
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breakeven import algorithm1
from breakeven.desks import DeskDown, DeskRequest, DeskSync, FolderDesk, Journal, requests_of
from breakeven.desks.answer_files import read_answers
from breakeven.store.export import as_before_defusing, defused

GONE, CONFIRMED, PROBLEMS = "answers-gone.txt", "answers-gone-confirmed.txt", "answers-problems.txt"


def answers_text(ids, y=3.0):
    return "".join(["id,y\n", *(f"{id},{y}\n" for id in ids)])


def told(desk, since=None):
    """What is new after two looks."""
    desk.answers(since)
    return [(one.id, one.y, one.kind) for one in desk.answers(since)[0]]


def paid_for(tmp_path, count=10):
    """A learner whose labels of 10 each were all told in a file, and what carries them."""
    learner = algorithm1(label_cost=10.0, noise_std=0.1)
    ids = [learner.decide(f"kind {number}").id for number in range(count)]
    folder = tmp_path / "desk"
    sync = DeskSync(FolderDesk(folder, journal=Journal()), learner, lambda: requests_of(learner))
    sync.once()
    (folder / "answers.csv").write_text(answers_text(ids))
    sync.once()
    assert sync.once().told == count
    assert learner.ledger.label_spend == 10.0 * count
    return learner, sync, folder, ids


# -- half a file -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["line's end", "header", "empty", "middle", "gone"])
def test_a_file_that_is_half_written_takes_nothing_back(tmp_path, cut):
    learner, sync, folder, ids = paid_for(tmp_path)
    path, whole = folder / "answers.csv", answers_text(ids)
    half = {"line's end": answers_text(ids[:5]), "header": "id,y\n", "empty": "", "middle": whole[:37]}
    path.unlink()
    if cut != "gone":
        path.write_text(half[cut])
    assert not sync.once().anything
    path.write_text(whole)
    for _ in range(3):
        assert not sync.once().anything
    assert learner.ledger.label_spend == 100.0


def test_a_file_counts_when_two_looks_find_it_the_same(tmp_path):
    desk, path = FolderDesk(tmp_path), tmp_path / "answers.csv"
    path.write_text("id,y\n7,3\n")
    assert desk.answers(None)[0] == []
    path.write_text("id,y\n7,4\n")
    assert desk.answers(None)[0] == []
    assert [one.y for one in desk.answers(None)[0]] == [4.0]


def test_a_coarse_clock_of_files_hides_no_change(tmp_path):
    desk, path = FolderDesk(tmp_path), tmp_path / "answers.csv"
    for text in ("id,y\n7,3\n8,1\n", "id,y\n7,4\n8,2\n"):  # as long, as old, and the same file
        path.write_text(text)
        os.utime(path, (1e9, 1e9))
        assert desk.answers(None)[0] == []
    assert sorted(one.y for one in desk.answers(None)[0]) == [2.0, 4.0]


def test_looks_that_follow_too_fast_are_one(tmp_path):
    time = [100.0]
    desk = FolderDesk(tmp_path, looks_apart=1.0, clock=lambda: time[0])
    (tmp_path / "answers.csv").write_text("id,y\n7,3\n")
    for moment, found in (
        (100.0, 0),
        (100.5, 0),
        (40.0, 0),
        (40.9, 0),
        (41.1, 1),
    ):
        time[0] = moment
        assert len(desk.answers(None)[0]) == found


def test_a_file_that_grows_all_the_time_counts_as_far_as_it_stood_before(tmp_path):
    desk, path = FolderDesk(tmp_path, "jsonl"), tmp_path / "answers.jsonl"
    for number in range(4):
        with path.open("a") as file:  # the rest of a line, and half of the next
            file.write(', "y": 0}\n' * (number > 0) + f'{{"id": "{number}"')
        assert len(desk.answers(None)[0]) == max(number - 1, 0)
    path.write_text('{"id": "0", "y": 0}\n')  # being written from its beginning: nothing is taken back
    desk.answers(None)
    path.write_text('{"id": "0", "y": 0}\n{"id": "1", "y": 0}\n')
    desk.answers(None)
    assert {one.kind for one in desk.answers(None)[0]} == {"told"}


def test_a_csv_line_without_an_end_waits_until_it_is_old(tmp_path):
    time = [100.0]
    desk, path = FolderDesk(tmp_path, clock=lambda: time[0]), tmp_path / "answers.csv"
    path.write_text("id,y\n6,1\n7,3")
    for moment, found in ((100.0, 0), (104.0, 0), (105.0, 2)):
        time[0] = moment
        assert len(desk.answers(None)[0]) == found


def test_a_file_that_is_replaced_by_renaming_is_read_like_any_other(tmp_path):
    desk = FolderDesk(tmp_path)
    for name in (
        "~$answers.csv",
        ".~lock.answers.csv#",
        ".answers.csv.swp",
        "answers.csv.tmp",
        "answers.csv~",
    ):
        (tmp_path / name).write_bytes(b"\x00\xff not for us")
    for y in (3, 4):
        (tmp_path / "answers.csv.tmp").write_text(f"id,y\n7,{y}\n")
        (tmp_path / "answers.csv.tmp").rename(tmp_path / "answers.csv")
        desk.answers(None)
        assert desk.answers(None)[0][-1].y == y
    assert not (tmp_path / PROBLEMS).exists()


# -- many answers gone ---------------------------------------------------------------------------------------


def test_many_answers_gone_at_once_wait_for_a_confirmation(tmp_path, caplog):
    learner, sync, folder, ids = paid_for(tmp_path)
    (folder / "answers.csv").write_text(answers_text(ids[:5]))
    for _ in range(3):
        assert not sync.once().anything
    note = (folder / GONE).read_text()
    assert note.startswith("5 answers are gone from the files, which may be an accident.")
    assert f"rename this file to {CONFIRMED}" in note
    assert all(f"{id}, answers.csv" in note for id in ids[5:])
    assert caplog.text.count("5 answers are gone from the files; their labels stay") == 1
    assert learner.ledger.label_spend == 100.0
    (folder / GONE).rename(folder / CONFIRMED)
    assert sync.once().withdrawn == 5
    assert learner.ledger.label_spend == 50.0
    assert not (folder / GONE).exists()
    assert not (folder / CONFIRMED).exists()
    (folder / "answers.csv").write_text(answers_text(ids))
    sync.once()
    assert sync.once().told == 5
    assert learner.ledger.label_spend == 100.0
    assert learner.ledger.labels == 10


def test_answers_that_come_back_need_no_confirmation(tmp_path):
    learner, sync, folder, ids = paid_for(tmp_path)
    (folder / "answers.csv").write_text(answers_text(ids[:5]))
    sync.once(), sync.once()
    (folder / "answers.csv").write_text(answers_text(ids))
    sync.once(), sync.once()
    assert not (folder / GONE).exists()
    assert learner.ledger.label_spend == 100.0


def test_a_confirmation_is_for_what_it_names_alone(tmp_path):
    learner, sync, folder, ids = paid_for(tmp_path)
    (folder / "answers.csv").write_text(answers_text(ids[:5]))
    sync.once(), sync.once()
    (folder / "answers.csv").write_text(answers_text(ids[:1]))
    sync.once()
    (folder / GONE).rename(folder / CONFIRMED)
    assert not sync.once().anything
    assert (folder / GONE).read_text().startswith("9 answers are gone")
    assert not (folder / CONFIRMED).exists()
    assert learner.ledger.label_spend == 100.0


@pytest.mark.parametrize("how", ["gone", "empty"])
def test_a_file_that_is_away_takes_nothing_back_unless_confirmed(tmp_path, how):
    desk, path = FolderDesk(tmp_path / "desk", journal=Journal()), tmp_path / "desk" / "answers.csv"
    path.write_text("id,y\n7,3\n")
    (tmp_path / "desk" / "answers-ben.csv").write_text("id,y\n8,3\n")
    assert len(told(desk)) == 2
    path.unlink() if how == "gone" else path.write_text("")
    (tmp_path / "desk" / "answers-ben.csv").write_text("id,y\n8,4\n")
    assert told(desk)[2:] == [("8", 4.0, "changed")]  # the other file goes on
    (tmp_path / "desk" / GONE).rename(tmp_path / "desk" / CONFIRMED)
    assert told(desk)[3:] == [("7", None, "deleted")]


def test_a_folder_that_is_away_takes_nothing_back(tmp_path):
    desk, folder = FolderDesk(tmp_path / "desk", journal=Journal()), tmp_path / "desk"
    desk.ask([DeskRequest("7", {})])
    (folder / "answers.csv").write_text("id,y\n7,3\n")
    assert len(told(desk)) == 1
    folder.rename(tmp_path / "away")
    with pytest.raises(DeskDown, match="desk: expected a folder, got none"):
        desk.answers(None)
    folder.mkdir()  # as where nothing is mounted
    with pytest.raises(DeskDown, match="got none of them: a disk may be away"):
        desk.answers(None)
    folder.rmdir()
    (tmp_path / "away").rename(folder)
    assert len(told(desk)) == 1


def test_a_line_or_two_may_go_without_a_confirmation(tmp_path):
    learner, sync, folder, ids = paid_for(tmp_path)
    (folder / "answers.csv").write_text(answers_text(ids[1:]))
    sync.once()
    assert sync.once().withdrawn == 1
    (folder / "answers.csv").write_text(answers_text(ids[4:]))
    sync.once()
    assert sync.once().withdrawn == 3
    assert learner.ledger.label_spend == 60.0


def test_a_column_of_labellers_that_is_added_takes_nothing_back(tmp_path):
    learner, sync, folder, ids = paid_for(tmp_path)
    lines = [f"{id},3.0,ann\n" for id in ids]
    (folder / "answers.csv").write_text("".join(["id,y,labeller\n", *lines]))
    sync.once()
    assert not sync.once().anything
    assert not (folder / GONE).exists()
    assert learner.ledger.label_spend == 100.0


def test_a_journal_of_before_files_had_marks_goes_on(tmp_path):
    journal = Journal()
    for id in map(str, range(9)):
        journal.say(f"\0{id}", id, None, 3.0, at=1.0)
    desk = FolderDesk(tmp_path, journal=journal)
    (tmp_path / "answers.csv").write_text(answers_text(range(9)))
    assert len(told(desk)) == 9  # those of before: nothing is new
    assert not (tmp_path / GONE).exists()
    assert len(journal.all_marks()) == 9


# -- rows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("answers.csv", "id,y\n7,many\n8,1\n", "answers.csv, line 2: expected a number as y, got 'many'"),
        ("answers.csv", "id,y\n7,nan\n8,1\n", "answers.csv, line 2: expected a number as y, got 'nan'"),
        ("answers.csv", "id,y\n7,1e300\n8,1\n", "answers.csv, line 2: expected a number as y, got '1e300'"),
        ("answers.csv", "id,y\n7,1_000\n8,1\n", "answers.csv, line 2: expected a number as y, got '1_000'"),
        ("answers.csv", "id,y\n7,38,9\n8,1\n", "line 2: expected 2 cells, every quote closed, got '7,38,9'"),
        ("answers.csv", 'id,y\n7,"38\n8,1\n', "line 2: expected 2 cells, every quote closed, got '7,\"38'"),
        ("answers.csv", "id,y\n,3\n8,1\n", "line 2: expected a column id, and an id in it, got"),
        ("answers.csv", "id,y,kind\n7,,perhaps\n8,1,\n", "line 2: expected told, skipped or deleted"),
        ("answers.jsonl", '{"id": "7"\n{"id": "8", "y": 1}\n', "line 1: expected a JSON object, got"),
        ("answers.jsonl", '{"id": "7", "y": "nan"}\n{"id": 8, "y": 1}\n', "line 1: expected a number as y"),
        ("answers.jsonl", '{"id": true, "y": 3}\n{"id": 8, "y": 1}\n', "line 1: expected a column id"),
        ("answers.jsonl", '["7", 3]\n{"id": "8", "y": 1}\n', "answers.jsonl, line 1: expected a JSON object"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_named_and_stops_no_other(tmp_path, caplog, name, text, words):
    desk = FolderDesk(tmp_path)
    (tmp_path / name).write_text(text)
    assert told(desk) == [("8", 1.0, "told")]
    assert words in (tmp_path / PROBLEMS).read_text()
    assert caplog.text.count(words) == 1
    (tmp_path / name).write_text('{"id": "8", "y": 1}\n' if name.endswith("l") else "id,y\n8,1\n")
    told(desk)
    assert not (tmp_path / PROBLEMS).exists()


def test_an_open_quote_costs_no_more_than_the_rest_of_a_long_file():
    rows = "".join(f"{number},1\n" for number in range(60_000))
    seconds = []
    for row in ("", '7,"1\n'):
        start = process_time()
        read = read_answers("answers.csv", f"id,y\n{row}{rows}".encode())
        seconds.append(process_time() - start)
        assert len(read.answers) == 60_000
    assert seconds[1] < 4 * seconds[0]


@pytest.mark.parametrize("content", [b"y\n7\n", b"\xff\xfe\xfa\n", b"id\xff,y\n7,3\n"])
def test_a_file_that_cannot_be_read_at_all_takes_nothing_back(tmp_path, content):
    desk, path = FolderDesk(tmp_path), tmp_path / "answers.csv"
    path.write_text("id,y\n7,3\n")
    (tmp_path / "answers-ben.csv").write_text("id,y\n8,3\n")
    told(desk)
    path.write_bytes(content)
    assert told(desk) == [("8", 3.0, "told"), ("7", 3.0, "told")]
    assert "answers.csv, line 1: expected" in (tmp_path / PROBLEMS).read_text()


def test_a_row_that_became_unreadable_keeps_its_label(tmp_path):
    desk, path = FolderDesk(tmp_path), tmp_path / "answers.csv"
    path.write_text("id,y\n7,3\n8,4\n")
    assert len(told(desk)) == 2
    path.write_text("id,y\n7,three\n8,4\n")
    assert len(told(desk)) == 2
    path.write_text('id,y\n"7,3\n')  # and where even its id is lost, nothing of the file is taken back
    assert len(told(desk)) == 2


@pytest.mark.parametrize(
    "content",
    [
        "id,y,labeller\n7,38.9,ann\n".encode("utf-8-sig"),
        b"id;y;labeller\r\n7;38,9;ann\r\n",
        b"sep=;\r\nid;y;labeller\r\n7;38.9;ann\r\n",
        b"ID\tY\tLabeller\n7\t38.9\tann\n",
        b"\n\nid|y|labeller\n\n7| 38.9 |ann\n,,\n",
        b"id,y,labeller\r7,38.9,ann\r",
        b'id,note,y,labeller\n7,"two\nlines, and a comma",38.9,ann\n',
        "id;y;labeller\r\n7;38,9;ann\r\n".encode("utf-16"),
        b"id,y,labeller,,\n7,38.9,ann,,\n,,,,\n",
    ],
)
def test_what_spreadsheets_make_of_a_file_is_read(tmp_path, content):
    read = read_answers("answers.csv", content)
    assert [(one.id, one.y, one.labeller) for one in read.answers] == [("7", 38.9, "ann")]
    assert (read.problems, read.unsure) == ([], False)


def test_an_answer_without_a_label_is_not_filled_in_yet(tmp_path):
    desk = FolderDesk(tmp_path)
    desk.ask([DeskRequest("7", {"age": 61})])
    (tmp_path / "answers.csv").write_text((tmp_path / "requests.csv").read_text())
    assert told(desk) == []


# -- ids and formulas --------------------------------------------------------------------------------------


def test_no_spreadsheet_runs_what_a_stranger_wrote(tmp_path):
    desk = FolderDesk(tmp_path)
    desk.ask([DeskRequest("=1+1", {"note": "@SUM(A1)", "age": -3, "=cmd": 1})])
    header, row = (tmp_path / "requests.csv").read_text().splitlines()
    assert (header, row) == ("id,note,age,'=cmd,y", "'=1+1,'@SUM(A1),-3,1,")
    desk.ask([DeskRequest("7", {"note": "fine", "=cmd": 2})])
    assert (tmp_path / "requests.csv").read_text().splitlines()[:2] == [header, row]
    (tmp_path / "answers.csv").write_text("id,y\n'=1+1,3\n")
    assert told(desk) == [("=1+1", 3.0, "told")]
    desk.withdraw(["=1+1", "7"])
    assert (tmp_path / "requests.csv").read_text() == "id,y\n"


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_ids_that_look_alike_stay_apart(tmp_path, form):
    ids = ["=7", "'=7", "''=7", "7", "'7", "'s Gravenhage"]
    desk, path = FolderDesk(tmp_path, form), tmp_path / f"answers.{form}"
    desk.ask([DeskRequest(id, "flu") for id in ids])
    text = (tmp_path / f"requests.{form}").read_text()
    if form == "csv":
        head, *lines = text.splitlines()
        path.write_text("\n".join([head, *(f"{line}{number}" for number, line in enumerate(lines)), ""]))
    else:
        rows = [json.loads(line) | {"y": number} for number, line in enumerate(text.splitlines())]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert told(desk) == [(id, float(number), "told") for number, id in enumerate(ids)]
    desk.withdraw(["'=7"])
    assert len((tmp_path / f"requests.{form}").read_text().splitlines()) == len(text.splitlines()) - 1


@settings(max_examples=200)
@given(st.lists(st.text("'=+-@\t\r7a"), max_size=8))
def test_what_is_made_safe_is_read_back(texts):
    assert [as_before_defusing(defused(text)) for text in texts] == texts


def test_columns_of_an_arrival_that_are_called_like_ours_do_not_stand_in_for_them(tmp_path):
    desk = FolderDesk(tmp_path)
    desk.ask([DeskRequest("7", {"id": "patient 9", "y": 3, "kind": "skipped"})])
    assert (tmp_path / "requests.csv").read_text() == "id,x.id,x.y,x.kind,y\n7,patient 9,3,skipped,\n"


def test_requests_that_somebody_spoilt_stop_nothing(tmp_path):
    desk = FolderDesk(tmp_path)
    desk.ask([DeskRequest("7", {}), DeskRequest("8", {})])
    for content in (b"", b"no header\n1\n", b"\xff\xfe\xfa", b'id,y\n"7,\n8,\n'):
        (tmp_path / "requests.csv").write_bytes(content)
        desk.ask([DeskRequest(f"after {content!r}", {})])
        assert f"after {content!r}" in [row["id"] for row in desk._requests()]


def test_files_send_no_messages(tmp_path):
    with pytest.raises(ValueError, match="expected answers in files, got a message"):
        FolderDesk(tmp_path).read_hook({}, b"")
