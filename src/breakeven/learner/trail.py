"""The trail of audits: declined arrivals in order, and the labels of those drawn at random among them.

Labels come late, so the averages stop short of the first audit that is still awaited. A label that came
unasked has no place here: only what was drawn is a fair sample.
"""

from math import sqrt
from typing import Any, Literal

import msgspec
from msgspec.structs import asdict, astuple, replace

from breakeven.errors import ConflictingLabel, DuplicateId, UnknownId, expect
from breakeven.theory import Limits, SampledAverage, error_bound
from breakeven.values.audit import Assumption, AuditReport, Interval


class Audited(msgspec.Struct):
    """A declined arrival that was drawn, and how many that were not came `after` the one before it.

    `y` is None while the label is awaited, and for good once it is `missing`; `noise_std` is its noise.
    """

    after: int
    prediction: float
    noise_std: float
    y: float | None = None
    missing: bool = False

    @property
    def awaited(self) -> bool:
        """Whether the label may still come."""
        return self.y is None and not self.missing


class Trail:
    """What audits say about arrivals that a rule declined, in their order.

    Where labels differ in noise, `noise_std` is that of the noisiest, and `least_noise_std` the least.

    >>> trail = Trail(0.1, bound=1.0, noise_std=0.2)
    >>> trail.decline(9)
    >>> trail.audit("10", prediction=0.5)
    >>> trail.report().covers
    9
    >>> trail.tell("10", 0.7)
    >>> trail.report().covers, round(trail.report().absolute.estimate, 3)
    (10, 0.2)
    """

    def __init__(
        self,
        rate: float,
        *,
        bound: float,
        noise_std: float,
        bound_on: Literal["labels", "truth"] = "truth",
        least_noise_std: float | None = None,
    ) -> None:
        self._bound = error_bound(bound, noise_std=noise_std, on=bound_on, least_noise_std=least_noise_std)
        self.rate = expect.probability("rate", rate, open=True)
        self.declined = 0
        self.uncovered = 0
        self.stopped_at: int | None = None
        self._after = 0  # arrivals since the last audit
        self._audits: list[Audited] = []
        self._places: dict[str, int] = {}
        self._begin()

    def __contains__(self, id: object) -> bool:
        """Whether the label of this arrival is awaited or known as an audit."""
        return id in self._places

    @property
    def noise_stds(self) -> tuple[float, float]:
        """The least noise that a label may have, and the most."""
        return self._bound.least_noise_std, self._bound.noise_std

    # -- arrivals --------------------------------------------------------------------------------

    def decline(self, count: int = 1) -> None:
        """Arrivals were declined and not drawn."""
        self.declined += count
        if self.stopped_at is None:
            self._after += count

    def audit(self, id: str, prediction: float, noise_std: float | None = None) -> None:
        """An arrival was declined and drawn; `prediction` is the one made without its label.

        `noise_std` is that of the label asked for; None says that of the noisiest.
        """
        self.check_audit(id)
        mean, noise = expect.finite("prediction", prediction), self._noise(noise_std)
        self._places[id] = len(self._audits)
        self._audits.append(Audited(self._after, mean, noise))
        self._after = 0
        self.declined += 1

    def check_audit(self, id: str) -> None:
        """Raise unless an arrival of this id may be entered as drawn."""
        name = expect.text("id", id)
        if name in self._places:
            raise DuplicateId(f"id: expected one that is not in use, got {name!r}, which is audited already")
        if self.stopped_at is not None:
            expect.refuse("id", f"no audit after the stop at round {self.stopped_at}", name)

    def _noise(self, noise_std: float | None) -> float:
        bound = self._bound
        if noise_std is None:
            return bound.noise_std
        return expect.number("noise_std", noise_std, bound.least_noise_std, bound.noise_std)

    def leave_out(self, count: int = 1) -> None:
        """Arrivals could not have been drawn, as was clear before their draw: they are no part of this."""
        self.uncovered += count

    def stop(self, round: int) -> None:
        """There is no money for audits from this round on: what comes is declined, and not covered.

        A draw that could not be paid for is not to be entered before.
        """
        if self.stopped_at is None:
            self.stopped_at = expect.whole("round", round)

    # -- labels ----------------------------------------------------------------------------------

    def tell(self, id: str, y: float, noise_std: float | None = None) -> None:
        """The label of an audited arrival came; with `noise_std`, if that is another than was asked for."""
        audited, label = self._at(id), expect.finite("y", y)
        noise = audited.noise_std if noise_std is None else self._noise(noise_std)
        if audited.y is not None and audited.y != label:
            raise ConflictingLabel(
                f"id {id!r}: expected the label {audited.y!r} told before, got {label!r}; "
                "use correct to change it"
            )
        audited.y, audited.noise_std = label, noise

    def correct(self, id: str, y: float) -> None:
        """A label told before was wrong; this is the right one."""
        audited, label = self._at(id), expect.finite("y", y)
        if audited.y is None:
            raise UnknownId(f"id: expected a label told before, got {id!r}; it is still awaited, use tell")
        audited.y = label
        self._changed(id)

    def withdraw(self, id: str) -> None:
        """A label will never come, or must go: the arrival stays, and its label is missing."""
        audited = self._at(id)
        audited.y, audited.missing = None, True
        self._changed(id)
        del self._places[id]

    def _at(self, id: str) -> Audited:
        name = expect.text("id", id)
        if name not in self._places:
            raise UnknownId(f"id: expected an audited arrival, got {expect.shown(name)}")
        return self._audits[self._places[name]]

    # -- the averages ----------------------------------------------------------------------------

    def report(self, *, level: float = 0.95) -> AuditReport:
        """What is known by now about the error of predictions for declined arrivals."""
        level = expect.probability("level", level, open=True)
        self._fold()
        following = self._audits[self._folded].after if self._folded < len(self._audits) else self._after
        absolute, squared = self._absolute.skip(following), self._squared.skip(following)
        square = _interval(squared, level, self._bound.squared)
        return AuditReport(
            rate=self.rate,
            declined=self.declined,
            audited=len(self._audits),
            covers=absolute.passed,
            uncovered=self.uncovered,
            awaited=sum(one.awaited for one in self._audits),
            missing=sum(one.missing for one in self._audits),
            exceeded=absolute.beyond,
            stopped_at=self.stopped_at,
            level=level,
            assumption=Assumption(**asdict(self._bound)),
            absolute=_interval(absolute, level, self._bound.absolute),
            squared=square,
            rms_bound=sqrt(square.high),  # Jensen
        )

    def _begin(self) -> None:
        self._folded = 0
        self._absolute = SampledAverage(self.rate, self._bound.absolute.reach)
        self._squared = SampledAverage(self.rate, self._bound.squared.reach)

    def _fold(self) -> None:
        """Take in the audits that follow, up to the first that is awaited."""
        while self._folded < len(self._audits):
            one = self._audits[self._folded]
            if one.awaited:
                break
            absolute, squared = self._absolute.skip(one.after), self._squared.skip(one.after)
            error = None if one.y is None else abs(one.y - one.prediction)
            self._absolute = absolute.lost() if error is None else absolute.plus(error)
            square = None if error is None else error**2 + self._bound.lacking(one.noise_std)
            self._squared = squared.lost() if square is None else squared.plus(square)
            self._folded += 1

    def _changed(self, id: str) -> None:
        if self._places[id] < self._folded:
            self._begin()  # rare, and folding again leaves no trace of what was wrong

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; the averages follow from it to the last bit."""
        return {
            "audits": [astuple(one) for one in self._audits],
            "places": self._places.copy(),
            "after": self._after,
            "declined": self.declined,
            "uncovered": self.uncovered,
            "stopped_at": self.stopped_at,
            "noise_stds": self.noise_stds,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` gave."""
        self._audits = [Audited(*row) for row in state["audits"]]
        self._places = dict(state["places"])
        self._after = state["after"]
        self.declined = state["declined"]
        self.uncovered = state["uncovered"]
        self.stopped_at = state["stopped_at"]
        least, most = state["noise_stds"]
        self._bound = replace(self._bound, least_noise_std=least, noise_std=most)
        self._begin()


def _interval(average: SampledAverage, level: float, limits: Limits) -> Interval:
    low, high = average.interval(level)
    return Interval(
        None if average.estimate is None else average.estimate - limits.noise,
        min(limits.most, max(0.0, low - limits.noise)),
        min(limits.most, max(0.0, high + limits.hidden - limits.noise)),
    )
