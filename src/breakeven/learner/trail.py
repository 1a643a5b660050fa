"""The trail of audits: declined arrivals in order, and the labels of those drawn at random among them.

Labels come late, so the averages stop short of the first audit that is still awaited. A label that came
without having been drawn has no place here: only what was drawn is a fair sample. A drawn label that nobody
can change any more is counted and then dropped, so that a long stream keeps a short trail.
"""

from collections import deque
from collections.abc import Sequence
from math import sqrt
from typing import Any, Literal

import msgspec
from msgspec.structs import asdict, replace

from breakeven.beliefs import Belief
from breakeven.errors import ConflictingLabel, DuplicateId, InvalidInput, UnknownId, expect
from breakeven.learner.costs import Costs
from breakeven.learner.packing import as_columns, from_columns
from breakeven.rules import Audit, Rule
from breakeven.theory import Limits, SampledAverage, error_bound
from breakeven.values import Assumption, AuditReport, Decision, Interval


class Audited(msgspec.Struct, gc=False):
    """A declined arrival that was drawn, and how many arrivals not drawn came between it and the one before.

    `y` is None while the label is awaited, and for good once it is `missing`; `noise_std` is its noise.
    `final` says that nobody can change the label any more.
    """

    key: int
    after: int
    prediction: float
    noise_std: float
    y: float | None = None
    missing: bool = False
    final: bool = False

    @property
    def awaited(self) -> bool:
        """Whether the label may still come."""
        return self.y is None and not self.missing


class Averages(msgspec.Struct, frozen=True):
    """The averages over the first `audits` of those drawn."""

    audits: int
    absolute: SampledAverage
    squared: SampledAverage


