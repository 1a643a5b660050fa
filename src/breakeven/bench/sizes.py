"""How much is measured: as much as the targets are meant for, or just enough to see that all of it runs."""

from msgspec import Struct


class Sizes(Struct, frozen=True, kw_only=True):
    """The sizes of one run; targets hold only for the `full` ones.

    A Gaussian process has so many `labels` and `dims`; `stretch` arrivals in a row are timed together.
    """

    full: bool
    repeats: int
    rounds: int
    long_rounds: int
    batch: int
    peer_rounds: int
    labels: tuple[int, ...]
    dims: tuple[int, ...] = (2, 9)
    stretch: int
    arrivals: int
    exact_arrivals: int
    kept_labels: int
    imports: int
    fits: int


FULL = Sizes(
    full=True,
    repeats=9,
    rounds=100_000,
    long_rounds=10_000_000,
    batch=1_000_000,
    peer_rounds=2_000,
    labels=(100, 300, 1000, 3000),
    stretch=512,
    arrivals=1_000_000,
    exact_arrivals=20_000,
    kept_labels=4000,
    imports=20,
    fits=6,
)

QUICK = Sizes(
    full=False,
    repeats=2,
    rounds=2_000,
    long_rounds=200_000,
    batch=2_000,
    peer_rounds=20,
    labels=(30, 60, 120),
    stretch=64,
    arrivals=2_000,
    exact_arrivals=1_000,
    kept_labels=300,
    imports=1,
    fits=1,
)
