"""A stream to try the service with: simulated parcels arrive, and a simulated labeller weighs some of them.

Whoever opens the desk takes over: while somebody holds a request, the labeller leaves requests alone. The
weight of a parcel grows with its volume, so a person can guess it.
"""

import asyncio
import random
from contextlib import suppress
from typing import TYPE_CHECKING

from breakeven.errors import BreakevenError
from breakeven.service.access import Caller
from breakeven.service.access.callers import waited
from breakeven.service.calls import Call
from breakeven.service.handlers import arrival_handlers, desk_handlers
from breakeven.wire.arrivals import Arrival
from breakeven.wire.requests import LabelCall, NextCall
from breakeven.wire.stream_setup import ColumnSetup, ColumnsSetup, FeatureSetup, StreamConfig

if TYPE_CHECKING:
    from breakeven.service.service import Service

DEMO_STREAM = "parcels"
SENDER = Caller("simulated sender", frozenset({"send"}))
WEIGHER = Caller("simulated labeller", frozenset({"label"}))
DIMENSIONS = {"length": (20, 80), "width": (15, 60), "height": (5, 50)}  # cm, from and to
CM3_A_KG, SCATTER = 5000.0, 0.4  # of the weight
FIRST_PARCELS, FIRST_APART = 40, 0.1  # come quickly, and are labelled at once
SECONDS_APART, SECONDS_TO_WEIGH = 1.0, 1.5
DEMO_CONFIG = StreamConfig(
    belief={"kind": "Averaged", "dim": len(DIMENSIONS)},
    rule={
        "kind": "Audit",
        "rule": {"kind": "Value", "horizon": 2000},
        "rate": 0.05,
        "bound": 30.0,
        "noise_std": SCATTER,
    },
    columns=ColumnsSetup(
        label_column=ColumnSetup("weight", unit="kg", low=0.0, high=60.0),
        features=[FeatureSetup(name, unit="cm") for name in DIMENSIONS],
    ),
    label_cost=2.0,
    error_cost=0.5,
    warmup=20,
    currency="EUR",
    deadline=86_400.0,
)


class Demonstration:
    """Parcels and their labeller, from the start of the service to its stop."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._weights: dict[str, float] = {}  # of parcels that are open
        self._playing: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    async def start(self, service: "Service") -> None:
        """Begin to send, once the stream is there."""
        self._playing = asyncio.get_running_loop().create_task(self._play(service))

    async def stop(self) -> None:
        """Send no more; what is under way is ended."""
        self._stopping.set()
        if self._playing is not None:
            await self._playing

    async def _play(self, service: "Service") -> None:
        await service.read()
        await service.create(DEMO_STREAM, DEMO_CONFIG, SENDER.name)
        start = service.stream(DEMO_STREAM).ready.learner.rounds
        for number in range(start, start + FIRST_PARCELS):
            if await waited(self._stopping, FIRST_APART):
                return
            await self._send(service, number)
            await self._answer(service, seconds=0.0)
        await asyncio.gather(self._arrive(service, start + FIRST_PARCELS), self._weigh(service))

    async def _arrive(self, service: "Service", number: int) -> None:
        while not await waited(self._stopping, self._random.uniform(0.5, 1.5) * SECONDS_APART):
            with suppress(BreakevenError):  # as where too many are open: nobody labels, so send later
                await self._send(service, number)
                number += 1

    async def _send(self, service: "Service", number: int) -> None:
        row = {name: float(self._random.randint(*ends)) for name, ends in DIMENSIONS.items()}
        volume = row["length"] * row["width"] * row["height"]
        weight = max(volume / CM3_A_KG + self._random.gauss(0.0, SCATTER), 0.05)
        arrival = Arrival(row, id=f"parcel-{number + 1}")
        live = service.stream(DEMO_STREAM)
        answer, _ = await live.change(
            SENDER.name,
            "decide",
            lambda now: arrival_handlers.answer_one(live, now, arrival),
            ask=lambda now: arrival_handlers.past_arrival(live, now, arrival.id),
        )
        if answer.wants_label:
            self._weights[answer.id] = round(weight, 2)

    async def _weigh(self, service: "Service") -> None:
        """Answer requests one after the other, while nobody else does."""
        while not await waited(self._stopping, SECONDS_TO_WEIGH / 3):
            with suppress(BreakevenError):
                if not service.stream(DEMO_STREAM).ready.desk.holders - {WEIGHER.name}:
                    await self._answer(service, SECONDS_TO_WEIGH)

    async def _answer(self, service: "Service", seconds: float) -> None:
        call = _call(service, WEIGHER, NextCall(lease=2 * seconds + 1))
        found = (await desk_handlers.next_request(call)).request
        if found is None:
            return
        await waited(self._stopping, seconds)
        weight = self._weights.pop(found.id, None)
        if weight is None:  # of an earlier demonstration, or taken over meanwhile
            await desk_handlers.skip(_call(service, WEIGHER, None, found.id))
        else:
            await desk_handlers.label(_call(service, WEIGHER, LabelCall(weight), found.id))


def _call(service: "Service", caller: Caller, body: object, id: str = "") -> Call:
    return Call(service, caller, {"stream": DEMO_STREAM, "id": id}, None, body)
