"""Whether the belief can be trusted: the test of its claims so far, and what became of alarms."""

from typing import Any

import msgspec
from msgspec import Struct

from breakeven.theory import SelfTest
from breakeven.values import IN_DOUBT, Standing

LABELS_BEFORE = 4  # labels told before one tests the belief: fewer leave its claims to the prior
HOLDS_AFTER = 20  # tests without doubt after which what was done about an alarm has held
LEAST_WIDER = 1.1  # the least factor by which claims become wider
RANK_DRAWS = 3  # which of the round's random numbers places a label among equal ones


class Alarm(Struct, frozen=True):
    """When the belief was refuted, and what it did: labels set aside, and by how much its claims widened."""

    round: int
    outdated: int
    widened: float


class Trust(Struct):
    """What labels said of the belief's claims.

    `suspect` is the key of a label that refuted the belief, until the belief has given way. `open` are the
    alarms, by the key of the label behind each, until what was done about them has held; `alarms` counts all
    there were. `causes` are the keys of the labels behind alarms, as long as these can be corrected.
    """

    test: SelfTest = SelfTest()
    tested: int = 0
    suspect: int | None = None
    open: dict[int, Alarm] = {}
    alarms: int = 0
    causes: list[int] = []

    def enter(self, key: int, u: float) -> None:
        """A label tested the belief."""
        self.test, self.tested = self.test.plus(u), self.tested + 1
        if self.test.refutes:
            self.suspect = key
        elif self.test.tests >= HOLDS_AFTER and self.test.evidence < IN_DOUBT:
            self.open.clear()

    @property
    def wider(self) -> float:
        """The factor by which claims must widen to suit the labels, where nothing changed."""
        return max(LEAST_WIDER, self.test.spread)

    def refute(self, alarm: Alarm) -> None:
        """The belief has given way; the next test begins, with the next share of the false alarms."""
        assert self.suspect is not None
        self.causes.append(self.suspect)
        self.open[self.suspect] = alarm
        self.test, self.suspect = self.test.next(), None
        self.alarms += 1

    def absolve(self, key: int) -> bool:
        """The label with this key was wrong; whether the belief gave way to it. What it spent stays spent."""
        if key == self.suspect:
            self.test, self.suspect = self.test.next(), None
            return False
        if key not in self.causes:
            return False
        self.causes.remove(key)
        self.open.pop(key, None)
        return True

    def release(self, key: int) -> None:
        """Nobody will correct this label any more."""
        if key in self.causes:
            self.causes.remove(key)

    @property
    def doubt(self) -> str | None:
        """How the belief stands, in words; None where it is consistent with its labels."""
        if not self.open and self.test.evidence < IN_DOUBT:
            return None
        return self.standing().words

    def standing(self, *, yes_no: bool = False) -> Standing:
        """How the belief stands; claims about yes and no cannot be made wider."""
        last = next(reversed(self.open.values()), None)
        alarm = last or Alarm(0, 0, 1.0)
        return Standing(
            tests=self.tested,
            evidence=self.test.evidence,
            limit=self.test.limit,
            alarms=self.alarms,
            refuted_since=None if last is None else alarm.round,
            outdated=alarm.outdated,
            widened=1.0 if yes_no else alarm.widened,
        )

    def state(self) -> dict[str, Any] | None:
        """Everything, as plain data; None where nothing was tested."""
        return msgspec.to_builtins(self) if self.tested or self.alarms else None

    def load(self, state: dict[str, Any]) -> None:
        """Take up what `state` returned, all or nothing."""
        kept = msgspec.convert(state, Trust)
        if (last := state.get("alarm")) is not None:  # as snapshots said it that knew of the last one alone
            kept.open[kept.causes[-1] if kept.causes else 0] = msgspec.convert(last, Alarm)
        for name in self.__struct_fields__:
            setattr(self, name, getattr(kept, name))
