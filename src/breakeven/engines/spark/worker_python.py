"""Whether the Python of Spark's workers can decide: asked once a session, before anything starts."""

import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING
from weakref import WeakSet

from breakeven.errors import InvalidInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_able: "WeakSet[SparkSession]" = WeakSet()


def check_workers(spark: "SparkSession") -> None:
    """Refuse a session whose workers run a Python without this version of breakeven."""
    if spark in _able:
        return
    version = import_module("breakeven").__version__
    if fault := _worker_fault(spark, version):
        raise InvalidInput(
            f"PYSPARK_PYTHON: expected a Python with breakeven {version} for Spark's workers, got {fault}; "
            f"set PYSPARK_PYTHON={sys.executable} (on a cluster, to one that every worker has) before the "
            "session is made"
        )
    _able.add(spark)


def _worker_fault(spark: "SparkSession", version: str) -> str | None:
    """What keeps a worker from deciding, asked of one by a job of one row."""
    from pyspark.sql.functions import udf

    def fault(_: int) -> str | None:  # is sent as it stands, so it may name nothing of this module
        import sys
        from importlib import import_module
        from importlib.util import find_spec

        if missing := [name for name in ("breakeven", "pandas", "pyarrow") if find_spec(name) is None]:
            return f"{sys.executable} without {', '.join(missing)}"
        found = import_module("breakeven").__version__
        return None if found == version else f"{sys.executable} with breakeven {found}"

    try:
        answer = spark.range(1).select(udf(fault, "string", useArrow=False)("id")).first()
    except Exception as error:  # of many classes: no such program, another version of Python
        reasons = re.findall(r'Cannot run program "[^"]*"|(?<=Error: ).+(?<!\.)', str(error))
        return f"one that fails: {reasons[-1] if reasons else type(error).__name__}"
    return None if answer is None else answer[0]
