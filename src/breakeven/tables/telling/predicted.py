"""How good the predictions were where no label was bought, and whether their intervals hold."""

from math import sqrt
from statistics import NormalDist

import polars as pl

from breakeven.tables.billing.bill import name_of
from breakeven.tables.running.run import Run
from breakeven.tables.telling import points
from breakeven.values import Chart, Figure, Section

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
NEARLY = 0.02  # of a share, beside what chance makes of it
STD_95 = NormalDist().inv_cdf(0.975)


def predicted(run: Run, unlabelled: pl.LazyFrame, count: int, id: list[str]) -> Section:
    """Predictions against labels, and their intervals; what came before anything was known has none."""
    shown = unlabelled.select("label", "prediction", *id)
    figures = [_against_true(run, points.some(shown, count))]
    text = ["Each was made before its label was looked at. Labels are noisy, so no model hits them all."]
    known = unlabelled.filter(pl.col("std").is_finite() & pl.col("noise_std").is_finite())
    with_interval = points.count(known)
    if with_interval:
        figure, words = _calibration(run, known, with_interval)
        figures.append(figure)
        text.append(words)
    if with_interval < count:
        early = points.cases(count - with_interval)
        text.append(f"{early} came before anything was known; intervals of theirs are left out.")
    return Section(title="Predictions of what was not labelled", text=text, figures=figures)


def _against_true(run: Run, some: pl.DataFrame) -> Figure:
    x, y = some["label"], some["prediction"]
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]  # type: ignore[type-var]
    lines = [
        points.line("exactly right", ends, ends, kind="reference"),
        points.line(
            name_of(run.options), x, y, kind="dots", remark="cases not labelled", names=points.names(some)
        ),
    ]
    chart = Chart(
        name="predicted",
        title="Predicted against true",
        x_label="label",
        y_label="prediction",
        lines=lines,
        square=True,
    )
    return points.figure(chart)


def _calibration(run: Run, known: pl.LazyFrame, count: int) -> tuple[Figure, str]:
    """How often the interval of a label holds it, at several levels."""
    spread = (pl.col("std") ** 2 + pl.col("noise_std") ** 2).sqrt()
    inside = [pl.col("error") <= NormalDist().inv_cdf(0.5 + level / 2) * spread for level in LEVELS]
    shares = known.select(one.mean().alias(f"{level}") for level, one in zip(LEVELS, inside, strict=True))
    held = list(shares.collect(engine="streaming").row(0))
    chance = [STD_95 * sqrt(share * (1.0 - share) / count) for share in held]
    low = [max(0.0, share - half) for share, half in zip(held, chance, strict=True)]
    high = [min(1.0, share + half) for share, half in zip(held, chance, strict=True)]
    lines = [
        points.line(name_of(run.options), LEVELS, held, remark="intervals", low=low, high=high),
        points.line("as promised", [0.0, 1.0], [0.0, 1.0], kind="reference"),
    ]
    chart = Chart(
        name="calibration",
        title="Calibration: do intervals hold?",
        x_label="level of the interval",
        y_label="labels inside",
        lines=lines,
        square=True,
    )
    numbers = pl.DataFrame({"level": LEVELS, "labels inside": held, "at least": low, "at most": high})
    caption = "The band is how far chance alone may lead off, at 95%."
    return points.figure(chart, numbers, caption), _verdict(held[LEVELS.index(0.95)], count)


def _verdict(share: float, count: int) -> str:
    """How well 95% intervals did, and what that says of them.

    >>> _verdict(0.94, 500)
    '95% intervals held 94.0% of the labels, about as many as promised.'
    >>> _verdict(0.5, 500)
    '95% intervals held 50.0% of the labels, fewer than promised: predictions are less sure than they say.'
    """
    words, chance = "about as many as promised", 2.0 * sqrt(0.95 * 0.05 / count)
    if share - 0.95 > NEARLY + chance:
        words = "more than promised: predictions are surer than they say"
    elif 0.95 - share > NEARLY + chance:
        words = "fewer than promised: predictions are less sure than they say"
    return f"95% intervals held {share:.1%} of the labels, {words}."
