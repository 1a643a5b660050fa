"""What the board draws: read from the end of the log, and true to where the stream stands."""

import re

import pytest

from breakeven.service.pages import board_page
from breakeven.service.pages.board_page import StreamSeries, course_of, rate_of
from breakeven.store import StoreFailed
from tests.service.samples import ALL_WANTED, TYPES


@pytest.fixture
def busy(served):
    """A stream with 30 arrivals, all wanted, of which ten were told, five withdrawn, and one taken back."""
    served("PUT", "", ALL_WANTED, status=201)
    for i in range(30):
        served("POST", "arrivals", {"row": "flu", "id": str(i)})
        served.clock.go_on(60.0)
    for i in range(10):
        served("POST", f"requests/{i}/label", {"y": 38.0})
    for i in range(10, 15):
        served("POST", f"requests/{i}/withdraw", {"charged": i == 10})
    served("POST", "requests/0/reopen")
    return served


def course(served, series):
    live = served.live()
    now, ledger = live.ready, live.ready.learner.ledger
    return course_of(list(series.steps), ledger.label_spend, 60.0, len(now.desk), served.clock.now())


def test_a_reading_that_failed_on_its_way_goes_on_and_counts_nothing_twice(busy, monkeypatch):
    upto, entries = busy.live().written, busy.store.entries

    def breaking(stream, after, upto):
        yield from entries(stream, after, 12)
        raise StoreFailed("disk: gone")

    series = StreamSeries(busy.store, busy.live().number)
    with monkeypatch.context() as patch:
        patch.setattr(busy.store, "entries", breaking)
        with pytest.raises(StoreFailed):
            series.read(upto)
    series.read(upto)
    whole = StreamSeries(busy.store, busy.live().number)
    whole.read(upto)
    assert list(series.steps) == list(whole.steps)


def test_the_course_of_a_whole_log_begins_at_nothing(busy):
    series = StreamSeries(busy.store, busy.live().number)
    series.read(busy.live().written)
    found = course(busy, series)
    assert (found.spend[0], found.everyone[0], found.open[0]) == (2.0, 2.0, 1)
    assert (found.spend[-1], found.everyone[-1], found.open[-1]) == (52.0, 60.0, 16)
    assert found.at == sorted(found.at)
    assert max(found.spend) == 60.0


def test_labels_that_nobody_asked_for_and_labels_taken_out_close_no_request(served):
    served("PUT", "", TYPES | {"rule": {"kind": "Never"}}, status=201)
    for id in "abcd":
        served("POST", "arrivals", {"row": "flu", "id": id, "force": id in "ab"})
    for id in "abc":
        served("POST", f"requests/{id}/label", {"y": 38.0})
    for id in "bc":
        served("POST", f"requests/{id}/withdraw")
    series = StreamSeries(served.store, served.live().number)
    series.read(served.live().written)
    assert course(served, series).open == [1, 2, 2, 2, 1, 0, 0, 0, 0, 0]


def test_a_chart_has_room_for_large_numbers_and_is_not_there_without_any(served):
    served("PUT", "", ALL_WANTED | {"label_cost": 1_234_567.0}, status=201)
    for i in range(3):
        served("POST", "arrivals", {"row": f"new {i}", "id": str(i)})
    series = StreamSeries(served.store, served.live().number)
    series.read(served.live().written)
    values = {"spend": 3_703_701.0, "everyone": 3_703_701.0, "open": 3, "currency": "HUF", "unit": ""}
    charts = board_page._charts(values, series, served.clock.now())
    assert [one.name for one in charts] == ["spend", "open", "rate"]  # what is uncertain without end is not
    places = re.findall(r'x="([\d.]+)" y="[\d.]+" text-anchor="end">([\d,]+)<', charts[0].svg)
    assert "4,000,000" in dict(map(reversed, places))
    assert all(float(place) > 7.0 * len(number) for place, number in places)


def test_the_end_of_a_log_is_enough_and_is_read_on(busy, monkeypatch):
    whole = StreamSeries(busy.store, busy.live().number)
    whole.read(busy.live().written)
    monkeypatch.setattr(board_page, "LAST_ENTRIES", 40)
    part = StreamSeries(busy.store, busy.live().number)
    part.read(30)
    part.read(busy.live().written)
    assert len(part.steps) == 40
    a, b = course(busy, whole), course(busy, part)
    assert (b.spend, b.open, b.everyone) == (a.spend[-41:], a.open[-41:], a.everyone[-41:])


def test_a_log_that_was_rewritten_is_read_anew(busy):
    series = StreamSeries(busy.store, busy.live().number)
    series.read(40)
    series.read(20)
    assert len(series.steps) == 19


def test_the_rate_is_the_share_of_the_last_arrivals(busy):
    series = StreamSeries(busy.store, busy.live().number)
    series.read(busy.live().written)
    times, rate = rate_of(list(series.steps))
    assert set(rate) == {100.0}
    assert len(times) == len(rate) == 25


def test_no_more_costs_are_remembered_than_steps(busy, monkeypatch):
    monkeypatch.setattr(board_page, "LAST_ENTRIES", 8)
    series = StreamSeries(busy.store, busy.live().number)
    for upto in range(busy.live().written + 1):
        series.read(upto)
    assert len(series._costs) <= 8
