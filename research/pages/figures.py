"""Draw the pictures of the documentation: `make figures` writes them to docs/images."""

from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from breakeven import GaussianProcess, Learner, Prior, Value, files, simulate
from breakeven.cli.demo_command import EXAM_COST, patients
from breakeven.tables.cases import read_cases
from breakeven.tables.options import Options
from breakeven.tables.run import run
from breakeven_research.datasets import BRANIN, branin_stream
from pages.pictures import small

IMAGES = Path(__file__).parents[2] / "docs" / "images"

SPENT, MISSED, INK = "#2a6f97", "#a9d6e5", "#222222"
PRICE, ROUNDS, MOMENTS, STEPS = 100.0, 300, (20, 100), 61


def save(figure, name: str) -> None:
    """Put a picture among those of the documentation."""
    made = BytesIO()
    figure.savefig(made, format="png", metadata={"Software": None})
    files.write(IMAGES, f"{name}.png", small(made.getvalue()))


def draw_diabetes() -> None:
    """The running cost a patient, split into exams and errors, below that of examining everyone."""
    options = Options(label="score", cost=EXAM_COST)
    decisions = run(read_cases(patients(), options), options).decisions.collect()
    seen = np.arange(1, len(decisions) + 1)
    spend = EXAM_COST * decisions["wants_label"].to_numpy().cumsum() / seen
    loss = spend + decisions["error"].to_numpy().cumsum() / seen
    figure, axes = plt.subplots(figsize=(8.0, 3.6), dpi=160, layout="constrained")
    axes.fill_between(seen, 0, spend, color=SPENT, linewidth=0)
    axes.fill_between(seen, spend, loss, color=MISSED, linewidth=0)
    axes.plot(seen, loss, color=INK, linewidth=1.2)
    axes.axhline(EXAM_COST, color=INK, linewidth=1.2, linestyle=(0, (5, 3)))
    axes.text(seen[-1], EXAM_COST + 3, "examine everyone", ha="right", color=INK)
    axes.text(300, 8, "spent on exams", color="white", ha="center")
    axes.text(300, 40, "missed by predictions", color=INK, ha="center")
    axes.annotate(
        f"breakeven: {loss[-1]:.0f}",
        (seen[-1], loss[-1]),
        xytext=(seen[-1], loss[-1] + 5),
        ha="right",
        color=INK,
        fontweight="bold",
    )
    axes.set(xlim=(1, seen[-1]), ylim=(0, 120), xlabel="patients seen", ylabel="average cost a patient")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, "diabetes")


def draw_would_ask() -> None:
    """What a label would be worth anywhere on Branin, early and later in a stream."""
    stream, begun, asked = branin_stream(ROUNDS, seed=2), 0, np.empty((0, 2))
    belief = GaussianProcess(2, stream.noise_std, mean="fit", fit="growing", prior=Prior())
    learner = Learner(belief, Value(horizon=ROUNDS), label_cost=PRICE)
    figure, both = plt.subplots(1, 2, figsize=(8.0, 4.2), dpi=160, layout="constrained", sharey=True)
    for moment, axes in zip(MOMENTS, both, strict=True):
        points, labels = stream.points[begun:moment], stream.labels[begun:moment]
        asked = np.vstack([asked, points[simulate(learner, points, labels).wants_label]])
        draw_worths(axes, learner)
        axes.plot(*stream.points[:moment].T, ".", color=INK, markersize=4, label="arrived")
        axes.plot(*asked.T, "o", color=INK, markersize=8, markerfacecolor="none", label="labelled")
        axes.set(title=f"after {moment} arrivals, {len(asked)} of them labelled", xlabel="x₁")
        begun = moment
    both[0].set_ylabel("x₂")
    handles, words = both[0].get_legend_handles_labels()
    area = plt.Rectangle((0, 0), 1, 1, facecolor=MISSED, edgecolor=SPENT, hatch="////", linewidth=1.8)
    names = [*words, f"would ask here: worth more than the price, {PRICE:g}"]
    figure.legend([*handles, area], names, loc="outside lower center", ncols=3, frameon=False)
    save(figure, "would-ask")


def draw_worths(axes, learner: Learner) -> None:
    """Contours of what a label is worth, with the area hatched where that is more than its price."""
    across, up = (np.linspace(*ends, STEPS) for ends in zip(BRANIN.low, BRANIN.high, strict=True))
    worths = np.array([[worth(learner, (x, y)) for x in across] for y in up])
    plt.rcParams["hatch.color"] = SPENT
    axes.contourf(across, up, worths, [PRICE, np.inf], colors=[MISSED], hatches=["////"])
    axes.contour(across, up, worths, [PRICE], colors=[SPENT], linewidths=1.8)
    lines = axes.contour(
        across, up, worths, [PRICE / 8, PRICE / 4, PRICE / 2], colors=["#777777"], linewidths=0.8
    )
    axes.clabel(lines, fmt="%g", fontsize=8)


def worth(learner: Learner, x: tuple[float, float]) -> float:
    """What the label of a newcomer at x would save, without letting it come."""
    view = learner.belief.look(learner.belief.point(x))
    view.round, view.price = learner.rounds + 1, learner.label_cost
    return learner.rule.decide(view).worth


if __name__ == "__main__":
    draw_diabetes()
    draw_would_ask()
