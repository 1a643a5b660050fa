"""A process that decides on a world with Spark, to be killed: `python -m tests.engines.deciding_process`.

It can end itself between sink and commit: after its own sink has written a batch, before Spark notes that.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds, on a busy machine


def main(folder, kind, groups, partitions, own_sink_until):
    from tests.engines.local_spark import answers, run, session

    spark = session(f"{folder}/spark", int(partitions))
    stream = answers(spark, Path(folder), kind, int(groups), checkpoint=f"{folder}/checkpoint")
    if own_sink_until == "none":
        run(stream, Path(folder))
        return

    def write(frame, batch):
        frame.write.mode("overwrite").parquet(f"{folder}/out/batch={batch}")
        if batch == int(own_sink_until):
            os.killpg(0, signal.SIGKILL)

    sink = stream.writeStream.foreachBatch(write).option("checkpointLocation", f"{folder}/checkpoint")
    sink.trigger(availableNow=True).start().awaitTermination()


def start(folder, kind, groups, partitions=2, own_sink_until="none"):
    """Begin to decide on the world in a folder, in a process group of its own."""
    words = [str(one) for one in (folder, kind, groups, partitions, own_sink_until)]
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.engines.deciding_process", *words],
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def logged(folder, name):
    """The batches in a log of the checkpoint: offsets, or commits."""
    path = folder / "checkpoint" / name
    return {int(one.name) for one in path.iterdir() if one.name.isdecimal()} if path.exists() else set()


def killed_in(process, folder, batch, wait=0.0):
    """Kill -9 a process once this batch has begun; it must not have been committed by then."""
    end = time.monotonic() + PATIENCE
    while batch not in logged(folder, "offsets"):
        waiting = process.poll() is None and time.monotonic() < end
        assert waiting, (folder / "log").read_text()[-3000:]
        time.sleep(0.005)
    time.sleep(wait)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert batch not in logged(folder, "commits")


def finished(process, folder):
    """Wait for a process that goes on to the end."""
    assert process.wait(PATIENCE) == 0, (folder / "log").read_text()[-3000:]


if __name__ == "__main__":
    main(*sys.argv[1:])
