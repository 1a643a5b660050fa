"""One BLAS thread for small problems: a second one costs more than it brings, on a busy machine far more."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

SMALL = 1000  # labels


def threads_for(labels: int) -> AbstractContextManager[Any]:
    """Limit BLAS to one thread while a problem of so many labels is worked on."""
    return _controller().limit(limits=1) if labels <= SMALL else nullcontext()


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # looks at every library loaded: not at import

    return ThreadpoolController()
