"""The process that learns all it needs from its labels."""

from breakeven.beliefs.gp.kernels import Kernel
from breakeven.beliefs.gp.prior import Prior
from breakeven.beliefs.gp.process import GaussianProcess


def untuned(dim: int, noise_std: float | None = None, kernel: Kernel | None = None) -> GaussianProcess:
    """A process with nothing to tune, for points of any scale and streams of any length.

    >>> belief = untuned(2)
    >>> belief.mean, belief.fit_schedule, belief.capacity
    ('fit', 'growing', 'auto')
    """
    return GaussianProcess(dim, noise_std, kernel, mean="fit", fit="growing", capacity="auto", prior=Prior())
