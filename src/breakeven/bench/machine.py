"""The machine that a run was measured on, and the versions of what was measured."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec import Struct

PACKAGES = (
    "breakeven",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "river",
    "scikit-activeml",
    "torch",
    "gpytorch",
)


class Machine(Struct, frozen=True):
    """What the numbers depend on besides the code."""

    processor: str
    cores: int
    system: str
    python: str
    blas: str
    versions: dict[str, str]

    def __str__(self) -> str:
        packages = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        where = f"one of {self.cores} cores of {self.processor}, {self.system}"
        return f"Measured on {where}, Python {self.python}, {self.blas}, {packages}."


def this_machine() -> Machine:
    """The machine that this runs on."""
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=platform.system(),
        python=platform.python_version(),
        blas=_blas(),
        versions={name: found for name in PACKAGES if (found := _version(name))},
    )


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    rows = told.read_text().splitlines() if told.exists() else []
    names = (row.partition(":")[2].strip() for row in rows if row.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _blas() -> str:
    from threadpoolctl import threadpool_info

    found = {(one["internal_api"], one["version"]) for one in threadpool_info() if one["user_api"] == "blas"}
    return ", ".join(f"{name} {number}" for name, number in sorted(found, key=str)) or "an unknown BLAS"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
