"""Files and tables of a report: whole or not at all, and exact."""

import csv
import math
import os

import pytest

from breakeven.errors import BreakevenError, InvalidInput
from breakeven.files import UnwritableFolder, write
from breakeven.report import write_table
from breakeven.values.exhibit import Table

CELLS = [
    ["plain", 'with "quotes", commas', "two\nlines", "old\rends", "ünï"],
    [0.1, 1 / 3, 1e-300, math.inf, -0.0],
    [True, False, None, 10**20, -7],
]


def table(rows, columns="abcde"):
    return Table(name="cells", title="Cells", columns=list(columns), rows=rows)


def test_a_table_reads_back_exactly(tmp_path):
    path = write_table(table(CELLS), tmp_path)
    with path.open(newline="", encoding="utf-8") as file:
        head, words, floats, others = csv.reader(file)
    assert path.name == "cells.csv"
    assert head == list("abcde")
    assert words == CELLS[0]
    assert [float(text).hex() for text in floats] == [number.hex() for number in CELLS[1]]
    assert others == ["true", "false", "", str(10**20), "-7"]


def test_a_table_has_plain_line_ends_and_the_same_bytes_twice(tmp_path):
    first = write_table(table([[1, 2.5]], "ab"), tmp_path).read_bytes()
    assert first == b"a,b\n1,2.5\n"
    assert write_table(table([[1, 2.5]], "ab"), tmp_path).read_bytes() == first


def test_numbers_of_numpy_are_written_as_numbers(tmp_path):
    numpy = pytest.importorskip("numpy")
    path = write_table(table([[numpy.float64(0.1)]], "a"), tmp_path)
    assert path.read_text() == "a\n0.1\n"


def test_a_folder_that_is_not_there_is_made(tmp_path):
    assert write(tmp_path / "deep" / "down", "a.txt", b"here").read_bytes() == b"here"


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, call):
    write(tmp_path, "a.txt", b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(UnwritableFolder, match=r"could not write a\.txt \(No space left on device\)$"):
        write(tmp_path, "a.txt", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"old"


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    write(tmp_path, "a.txt", b"old")

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, "a.txt", b"new")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_an_impossible_folder_is_named_with_the_reason_on_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    folder = tmp_path / "file" / "folder"
    with pytest.raises(UnwritableFolder) as caught:
        write(folder, "a.txt", b"")
    assert str(caught.value) == f"{folder}: could not write a.txt (Not a directory)"
    assert isinstance(caught.value, BreakevenError)


def test_a_folder_no_system_could_have_is_refused_too(tmp_path):
    with pytest.raises(UnwritableFolder, match=r"could not write a\.txt \(.*null byte.*\)$"):
        write(tmp_path / "a\0b", "a.txt", b"")


@pytest.mark.parametrize("name", ["../a.txt", "b/a.txt", "b\\a.txt", "..", ""])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path, name):
    with pytest.raises(InvalidInput, match=r"^name: expected a file's name, without a folder, got"):
        write(tmp_path, name, b"")
    assert list(tmp_path.iterdir()) == []


def test_others_may_read_a_file_as_the_system_allows(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    path = write(tmp_path, "a.txt", b"")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
