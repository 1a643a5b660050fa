"""Hypothesis profiles: a short one for every run, a long one for `make proof`."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("test", deadline=None, derandomize=True)
settings.register_profile(
    "proof", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))
