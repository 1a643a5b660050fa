"""A test of a belief's own claims that may be looked at after every label, for ever.

Notation: u_j is where the j-th label fell among all that the belief thought possible, from 0 to 1: uniform,
given the past, if the belief is right. b_i are Beta densities, which integrate to 1. After j labels the part
r_j = 1/√(j+1) of the money has not begun to bet, so w_j = r_j−1 − r_j of it begins with the j-th. All bets
together have won V_i,j = (V_i,j−1 + w_j)·b_i(u_j), and E_j = mean over i of V_i,j + r_j never grows on
average: see docs/trust.md. Beside that runs a suspicion that promises nothing and only says how hard to look:
a bettor with ¼ who forgets what he lost, S_i,j = max(S_i,j−1, ¼)·b_i(u_j), on labels too far out alone.
"""

from math import exp, lgamma, log, log1p, sqrt

from msgspec import Struct

FALSE_ALARMS = 0.05  # α: the share of streams that may be alarmed wrongly, ever
CLIPPED = 1e-6  # u stays this far from 0 and 1, which only lowers E
BETA_SHAPES = ((0.3, 0.3), (0.5, 0.5), (0.7, 0.7), (1.5, 0.6), (0.6, 1.5), (3.0, 1.0), (1.0, 3.0))
FAR_OUT = 3  # of these shapes, the first: they win where labels lie too far out, on either side
SUSPECTED_AT_LEAST = 0.25  # so that a label must win four times its stake before coins fall more often
_LOG_SCALES = tuple(lgamma(a + b) - lgamma(a) - lgamma(b) for a, b in BETA_SHAPES)


def beta_densities(u: float) -> tuple[float, ...]:
    """The densities of `BETA_SHAPES` at u: where labels lie too far out, then too far to one side.

    >>> [round(one, 2) for one in beta_densities(0.5)]
    [0.44, 0.64, 0.8, 0.74, 0.74, 0.75, 0.75]
    """
    below, above = log(u), log1p(-u)
    return tuple(
        exp(scale + (a - 1.0) * below + (b - 1.0) * above)
        for (a, b), scale in zip(BETA_SHAPES, _LOG_SCALES, strict=True)
    )


def waiting(tests: int) -> float:
    """The part of the money that has not begun to bet after so many labels.

    >>> waiting(0), waiting(15)
    (1.0, 0.25)
    """
    return 1.0 / sqrt(1.0 + tests)


class SelfTest(Struct, frozen=True):
    """The k-th test of a belief: what `tests` labels have won against it since the last alarm.

    The k-th test spends α/(k(k+1)) of the α there is for all of them. `squares` sums up u as squared normal
    deviations: 1 a label if the belief is right. `lately` is what a bettor has who forgets what he lost.

    >>> test = SelfTest()
    >>> test.evidence, test.limit
    (1.0, 40.0)
    >>> for _ in range(6):
    ...     test = test.plus(0.999)
    >>> test.refutes, test.next().limit
    (True, 120.0)
    """

    process: int = 1
    tests: int = 0
    won: tuple[float, ...] = (0.0,) * len(BETA_SHAPES)
    squares: float = 0.0
    lately: tuple[float, ...] = (SUSPECTED_AT_LEAST,) * FAR_OUT

    def __post_init__(self) -> None:
        if self.process < 1 or self.tests < 0 or not self.squares >= 0.0:
            raise ValueError("expected counts")
        if len(self.won) != len(BETA_SHAPES) or len(self.lately) != FAR_OUT:
            raise ValueError("expected what was won with each density")

    @property
    def evidence(self) -> float:
        """E: how many times as much as at the start a bettor against the belief has by now."""
        return sum(self.won) / len(self.won) + waiting(self.tests)

    @property
    def suspicion(self) -> float:
        """How much labels lately lie further out than was claimed; a number to look harder by, no proof."""
        return sum(self.lately) / len(self.lately)

    @property
    def limit(self) -> float:
        """The evidence at which the belief is refuted: 1 over the α that this test may spend."""
        return self.process * (self.process + 1.0) / FALSE_ALARMS

    @property
    def refutes(self) -> bool:
        """Whether the evidence is that large."""
        return self.evidence >= self.limit

    @property
    def spread(self) -> float:
        """How far labels fell from their predictions, as a multiple of what was claimed; 1 without labels."""
        return sqrt(self.squares / self.tests) if self.tests else 1.0

    def plus(self, u: float) -> "SelfTest":
        """The same after one more label."""
        from statistics import NormalDist  # slow to import, needed only where beliefs are checked

        u = min(max(u, CLIPPED), 1.0 - CLIPPED)
        tests, densities = self.tests + 1, beta_densities(u)
        begins = waiting(self.tests) - waiting(tests)
        won = tuple((one + begins) * b for one, b in zip(self.won, densities, strict=True))
        stakes = [max(one, SUSPECTED_AT_LEAST) for one in self.lately]
        lately = tuple(stake * b for stake, b in zip(stakes, densities[:FAR_OUT], strict=True))
        squares = self.squares + NormalDist().inv_cdf(u) ** 2
        return SelfTest(self.process, tests, won, squares, lately)

    def next(self) -> "SelfTest":
        """The test that begins after an alarm."""
        return SelfTest(self.process + 1)
