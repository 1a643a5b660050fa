"""The desk of one stream: which requests are open, in which order, who holds one, and who skipped one.

A request is a label that is awaited. Leases are in memory only, and time is looked at when somebody asks: an
expired lease is no lease. Skips are entries of the log, so that they outlast a restart.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b, shake_256
from hmac import compare_digest
from math import inf, isnan

from msgspec import Struct

from breakeven.errors import expect
from breakeven.values import Decision
from breakeven.wire.requests import NothingReason, RequestOrder

BY_LOT = ("audited", "checked", "drawn")  # by lot, which must not be seen from their place

MARK_BYTES = 16


class OpenRequest(Struct, gc=False):
    """A request that is open: what it is worth, since when, and whom it was asked of."""

    id: str
    worth: float
    at: float
    number: int
    labeller: str | None

    @property
    def by_worth(self) -> tuple[float, int, str]:
        """Its place among others, the most worth first."""
        return -self.worth, self.number, self.id

    @property
    def by_age(self) -> tuple[float, int, str]:
        """Its place among others, the oldest first."""
        return self.at, self.number, self.id


class Lease(Struct, frozen=True):
    """Who holds a request, and until when, by the clock that only goes on."""

    by: str
    until: float


class Nothing(Struct, frozen=True):
    """There is no request for somebody, and why; `leases` are those of others, where they hold all."""

    reason: NothingReason
    leases: tuple[Lease, ...] = ()


class Desk:
    """Open requests, leases and skips; `steady` is the clock that leases count by.

    With `key` it hides what nobody may tell from a place: see `rank_of` and `cursor_of`.
    """

    def __init__(self, steady: Callable[[], float], key: bytes = b"") -> None:
        self._steady, self.key = steady, key
        self.requests: dict[str, OpenRequest] = {}
        self._by_worth: list[tuple[float, int, str]] = []
        self._by_age: list[tuple[float, int, str]] = []
        self._leases: dict[str, Lease] = {}
        self._skips: dict[str, dict[str, None]] = {}  # ids by person, in the order of their skipping
        self._number = 0

    def __len__(self) -> int:
        return len(self.requests)

    # -- what the learner does ---------------------------------------------------------------------

    def ask(self, decision: Decision, at: float) -> None:
        """A label was asked for, or is awaited again."""
        one = self._opened(decision, at)
        insort(self._by_worth, one.by_worth)
        insort(self._by_age, one.by_age)

    def ask_all(self, asked: Iterable[tuple[Decision, float]]) -> None:
        """Many labels are awaited, each since its time: the same, in less time."""
        opened = [self._opened(decision, at) for decision, at in asked]
        self._by_worth = sorted([*self._by_worth, *(one.by_worth for one in opened)])
        self._by_age = sorted([*self._by_age, *(one.by_age for one in opened)])

    def _opened(self, decision: Decision, at: float) -> OpenRequest:
        self._number += 1
        one = OpenRequest(decision.id, rank_of(decision, self.key), at, self._number, decision.labeller)
        self.requests[one.id] = one
        return one

    def close(self, id: str) -> OpenRequest | None:
        """A label was told or withdrawn."""
        one = self.requests.pop(id, None)
        if one is None:
            return None
        del self._by_worth[bisect_left(self._by_worth, one.by_worth)]
        del self._by_age[bisect_left(self._by_age, one.by_age)]
        self._leases.pop(id, None)
        for skipped in self._skips.values():
            skipped.pop(id, None)
        return one

    # -- looking -----------------------------------------------------------------------------------

    @property
    def oldest(self) -> OpenRequest | None:
        """The request that has been open longest."""
        return self.requests[self._by_age[0][2]] if self._by_age else None

    def due(self, since: float) -> Iterator[str]:
        """The ids of requests that were asked for at this time or before."""
        for at, _, id in self._by_age[: bisect_right(self._by_age, (since, inf, ""))]:
            assert at <= since
            yield id

    def listed(
        self,
        order: RequestOrder,
        after: str | None,
        limit: int,
        labeller: str | None,
        held: Callable[[Lease | None], bool] | None = None,
    ) -> list[OpenRequest]:
        """Open requests in an order, behind the cursor `after`; `held` says of which leases, or of all."""
        places = self._by_worth if order == "worth" else self._by_age
        start = 0 if after is None else bisect_right(places, read_cursor(after, self.key))
        found: list[OpenRequest] = []
        for _, _, id in places[start:] if start else places:
            one = self.requests[id]
            if _may_answer(one, labeller) and (held is None or held(self.lease(id))):
                found.append(one)
                if len(found) == limit:
                    break
        return found

    def lease(self, id: str) -> Lease | None:
        """Who holds a request now."""
        lease = self._leases.get(id)
        if lease is not None and lease.until <= self._steady():
            del self._leases[id]
            return None
        return lease

    @property
    def holders(self) -> set[str]:
        """Everybody who holds a request now."""
        return {lease.by for id in list(self._leases) if (lease := self.lease(id)) is not None}

    # -- people ------------------------------------------------------------------------------------

    def next(self, by: str, labeller: str | None, *, skipped: bool = False) -> OpenRequest | Nothing:
        """What this person holds; or the first by worth that nobody holds and that they did not skip."""
        if not self.requests:
            return Nothing("none_open")
        mine = self._skips.get(by, {})
        for id, lease in list(self._leases.items()):  # what they hold already
            if (
                lease.by == by
                and self.lease(id)
                and id not in mine
                and _may_answer(self.requests[id], labeller)
            ):
                return self.requests[id]
        held, passed = list[Lease](), 0
        for _, _, id in self._by_worth:
            one, held_by = self.requests[id], self.lease(id)
            if not _may_answer(one, labeller):
                continue
            if held_by is not None and held_by.by != by:
                held.append(held_by)
            elif id in mine:
                passed += 1
            else:
                return one
        if passed and skipped:
            return self._skipped_first(by, labeller)
        if passed:
            return Nothing("all_skipped")
        return Nothing("all_held", tuple(held)) if held else Nothing("not_for_you")

    def _skipped_first(self, by: str, labeller: str | None) -> OpenRequest | Nothing:
        for id in self._skips[by]:
            one, lease = self.requests[id], self.lease(id)
            if _may_answer(one, labeller) and (lease is None or lease.by == by):
                return one
        return Nothing("all_skipped")

    def hold(self, id: str, by: str, seconds: float) -> Lease:
        """Give somebody a request for some seconds."""
        lease = self._leases[id] = Lease(by, self._steady() + seconds)
        return lease

    def release(self, id: str, by: str) -> None:
        """Give a request back; one that somebody else holds stays theirs."""
        lease = self.lease(id)
        if lease is not None and lease.by == by:
            del self._leases[id]

    def skip(self, id: str, by: str) -> None:
        """Not this one, for this person."""
        skipped = self._skips.setdefault(by, {})
        skipped.pop(id, None)
        skipped[id] = None
        self.release(id, by)


def rank_of(decision: Decision, key: bytes = b"") -> float:
    """What a request is worth beside others.

    That is what the label would save, where the rule says so; else by how much the uncertainty is above the
    threshold. Labels drawn by lot are placed among those that are worth their cost, so that nobody can tell
    them from their place; that place is drawn with a key, as anybody could work it out from the id. What a
    person or the warm-up asked for comes first.
    """
    if decision.reason in BY_LOT:
        hashed = blake2b(decision.id.encode(errors="replace"), digest_size=4, key=key)
        lot = int.from_bytes(hashed.digest(), "big")
        return decision.cost * (1.0 + lot / 2**32)
    if decision.by != "rule":
        return inf
    if decision.worth is not None:
        return decision.worth
    if isnan(decision.threshold) or decision.threshold <= 0.0:
        return decision.uncertainty
    return decision.cost * decision.uncertainty / decision.threshold


def cursor_of(one: OpenRequest, order: RequestOrder, key: bytes = b"") -> str:
    """Where the next page begins. What a request is worth is in it, so only who has the key can read it.

    >>> read_cursor(cursor_of(OpenRequest("a b", 2.0, 0.0, 7, None), "worth", b"key"), b"key")
    (-2.0, 7, 'a b')
    """
    place = one.by_worth if order == "worth" else one.by_age
    plain = f"{place[0]!r} {place[1]} {place[2]}".encode(errors="surrogatepass")
    mark = _mark_of(plain, key)
    return urlsafe_b64encode(mark + _masked(plain, mark, key)).decode()


def read_cursor(text: str, key: bytes = b"") -> tuple[float, int, str]:
    """The place that a cursor names."""
    try:
        content = urlsafe_b64decode(text.encode("ascii"))
        mark, hidden = content[:MARK_BYTES], content[MARK_BYTES:]
        plain = _masked(hidden, mark, key)
        if not compare_digest(mark, _mark_of(plain, key)):
            raise ValueError("made with another key")
        first, number, id = plain.decode(errors="surrogatepass").split(" ", 2)
        return float(first), int(number), id
    except ValueError:
        expect.refuse("after", "what `next` of the page before said", text)


def _mark_of(plain: bytes, key: bytes) -> bytes:
    """What proves that a cursor was made here; it also makes the mask of every cursor another."""
    return blake2b(plain, digest_size=MARK_BYTES, key=key, person=b"cursor").digest()


def _masked(content: bytes, mark: bytes, key: bytes) -> bytes:
    """Bytes hidden, or shown again."""
    mask = shake_256(key + mark).digest(len(content))
    return bytes(one ^ other for one, other in zip(content, mask, strict=True))


def _may_answer(one: OpenRequest, labeller: str | None) -> bool:
    return labeller is None or one.labeller is None or one.labeller == labeller
