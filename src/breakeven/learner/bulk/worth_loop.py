"""The compiled loops of `Value` and of labels told, with the formulas of their belief.

How often a type will come takes logarithms, but it is never less than 0 nor more than its share of arrivals.
What a label is worth grows with it, rounding included, so most decisions are clear without them.
"""

from math import inf, nan, sqrt

from breakeven.beliefs.belief import ENOUGH_TO_FIT
from breakeven.beliefs.types import type_savings, weighing
from breakeven.errors.expect import Array
from breakeven.learner.bulk.arrays import (
    FINISHED,
    NEEDS_FIT,
    NEEDS_GUESS,
    NEEDS_PARTS,
    NEEDS_SPREADS,
    NEW_TYPE,
    UNSEEN,
    Answers,
    Before,
    Codes,
    Counts,
    LabelArrays,
    PriorTerms,
    TypeArrays,
    ValueTerms,
)
from breakeven.learner.bulk.loops import add, code_at, compiled

ARRIVALS, TYPES, ASKED, TOLD, OVERLOOKED = range(5)  # the places of a `Census`

# they become part of `decide`, which is compiled again only after a change in this file
familiarity = compiled(type_savings.familiarity)
drop = compiled(type_savings.drop)
distance = compiled(type_savings.distance)
lesson = compiled(type_savings.lesson)
posterior_mean = compiled(weighing.posterior_mean)


@compiled
def tell(
    codes: Counts, y: Array, start: int, types: TypeArrays, space: Array, noise_std: float,
    prior: PriorTerms, census: Counts, means: Array, stds: Array,
) -> tuple[int, int]:  # fmt: skip
    """Labels of types in their order, from `start` on: how far it came, and why it stopped.

    It says how the type of each is predicted after its label; it stops where a prior is to be learnt.
    """
    _, _, known, mean, parts = types
    prior_mean, _, prior_worth, _, _, due_at = prior
    for i in range(start, len(codes)):
        k = codes[i]
        if not add(parts, k, y[i], space):
            return i, NEEDS_PARTS
        known[k] += 1.0
        mean[k] = posterior_mean(parts[k, 0] / known[k], known[k], prior_mean, prior_worth)
        means[i], stds[i] = mean[k], noise_std / sqrt(prior_worth + known[k])
        census[TOLD] += known[k] == 1.0
        if census[TOLD] >= due_at:
            return i + 1, NEEDS_FIT
    return len(codes), FINISHED


@compiled
def decide(
    values: Counts, low: int, lookup: Codes | None, told: LabelArrays | None, types: TypeArrays, labels: int,
    noise_std: float, spreads: Array, first: int | None, space: Array, out: Answers, before: Before | None,
    terms: ValueTerms, prior: PriorTerms, census: Counts,
) -> tuple[int, int, int]:  # fmt: skip
    """Label what is worth more than its price: rounds done, labels there are now, and why it stopped.

    Labels that are not `told` are awaited. Spreads are as in `loops.decide`.
    """
    arrivals, asked, known, mean, parts = types
    wants_label, prediction, uncertainty, threshold = out
    passed, horizon, expected, prices, lessons, outright = terms
    prior_mean, prior_std, prior_worth, learns, unknown, due_at = prior
    stale = False
    if first is not None:
        spread = spreads[max(labels - first, 0)]
    if told is not None:
        y, true = told
    if before is not None:
        prediction_before, std_before, worth_before, now_before = before
    for i in range(len(values)):
        k = code_at(values, i, low, lookup)
        if k == UNSEEN:
            return i, labels, NEW_TYPE
        if stale and known[k] == 0.0:
            return i, labels, NEEDS_GUESS
        round, clock = passed + i + 1, arrivals[k] + 1
        left = max(round, expected - round) if round > horizon else horizon - round
        weight, price = prior_worth + asked[k], prices[i]
        if weight == 0.0:
            worth = 0.0 if learns and census[ASKED] >= ENOUGH_TO_FIT else inf
            now = worth
        else:
            here, rounds, taught = drop(noise_std, weight, 1.0), census[ARRIVALS] + 1, 0.0
            if lessons and learns and asked[k] == 0.0:
                taught = lesson(max(census[ASKED], 1), prior_std, (census[OVERLOOKED] + 1) / rounds)
            share, now = clock / rounds, distance(noise_std, weight, noise_std) if outright else here
            worth = now + left * (share * here + taught)
            if before is not None or now <= price < worth:
                u = familiarity((census[TYPES] + (clock == 1)) / rounds)
                worth = now + left * (share * (u / (1.0 + u)) * here + taught)
        if first is None:
            if asked[k] >= len(spreads):
                return i, labels, NEEDS_SPREADS
            spread = spreads[int(asked[k])]
        radius, answer, wanted, due = sqrt(spread / asked[k]), mean[k], worth > price, False
        if before is not None:
            prediction_before[i], worth_before[i], now_before[i] = answer, worth, now
            std_before[i] = noise_std / sqrt(prior_worth + known[k]) if known[k] else prior_std
        if wanted:
            if first is not None and labels + 1 - first >= len(spreads):
                return i, labels, NEEDS_SPREADS
            if told is not None:
                if not add(parts, k, y[i], space):
                    return i, labels, NEEDS_PARTS
                known[k] += 1
                mean[k] = posterior_mean(parts[k, 0] / known[k], known[k], prior_mean, prior_worth)
                answer = mean[k] if true else y[i]
                census[TOLD] += known[k] == 1.0
                stale, due = unknown, census[TOLD] >= due_at
            labels += 1
            if first is not None:
                spread = spreads[labels - first]
            if asked[k] == 0.0:
                census[ASKED] += 1
                census[OVERLOOKED] -= arrivals[k]
            asked[k] += 1
        elif asked[k] == 0.0:
            census[OVERLOOKED] += 1
        census[ARRIVALS] += 1
        census[TYPES] += clock == 1
        arrivals[k] = clock
        wants_label[i] = wanted
        prediction[i] = answer
        uncertainty[i] = radius
        threshold[i] = nan
        if due:
            return i + 1, labels, NEEDS_FIT
    return len(values), labels, FINISHED
