"""What the paper shows, as data: end points of its curves, and why ours differ where they do.

The discrete numbers were computed again from the published settings; the others are read off the figures by
eye, so their last digit is a guess.
"""

from typing import NamedTuple


class EndPoint(NamedTuple):
    """An average loss at the end of a curve; `at_least` where the curve leaves the plot there."""

    panel: str
    method: str
    loss: float
    by_eye: bool = True
    at_least: bool = False


ALGORITHM_1 = {
    "discrete-k10-uniform-b10": (2.288, 0.425),
    "discrete-k10-uniform-b100": (19.31, 3.457),
    "discrete-k10-lopsided-b10": (2.281, 0.342),
    "discrete-k10-lopsided-b100": (19.28, 2.773),
    "discrete-k100-uniform-b10": (1.430, 0.181),
    "discrete-k100-uniform-b100": (22.01, 1.081),
    "discrete-k100-lopsided-b10": (1.395, 0.199),
    "discrete-k100-lopsided-b100": (30.27, 1.846),
}  # the average loss of Algorithm 1 by the figures' settings and, at the same scales, by the text's

METHODS = ("Algorithm 2", "Random Select", "VAR-UNCERTAINTY", "Naive Algorithm 1", "Label all")
BY_EYE = {
    "branin-b100": (17.0, 59.0, 76.0, 57.0, 102.0),
    "hartmann-b100": (13.0, 56.0, 59.0, 23.0, 100.0),
    "parkinsons-uniform-b10": (7.3, 10.0, 14.2, 11.1, 10.8),
    "parkinsons-lopsided-b100": (48.0, 66.0, 63.0, 32.0, 101.0),
    "supernova-b10": (8.0, 15.0, 32.0, 60.0, 14.0),
}
OFF_THE_PLOT = {("supernova-b10", "Naive Algorithm 1")}


def end_points() -> list[EndPoint]:
    """All that is known of the published curves' ends.

    >>> len(end_points())
    45
    """
    discrete = [EndPoint(panel, "Algorithm 1", loss, False) for panel, (loss, _) in ALGORITHM_1.items()]
    at_100 = [panel for panel in ALGORITHM_1 if panel.endswith("b100")]
    discrete += [EndPoint(panel, "VAR-UNCERTAINTY", 36.96, False) for panel in at_100]
    discrete += [EndPoint(panel, "Random Select", 50.0, False) for panel in at_100]
    discrete += [EndPoint(panel, "Label all", 100.0, False) for panel in at_100]
    smooth = [
        EndPoint(panel, method, loss, at_least=(panel, method) in OFF_THE_PLOT)
        for panel, losses in BY_EYE.items()
        for method, loss in zip(METHODS, losses, strict=True)
    ]
    return discrete + smooth


WHY = {
    ("hartmann-b100", "Algorithm 2"): (
        "which optimum a fit falls into decides whether a trial buys 30 labels or 120, so ten trials are luck"
    ),
    ("supernova-b10", "VAR-UNCERTAINTY"): (
        "the code behind this line is not public; without a warm-up three trials of the same reading gave 62 "
        "to 72, so the published line lies between the two"
    ),
}

RECIPES_DIFFER = (
    "Threshold of Algorithm 1: the text divides the price by the arrivals of the type, the figures by all "
    "rounds; at the same λ the text's rule buys far fewer labels.",
    "VAR-UNCERTAINTY: the text halves and doubles θ, the discrete figures halve it or take it times 1.5, and "
    "on Gaussian processes the published level fits θ times 1.5 in every round; every reading is tabled.",
    "Ablations: the text says that a small λ labels less, the rule says that it labels more, and it does.",
    "The threshold of the experiments prints C where the round t is meant.",
    "Random at 0.5 is said to work best; once labels are paid for, another probability mostly costs far "
    "less: the captions name the best of a grid.",
    "λ is said to be tuned on held-out data; the published grids were run on the reported streams.",
    "Kernel parameters are said to be fitted after 5d labels; the figures refit at every label, from "
    "lengthscales of 1e-2 and 1e2 in turn within 1e-5 and 1e5, which at times ends in a poor optimum. Fitted "
    "once, as the text says, a kernel that ignores an axis is never mended.",
    "Supernova points are said to be three constants of the universe; the figures feed each data row "
    "(z, μ, error) in their place, so losses of the two recipes cannot be compared.",
    "Hartmann's rarer arrivals reach to x₁ = 1 in the text and to 0.8 in the figures.",
    "The naive cells halve the domain in the text; on real data the figures ask whether x < 0.5, so that "
    "most axes are not halved at all. The published losses of the naive algorithm contain 5d first labels, "
    "which the text asks of the Gaussian processes only.",
    "Published bands divide by √10 also for five trials; ours use the true number of trials.",
    "The figures hold a line for labelling everything that the text does not list.",
)
