"""How often a type will come, from how often it came: the posterior mean under a Chinese restaurant process.

Notation: of t arrivals M were of this type, and there were K types. The next is of this type with probability
M/(t + α), and of a new one with α/(t + α). The α at which K types are expected has α·log(1 + t/α) = K.
"""

from math import log, log1p, sqrt

STEPS = 5  # of Newton: the start is so near that four give all digits
NEARLY_ALL_NEW = 1.0 - 1e-6


def arrival_rate(arrivals: int, rounds: int, types: int) -> float:
    """The chance that the next arrival is of a type that came so often in so many rounds, one of so many.

    >>> round(arrival_rate(50, rounds=100, types=2), 3), arrival_rate(1, rounds=100, types=100)
    (0.498, 0.0)
    """
    u = familiarity(types / rounds)
    return arrivals / rounds * (u / (1.0 + u))


def familiarity(variety: float) -> float:
    """u = t/α, where r = K/t is the variety: the positive root of log(1 + u) = r·u, 0 at r = 1.

    >>> round(familiarity(log(2)), 12)
    1.0
    """
    if variety > NEARLY_ALL_NEW:
        return 2.0 * max(1.0 - variety, 0.0)  # to first order, which is all that rounding leaves
    s = variety - log(variety) - 1.0
    u = (1.0 + sqrt(2.0 * s) + s) / variety - 1.0  # above the root: Chatzigeorgiou (2013) on Lambert's W
    for _ in range(STEPS):
        u -= (variety * u - log1p(u)) / (variety - 1.0 / (1.0 + u))
    return u
