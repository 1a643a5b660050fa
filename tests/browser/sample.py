"""A bill as a real stream gives it: 20,000 patients at 5 an exam, every chart at its full 5,000 points."""

import numpy as np

from breakeven.values.bill import Bill, BillRow, Sweep
from breakeven.values.exhibit import Chart, Figure, Line, Note, Section, Table

ARRIVALS, POINTS, PRICE = 20_000, 5_000, 5.0
CONFIGURATION = """from breakeven import GaussianProcess, Learner, Value

learner = Learner(
    GaussianProcess(8, noise_std=None, mean="fit", fit="growing", capacity="auto"),
    Value(horizon=20_000),
    label_cost=5.0,
    error_cost=1.0,
)
"""


def row(name, labels, mean_error, **ends):
    spend, everyone = PRICE * labels, PRICE * ARRIVALS
    total = spend + mean_error * ARRIVALS
    given = {"labels": labels, "spend": spend, "mean_error": mean_error, "total": total}
    return BillRow(name=name, saved=everyone - total, **given, **ends)


def sample_bill(title="patients.csv: 20,000 arrivals, 5 a label", rule="Value"):
    rows = [
        row("label everyone", ARRIVALS, 0.0),
        row("never", 0, 6.914),
        row(rule, 3118, 1.9723, low=53_900.0, high=56_310.0),
        row("Threshold", 4402, 1.8911, low=58_800.0, high=60_950.0),
        row("VariableUncertainty", 3121, 2.2719, low=59_900.0, high=62_150.0),
        row("Random, at equal spend", 3118, 2.6105, low=66_000.0, high=69_700.0),
    ]
    sections = [over_time(rule), buying(), predictions(), calibration()]
    return Bill(
        title=title, rows=rows, chosen=rule, sections=sections, sweep=sweep(),
        configuration=CONFIGURATION, notes=notes(),
    )  # fmt: skip


def notes():
    return [
        "The error is the absolute difference to the **recorded label**. Labels are noisy: about 1.6 of each "
        "error is noise that no prediction could have avoided.",
        "Labelling everyone counts as no error at all, for the recorded label is then what is used.",
        "A total is the spend plus `error_cost` × all errors, in the unit of the price of a label.",
        "The intervals are over 20 shuffled orders of the file.",
    ]


def sweep():
    prices = [round(float(price), 3) for price in np.geomspace(PRICE / 8, PRICE * 8, 13)]
    labels = [round(ARRIVALS * min(0.95, 0.1559 * (PRICE / price) ** 0.67)) for price in prices]
    errors = [0.6 + 1.372 * (price / PRICE) ** 0.4 for price in prices]
    spend = [price * count for price, count in zip(prices, labels, strict=True)]
    total = [paid + error * ARRIVALS for paid, error in zip(spend, errors, strict=True)]
    saved = [price * ARRIVALS - whole for price, whole in zip(prices, total, strict=True)]
    return Sweep(prices=prices, labels=labels, spend=spend, mean_error=errors, total=total, saved=saved)


def figure(name, title, *charts, caption="", data=None):
    none = Table(name=name, title=title, columns=[], rows=[])
    return Figure(name=name, title=title, charts=list(charts), data=data or none, caption=caption)


def chart(name, title, x_label, y_label, *lines, notes=()):
    return Chart(
        name=name, title=title, x_label=x_label, y_label=y_label, lines=list(lines), notes=list(notes)
    )


def thinned(label, y, **rest):
    return Line(label=label, x=rounds().tolist(), y=np.asarray(y).tolist(), **rest)


def rounds():
    return np.linspace(1, ARRIVALS, POINTS).round()


def noise(seed, scale=1.0):
    return np.random.default_rng(seed).normal(0, scale, POINTS)


def over_time(rule):
    seen = rounds()
    spend = {rule: 2.05 * seen**0.9, "Threshold": 2.9 * seen**0.9, "label everyone": PRICE * seen}
    error = {rule: 1.97 + 6 * seen**-0.35, "Threshold": 1.89 + 5 * seen**-0.35, "never": 6.9 + 0 * seen}
    wobble = np.cumsum(noise(1, 3.0)) / (50 + seen)
    return Section(
        title="Spend and error over time",
        text=["What had been spent, and how large the errors were on average, up to each arrival."],
        figures=[
            figure(
                "over-time",
                "Up to each arrival",
                chart(
                    "spend", "Spent on labels", "arrival", "spend so far",
                    *(thinned(name, y) for name, y in spend.items()),
                ),
                chart(
                    "error", "Mean error", "arrival", "mean absolute error so far",
                    *(thinned(name, y + wobble) for name, y in error.items()),
                ),
            )
        ],
    )  # fmt: skip


def buying():
    seen = rounds()
    threshold = 1.2 + 9 * seen**-0.28
    unsure = np.abs(threshold * 0.8 + noise(2, 0.35) * threshold)
    bought = unsure > threshold
    lines = [
        thinned("threshold", threshold, kind="line"),
        Line(label="bought", x=seen[bought].tolist(), y=unsure[bought].tolist(), kind="crosses"),
        Line(label="not bought", x=seen[~bought].tolist(), y=unsure[~bought].tolist(), kind="dots"),
    ]
    note = Note(float(seen[-1]), float(threshold[-1]), "still buying where the model knows little")
    drawn = chart("buying", "When a label was bought", "arrival", "uncertainty", *lines, notes=[note])
    return Section(
        title="When a label was bought",
        text=["A label is bought where the uncertainty about a point lies above the threshold."],
        figures=[figure("buying", "When a label was bought", drawn)],
    )


def predictions():
    truth = 150 + noise(3, 40)
    lines = [
        Line(label="exactly right", x=[20.0, 290.0], y=[20.0, 290.0], kind="dashed"),
        Line(label="arrival", x=truth.tolist(), y=(truth + noise(4, 9)).tolist(), kind="dots"),
    ]
    drawn = chart("predicted", "Predicted and true", "recorded label", "predicted", *lines)
    return Section(
        title="Predictions where no label was bought",
        figures=[
            figure("predicted", "Predicted and true", drawn, caption="On the line a prediction is right.")
        ],
    )


def calibration():
    stated = [0.1 * step for step in range(1, 10)] + [0.95, 0.99]
    found = [one + 0.02 * (1 - one) * (-1) ** place for place, one in enumerate(stated)]
    lines = [
        Line(label="as stated", x=[0.0, 1.0], y=[0.0, 1.0], kind="dashed"),
        Line(label="found", x=stated, y=found, low=[y - 0.02 for y in found], high=[y + 0.02 for y in found]),
    ]
    table = Table(
        name="calibration",
        title="Calibration",
        columns=["stated", "found"],
        rows=[list(pair) for pair in zip(stated, found, strict=True)],
    )
    drawn = chart("calibration", "Calibration", "share stated", "share found inside", *lines)
    return Section(
        title="Calibration of the intervals",
        text=["Of the intervals that should hold the label 90 times in 100, how many did?"],
        figures=[figure("calibration", "Calibration", drawn, data=table)],
    )
