"""The first labels, which are all bought so that the belief can be fitted to them."""

import msgspec


class Warmup(msgspec.Struct):
    """How many first labels are wanted, asked for (and not withdrawn), and told.

    Once the last of them is told, the warm-up is over for good.
    """

    wanted: int
    asked: int = 0
    told: int = 0

    @property
    def over(self) -> bool:
        """Whether all its labels are told."""
        return self.told == self.wanted

    @property
    def open(self) -> bool:
        """Whether the next arrival is labelled whatever the rule says."""
        return self.asked < self.wanted

    @property
    def left(self) -> int:
        """Labels still to be told."""
        return self.wanted - self.told

    def ask(self) -> bool:
        """A label is asked for; whether it is one of the warm-up's."""
        mine = self.open
        self.asked += mine
        return mine

    def tell(self) -> None:
        """One of its labels came."""
        self.told += 1

    def withdraw(self, *, told: bool) -> None:
        """One of its labels goes; the next arrival takes its place, unless all were told already."""
        if not self.over:
            self.asked -= 1
            self.told -= told

    def reopen(self) -> None:
        """One of its labels, told by mistake, is awaited again; a warm-up that is over stays over."""
        if not self.over:
            self.told -= 1