class Trail:
    """What audits say about arrivals that a rule declined, in their order; labels are named by their keys.

    Where labels differ in noise, `noise_std` is that of the noisiest, and `least_noise_std` the least.

    >>> trail = Trail(0.1, bound=1.0, noise_std=0.2)
    >>> trail.decline(9)
    >>> trail.audit(10, prediction=0.5)
    >>> trail.report().covers
    9
    >>> trail.tell(10, 0.7)
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
        self.awaited = 0
        self.missing = 0
        self.stopped_at: int | None = None
        self._after = 0  # arrivals since the last audit
        self._dropped = 0  # audits that are counted in `_base` only
        self._audits: deque[Audited] = deque()
        self._by_key: dict[int, tuple[int, Audited]] = {}  # with its place among all audits
        begin = Averages(
            0,
            SampledAverage(self.rate, self._bound.absolute.reach),
            SampledAverage(self.rate, self._bound.squared.reach),
        )
        self._base = self._folded = begin

    def __contains__(self, key: object) -> bool:
        """Whether the label with this key is awaited or known as an audit."""
        return key in self._by_key

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

    def audit(self, key: int, prediction: float, noise_std: float | None = None) -> None:
        """An arrival was declined and drawn; `prediction` is the one made without its label.

        `noise_std` is that of the label asked for; None means that of the noisiest.
        """
        self.check_audit(key)
        one = Audited(key, self._after, expect.finite("prediction", prediction), self._noise(noise_std))
        self._by_key[key] = self._dropped + len(self._audits), one
        self._audits.append(one)
        self._after = 0
        self.declined += 1
        self.awaited += 1

    def check_audit(self, key: int) -> None:
        """Raise unless an arrival with this key may be entered as drawn."""
        if key in self._by_key:
            raise DuplicateId(f"key: expected one that is not in use, got {key}, which is audited already")
        if self.stopped_at is not None:
            expect.refuse("audit", f"none after the stop at round {self.stopped_at}", "one", described=True)

    def _noise(self, noise_std: float | None) -> float:
        bound = self._bound
        if noise_std is None:
            return bound.noise_std
        return expect.number("noise_std", noise_std, bound.least_noise_std, bound.noise_std)

    def leave_out(self, count: int = 1) -> None:
        """Arrivals that could not be drawn, as was known before the draw: the averages leave them out."""
        self.uncovered += count

    def stop(self, round: int) -> None:
        """There is no money for audits from this round on: what comes is declined, and not covered.

        Call this instead of entering a draw that cannot be paid for.
        """
        if self.stopped_at is None:
            self.stopped_at = expect.whole("round", round)

    # -- labels ----------------------------------------------------------------------------------

    def tell(self, key: int, y: float, noise_std: float | None = None) -> None:
        """The label of an audited arrival came; with `noise_std`, if that is another than was asked for."""
        (_, audited), label = self._at(key), expect.finite("y", y)
        noise = audited.noise_std if noise_std is None else self._noise(noise_std)
        if audited.y is not None and audited.y != label:
            raise ConflictingLabel(
                f"key {key}: expected the label {audited.y!r} told before, got {label!r}; "
                "use correct to change it"
            )
        self.awaited -= audited.y is None
        audited.y, audited.noise_std = label, noise

    def correct(self, key: int, y: float) -> None:
        """A label told before was wrong; this is the right one."""
        (place, audited), label = self._at(key), expect.finite("y", y)
        if audited.y is None:
            raise UnknownId(f"key: expected a label told before, got {key}; it is still awaited, use tell")
        audited.y = label
        self._changed(place)

    def reopen(self, key: int) -> None:
        """A label told before is awaited again."""
        place, audited = self._at(key)
        self.awaited += audited.y is not None
        audited.y = None
        self._changed(place)

    def withdraw(self, key: int) -> None:
        """A label will never come, or must go: the arrival stays, and its label is missing."""
        place, audited = self._at(key)
        self.awaited -= audited.awaited
        self.missing += 1
        audited.y, audited.missing = None, True
        self._changed(place)
        self.release(key)

    def release(self, key: int) -> None:
        """Nobody will change this label any more: it is dropped once it is counted."""
        if key in self._by_key:
            self._by_key.pop(key)[1].final = True
            self._drop()

    def _at(self, key: int) -> tuple[int, Audited]:
        if key not in self._by_key:
            raise UnknownId(f"key: expected an audited arrival, got {expect.shown(key)}")
        return self._by_key[key]

    # -- the averages ----------------------------------------------------------------------------

    def report(self, *, level: float = 0.95) -> AuditReport:
        """What is known by now about the error of predictions for declined arrivals."""
        level = expect.probability("level", level, open=True)
        folded = self._fold()
        place = folded.audits - self._dropped
        following = self._audits[place].after if place < len(self._audits) else self._after
        absolute, squared = folded.absolute.skip(following), folded.squared.skip(following)
        square = _interval(squared, level, self._bound.squared)
        return AuditReport(
            rate=self.rate,
            declined=self.declined,
            audited=self._dropped + len(self._audits),
            covers=absolute.passed,
            uncovered=self.uncovered,
            awaited=self.awaited,
            missing=self.missing,
            exceeded=absolute.beyond,
            stopped_at=self.stopped_at,
            level=level,
            assumption=Assumption(**asdict(self._bound)),
            absolute=_interval(absolute, level, self._bound.absolute),
            squared=square,
            rms_bound=sqrt(square.high),  # Jensen
        )

    def _fold(self) -> Averages:
        """Add the audits up to the first that is awaited; one assignment stores all of the result."""
        folded = self._folded
        for i in range(folded.audits - self._dropped, len(self._audits)):
            one = self._audits[i]
            if one.awaited:
                break
            folded = self._plus(folded, one)
        self._folded = folded
        return folded

    def _plus(self, averages: Averages, one: Audited) -> Averages:
        absolute, squared = averages.absolute.skip(one.after), averages.squared.skip(one.after)
        if one.y is None:
            return Averages(averages.audits + 1, absolute.lost(), squared.lost())
        error = abs(one.y - one.prediction)
        square = error**2 + self._bound.lacking(one.noise_std)
        return Averages(averages.audits + 1, absolute.plus(error), squared.plus(square))

    def _changed(self, place: int) -> None:
        """The audit at this place changed: fold again from the last one that cannot change."""
        if place < self._folded.audits:
            self._folded = self._base

    def _drop(self) -> None:
        """Count audits at the front that are final into the base, and forget them."""
        while self._audits and self._audits[0].final and not self._audits[0].awaited:
            self._base = self._plus(self._base, self._audits.popleft())
            self._dropped += 1
        if self._folded.audits < self._base.audits:
            self._folded = self._base

    # -- keeping ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything, as plain data; the averages are kept, so that nothing is folded again."""
        return {
            "audits": as_columns(Audited, self._audits),
            "base": msgspec.to_builtins(self._base),
            "folded": msgspec.to_builtins(self._fold()),
            "after": self._after,
            "declined": self.declined,
            "uncovered": self.uncovered,
            "missing": self.missing,
            "stopped_at": self.stopped_at,
            "noise_stds": self.noise_stds,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up a state that `state` returned."""
        self._base, self._folded = (msgspec.convert(state[name], Averages) for name in ("base", "folded"))
        self._dropped = self._base.audits
        self._audits = deque(from_columns(Audited, state["audits"]))
        places = enumerate(self._audits, self._dropped)
        self._by_key = {one.key: (place, one) for place, one in places if not one.final}
        self.awaited = sum(one.awaited for one in self._audits)
        self.missing = state["missing"]
        self._after = state["after"]
        self.declined = state["declined"]
        self.uncovered = state["uncovered"]
        self.stopped_at = state["stopped_at"]
        least, most = state["noise_stds"]
        self._bound = replace(self._bound, least_noise_std=least, noise_std=most)


def _interval(average: SampledAverage, level: float, limits: Limits) -> Interval:
    low, high = average.interval(level)
    return Interval(
        None if average.estimate is None else average.estimate - limits.noise,
        min(limits.most, max(0.0, low - limits.noise)),
        min(limits.most, max(0.0, high + limits.hidden - limits.noise)),
    )


class Auditing:
    """An audit and its trail; what a person or the warm-up decided is kept out of it."""

    def __init__(self, audit: Audit, noises: Sequence[float]) -> None:
        self._audit = audit
        self.trail = Trail(
            audit.rate,
            bound=audit.bound,
            noise_std=max(noises),
            bound_on=audit.bound_on,
            least_noise_std=min(noises),
        )

    @classmethod
    def of(
        cls, rule: Rule, costs: Costs, belief: Belief, noises: Sequence[float] | None = None
    ) -> "Auditing | None":
        """Begin, if the rule is audited; `noises` are those that an audit assumes which began earlier."""
        if rule.audit is None:
            return None
        return cls(rule.audit, noises or _noises(rule.audit, costs, belief))

    def check_goes_on(self, costs: Costs, belief: Belief) -> None:
        """Raise if labels may now have a noise outside the range that the audit assumes."""
        least, most = self.trail.noise_stds
        for noise_std in _noises(self._audit, costs, belief):
            if not least <= noise_std <= most:
                within = f"{most:g}" if least == most else f"{least:g} to {most:g}"
                assumed = f"a noise of {within}, as the audit assumes (a new audit begins with a new rule)"
                expect.refuse("labellers", assumed, noise_std)

    def check_drawn(self, decision: Decision, key: int) -> None:
        """Raise unless this decision can be one that the audit drew."""
        if decision.by != "rule" or not decision.wants_label:
            expect.refuse("reason", "another, as the rule asked for no audit", decision.reason)
        self.trail.check_audit(key)

    def follow(self, key: int, decision: Decision, predicted: float | None, noise_std: float | None) -> None:
        """The rule answered: enter what was drawn, and what was not, if it could have been."""
        labelled, ended = decision.wants_label, self._audit.stopped is not None
        if predicted is not None:
            self.trail.audit(key, predicted, self.noise(noise_std))
        elif decision.reason == "no_audit_money":
            self.trail.stop(decision.round)
            self._audit.stopped = decision.round
        elif not labelled and (decision.propensity >= self._audit.rate or ended):
            self.trail.decline()
        elif not labelled:
            self.trail.leave_out()

    def tell(self, key: int, y: float, noise_std: float | None) -> None:
        """Enter a label if its arrival was drawn; `noise_std` is given where another labeller answered."""
        if key in self.trail:
            self.trail.tell(key, y, self.noise(noise_std))

    def noise(self, noise_std: float | None) -> float | None:
        """The noise that a label counts with; None means the audit's own, where it was given one.

        A belief that goes on fitting may find another noise than the audit began with: it counts as the
        nearest that the audit assumes.
        """
        if noise_std is None or self._audit.noise_std is not None:
            return None
        least, most = self.trail.noise_stds
        return min(max(noise_std, least), most)

    def report(self) -> AuditReport:
        """What is known by now about errors where nobody asked."""
        return self.trail.report(level=self._audit.level)


def _noises(audit: Audit, costs: Costs, belief: Belief) -> list[float]:
    """The noises that labels may have: the one given to the audit, else the labellers', else the belief's."""
    if audit.noise_std is not None:
        return [audit.noise_std]
    if costs.labellers:
        return [one.noise_std for one in costs.labellers.values()]
    if not belief.traits.noise_known:
        raise InvalidInput(
            "noise_std: expected the noise of labels, which the audit must know and the belief only "
            "estimates, got None; give Audit(noise_std=…)"
        )
    return [belief.traits.noise_std]
