"""Views made by hand, for rules without a learner."""

from math import inf

from breakeven.rules import Draws
from breakeven.values import Offer, Prediction, Traits, View

TYPES = Traits(noise_std=0.1, exponent=1 / 3, unit=1.0, prior_std=inf)


def view(uncertainty=1.0, *, round=1, price=1.0, cost=None, awaited=0, offers=(), draw=None):
    return View(
        uncertainty,
        Prediction(0.0, 1.0, 0.1),
        arrivals=1,
        labels=1,
        traits=TYPES,
        round=round,
        price=price,
        draw=draw or Draws(3),
        offers=offers,
        cost=price if cost is None else cost,
        awaited=awaited,
    )


NURSE, MRI = Offer(2.0, 3.0, "nurse", 2.0), Offer(50.0, 0.5, "mri", 50.0)
