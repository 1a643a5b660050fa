"""What a belief says is a number: NaN would be written to the log, and every comparison with it is False.

Checked where the learner takes what its belief says, so that no belief has to.
"""

from math import isnan
from typing import NoReturn

from breakeven.errors import NotANumber
from breakeven.errors.expect import Array
from breakeven.values import Prediction


def check_prediction(prediction: Prediction, uncertainty: float = 0.0) -> None:
    """Raise `NotANumber` unless every number of a prediction, and the uncertainty, is one."""
    said = [prediction.mean, prediction.std, prediction.noise_std, uncertainty]
    said += [one for one in (prediction.probability, prediction.centre) if one is not None]
    for quantiles in (prediction.f_quantiles, prediction.label_quantiles):
        said += quantiles or ()
    if isnan(sum(said)) and any(map(isnan, said)):  # a sum is quicker, and NaN also for ∞ − ∞
        refuse_nan("prediction")


def check_columns(*columns: Array) -> None:
    """The same of what compiled loops answered for many arrivals."""
    if any(isnan(column.sum()) for column in columns):
        refuse_nan("answers")


def refuse_nan(what: str) -> NoReturn:
    """Raise: the belief answered NaN."""
    raise NotANumber(
        f"{what}: expected numbers from the belief, got NaN; restore the learner from a snapshot and the "
        "events after it, or begin a stream with another belief"
    )
