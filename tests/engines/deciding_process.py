"""A process that decides on a world with Spark, to be killed: `python -m tests.engines.deciding_process`.

It can end itself between sink and commit: after its own sink has written a batch, before Spark notes that.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds, on a busy machine


def main(folder, kind, groups, partitions, named, own_sink_until):
    from tests.engines.local_spark import answers, run, session

    spark = session(f"{folder}/spark", int(partitions))
    checkpoint = {"checkpoint": f"{folder}/checkpoint"} if named == "named" else {}
    stream = answers(spark, Path(folder), kind, int(groups), **checkpoint)
    if own_sink_until == "none":
        run(stream, Path(folder))
        return

    def write(frame, batch):
        frame.write.mode("overwrite").parquet(f"{folder}/out/batch={batch}")
        if batch == int(own_sink_until):
            os.killpg(0, signal.SIGKILL)

    sink = stream.writeStream.foreachBatch(write).option("checkpointLocation", f"{folder}/checkpoint")
    sink.trigger(availableNow=True).start().awaitTermination()


def start(folder, kind, groups, partitions=2, named=True, own_sink_until="none"):
    """Begin to decide on the world in a folder, in a process group of its own."""
    said = "named" if named else "unnamed"
    words = [str(one) for one in (folder, kind, groups, partitions, said, own_sink_until)]
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


# -- points of a batch ---------------------------------------------------------------------------------------


def files_until(folder, batch):
    """How many files of arrivals and of labels all batches up to this one have taken."""
    if batch < 0:
        return [0, 0]
    lines = (folder / "checkpoint" / "offsets" / str(batch)).read_text().splitlines()[2:]
    return [1 + json.loads(line)["logOffset"] if line != "-" else 0 for line in lines]


def _noted(source):
    """The files of a batch are in the log of their source, and not yet in a batch's offsets."""

    def reached(folder, batch):
        before = batch - 1
        begun = batch == 0 or before in logged(folder, "commits")
        return begun and len(logged(folder, f"sources/{source}")) > files_until(folder, before)[source]

    return reached


def _there(pattern, at_least=1):
    """So many files of a name, in which {batch} and {next} are numbers."""

    def reached(folder, batch):
        return len(list(folder.glob(pattern.format(batch=batch, next=batch + 1)))) >= at_least

    return reached


OFFSETS, STATES = "checkpoint/offsets/{batch}", "checkpoint/state/0/[0-9]/{next}.delta"
POINTS = {  # in the order of a batch: what is on disk, and how long after that, in seconds
    "arrivals noted": (_noted(0), 0.0),
    "labels noted": (_noted(1), 0.0),
    "begun": (_there(OFFSETS), 0.0),
    "begun for a tenth of a second": (_there(OFFSETS), 0.1),
    "begun for half a second": (_there(OFFSETS), 0.5),
    "first state": (_there(STATES), 0.0),
    "every state": (_there(STATES, 2), 0.0),
    "answers written": (_there("out/_spark_metadata/.{batch}.*.tmp"), 0.0),
    "answers noted": (_there("out/_spark_metadata/{batch}"), 0.0),
    "committed": (_there("checkpoint/commits/{batch}"), 0.0),
}


def killed_at(process, folder, batch, point):
    """Kill -9 a process at a point of a batch, or soon after: a look every two thousandths of a second."""
    reached, wait = POINTS[point]
    end = time.monotonic() + PATIENCE
    while not reached(folder, batch) and batch not in logged(folder, "commits"):
        waiting = process.poll() is None and time.monotonic() < end
        assert waiting, (folder / "log").read_text()[-3000:]
        time.sleep(0.002)
    time.sleep(wait)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finished(process, folder):
    """Wait for a process that goes on to the end."""
    assert process.wait(PATIENCE) == 0, (folder / "log").read_text()[-3000:]


if __name__ == "__main__":
    main(*sys.argv[1:])
