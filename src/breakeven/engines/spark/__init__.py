"""Decisions on Spark: Structured Streaming with a state for every group of keys, and the same on a table.

The only room that knows pyspark, which comes with the extra `spark` and is loaded when it is needed.
Reading order: workers, spark_rows, spark_decisions, checkpoints.
"""

from breakeven.engines.spark.checkpoints import export_learners, import_learners
from breakeven.engines.spark.spark_decisions import decide_batch, decide_stream, predictor

__all__ = ["decide_batch", "decide_stream", "export_learners", "import_learners", "predictor"]
