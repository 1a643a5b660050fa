"""What the paper proves, as numbers: thresholds, bounds, information gain; what audits and checks prove.

Each formula line names the theorem or equation that it is. A `form` chooses between the formula as printed
and as corrected. Kernels are unknown here: what needs one takes its matrix, lengthscale or Lipschitz bound.
"""

from breakeven.theory.information import (
    GainPath,
    greedy_information_gain,
    information_gain,
    information_gain_bound,
    information_gain_rate_matern,
    information_gain_rate_se,
)
from breakeven.theory.self_test import SelfTest
from breakeven.theory.sequences import ErrorBound, Limits, SampledAverage, error_bound, sampled_average
from breakeven.theory.smooth_bounds import (
    cell_variance_bound_matern,
    cell_variance_bound_se,
    confidence_factor,
    label_bound_matern,
    label_bound_se,
    matern_lipschitz,
    upper_bound_matern,
    upper_bound_se,
)
from breakeven.theory.thresholds import (
    DISCRETE_EXPONENT,
    EXPECTED_ERROR,
    allowance,
    confidence_spread,
    flipping_cost,
    gp_unit,
    matern_exponent,
    radius,
    se_exponent,
    threshold,
)
from breakeven.theory.type_bounds import (
    Form,
    expected_upper_bound,
    failure_probability,
    label_bound,
    lower_bound,
    upper_bound,
    worst_case_lower_bound,
    worst_case_upper_bound,
)

__all__ = [
    "DISCRETE_EXPONENT",
    "EXPECTED_ERROR",
    "ErrorBound",
    "Form",
    "GainPath",
    "Limits",
    "SampledAverage",
    "SelfTest",
    "allowance",
    "cell_variance_bound_matern",
    "cell_variance_bound_se",
    "confidence_factor",
    "confidence_spread",
    "error_bound",
    "expected_upper_bound",
    "failure_probability",
    "flipping_cost",
    "gp_unit",
    "greedy_information_gain",
    "information_gain",
    "information_gain_bound",
    "information_gain_rate_matern",
    "information_gain_rate_se",
    "label_bound",
    "label_bound_matern",
    "label_bound_se",
    "lower_bound",
    "matern_exponent",
    "matern_lipschitz",
    "radius",
    "sampled_average",
    "se_exponent",
    "threshold",
    "upper_bound",
    "upper_bound_matern",
    "upper_bound_se",
    "worst_case_lower_bound",
    "worst_case_upper_bound",
]
