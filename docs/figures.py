"""Draw the pictures of the documentation: `python docs/figures.py` writes them to docs/images."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "examples"))

import diabetes  # noqa: E402  (found only now)

SPENT, MISSED, INK = "#2a6f97", "#a9d6e5", "#222222"


def draw_diabetes() -> None:
    """The running cost a patient, split into exams and errors, below that of examining everyone."""
    ledger = diabetes.stream()[1]
    seen = np.arange(1, ledger.rounds + 1)
    spend, loss = ledger.running_average_spend, ledger.running_average_loss
    figure, axes = plt.subplots(figsize=(8.0, 3.6), dpi=160, layout="constrained")
    axes.fill_between(seen, 0, spend, color=SPENT, linewidth=0)
    axes.fill_between(seen, spend, loss, color=MISSED, linewidth=0)
    axes.plot(seen, loss, color=INK, linewidth=1.2)
    axes.axhline(diabetes.EXAM, color=INK, linewidth=1.2, linestyle=(0, (5, 3)))
    axes.text(seen[-1], diabetes.EXAM + 3, "examine everyone", ha="right", color=INK)
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
    figure.savefig(HERE / "images" / "diabetes.png", metadata={"Software": None})


if __name__ == "__main__":
    draw_diabetes()
