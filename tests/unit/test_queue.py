"""A queue: at most so many labels awaited at once."""

import pytest

from breakeven.errors import InvalidInput
from breakeven.rules import Always, Queue, Threshold
from tests.unit.views import view


def test_a_full_queue_takes_nothing():
    rule = Queue(Always(), 2)
    assert [rule.decide(view(awaited=n)).reason for n in range(4)] == [
        "always", "always", "queue_full", "queue_full"
    ]  # fmt: skip
    assert [rule.forbids(view(awaited=n)) for n in range(4)] == [None, None, "queue_full", "queue_full"]
    assert rule.decide(view(awaited=2)).propensity is None


def test_a_queue_with_room_says_what_the_rule_says():
    assert Queue(Threshold(), 2).decide(view(1.5)) == Threshold().decide(view(1.5))


@pytest.mark.parametrize("most", [0, -1, 1.5, "two", None, True])
def test_a_queue_has_room_for_one_at_least(most):
    with pytest.raises(InvalidInput, match=r"^most: expected a whole number of at least 1, got "):
        Queue(Always(), most)


def test_a_queue_in_a_queue_is_the_shorter_of_both():
    for rule in (Queue(Queue(Always(), 3), 1), Queue(Queue(Always(), 1), 3)):
        assert [rule.decide(view(awaited=n)).wants_label for n in range(3)] == [True, False, False]
        assert rule.forbids(view(awaited=1)) == "queue_full"
