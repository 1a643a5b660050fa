"""An even sample of a stream, of bounded size, without a random draw.

Every arrival has a mark, a multiple of the golden ratio modulo 1: marks fill [0, 1) evenly and follow no
period of the stream. An arrival is kept if its mark is below a share, which is halved when too many are kept.
"""

from typing import Any

GOLDEN_TURN, FULL_TURN = (
    0x9E3779B97F4A7C15,
    1 << 64,
)  # the golden ratio's part of a turn, and one, as integers


class EvenSample:
    """Which arrivals are kept, `most` at most.

    >>> sample = EvenSample(4)
    >>> kept = []
    >>> for i in range(10):
    ...     if sample.admits():
    ...         kept.append(i)
    ...         kept = [kept[j] for j in sample.add()]
    >>> kept
    [0, 2, 5]
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.seen = 0
        self.share = FULL_TURN
        self.marks: list[int] = []

    @property
    def size(self) -> int:
        """How many are kept."""
        return len(self.marks)

    def admits(self) -> bool:
        """Count an arrival, and say whether it is to be added."""
        mark = self.seen * GOLDEN_TURN % FULL_TURN
        self.seen += 1
        return mark < self.share

    def add(self) -> list[int]:
        """Keep the arrival just admitted. Returns the places, among all with it, of those that stay."""
        self.marks.append((self.seen - 1) * GOLDEN_TURN % FULL_TURN)
        stay = list(range(self.size))
        while len(stay) > self.most:
            self.share //= 2
            stay = [i for i in stay if self.marks[i] < self.share]
        self.marks = [self.marks[i] for i in stay]
        return stay

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "most": self.most,
            "seen": self.seen,
            "share": self.share.bit_length(),
            "marks": list(self.marks),
        }

    @staticmethod
    def of(data: dict[str, Any]) -> "EvenSample":
        """From what `plain` wrote; raises where its parts do not fit together."""
        marks = data["marks"]
        if type(marks) is not list or not 0 < data["share"] <= FULL_TURN.bit_length():
            raise ValueError("expected marks, and a share of all")
        sample = EvenSample(data["most"])
        sample.seen, sample.share, sample.marks = data["seen"], 1 << (data["share"] - 1), list(marks)
        return sample
