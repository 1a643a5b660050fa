"""What a label of a type would take off the expected error; docs/value.md derives it.

Notation: σ the noise of a label, W how many labels' worth is known, the prior's among them. A type's mean has
the std s = σ/√W, its expected error is √(2/π)·s, and no label says anything of another type's mean.
"""

from math import sqrt

from breakeven import theory
from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.beliefs.types.across import AcrossTypes
from breakeven.beliefs.types.labels import TypeLabels
from breakeven.beliefs.types.rates import arrival_rate
from breakeven.beliefs.types.tally import Tally
from breakeven.beliefs.types.weights import noise_weight
from breakeven.values import COMING, UNKNOWN, Saving

LEARNT = 2  # numbers learnt across types: their mean and their spread


def saving(labels: TypeLabels, across: AcrossTypes, tally: Tally, noise_std: float) -> Saving:
    """That of a label with this noise, for an arrival that is still to be counted in this tally."""
    prior, census = across.prior, labels.count()
    known = prior.worth + labels.asked_of(tally)
    if not known:
        return COMING if across.learns and census.asked >= ENOUGH_TO_FIT else UNKNOWN
    here = drop(prior.noise_std, known, noise_weight(prior.noise_std, noise_std))
    rounds, types = census.arrivals + 1, census.types + (tally.arrivals == 0)
    taught = 0.0
    if across.learns and not tally.asked:
        taught = lesson(max(census.asked, 1), prior.std, (census.overlooked + 1) / rounds)
    rate = arrival_rate(tally.arrivals + 1, rounds, types)
    # it falls with age as the weight of the label does, that of a process as the square of a covariance
    outright = distance(prior.noise_std, known, noise_std)
    return Saving(here, rate * here, taught, 2.0 * labels.half_life, outright)


def drop(noise_std: float, known: float, more: float) -> float:
    """How much the expected error falls by labels that weigh `more`, where so much is known.

    >>> round(drop(noise_std=1.0, known=1.0, more=3.0) / theory.EXPECTED_ERROR, 12)
    0.5
    """
    before, after = sqrt(known), sqrt(known + more)
    return theory.EXPECTED_ERROR * noise_std * more / (before * after * (before + after))


def distance(noise_std: float, known: float, own: float) -> float:
    """How far the prediction is from a label of its own noise, on average, where so much is known.

    >>> round(distance(noise_std=4.0, known=1.0, own=3.0) / theory.EXPECTED_ERROR, 12)
    5.0
    """
    std = noise_std / sqrt(known)
    return theory.EXPECTED_ERROR * sqrt(std * std + own * own)  # hypot has other bits when compiled


def lesson(types: int, spread: float, overlooked: float) -> float:
    """What a first label of another type takes off the error at an arrival to come, by what it teaches.

    So many types have labels, and a share of the arrivals is `overlooked`: of types that have none.

    >>> round(lesson(types=4, spread=1.0, overlooked=0.5) / theory.EXPECTED_ERROR, 12)
    0.025
    """
    share = LEARNT / (2.0 * types * (types + 1))
    return share * theory.EXPECTED_ERROR * spread * overlooked
