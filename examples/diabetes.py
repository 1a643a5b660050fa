"""442 diabetes patients arrive one by one. The label is a disease score a year later; an exam tells it today.

An exam is taken to cost as much as being wrong by 100 points of score. Run it with `make demo`.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from breakeven import GaussianProcess, Learner, Ledger, Threshold, simulate

EXAM = 100.0

HEADER = f"{'':22}{'exams':>8}{'spent':>10}{'missed':>10}{'total':>10}{'a patient':>11}"


def row(name: str, bill: Ledger) -> str:
    """One line of the table."""
    numbers = (
        f"{bill.labels:>8,}{bill.label_spend:>10,.0f}{bill.prediction_error:>10,.0f}{bill.total_loss:>10,.0f}"
    )
    return f"{name:22}{numbers}{bill.average_loss:>11,.1f}"


def stream() -> tuple[Learner, Ledger, Ledger]:
    """Run the patients through a learner; the learner afterwards, its bill, and that of never examining."""
    patients, scores = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(scores))
    # noise, mean and kernel are fitted to the first 50 patients, and again as labels grow
    belief = GaussianProcess(dim=10, noise_std=None, mean="fit", fit="growing")
    learner = Learner(belief, Threshold(), label_cost=EXAM, warmup=50)
    ours = simulate(learner, patients[order], scores[order]).ledger
    error = float(np.abs(scores - scores.mean()).sum())
    return learner, ours, Ledger(rounds=len(scores), prediction_error=error, scored="labels")


def main() -> None:
    """Stream the patients, print the bill."""
    learner, ours, nobody = stream()
    n = ours.rounds
    everyone = Ledger(rounds=n, labels=n, label_spend=n * EXAM, prediction_error=0.0, scored="labels")

    print(f"{n} diabetes patients; an exam costs as much as a prediction that is {EXAM:.0f} points off\n")
    print(HEADER)
    print(row("examine everyone", everyone))
    print(row("examine nobody *", nobody))
    print(row("breakeven", ours))
    saved = everyone.total_loss - ours.total_loss
    print(f"\nsaved against examining everyone: {saved:,.0f} ({saved / everyone.total_loss:.0%})")
    print("* and predict the average of all scores, which is known only afterwards")
    print(f"Scores are noisy: perfect predictions would be about {ours.noise_floor:,.0f} off, too.")
    print(f"\nThe next patient, average in everything. {learner.decide([0.0] * 10).why}")


if __name__ == "__main__":
    main()
