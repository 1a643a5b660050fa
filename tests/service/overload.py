"""A server under open-loop load: its capacity, and what it does beyond it.

`python -m tests.service.overload` measures and prints both. The generator of the load is a process of its
own, on the same machine: with two cores the server has about one of them, and its disk thread shares the
other with the generator.
"""

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager

from tests.service.open_load import STREAMS

CONFIG = {
    "belief": {"kind": "TypeMeans", "noise_std": 0.5},
    "rule": {"kind": "Threshold"},
    "label_cost": 200.0,
}
MOST_WAIT = 0.2  # seconds that 99 of 100 wait at most, at capacity
FIRST_RATE, STEP = 1000.0, 1.15
SERVE = "import sys; from breakeven.cli import main; main()"


class Served:
    """A server with ten streams of types."""

    def __init__(self, process, port):
        self.process, self.port = process, port

    def load(self, rate, seconds):
        """What came of an open-loop load; with the memory of the server before and after, in megabytes."""
        before, cpu = self.memory(), self.cpu()
        command = [sys.executable, "-m", "tests.service.open_load", str(self.port), str(rate), str(seconds)]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        found |= {"memory": (before, self.memory()), "server_cpu": (self.cpu() - cpu) / seconds}
        return found

    def memory(self):
        """Megabytes that are in use."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024

    def cpu(self):
        """Seconds of CPU that were used."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / 100

    def capacity(self, seconds=4.0):
        """The highest rate at which 99 of 100 arrivals are answered within `MOST_WAIT`, and none is lost."""
        best, rate = None, FIRST_RATE
        while found := self._answers_all(rate, seconds) or self._answers_all(rate, seconds):
            best, rate = found, rate * STEP
        return best

    def _answers_all(self, rate, seconds):
        """What came of a load, if all was answered in time."""
        found = self.load(rate, seconds)
        return found if found["counts"].get("200") == found["due"] and found["p99"] <= MOST_WAIT else None


@contextmanager
def served(folder, python=sys.executable, **more):
    """A server that runs meanwhile."""
    command = [
        python,
        "-c",
        SERVE,
        "serve",
        "--json",
        "--port",
        "0",
        "--store",
        f"sqlite:///{folder}/load.db",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **more)
    try:
        where = json.loads(process.stdout.readline())["address"]
        for number in range(STREAMS):
            call = urllib.request.Request(
                f"{where}/v1/streams/s{number}", json.dumps(CONFIG).encode(), method="PUT"
            )
            call.add_header("content-type", "application/json")
            urllib.request.urlopen(call).close()
        yield Served(process, int(where.rsplit(":", 1)[1]))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def main():
    with tempfile.TemporaryDirectory() as folder, served(folder) as server:
        server.load(500.0, 2.0)  # warm
        best = server.capacity()
        print(json.dumps({"capacity": best}), flush=True)
        for times in (2, 4):
            time.sleep(1.0)
            print(json.dumps({"times": times} | server.load(times * best["rate"], 20.0)), flush=True)


if __name__ == "__main__":
    main()
