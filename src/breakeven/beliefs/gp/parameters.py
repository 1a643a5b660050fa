"""The numbers a Gaussian process is conditioned on: kernel, noise and mean."""

from typing import Any

import msgspec

from breakeven.beliefs.gp.kernels import Fading, Kernel

LEAST_NOISE = 1e-12  # of the amplitude


class Parameters(msgspec.Struct, frozen=True):
    """Kernel, noise and mean, as given or as last fitted; with a `half_life`, points end in their time."""

    kernel: Kernel
    noise_std: float
    mean: float = 0.0
    half_life: float | None = None

    @property
    def covariance(self) -> Kernel | Fading:
        """The kernel, of points in time where they have one."""
        return self.kernel if self.half_life is None else Fading(self.kernel, self.half_life)

    @property
    def noise_variance(self) -> float:
        """σ², or what rounding makes of none: below that a factor would be noise itself."""
        return max(self.noise_std * self.noise_std, self.least_noise)

    @property
    def least_noise(self) -> float:
        """The smallest noise variance of a label."""
        return LEAST_NOISE * self.kernel.amplitude

    def plain(self) -> dict[str, Any]:
        """As text and numbers."""
        result: dict[str, Any] = msgspec.to_builtins(self)
        return result

    @staticmethod
    def of(plain: dict[str, Any]) -> "Parameters":
        """Read back what `plain` gave."""
        return msgspec.convert(plain, Parameters)
