"""What a yes/no label of a type would take off the expected cost of answers, now and at arrivals to come.

docs/yes-no.md derives it. Everything is in units of error: a miss counts `miss` = 2τ, a false alarm `alarm` =
2(1 − τ), and a label has a price B.

Notation: q the probability of a yes, where as much is known as `yes` and `no` labels say; l(q) = min(miss·q,
alarm·(1 − q)) what the better answer costs on average, and g(q) = min(B, l(q)) what an arrival to come costs,
as it may be labelled itself. j labels lead to q' with the mean q: they save g(q) − E g(q') at each arrival.
"""

from functools import lru_cache
from math import inf, lgamma

import numpy as np

from breakeven.beliefs.types.type_savings import half_lives
from breakeven.errors.expect import Array
from breakeven.values import Saving

FEWEST_AHEAD, MOST_AHEAD = 16, 2048  # labels looked ahead: as many as are known, times 4, within these
AHEAD_A_LABEL = 4.0
BOUGHT_OF_PLANNED = 1.0 / 3.0  # a plan is dropped once it no longer pays; docs/yes-no.md has the measurement
FURTHEST_STDS, FURTHEST_TAIL = 8.0, 30.0  # from the mean: what lies beyond has no digit left in a sum


class Stakes(Saving, frozen=True, gc=False):
    """What a label of a type saves: at once the expected cost of its answer, later what it changes.

    `yes` and `no` are what is known of the type, `awaited` labels included in `ahead` of this one. `rate` is
    the chance that an arrival to come is of this type. What is known of types at large, `all_yes` and
    `all_no`, answers for the part `others` of arrivals to come whose type has no label.
    """

    yes: float = 0.5
    no: float = 0.5
    ahead: int = 0
    rate: float = 0.0
    all_yes: float = 0.5
    all_no: float = 0.5
    others: float = 0.0
    miss: float = 1.0
    alarm: float = 1.0
    weight: float = 1.0  # of the label, beside one that is right

    def over(self, left: int, *, lessons: bool, labels: bool = False, price: float = inf) -> float:
        """What the label takes off the cost of all arrivals `left`, where each may be labelled at this price.

        Two labels may pay together where one alone changes no answer: so this is the most that any number of
        labels saves, divided by how many of them are bought, as buying ends when it no longer pays.
        """
        lasting = float(left) if self.half_life == inf else half_lives(self.half_life, left)
        costs = self.miss, self.alarm, price
        own = each_of_several(self.yes, self.no, self.ahead, *costs, lasting * self.rate)
        if not (lessons and self.others):
            return self.weight * own
        return self.weight * own + self.weight * each_of_several(
            self.all_yes, self.all_no, 0, *costs, lasting * self.others
        )


def each_of_several(
    yes: float, no: float, ahead: int, miss: float, alarm: float, price: float, arrivals: float
) -> float:
    """The most that each of several labels saves at this many arrivals to come, those labelled left out.

    >>> one = each_of_several(0.5, 20.5, 0, miss=1.0, alarm=1.0, price=0.2, arrivals=1000.0)
    >>> 0.0 < one < 1000.0 * 0.5 / 21.0
    True
    """
    counts, gains = gains_ahead(yes, no, ahead, miss, alarm, price)
    served, bought = np.maximum(arrivals + 1.0 - counts, 0.0), np.maximum(BOUGHT_OF_PLANNED * counts, 1.0)
    return float(np.max(served * gains / bought))


@lru_cache(maxsize=1 << 14)
def gains_ahead(
    yes: float, no: float, ahead: int, miss: float, alarm: float, price: float
) -> tuple[Array, Array]:
    """Numbers of labels, and what each number saves at an arrival, beyond the `ahead` awaited ones."""
    most = min(max(FEWEST_AHEAD, AHEAD_A_LABEL * (yes + no)), MOST_AHEAD)
    counts = np.unique(np.append([0.0, 1.0, 2.0, 3.0, 4.0, 6.0], np.geomspace(8.0, most, 8).round()))
    costs = expected_costs(yes, no, ahead + counts, miss, alarm, price)
    return counts[1:], np.maximum(costs[0] - costs[1:], 0.0)  # never negative, but for rounding


def expected_costs(yes: float, no: float, counts: Array, miss: float, alarm: float, price: float) -> Array:
    """E g(q') after each of these numbers of labels, of which a Beta-binomial number say yes.

    >>> expected_costs(1.0, 1.0, np.array([0.0, 1.0]), miss=1.0, alarm=1.0, price=9.0).round(12).tolist()
    [0.5, 0.333333333333]
    """
    told, chances = beta_binomial(yes, no, counts)
    q = (yes + told) / (yes + no + counts[:, None])
    cost = np.minimum(price, np.minimum(miss * q, alarm * (1.0 - q)))
    return np.asarray((chances * cost).sum(axis=1))


def beta_binomial(yes: float, no: float, counts: Array) -> tuple[Array, Array]:
    """How many labels may say yes, out of each of these numbers of labels, and how likely that is, in rows.

    `yes` and `no` are what is known, as numbers of labels that say so. The next to impossible is left out;
    rows that are too short end in chances of 0.

    >>> told, chances = beta_binomial(1.0, 1.0, np.array([1.0, 3.0]))
    >>> chances.round(12).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]]
    """
    known, labels = yes + no, counts[:, None]
    mean = counts * (yes / known)
    stds = np.sqrt(mean * (no / known) * (known + counts) / (known + 1.0))
    reach = FURTHEST_STDS * stds + FURTHEST_TAIL * (1.0 + counts / known)  # tails may fall like exponentials
    low, high = np.maximum(np.floor(mean - reach), 0.0), np.minimum(np.ceil(mean + reach), counts)
    told = low[:, None] + np.arange(float(np.max(high - low)) + 1.0)
    first = [_log_chance(yes, no, n, k) for n, k in zip(counts.tolist(), low.tolist(), strict=True)]
    some = np.maximum(labels, 1.0)
    k = np.minimum(told[:, :-1], some - 1.0)  # beyond all labels nothing follows
    steps = np.log((some - k) * (yes + k) / ((k + 1.0) * (no + some - k - 1.0)))
    chances = np.empty_like(told)
    chances[:, 0], chances[:, 1:] = first, steps
    np.cumsum(chances, axis=1, out=chances)
    return told, np.exp(np.where(told <= high[:, None], chances, -inf))


def _log_chance(yes: float, no: float, labels: float, told: float) -> float:
    """The logarithm of the chance that `told` of the `labels` say yes."""
    ways = lgamma(labels + 1.0) - lgamma(told + 1.0) - lgamma(labels - told + 1.0)
    ours = lgamma(yes + told) - lgamma(yes) + lgamma(no + labels - told) - lgamma(no)
    return ways + ours + lgamma(yes + no) - lgamma(yes + no + labels)
