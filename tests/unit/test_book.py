"""The book of labels: ids, what is remembered, and the money."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.errors import ConflictingLabel, DuplicateId, InvalidInput, UnknownId
from breakeven.learner.book import Book, Label


def book(remember=10):
    """One id in each state."""
    made = Book(remember)
    made.ask("awaited", Label("x", cost=2.0, round=1))
    made.ask("told", Label("y", cost=3.0, round=2))
    made.tell("told", 5.0, None)
    made.pass_by("unasked", "z", 3)
    return made


def test_an_id_is_in_one_state_at_a_time():
    made = book()
    made.tell("unasked", 1.0, None)
    made.tell("awaited", 2.0, None)
    assert (set(made.awaited), set(made.told), set(made.unasked)) == (
        set(),
        {"awaited", "told", "unasked"},
        set(),
    )
    made.withdraw("told", charged=False)
    assert set(made.told) == {"awaited", "unasked"}


def test_a_new_id_is_neither_awaited_nor_told():
    made = book()
    assert made.check_new("new") == "new"
    assert made.check_new("unasked") == "unasked"
    with pytest.raises(DuplicateId, match="got 'awaited', whose label is awaited; leave ids out"):
        made.check_new("awaited")
    with pytest.raises(DuplicateId, match="got 'told', whose label is told"):
        made.check_new("told")
    with pytest.raises(InvalidInput, match="id: expected text, got 3"):
        made.check_new(3)


def test_what_may_be_told():
    made = book()
    assert [made.check_tellable(id, 5.0) for id in ("awaited", "unasked", "told")] == [
        "awaited",
        "unasked",
        "told",
    ]
    with pytest.raises(
        ConflictingLabel, match=r"^id 'told': expected the label 5\.0 told before, got 6\.0; use correct"
    ):
        made.check_tellable("told", 6.0)
    with pytest.raises(UnknownId, match="got 'nobody'"):
        made.check_tellable("nobody", 1.0)


def test_what_may_be_told_in_one_batch():
    made = book()
    ids = ["awaited", "told", "unasked", "awaited"]
    assert made.check_all_tellable(ids, [1.0, 5.0, 2.0, 1.0]) == ids
    match = r"^id 'awaited': expected the label 1\.0 in the same batch, got 3\.0$"
    with pytest.raises(ConflictingLabel, match=match):
        made.check_all_tellable(ids, [1.0, 5.0, 2.0, 3.0])
    with pytest.raises(ConflictingLabel, match=r"^id 'told': expected the label 5\.0 told before, got 6\.0"):
        made.check_all_tellable(ids, [1.0, 6.0, 2.0, 1.0])


def test_new_ids_come_once_in_a_batch():
    made = book()
    assert made.check_all_new(iter(["new", "unasked", "more"])) == ["new", "unasked", "more"]
    with pytest.raises(DuplicateId, match=r"^ids: expected each id once, got 'new' twice"):
        made.check_all_new(["new", "more", "new"])
    with pytest.raises(DuplicateId, match="got 'told', whose label is told"):
        made.check_all_new(["new", "told"])


@pytest.mark.parametrize("id", ["", "\ud800", 3, None, b"told", ["told"]], ids=ascii)
def test_an_id_is_text_that_can_be_stored(id):
    made = book()
    for check in (
        made.check_new,
        made.check_told,
        made.check_held,
        lambda one: made.check_tellable(one, 1.0),
        lambda one: made.check_all_new([one]),
        lambda one: made.check_all_tellable([one], [1.0]),
    ):
        with pytest.raises(InvalidInput, match=r"^id: expected text, got "):
            check(id)


def test_what_may_be_corrected_and_what_withdrawn():
    made = book()
    assert made.check_told("told").y == 5.0
    assert made.check_held("told").y == 5.0
    assert made.check_held("awaited").y is None
    with pytest.raises(UnknownId, match="still awaited, use tell"):
        made.check_told("awaited")
    for check in (made.check_told, made.check_held):
        with pytest.raises(UnknownId, match=r"got 'unasked'; that arrival was not asked about$"):
            check("unasked")
        with pytest.raises(UnknownId, match=r"got 'nobody'$"):
            check("nobody")


def test_checks_change_nothing():
    made = book()
    before = made.state(str)
    made.check_new("new")
    made.check_all_new(["new", "unasked"])
    made.check_tellable("awaited", 1.0)
    made.check_all_tellable(["awaited", "unasked"], [1.0, 2.0])
    made.check_told("told")
    made.check_held("awaited")
    assert made.state(str) == before


def test_money_is_counted_when_asked_and_given_back_unless_charged():
    made = book()
    assert (made.bought, made.spend.value) == (2, 5.0)
    made.tell("unasked", 1.0, None)
    assert (made.bought, made.spend.value) == (2, 5.0)
    made.withdraw("unasked", charged=False)
    assert (made.bought, made.spend.value) == (2, 5.0)
    made.withdraw("awaited", charged=True)
    assert (made.bought, made.spend.value) == (2, 5.0)
    made.withdraw("told", charged=False)
    assert (made.bought, made.spend.value) == (1, 2.0)


@given(st.lists(st.floats(1e-10, 1e10), max_size=40), st.randoms())
def test_money_asked_for_and_given_back_in_any_order_leaves_nothing(costs, random):
    made = Book(0)
    for i, cost in enumerate(costs):
        made.ask(str(i), Label("x", cost=cost))
    ids = list(made.awaited)
    random.shuffle(ids)
    for id in ids:
        made.withdraw(id, charged=False)
    assert (made.bought, made.spend.parts) == (0, ())


def test_unasked_arrivals_are_forgotten_oldest_first():
    made = Book(3)
    for i in range(5):
        made.pass_by(str(i), i, i)
    assert list(made.unasked) == ["2", "3", "4"]
    made.tell("3", 1.0, None)
    made.pass_by("5", 5, 5)
    assert list(made.unasked) == ["2", "4", "5"]
    made.pass_by("6", 6, 6)
    assert list(made.unasked) == ["4", "5", "6"]


def test_an_id_passed_by_again_is_remembered_as_new():
    made = Book(2)
    made.named = True
    for id, x in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        made.pass_by(id, x, 10 * x)
    assert made.unasked == {"a": (3, 30), "c": (4, 40)}


def test_an_id_passed_by_and_then_asked_about_is_no_longer_passed_by():
    made = Book(2)
    made.pass_by("a", 1, 1)
    made.ask("a", Label(2, cost=1.0))
    assert (made.unasked, list(made.awaited)) == ({}, ["a"])
    made.withdraw("a", charged=False)
    with pytest.raises(UnknownId, match="got 'a'"):
        made.check_tellable("a", 1.0)


def test_state_and_load_are_inverse():
    made = book()
    made.named = True
    again = Book(10)
    again.load(made.state(lambda x: x), lambda x: x)
    assert again.state(str) == made.state(str)
    assert (again.awaited, again.told, again.unasked) == (made.awaited, made.told, made.unasked)
    for one in (made, again):
        for i in range(12):
            one.pass_by(str(i), i, i)
    assert list(again.unasked) == list(made.unasked)
