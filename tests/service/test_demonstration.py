"""The demonstration: parcels arrive, a simulated labeller weighs them, and steps aside for people."""

import asyncio

import pytest

from breakeven.service import demonstration
from breakeven.service.demonstration import DEMO_STREAM, WEIGHER, Demonstration


@pytest.fixture
def playing(served, monkeypatch):
    for name, value in {
        "FIRST_PARCELS": 6,
        "FIRST_APART": 0.0,
        "SECONDS_APART": 0.01,
        "SECONDS_TO_WEIGH": 0.01,
    }.items():
        monkeypatch.setattr(demonstration, name, value)
    one = Demonstration()
    served.run(one.start(served.service))
    streams = served.service.streams
    wait(served, lambda: DEMO_STREAM in streams and streams[DEMO_STREAM].state == "ready")
    yield served
    served.run(one.stop())


def wait(served, ready):
    """Let the loop run until something is so."""

    async def until():
        while not ready():
            await asyncio.sleep(0.01)

    served.run(asyncio.wait_for(until(), 20))


def told(served):
    live = served.live(DEMO_STREAM)
    return [one for one in served.store.entries(live.number) if one.kind == "Told"]


def test_parcels_arrive_and_are_weighed(playing):
    wait(playing, lambda: playing.live(DEMO_STREAM).ready.learner.rounds >= 10 and len(told(playing)) >= 6)
    assert {one.by for one in told(playing)} == {WEIGHER.name}


def test_whoever_holds_a_request_takes_over(playing):
    wait(playing, lambda: len(told(playing)) >= 6)
    wait(playing, lambda: len(playing.live(DEMO_STREAM).ready.desk) > 0)
    desk = playing.live(DEMO_STREAM).ready.desk

    def hold():
        found = desk.next("ann", None)
        return hasattr(found, "id") and desk.hold(found.id, "ann", 600.0)

    wait(playing, hold)
    playing.run(asyncio.sleep(0.1))
    before = len(told(playing))
    wait(playing, lambda: len(desk) >= 8)
    assert len(told(playing)) == before
    desk.release(next(id for id in desk.requests if (one := desk.lease(id)) and one.by == "ann"), "ann")
    wait(playing, lambda: len(told(playing)) > before)
