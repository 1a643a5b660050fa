"""Who gives labels: checked when named, plain to store."""

import msgspec
import numpy as np
import pytest

from breakeven.errors import InvalidInput
from breakeven.values import Labeller


def test_a_labeller_is_a_cost_and_a_noise():
    nurse = Labeller(cost=2, noise_std=np.float32(0.5))
    assert (nurse.cost, nurse.noise_std) == (2.0, 0.5)
    assert (type(nurse.cost), type(nurse.noise_std)) == (float, float)
    assert nurse == Labeller(2.0, 0.5)


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf"), "two", None, True])
@pytest.mark.parametrize("name", ["cost", "noise_std"])
def test_cost_and_noise_are_positive_numbers(name, bad):
    with pytest.raises(InvalidInput, match=f"^{name}: expected a positive, finite number, got "):
        Labeller(**{"cost": 1.0, "noise_std": 1.0, name: bad})


def test_a_labeller_cannot_be_changed_and_comes_back_from_storage():
    mri = Labeller(50.0, 0.5)
    with pytest.raises(AttributeError, match="immutable"):
        mri.cost = 1.0
    assert msgspec.convert(msgspec.to_builtins(mri), Labeller) == mri
