"""The book of arrivals: ids, what is remembered, and the money."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breakeven.errors import ConflictingLabel, DuplicateId, InvalidInput, UnknownId
from breakeven.learner.book import Book, Entry
from breakeven.values import Decision, Prediction


def answer(id, wants_label=True, cost=2.0, round=1):
    return Decision(id, wants_label, Prediction(0.0, 1.0, 0.2), 1.0, 0.5, cost, 1.0, "always", round=round)


def entry(id, key=2, x="x", **more):
    return Entry(id, key, x, answer(id, **more))


def passed(id, key=2, x="x"):
    return (key, x, answer(id, wants_label=False), None)


def empty(keep=10):
    released = []
    return Book(keep, released.append), released


def book(keep=10):
    """One id in each state."""
    made, _ = empty(keep)
    made.ask(entry("awaited", 2), 2.0)
    made.ask(told := entry("told", 3, "y", cost=3.0), 3.0)
    made.tell(told, 5.0, None)
    made.pass_by("unasked", passed("unasked", 5))
    made.ask(gone := entry("gone", 6), 2.0)
    made.withdraw(gone, charged=False)
    made.settle(Entry("learnt", 8, "z", None, y=7.0))
    return made


def remembered(made):
    return [one.id for one in map(made.find, made.state(str)["settled"].get("id", [])) if one]


def test_what_is_found_under_an_id():
    made = book()
    assert [made.find(id).key for id in ("awaited", "told", "unasked", "gone", "learnt")] == [2, 3, 5, 6, 8]
    assert made.find("nobody") is None
    assert list(made.awaited) == ["awaited"]
    made.tell(made.find("awaited"), 2.0, None)
    assert (made.find("awaited").y, list(made.awaited)) == (2.0, [])


def test_an_id_stands_in_a_batch_once():
    made = book()
    assert made.check_each_once(iter(["new", "more", "told"])) == ["new", "more", "told"]
    with pytest.raises(DuplicateId, match=r"^ids: expected each id once, got 'new' twice"):
        made.check_each_once(["new", "more", "new"])


def test_what_may_be_told():
    made = book()
    for id in ("awaited", "unasked", "told", "gone"):
        assert made.tellable(id, 5.0).id == id
    with pytest.raises(
        ConflictingLabel, match=r"^id 'told': expected the label 5\.0 told before, got 6\.0; use correct"
    ):
        made.tellable("told", 6.0)
    with pytest.raises(UnknownId, match="got 'nobody'"):
        made.tellable("nobody", 1.0)


def test_what_may_be_told_in_one_batch():
    made = book()
    ids = ["awaited", "told", "unasked", "awaited"]
    assert made.check_tellable(ids, [1.0, 5.0, 2.0, 1.0]) == ids
    match = r"^id 'awaited': expected the label 1\.0 in the same batch, got 3\.0$"
    with pytest.raises(ConflictingLabel, match=match):
        made.check_tellable(ids, [1.0, 5.0, 2.0, 3.0])
    with pytest.raises(ConflictingLabel, match=r"^id 'told': expected the label 5\.0 told before, got 6\.0"):
        made.check_tellable(ids, [1.0, 6.0, 2.0, 1.0])


CHECKS = {
    "once": lambda made, one: made.check_each_once([one]),
    "tellable": lambda made, one: made.tellable(one, 1.0),
    "tellable in a batch": lambda made, one: made.check_tellable([one], [1.0]),
    "told": lambda made, one: made.told(one),
    "withdrawable": lambda made, one: made.withdrawable(one, False),
    "reopenable": lambda made, one: made.reopenable(one),
}


@pytest.mark.parametrize("check", list(CHECKS))
@pytest.mark.parametrize("id", ["", "\ud800", 3, None, b"told", ["told"]], ids=ascii)
def test_an_id_is_text_that_can_be_stored(id, check):
    with pytest.raises(InvalidInput, match=r"^id: expected text, got "):
        CHECKS[check](book(), id)


def test_what_may_be_corrected():
    made = book()
    assert made.told("told").y == 5.0
    assert made.told("learnt").y == 7.0
    with pytest.raises(UnknownId, match="still awaited, use tell"):
        made.told("awaited")
    with pytest.raises(UnknownId, match="withdrawn, use tell"):
        made.told("gone")
    with pytest.raises(UnknownId, match=r"got 'unasked'; that arrival was not asked about$"):
        made.told("unasked")
    with pytest.raises(UnknownId, match=r"got 'nobody'$"):
        made.told("nobody")


def test_what_may_be_withdrawn():
    made = book()
    assert [made.withdrawable(id, False).id for id in ("told", "awaited", "learnt", "gone")] == [
        "told", "awaited", "learnt", "gone"
    ]  # fmt: skip
    match = r"^id 'gone': expected not charged, as it was withdrawn before, got charged$"
    with pytest.raises(ConflictingLabel, match=match):
        made.withdrawable("gone", True)
    with pytest.raises(UnknownId, match=r"got 'unasked'; that arrival was not asked about$"):
        made.withdrawable("unasked", False)
    with pytest.raises(UnknownId, match=r"got 'nobody'$"):
        made.withdrawable("nobody", False)


def test_what_may_be_reopened():
    made = book()
    assert made.reopenable("told").id == "told"
    with pytest.raises(UnknownId, match="its label is still awaited, there is nothing to reopen"):
        made.reopenable("awaited")
    assert made.reopenable("gone").called_off
    with pytest.raises(UnknownId, match=r"got 'unasked'; that arrival was not asked about$"):
        made.reopenable("unasked")
    with pytest.raises(UnknownId, match=r"got 'learnt'; it was learnt: correct or withdraw it"):
        made.reopenable("learnt")
    made.reopen(made.find("told"))
    assert made.reopenable("told").id == "told"


def test_checks_change_nothing():
    made = book()
    before = made.state(str)
    made.check_each_once(["new"])
    made.check_tellable(["awaited", "unasked"], [1.0, 2.0])
    made.told("told")
    made.withdrawable("awaited", True)
    made.reopenable("told")
    assert made.state(str) == before


def test_money_is_counted_when_asked_and_given_back_once_unless_charged():
    made = book()
    assert (made.bought, made.spend.value) == (2, 5.0)
    made.tell(made.find("unasked"), 1.0, None)
    assert not made.withdraw(made.find("unasked"), charged=False)
    made.tell(made.find("gone"), 1.0, None)
    assert not made.withdraw(made.find("gone"), charged=False)
    assert not made.withdraw(made.find("learnt"), charged=False)
    assert not made.withdraw(made.find("awaited"), charged=True)
    assert (made.bought, made.spend.value) == (2, 5.0)
    for charged in (False, True, False):  # charged before: whatever is said now, the money is gone
        made.tell(made.find("awaited"), 1.0, None)
        assert not made.withdraw(made.find("awaited"), charged=charged)
    assert (made.bought, made.spend.value) == (2, 5.0)
    made.reopen(made.find("told"))
    assert (made.bought, made.spend.value) == (2, 5.0)
    made.tell(made.find("told"), 1.0, None)
    assert made.withdraw(made.find("told"), charged=False)
    assert (made.bought, made.spend.value) == (1, 2.0)


@given(st.lists(st.floats(1e-10, 1e10), max_size=40), st.randoms())
def test_money_asked_for_and_given_back_in_any_order_leaves_nothing(costs, random):
    made, _ = empty(100)
    for i, cost in enumerate(costs):
        made.ask(entry(str(i), i, cost=cost), cost)
    entries = list(made.awaited.values())
    random.shuffle(entries)
    for one in entries:
        made.withdraw(one, charged=False)
    assert (made.bought, made.spend.parts) == (0, ())


def test_arrivals_are_forgotten_oldest_first_and_told_labels_released():
    made, released = empty(3)
    for i in range(5):
        made.pass_by(str(i), passed(str(i), i))
    assert remembered(made) == ["2", "3", "4"]
    made.tell(made.find("3"), 1.0, None)
    for i in (5, 6):
        made.ask(one := entry(str(i), i), 1.0)
        made.tell(one, 1.0, None)
    assert (remembered(made), released) == (["4", "5", "6"], [3])
    made.pass_by("7", passed("7", 7))
    made.pass_by("8", passed("8", 8))
    assert (remembered(made), released) == (["6", "7", "8"], [3, 5])


def test_a_reopened_label_is_kept_until_it_is_told_and_then_remembered_as_new():
    made, released = empty(2)
    for i in range(2):
        made.ask(one := entry(str(i), i), 1.0)
        made.tell(one, 1.0, None)
    again = made.reopen(made.find("0"))
    for i in range(2, 6):
        made.pass_by(str(i), passed(str(i), i))
    assert (list(made.awaited), remembered(made), released) == (["0"], ["4", "5"], [1])
    made.tell(again, 2.0, None)
    assert (remembered(made), released) == (["5", "0"], [1])
    made.pass_by("6", passed("6", 6))
    assert (remembered(made), released) == (["0", "6"], [1])
    made.pass_by("7", passed("7", 7))
    assert (remembered(made), released) == (["6", "7"], [1, 0])


@given(
    st.integers(0, 4),
    st.lists(st.tuples(st.sampled_from("apptttrw"), st.integers(0, 12)), max_size=60),
)
def test_what_is_remembered_is_what_was_settled_last(keep, life):
    """Against a plain list: settled ids in their order, cut to the last `keep`."""
    made, released = empty(keep)
    settled, told, number = [], set(), 0
    for act, which in life:
        number += 1
        id = str(number)
        target = str(which)
        found = made.find(target)
        if act == "a":
            made.ask(entry(id, number), 1.0)
        elif act == "p":
            made.pass_by(id, passed(id, number))
            settled.append(id)
        elif found is None:
            continue
        elif act == "t" and found.y is None:
            if target in made.awaited:
                settled.append(target)
            made.tell(found, 1.0, None)
            told.add(target)
        elif act == "r" and found.y is not None:
            if found.asked:
                settled.remove(target)
            made.reopen(found)
            told.discard(target)
        elif act == "w" and (found.y is not None or target in made.awaited):
            if target in made.awaited:
                settled.append(target)
            made.withdraw(found, charged=False)
            told.discard(target)
        gone, settled = settled[: max(len(settled) - keep, 0)], settled[max(len(settled) - keep, 0) :]
        for one in gone:
            if one in told:
                assert int(one) in released
        assert remembered(made) == settled


def test_state_and_load_are_inverse():
    made = book()
    again, _ = empty()
    again.load(made.state(lambda x: x), lambda x: x)
    assert again.state(str) == made.state(str)
    assert again.awaited == made.awaited
    for one in (made, again):
        for i in range(12):
            one.pass_by(str(i), passed(str(i), i))
    assert remembered(again) == remembered(made) == [str(i) for i in range(2, 12)]
