"""Hypothesis profiles: the same examples at every run, those of a seed, and many. One BLAS thread for all."""

import os

import numpy.linalg  # noqa: F401  (a BLAS to limit)
import pytest
import scipy.linalg  # noqa: F401
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

drawn = {"derandomize": False, "database": None, "print_blob": True}  # under CI Hypothesis has other defaults
settings.register_profile("test", deadline=None, derandomize=True)
settings.register_profile("seeded", deadline=None, **drawn)
settings.register_profile(
    "proof", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow], **drawn
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

threadpool_limits(1)


def pytest_collection_modifyitems(items):
    """Refuse names of tests that differ between processes: tests side by side must agree on them."""
    if differing := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"give these tests ids without a place in memory: {differing}")
